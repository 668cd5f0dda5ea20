"""Ways in which a study's files can be wrong without anyone noticing,
and how many wrong questions follow."""

from attacks._headers import HEADERS, scaled
from attacks._masks import MASKS, other_patients
from attacks._names import NAMES, called, exchanged
from attacks._study import Attack, Study, renamed, write_masks
from attacks._trial import Outcome, asked_of, ledger_of_study, trial
from situs.anatomy import term

ATTACKS: dict[str, Attack] = {**HEADERS, **NAMES, **MASKS}
"""Every attack that needs no second patient."""


def situs_inversus(study: Study) -> Study:
    """A mirrored patient whose sided organs are named by the side on which they lie."""
    mirrored = HEADERS["mirrored"](study)
    assert mirrored is not None
    return Study(renamed(mirrored.labels, lambda name: term(name).mirrored_name), study.image)


__all__ = [
    "ATTACKS",
    "HEADERS",
    "MASKS",
    "NAMES",
    "Attack",
    "Outcome",
    "Study",
    "asked_of",
    "called",
    "exchanged",
    "ledger_of_study",
    "other_patients",
    "scaled",
    "situs_inversus",
    "trial",
    "write_masks",
]
