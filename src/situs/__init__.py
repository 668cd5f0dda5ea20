"""Situs: spatial questions on CT and MRI whose answers can be proved."""

__version__ = "0.1.0"
