"""From voxels to pictures and arrays."""
