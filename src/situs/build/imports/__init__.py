"""Questions that other sets published; their answers are given, not proved."""
