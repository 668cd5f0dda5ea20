"""Measuring tools, truthful or lying."""
