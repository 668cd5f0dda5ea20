"""What kind of reader a model is: a table of evidence, and the verdicts that follow from it."""

from situs.probe.diagnosis.decide import diagnose
from situs.probe.diagnosis.effects import FEWEST_ITEMS, FEWEST_PATIENTS, Effect
from situs.probe.diagnosis.evidence import Evidence, ProbeRuns
from situs.probe.diagnosis.kinds import KINDS
from situs.probe.diagnosis.measured import evidence_of
from situs.probe.diagnosis.records import FINDINGS, Diagnosis, Finding, GroupSight

__all__ = [
    "FEWEST_ITEMS",
    "FEWEST_PATIENTS",
    "FINDINGS",
    "KINDS",
    "Diagnosis",
    "Effect",
    "Evidence",
    "Finding",
    "GroupSight",
    "ProbeRuns",
    "diagnose",
    "evidence_of",
]
