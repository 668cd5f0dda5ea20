"""Yes/no questions that are answered by saying how things are."""
