"""Two kinds of point that a type checker keeps apart."""

from __future__ import annotations

from typing import NewType

import numpy as np
from numpy.typing import NDArray

IndexPoints = NewType("IndexPoints", NDArray[np.float64])
"""(n, 3) voxel indices in stored order; whole numbers are voxel centres."""

WorldPoints = NewType("WorldPoints", NDArray[np.float64])
"""(n, 3) RAS+ millimetres."""
