"""Sentences in another order, or with words left out, put back as the grammar has them.

"On axial slices, what is …" asks what "what is … on axial slices" asks, and "volume of … in mL?"
what "what is the volume of … in mL?" does. No word is added but those of a closed list, and none is
taken away but words that say nothing: so what a text cannot say in the grammar's own order it
cannot say in another one. A text that could be put back in two ways with two meanings has both, and
is refused as ambiguous.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from situs.items.programs.language import load_language
from situs.items.programs.names import Tokens, tokens_of

__all__ = ["restored"]

_LONGEST = 60
"""Words of a sentence that is put back: each place of each part is tried."""
_CLAUSE = re.compile(r"[,:;()]")
_BRACKET = re.compile(r"\(([^()]*)\)")
_SIDE_WORDS = {
    **dict.fromkeys(("left", "leftmost", "leftward", "leftwards"), "left"),
    **dict.fromkeys(("right", "rightmost", "rightward", "rightwards"), "right"),
}
_AMONG = ("among", "amongst")
_PRONOUNS = ("it", "its", "they", "their", "them")
_JOINS = frozenset(("of", "to", "than", "from", "and", "or", "'s"))
"""Words that belong to what stands before them."""
_BEFORE_PRONOUN = 6
"""A pronoun further on may stand for something named since."""


def restored(text: str) -> Iterator[Tokens]:
    """The sentences that a text may stand for, each once; not the text itself."""
    clauses = _with_members(_clauses(text))
    is_asked = text.rstrip().endswith("?")
    if len(sum(clauses, ())) > _LONGEST:
        return
    tried: set[Tokens] = set()
    for way in _orders(clauses):
        for tokens in _completed(way) if is_asked else (way,):
            if tokens not in tried:
                tried.add(tokens)
                yield tokens


def _clauses(text: str) -> list[Tokens]:
    """The parts between commas, colons and brackets, without the last mark and without what says
    nothing."""
    body = text.strip()[:-1] if text.strip().endswith(("?", ".")) else text
    body = _BRACKET.sub(lambda bracket: "" if _is_aside(bracket, body) else bracket[0], body)
    parts = (tokens_of(part) for part in _CLAUSE.split(body))
    kept = (_without_fillers(part) for part in parts)
    return [_without_request(part) for part in kept if part]


def _without_fillers(clause: Tokens) -> Tokens:
    """The part without words that say nothing, where such a word can stand: "is {A} actually", but
    not "the actually largest"."""
    restore = load_language().restore
    kept = []
    for at, token in enumerate(clause):
        before, after = clause[:at][-1:], clause[at + 1 : at + 2]
        is_beside = token in restore.polite and before and after
        splits = {*before} & restore.ties or {*after} & {*restore.units, *_JOINS}
        if token not in restore.fillers or is_beside or splits:
            kept.append(token)
    return tuple(kept)


def _with_members(clauses: list[Tokens]) -> list[Tokens]:
    """ "Which organ … among those that …": the organs in the place of `those`."""
    sentence = sum(clauses, ())
    asked = next((n for n, token in enumerate(sentence) if token in ("which", "what")), None)
    if asked is None:
        return clauses
    for forms in load_language().klass.values():
        one = (tokens_of(text) for text in forms["s"])
        if any(sentence[asked + 1 : asked + 1 + len(words)] == words for words in one):
            return [_named(clause, tokens_of(forms["p"][0])) for clause in clauses]
    return clauses


def _named(clause: Tokens, several: Tokens) -> Tokens:
    """The part with the noun in the place of `those` or `the ones`, where no noun follows."""
    restore = load_language().restore
    for opening, words in itertools.product(restore.among, map(tokens_of, restore.members)):
        before = (*tokens_of(opening), *words)
        for at in range(len(clause) - len(before)):
            end = at + len(before)
            if clause[at:end] == before and clause[end : end + len(several)] != several:
                return (*clause[:at], "among", *several, *clause[end:])
    return clause


def _is_aside(bracket: re.Match[str], sentence: str) -> bool:
    """Whether a bracket only says whose left or right the sentence means."""
    if bracket[1].lower().replace("’", "'") not in load_language().restore.asides:
        return False
    beside = (*tokens_of(sentence[: bracket.start()]), *tokens_of(sentence[bracket.end() :]))
    words = _SIDE_WORDS.keys()
    named = {_SIDE_WORDS[token] for token in beside if token in words}
    return named == {side for side in ("left", "right") if side in bracket[1].lower()}


def _without_request(clause: Tokens) -> Tokens:
    """The part without a request in front of it: "may I ask which", "could you check whether"."""
    restore = load_language().restore
    for words in restore.requests:
        asks = tokens_of(words)
        if clause[: len(asks)] == asks and len(clause) > len(asks):
            asked = clause[len(asks) :]
            return ("tell", "me", *asked) if asked[0] in ("whether", "if") else asked
    return ("in", *clause) if len(clause) == 1 and clause[0] in restore.units else clause


def _orders(clauses: list[Tokens]) -> Iterator[Tokens]:
    """The sentence as it is, with its topic for the pronoun, and with each part that may be moved
    in each place.

    Only whole parts are moved, and none into another one: nobody says "In front is {A} of {B}".
    """
    ties = load_language().restore.ties
    yield sum(clauses, ())
    yield from _with_topic(clauses)
    for clause, remainder in _movable(clauses):
        if clause[-1] in ties or remainder[-1] in ties:
            continue
        for at, before in enumerate(remainder, start=1):
            if before not in ties and not {*remainder[at : at + 1]} & _JOINS:
                yield (*remainder[:at], *clause, *remainder[at:])
        if clause[0] in _AMONG:
            yield (*clause, *remainder)


def _movable(clauses: list[Tokens]) -> Iterator[tuple[Tokens, Tokens]]:
    """Each part that says where, how or of what, and the sentence without it."""
    restore = load_language().restore
    for number, clause in enumerate(clauses):
        remainder = sum((*clauses[:number], *clauses[number + 1 :]), ())
        if _only_names(remainder):
            # As in: "Closer to {A}: {B} or {C}?" Behind {B} it would say that {B} is closer.
            continue
        if remainder and clause[0] in restore.moves:
            yield clause, remainder
        elif number == 0 and len(clauses) == 2 and clause[0] not in restore.opens:
            # As in: {A}: volume in mL?
            yield ("of", *clause), remainder
    sentence = sum(clauses, ())
    for at, token in enumerate(sentence):
        # Without a comma, a part reaches from the beginning to the question, or to the end.
        if at > 1 and token in restore.opens and sentence[0] in restore.moves:
            yield sentence[:at], sentence[at:]
        # Behind a thing it would be read as part of that thing's description.
        is_free = at > 1 and ("{" not in sentence[at - 1] or token in _AMONG)
        # "Which has the largest volume touching {A}?" may speak of what touches.
        is_free &= sentence[at - 1] != "volume" or token in (*_AMONG, "of")
        is_free &= at < len(sentence) - 1
        if is_free and token in restore.moves and sentence[0] in ("which", "what"):
            yield sentence[at:], sentence[:at]


def _only_names(sentence: Tokens) -> bool:
    """Whether a sentence only names two things to choose from."""
    opens = load_language().restore.opens
    return "or" in sentence and not any(token in opens for token in sentence)


def _with_topic(clauses: list[Tokens]) -> Iterator[Tokens]:
    """ "Looking at {A}, does it …": the thing in the place of the pronoun."""
    if len(clauses) < 2:
        return
    topic, remainder = clauses[0], sum(clauses[1:], ())
    for words in load_language().restore.topics:
        opening = tokens_of(words)
        thing = topic[len(opening) :]
        if topic[: len(opening)] != opening or not thing:
            continue
        at = next((n for n, token in enumerate(remainder) if token in _PRONOUNS), None)
        if at is None:
            # As in: if you compare {A} and {B}, which …
            yield ("of", *thing, *remainder)
        elif at <= _BEFORE_PRONOUN and not any("{" in token for token in remainder[:at]):
            owner = ("'s",) if remainder[at] in ("its", "their") else ()
            yield (*remainder[:at], *thing, *owner, *remainder[at + 1 :])


def _completed(tokens: Tokens) -> Iterator[Tokens]:
    """The sentence, and if it has no verb in front, with each of those that may be left out.

    Only of what ends as a question: "{A} on the patient's left." is a statement.
    """
    yield tokens
    restore = load_language().restore
    if tokens[0] not in restore.opens:
        for words in restore.heads:
            yield (*tokens_of(words), *tokens)
