"""Which items of a bench are trained on: splits, mix of tasks, share of negatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from situs.base.files import digest
from situs.bench import Bench, read_table
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.tune.targets import evidence_boxes, is_negative

__all__ = ["Selection", "Selector", "check_patients"]


class Selection(msgspec.Struct, frozen=True):
    """What is taken."""

    splits: tuple[str, ...]
    mix: dict[str, float]
    negatives: float | None
    seed: int


class _Key(msgspec.Struct, frozen=True):
    item_id: str
    patient_id: str
    study_id: str
    series: str
    split: str
    task: str


class Selector:
    """Chooses items by a hash of each, so that the choice depends on no order and no other item."""

    def __init__(self, bench: Bench, selection: Selection) -> None:
        self._bench = bench
        self._selection = selection
        self._split_of = check_patients(bench)
        self._shared = _shared_images(bench, self._split_of)
        self.left_out: Counter[str] = Counter()
        self._check_mix()
        self._keep = self._shares()
        self.total = sum(bench.info.by_split.get(split, 0) for split in selection.splits)
        if not self.total:
            known = ", ".join(sorted(bench.info.by_split)) or "none"
            raise SitusError(
                f"has no item in {' or '.join(selection.splits)} (its splits: {known})",
                where=bench.folder,
                fix=(
                    "build it from at least 60 patients, or with a --recipe whose split_from is"
                    " lower"
                ),
            )

    def items(self) -> Iterator[Item]:
        """The chosen items, in bench order, split by split."""
        for split in self._selection.splits:
            for item in self._bench.items(split):
                reason = self._reason(item)
                if reason:
                    self.left_out[reason] += 1
                else:
                    yield item

    def _reason(self, item: Item) -> str:
        if (item.study_id, item.series) in self._shared:
            return "its image is also in another split"
        if self._draw("mix", item.item_id) >= self._selection.mix.get(item.task, 1.0):
            return "not drawn (--mix)"
        kind = _kind(item)
        if kind and self._draw("negatives", item.item_id) >= self._keep[kind]:
            return "not drawn (--negatives)"
        return ""

    def _draw(self, purpose: str, item_id: str) -> float:
        """A number from 0 to 1 that is the item's own."""
        return int(digest(purpose, str(self._selection.seed), item_id, size=8), 16) / 2.0**64

    def _check_mix(self) -> None:
        for task, share in self._selection.mix.items():
            if task not in self._bench.info.by_task:
                fix = did_you_mean(task, self._bench.info.by_task)
                raise SitusError(f"no item has the task {task!r}", where="--mix", fix=fix)
            if not 0.0 <= share <= 1.0:
                raise SitusError(
                    f"{share:g} is not a share of {task}", where="--mix", fix="give 0 to 1"
                )

    def _shares(self) -> dict[str, float]:
        """How many of the positives and negatives are taken, so that negatives have their share."""
        wanted = self._selection.negatives
        if wanted is None:
            return {"positive": 1.0, "negative": 1.0}
        if not 0.0 <= wanted < 1.0:
            raise SitusError(
                f"{wanted:g} is not a share", where="--negatives", fix="give 0 to less than 1"
            )
        counts = Counter(
            _kind(item)
            for split in self._selection.splits
            for item in self._bench.items(split, steps=False)
        )
        positive, negative = counts["positive"], counts["negative"]
        odds = wanted / (1.0 - wanted)
        if negative > odds * positive:
            return {"positive": 1.0, "negative": odds * positive / negative}
        return {"positive": negative / (odds * positive) if odds else 1.0, "negative": 1.0}


def _kind(item: Item) -> str:
    if evidence_boxes(item):
        return "positive"
    return "negative" if is_negative(item) else ""


def check_patients(bench: Bench) -> dict[str, str]:
    """Patient → split; refused if one is in two."""
    split_of: dict[str, str] = {}
    for key in read_table(bench.folder / "items.parquet", _Key):
        if split_of.setdefault(key.patient_id, key.split) != key.split:
            raise SitusError(
                f"patient {key.patient_id} is in {split_of[key.patient_id]} and in {key.split}: "
                "what is learnt from the one would be tested on the other",
                where=bench.folder,
                fix="rebuild the bench",
            )
    return split_of


def _shared_images(bench: Bench, split_of: dict[str, str]) -> set[tuple[str, str]]:
    """Series whose very voxels are also shown in another split, under another patient."""
    splits: dict[str, set[str]] = {}
    series_of: dict[str, list[tuple[str, str]]] = {}
    for study in bench.studies():
        split = split_of.get(study.patient_id)
        if split is None:
            continue
        for series in study.series:
            if series.image_hash:
                splits.setdefault(series.image_hash, set()).add(split)
                series_of.setdefault(series.image_hash, []).append((study.study_id, series.series))
    return {
        key
        for image, image_splits in splits.items()
        if len(image_splits) > 1
        for key in series_of[image]
    }
