"""Scripted readers: whoever looks in a known way,
so that a model's looks and score have something to stand beside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from situs.bench import Bench
from situs.clients import Reply, Spec
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.profiles import Profile
from situs.room.journal import Outcome
from situs.room.schema import Room
from situs.room.session import Session
from situs.room.sessions import session_seed
from situs.room.view.evidence import Sighting, unseen
from situs.run import BASELINES, make_baseline

__all__ = ["READERS", "Reader", "make_reader"]

READERS: dict[str, str] = {
    "driller": "scans the first plane from coarse to fine until its looks are used up",
    "random-looker": "looks at random slices of random planes until its looks are used up",
    "peeker": "looks once, at the middle slice, and guesses",
}
"""Reader → how it looks. Every baseline is one too, which never looks."""
_MOST_LOOKS = 64
"""Of a reader that is not told how many, in a room with more."""
_ANSWERS = ("seen", "random", "oracle")

Act = dict[str, Any]


class Reader:
    """Looks by a script and then answers.

    `answers` is `seen` (what was seen is read perfectly, the rest is guessed), `random`, or
    `oracle`.
    """

    def __init__(
        self, looks: str, answers: Literal["seen", "random", "oracle"], most: int, baselines: Any
    ) -> None:
        self._looks = looks
        self._answers = answers
        self._most = most
        self._right, self._guess = baselines
        self._sightings: list[Sighting] = []

    def begin(self, item: Item, session: Session) -> None:
        """A new session."""
        self._item = item
        self._acts = _SCRIPTS[self._looks](session, self._most)
        self._sightings = []

    def reply(self, session: Session) -> Reply:
        """The next action, as a model would write it."""
        kinds = {kind.name for kind in session.kinds()}
        act = next(self._acts, None) if "look" in kinds else None
        if act is None:
            act = {"action": "answer", "answer": self._answer(session)}
        return Reply("answered", json.dumps(act))

    def learn(self, outcome: Outcome) -> None:
        """What an action showed."""
        self._sightings += outcome.sightings

    def _answer(self, session: Session) -> str:
        targets = session.targets
        saw = bool(targets) and not unseen(targets, self._sightings)
        knows = self._answers == "oracle" or (self._answers == "seen" and saw)
        answer = (self._right if knows else self._guess).answer(self._item)
        return answer if answer is not None else ""


def make_reader(bench: Bench, spec: Spec, profile: Profile, room: Room) -> Reader:
    """The reader that a spec names:
    `driller?looks=16&answers=oracle`, or a baseline, which never looks."""
    if spec.kind in BASELINES:
        baseline = make_baseline(bench, spec, profile)
        return Reader("nowhere", "oracle", 0, (baseline, baseline))
    known = ("looks", "answers", "seed")
    for name in spec.settings:
        if name not in known:
            raise SitusError(f"has no {name!r}", where=str(spec), fix=did_you_mean(name, known))
    most = spec.whole("looks", min(_MOST_LOOKS, room.budget.looks))
    if most < 0:
        raise SitusError("looks is below 0", where=str(spec), fix="e.g. looks=16")
    usual = "random" if spec.kind == "peeker" else "seen"
    answers = spec.settings.get("answers", usual)
    if answers not in _ANSWERS:
        fix = did_you_mean(answers, _ANSWERS)
        raise SitusError(f"answers cannot be {answers!r}", where=str(spec), fix=fix)
    right = make_baseline(bench, Spec("oracle"), profile)
    seed = {"seed": spec.settings["seed"]} if "seed" in spec.settings else {}
    guess = make_baseline(bench, Spec("random", settings=seed), profile)
    return Reader(spec.kind, answers, most, (right, guess))  # type: ignore[arg-type]


def _drill(session: Session, most: int) -> Iterator[Act]:
    """The middle, then the quarters, then what lies between: every stretch is halved in turn."""
    plane = session.scan.planes[0]
    count = session.scan.count(plane)
    seen: set[int] = set()
    step = 1
    while len(seen) < min(most, count):
        step *= 2
        for odd in range(1, step, 2):
            index = min(count - 1, odd * count // step)
            if index not in seen and len(seen) < most:
                seen.add(index)
                yield {"action": "look", "plane": plane, "slice": index + 1}
        if step > 4 * count:
            unseen_slices = [index for index in range(count) if index not in seen]
            for index in unseen_slices[: most - len(seen)]:
                seen.add(index)
                yield {"action": "look", "plane": plane, "slice": index + 1}
            return


def _at_random(session: Session, most: int) -> Iterator[Act]:
    draw = np.random.default_rng(session_seed(session.item.item_id))
    for _ in range(most):
        plane = session.scan.planes[int(draw.integers(len(session.scan.planes)))]
        number = int(draw.integers(session.scan.count(plane))) + 1
        yield {"action": "look", "plane": plane, "slice": number}


def _peek(session: Session, most: int) -> Iterator[Act]:
    plane = session.scan.planes[0]
    yield {"action": "look", "plane": plane, "slice": session.scan.count(plane) // 2 + 1}


def _never(session: Session, most: int) -> Iterator[Act]:
    yield from ()


_SCRIPTS = {
    "driller": _drill,
    "random-looker": _at_random,
    "peeker": _peek,
    "nowhere": _never,
}
