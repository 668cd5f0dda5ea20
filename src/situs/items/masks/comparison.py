"""Which is larger? Two structures, three in order, or the left against the right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from situs.anatomy import Naming, compared, measured, ranked
from situs.facts import WHOLE, Fact, Ledger, is_cut, number, span
from situs.items.average import AverageAnatomy
from situs.items.masks.shared import BEYOND, CANNOT_TELL, by_canonical, obstacle
from situs.items.posed import NotAsked, Posed, Question, find_step, quantity
from situs.items.posed import measured as measurement
from situs.items.record import Choice, Item, Number, Option, Step
from situs.items.subjects import Subject, including_lesions, resolve, sized, world_box
from situs.items.tasks import TaskRules
from situs.space import Side

__all__ = ["Comparison"]

_SIDED = ("side_convention",)

_CUT = Option(CANNOT_TELL, "cannot be told, one is cut off")


class Comparison:
    """Compares volumes whose intervals do not overlap."""

    name = "comparison"
    rules = TaskRules(
        quotas={"larger": 40, "rank": 60, "left_right": 6, "ratio": 2},
        mix="comparison",
        units=("",),
        whole=True,
        decides=("comparison",),
        learns=("volume",),
        group="sizes",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The pairs, sets and sides that the table of relevance names."""
        known = by_canonical(s for s in subjects if s.term.ask_size)
        for pair in _present(known, compared("larger")):
            a, b = (subject.key for subject in pair)
            for beyond in ({}, BEYOND):
                yield Question(
                    self.name,
                    "choice",
                    {"ask": "larger", "a": a, "b": b, "which": "larger", **beyond},
                    family=f"{a}|{b}",
                    named_only=_normal(pair),
                    must_offer=beyond.get("or", ""),
                )
        for several in _present(known, ranked()):
            keys = "+".join(sorted(subject.key for subject in several))
            for beyond in ({}, BEYOND):
                yield Question(
                    self.name,
                    "choice",
                    {"ask": "rank", "of": keys, **beyond},
                    family=f"rank|{keys}",
                    named_only=_normal(several),
                    must_offer=beyond.get("or", ""),
                )
        for first, second in _present(known, compared("ratio")):
            a, b = first.key, second.key
            keys = "|".join(sorted((a, b)))
            yield Question(
                self.name, "number", {"ask": "ratio", "a": a, "b": b}, family=f"ratio|{keys}"
            )
        for subject in subjects:
            entry = subject.term
            sided = entry.ask_size and entry.naming is Naming.POSITIONAL and entry.side is Side.LEFT
            if sided and entry.partner in ledger.regions and "larger" in measured(entry).left_right:
                sides = {"ask": "left_right", "left": entry.name, "right": str(entry.partner)}
                for beyond in ({}, BEYOND):
                    yield Question(
                        self.name,
                        "choice",
                        {**sides, **beyond},
                        family=f"left_right|{entry.name}",
                        must_offer=beyond.get("or", ""),
                    )

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Which is larger in others, on which side, or in which orders they may be."""
        p, patient = item.parameters, item.patient_id
        if p["ask"] == "larger":
            sign = average.compare("volume", p["a"], p["b"], without=patient)
            largest = sign if p["which"] == "larger" else -sign
            return [p["a"] if largest > 0 else p["b"]] if sign else []
        if p["ask"] == "left_right":
            sign = average.compare("volume", p["left"], p["right"], without=patient)
            return ["left" if sign > 0 else "right"] if sign else []
        orders = [option.value for option in item.options if ">" in option.value]
        return [order for order in orders if _may_be(order.split(">"), average, patient)]

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """Ratios are learnt from other patients' answers, not from their anatomy."""
        return None

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the volumes differ beyond what voxels and annotation leave open."""
        match question.parameters["ask"]:
            case "larger":
                return self._pose_larger(ledger, question.parameters)
            case "ratio":
                return self._pose_ratio(ledger, question.parameters)
            case "rank":
                return self._pose_rank(
                    ledger, question.parameters["of"].split("+"), question.parameters
                )
            case _:
                return self._pose_left_right(ledger, question.parameters)

    def _pose_larger(self, ledger: Ledger, parameters: dict[str, str]) -> Posed | NotAsked:
        a, b = (sized(ledger, resolve(ledger, parameters[key])) for key in ("a", "b"))
        which, beyond = parameters["which"], "or" in parameters
        text = f"Which is {which} by volume: {a.short} or {b.short}{including_lesions((a, b))}?"
        pool = (*(Option(s.key, s.short) for s in (a, b)), *((_CUT,) if beyond else ()))
        order = _order(ledger, [a, b])
        if isinstance(order, NotAsked):
            return _cannot_tell(ledger, [a, b], text, pool, order) if beyond else order
        answer = order[0] if which == "larger" else order[1]
        conclusion = f"{answer.opening} is {which}."
        return _posed(
            ledger, order, text=text, answer=Choice(answer.key), pool=pool, conclusion=conclusion
        )

    def _pose_rank(
        self, ledger: Ledger, keys: list[str], parameters: dict[str, str]
    ) -> Posed | NotAsked:
        asked, beyond = [sized(ledger, resolve(ledger, key)) for key in keys], "or" in parameters
        order = _order(ledger, asked)
        named = {s.key: s.bare for s in asked}
        pool = tuple(
            Option(">".join(keys), ", ".join(named[key] for key in keys))
            for keys in itertools.permutations(named)
        )
        listed = ", ".join(s.short for s in asked[:-1]) + f" and {asked[-1].short}"
        remark = including_lesions(asked)
        comma = "," if remark else ""
        text = (
            f"Rank {listed}{remark}{comma} by volume, from largest to smallest. "
            "Which order is right?"
        )
        if beyond:
            pool = (*pool, _CUT)
        if isinstance(order, NotAsked):
            return _cannot_tell(ledger, asked, text, pool, order) if beyond else order
        return _posed(
            ledger,
            order,
            text=text,
            answer=Choice(">".join(s.key for s in order)),
            pool=pool,
            conclusion=f"From largest to smallest: {', '.join(s.bare for s in order)}.",
        )

    def _pose_ratio(self, ledger: Ledger, parameters: dict[str, str]) -> Posed | NotAsked:
        a, b = (sized(ledger, resolve(ledger, parameters[key])) for key in ("a", "b"))
        refusal = obstacle(ledger, [a, b], whole=True, oriented=False)
        if refusal is not None:
            return refusal
        ratio = ledger.fact("volume_ratio", a.structure, b.structure)
        if is_cut(ratio) or "unbounded" in ratio.flags:
            return NotAsked("structure cut off by the scan")
        value, (low, high) = number(ratio), span(ratio)
        if low <= 1.0:
            return NotAsked("the first is not clearly the larger")
        if (high - low) / 2 > ledger.recipe.truth.volume_half_width * value:
            return NotAsked("ratio not known well enough")
        return _posed(
            ledger,
            [a, b],
            text=f"By volume, how many times as large as {b.phrase} is {a.phrase}?",
            answer=Number(value, "", (low, high)),
            pool=(),
            conclusion=f"About {quantity(value, '')} times.",
        )

    def _pose_left_right(self, ledger: Ledger, parameters: dict[str, str]) -> Posed | NotAsked:
        left, right = (
            sized(ledger, resolve(ledger, parameters[side])) for side in ("left", "right")
        )
        noun = re.sub(r"\b(left|right) ", "", resolve(ledger, parameters["left"]).bare)
        lesions = (
            ", including its lesions"
            if any(s.structure.endswith(WHOLE) for s in (left, right))
            else ""
        )
        text = f"Which {noun}{lesions}{',' if lesions else ''} is larger by volume?"
        beyond = "or" in parameters
        pool = (
            Option("left", "the left"),
            Option("right", "the right"),
            *((_CUT,) if beyond else ()),
        )
        order = _order(ledger, [left, right])
        if isinstance(order, NotAsked):
            return (
                _cannot_tell(ledger, [left, right], text, pool, order, needs=_SIDED)
                if beyond
                else order
            )
        side = "left" if order[0] is left else "right"
        conclusion = f"The {side} {noun} is larger."
        return _posed(
            ledger,
            order,
            text=text,
            answer=Choice(side),
            pool=pool,
            conclusion=conclusion,
            needs=_SIDED,
        )


def _present(
    known: Mapping[str, Subject], sets: Iterable[Sequence[str]]
) -> Iterator[list[Subject]]:
    """The sets of which the patient has every structure."""
    for names in sets:
        if all(name in known for name in names):
            yield [known[name] for name in names]


def _normal(structures: Iterable[Subject]) -> bool:
    """Only of these may a textbook know the answer:
    the parts of a tumour differ from patient to patient."""
    return not any(subject.term.is_pathology for subject in structures)


def _cannot_tell(
    ledger: Ledger,
    asked: list[Subject],
    text: str,
    pool: tuple[Option, ...],
    reason: NotAsked,
    needs: tuple[str, ...] = (),
) -> Posed | NotAsked:
    """That the order cannot be told, if what is seen of the cut ones leaves it open;
    else the reason not to ask."""
    volumes = {s.key: ledger.fact("volume", s.structure) for s in asked}
    cut = [fact for fact in volumes.values() if is_cut(fact)]
    uncut = [fact for fact in volumes.values() if not is_cut(fact)]
    roles_hold = not any("unstable" in fact.flags for s in asked for fact in s.evidence)
    others_apart = all(
        span(a)[1] < span(b)[0] or span(b)[1] < span(a)[0]
        for a, b in itertools.combinations(uncut, 2)
    )
    open_to = any(
        (c.interval or (0.0, 0.0))[1] < span(w)[0] for c, w in itertools.product(cut, uncut)
    )
    unclear = any(not _settled(c, w) for c, w in itertools.product(cut, uncut))
    cut_for_sure = all("through" in fact.flags for fact in cut)
    if (
        not (cut and cut_for_sure and roles_hold and others_apart)
        or unclear
        or not (open_to or len(cut) > 1)
    ):
        return reason
    return _posed(
        ledger,
        asked,
        text=text,
        answer=Choice(CANNOT_TELL),
        pool=pool,
        conclusion="One of them goes on beyond the scan, so their sizes cannot be compared.",
        needs=needs,
    )


def _settled(cut: Fact, uncut: Fact) -> bool:
    """Whether the part seen of a cut structure is clearly more,
    or clearly less, than a whole one."""
    low, high = cut.interval or (0.0, 0.0)
    return low > span(uncut)[1] or high < span(uncut)[0]


def _order(ledger: Ledger, asked: list[Subject]) -> list[Subject] | NotAsked:
    """The subjects from largest to smallest, if every step of the order is proved;
    a cut one may only be larger."""
    refusal = obstacle(ledger, asked, whole=False, oriented=False)
    if refusal is not None:
        return refusal
    volumes = {s.key: ledger.fact("volume", s.structure) for s in asked}
    order = sorted(asked, key=lambda s: (-number(volumes[s.key]), s.key))
    for larger, smaller in itertools.pairwise(order):
        if span(volumes[larger.key])[0] <= span(volumes[smaller.key])[1]:
            cut = any(is_cut(volumes[s.key]) for s in (larger, smaller))
            return NotAsked("structure cut off by the scan" if cut else "volumes too close to call")
    return order


def _posed(
    ledger: Ledger,
    order: list[Subject],
    *,
    text: str,
    answer: Choice | Number,
    pool: tuple[Option, ...],
    conclusion: str,
    needs: tuple[str, ...] = (),
) -> Posed:
    cannot_tell = answer == Choice(CANNOT_TELL)
    volumes = [ledger.fact("volume", s.structure) for s in order]
    ratios = [
        ledger.fact("volume_ratio", a.structure, b.structure) for a, b in itertools.pairwise(order)
    ]
    boxes: tuple[Fact, ...] = tuple(ledger.fact("box", s.structure) for s in order)
    steps = [find_step(ledger, s) for s in order]
    for subject, volume in zip(order, volumes):
        at_least = "at least " if is_cut(volume) else ""
        volume_words = f"{at_least}{quantity(number(volume), 'mL')}"
        words = f"{subject.opening} has a volume of {volume_words}."
        steps.append(Step("measure", words, (volume.fact_id,), (), measurement(volume)))
    for (larger, smaller), ratio in zip(itertools.pairwise(order), ratios):
        if cannot_tell:
            break
        words = (
            f"{larger.opening} is {quantity(number(ratio), '')} times as large as {smaller.phrase}."
        )
        steps.append(Step("compare", words, (ratio.fact_id,), (), measurement(ratio, 1.0)))
    steps.append(Step("conclude", conclusion, tuple(fact.fact_id for fact in (*volumes, *ratios))))
    tightest = min(ratios, key=lambda fact: span(fact)[0])
    low = span(tightest)[0]
    ratio_value = number(tightest)
    return Posed(
        text=text,
        answer=answer,
        facts=(*volumes, *ratios, *boxes),
        steps=tuple(steps),
        boxes=tuple(world_box(ledger, s) for s in order),
        needs=(*needs, *(f"sees:{s.key}" for s in sorted(order, key=lambda s: s.key))),
        tags=tuple(f"structure:{s.key}" for s in sorted(order, key=lambda s: s.key)),
        difficulty=(ratio_value - 1.0) / max(1e-6, ratio_value - low) if not cannot_tell else None,
        pool=pool,
    )


def _may_be(order: list[str], average: AverageAnatomy, patient: str) -> bool:
    """Whether no two of these are clearly the other way round in other patients."""
    pairs = itertools.combinations(order, 2)
    return all(average.compare("volume", a, b, without=patient) >= 0 for a, b in pairs)
