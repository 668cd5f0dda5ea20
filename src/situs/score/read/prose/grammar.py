"""How a reply means the answers it mentions: asserted, denied, doubted, conditional, asked,
or only named beside another.

A sentence is walked once from left to right. A `_Scope` holds what the words so far do to the next
mention; a mention becomes a `Claim` with that scope; words behind it ("… is unlikely", "…: no", "…,
if it is 1 mm") change the claims of their clause. `situs.score.read.prose.resolve` then decides
between the claims.

The classes of words (data files in `words/`):
  final, answer       announce the answer ("final answer", "I choose"); conclude: "so", "therefore"
  first, turn         what is said only to be left ("at first"), and where the reply turns
                      ("wait", "correction")
  negate              "not", "isn't": before a mention it denies that; behind one, that one
  exclude             verbs that deny their object ("rule out"); deny, approve: predicates
                      ("unlikely", "correct", ✗, ✓)
  yes, no             a verdict on the mention before it ("C: yes", "B? No."); "no" before a noun
                      negates
  maybe, doubt, if, otherwise    nothing is asserted
  contrast            begins anew ("but"); whereas, reason, than, over: what follows is not the
                      answer
  except              what follows is left out of a whole
"""

from __future__ import annotations

from collections.abc import Sequence

from situs.score.read.prose.claims import Certainty, Statement
from situs.score.read.prose.lexicon import Lexicon
from situs.score.read.prose.licence import Topic, withhold_licence
from situs.score.read.prose.sentences import Course, Sentence
from situs.score.read.prose.tokens import Mention, Token, tokenise

__all__ = ["statements"]

_BREAKS = frozenset({"stop", "ask", "line"})
_TICKS = frozenset({"approve", "deny", "dash", "quote"})
"""What may stand before the letter of an item ("[x] A. …")."""
_HEADING_WORDS = 4
"""Words of a heading that announces what the next sentence says ("My final answer")."""
_FIRST_MENTIONS, _LAST_MENTIONS = 20, 100
"""Mentions that are weighed, from both ends, where answers stand;
the cap bounds the work on hostile replies."""


def statements(
    text: str,
    mentions: Sequence[Mention],
    lexicon: Lexicon,
    *,
    apart: bool = False,
    subjects: bool = True,
    question: str | None = None,
    offered: str = "",
    single: bool = False,
) -> list[Statement]:
    """The sentences of a cleaned reply, with the claims they make.

    `apart` makes a claim of every single mention instead of those in a row. Mentions that are no
    `subjects` (yes, no) have no predicates: "No: it is not seen" does not deny the no. Where the
    `question` is told (with the words `offered` as options), answers need a licence
    (`situs.score.read.prose.licence`). `single`: only one answer can be right, so that an
    announcement ("I'd say B") is used up by the first that follows it.
    """
    named = sorted(mentions, key=lambda mention: mention.start)
    if len(named) > _FIRST_MENTIONS + _LAST_MENTIONS:
        named = [*named[:_FIRST_MENTIONS], *named[-_LAST_MENTIONS:]]
    topic = None if question is None else Topic.of(question, offered)
    course = Course(lexicon, apart, subjects, topic, single)
    return _Walker(course).walk(tokenise(text, named, lexicon))


def _same_option(letter: Token, words: Token) -> bool:
    """Whether the words behind a letter name the same option ("B. the right")."""
    named = letter.mention is not None and words.mention is not None
    return named and letter.mention.value == words.mention.value  # type: ignore[union-attr]


class _Walker:
    def __init__(self, course: Course) -> None:
        self.course = course

    def walk(self, tokens: list[Token]) -> list[Statement]:
        found: list[Statement] = []
        sentence: list[Token] = []
        for index, token in enumerate(tokens):
            if token.kind not in _BREAKS or self._marks_item(tokens, index, sentence):
                sentence.append(token)
                continue
            self._sentence(sentence, token, found)
            if token.kind == "line":
                self.course.step_line = False
            sentence = []
        self._sentence(sentence, None, found)
        return found

    @staticmethod
    def _marks_item(tokens: list[Token], index: int, sentence: list[Token]) -> bool:
        """Whether the stop of "A. No" only marks an item of a list."""
        behind = [t for t in tokens[index + 1 : index + 3] if t.text not in {"the", "a", "an"}]
        following = behind[0] if behind else None
        return (
            tokens[index].text == "."
            and bool(sentence)
            and sentence[-1].kind == "mention"
            and len(sentence[-1].text.strip("()")) == 1
            and all(token.kind in _TICKS for token in sentence[:-1])
            and following is not None
            and (
                following.kind in {"yes", "no", "deny", "approve"}
                or _same_option(sentence[-1], following)
            )
        )

    def _sentence(self, tokens: list[Token], stop: Token | None, found: list[Statement]) -> None:
        if not tokens:
            return
        asked = found[-1] if found and found[-1].asks else None
        sentence = Sentence(self.course, tokens, asked)
        claims = sentence.claims()
        asks = stop is not None and stop.kind == "ask"
        if asks:
            for claim in claims:
                claim.certainty = Certainty.ASKED
        announced = sentence.announced if not claims and sentence.words <= _HEADING_WORDS else None
        keeps_heading = not claims and sentence.words == 0 and sentence.announced is None
        self.course.carried = self.course.carried if keeps_heading else announced
        self.course.all_claims += claims
        alone = bool(claims) and not sentence.content
        statement = Statement(
            tokens[0].start, tokens[-1].end, claims, asks, alone, sentence.announced
        )
        if self.course.topic is not None:
            bare = not self.course.subjects
            withhold_licence(statement, tokens, self.course.lexicon, self.course.topic, bare=bare)
        found.append(statement)
