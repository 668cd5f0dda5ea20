"""The clinical validator: rules as data, each with the check it names."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

import msgspec

from situs.items import Candidate, Item, right_options
from situs.items.programs import program_of
from situs.items.programs.proof import banned_word

__all__ = ["Rule", "broken_rule", "load_rules"]


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule."""

    id: str
    severity: str
    """`refuse` or `quarantine`."""
    problem: str
    fix: str
    source: str


@functools.cache
def load_rules() -> dict[str, Rule]:
    """The shipped rules by id."""
    text = files("situs.build.authoring").joinpath("data", "rules.toml").read_text("utf-8")
    rules = msgspec.convert(tomllib.loads(text)["rule"], list[Rule])
    return {rule.id: rule for rule in rules}


def broken_rule(candidate: Candidate, suspected: frozenset[str]) -> Rule | None:
    """The first rule that a question breaks; `suspected` are structures whose masks look wrong."""
    item, rules = candidate.item, load_rules()
    if item.options and len(right_options(item.answer)) != 1:
        return rules["one-answer"]
    if suspected and suspected.intersection(_structures(item)):
        return rules["plausible"]
    if _names_its_answer(item):
        return rules["needs-sight"]
    if _is_unrelated(item):
        return rules["relevant"]
    return rules["plain-words"] if banned_word(item.question) is not None else None


def _structures(item: Item) -> set[str]:
    return {tag.removeprefix("structure:") for tag in item.tags if tag.startswith("structure:")}


def _names_its_answer(item: Item) -> bool:
    """Whether the right option stands in the question and no wrong one does."""
    if not item.options:
        return False
    text = item.question.lower()
    named = {option.value for option in item.options if option.text.lower() in text}
    return bool(named) and named == right_options(item.answer) and len(item.options) > len(named)


def _is_unrelated(item: Item) -> bool:
    """Whether it is about no structure and no lesion: nothing that anybody holds against anything."""
    program = program_of(item)
    return program is None or not (program.names or program.families)
