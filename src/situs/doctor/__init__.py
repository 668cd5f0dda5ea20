"""Whether an installation works:
small trials of every part that may be missing or broken on a machine."""

from situs.doctor.checks import Check, examine
from situs.doctor.warm import warm_kernels

__all__ = ["Check", "examine", "warm_kernels"]
