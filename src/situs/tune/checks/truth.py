"""What can be proved against the bench: prompts, boxes, answers, pictures.

The builder is not believed. A completion is read by the parsers that will read the model's replies,
and what they read is compared with the item; it must also be the text that the item gives now.
"""

from __future__ import annotations

from pathlib import Path

from situs.base.files import digest
from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Presenter, SliceStore
from situs.run import AnswerRow, Viewing
from situs.score import INFERRED, Parsed, score_answer
from situs.space import FrameBox
from situs.tune.checks.folder import FolderCheck
from situs.tune.checks.problems import Problems
from situs.tune.forms import box_form
from situs.tune.grounding import read_boxes, true_boxes
from situs.tune.record import Example, TrainingData
from situs.tune.selection import check_patients
from situs.tune.targets import LeftOut, Written, is_negative, write_target

__all__ = ["TruthCheck"]

_PROVED = (
    "prompts are byte for byte those of situs run",
    "boxes in range, on the right frame, and back within half a unit",
    "the completion is scored right by the scorer that will judge the model",
    "completions are whole, as their items give them",
    "no example is of a test patient",
)
_SLACK = 1e-6
"""Of rounding in binary; half a unit itself is allowed."""


class TruthCheck:
    """Compares examples with the items they were made from."""

    proves = _PROVED

    def __init__(
        self,
        data: TrainingData,
        bench: Bench,
        problems: Problems,
        folder: FolderCheck,
        volumes: Path | None = None,
    ) -> None:
        self._data, self._problems, self._folder = data, problems, folder
        self._viewing = Viewing(bench, data.profile)
        self._presenter = Presenter(bench, data.profile, store=SliceStore(), data=volumes)
        self._form = box_form(data.manifest.box_form)
        try:
            self._splits = check_patients(bench)
        except SitusError as error:
            problems.add("patient-in-two-splits", bench.folder.name, error.problem)
            self._splits = {}
        self.render = True
        """Whether pictures are drawn anew; turned off where the volumes are not here."""
        self.not_rendered = ""

    def add(self, example: Example, item: Item | None) -> None:
        """Compare one example with its item."""
        where = example.item_id
        if item is None:
            self._problems.add("no-item", where, "the bench has no such item")
            return
        split = self._splits.get(example.patient_id, item.split)
        if "test" in (split, item.split):
            self._problems.add(
                "test-patient", where, f"its patient {example.patient_id} is in the test split"
            )
        if example.prompt != self._presenter.prompt(item):
            self._problems.add("prompt-differs", where, "its prompt is not what situs run sends")
        self._check_pictures(example, item)
        written = write_target(item, self._data.manifest.target, self._form, self._viewing)
        if isinstance(written, LeftOut) or written.text != example.completion:
            self._problems.add("completion-differs", where, "its completion is not its item's")
        self._check_fields(example, item, written)
        if self._data.manifest.target != "answer":
            self._check_boxes(example, item)
        self._check_answer(example, item)

    def _check_fields(self, example: Example, item: Item, written: Written | LeftOut) -> None:
        """What is said beside prompt and completion, by which examples are counted and split."""
        wrong = [
            name
            for name in ("patient_id", "study_id", "series", "split", "task", "form")
            if getattr(example, name) != getattr(item, name)
        ]
        if example.negative != is_negative(item):
            wrong.append("negative")
        if isinstance(written, Written):
            has_boxes = self._data.manifest.target != "answer"
            if example.boxes != (len(written.boxes) if has_boxes else -1):
                wrong.append("boxes")
        if wrong:
            self._problems.add(
                "fields-differ", example.item_id, f"not its item's: {', '.join(wrong)}"
            )

    def _check_pictures(self, example: Example, item: Item) -> None:
        if not example.pictures:
            return
        sizes = self._viewing.sizes(item)
        stored_sizes = [self._folder.size(name, example.item_id) for name in example.pictures]
        if any(one is not None and one != size for one, size in zip(stored_sizes, sizes)):
            self._problems.add(
                "picture-resized",
                example.item_id,
                "a picture has a different size from the profile's",
            )
            return
        if not self.render:
            return
        try:
            images = self._presenter.present(item).images
        except SitusError as error:
            self.render, self.not_rendered = False, error.problem
            return
        names = [digest(image.data) for image in images]
        if names != [Path(name).stem for name in example.pictures]:
            self._problems.add(
                "picture-differs", example.item_id, "its pictures are not what situs run sends"
            )

    def _check_boxes(self, example: Example, item: Item) -> None:
        where = example.item_id
        read = read_boxes(example.completion, item, self._viewing)
        if not isinstance(read, Parsed):
            self._problems.add("boxes-unread", where, "the parser finds no box in its completion")
            return
        if INFERRED & set(read.flags):
            self._problems.add(
                "box-range",
                where,
                "a box is outside the range of the box form and is read differently",
            )
            return
        truth = true_boxes(item, self._viewing)
        if len(truth) != len(read.value):
            self._problems.add(
                "box-count", where, f"has {len(read.value)} boxes, the item {len(truth)}"
            )
            return
        worst = self._worst(truth, list(read.value), item)
        if worst is None:
            self._problems.add("box-frame", where, "a box is on another frame than the item's")
        elif worst > 0.5 + _SLACK:
            self._problems.add(
                "box-shifted", where, f"a box is {worst:.2f} units of its form from the truth"
            )

    def _worst(self, truth: list[FrameBox], written: list[FrameBox], item: Item) -> float | None:
        """The largest difference of a coordinate in units of the form; None if frames differ."""
        sizes, space = self._viewing.sizes(item), self._viewing.space
        step = self._form.step(space)
        worst = 0.0
        for true in truth:
            width, height = sizes[true.frame]
            full_scale = {"thousand": 1000.0, "unit": 1.0}.get(space.box_scale)
            units = (width / full_scale, height / full_scale) if full_scale else (1.0, 1.0)
            near = [
                (_apart(true, one, (units[0] * step, units[1] * step)), nearest)
                for nearest, one in enumerate(written)
                if one.frame == true.frame
            ]
            if not near:
                return None
            distance, nearest = min(near)
            worst = max(worst, distance)
            del written[nearest]
        return worst

    def _check_answer(self, example: Example, item: Item) -> None:
        row = AnswerRow(item.item_id, "answered", example.completion)
        scored = score_answer(item, row, None, shown=self._viewing)
        if scored.outcome.state == "unjudged" or self._data.manifest.target == "boxes":
            return
        right = scored.outcome.right
        if self._data.manifest.target == "answer" and scored.answer_right is not None:
            right = scored.answer_right  # the place is left out on purpose
        if not right:
            self._problems.add(
                "scored-wrong",
                example.item_id,
                f"the scorer does not count it as right ({scored.outcome.state}: "
                f"{scored.outcome.parsed[:80]})",
            )


def _apart(one: FrameBox, other: FrameBox, units: tuple[float, float]) -> float:
    return max(
        abs(one.x0 - other.x0) / units[0],
        abs(one.x1 - other.x1) / units[0],
        abs(one.y0 - other.y0) / units[1],
        abs(one.y1 - other.y1) / units[1],
    )
