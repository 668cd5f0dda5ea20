"""Attacks on Situs, reproducible by seed; see `python -m attack --help`."""
