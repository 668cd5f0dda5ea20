"""Numbers in words: literals, units, and what role each plays in its sentence."""
