"""Planned changes of the input whose effect on the right answer is derived beforehand."""

from situs.probe._catalogue import GROUPS, PROBES, Probe, choose_probes
from situs.probe._causes import Cause, Suspicion
from situs.probe._changed_bench import ChangedVolumes, OutcomeRow, changed_bench
from situs.probe._changes import changed, stored_otherwise
from situs.probe._diagnosis import Diagnosis, Finding
from situs.probe._edits import Lesion, copied, lesion_parts, moved, painted_out, sham
from situs.probe._faithfulness import Faithfulness, FaithfulnessCell, StepKind, faithfulness, faithfulness_of
from situs.probe._flipped import looks_flipped
from situs.probe._made import check_made, source_of_made, volumes_of
from situs.probe._outcome import Derived, derive
from situs.probe._patient import Patient, load_patient
from situs.probe._reflections import mirrored, reflected
from situs.probe._sight_gain import SightGain
from situs.probe._signatures import Budget, BudgetRow, WrongAnswer, budget_of, signatures
from situs.probe._steps import Statement, StudyFacts, statements
from situs.probe._suite import Ask, ProbeResult, Stopped, probe
from situs.probe._table import ProbeRow
from situs.probe._tables import budget_table, faithfulness_tables

__all__ = [
    "GROUPS",
    "PROBES",
    "Ask",
    "Budget",
    "BudgetRow",
    "Cause",
    "ChangedVolumes",
    "Derived",
    "Diagnosis",
    "Faithfulness",
    "FaithfulnessCell",
    "Finding",
    "Lesion",
    "OutcomeRow",
    "Patient",
    "Probe",
    "ProbeResult",
    "ProbeRow",
    "SightGain",
    "Statement",
    "StepKind",
    "Stopped",
    "StudyFacts",
    "Suspicion",
    "WrongAnswer",
    "budget_of",
    "budget_table",
    "changed",
    "changed_bench",
    "check_made",
    "choose_probes",
    "copied",
    "derive",
    "faithfulness",
    "faithfulness_of",
    "faithfulness_tables",
    "lesion_parts",
    "load_patient",
    "looks_flipped",
    "mirrored",
    "moved",
    "painted_out",
    "probe",
    "reflected",
    "sham",
    "signatures",
    "source_of_made",
    "statements",
    "stored_otherwise",
    "volumes_of",
]
