"""Planted readers on a real bench, through `probe` itself: changed benches, run folders, reading,
scores, diagnosis.

Only the pictures are not drawn: a reader is told whose pictures it would see and what is right for
them. What a change makes of every answer is read from the benches that the probes make.
"""

from __future__ import annotations

import re
import shutil
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulated import Reader, Shown

from situs.bench import Bench, open_bench
from situs.clients import Spec
from situs.items import Choice, Frames, Item, Number, YesNo
from situs.probe import ProbeResult, probe, suite
from situs.probe.blind import _others
from situs.profiles import Profile, load_profile
from situs.run import RunResult, make_baseline, selected_items
from situs.run.folder import Conditions, Covered, start_run
from situs.run.journal import AnswerRow, Journal

BLIND = ("text", "silent")
NO_PICTURES = (*BLIND, "blank", "noise", "marks-on-blank")
PROBES = ("blank", "other-patient", "one-slice", "convention", "slice-order", "mirror", "sham")


def in_words(bench: Bench, item: Item, oracle: Any) -> str:
    """What is right, as planted readers handle it:
    an option's value, a number with its unit, `first-last`."""
    match item.answer:
        case YesNo(value):
            return "yes" if value else "no"
        case Choice(value):
            return value
        case Number(value, unit):
            return f"{value:.6g} {unit}".strip()
        case Frames():
            numbers = [int(n) for n in re.findall(r"\d+", oracle.answer(item) or "")]
            return f"{min(numbers)}-{max(numbers)}" if numbers else ""
        case _:
            return oracle.answer(item) or ""


_REMEMBERED: dict[Any, Any] = {}


@contextmanager
def _remembered() -> Iterator[None]:
    """What does not depend on the reader is computed once: the shortcuts of a bench."""
    patch = pytest.MonkeyPatch()

    def once(module: Any, name: str, key: Callable[..., Any]) -> None:
        own = getattr(module, name)

        def call(*args: Any, **more: Any) -> Any:
            known = name, key(*args, **more)
            if known not in _REMEMBERED:
                _REMEMBERED[known] = own(*args, **more)
            return _REMEMBERED[known]

        patch.setattr(module, name, call)

    once(
        suite,
        "shortcut_replies",
        lambda bench, profile, names, items: (bench.folder, tuple(names)),
    )
    once(suite, "shortcut_answers", lambda replies, full: id(replies))
    once(suite, "shortcut_table", lambda bench, *more: bench.folder)
    try:
        yield
    finally:
        patch.undo()


class BenchCohort:
    """A bench with all benches of its probes made once."""

    def __init__(
        self, folder: Path, work: Path, probes: tuple[str, ...] = PROBES, profile: str = "default"
    ) -> None:
        self.bench, self.work, self.probes = open_bench(folder), work, probes
        self.profile: Profile = load_profile(profile)
        self.items = list(self.bench.items())
        self.truth = self._truths(self.bench, self.profile)
        self.others = {own: other[0][0] for own, other in _others(self.bench).items()}
        self.by_text: dict[tuple[str, str], str] = {}
        self.said: dict[str, list[str]] = defaultdict(list)
        for item in self.items:
            self.by_text[item.study_id, item.question] = self.truth[item.item_id]
            self.said[item.question].append(self.truth[item.item_id])
        self.prior = {text: max(sorted(set(own)), key=own.count) for text, own in self.said.items()}
        self._changed: dict[str, dict[str, str]] = {}

    def _truths(self, bench: Bench, profile: Profile) -> dict[str, str]:
        oracle = make_baseline(bench, Spec("oracle"), profile)
        return {item.item_id: in_words(bench, item, oracle) for item in bench.items()}

    def shown(self, item: Item, name: str, bench: Bench, profile: Profile) -> Shown:
        """What a reader sees of an item under a probe, whose profile may turn the stack round."""
        old = self.truth[item.twin_of or item.item_id]
        if name in NO_PICTURES:
            return Shown(item, "", "" if name in BLIND else name, "", name, old)
        if name == "other-patient":
            other = self.others.get((item.study_id, item.series), item.study_id)
            known = self.by_text.get((other, item.question))
            values = self.said[item.question]
            drawn = values[
                np.random.default_rng([*(other + item.question).encode()]).integers(len(values))
            ]
            return Shown(item, known or drawn, other, other, name, old)
        if name == "one-slice" and zlib.crc32(item.item_id.encode()) % 4:
            return Shown(item, "", f"{item.study_id}/slice", item.study_id, name, old)
        own = self.truth
        if bench is not self.bench or profile != self.profile:
            if name not in self._changed:
                self._changed[name] = self._truths(bench, profile)
            own = self._changed[name]
        pictures = item.study_id if name == "original" else f"{item.study_id}/{name}"
        return Shown(item, own[item.item_id], pictures, item.study_id, name, old)

    def probed(self, reader: Reader, seed: int = 0, out: str = "") -> ProbeResult:
        """Everything `situs probe` says of a reader."""
        folder = self.work / (out or "reader")
        shutil.rmtree(folder, ignore_errors=True)
        for made in self.work.glob("made/bench-*"):
            shutil.copytree(made, folder / made.name)

        def ask(bench: Bench, presenter: Any, profile: Profile, out: Path, **how: Any) -> RunResult:
            start_run(
                out,
                bench,
                Spec("planted"),
                profile,
                Covered(how["split"], how["limit"]),
                Conditions(withheld=how["withhold"]),
            )
            rng = np.random.default_rng([seed, *out.name.encode()])
            count = 0
            with Journal(out / "answers.jsonl") as journal:
                for item in selected_items(bench, how["split"], how["limit"]):
                    reply = reader(self.shown(item, out.name, bench, profile), rng)
                    journal.add(AnswerRow(item.item_id, "answered", reply))
                    count += 1
            return RunResult(count, {"answered": count}, count, 0.0, 0.0)

        with _remembered():
            result = probe(self.bench, self.profile, list(self.probes), folder, ask)
        for made in folder.glob("bench-*"):
            if not (self.work / "made" / made.name).exists():
                shutil.copytree(made, self.work / "made" / made.name)
        return result
