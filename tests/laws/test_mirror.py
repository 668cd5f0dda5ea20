"""Law 2, mirror: reflecting world x and renaming each positional sided structure to its partner
swaps left and right in every fact and answer and changes nothing else. Morphological names have no
mirrored name: nothing is said of them.

Reflected about x = 0 everything is exact. About the volume's centre plane the 1 mm bins of the
precedence fall elsewhere: a probability may move by `BIN_NOISE`, and only a direction that close to
its threshold may change.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from _studies import close, ledger_of, mirrored, phantom_labels

from situs.anatomy import lesion_family, term
from situs.facts import Ledger
from situs.items import TASKS, Boxes, Choice, Frames, NotAsked, Posed, Question
from situs.items.subjects import subjects
from situs.space import AXES, Axis, Side
from situs.volumes import LabelMap, open_labels

SPACING = (6.0, 6.5, 7.0)
BIN_NOISE = 2e-3
"""What we ask of the bins: at most 0.2 percentage points
(they can err by the share of voxel pairs within 2 mm)."""
SWAP = {"left": "right", "right": "left"}
REAL = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes" / "totalseg_s0009"


def other_word(word: str) -> str:
    """A word of a parameter or answer after reflection:
    a structure's partner, the other side, else the same."""
    if word in SWAP:
        return SWAP[word]
    role, _, name = word.rpartition(":")
    partner = term(name).mirrored_name
    assert partner is not None
    return f"{role}:{partner}" if role else partner


def other_words(value: str) -> str:
    return re.sub(r"[^+>|(),]+", lambda match: other_word(match[0]), value)


def mirrored_question(question: Question) -> Question:
    """The same question put to the mirrored patient:
    claims, names and the roles of left and right are swapped."""
    parameters = {
        SWAP.get(key, key): other_words(value) for key, value in question.parameters.items()
    }
    return Question(question.task, question.form, parameters)


def nameable(labels: LabelMap) -> LabelMap:
    """Without the structures whose mirror image has no name."""
    kept = tuple(s for s in labels.structures if term(s.name).mirrored_name is not None)
    return LabelMap(labels.grid, labels.layers, kept)


def check_answers(labels: LabelMap, *, about_mm: float | None, noise: float) -> int:
    """Pose every question to the patient and its mirror image to the mirrored one;
    how many were compared."""
    one, two = ledger_of(nameable(labels)), ledger_of(mirrored(labels, about_mm=about_mm))
    compared = 0
    for task in TASKS.values():
        for question in task.questions(one, subjects(one)):
            here, there = task.pose(one, question), task.pose(two, mirrored_question(question))
            if noise and type(here) is not type(there):
                assert near_a_threshold(one, question, noise), (question, here, there)
                continue
            compared += 1
            if isinstance(here, NotAsked):
                assert here == there
                continue
            assert isinstance(there, Posed)
            if isinstance(here.answer, Choice):
                assert there.answer == Choice(other_words(here.answer.value)), question
                assert {other_words(o.value) for o in here.pool} == {o.value for o in there.pool}
            elif isinstance(here.answer, Frames):
                assert there.answer == here.answer, question
            elif isinstance(here.answer, Boxes):
                for box, other in zip(here.answer.boxes, there.answer.boxes, strict=True):
                    assert close(box.extent_mm, other.extent_mm, 1e-9, 1e-9), question
                    assert close(
                        (box.lo_mm[1:], box.hi_mm[1:]),
                        (other.lo_mm[1:], other.hi_mm[1:]),
                        1e-9,
                        1e-9,
                    )
            else:
                assert close(here.answer.value, there.answer.value, 1e-9), question
            assert close(
                getattr(here.answer, "interval", None),
                getattr(there.answer, "interval", None),
                1e-9,
            )
    return compared


def near_a_threshold(ledger: Ledger, question: Question, noise: float) -> bool:
    """Whether a direction's probability lies within
    the bins' noise of the threshold that decides it."""
    if question.task != "direction":
        return False
    names = [
        subject.structure
        for subject in subjects(ledger)
        if subject.key in question.parameters.values()
    ]
    needed = ledger.recipe.truth.direction_probability
    ends = [end for axis in AXES for end in ledger.fact(f"precedence.{axis}", *names).interval]
    return any(min(abs(end - needed), abs(1.0 - end - needed)) < noise for end in ends)


def check_facts(labels: LabelMap, *, about_mm: float | None, noise: float) -> None:
    one, two = ledger_of(labels), ledger_of(mirrored(labels, about_mm=about_mm))
    named = [name for name in one.structures if term(name).mirrored_name is not None]
    for name in named:
        partner = str(term(name).mirrored_name)
        for kind in (
            "voxels",
            "volume",
            "components",
            "touches_border",
            *(f"extent.{a}" for a in AXES),
        ):
            assert_same(one, kind, (name,), two, (partner,))
        share, other = one.fact("right_share", name), two.fact("right_share", partner)
        assert share.value + other.value == pytest.approx(1.0, abs=1e-9)
        assert share.interval[0] + other.interval[1] == pytest.approx(1.0, abs=1e-9)
        side, other_side = one.fact("side", name), two.fact("side", partner)
        assert Side(other_side.value) is Side(side.value).mirrored
        assert side.flags == other_side.flags
    for a, b in zip(named, named[1:] + named[:1]):
        pair = (str(term(a).mirrored_name), str(term(b).mirrored_name))
        for kind in (
            "centre_distance",
            "boundary_distance",
            "surface_gap",
            "touching",
            "contact_area",
            "volume_ratio",
        ):
            assert_same(one, kind, (a, b), two, pair)
        for axis in AXES:
            sign = -1.0 if axis is Axis.LEFT_RIGHT else 1.0
            assert two.fact(f"gap.{axis}", *pair).value == pytest.approx(
                sign * one.fact(f"gap.{axis}", a, b).value, abs=1e-8
            )
            there, here = (
                two.fact(f"precedence.{axis}", *pair).value,
                one.fact(f"precedence.{axis}", a, b).value,
            )
            assert there == pytest.approx(1.0 - here if sign < 0 else here, abs=max(noise, 1e-9))
            assert_same(one, f"angle.{axis}", (a, b), two, pair)


def assert_same(
    one: Ledger, kind: str, names: tuple[str, ...], two: Ledger, partners: tuple[str, ...]
) -> None:
    here, there = one.fact(kind, *names), two.fact(kind, *partners)
    assert close((here.value, here.interval), (there.value, there.interval), 1e-9, 1e-9), (
        here,
        there,
    )
    assert here.flags == there.flags


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("index", range(6))
def test_answers_of_the_exact_mirror_image(index):
    assert check_answers(phantom_labels(13, index, SPACING), about_mm=0.0, noise=0.0) > 90


@pytest.mark.sampled(one_in=6)
@pytest.mark.parametrize("index", range(6))
def test_answers_mirrored_about_the_centre_plane(index):
    assert check_answers(phantom_labels(13, index, SPACING), about_mm=None, noise=BIN_NOISE) > 90


@pytest.mark.sampled
@pytest.mark.parametrize("index", range(4))
def test_facts_of_the_mirror_image(index):
    labels = phantom_labels(13, index, SPACING)
    check_facts(labels, about_mm=0.0, noise=0.0)
    check_facts(labels, about_mm=None, noise=BIN_NOISE)


def test_twice_mirrored_is_the_same_patient():
    labels = phantom_labels(13, 0, SPACING)
    again = mirrored(mirrored(labels))
    assert again.structures == labels.structures
    assert close(again.grid.affine.matrix.tolist(), labels.grid.affine.matrix.tolist(), 1e-12, 1e-9)


def test_mirroring_moves_the_side_of_lesions():
    """A lesion has no sided name: its side alone swaps."""
    swapped = 0
    for index in range(8):
        labels = phantom_labels(13, index, SPACING)
        one, two = ledger_of(labels), ledger_of(mirrored(labels))
        for name in one.structures:
            if lesion_family(name):
                here, there = one.fact("side", name).value, two.fact("side", name).value
                assert Side(there) is Side(here).mirrored
                swapped += here != there
    assert swapped >= 5


@pytest.mark.sweep
@pytest.mark.parametrize("index", range(12))
def test_sweep_of_mirrored_patients(index):
    labels = phantom_labels(17, index, (4.5, 5.0, 5.0))
    check_facts(labels, about_mm=0.0, noise=0.0)
    check_facts(labels, about_mm=None, noise=BIN_NOISE)
    check_answers(labels, about_mm=0.0, noise=0.0)
    check_answers(labels, about_mm=None, noise=BIN_NOISE)


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="SITUS_REAL_DATA is not set")
def test_a_real_abdomen_and_its_mirror_image():
    labels = open_labels(REAL / "segmentations").load()
    # Few of its structures are whole, so that most questions are compared in why they are not
    # asked.
    assert check_answers(labels, about_mm=0.0, noise=0.0) > 150
