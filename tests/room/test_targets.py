"""What decides an item: marks that are drawn, findings that were boxed frame by frame."""

from __future__ import annotations

import json

import msgspec
import pytest
import scripted

from situs.clients import Reply
from situs.clients.turns import Action, read_action
from situs.items import Boxes, Choice, Choices, Frames, Item, Number, Option, YesNo
from situs.room.actions import action_kinds, answer_kind
from situs.room.view.evidence import sightings_on, targets_of, unseen
from situs.room.view.scan import Look
from situs.space import FrameBox, WorldBox


@pytest.fixture(scope="module")
def known(bench):
    return scripted.Known(bench, "callipers", None, 1)


def with_marks(item: Item, box: WorldBox) -> Item:
    """Which of A to D lies in the same organ as X; each is drawn on a slice of its own."""
    middle = [0.5 * (a + b) for a, b in zip(box.lo_mm, box.hi_mm)]
    marks = []
    # Between two slices a mark would be drawn on both.
    for letter, share in zip("ABCDX", (0.13, 0.29, 0.47, 0.63, 0.81), strict=True):
        z = box.lo_mm[2] + share * (box.hi_mm[2] - box.lo_mm[2])
        point = (middle[0], middle[1], z)
        marks.append(WorldBox(point, point, f"mark:{letter}"))
    return msgspec.structs.replace(
        item,
        task="marks",
        form="choice",
        level="volume",
        needs=("sees:liver",),
        boxes=(msgspec.structs.replace(box, label="liver"), *marks),
        options=tuple(Option(letter, f"mark {letter}") for letter in "ABCD"),
        answer=Choice("C"),
    )


def test_who_never_saw_the_marks_has_not_seen_what_decides(known) -> None:
    """The structure on all of its slices, but for those that marks are drawn on."""
    (opened,) = known.opened.values()
    scan = opened.scan
    (any_item,) = known.items.values()
    item = with_marks(any_item, opened.ledger.main_region("liver").box_mm)
    targets = opened.targets(item)
    deciding = {"mark C", "mark X"}
    marks = {target.name: target for target in targets if target.kind == "point"}
    assert marks.keys() == deciding
    marked = {scan.nearest_index("axial", target.at) for target in marks.values()}
    window = next(iter(scan.windows))

    def left(indices) -> list[str]:
        """What is not seen on these slices."""
        sightings = []
        for index in indices:
            look = Look("axial", (index,), window)
            picture = scan.picture(look, scan.window_rule(window), {})
            sightings += sightings_on(picture, item, targets, scan, opened.masks)
        return unseen(targets, sightings)

    every = set(range(scan.count("axial")))
    assert set(left(every - marked)) == deciding
    assert left(every) == []


def box(frame: int, x: float, label: str = "edema") -> FrameBox:
    return FrameBox(frame, x, 10.0, x + 20.0, 30.0, label)


TWO = (box(2, 10), box(3, 12), box(7, 100))
"""Two areas of one finding, the first on two frames."""
BOTH = (*TWO, box(4, 60, "mass"))


@pytest.mark.parametrize(
    ("answer", "boxes", "frames"),
    [
        (Number(2.0, ""), TWO, [{2, 3}, {7}]),
        (Choices(("edema", "mass")), BOTH, [{2, 3}, {7}, {4}]),
        (Frames((2, 3, 7)), TWO, [{2, 3}, {7}]),
        (Boxes(TWO), (), [{2, 3}, {7}]),
        # One is enough to say that there is any, or which one it is.
        (YesNo(True), BOTH, [{2, 3, 4, 7}]),
        (Choice("edema"), TWO, [{2, 3, 7}]),
        # Nobody drew what is not there.
        (YesNo(False), (), []),
    ],
)
def test_each_finding_of_a_volume_has_to_be_seen(answer, boxes, frames) -> None:
    options = (Option("edema", "oedema"), Option("mass", "a mass"))
    item = Item(
        item_id="i",
        study_id="s",
        series="mr",
        patient_id="p",
        task="counting",
        form="number",
        question="?",
        answer=answer,
        options=options if isinstance(answer, Choice | Choices) else (),
        boxes=boxes,
    )
    targets = targets_of(item, None, {}, {})
    assert [{one.frame for one in target.boxes} for target in targets] == frames
    assert len({target.name for target in targets}) == len(targets)


def test_an_answer_may_name_a_place_on_every_slice(known) -> None:
    scan = next(iter(known.opened.values())).scan
    places = [
        {"frame": n + 1, "label": "medial patella", "bbox": [203.44, 128.88, 222.02, 141.58]}
        for n in range(scan.count("axial"))
    ]
    said = json.dumps({"boxes": places})
    assert len(said) > 4000
    reply = Reply("answered", json.dumps({"action": "answer", "answer": said}))
    for kinds in (action_kinds(known.room, scan), (answer_kind(scan),)):
        read = read_action(reply, kinds)
        assert isinstance(read, Action), read
        assert read.arguments == {"answer": said}
