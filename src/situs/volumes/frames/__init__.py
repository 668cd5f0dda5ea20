"""Stacks of frames and the boxes that readers drew on them."""
