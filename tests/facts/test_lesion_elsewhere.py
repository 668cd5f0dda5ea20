"""A lesion that lies in another organ than its name says."""

from __future__ import annotations

import msgspec
import pytest
from _blocks import block_labels

from attacks import Study, asked_of, ledger_of_study
from attacks._study import renamed
from laws._studies import phantom_labels
from situs.anatomy import Suspect, Term, term
from situs.facts import Ledger, MaskedSeries, load_recipe
from situs.volumes import LabelMap

LIVER = ((4, 20, 4), (60, 76, 60))
SPLEEN = ((70, 20, 4), (96, 76, 60))
IN_SPLEEN = ((78, 40, 24), (88, 50, 34))
IN_LIVER = ((20, 40, 24), (30, 50, 34))


def patient(lesion: tuple) -> LabelMap:
    return block_labels((100, 80, 64), 2.0, liver=LIVER, spleen=SPLEEN, metastasis=lesion)


def ledger_where(labels: LabelMap, part_of: str | None) -> Ledger:
    """The user's name map says that a metastasis is part of this organ."""
    own = Term(**{**msgspec.structs.asdict(term("metastasis")), "kind": "lesion"})
    terms = {s.name: term(s.name) for s in labels.structures}
    terms["metastasis"] = msgspec.structs.replace(own, part_of=part_of)
    series = MaskedSeries(
        study_id="s", series="ct", labels_hash="h", annotation="exact", side_basis="affine"
    )
    return Ledger(labels, series, recipe=load_recipe(), terms=terms)


def misplaced(ledger: Ledger) -> list[tuple[str, ...]]:
    return [one.structures for one in ledger.doubts if one.code is Suspect.MISPLACED]


@pytest.mark.parametrize(
    ("lesion", "part_of", "doubted"),
    [
        (IN_SPLEEN, "liver", [("metastasis",)]),
        (IN_LIVER, "liver", []),
        (IN_SPLEEN, "spleen", []),
        (IN_SPLEEN, None, []),
        (IN_SPLEEN, "left upper quadrant", []),  # no organ
    ],
)
def test_a_lesion_in_another_organ_is_doubted(lesion, part_of, doubted) -> None:
    assert misplaced(ledger_where(patient(lesion), part_of)) == doubted


def test_nothing_is_asked_of_a_lesion_in_another_organ() -> None:
    """A lesion of the spleen under a name of the liver's: "In which third of the spleen is the
    largest liver lesion centred?" is no question."""
    sound = Study(phantom_labels(91, 1, (4.0, 4.0, 4.0)))
    wrong = sound.relabelled(
        renamed(sound.labels, lambda name: name.replace("spleen_lesion", "liver_lesion"))
    )
    asked = {
        word: [posed.text for _, posed in asked_of(ledger_of_study(study), pictured=False)]
        for word, study in (("splenic lesion", sound), ("liver lesion", wrong))
    }
    assert [text for text in asked["splenic lesion"] if "splenic lesion" in text]
    assert not [text for text in asked["liver lesion"] if "liver lesion" in text]
