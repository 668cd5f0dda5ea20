"""How results read in a terminal."""
