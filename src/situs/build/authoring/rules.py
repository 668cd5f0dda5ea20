"""The clinical validator: rules as data, each with a check of its name."""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from importlib.resources import files
from typing import Literal, NamedTuple

import msgspec

from situs.anatomy import Term, canonical_name, is_sided_lesion, near_lesion, term
from situs.build.study import StudyOutcome
from situs.facts import Fact
from situs.items import Item, Number, right_options
from situs.items.programs import Expr, program_of
from situs.items.programs.proof import banned_word, ends_of

__all__ = ["Case", "Rule", "broken_rule", "validated"]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule."""

    id: str
    severity: Literal["refuse", "quarantine"]
    problem: str
    fix: str
    sources: tuple[str, ...]
    limit: float = 0.0


class _RuleBook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...]
    sources: dict[str, str]


@functools.cache
def _rule_book() -> _RuleBook:
    text = files("situs.build.authoring").joinpath("data", "rules.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _RuleBook)


class Case(NamedTuple):
    """A question before the validator, with what it rests on."""

    item: Item
    program: Expr
    facts: Mapping[str, Fact]
    suspected: Set[str] = frozenset()
    """Structures of the study whose masks look wrong."""
    terms: Mapping[str, Term] = {}
    """The user's own names."""

    def term(self, name: str) -> Term:
        """What a name means."""
        return term(name, self.terms)


def validated(
    outcomes: Iterable[StudyOutcome],
    plan: Set[str] | None,
    withdrawn: Mapping[str, str],
    terms: Mapping[str, Term],
    funnel: Counter[str],
) -> dict[str, str]:
    """Item id → program, of all questions that were planned and break no rule."""
    allowed: dict[str, str] = {}
    for outcome in outcomes:
        facts = {fact.fact_id: fact for fact in outcome.facts}
        suspected = _suspected(outcome)
        for candidate in outcome.candidates:
            funnel["candidates"] += 1
            item, program = candidate.item, program_of(candidate.item)
            # Before the arrangement: an item taken out of it later would leave its twins alone.
            if reason := withdrawn.get(item.item_id):
                funnel[reason] += 1
                continue
            if program is None or (plan is not None and str(program) not in plan):
                continue
            rule = broken_rule(Case(item, program, facts, suspected, terms))
            if rule is not None:
                funnel[f"rule {rule.id}"] += 1
                continue
            funnel["questions proved"] += 1
            allowed[item.item_id] = str(program)
    return allowed


def _suspected(outcome: StudyOutcome) -> frozenset[str]:
    """Structures that a doubt about the study names."""
    return frozenset(
        word
        for suspect in outcome.suspects
        if suspect.doubt == "structure" and not suspect.trusted
        for word in suspect.problem.replace(",", " ").split()
    )


def broken_rule(case: Case) -> Rule | None:
    """The first rule that a question breaks."""
    for rule in _rule_book().rule:
        if _BREAKS[rule.id](case, rule.limit):
            return rule
    return None


def _is_implausible(case: Case, limit: float) -> bool:
    tagged = {t.removeprefix("structure:") for t in case.item.tags if t.startswith("structure:")}
    return bool(case.suspected & (tagged | set(case.program.names)))


def _has_other_than_one_answer(case: Case, limit: float) -> bool:
    return bool(case.item.options) and len(right_options(case.item.answer)) != 1


def _has_like_options(case: Case, limit: float) -> bool:
    texts = [" ".join(option.text.lower().split()) for option in case.item.options]
    return len(set(texts)) < len(texts)


def _has_catch_all(case: Case, limit: float) -> bool:
    pattern = re.compile(
        r"\b(all|none|any|both|neither) of (the above|these|them)\b", re.IGNORECASE
    )
    return any(pattern.search(option.text) for option in case.item.options)


def _names_its_answer(case: Case, limit: float) -> bool:
    """Whether the right option stands in the question and no wrong one does."""
    text, item = case.item.question.lower(), case.item
    named = {option.value for option in item.options if option.text.lower() in text}
    return bool(named) and named == right_options(item.answer) and len(item.options) > len(named)


def _has_length_cue(case: Case, limit: float) -> bool:
    right = right_options(case.item.answer) if case.item.options else set()
    ours = [len(option.text) for option in case.item.options if option.value in right]
    others = [len(option.text) for option in case.item.options if option.value not in right]
    return bool(ours and others) and max(ours) > limit * max(others)


def _asks_otherwise_than_once(case: Case, limit: float) -> bool:
    return ends_of(case.item.question) != 1


def _is_negative(case: Case, limit: float) -> bool:
    refusal = banned_word(case.item.question)
    return refusal is not None and "turns the question round" in refusal.reason


def _is_long(case: Case, limit: float) -> bool:
    return len(case.item.question.split()) > limit


def _has_banned_word(case: Case, limit: float) -> bool:
    return banned_word(case.item.question) is not None


def _is_unrelated(case: Case, limit: float) -> bool:
    """Whether a lesion or organ is held against a structure
    that the table of relevance does not have beside it."""
    names, families = case.program.names, case.program.families
    if not names and not families:
        return True
    others = {canonical_name(name) for name in names}
    for family in families:
        near = near_lesion(case.term(family))
        if near is not None and any(other and not _either(other, near) for other in others):
            return True
    return False


def _either(name: str, near: Set[str]) -> bool:
    """Whether a structure or its partner on the other side stands in the table."""
    return name in near or (term(name).mirrored_name or "") in near


def _asks_of_far(case: Case, limit: float) -> bool:
    within = (part for part in case.program.parts() if part.op in ("within", "is_within"))
    return any(float(part.args[2]) > limit for part in within)  # type: ignore[arg-type]


def _is_too_small(case: Case, limit: float) -> bool:
    if case.program.op not in ("diameter", "diameter_exceeds", "wider"):
        return False
    facts = (case.facts.get(id_) for id_ in case.item.fact_ids)
    longest = [f.value for f in facts if f is not None and f.kind == "axial_diameter"]
    return any(isinstance(value, float) and value < limit for value in longest)


def _is_uncountable(case: Case, limit: float) -> bool:
    answer = case.item.answer
    return case.program.op == "count" and isinstance(answer, Number) and answer.value > limit


def _is_unsided(case: Case, limit: float) -> bool:
    if case.program.op not in ("side", "is_on"):
        return False
    return not all(is_sided_lesion(case.term(family)) for family in case.program.families)


def _is_vague(case: Case, limit: float) -> bool:
    answer = case.item.answer
    if not isinstance(answer, Number) or not answer.unit or answer.interval is None:
        return False
    low, high = answer.interval
    return (high - low) / 2 > limit * abs(answer.value)


_BREAKS: dict[str, Callable[[Case, float], bool]] = {
    "plausible": _is_implausible,
    "one-answer": _has_other_than_one_answer,
    "distinct-options": _has_like_options,
    "no-catch-all": _has_catch_all,
    "needs-sight": _names_its_answer,
    "length-cue": _has_length_cue,
    "one-question": _asks_otherwise_than_once,
    "positive-stem": _is_negative,
    "short-stem": _is_long,
    "plain-words": _has_banned_word,
    "relevant": _is_unrelated,
    "usual-distance": _asks_of_far,
    "measurable-lesion": _is_too_small,
    "countable": _is_uncountable,
    "sided-lesion": _is_unsided,
    "known-number": _is_vague,
}
"""Rule → whether a question breaks it, by the rule's limit; a test holds it to the data file."""
