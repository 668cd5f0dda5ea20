"""The tables of a report."""
