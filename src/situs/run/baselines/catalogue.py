"""Baselines: they answer items without a model,
and none but the oracle knows this patient's answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from situs.base.plugins import offered
from situs.bench import Bench
from situs.clients import CLIENTS, Spec
from situs.clients.spec import ENTRY_POINTS
from situs.errors import SitusError, did_you_mean
from situs.profiles import Profile
from situs.run.baselines.guessers import FixedGrid, Oracle, Random
from situs.run.baselines.learners import Majority, Minority, Prior, TextClassifier
from situs.run.baselines.nearest import Nearest
from situs.run.baselines.speaker import Baseline
from situs.run.replay import Replay
from situs.run.viewing import Viewing

__all__ = [
    "BASELINES",
    "BLIND",
    "LEARNERS",
    "Baseline",
    "blind_rows",
    "is_baseline",
    "known_models",
    "make_baseline",
]


@dataclass(frozen=True, slots=True)
class Kind:
    """A baseline, declared once: every list of baselines and of blind rows is made of these."""

    make: Callable[[Bench, Spec, Viewing], Baseline]
    about: str = ""
    """What it does, as a table of blind rows says it."""
    beside: frozenset[str] = frozenset()
    """Where it stands as a blind row:
    `all` tables, those with `boxes`, the wording of free `text`."""
    learns: bool = False
    """Whether it learns from other patients' answers; none is told this patient's."""
    thins: bool = False
    """Whether `situs debias` drops what it answers."""
    settings: frozenset[str] = frozenset({"seed", "delay"})


_ALL, _TEXT, _BOXES = "all", "text", "boxes"

BASELINES: dict[str, Kind] = {
    "oracle": Kind(Oracle, "knows the key: it tests the scorer"),
    "random": Kind(Random, "picks any option", frozenset({_ALL})),
    "majority": Kind(
        Majority,
        "the answer most other patients have",
        frozenset({_ALL, _TEXT}),
        learns=True,
        thins=True,
    ),
    "minority": Kind(
        Minority, "the answer fewest other patients have", frozenset({_ALL}), learns=True
    ),
    "prior": Kind(
        Prior,
        "average anatomy, this patient left out",
        frozenset({_ALL}),
        learns=True,
        thins=True,
        settings=frozenset({"seed", "delay", "boxes"}),
    ),
    "nearest": Kind(
        lambda bench, spec, viewing: Nearest(bench, spec),
        "the answer to the most similar question of another patient",
        frozenset({_TEXT}),
        learns=True,
        thins=True,
    ),
    "text-classifier": Kind(
        TextClassifier, "a learner of the whole prompt", learns=True, thins=True
    ),
    "grid": Kind(FixedGrid, "a fixed grid of boxes", frozenset({_BOXES})),
    "replay": Kind(lambda bench, spec, viewing: Replay(bench, spec)),
}


def blind_rows(where: str) -> dict[str, str]:
    """The rows that stand beside every model in a place (`Kind.beside`),
    and what each does: none sees a picture."""
    return {name: kind.about for name, kind in BASELINES.items() if where in kind.beside}


BLIND = blind_rows(_ALL)
LEARNERS = tuple(name for name, kind in BASELINES.items() if kind.learns)
"""Baselines that learn from other patients' answers."""


def is_baseline(kind: str) -> bool:
    """Whether a run of this kind answers without any model; a replay holds the answers of one."""
    return kind in BASELINES and kind != "replay"


def make_baseline(
    bench: Bench, spec: Spec, profile: Profile | None = None, *, viewing: Viewing | None = None
) -> Baseline:
    """The baseline a spec names, fitted to the bench where it learns from other patients.

    It speaks of frames and boxes in the profile's coordinates; without one, in those of the stored
    frames. Several that are given one `viewing` learn from the bench once.
    """
    if spec.kind not in BASELINES:
        raise SitusError(
            f"unknown model {spec.kind!r}", where="--model", fix=did_you_mean(spec.kind, BASELINES)
        )
    known = BASELINES[spec.kind].settings
    unknown = set(spec.settings) - known
    if unknown or (spec.kind != "replay" and (spec.name or spec.url)):
        odd = min(unknown) if unknown else spec.name or spec.url
        fix = f"settings: {', '.join(sorted(known, reverse=True))}"
        raise SitusError(f"{spec.kind} does not know {odd!r}", where="--model", fix=fix)
    return BASELINES[spec.kind].make(bench, spec, viewing or Viewing(bench, profile))


_FORMS = {
    "openai": "openai:MODEL@http://HOST:PORT/v1: any server that speaks chat completions",
    "anthropic": "anthropic:MODEL[@URL]: Anthropic's Messages protocol",
    "gemini": "gemini:MODEL[@URL]: Google's generateContent protocol",
    "hf": "hf:FOLDER: weights on disk, with transformers",
    "plugin": "plugin:MODULE:OBJECT: your own code",
}


def known_models() -> dict[str, str]:
    """Every kind that `--model` takes: clients, those of installed packages, and baselines."""
    clients = {kind: _FORMS[kind] for kind in CLIENTS}
    others = dict.fromkeys(offered(ENTRY_POINTS), "of an installed package")
    baselines = {
        name: f"baseline: {kind.about}" if kind.about else "baseline"
        for name, kind in BASELINES.items()
    }
    return {**clients, **others, **baselines}
