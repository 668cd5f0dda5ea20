"""Estimates, intervals, comparisons and agreement; patients are the clusters."""
