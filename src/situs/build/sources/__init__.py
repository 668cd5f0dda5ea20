"""One pipeline for each source of evidence."""
