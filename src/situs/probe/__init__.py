"""Planned changes of the input whose effect on the right answer is derived beforehand."""

from situs._verbs import make_callable
from situs.probe._answers import Answered, read_answers
from situs.probe._catalogue import GROUPS, PROBES, Probe, choose_probes
from situs.probe._causes import Cause, Suspicion
from situs.probe._changed_bench import ChangedVolumes, OutcomeRow, Outcomes, changed_bench, outcomes_of
from situs.probe._changes import CHANGES, changed, stored_otherwise
from situs.probe._edits import Lesion, copied, lesion_parts, moved, painted_out, sham
from situs.probe._faithfulness import Faithfulness, FaithfulnessCell, StepKind, faithfulness, faithfulness_of
from situs.probe._flipped import looks_flipped
from situs.probe._made import check_made, source_of_made, volumes_of
from situs.probe._mirage import Mirage, describes_a_picture
from situs.probe._outcome import Derived, derive
from situs.probe._patient import Patient, load_patient
from situs.probe._reflections import mirrored, reflected
from situs.probe._sight_gain import Gain, SightGain
from situs.probe._signatures import Budget, BudgetRow, WrongAnswer, budget_of, signatures
from situs.probe._steps import Statement, StudyFacts, statements
from situs.probe._suite import Ask, ProbeResult, Stopped, diagnosis_beside, probe
from situs.probe._table import ProbeRow
from situs.probe._tables import budget_table, faithfulness_tables
from situs.probe.diagnosis import FINDINGS, Diagnosis, Effect, Finding, GroupSight

__all__ = [
    "CHANGES",
    "FINDINGS",
    "GROUPS",
    "PROBES",
    "Answered",
    "Ask",
    "Budget",
    "BudgetRow",
    "Cause",
    "ChangedVolumes",
    "Derived",
    "Diagnosis",
    "Effect",
    "Faithfulness",
    "FaithfulnessCell",
    "Finding",
    "Gain",
    "GroupSight",
    "Lesion",
    "Mirage",
    "OutcomeRow",
    "Outcomes",
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
    "describes_a_picture",
    "diagnosis_beside",
    "faithfulness",
    "faithfulness_of",
    "faithfulness_tables",
    "lesion_parts",
    "load_patient",
    "looks_flipped",
    "mirrored",
    "moved",
    "outcomes_of",
    "painted_out",
    "probe",
    "read_answers",
    "reflected",
    "sham",
    "signatures",
    "source_of_made",
    "statements",
    "stored_otherwise",
    "volumes_of",
]

make_callable(__name__)
