"""Measures the table of evidence from the answers of all runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from situs.items import Item, mask_task
from situs.probe.bodies import TORSO, mirror_group
from situs.probe.diagnosis.effects import FEWEST_ITEMS, Effect, effect_of, opinion_p, weaker
from situs.probe.diagnosis.evidence import (
    ALL_ITEMS,
    AXIS_SLIPS,
    UNSEEN,
    Evidence,
    Expected,
    Inversion,
    Moved,
    PriorEvidence,
    ProbeRuns,
    Sight,
    Stability,
    VolumeGain,
)
from situs.probe.diagnosis.habits import option_habits, yes_habit
from situs.probe.diagnosis.own_picture import agreement, own_picture_gain
from situs.probe.diagnosis.records import LEVEL, SAME
from situs.probe.table import Compared
from situs.score import ALL_STRATA, Selection, holm
from situs.score.explain import Answered, Answers, Budget, said_by, upper_tail

__all__ = ["evidence_of", "is_about_a_lesion", "prior_evidence", "task_group"]

_BLIND = ("text", "silent")
"""The two runs without pictures that a gain is measured against."""
_OTHER_PICTURES = ("blank", "noise", "other-patient")
"""Runs with pictures that are not the patient's."""
_HARMLESS = {
    "sham": "",
    "axis-order": "",
    "slice-order": "slice_order",
    "convention": "side_convention",
}
"""Changes that leave every right answer as it is → what an item needs if the change concerns it."""
_OUT_OF_DISTRIBUTION = "mirror"
"""Its torso items ask to override a textbook, unless they are twins, which no textbook answers.

An old answer there does not tell who recognises a scan.
"""


def task_group(item: Item) -> str:
    """What kind of thing an item asks about."""
    task = mask_task(item)
    return item.task.replace("_", " ") if task is None else task.rules.group


def is_about_a_lesion(item: Item) -> bool:
    """Whether an answer depends on a lesion."""
    named = (item.task, *item.needs, *item.parameters.values())
    return any("lesion" in name for name in named)


def evidence_of(
    runs: ProbeRuns, selection: Selection, budget: Budget, unseen: Budget | None = None
) -> Evidence:
    """Measure every effect on all items; those of the selection (the headline) are tested for sight
    also apart.

    `unseen` is the error budget of the silent run, `budget` that of the run with pictures.

    No balance of answers is needed for a proof of sight, since a reader's answers are also held
    against themselves (`own_picture`), so all strata and numbers may serve: the headline alone is
    often too small to tell.
    """
    counted = [one for _, one in sorted(runs.full.by_id.items()) if one.counts]
    asked = [
        one for one in counted if all(one.item.item_id in runs.blind[name].by_id for name in _BLIND)
    ]
    silent = list(runs.blind["silent"].by_id.values())
    lesions = [one for one in asked if is_about_a_lesion(one.item)]
    # Like is compared with like: who reads numbers only is not blind to lesions, of which few are
    # asked for.
    forms = {one.item.form for one in lesions}
    others = [one for one in asked if not is_about_a_lesion(one.item) and one.item.form in forms]
    harmless, declared = _stability(runs)
    return Evidence(
        items=Selection(ALL_STRATA, closed=False).words,
        sight=_family(asked, runs, selection),
        headline=selection.stratum,
        slips={} if unseen is None else _slips(counted, budget, unseen),
        lesions=_sight(lesions, runs) if lesions else None,
        not_lesions=_sight(others, runs) if others else None,
        over_chance=_over_chance(counted),
        same={
            name: _same(runs.compared[name])
            for name in (*UNSEEN, "one-slice")
            if runs.compared.get(name)
        },
        moved=_moved(runs),
        alike_without=_alike(silent),
        reaction=_reaction(counted, silent),
        harmless=harmless,
        declared=declared,
        followed=_followed(runs),
        options=option_habits(counted),
        yes=yes_habit(counted),
        declined=_in_state(counted, "refused"),
        unread=_in_state(counted, "unparsed"),
        prior=prior_evidence(counted, runs.expected),
        budget=budget,
        volume=_volume(runs),
        inversion=_inversion(counted, budget),
    )


def _family(asked: Sequence[Answered], runs: ProbeRuns, selection: Selection) -> dict[str, Sight]:
    """All items, the headline and each group; the tests are one family."""
    groups: dict[str, list[Answered]] = defaultdict(list)
    for one in asked:
        groups[task_group(one.item)].append(one)
    tested = {ALL_ITEMS: list(asked)}
    headline = [one for one in asked if one.scored in selection]
    if FEWEST_ITEMS <= len(headline) < len(asked):
        tested[selection.stratum] = headline
    if len(groups) > 1:
        tested |= groups
    sights = {name: _sight(members, runs) for name, members in tested.items()}
    p_values = holm([sight.weaker.p if sight.gain.decides else None for sight in sights.values()])
    return {
        name: msgspec.structs.replace(sight, p=p)
        for (name, sight), p in zip(sights.items(), p_values)
    }


def _sight(asked: Sequence[Answered], runs: ProbeRuns) -> Sight:
    """The gain against both runs without pictures;
    the better one makes it smaller, and both have to be beaten."""
    if not asked:
        return Sight(Effect(), "", Effect())
    gains = {name: _over(asked, runs.blind[name]) for name in _BLIND}
    against = min(_BLIND, key=lambda name: gains[name].value or 0.0)
    smaller, larger = gains[against], gains[next(name for name in _BLIND if name != against)]
    proved = weaker(smaller, larger)
    gain = msgspec.structs.replace(smaller, p=proved.p, ci95=_joined(smaller, larger))
    others = [_over(asked, runs.blind[name]) for name in _OTHER_PICTURES if name in runs.blind]
    # The one that proves least of what the gain says, so that all of them have to be beaten: to be
    # misled is to be worse than with all other pictures.
    towards = 1.0 if (gain.value or 0.0) >= 0.0 else -1.0
    least = min(others, key=lambda effect: towards * (effect.value or 0.0), default=Effect())
    balanced = all(one.item.twin_group for one in asked)
    return Sight(gain, against, own_picture_gain(asked), least, balanced)


def _over(asked: Sequence[Answered], run: Answers) -> Effect:
    pairs = [(one, run.by_id[one.item.item_id]) for one in asked if one.item.item_id in run.by_id]
    return effect_of(
        [one.credit - other.credit for one, other in pairs], [one.item for one, _ in pairs]
    )


def _joined(smaller: Effect, larger: Effect) -> tuple[float, float] | None:
    """Which run is the better one is not known for sure: the lower limit is the lower of both."""
    if smaller.ci95 is None or larger.ci95 is None:
        return None
    return min(smaller.ci95[0], larger.ci95[0]), smaller.ci95[1]


def _over_chance(selected: Sequence[Answered]) -> Effect:
    closed = [one for one in selected if one.scored.chance is not None]
    return effect_of(
        [one.credit - (one.scored.chance or 0.0) for one in closed], [one.item for one in closed]
    )


def _same(rows: Iterable[Compared]) -> Effect:
    pairs = [(float(row.same_answer), row.item) for row in rows]
    return effect_of([same for same, _ in pairs], [item for _, item in pairs], signed=False)


def _moved(runs: ProbeRuns) -> dict[str, Moved]:
    """Who sees levels only, and is asked for two, gives 99 % of its answers from the words.

    So does who sees sizes as if with a coarse ruler: a few numbers change in every task that asks
    for one, too few in each. So questions are also grouped by what is asked for.
    """
    moved = {}
    for name in UNSEEN:
        for group_of in (task_group, _answer_group):
            groups: dict[str, list[bool]] = defaultdict(list)
            for row in runs.compared.get(name, ()):
                groups[group_of(row.item)].append(not row.same_answer)
            group = _moved_alone(groups)
            if group is not None:
                moved[name] = group
                break
    return moved


def _answer_group(item: Item) -> str:
    return "numbers" if item.form == "number" else "all but numbers"


def _moved_alone(groups: Mapping[str, Sequence[bool]]) -> Moved | None:
    """The group with more changes than if all were dealt out among the items (binomial,
    Holm over the groups)."""
    total, changed = sum(map(len, groups.values())), sum(map(sum, groups.values()))
    most = max(groups, key=lambda group: sum(groups[group]), default="")
    elsewhere = total - len(groups.get(most, ()))
    if not elsewhere or (changed - sum(groups[most])) / elsewhere > 1.0 - SAME:
        return None
    share = changed / total
    tails = [upper_tail(np.full(len(own), share), sum(own)) for own in groups.values()]
    p = dict(zip(groups, holm(tails)))[most]
    moved = Moved(most, sum(groups[most]), len(groups[most]))
    return moved if p is not None and p < LEVEL else None


def _in_state(counted: Sequence[Answered], state: str) -> Effect:
    values = [float(one.scored.state == state) for one in counted]
    return effect_of(values, [one.item for one in counted], signed=False)


def _alike(silent: Sequence[Answered]) -> Effect:
    items, same, guess = agreement(silent)
    return effect_of(np.subtract(same, guess), items)


def _reaction(counted: Sequence[Answered], silent: Sequence[Answered]) -> Effect:
    with_pictures, without = (
        {i.item_id: share for i, share in zip(*agreement(run)[:2])} for run in (counted, silent)
    )
    shared = [
        one.item
        for one in counted
        if one.item.item_id in with_pictures and one.item.item_id in without
    ]
    return effect_of(
        [without[item.item_id] - with_pictures[item.item_id] for item in shared], shared
    )


def _stability(runs: ProbeRuns) -> tuple[dict[str, Stability], dict[str, Stability]]:
    harmless, declared = {}, {}
    for name, need in _HARMLESS.items():
        rows = [row for row in runs.compared.get(name, ()) if row.outcome == "unchanged"]
        concerned = [row for row in rows if need and need in row.item.needs]
        free = [row for row in rows if not need or need not in row.item.needs]
        if free:
            harmless[name] = _stable(free, runs)
        if concerned:
            declared[name] = _stable(concerned, runs)
    return harmless, declared


def _stable(rows: Sequence[Compared], runs: ProbeRuns) -> Stability:
    items = _items(rows)
    before, after = (np.array([row.credits[k] for row in rows]) for k in (0, 1))
    blind = max(
        (_credits(runs.blind[name], items) for name in _BLIND),
        key=lambda values: float(values.mean()),
    )
    still = [row for row in rows if row.answered]
    return Stability(
        answered=effect_of([row.credits[1] - row.credits[0] for row in still], _items(still)),
        fall=effect_of(after - before, items),
        gained=effect_of(before - blind, items),
        remains=effect_of(after - blind, items),
    )


def _items(rows: Iterable[Compared]) -> list[Item]:
    return [row.item for row in rows]


def _credits(run: Answers, items: Iterable[Item]) -> np.ndarray:
    answered = (run.by_id.get(item.item_id) for item in items)
    return np.array([0.0 if one is None else one.credit for one in answered])


def _followed(runs: ProbeRuns) -> dict[str, Effect]:
    by_group: dict[str, list[Compared]] = defaultdict(list)
    for name, rows in runs.compared.items():
        for row in rows:
            blind = (runs.blind[run].by_id.get(row.item.item_id) for run in _BLIND)
            if (
                row.outcome != "changed"
                or not row.original
                or any(one is not None and one.right for one in blind)
            ):
                continue
            torso = name == _OUT_OF_DISTRIBUTION and mirror_group(row.item, runs.terms) == TORSO
            if torso and not row.item.twin_group:
                continue
            by_group[task_group(row.item)].append(row)
    return {
        group: effect_of(
            [float(row.changed) - float(row.kept_old) for row in rows], [row.item for row in rows]
        )
        for group, rows in sorted(by_group.items())
    }


def prior_evidence(counted: Iterable[Answered], expected: Expected) -> dict[str, PriorEvidence]:
    """Of all items and of each group of tasks:
    what other patients suggest, and how often it is said."""
    groups: dict[str, list[tuple[Answered, str]]] = {ALL_ITEMS: []}
    for one in counted:
        if one.scored.chance is None or said_by(one) is None:
            continue
        left_open = expected(one.item)
        if len(left_open) == 1:
            groups[ALL_ITEMS].append((one, left_open[0]))
            groups.setdefault(task_group(one.item), []).append((one, left_open[0]))
    return {group: _agrees(rows) for group, rows in groups.items() if rows}


def _agrees(rows: Sequence[tuple[Answered, str]]) -> PriorEvidence:
    same = [said_by(one) == answer for one, answer in rows]
    chances = [one.scored.chance or 0.0 for one, _ in rows]
    items = [one.item for one, _ in rows]
    texts = [item.question for item in items]
    by_text: dict[str, list[bool]] = defaultdict(list)
    for text, hit in zip(texts, same):
        by_text[text].append(hit)
    share = float(np.mean([np.mean(hits) > 0.5 for hits in by_text.values()]))
    excess = effect_of(np.asarray(same, dtype=float) - np.asarray(chances), items)
    return PriorEvidence(excess, opinion_p(same, chances, texts), share)


def _slips(counted: Sequence[Answered], budget: Budget, unseen: Budget) -> dict[str, Effect]:
    items = {one.item.item_id: one.item for one in counted}
    with_pictures, without = _showing(budget), _showing(unseen)
    effects = {}
    for cause in sorted(with_pictures):
        either = sorted((with_pictures[cause] | without.get(cause, set())) & items.keys())
        gaps = [
            float(name in with_pictures[cause]) - float(name in without.get(cause, set()))
            for name in either
        ]
        effects[cause] = effect_of(gaps, [items[name] for name in either])
    return effects


def _showing(budget: Budget) -> dict[str, set[str]]:
    """Cause → items whose wrong answer it fits."""
    items_of: dict[str, set[str]] = defaultdict(set)
    for answer in budget.answers:
        for one in answer.causes:
            items_of[one.cause.value].add(answer.item_id)
    return items_of


def _volume(runs: ProbeRuns) -> dict[str, VolumeGain]:
    single = runs.blind.get("one-slice")
    if single is None:
        return {}
    groups: dict[str, list[Answered]] = defaultdict(list)
    for item_id, one in sorted(runs.full.by_id.items()):
        other = single.by_id.get(item_id)
        if one.counts and other is not None and other.counts:
            groups[ALL_ITEMS].append(one)
            groups[task_group(one.item)].append(one)
    return {
        group: VolumeGain(_over(asked, single), _sight(asked, runs).gain)
        for group, asked in groups.items()
    }


def _inversion(counted: Sequence[Answered], budget: Budget) -> Inversion:
    yes_no = [one for one in counted if one.item.form == "yes_no"]
    names = {one.item.item_id for one in yes_no}
    wrong = sum(not one.right for one in yes_no)
    signs = {name: items for name, items in _showing(budget).items() if name in AXIS_SLIPS}
    elsewhere = len(set().union(*signs.values()) - names)
    return Inversion(
        _over_chance(yes_no),
        {
            slip: _over_chance([one for one in yes_no if one.item.item_id not in items])
            for slip, items in signs.items()
        },
        elsewhere / max(1, elsewhere + wrong),
    )
