"""Planned changes of the input whose effect on the right answer is derived beforehand."""

from situs.probe._causes import Cause, Suspicion
from situs.probe._edits import Lesion, copied, lesion_parts, moved, painted_out, sham
from situs.probe._faithfulness import Faithfulness, FaithfulnessCell, StepKind, faithfulness, faithfulness_of
from situs.probe._outcome import Derived, derive
from situs.probe._patient import Patient, load_patient
from situs.probe._reflections import mirrored, reflected
from situs.probe._signatures import Budget, BudgetRow, WrongAnswer, budget_of, signatures
from situs.probe._steps import Statement, StudyFacts, statements
from situs.probe._tables import budget_table, faithfulness_tables

__all__ = [
    "Budget",
    "BudgetRow",
    "Cause",
    "Derived",
    "Faithfulness",
    "FaithfulnessCell",
    "Lesion",
    "Patient",
    "Statement",
    "StepKind",
    "StudyFacts",
    "Suspicion",
    "WrongAnswer",
    "budget_of",
    "budget_table",
    "copied",
    "derive",
    "faithfulness",
    "faithfulness_of",
    "faithfulness_tables",
    "lesion_parts",
    "load_patient",
    "mirrored",
    "moved",
    "painted_out",
    "reflected",
    "sham",
    "signatures",
    "statements",
]
