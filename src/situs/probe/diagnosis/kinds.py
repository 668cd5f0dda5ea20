"""Which kind of reader it is: a list of rules, of which the first that holds names the reader.

The last rule always holds, so every combination of evidence ends in a verdict. All words are made
from the effects that decided.

The rules and why:

- **Sight** needs two proofs of one sign, on all items or on a group of tasks: the answers are
  better with pictures
  than in both runs without (refusals and unread replies count as guesses), and better than if they
  were dealt out among the patients who were asked the same question. A fixed opinion wins nothing
  by the second, so it cannot pass for sight where the answers to a question are not perfectly
  balanced. The tests are one family (Holm, 5 %).
- **Memorised**: sight that a change which leaves the answer alone takes away (a sham edit, the
  other convention on
  questions without sides), or that stays with the old answer when the patient changes.
- **Text only** needs answers that stay the same in every group of tasks, or limits so narrow that
  a reader who sees a
  tenth of the items is excluded; the absence of proof is not enough.
- Habits and slips are decided at 1 %, over patients *and* over questions, and named only if they
  are at work in at
  least a seventh of the answers in which they could show: they are to describe the reader, not the
  chance of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from situs.probe.diagnosis.effects import FEWEST_ITEMS, FEWEST_PATIENTS
from situs.probe.diagnosis.evidence import ALL_ITEMS, Moved, Sight
from situs.probe.diagnosis.reader import Reader
from situs.probe.diagnosis.records import (
    HABIT_LEVEL,
    HABIT_SIZE,
    NEGLIGIBLE,
    Finding,
    Verdict,
    finding_of,
)

__all__ = ["KINDS", "Kind", "kind_findings", "listed"]

_EXCLUDES_A_TENTH = 0.04
"""A reader who sees a tenth of questions with two options and guesses the others gains 0.05."""

_LITTLE = 0.08
"""A reader who sees a tenth of such questions gains 0.05, and its limits reach beyond this."""
_MOSTLY = 0.8
"""Of the replies."""


def _cannot_be_told(reader: Reader) -> bool:
    return not reader.known


def _hardly_answers(reader: Reader) -> bool:
    """So few replies are read that the same silence with
    and without pictures would pass for the same answer."""
    lost = (reader.evidence.declined.value or 0.0) + (reader.evidence.unread.value or 0.0)
    return not reader.shows_sight and lost > _MOSTLY


def _is_memorised(reader: Reader) -> bool:
    return bool(reader.seen) and bool(reader.unstable or reader.clings)


def _falls_silent(reader: Reader) -> bool:
    """Better with its pictures, but it gives no answer where a change leaves the answer alone: who
    recognises the very scan and who is careful with edited ones do the same."""
    return bool(reader.silenced)


def _looks(reader: Reader) -> bool:
    return reader.shows_sight


def _is_unchanged(reader: Reader) -> bool:
    """The same answers whatever is shown; who says the same to another patient's pictures does not
    look at them.

    Who declines without pictures then gains by saying what is usual, and still sees nothing.
    """
    if reader.moved is not None:
        return False
    if reader.unchanged_by == "other-patient":
        return not (reader.all.own_picture.above(0.0) or reader.hint_in_a_group)
    return not reader.hint_of_sight and bool(reader.unchanged_by)


def _has_no_room_for_sight(reader: Reader) -> bool:
    if reader.hint_of_sight or reader.moved is not None:
        return False
    sight = reader.all
    dealt = sight.own_picture
    narrow = (
        dealt.below(_EXCLUDES_A_TENTH) if dealt.decides else sight.gain.below(_EXCLUDES_A_TENTH)
    )
    return narrow and sight.gain.below(_EXCLUDES_A_TENTH + 0.02)


def _little_room_for_sight(reader: Reader) -> bool:
    """Whether the limits exclude more than sight on about every sixth item:
    what is less cannot be called none."""
    dealt = reader.all.own_picture
    return not reader.hint_of_sight and (dealt if dealt.decides else reader.all.gain).below(_LITTLE)


def _reacts(reader: Reader) -> bool:
    return _little_room_for_sight(reader) and reader.evidence.reaction.above(NEGLIGIBLE)


def _guesses(reader: Reader) -> bool:
    """As often right as chance, without any rule that words or options explain."""
    over, alike = reader.evidence.over_chance, reader.evidence.alike_without
    at_chance = over.known and not over.above(0.0) and over.below(NEGLIGIBLE)
    opinionated = alike.above(0.25)
    prior = reader.evidence.prior.get(ALL_ITEMS)
    follows = prior is not None and prior.p < HABIT_LEVEL and prior.excess.above(HABIT_SIZE)
    return (
        at_chance
        and _little_room_for_sight(reader)
        and not (opinionated or follows or reader.habit or reader.yes)
    )


class Kind(NamedTuple):
    """A rule of the decision list."""

    name: str
    holds: Callable[[Reader], bool]
    looks: Verdict
    summary: str
    """How the diagnosis begins."""


KINDS = (
    Kind(
        "too few",
        _cannot_be_told,
        "not tested",
        "Looks at the image: cannot be told, too few patients or items.",
    ),
    Kind(
        "no answers",
        _hardly_answers,
        "unclear",
        "Looks at the image: cannot be told, it hardly gives an answer.",
    ),
    Kind(
        "memorised",
        _is_memorised,
        "no",
        "Looks at the image: no; memorised, or does not follow the picture.",
    ),
    Kind(
        "unclear",
        _falls_silent,
        "unclear",
        "Looks at the image: cannot be told, it declines scans that were changed.",
    ),
    Kind("looks", _looks, "yes", "Looks at the image: yes."),
    Kind("text only", _is_unchanged, "no", "Looks at the image: no; text only."),
    Kind("reacts", _reacts, "no", "Looks at the image: no; reacts to the pictures without gain."),
    Kind("guesses", _guesses, "no", "Looks at the image: no; guesses."),
    Kind("text only", _has_no_room_for_sight, "no", "Looks at the image: no; text only."),
    Kind("unclear", lambda reader: True, "unclear", "Looks at the image: cannot be told."),
)
"""The first that holds names the reader."""

_FINDING_OF_KIND = {
    "looks": "looks_at_the_image",
    "text only": "text_only",
    "memorised": "memorised",
    "reacts": "reacts_without_gain",
    "guesses": "guesses",
}


def kind_findings(reader: Reader, kind: Kind) -> dict[str, Finding]:
    """Those of the kind itself: one of them is made, and the others are not."""
    words = _words_of_kind(reader, kind)
    sight = reader.all
    measure, effect = "sight gain with chance credit", sight.gain
    if kind.name == "text only" and sight.gain.above(0.0):
        measure, effect = "right minus right with its answers to other patients", sight.own_picture
    findings = {"looks_at_the_image": finding_of(kind.looks, words, measure, effect)}
    undecided = kind.looks in ("not tested", "unclear")
    for name, finding in _FINDING_OF_KIND.items():
        if finding == "looks_at_the_image":
            continue
        verdict: Verdict = "yes" if kind.name == name else "no"
        if undecided:
            verdict = kind.looks
        elif finding == "memorised" and not (reader.evidence.harmless or reader.evidence.followed):
            verdict = "not tested"
        findings[finding] = finding_of(
            verdict, words if verdict == "yes" else _OTHERWISE[verdict], measure, effect
        )
    return findings


_OTHERWISE = {
    "no": "see “looks at the image”",
    "unclear": "as above",
    "not tested": (
        "needs probes that change the scan and not the answer: sham, slice-order, convention"
    ),
    "yes": "",
}


def _words_of_kind(reader: Reader, kind: Kind) -> str:
    sight, evidence = reader.all, reader.evidence
    measured = f"sight gain {sight.gain.words}, {_own_picture_words(sight)}"
    match kind.name:
        case "too few":
            needed = f"at least {FEWEST_PATIENTS} patients and {FEWEST_ITEMS} items are needed"
            return f"{sight.gain.n:,} items of {sight.gain.patients:,} patients; {needed}"
        case "no answers":
            return f"declined: {evidence.declined.words}; not read: {evidence.unread.words}"
        case "memorised":
            return _memorised_words(reader)
        case "looks":
            return f"{_where_it_looks(reader)}: {measured}"
        case "text only" if reader.unchanged_by:
            same = evidence.same[reader.unchanged_by]
            alike = (
                "its answers are the same with other pictures or none (probe"
                f" {reader.unchanged_by})"
            )
            return f"{alike}: {same.words}; {measured}"
        case "text only":
            return f"no better with its pictures than without, within narrow limits: {measured}"
        case "reacts":
            return (
                "its answers to the same words differ more between patients with pictures than"
                f" without, by {evidence.reaction.words}, and are no better for it: {measured}"
            )
        case "guesses":
            return (
                f"as often right as a guess, {evidence.over_chance.words} over chance; {measured}"
            )
        case _ if reader.silenced:
            probes = listed(reader.silenced)
            return f"right with its own pictures, but hardly answers under {probes}: {measured}"
        case _ if reader.moved is not None and not reader.hint_of_sight:
            return f"{_moved_words(reader.moved)}: {measured}"
        case _:
            return (
                f"no sight is shown, and a gain up to {sight.highest:+.3f} is not excluded:"
                f" {measured}"
            )


def _moved_words(moved: Moved) -> str:
    return (
        f"its answers change with the pictures in {moved.group} only, {moved.changed:,} of"
        f" {moved.n:,}, which is too little to tell whether it looks there; all others stay the"
        " same"
    )


def _own_picture_words(sight: Sight) -> str:
    if sight.own_picture.value is None:
        return "no question was asked of two patients with different answers"
    return f"over its own answers to other patients {sight.own_picture.words}"


def _memorised_words(reader: Reader) -> str:
    parts = [
        f"{name}, which changes no right answer, takes it from {one.gained.value or 0.0:+.3f} to "
        f"{one.remains.value or 0.0:+.3f} over its run without pictures (change {one.fall.words})"
        for name, one in reader.unstable.items()
    ]
    parts += [
        f"where the patient changes it stays with the old answer ({group}: new minus old"
        f" {effect.words})"
        for group, effect in reader.clings.items()
    ]
    return "; ".join(parts)


def _where_it_looks(reader: Reader) -> str:
    if not reader.seen:
        return f"the pictures mislead it in {listed(reader.misled)}"
    mislead = {name for name in reader.misled if name != ALL_ITEMS}
    more = f"; the pictures mislead it in {listed(mislead)}" if mislead else ""
    if ALL_ITEMS in reader.seen:
        return f"better with the pictures than without{more}"
    return f"better with the pictures than without in {listed(reader.seen)}{more}"


def listed(names: Mapping[str, object] | set[str]) -> str:
    return ", ".join("all items together" if name == ALL_ITEMS else name for name in sorted(names))
