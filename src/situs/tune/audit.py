"""`situs tune audit-reward`: what those who do not look would earn, before anyone trains on it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec

from situs.base.files import digest
from situs.bench import Bench, open_bench
from situs.errors import SitusError
from situs.items import Boxes, Item
from situs.profiles import load_profile
from situs.run import BoxPlaces, BoxPrior, Viewing, fixed_grid, make_baseline, parse_spec
from situs.space import FrameBox
from situs.tune.forms import BoxForm, box_form
from situs.tune.grounding import true_boxes
from situs.tune.rewards import Reward, reward_named
from situs.tune.targets import ANSWER_MARK, evidence_boxes, is_negative, say_answer
from situs.tune.wording import training_profile

__all__ = ["Audited", "audit_reward"]

_SPAM = 20
_PAYS = 0.1
"""More boxes without looking must not earn more than one box by so much."""
Progress = Callable[[int, int], None]


class Audited(msgspec.Struct, frozen=True):
    """What everybody would earn on average."""

    reward: str
    honest: float
    """A reader who looks: right answers, boxes that overlap the truth by about half."""
    perfect: float
    cheaters: dict[str, float]
    exploitable: bool
    why: tuple[str, ...]
    items: int
    """For which the reward says anything."""
    not_applicable: int


def audit_reward(
    folder: Path,
    reward: str = "situs",
    *,
    profile: str = "default",
    box: str = "qwen3",
    split: str | None = None,
    limit: int = 500,
    progress: Progress = lambda done, total: None,
) -> Audited:
    """Let those who do not look answer a bench, and pay them."""
    pay = reward_named(reward)
    bench = open_bench(folder)
    form = box_form(box)
    chosen = training_profile(load_profile(profile), "boxes+answer", form)
    viewing = Viewing(bench, chosen)
    items = _sample(bench, viewing, split, limit)
    readers = _readers(bench, viewing, form)
    sums = dict.fromkeys(readers, 0.0)
    counted = 0
    for number, item in enumerate(items, start=1):
        earned = {name: pay(read(item), item, viewing) for name, read in readers.items()}
        progress(number, len(items))
        # Consistency is not defined where no box is given: such a reply earns nothing for it.
        if earned["perfect"] is None:
            continue
        counted += 1
        for name, value in earned.items():
            sums[name] += value or 0.0
    if not counted:
        raise SitusError(
            f"the reward {reward} says nothing about any of {len(items)} items",
            where=folder,
            fix="choose another reward, or a bench with boxes",
        )
    means = {name: total / counted for name, total in sums.items()}
    perfect, honest = means.pop("perfect"), means.pop("honest")
    why = _why(means, honest, pay)
    return Audited(reward, honest, perfect, means, bool(why), why, counted, len(items) - counted)


def _sample(bench: Bench, viewing: Viewing, split: str | None, limit: int) -> list[Item]:
    """Items with boxes, or known to have none, drawn by a hash of each."""
    keyed = []
    for item in bench.items(split, steps=False):
        if (evidence_boxes(item) or is_negative(item)) and not viewing.obstacle(item):
            keyed.append((digest("audit", item.item_id), item))
    keyed.sort(key=lambda pair: pair[0])
    return [item for _, item in keyed[:limit]]


def _readers(bench: Bench, viewing: Viewing, form: BoxForm) -> dict[str, Callable[[Item], str]]:
    """Everybody's replies: boxes, and an answer after them."""
    asked = [_asked_for_boxes(item) for item in bench.items(steps=False) if evidence_boxes(item)]
    places = BoxPlaces(viewing)
    for item in asked:
        places.add(item)
    extent = places.extent
    one, many = BoxPrior(places), BoxPrior(places, _SPAM)
    majority = make_baseline(bench, parse_spec("majority"), viewing=viewing)
    classifier = make_baseline(bench, parse_spec("text-classifier"), viewing=viewing)

    def reply(boxes: list[FrameBox], item: Item, answer: str) -> str:
        listed = form.write(boxes, viewing.space, viewing.sizes(item))
        return listed if isinstance(item.answer, Boxes) else f"{listed}\n{ANSWER_MARK}{answer}"

    def usual(item: Item) -> str:
        return _one_line(majority.answer(item))

    def guessed(item: Item) -> str:
        return _one_line(classifier.answer(item)) or usual(item)

    def known(item: Item) -> str:
        return "" if isinstance(item.answer, Boxes) else say_answer(item, item.answer, viewing)

    def padded(item: Item) -> list[FrameBox]:
        """What an honest reader says, and a grid of boxes more:
        where those are free, all will learn to add them."""
        return [*_half_off(item, viewing), *fixed_grid(viewing.sizes(item), extent)]

    return {
        "perfect": lambda item: reply(true_boxes(item, viewing), item, known(item)),
        "honest": lambda item: reply(_half_off(item, viewing), item, known(item)),
        "padded": lambda item: reply(padded(item), item, known(item)),
        "grid": lambda item: reply(fixed_grid(viewing.sizes(item), extent), item, usual(item)),
        "spam": lambda item: reply(many.boxes(_asked_for_boxes(item)), item, usual(item)),
        "prior": lambda item: reply(one.boxes(_asked_for_boxes(item)), item, usual(item)),
        "constant": lambda item: reply([], item, usual(item)),
        "text-classifier": lambda item: reply([], item, guessed(item)),
    }


def _one_line(answer: str | None) -> str:
    return " ".join((answer or "").split())


def _asked_for_boxes(item: Item) -> Item:
    """The item as if its evidence were asked for: so the prior of box questions serves all."""
    return msgspec.structs.replace(item, answer=Boxes(evidence_boxes(item)))


def _half_off(item: Item, viewing: Viewing) -> list[FrameBox]:
    """The true boxes shifted by a third of a side along one axis:
    IoU ½ where the picture has room."""
    rng = random.Random(item.item_id)
    moved = []
    for box in true_boxes(item, viewing):
        width, _ = viewing.sizes(item)[box.frame]
        step = (box.x1 - box.x0) / 3 * rng.choice((-1, 1))
        if not 0 <= box.x0 + step <= box.x1 + step <= width:
            step = -step
        moved.append(msgspec.structs.replace(box, x0=box.x0 + step, x1=box.x1 + step))
    return moved


def _why(cheaters: dict[str, float], honest: float, pay: Reward) -> tuple[str, ...]:
    reasons = [
        f"{name} earns {value:.2f}, an honest reader {honest:.2f}"
        for name, value in cheaters.items()
        if value >= honest
    ]
    for name in ("grid", "spam"):
        if cheaters[name] > cheaters["prior"] + _PAYS:
            reasons.append(
                f"more boxes pay: {name} earns {cheaters[name]:.2f}, "
                f"one box without looking {cheaters['prior']:.2f}"
            )
    return tuple(reasons)
