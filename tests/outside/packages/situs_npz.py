"""A file format of your own in one file: NumPy archives with the voxels and their affine."""

import numpy as np

from situs.volumes import stored_array


def read(path):
    """Where the voxels of an `.npz` with the arrays `voxels` and `affine` lie; decoded when they are needed."""
    with np.load(path) as archive:
        voxels, affine = archive["voxels"], archive["affine"]
    return stored_array(path, voxels.shape, voxels.dtype, affine, lambda: voxels)
