"""Planned changes of the input whose effect on the right answer is derived beforehand."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports
from situs.base.verbs import make_callable

if TYPE_CHECKING:
    from situs.probe.adapter_check import Ability, AdapterReport, check_adapter
    from situs.probe.catalogue import GROUPS, PROBES, Probe, choose_probes
    from situs.probe.changes.bench import ChangedVolumes, changed_bench
    from situs.probe.changes.edits import Lesion, copied, lesion_parts, moved, painted_out, sham
    from situs.probe.changes.origin import OutcomeRow, Outcomes, outcomes_of
    from situs.probe.changes.outcome import Derived, derive
    from situs.probe.changes.patient import Patient, load_patient
    from situs.probe.changes.patients import CHANGES, changed, stored_otherwise
    from situs.probe.changes.reflections import mirrored, reflected
    from situs.probe.diagnosis import FINDINGS, Diagnosis, Effect, Finding, GroupSight
    from situs.probe.flipped import looks_flipped
    from situs.probe.forecast import forecast_probes
    from situs.probe.made import check_made, source_of_made, volumes_of
    from situs.probe.mirage import Mirage, describes_a_picture
    from situs.probe.sight_gain import Gain, SightGain
    from situs.probe.suite import (
        Ask,
        Probed,
        ProbeOptions,
        ProbeResult,
        Stopped,
        probe,
        probed_beside,
    )
    from situs.probe.table import ProbeRow
    from situs.probe.tables import all_probes_table, findings_table, probe_tables, verdict_words
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "CHANGES",
    "FINDINGS",
    "GROUPS",
    "PROBES",
    "Ability",
    "AdapterReport",
    "Ask",
    "ChangedVolumes",
    "Derived",
    "Diagnosis",
    "Effect",
    "Finding",
    "Gain",
    "GroupSight",
    "Lesion",
    "Mirage",
    "OutcomeRow",
    "Outcomes",
    "Patient",
    "Probe",
    "ProbeOptions",
    "ProbeResult",
    "ProbeRow",
    "Probed",
    "SightGain",
    "Stopped",
    "all_probes_table",
    "changed",
    "changed_bench",
    "check_adapter",
    "check_made",
    "choose_probes",
    "copied",
    "derive",
    "describes_a_picture",
    "findings_table",
    "forecast_probes",
    "lesion_parts",
    "load_patient",
    "looks_flipped",
    "mirrored",
    "moved",
    "outcomes_of",
    "painted_out",
    "probe",
    "probe_tables",
    "probed_beside",
    "reflected",
    "sham",
    "source_of_made",
    "stored_otherwise",
    "verdict_words",
    "volumes_of",
]

make_callable(__name__)
