"""A bench without the questions that need no sight: whole templates leave, never single items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from situs.base.publish import new_folder
from situs.bench import Bench, Locations, open_bench
from situs.build.frame import known_places, rows_by_study
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.items import Item
from situs.run import BASELINES, AnswerRow, Spec, make_baseline
from situs.score import clopper_pearson, score_answer
from situs.score.outcomes import chance_of

__all__ = ["Predictable", "blind_row", "debias", "predictable_templates", "template_of"]

_BLIND = tuple(name for name, kind in BASELINES.items() if kind.thins)
"""All are fitted without the patient that is asked,
the last on the whole rendered prompt; none is a contestant."""
_ENOUGH = 8
"""Items under which even an answer that is always the same proves nothing:
such texts are judged by their kind only."""


class _Template(msgspec.Struct):
    """How often the blind baselines are right on one template, and how often chance would be."""

    asked: int = 0
    chance: float = 0.0
    right: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, chance: float, outcomes: dict[str, bool]) -> None:
        self.asked += 1
        self.chance += chance
        for name, right in outcomes.items():
            self.right[name] = self.right.get(name, 0) + right

    def merge(self, other: _Template) -> None:
        self.asked += other.asked
        self.chance += other.chance
        for name, right in other.right.items():
            self.right[name] = self.right.get(name, 0) + right

    def predictable(self, error: float = 0.05) -> bool:
        """Whether some blind baseline is clearly above chance:
        the lower end of its exact interval is."""
        chance = self.chance / self.asked
        return any(
            clopper_pearson(k, self.asked, 1.0 - error)[0] > chance for k in self.right.values()
        )


def debias(
    folder: Path, out: Path, *, overwrite: bool = False, data: Path | None = None
) -> BuildResult:
    """Copy a bench without the templates that the whole prompt, the average anatomy or others'
    answers predict.

    A template is a question text with its options. Texts that are not predictable on their own are
    judged together with the others of their task, form and stratum, and leave together; what is too
    rare for that goes by its stratum. Every prediction is made without the patient asked about, and
    no single item leaves because it was guessed: blind accuracy of other patients on what stays is
    inside chance, not below it.
    """
    bench = open_bench(folder)
    dropped = predictable_templates(bench)
    info = bench.info
    options = BuildOptions(
        out.name, info.recipe, seed=info.seed, restricted=info.restricted, licence=info.licence
    )
    locations = Locations.read(folder, data)
    with new_folder(out, marker="bench.json", overwrite=overwrite) as scratch:
        with BenchWriter(scratch, info.source, options, info.terms) as writer:
            writer.trust(info.trusted)
            writer.add_suspects(info.suspects)
            for number, (study, facts, items) in enumerate(rows_by_study(bench)):
                remaining_items = [item for item in items if not dropped.holds(item)]
                reasons = Counter(info.not_asked if number == 0 else {})
                reasons["predictable without looking"] += len(items) - len(remaining_items)
                writer.add(study, facts, remaining_items, reasons, known_places(study, locations))
        return writer.finish([], info.notes, may_be_empty=True)


Key = tuple[str, str, str, str, tuple[str, ...]]
Kind = tuple[str, str, str]


def template_of(item: Item) -> Key:
    """Task, form, stratum, question text and the options it offers, in no order."""
    values = tuple(sorted(option.value for option in item.options))
    return item.task, item.form, item.stratum, item.question, values


class Predictable(msgspec.Struct, frozen=True):
    """What blind baselines answer clearly above chance."""

    texts: set[Key]
    kinds: set[Kind]
    """Task, form and stratum whose other texts are predictable together,
    also those not seen so far."""
    cleared: set[Kind]
    """Kinds asked often enough that they would have shown it."""
    strata: set[str]
    """Strata that are predictable as a whole:
    what is asked too seldom there to be judged leaves with them."""

    def holds(self, item: Item) -> bool:
        """Whether the item's template is one of them."""
        key = template_of(item)
        kind = key[:3]
        return (
            key in self.texts
            or kind in self.kinds
            or (kind not in self.cleared and item.stratum in self.strata)
        )


def predictable_templates(bench: Bench) -> Predictable:
    """Texts that are predictable on their own, then kinds whose remaining texts are so together,
    then rare kinds.

    One text is asked of few patients, and what a few show proves little; many such texts may add up
    to much. A kind too rare to be judged by itself is taken for what its stratum is: without twins,
    few things are a surprise.
    """
    templates = _predictability(bench)
    errors = _errors(key[2] for key in templates)
    texts = {
        key
        for key, one in templates.items()
        if one.asked >= _ENOUGH and one.predictable(errors[key[2]])
    }
    kinds: dict[Kind, _Template] = defaultdict(_Template)
    strata: dict[str, _Template] = defaultdict(_Template)
    for key, one in templates.items():
        strata[key[2]].merge(one)
        if key not in texts:
            kinds[key[:3]].merge(one)
    errors = _errors(kind[2] for kind in kinds)
    return Predictable(
        texts,
        {kind for kind, one in kinds.items() if one.predictable(errors[kind[2]])},
        {
            kind
            for kind, one in kinds.items()
            if one.asked >= _ENOUGH and not one.predictable(errors[kind[2]])
        },
        {stratum for stratum, one in strata.items() if one.predictable()},
    )


def blind_row(bench: Bench, stratum: str) -> tuple[str, float, float, bool] | None:
    """The best blind baseline on a stratum: name, accuracy, chance, and whether it is clearly above
    chance.

    None where the stratum has no question with options.
    """
    total = _Template()
    for key, one in _predictability(bench).items():
        if key[2] == stratum:
            total.merge(one)
    if not total.asked:
        return None
    name = max(sorted(total.right), key=lambda row: total.right[row])
    above = total.predictable(0.05 / len(_BLIND))
    return name, total.right[name] / total.asked, total.chance / total.asked, above


def _errors(strata: Iterable[str]) -> dict[str, float]:
    """The error level of each stratum's interval; in the headline it is shared by all that are
    tried (Bonferroni).

    There the answers are drawn, and a text on which the commonest answer does well is mostly one
    whose answers came out uneven. If such texts left, those that stay would be too even, and the
    rarest answer so far the likeliest.
    """
    counts = Counter(strata)
    return {
        name: 0.05 / (count * len(_BLIND) if name == "headline" else 1)
        for name, count in counts.items()
    }


def _predictability(bench: Bench) -> dict[Key, _Template]:
    """Of every text."""
    baselines = {name: make_baseline(bench, Spec(name)) for name in _BLIND}
    texts: dict[Key, _Template] = defaultdict(_Template)
    for item in bench.items(steps=False):
        chance = chance_of(item)
        if chance is None:
            continue  # there is no being above it: half a million graded boxes are not answered
        answers = {
            name: AnswerRow(item.item_id, response=b.answer(item) or "")
            for name, b in baselines.items()
        }
        scored = {name: score_answer(item, row, None) for name, row in answers.items()}
        outcomes = {name: bool(row.outcome.right) for name, row in scored.items()}
        texts[template_of(item)].add(chance, outcomes)
    return texts
