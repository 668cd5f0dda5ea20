"""Planned changes of the input whose effect on the right answer is derived beforehand."""

from situs.probe._edits import Lesion, copied, lesion_parts, moved, painted_out, sham
from situs.probe._outcome import Derived, derive
from situs.probe._patient import Patient, load_patient
from situs.probe._reflections import mirrored, reflected

__all__ = [
    "Derived",
    "Lesion",
    "Patient",
    "copied",
    "derive",
    "lesion_parts",
    "load_patient",
    "mirrored",
    "moved",
    "painted_out",
    "reflected",
    "sham",
]
