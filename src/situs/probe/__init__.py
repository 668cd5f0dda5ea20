"""Planned changes of the input whose effect on the right answer is derived beforehand."""

from situs.probe._causes import Cause, Suspicion
from situs.probe._edits import Lesion, copied, lesion_parts, moved, painted_out, sham
from situs.probe._outcome import Derived, derive
from situs.probe._patient import Patient, load_patient
from situs.probe._reflections import mirrored, reflected
from situs.probe._signatures import Budget, BudgetRow, WrongAnswer, budget_of, signatures

__all__ = [
    "Budget",
    "BudgetRow",
    "Cause",
    "Derived",
    "Lesion",
    "Patient",
    "Suspicion",
    "WrongAnswer",
    "budget_of",
    "copied",
    "derive",
    "lesion_parts",
    "load_patient",
    "mirrored",
    "moved",
    "painted_out",
    "reflected",
    "sham",
    "signatures",
]
