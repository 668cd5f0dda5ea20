"""The ledger of a stack of frames:
facts about its boxes and study labels, derived when first asked for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

import msgspec

from situs.anatomy import Finding, finding_of
from situs.errors import Problem, Severity, SitusError
from situs.facts.boxes.tubes import Tube, link, stable_count
from situs.facts.recipe import Recipe
from situs.facts.record import Fact, FactValue, Interval, Measured, fact_id
from situs.space import FrameBox, PixelGrid, covered_area
from situs.volumes import FrameAnnotation, KneeSide, Mark

__all__ = ["ANY", "BoxLedger", "Middle", "check_fits", "clipped"]

ANY = "any"
"""Stands for any finding, as a subject."""

_NO_FINDING = {"artifact", "normal"}
"""Families that are annotated but are no finding."""


class Middle(msgspec.Struct, frozen=True):
    """The head's midline in the pictures:
    its column, how far it may be off, and the image it was found in."""

    x: float
    half_width: float
    image_hash: str


def check_fits(annotation: FrameAnnotation, grid: PixelGrid) -> None:
    """Refuse an image that is not the annotated one: other frames, or another size."""
    last = max((box.frame for box in annotation.boxes), default=0)
    if grid.frames and last >= grid.frames:
        problem = (
            f"has a box on frame {last}, but the image has {grid.frames} frames (counted from 0)"
        )
        raise SitusError(
            problem, where=annotation.volume, fix="is it the image that was annotated?"
        )
    if annotation.frames and grid.frames and annotation.frames != grid.frames:
        problem = (
            f"has {annotation.frames} frames in the annotations, but {grid.frames} in the image"
        )
        raise SitusError(
            problem, where=annotation.volume, fix="is it the image that was annotated?"
        )
    if annotation.size and grid.width and annotation.size != (grid.width, grid.height):
        problem = (
            f"is {annotation.size} in the annotations, but {(grid.width, grid.height)} in the image"
        )
        raise SitusError(
            problem, where=annotation.volume, fix="is it the image that was annotated?"
        )


def clipped(
    annotation: FrameAnnotation, grid: PixelGrid
) -> tuple[tuple[FrameBox, ...], dict[FrameBox, Problem]]:
    """The boxes as far as they lie in the pictures,
    and a warning for each that does not lie wholly in them."""
    check_fits(annotation, grid)
    width, height = grid.width or math.inf, grid.height or math.inf
    inside: list[FrameBox] = []
    problems: dict[FrameBox, Problem] = {}
    for box in annotation.boxes:
        if box.x1 <= width and box.y1 <= height:
            inside.append(box)
            continue
        where_words = f"a box on frame {box.frame} at {box.x0:g}, {box.y0:g}"
        gone = box.x0 >= width or box.y0 >= height
        text, fix = (
            ("lies outside", "it is left out")
            if gone
            else ("leaves the picture", "it is cut at the edge")
        )
        problems[box] = Problem(
            Severity.WARNING, "outside", annotation.volume, f"{where_words} {text}", fix
        )
        if not gone:
            inside.append(
                msgspec.structs.replace(box, x1=min(box.x1, width), y1=min(box.y1, height))
            )
    return tuple(inside), problems


class BoxLedger:
    """Facts about one series of frames.

    Names of findings are clean; frames as subjects are their numbers in text.
    """

    def __init__(
        self,
        annotation: FrameAnnotation,
        *,
        study_id: str,
        series: str,
        recipe: Recipe,
        grid: PixelGrid,
        kinds: tuple[str, ...],
        middle: Middle | None = None,
        side: KneeSide | None = None,
    ) -> None:
        self.annotation = annotation
        self.kinds = kinds
        """Every finding that readers of this organ draw boxes around."""
        self.study_id = study_id
        self.series = series
        self.recipe = recipe
        self.rules = recipe.boxes
        self.grid = grid
        self.middle = middle
        self.side = side
        self.boxes, self.problems = clipped(annotation, grid)
        gone = [
            box
            for box in self.problems
            if box.x0 >= (grid.width or math.inf) or box.y0 >= (grid.height or math.inf)
        ]
        self._unusable = (*annotation.unusable, *(Mark(box.frame, box.label) for box in gone))
        self._hash = annotation.hash
        self._known: dict[str, Fact] = {}
        self._on: dict[tuple[str, int], list[FrameBox]] = defaultdict(list)
        for box in self.boxes:
            self._on[box.label, box.frame].append(box)
        self.labels: tuple[str, ...] = tuple(sorted({box.label for box in self.boxes}))
        self._frames = {
            name: tuple(sorted({b.frame for b in self.boxes if b.label == name}))
            for name in self.labels
        }
        self._family_frames: dict[str, tuple[int, ...]] = {}

    @property
    def organ(self) -> str:
        """`knee`, `brain`, or empty."""
        return self.annotation.organ

    @property
    def known_frames(self) -> int:
        """How many frames are known to exist:
        all with the image, without it those up to the last annotated one."""
        if self.grid.frames:
            return self.grid.frames
        return self.annotation.frames or max((box.frame for box in self.boxes), default=-1) + 1

    def boxes_of(self, name: str, frame: int | None = None) -> tuple[FrameBox, ...]:
        """The boxes of a finding, on one frame or all."""
        if frame is not None:
            return tuple(self._on.get((name, frame), ()))
        return tuple(box for box in self.boxes if box.label == name)

    def frames_of(self, name: str) -> tuple[int, ...]:
        """The frames on which a finding (or any) has a box."""
        if name == ANY:
            wanted = {label for label in self.labels if is_finding(finding_of(label))}
            return tuple(sorted({frame for label in wanted for frame in self._frames[label]}))
        return self._frames.get(name, ())

    def labels_on(self, frame: int) -> tuple[str, ...]:
        """What is annotated on a frame."""
        return tuple(name for name in self.labels if (name, frame) in self._on)

    def distance(self, name: str, frame: int) -> int | None:
        """Frames to the nearest box of a finding or of what it may be mistaken for, usable or not;
        0 if a study label may be it, None if there is no such box."""
        if name not in self._family_frames:
            asked = finding_of(name) if name != ANY else None
            near = {x for x in self.labels if asked is None or asked.confusable_with(finding_of(x))}
            marked = {mark.frame for mark in self._marks_like(name)}
            self._family_frames[name] = tuple(
                sorted(marked.union(*(self._frames[label] for label in near)))
            )
        if self.may_be_study_label(name) or -1 in self._family_frames[name]:
            return 0
        return min((abs(frame - other) for other in self._family_frames[name]), default=None)

    def may_be_study_label(self, name: str) -> bool:
        """Whether a label of the whole study is the finding,
        or may be mistaken for it, wherever it is."""
        labels = [finding_of(label) for label in self.annotation.study_labels]
        if name == ANY:
            return any(is_finding(label) for label in labels)
        return any(finding_of(name).confusable_with(label) for label in labels)

    def _marks_like(self, name: str) -> list[Mark]:
        asked = finding_of(name) if name != ANY else None
        return [
            mark
            for mark in self._unusable
            if asked is None or not mark.label or asked.confusable_with(finding_of(mark.label))
        ]

    def is_uncertain(self, name: str, frame: int | None = None) -> bool:
        """Whether an annotation that cannot be used (on that frame) is the finding,
        or may be mistaken for it."""
        return any(frame is None or mark.frame in (-1, frame) for mark in self._marks_like(name))

    def is_negative(self, name: str, frame: int) -> bool:
        """Whether a slice may be asked as one without the finding:
        read as normal, or far enough from all like it."""
        if not 0 <= frame < self.known_frames:
            return False
        if self.annotation.read_as_normal:
            return True
        distance = self.distance(name, frame)
        return distance is not None and distance >= self.rules.clear_frames

    def tubes(self, name: str) -> list[Tube]:
        """Findings of one label under the first rule of the family."""
        return link(self.boxes_of(name), self.rules.link_iou[0], self.rules.link_gaps[0])

    def fact(self, kind: str, *subjects: str) -> Fact:
        """A fact by kind and subjects. KeyError if there is no such kind or subject."""
        own_id = fact_id(self.study_id, self.series, kind, subjects)
        if own_id not in self._known:
            value, unit, interval, flags, inputs, parameters = KINDS[kind](self, *subjects)
            derivation = Measured(f"{kind}@1", parameters, (f"boxes:{self._hash}", *inputs))
            known = Fact(
                own_id,
                self.study_id,
                self.series,
                kind,
                subjects,
                value,
                unit,
                interval,
                derivation,
                flags,
            )
            self._known[own_id] = known
        return self._known[own_id]

    def known_facts(self) -> list[Fact]:
        """Every fact asked for so far, by id."""
        return [self._known[own_id] for own_id in sorted(self._known)]


def is_finding(entry: Finding) -> bool:
    """Whether it is a finding, not an artifact or a normal variant."""
    return not set(entry.families) & _NO_FINDING


Found = tuple[
    FactValue, str, Interval | None, tuple[str, ...], tuple[str, ...], dict[str, float | str]
]
Kind = Callable[..., Found]


def _plain(value: FactValue, unit: str = "", **parameters: float | str) -> Found:
    return value, unit, None, (), (), parameters


def _frame(ledger: BoxLedger, text: str) -> int:
    frame = int(text)
    if not 0 <= frame < ledger.known_frames:
        raise KeyError(text)
    return frame


def _boxes(ledger: BoxLedger, name: str, frame: str | None = None) -> Found:
    """Frame, x0, y0, x1, y1 of every box, one after the other."""
    boxes = ledger.boxes_of(name, None if frame is None else _frame(ledger, frame))
    if not boxes:
        raise KeyError(name)
    return _plain(tuple(float(v) for b in boxes for v in (b.frame, b.x0, b.y0, b.x1, b.y1)), "px")


def _box_count(ledger: BoxLedger, name: str, frame: str | None = None) -> Found:
    return _plain(len(ledger.boxes_of(name, None if frame is None else _frame(ledger, frame))))


def _frames(ledger: BoxLedger, name: str) -> Found:
    return _plain(tuple(float(frame) for frame in ledger.frames_of(name)))


def _frame_count(ledger: BoxLedger, name: str) -> Found:
    return _plain(len(ledger.frames_of(name)))


def _labels(ledger: BoxLedger, frame: str | None = None) -> Found:
    names = ledger.labels if frame is None else ledger.labels_on(_frame(ledger, frame))
    return _plain(";".join(names))


def _nearest(ledger: BoxLedger, name: str, frame: str) -> Found:
    """Frames to the nearest box of the finding or its family."""
    return _plain(ledger.distance(name, _frame(ledger, frame)), "frames")


def _findings(ledger: BoxLedger, name: str) -> Found:
    """How many findings the boxes make; unstable if that depends on the linking rule."""
    rules = ledger.rules
    boxes = ledger.boxes_of(name)
    low, high = stable_count(boxes, rules.link_iou, rules.link_gaps)
    flags = () if low == high else ("unstable",)
    parameters: dict[str, float | str] = {
        "iou": " ".join(f"{v:g}" for v in rules.link_iou),
        "gaps": " ".join(f"{v}" for v in rules.link_gaps),
    }
    return len(ledger.tubes(name)), "", (float(low), float(high)), flags, (), parameters


def _tube(ledger: BoxLedger, name: str, number: str) -> Found:
    """First frame, last frame, and the box around all its boxes (x0, y0, x1, y1)."""
    tube = ledger.tubes(name)[int(number)]
    rules = ledger.rules
    value = (float(tube.first), float(tube.last), *(float(v) for v in tube.hull))
    return _plain(value, "px", iou=rules.link_iou[0], gap=float(rules.link_gaps[0]))


def _largest_frame(ledger: BoxLedger, name: str) -> Found:
    """The frame on which the boxes of a finding cover most, overlaps once.

    Unstable if another comes close, or if the largest single box is on another frame: who reads "a
    box around it" may mean either.
    """
    on_frame: dict[int, list[FrameBox]] = defaultdict(list)
    for box in ledger.boxes_of(name):
        on_frame[box.frame].append(box)
    areas = {frame: covered_area(boxes) for frame, boxes in on_frame.items()}
    order = sorted(areas, key=lambda frame: (-areas[frame], frame))
    margin = ledger.rules.largest_margin
    close = len(order) > 1 and areas[order[1]] > (1.0 - margin) * areas[order[0]]
    single = {frame: max(box.area for box in boxes) for frame, boxes in on_frame.items()}
    disputed = any(single[frame] > single[order[0]] for frame in order[1:])
    return order[0], "", None, ("unstable",) if close or disputed else (), (), {"margin": margin}


def _study_label(ledger: BoxLedger, name: str) -> Found:
    return _plain(name in ledger.annotation.study_labels)


def _read_as_normal(ledger: BoxLedger) -> Found:
    return _plain(ledger.annotation.read_as_normal)


def _midline(ledger: BoxLedger) -> Found:
    if ledger.middle is None:
        raise KeyError("midline")
    middle = ledger.middle
    low, high = middle.x - middle.half_width, middle.x + middle.half_width
    return middle.x, "px", (low, high), (), (f"image:{middle.image_hash}",), {}


def _image_side(ledger: BoxLedger, name: str, frame: str | None = None) -> Found:
    """`left`, `right` or `both` of the picture;
    unstable if the midline's uncertainty leaves it open."""
    midline = ledger.fact("midline")
    boxes = ledger.boxes_of(name, None if frame is None else _frame(ledger, frame))
    if not boxes:
        raise KeyError(name)
    share = ledger.rules.side_share
    answers = {_side_of(boxes, x, share) for x in midline.interval or ()}
    flags = () if len(answers) == 1 else ("unstable",)
    value = _side_of(boxes, float(midline.value), share)  # type: ignore[arg-type]
    return value, "", None, flags, (f"fact:{midline.fact_id}",), {"share": share}


def _side_of(boxes: tuple[FrameBox, ...], midline: float, share: float) -> str:
    sides = set()
    for box in boxes:
        left = min(1.0, max(0.0, (midline - box.x0) / (box.x1 - box.x0)))
        sides.add("left" if left >= share else "right" if 1.0 - left >= share else "both")
    return sides.pop() if len(sides) == 1 else "both"


def _compartment(ledger: BoxLedger, name: str, frame: str | None = None) -> Found:
    """`medial` or `lateral`, by the table of sides; unstable if a box comes near the middle."""
    side, width = ledger.side, ledger.grid.width
    boxes = ledger.boxes_of(name, None if frame is None else _frame(ledger, frame))
    if side is None or not boxes:
        raise KeyError(name)
    middle = (
        side.midline_x if side.midline_x is not None else None if width is None else width / 2.0
    )
    if middle is None:
        raise KeyError("the middle of the knee")
    band = ledger.rules.compartment_band * (width or 2.0 * middle)
    on_left = all(box.x1 <= middle - band for box in boxes)
    on_right = all(box.x0 >= middle + band for box in boxes)
    centre = sum((box.x0 + box.x1) / 2.0 for box in boxes) / len(boxes)
    here = "left" if centre < middle else "right"
    flags = () if on_left or on_right else ("unstable",)
    value = "medial" if here == side.medial else "lateral"
    return value, "", None, flags, (f"sides:{side.hash}",), {"band": ledger.rules.compartment_band}


KINDS: dict[str, Kind] = {
    "boxes": _boxes,
    "box_count": _box_count,
    "frames": _frames,
    "frame_count": _frame_count,
    "labels": _labels,
    "nearest_like": _nearest,
    "findings": _findings,
    "tube": _tube,
    "largest_frame": _largest_frame,
    "study_label": _study_label,
    "read_as_normal": _read_as_normal,
    "midline": _midline,
    "image_side": _image_side,
    "compartment": _compartment,
}
