"""What kind of reader a model is: a table of evidence, and the verdicts that follow from it."""

from situs.probe.diagnosis.decide import FINDINGS, KINDS, Diagnosis, Finding, GroupSight, diagnose
from situs.probe.diagnosis.effects import FEWEST_ITEMS, FEWEST_PATIENTS, Effect
from situs.probe.diagnosis.evidence import Evidence, ProbeRuns, evidence_of

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
