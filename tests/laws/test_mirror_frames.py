"""Mirror and order on frames: a mirrored picture swaps the image side,
a reversed volume reverses frames; no more."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from frame_make import FRAMES, HEIGHT, WIDTH, make_cohort, picture
from situs.anatomy import finding_name
from situs.bench import find_middle
from situs.facts import BoxLedger, load_recipe
from situs.items import Choice, Frames, Item, NotAsked, Question
from situs.items.findings import choose_finding_tasks, pose_finding
from situs.space import FrameBox, PixelGrid
from situs.volumes import FrameAnnotation, hash_frames

RECIPE = load_recipe()
SWAP = {"left": "right", "right": "left"}
Change = Callable[[FrameBox], FrameBox]


def mirrored(box: FrameBox) -> FrameBox:
    return msgspec.structs.replace(box, x0=WIDTH - box.x1, x1=WIDTH - box.x0)


def reversed_(box: FrameBox) -> FrameBox:
    return msgspec.structs.replace(box, frame=FRAMES - 1 - box.frame)


def ledger(
    boxes: tuple[FrameBox, ...], frames: np.ndarray, labels: tuple[str, ...] = ()
) -> BoxLedger:
    annotation = FrameAnnotation("v", "brain", boxes, labels, True)
    middle = find_middle(frames, "brain", hash_frames(frames), RECIPE.boxes)
    grid, kinds = (
        PixelGrid(FRAMES, WIDTH, HEIGHT),
        ("mass", "edema", "craniotomy", "lacunar_infarct", "likely_cyst"),
    )
    given = {"study_id": "s", "series": "mr", "recipe": RECIPE, "grid": grid, "kinds": kinds}
    return BoxLedger(annotation, middle=middle, **given)  # type: ignore[arg-type]


def volumes(seed: int) -> list[tuple[tuple[FrameBox, ...], np.ndarray]]:
    cohort = make_cohort(seed, count=6)
    found = []
    for volume in cohort.lists["brain"]:
        rows = cohort.boxes(volume)
        boxes = tuple(
            FrameBox(f, x, y, x + w, y + h, finding_name(label)[0]) for f, x, y, w, h, label in rows
        )
        found.append(
            (
                tuple(sorted(boxes, key=lambda b: (b.frame, b.label, b.x0))),
                picture(rows, centre=47.0),
            )
        )
    return found


def questions(own: BoxLedger) -> list[Question]:
    return [question for task in choose_finding_tasks(None) for question in task.questions(own)]


def gist(item: Item | NotAsked, change: Change) -> object:
    """All of an item but its ids and wording, with every box changed."""
    if isinstance(item, NotAsked):
        return item.reason
    boxes = [sorted(change(b) for b in own if isinstance(b, FrameBox)) for own in _boxes(item)]
    answer = None if item.form == "boxes" else item.answer
    steps = [(step.kind, step.text) for step in item.steps]
    return (
        item.task,
        item.form,
        item.level,
        boxes,
        answer,
        item.options,
        item.tags,
        item.needs,
        steps,
    )


def _boxes(item: Item) -> list[tuple[object, ...]]:
    return [
        item.boxes,
        *(step.boxes for step in item.steps),
        *([item.answer.boxes] if item.form == "boxes" else []),
    ]  # type: ignore[union-attr]


def _swapped(own: object) -> object:
    """Left and right exchanged in words and values."""
    if isinstance(own, str):
        return own.replace("left", "\0").replace("right", "left").replace("\0", "right")
    if isinstance(own, Choice):
        return Choice(SWAP.get(own.value, own.value))
    if isinstance(own, msgspec.Struct) and hasattr(own, "references"):
        return type(own)(tuple(_swapped(text) for text in own.references))
    return (
        tuple(_swapped(part) for part in own)
        if isinstance(own, tuple)
        else ([_swapped(part) for part in own] if isinstance(own, list) else own)
    )


@pytest.fixture(autouse=True)
def _sortable_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        FrameBox,
        "__lt__",
        lambda a, b: msgspec.structs.astuple(a) < msgspec.structs.astuple(b),
        raising=False,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(3))
def test_a_mirrored_picture_swaps_the_image_side_and_nothing_else(seed: int) -> None:
    sided = 0
    for boxes, frames in volumes(seed):
        own = ledger(boxes, frames)
        turned = ledger(tuple(mirrored(b) for b in boxes), np.ascontiguousarray(frames[:, :, ::-1]))
        asked = questions(own)
        assert {str(q) for q in asked} == {str(q) for q in questions(turned)}
        for question in asked:
            one, other = (pose_finding(led, question, "p", 0) for led in (own, turned))
            expected, found = gist(one, mirrored), gist(other, lambda box: box)
            options_kept = (
                isinstance(one, Item) and isinstance(other, Item) and one.options == other.options
            )
            assert isinstance(one, NotAsked) or options_kept
            assert _without_options(_swapped(expected)) == _without_options(found)
            if isinstance(one, Item) and isinstance(other, Item):
                assert (one.question, one.item_id, one.fact_ids) == (
                    other.question,
                    other.item_id,
                    other.fact_ids,
                )
                sided += isinstance(one.answer, Choice) and one.answer.value in SWAP
    assert sided > 10


def _without_options(gist_: object) -> object:
    return gist_ if isinstance(gist_, str) else (*gist_[:5], *gist_[6:])  # type: ignore[index]


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(3))
def test_a_reversed_volume_reverses_frames_and_nothing_else(seed: int) -> None:
    for boxes, frames in volumes(seed):
        own = ledger(boxes, frames)
        back = ledger(tuple(reversed_(b) for b in boxes), np.ascontiguousarray(frames[::-1]))
        asked = questions(own)
        turned = {str(_turned(question)): question for question in questions(back)}
        assert {str(question) for question in asked} == set(turned)
        for question in asked:
            one = pose_finding(own, question, "p", 0)
            other = pose_finding(back, turned[str(question)], "p", 0)
            if isinstance(one, Item) and isinstance(one.answer, Frames):
                assert isinstance(other, Item)
                assert isinstance(other.answer, Frames)
                assert sorted(FRAMES - 1 - frame for frame in one.answer.frames) == list(
                    other.answer.frames
                )
                assert one.answer.contiguous == other.answer.contiguous
                one, other = (
                    msgspec.structs.replace(item, answer=Frames(())) for item in (one, other)
                )
            assert gist(one, reversed_) == gist(other, lambda box: box)
            if isinstance(one, Item) and isinstance(other, Item):
                assert [FRAMES - 1 - frame for frame in one.frames] == list(other.frames)


def _turned(question: Question) -> Question:
    if "frame" not in question.parameters:
        return question
    frame = str(FRAMES - 1 - int(question.parameters["frame"]))
    return msgspec.structs.replace(question, parameters=question.parameters | {"frame": frame})
