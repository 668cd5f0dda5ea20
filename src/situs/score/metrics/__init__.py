"""Scores of one answer against its truth, and of many together."""
