"""Which candidates become items: twins, strata, and options in an order that gives nothing away.

The rule, for every question with a countable answer:

* Headline: one text, asked of several patients of one split; each answer is drawn from the
  options with equal chances,
  independently of all others (see `draws`). Options that too few patients' answers reach are not
  offered there.
* The headline is then thinned, whole texts at a time, to the mix of classes that is aimed at.
* Otherwise, within each stratum, task and set of options, no answer is right more than once oftener
  than any other. So a solver that reads only the options stays at chance.
* Letters are drawn item by item, whatever the answer.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern

import msgspec

from situs.base.files import canonical_json, digest
from situs.facts import TwinRules
from situs.items.arrangement.candidates import Candidate
from situs.items.arrangement.draws import most_draws
from situs.items.arrangement.engine import (
    Offer,
    Placement,
    evened,
    in_drawn_order,
    twins_of,
)
from situs.items.arrangement.marks import has_lettered_marks
from situs.items.arrangement.mix import shares_kept
from situs.items.arrangement.offers import offers, random_offer
from situs.items.arrangement.pools import Pool, pool_of
from situs.items.owners import class_of, is_ordered

__all__ = ["Outline", "arrange", "outline"]

Draw = Callable[["Outline"], str]

_TEXTS = 16
"""Different texts of one kind of question, at most:
more would ask the same of a patient in other words."""
_MOST_OFFERED = 4
"""Options of one question, at most."""


class Outline(msgspec.Struct, frozen=True, gc=False):
    """The little of a candidate that the arrangement of a whole cohort needs."""

    item_id: str
    study_id: str
    patient_id: str
    task: str
    form: str
    text: str
    key: str | None
    pool: tuple[str, ...]
    family: str
    primary: bool
    named_only: bool
    textbook: bool
    kind: str = ""
    """Task and what it asks; no kind crowds out another of its class."""
    mix_class: str = ""
    must_offer: str = ""
    """An answer that must be offered, among twins only."""
    movable: bool = False
    """Its marks are drawn: the right one can be given any letter."""
    split: str = ""
    series: str = ""
    """The modality, which anyone sees at a glance:
    it is the same for all candidates of which one is drawn."""


def outline(candidate: Candidate, split: str = "") -> Outline:
    """The outline of a candidate of a patient in that split.

    Outlines of a whole cohort are in memory at once, and the same words stand in most of them:
    each is held once.
    """
    item = candidate.item
    countable = {
        "yes_no": ("yes", "no"),
        "number": tuple(str(n) for n in range(1, 7)) if candidate.key else (),
    }
    pool = tuple(option.value for option in item.options) or countable.get(item.form, ())
    return Outline(
        item.item_id,
        intern(item.study_id),
        intern(item.patient_id),
        intern(item.task),
        intern(item.form),
        intern(item.question),
        None if candidate.key is None else intern(candidate.key),
        _held_once(pool),
        intern(candidate.family),
        candidate.primary,
        candidate.named_only,
        candidate.textbook,
        intern(f"{item.task}.{item.parameters.get('ask', item.form)}"),
        class_of(item),
        intern(candidate.must_offer),
        has_lettered_marks(item),
        split,
        intern(item.series),
    )


@lru_cache(maxsize=4096)
def _held_once(pool: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(intern, pool))


_RULES = TwinRules()
_Text = tuple[str, ...]
"""Task, form, words and all possible options of a question."""


def arrange(
    outlines: Sequence[Outline],
    seed: int,
    most: Mapping[str, int] | None = None,
    mix: Mapping[str, float] | None = None,
    rules: TwinRules = _RULES,
) -> dict[str, Placement]:
    """Decide for a whole cohort: item id → placement. Candidates that are missing are not asked.

    `most` limits how many questions of a study a stratum keeps (the headline: on average); `mix` is
    the share of each class that the headline aims at.
    """

    def draw(entry: Outline) -> str:
        return digest(str(seed), entry.item_id)

    groups, reserved = _headline(outlines, seed, rules, draw)
    if mix is not None and most is not None and "headline" in most:
        groups = _within_mix(groups, mix, _limits(outlines, most["headline"]), seed)
    # The mix is settled before anything is drawn: what leaves later would undo the evenness.
    placed = twins_of(groups, seed, rules)
    has_headline = bool(placed)
    taken = set(reserved)
    named = _named_only(outlines)
    controls = [entry for entry in outlines if entry.textbook or _text_of(entry) in named]
    spare = [e for e in outlines if not (e.textbook or e.must_offer or _text_of(e) in named)]
    for stratum, others in (("textbook", controls), ("untwinned", spare)):
        free = [entry for entry in others if (entry.study_id, entry.family) not in taken]
        limit = _limit_of(stratum, most or {}, has_headline=has_headline)
        for entry in _balanced(_limited(free, draw, limit), draw):
            placed[entry.item_id] = Placement(stratum, _offered_options(entry, seed), "")
            taken.add((entry.study_id, entry.family))
    # Marks keep the order of their letters: the letters themselves are drawn.
    shuffled = in_drawn_order((entry for entry in outlines if not entry.movable), placed, seed)
    return {
        entry.item_id: shuffled.get(entry.item_id, placed[entry.item_id])
        for entry in outlines
        if entry.item_id in placed
    }


def _limit_of(stratum: str, most: Mapping[str, int], *, has_headline: bool) -> int | None:
    """How many questions of a study a stratum keeps.

    A cohort too small for a headline would ask next to nothing: what the headline lacks is asked
    without twins.
    """
    if stratum == "untwinned" and not has_headline and {"headline", stratum} <= most.keys():
        return most[stratum] + most["headline"]
    return most.get(stratum)


def _text_of(entry: Outline) -> _Text:
    """What is asked; the vertebrae that a scan shows are part of the patient,
    not of the question."""
    pool = () if is_ordered(entry.kind) else entry.pool
    return (entry.task, entry.form, entry.text, entry.must_offer, *pool)


def _named_only(outlines: Iterable[Outline]) -> set[_Text]:
    """Texts about named anatomy that have the same answer in every patient: a textbook knows it."""
    keys: dict[_Text, list[str | None]] = defaultdict(list)
    for entry in outlines:
        if entry.named_only and not entry.must_offer:
            keys[_text_of(entry)].append(entry.key)
    return {text for text, answers in keys.items() if len(answers) > 1 and len(set(answers)) == 1}


def _headline(
    outlines: Iterable[Outline], seed: int, rules: TwinRules, draw: Draw
) -> tuple[list[Offer[Outline]], set[tuple[str, str]]]:
    """All that could be asked in the headline, and the families of a study that it uses up.

    Also those used up that were not drawn: to ask them elsewhere would tell the answers that were.
    """
    by_text: dict[tuple[str, ...], list[Outline]] = defaultdict(list)
    for entry in outlines:
        if not entry.textbook and entry.primary:
            by_text[entry.split, *_text_of(entry)].append(entry)
    offered: dict[str, Offer[Outline]] = {}
    reserved: set[tuple[str, str]] = set()
    # Cut structures are rare: the questions that need them choose their patients first. Then those
    # that give most items: of the guises of a question (larger than 120, 200 or 315 mL) a patient
    # is asked only one.
    yields = {text: _yield(entries, rules) for text, entries in by_text.items()}
    order = sorted(
        by_text, key=lambda t: (not by_text[t][0].must_offer, -yields[t], digest(str(seed), *t))
    )
    for text in order:
        free = [entry for entry in by_text[text] if (entry.study_id, entry.family) not in reserved]
        first = by_text[text][0]
        for values, pool in _pools(sorted(free, key=draw), rules):
            name = digest(canonical_json([first.task, first.text, values, first.split]), size=8)
            if name in offered:
                continue  # another set of options, thinned to the same few, is asked already
            reserved.update((entry.study_id, entry.family) for entry in pool.candidates())
            example = pool.first
            offered[name] = Offer(
                name,
                example.task,
                example.kind,
                example.split,
                example.text,
                values,
                pool,
                counted=_is_drawn(example),
            )
    return list(offered.values()), reserved


def _is_drawn(entry: Outline) -> bool:
    """Whether its answer is drawn;
    a number has none to count, and a mark can be given any letter."""
    return entry.key is not None and not entry.movable


def _yield(entries: list[Outline], rules: TwinRules) -> int:
    """How much a text would tell if no other had chosen its patients before."""
    offers_made = _pools(sorted(entries, key=lambda entry: entry.item_id), rules)
    return sum((len(values) - 1) * pool.size for values, pool in offers_made)


def _pools(
    entries: list[Outline], rules: TwinRules
) -> Iterator[tuple[tuple[str, ...], Pool[Outline]]]:
    """Sets of answers to offer, with the pool that these candidates of one text give."""
    if not entries:
        return
    if not _is_drawn(entries[0]):
        # Nothing is drawn where there is no answer to count: everybody is asked, a patient once.
        pool = Pool(
            [[(entry,) for entry in {entry.patient_id: entry for entry in entries}.values()]], 0.0
        )
        if pool.size >= rules.fewest:
            yield entries[0].pool[:_MOST_OFFERED], pool
        return
    # Where the options are not shown, a second set of answers under the same words would be no twin
    # of the first.
    rounds = _MOST_OFFERED if entries[0].form == "choice" else 1
    for _ in range(rounds):
        values, best = _best_offer(entries, rules)
        if best is None:
            return
        yield values, best
        used = {entry.patient_id for entry in best.candidates()}
        entries = [entry for entry in entries if entry.patient_id not in used]


def _best_offer(
    entries: list[Outline], rules: TwinRules
) -> tuple[tuple[str, ...], Pool[Outline] | None]:
    """The answers to offer: those two, three or four that tell most.

    A question tells by how far it may rise above chance, in units of its noise: with m options
    (1 − 1/m)² / (1/m · (1 − 1/m)) = m − 1.
    """
    if not entries:
        return (), None
    first, counts = entries[0], Counter(str(entry.key) for entry in entries)
    if first.must_offer and first.must_offer not in counts:
        return (), None
    # That it cannot be told is fair beside two other answers that occur; beside one, knowledge
    # would do without sight.
    best: tuple[int, tuple[str, ...], Pool[Outline] | None] = (0, (), None)
    pools = {entry.pool for entry in entries}
    for values in offers(first.kind, pools, counts, _MOST_OFFERED, first.must_offer):
        rarest = min(counts[value] for value in values)
        if (len(values) - 1) * most_draws([rarest] * len(values), rules.bound) <= best[0]:
            continue
        able = [entry for entry in entries if set(values) <= set(entry.pool)]
        pool = pool_of(able, values, rules.bound, lambda entry: entry.series)
        worth = (len(values) - 1) * pool.size
        if pool.size >= rules.fewest and worth > best[0]:
            best = worth, values, pool
    return best[1:]


def _limits(outlines: Iterable[Outline], most: int) -> dict[str, int]:
    """How many questions the headline of each split may hold."""
    studies: dict[str, set[str]] = defaultdict(set)
    for entry in outlines:
        studies[entry.split].add(entry.study_id)
    return {split: most * len(names) for split, names in studies.items()}


def _within_mix(
    groups: Iterable[Offer[Outline]], mix: Mapping[str, float], limits: Mapping[str, int], seed: int
) -> list[Offer[Outline]]:
    """The groups that stay, so that the headline of each split comes near its mix.

    Of each class the kinds of question take turns, those with more options first.
    """
    by_kind: dict[tuple[str, str, str], list[Offer[Outline]]] = defaultdict(list)
    for group in groups:
        by_kind[group.first.split, group.first.mix_class, group.first.kind].append(group)
    turns: dict[tuple[str, str], list[tuple[int, str, Offer[Outline]]]] = defaultdict(list)
    for (split, name, _), same in by_kind.items():
        same.sort(key=lambda group: (-len(group.options), digest(str(seed), group.name)))
        turns[split, name] += [
            (n, digest(str(seed), one.name), one) for n, one in enumerate(same[:_TEXTS])
        ]
    staying: list[Offer[Outline]] = []
    for split, most in limits.items():
        available = {
            name: sum(g.size for *_, g in queue)
            for (of_split, name), queue in turns.items()
            if of_split == split
        }
        allowed = shares_kept(available, mix, most)
        for name in sorted(available):
            count = 0
            for _, _, group in sorted(turns[split, name], key=lambda turn: turn[:2]):
                if count >= allowed[name]:
                    break
                staying.append(group)
                count += group.size
    return staying


def _limited(entries: list[Outline], draw: Draw, most: int | None) -> list[Outline]:
    """At most so many families of each study, all guises of those that stay."""
    if most is None:
        return entries
    families_of: dict[str, dict[str, None]] = defaultdict(dict)
    for entry in sorted(entries, key=draw):
        if len(families_of[entry.study_id]) < most:
            families_of[entry.study_id][entry.family] = None
    return [entry for entry in entries if entry.family in families_of[entry.study_id]]


def _balanced(entries: Iterable[Outline], draw: Draw) -> list[Outline]:
    """One guise per family and patient,
    so chosen and thinned that no answer outweighs another by more than one."""
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    groups: dict[tuple[str, ...], list[Outline]] = defaultdict(list)
    numbers: list[Outline] = []
    for guises in _families(sorted(entries, key=draw)):
        if not _is_drawn(guises[0]):
            numbers.append(guises[0])
            continue
        best = min(guises, key=lambda e: _excess(counts[_set_of(e)], e))
        counts[_set_of(best)][str(best.key)] += 1
        groups[_set_of(best)].append(best)
    evenly = (evened(members, members[0].pool) for members in groups.values())
    return [*numbers, *itertools.chain.from_iterable(evenly)]


def _families(entries: Sequence[Outline]) -> Iterator[list[Outline]]:
    """The guises of each family of each study, in the order of the first ones.

    Chained by their places: lists and keys of their own for all families of a cohort would take
    several times the memory of its outlines.
    """
    following, is_first = array("q", [-1]) * len(entries), bytearray(len(entries))
    latest: dict[str, dict[str, int]] = defaultdict(dict)
    for place, entry in enumerate(entries):
        before = latest[entry.study_id].get(entry.family)
        if before is None:
            is_first[place] = True
        else:
            following[before] = place
        latest[entry.study_id][entry.family] = place
    latest.clear()
    for first in itertools.compress(range(len(entries)), is_first):
        guises, place = [], first
        while place >= 0:
            guises.append(entries[place])
            place = following[place]
        yield guises


def _set_of(entry: Outline) -> tuple[str, ...]:
    return (entry.task, entry.form, *sorted(entry.pool))


def _excess(count: Counter[str], entry: Outline) -> int:
    return count[str(entry.key)] - min((count[value] for value in entry.pool), default=0)


def _offered_options(entry: Outline, seed: int) -> tuple[str, ...]:
    """All options if they are few, else the answer and others drawn at random;
    of ordered ones, neighbours."""
    if entry.form != "choice" or entry.key is None:
        return ()
    draw = {value: digest(str(seed), entry.item_id, value) for value in entry.pool}
    return random_offer(entry.kind, entry.pool, entry.key, _MOST_OFFERED, draw)
