"""Compiled loops over voxels, runs and trees; numbers in, numbers out."""
