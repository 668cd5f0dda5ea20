"""An abstract cohort and readers that answer it: the runs of a probe without scans, through the
suite's own functions.

Patients have right answers to the same questions; a change of the scan gives some of them another
one. A reader is a function of what it is shown: the item, which patient's pictures it sees (None
without) and under which probe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from situs.items import Choice, Item, Number, Option, YesNo
from situs.probe.changes.origin import OutcomeRow
from situs.probe.diagnosis import Diagnosis, Evidence, ProbeRuns, diagnose, evidence_of
from situs.probe.table import compared
from situs.run import NATIVE, AnswerRow
from situs.score import Scored, Selection, score_answer
from situs.score.explain import Answered, Answers, Budget, Judged, budget_from

HEADLINE = Selection("headline", closed=True)
SIDES, LEVELS = ("left", "right"), ("T12", "L1", "L2", "L3")
SIZES = ("10 to 20 mm", "20 to 30 mm", "30 to 40 mm", "over 120 mm")
BLIND = ("text", "silent", "blank", "other-patient")
SAME_ANSWER = ("sham", "slice-order", "convention")


@dataclass(frozen=True)
class Shown:
    """What a reader is asked and shown."""

    item: Item
    truth: str
    """What is right for the pictures shown; empty without pictures."""
    pictures: str
    """Names the very pictures; the same name only for the same pixels."""
    patient: str
    """Whose pictures; empty without."""
    probe: str
    old: str
    """What is right in the original scan of the patient asked about."""


Reader = Callable[[Shown, np.random.Generator], str]


class Cohort:
    """Patients × questions, with the truth under every probe."""

    def __init__(
        self,
        seed: int = 0,
        patients: int = 40,
        texts: int = 24,
        numbers: int = 7,
        usual: float = 0.0,
    ) -> None:
        """`usual`: the share of answers that are the prior's, beside those that are by luck."""
        self._usual = usual
        rng = np.random.default_rng(seed)
        self.items: list[Item] = []
        self.truth: dict[tuple[str, str], str] = {}
        self.mirrored: dict[str, str] = {}
        self.prior: dict[str, str] = {}
        forms = [self._form(number) for number in range(texts)]
        for _, text, _, values in forms:
            self.prior[text] = str(rng.choice(values))
        for number in range(patients):
            for place, (task, text, lesion, values) in enumerate(forms):
                self._add(rng, f"p{number}", place, task, text, lesion, values)
        for number in range(patients):
            for place in range(numbers):
                self._add_number(rng, f"p{number}", place)
        self.by_id = {item.item_id: item for item in self.items}
        self.others = {f"p{n}": f"p{(n + 7) % patients}" for n in range(patients)}
        self._judged: dict[tuple[Any, ...], Scored] = {}

    def _form(self, number: int) -> tuple[str, str, bool, tuple[str, ...]]:
        lesion = number % 3 == 2
        subject = f"the lesion {number}" if lesion else f"structure {number}"
        match number % 4:
            case 0:
                return (
                    "lesion_side" if lesion else "location",
                    f"On which side is {subject}?",
                    lesion,
                    SIDES,
                )
            case 1:
                return (
                    "lesion_pair" if lesion else "comparison",
                    f"Is {subject} the larger one?",
                    lesion,
                    ("yes", "no"),
                )
            case 2:
                return "level", f"At which level does {subject} end?", lesion, LEVELS
            case _:
                return (
                    "lesion_pole" if lesion else "extent",
                    f"How long is {subject}?",
                    lesion,
                    SIZES,
                )

    def _add(
        self,
        rng: np.random.Generator,
        patient: str,
        place: int,
        task: str,
        text: str,
        lesion: bool,
        values: Any,
    ) -> None:
        truth = str(rng.choice(values))
        if self._usual and rng.random() < self._usual:
            truth = self.prior[text]
        name = f"{patient}-{place}"
        needs = ("sees:largest:kidney_lesion" if lesion else "sees:kidney_left",)
        needs += {
            "location": ("side_convention",),
            "lesion_side": ("side_convention",),
            "level": ("slice_order",),
        }.get(task, ())
        base: dict[str, Any] = {"stratum": "headline", "twin_group": text, "needs": needs}
        if values == ("yes", "no"):
            item = Item(
                name, patient, "ct", patient, task, "yes_no", text, YesNo(truth == "yes"), **base
            )
        else:
            order = rng.permutation(len(values))
            options = tuple(Option(values[k], values[k]) for k in order)
            item = Item(
                name,
                patient,
                "ct",
                patient,
                task,
                "choice",
                text,
                Choice(truth),
                options=options,
                **base,
            )
        self.items.append(item)
        self.truth[name, "original"] = truth
        if values == SIDES:
            self.mirrored[name] = "right" if truth == "left" else "left"

    def _add_number(self, rng: np.random.Generator, patient: str, place: int) -> None:
        value = float(np.round((30 + 25 * place) * rng.lognormal(0, 0.35), 1))
        text = f"How long is structure {place} from top to bottom, in mm?"
        answer = Number(value, "mm", (0.93 * value, 1.07 * value))
        item = Item(
            f"{patient}-n{place}",
            patient,
            "ct",
            patient,
            "extent",
            "number",
            text,
            answer,
            stratum="headline",
        )
        self.items.append(item)
        self.truth[item.item_id, "original"] = f"{value} mm"
        self.prior[text] = f"{30 + 25 * place} mm"

    def run(self, reader: Reader, probe: str, seed: int) -> Answers:
        """All answers of a reader under a probe."""
        rng = np.random.default_rng([seed, *probe.encode()])
        answered = {}
        for item in self.items:
            asked = self._asked(item, probe)
            if asked is not None:
                shown = self._shown(item, probe)
                answered[asked.item_id] = self._judge(asked, reader(shown, rng))
        return Answers(answered, None, {})  # type: ignore[arg-type]

    def _asked(self, item: Item, probe: str) -> Item | None:
        if probe not in ("mirror", "sham"):
            return item
        answer = item.answer
        if probe == "mirror" and item.item_id in self.mirrored:
            answer = Choice(self.mirrored[item.item_id])
        return msgspec.structs.replace(
            item, item_id=f"{item.item_id}~{probe}", answer=answer, twin_of=item.item_id
        )

    def _shown(self, item: Item, probe: str) -> Shown:
        own = self.truth[item.item_id, "original"]
        if probe in ("text", "silent", "blank"):
            pictures = "black" if probe == "blank" else ""
            return Shown(item, "", pictures, "", probe, own)
        if probe == "other-patient":
            other = self.others[item.patient_id]
            name = item.item_id.replace(item.patient_id + "-", other + "-", 1)
            return Shown(item, self.truth[name, "original"], other, other, probe, own)
        changed = self.mirrored.get(item.item_id, own) if probe == "mirror" else own
        marked = item.patient_id if probe == "original" else f"{item.patient_id}/{probe}"
        return Shown(item, changed, marked, item.patient_id, probe, own)

    def _judge(self, item: Item, reply: str) -> Answered:
        key = item.twin_of or item.item_id, item.answer, reply
        row = AnswerRow(item.item_id, response=reply)
        if key not in self._judged:
            self._judged[key] = score_answer(item, row, None)
        return Answered(item, row, self._judged[key])

    def evidence(
        self, reader: Reader, seed: int = 0, probes: tuple[str, ...] = (*SAME_ANSWER, "mirror")
    ) -> Evidence:
        """What a suite measures of a reader."""
        full = self.run(reader, "original", seed)
        blind = {name: self.run(reader, name, seed) for name in BLIND}
        rows = {name: compared(full, run, None, lambda i: i) for name, run in blind.items()}
        for name in probes:
            after = self.run(reader, name, seed)
            if name in ("mirror", "sham"):
                outcomes = [self._outcome(item.item_id, name) for item in self.items]
                rows[name] = compared(full, after, outcomes, lambda i, name=name: f"{i}~{name}")  # type: ignore[misc]
            else:
                rows[name] = compared(full, after, None, lambda i: i)
        runs = ProbeRuns(full, blind, rows, self.expected)
        return evidence_of(runs, HEADLINE, self.slips(full), self.slips(blind["silent"]))

    def slips(self, full: Answers) -> Budget:
        """The error budget of a run."""
        judged = (
            Judged(one.item, one.scored.judgement, {item_id: one.row})  # type: ignore[attr-defined, dict-item]
            for item_id, one in full.by_id.items()
        )
        return budget_from(judged, _NoFacts(), _OneGrid(), _Expects(self))  # type: ignore[arg-type]

    def diagnosed(self, reader: Reader, seed: int = 0, **more: Any) -> Diagnosis:
        """The verdict on a reader."""
        return diagnose(self.evidence(reader, seed, **more))

    def expected(self, item: Item) -> list[str]:
        """What other patients suggest."""
        return [self.prior[item.question]]

    def _outcome(self, item_id: str, probe: str) -> OutcomeRow:
        return OutcomeRow(
            item_id, "changed" if probe == "mirror" and item_id in self.mirrored else "unchanged"
        )


class _NoFacts:
    def of(self, item: Item) -> dict[str, Any]:
        return {}


class _OneGrid:
    """Every scan has voxels of 0.8 × 0.8 × 3 mm."""

    profile = NATIVE

    def grid(self, item: Item) -> Any:
        from situs.space import Affine, Grid

        return Grid((64, 64, 32), Affine(np.diag([0.8, 0.8, 3.0, 1.0])))

    def obstacle(self, item: Item) -> str:
        return "no pictures are drawn"


class _Expects:
    def __init__(self, cohort: Cohort) -> None:
        self._cohort = cohort

    def left_open(self, item: Item) -> list[str]:
        return self._cohort.expected(item)

    def number(self, item: Item) -> float | None:
        return float(self._cohort.prior[item.question].split()[0])

    def answer(self, item: Item) -> str | None:
        return self._cohort.prior[item.question]


@cache
def cohort(seed: int = 0, patients: int = 40, texts: int = 24) -> Cohort:
    """One cohort for many readers: answers are judged once."""
    return Cohort(seed, patients, texts)


def offered(item: Item) -> list[str]:
    """What may be said."""
    if isinstance(item.answer, YesNo):
        return ["yes", "no"]
    if isinstance(item.answer, Number):
        return [
            f"{n} {item.answer.unit}".strip()
            for n in _PLAUSIBLE.get(item.answer.unit, (1, 2, 3, 4))
        ]
    return [option.value for option in item.options] or ["3-6", "10-14", "20-30"]


_PLAUSIBLE = {"mm": (20, 40, 80, 160), "cm": (4, 8, 12, 20), "mL": (50, 150, 500, 1500)}


def spoken(item: Item, value: str) -> str:
    """A value as a model says it: the letter of its option."""
    values = [option.value for option in item.options]
    return "ABCDEF"[values.index(value)] if value in values else value


Planted = Mapping[str, Reader]
