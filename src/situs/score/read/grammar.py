"""How a reply means the answers it mentions: asserted, denied, doubted, conditional, asked,
or only named beside another.

A sentence is walked once from left to right. A `_Scope` holds what the words so far do to the next mention; a mention
becomes a `Claim` with that scope; words behind it ("… is unlikely", "…: no", "…, if it is 1 mm") change the claims of
their clause. `situs.score.read.resolve` then decides between the claims.

The classes of words (data files in `words/`):
  final, answer       announce the answer ("final answer", "I choose"); conclude: "so", "therefore"
  first, turn         what is said only to be left ("at first"), and where the reply turns ("wait", "correction")
  negate              "not", "isn't": before a mention it denies that; behind one, that one
  exclude             verbs that deny their object ("rule out"); deny, approve: predicates ("unlikely", "correct", ✗, ✓)
  yes, no             a verdict on the mention before it ("C: yes", "B? No."); "no" before a noun negates
  maybe, doubt, if, otherwise    nothing is asserted
  contrast            begins anew ("but"); whereas, reason, than, over: what follows is not the answer
  except              what follows is left out of a whole
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from situs.score.read.lexicon import Lexicon
from situs.score.read.tokens import Mention, Token, tokenise

__all__ = ["Certainty", "Claim", "Role", "Statement", "statements"]


class Role(IntEnum):
    """What a claim is in the reply; the higher, the more it counts."""

    WEAK = 0
    """A first guess, a step of the reasoning, an explanation."""
    PLAIN = 1
    LEAD = 2
    """Stands alone, or at the head of its sentence."""
    CONCLUDED = 3
    STATED = 4
    FINAL = 5


class Certainty(Enum):
    """How sure a claim is."""

    ASSERTED = "asserted"
    DOUBTED = "doubted"
    CONDITIONAL = "conditional"
    ASKED = "asked"
    ASIDE = "aside"


@dataclass(slots=True)
class Claim:
    """One or more answers named together, and how they are meant."""

    values: tuple[Hashable, ...]
    start: int
    end: int
    role: Role = Role.PLAIN
    certainty: Certainty = Certainty.ASSERTED
    negated: bool = False
    alternatives: bool = False
    """Joined by "or": one of them, which is not said."""
    verdict: bool = False
    """Judged one by one ("A: no")."""
    turns: int = 0
    """How often the reply had turned ("wait", "actually") before it."""
    excepted: bool = False
    retracted: bool = False

    @property
    def asserted(self) -> bool:
        """Whether the reply says that this is so."""
        return self.certainty is Certainty.ASSERTED and not self.negated and not self.retracted and not self.excepted

    @property
    def denied(self) -> bool:
        """Whether the reply says that this is not so."""
        return self.certainty is Certainty.ASSERTED and self.negated


@dataclass(slots=True)
class Statement:
    """A sentence with its claims."""

    start: int
    end: int
    claims: list[Claim]
    asks: bool
    alone: bool
    """Nothing but its claims and words that do not matter."""
    announced: Role | None = None
    """The role that it announces ("Final answer: …"), with or without a claim."""


@dataclass(slots=True)
class _Scope:
    """What the words so far do to the next mention."""

    role: Role = Role.PLAIN
    certainty: Certainty = Certainty.ASSERTED
    negated: bool = False
    whole_list: bool = False
    """The negation reaches over commas ("excluded: A, B")."""
    until_comma: bool = False
    """The certainty ends with the next comma: a concession or reason before the main clause."""
    next_only: bool = False
    """The certainty ends with the next mention ("than …")."""
    excepted: bool = False
    asked: bool = False
    """What follows repeats the question, up to a colon."""
    of_several: bool = False
    """The certainty holds only for several mentions at once ("between A and B")."""


_BREAKS = frozenset({"stop", "ask", "line"})
_GLUE = frozenset({"comma", "and", "or", "slash", "open", "close", "quote", "boxed", "unboxed", "colon", "dash"})
_LINKS = frozenset(
    {"the", "a", "an", "option", "options", "mark", "marks", "point", "letter", "choice", "i.e", "also", "slice", "to"}
)
_FIRST_MENTIONS, _LAST_MENTIONS = 20, 100
"""Mentions that are weighed, from both ends, where answers stand; the cap bounds the work on hostile replies."""
_MOST_GLUE = 8
"""Tokens between two mentions that are still one list."""


@dataclass(slots=True)
class _Group:
    """Mentions in a row, joined by nothing but commas, "and" and brackets."""

    mentions: list[Mention]
    joined: set[str] = field(default_factory=set)
    start: int = 0
    end: int = 0
    boxed: bool = False


def statements(
    text: str, mentions: Sequence[Mention], lexicon: Lexicon, *, apart: bool = False, subjects: bool = True
) -> list[Statement]:
    """The sentences of a cleaned reply, with the claims they make.

    `apart` makes a claim of every single mention instead of those in a row. Mentions that are no `subjects` (yes, no)
    have no predicates: "No: it is not seen" does not deny the no.
    """
    named = sorted(mentions, key=lambda mention: mention.start)
    if len(named) > _FIRST_MENTIONS + _LAST_MENTIONS:
        named = [*named[:_FIRST_MENTIONS], *named[-_LAST_MENTIONS:]]
    return _Walker(text, lexicon, apart, subjects).walk(tokenise(text, named, lexicon))


class _Walker:
    def __init__(self, text: str, lexicon: Lexicon, apart: bool, subjects: bool) -> None:
        self.text = text
        self.apart = apart
        self.subjects = subjects
        self.lexicon = lexicon
        self.turns = 0
        self.carried: Role | None = None
        """The role that a heading ("Final answer") gives to the next sentence."""
        self.explaining = False
        self.boxed = False
        self.step_line = False
        self.all_claims: list[Claim] = []

    def walk(self, tokens: list[Token]) -> list[Statement]:
        found: list[Statement] = []
        sentence: list[Token] = []
        for index, token in enumerate(tokens):
            if token.kind not in _BREAKS or self._marks_item(tokens, index, sentence):
                sentence.append(token)
                continue
            self._sentence(sentence, token, found)
            if token.kind == "line":
                self.step_line = False
            sentence = []
        self._sentence(sentence, None, found)
        return found

    @staticmethod
    def _marks_item(tokens: list[Token], index: int, sentence: list[Token]) -> bool:
        """Whether the stop of "A. No" only marks an item of a list."""
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        return (
            tokens[index].text == "."
            and len(sentence) == 1
            and sentence[0].kind == "mention"
            and len(sentence[0].text.strip("()")) == 1
            and following is not None
            and following.kind in {"yes", "no", "deny", "approve", "mention"}
        )

    def _sentence(self, tokens: list[Token], stop: Token | None, found: list[Statement]) -> None:
        if not tokens:
            return
        asked = found[-1] if found and found[-1].asks else None
        sentence = _Sentence(self, tokens, asked)
        claims = sentence.claims()
        asks = stop is not None and stop.kind == "ask"
        if asks:
            for claim in claims:
                claim.certainty = Certainty.ASKED
        announced = sentence.announced if not claims and sentence.words <= _HEADING_WORDS else None
        keeps_heading = not claims and sentence.words == 0 and sentence.announced is None
        self.carried = self.carried if keeps_heading else announced
        self.all_claims += claims
        alone = bool(claims) and not sentence.content
        statement = Statement(tokens[0].start, tokens[-1].end, claims, asks, alone, sentence.announced)
        found.append(statement)


_HEADING_WORDS = 4


class _Sentence:
    """One sentence on its way from tokens to claims."""

    def __init__(self, walker: _Walker, tokens: list[Token], asked: Statement | None) -> None:
        self.walker = walker
        self.tokens = tokens
        self.asked = asked
        self.base = Role.WEAK if walker.explaining or walker.step_line else Role.PLAIN
        if walker.carried is not None:
            self.base = walker.carried
            walker.explaining = False
        self.scope = _Scope(role=self.base)
        self.made: list[Claim] = []
        self.clause: list[Claim] = []
        self.denying = False
        """A "not" behind a mention whose predicate has not come yet."""
        self.announced: Role | None = None
        self.words = 0
        self.content = False
        """Whether there are words that matter beside the claims and the lexicon's."""
        self.anew = 0
        """Where the claims since the last "but" begin."""

    def claims(self) -> list[Claim]:
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.kind == "mention":
                group, after = self._group(at)
                self._claim(group, at, after)
                at = after
                continue
            self._signal(token, at)
            at += 1
        self._end_clause()
        return self.made

    # mentions

    def _group(self, at: int) -> tuple[_Group, int]:
        """The mentions that stand in a row from here on, and where the row ends."""
        first = self.tokens[at]
        assert first.mention is not None
        group = _Group([first.mention], start=first.start, end=first.end, boxed=self.walker.boxed)
        end = at + 1
        while not self.walker.apart and (following := self._next_mention(end)) is not None:
            between = self.tokens[end:following]
            token = self.tokens[following]
            assert token.mention is not None
            kinds = {part.kind for part in between}
            if self._begins_anew(group, between, following):
                break
            group.joined |= kinds & {"or", "slash", "and", "comma"}
            group.boxed |= "boxed" in kinds
            if not between and token.mention.value != group.mentions[-1].value:
                group.joined.add("comma")
            group.mentions.append(token.mention)
            group.end = token.end
            end = following + 1
        return group, end

    def _next_mention(self, at: int) -> int | None:
        for index in range(at, min(at + _MOST_GLUE, len(self.tokens))):
            token = self.tokens[index]
            if token.kind == "mention":
                return index
            if token.kind not in _GLUE and not (token.kind == "word" and token.text in _LINKS):
                return None
        return None

    def _begins_anew(self, group: _Group, between: list[Token], following: int) -> bool:
        """Whether "…, B is wrong" begins a clause of its own instead of going on with the list."""
        token = self.tokens[following]
        assert token.mention is not None
        if token.mention.value == group.mentions[-1].value or any(
            part.kind in {"and", "or", "slash"} for part in between
        ):
            return False
        kinds = {part.kind for part in between}
        if kinds & {"colon", "dash"} and len(self.tokens[following - len(between) - 1].text) > 1:
            return True  # "not in front: to the left"
        after = self.tokens[following + 1] if following + 1 < len(self.tokens) else None
        if after is None:
            return False
        if kinds & {"comma", "dash"}:
            is_verb = after.kind in {"word", "negate"} and after.text in self.walker.lexicon.verbs
            return is_verb or (after.kind == "colon" and not self._colon_names(following))
        return False

    def _colon_names(self, at: int) -> bool:
        """Whether the colon behind a mention only leads to the words of the same option ("B: the gallbladder")."""
        mention = self.tokens[at].mention
        following = self._next_mention(at + 1)
        other = self.tokens[following].mention if following is not None else None
        return mention is not None and other is not None and other.value == mention.value

    def _claim(self, group: _Group, at: int, after: int) -> None:
        scope = self.scope
        live = [mention for mention in group.mentions if not mention.idle]
        idle = not live
        named = live or group.mentions
        values = tuple(dict.fromkeys(mention.value for mention in named))
        role = Role.FINAL if group.boxed or self.walker.boxed else scope.role
        if role is Role.PLAIN and self._leads(at, after):
            role = Role.LEAD
        if scope.of_several and len(values) == 1:
            scope.certainty, scope.of_several = Certainty.ASSERTED, False
        claim = Claim(
            values,
            group.start,
            group.end,
            role=role,
            certainty=Certainty.ASIDE if idle else scope.certainty,
            negated=scope.negated,
            alternatives=len(values) > 1 and "or" in group.joined and not scope.negated,
            turns=self.walker.turns,
            excepted=scope.excepted,
        )
        if (
            scope.negated
            and len(values) > 1
            and not scope.whole_list
            and "comma" in group.joined
            and not group.joined & {"or", "and"}
        ):
            claim.certainty = Certainty.DOUBTED  # "not A, B": is B the answer?
        self.made.append(claim)
        if self.walker.subjects:
            self.clause.append(claim)
        following = self.tokens[after] if after < len(self.tokens) else None
        if not scope.whole_list and not (following is not None and following.kind == "or"):
            scope.negated = False
        if scope.next_only:
            scope.certainty, scope.next_only = Certainty.ASSERTED, False

    def _leads(self, at: int, after: int) -> bool:
        """Whether a mention heads its sentence and is followed by nothing, a mark or a reason."""
        if any(token.kind == "word" and token.text not in self.walker.lexicon.fillers for token in self.tokens[:at]):
            return False
        following = self.tokens[after] if after < len(self.tokens) else None
        beyond = self.tokens[after + 1] if after + 1 < len(self.tokens) else None
        labels = following is not None and following.kind == "colon" and self.walker.subjects
        if labels and beyond is not None and beyond.text[:1].isdigit():
            return False  # "Left: 152 mL" labels a measure
        return not self.walker.subjects or following is None or following.kind in {
            "comma", "dash", "colon", "reason", "open", "close", "unboxed", "quote", "contrast", "whereas",
            "than", "approve", "if", "stop",
        }  # fmt: skip

    # words

    def _signal(self, token: Token, at: int) -> None:
        handler = getattr(self, f"_on_{token.kind}", None)
        if handler is not None:
            handler(token, at)

    def _on_word(self, token: Token, at: int) -> None:
        self.words += 1
        if token.text not in self.walker.lexicon.fillers and not token.text.isdigit() and len(token.text) > 1:
            self.content = True

    def _on_final(self, token: Token, at: int) -> None:
        self._announce(Role.FINAL)

    def _on_answer(self, token: Token, at: int) -> None:
        if (
            self.made
            and token.text in {"choice", "choices", "answer", "selected", "chosen"}
            and self._behind_copula(at)
        ):
            self._approve()  # "B is the answer"
            return
        self._announce(Role.STATED)

    def _announce(self, role: Role) -> None:
        self.walker.explaining = False
        if self.announced is None or role > self.announced:
            self.announced = role
        if self.scope.role is not Role.WEAK or self.base is Role.WEAK:
            self.scope.role = max(self.scope.role, role)

    def _behind_copula(self, at: int) -> bool:
        return bool(self.clause) and any(
            token.text in {"is", "be", "are"} for token in self.tokens[max(0, at - 4) : at]
        )

    def _on_conclude(self, token: Token, at: int) -> None:
        self._end_clause()
        self.scope = _Scope(role=max(self.base, Role.CONCLUDED, self.announced or Role.WEAK))

    def _on_first(self, token: Token, at: int) -> None:
        self.scope.role = Role.WEAK
        for claim in self.made[self.anew :]:
            claim.role = Role.WEAK

    def _on_turn(self, token: Token, at: int) -> None:
        self._turn()

    def _turn(self) -> None:
        self._end_clause()
        self.walker.turns += 1
        self.walker.explaining = False
        self.base = Role.PLAIN if self.base is Role.WEAK else self.base
        self.scope = _Scope(role=max(self.base, self.announced or Role.WEAK))

    def _on_negate(self, token: Token, at: int) -> None:
        if self.clause and not self._faces_mention(at + 1):
            self.denying = not self.denying
        else:
            self.scope.negated = not self.scope.negated
            self.scope.whole_list = token.text in {"neither"}

    def _faces_mention(self, at: int) -> bool:
        """Whether a mention follows at once, but for articles and prepositions."""
        for token in self.tokens[at : at + 4]:
            if token.kind == "mention":
                return True
            if (
                token.kind != "word"
                or token.text not in self.walker.lexicon.fillers
                or token.text in self.walker.lexicon.verbs - {"is", "are"}
            ):
                return False
        return False

    def _on_exclude(self, token: Token, at: int) -> None:
        if self.denying or self.scope.negated:
            self._doubt_all()
            return
        self.scope.negated = self.scope.whole_list = True

    def _on_deny(self, token: Token, at: int) -> None:
        if self.clause:
            if self.denying:
                self._doubt_all()
            for claim in self.clause:
                claim.negated, claim.verdict = True, True
            self.clause = []
            self.denying = False
            return
        self.scope.negated = not self.scope.negated
        self.scope.whole_list = self._followed_by(at, {"colon", "mention"})

    def _on_approve(self, token: Token, at: int) -> None:
        if self.clause:
            self._approve()
        elif self._followed_by(at, {"colon", "mention"}):
            self._announce(Role.CONCLUDED)

    def _approve(self) -> None:
        for claim in self.clause:
            if self.denying:
                claim.negated = True
            elif claim.role in {Role.PLAIN, Role.LEAD}:
                claim.role = Role.CONCLUDED
            claim.verdict = True
        self.denying = False

    def _on_yes(self, token: Token, at: int) -> None:
        if self._is_verdict(at):
            for claim in self.clause:
                claim.role, claim.verdict = max(claim.role, Role.CONCLUDED), True
            self.clause = []
        elif at == 0 and self.asked is not None:
            for claim in self.asked.claims:
                claim.certainty, claim.role = Certainty.ASSERTED, Role.CONCLUDED

    def _on_no(self, token: Token, at: int) -> None:
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        ends = following is None or following.kind in {"comma", "dash", "colon", "quote", "close", "unboxed"}
        if self._is_verdict(at) and ends:
            for claim in self.clause:
                claim.negated, claim.verdict = True, True
            self.clause = []
        elif at == 0 and self.asked is not None and self.asked.claims:
            for claim in self.asked.claims:
                claim.certainty, claim.negated = Certainty.ASSERTED, True
        elif ends:
            if self.walker.all_claims or self.made:
                self._turn()
                for claim in (*self.walker.all_claims, *self.made):
                    claim.retracted = True
                self.walker.all_claims = []
        else:
            self.scope.negated = self.scope.whole_list = True

    def _is_verdict(self, at: int) -> bool:
        """Whether a yes or no judges the mention before it: nothing but marks stands between."""
        if not self.clause or at == 0:
            return False
        before = self.tokens[at - 1].kind
        return before in {"colon", "dash", "mention", "close", "stop", "quote", "open"}

    def _on_maybe(self, token: Token, at: int) -> None:
        self._doubt_all()

    def _on_doubt(self, token: Token, at: int) -> None:
        self._doubt_all()

    def _doubt_all(self) -> None:
        if self.scope.certainty is not Certainty.ASIDE:
            self.scope.certainty, self.scope.until_comma = Certainty.DOUBTED, False
        for claim in self.clause:
            if claim.certainty is not Certainty.ASIDE:
                claim.certainty = Certainty.DOUBTED

    def _on_if(self, token: Token, at: int) -> None:
        self.scope.certainty, self.scope.until_comma = Certainty.CONDITIONAL, False
        for claim in self.made:
            if claim.certainty is Certainty.ASSERTED and claim.turns == self.walker.turns:
                claim.certainty = Certainty.CONDITIONAL

    _on_otherwise = _on_if

    def _on_or(self, token: Token, at: int) -> None:
        if token.text == "nor":
            self.scope.negated = True

    def _on_contrast(self, token: Token, at: int) -> None:
        self._end_clause()
        role = self.base if self.scope.role is Role.WEAK else self.scope.role
        self.scope = _Scope(role=role)
        self.anew = len(self.made)
        if self.made and all(not claim.asserted or claim.role is Role.WEAK for claim in self.made):
            # "not A but B", "at first A, but B": what follows is the answer.
            self.scope.role = max(role, Role.CONCLUDED)

    def _on_whereas(self, token: Token, at: int) -> None:
        self._aside(at)

    def _on_reason(self, token: Token, at: int) -> None:
        self._aside(at)

    def _aside(self, at: int) -> None:
        """Beside the main clause: to the end if that came before, else to the next comma."""
        self._end_clause()
        self.scope.certainty = Certainty.ASIDE
        self.scope.until_comma = not self.made
        self.scope.negated = False

    def _on_than(self, token: Token, at: int) -> None:
        self._end_clause(keep=True)
        self.scope.certainty, self.scope.next_only = Certainty.ASIDE, True

    def _on_over(self, token: Token, at: int) -> None:
        if self.clause and self._followed_by(at, {"mention"}):
            self._on_than(token, at)

    def _on_except(self, token: Token, at: int) -> None:
        self.scope.excepted = True

    def _on_explain(self, token: Token, at: int) -> None:
        if not token.text.endswith(":") and len(self.tokens) > 1 and not self._followed_by(at, {"colon"}):
            self._on_word(token, at)
            return
        self.walker.explaining = True
        self.walker.carried = None
        self.base = Role.WEAK
        self.scope.role = Role.WEAK

    def _on_step(self, token: Token, at: int) -> None:
        if at == 0:
            self.walker.step_line = True
            self.base = Role.WEAK
            self.scope.role = Role.WEAK
        else:
            self._on_word(token, at)

    def _on_options(self, token: Token, at: int) -> None:
        if self._followed_by(at, {"mention"}) or token.text in {"between", "out of"}:
            self.scope.certainty, self.scope.next_only = Certainty.ASIDE, True
            self.scope.of_several = token.text in {"between", "out of"}

    def _on_asked(self, token: Token, at: int) -> None:
        self.scope.certainty, self.scope.asked = Certainty.ASIDE, True

    def _on_likewise(self, token: Token, at: int) -> None:
        """ "So is D": as what was said last."""
        last = self.made[-1:] or self.walker.all_claims[-1:]
        self.scope.negated = bool(last) and last[0].negated

    def _followed_by(self, at: int, kinds: set[str]) -> bool:
        for token in self.tokens[at + 1 : at + 4]:
            if token.kind in kinds:
                return True
            if token.kind not in {"quote", "open", "close"} and token.text not in {"the", "a"}:
                return False
        return False

    # marks

    def _on_comma(self, token: Token, at: int) -> None:
        self._end_clause()
        if not self.scope.whole_list:
            self.scope.negated = False
        if self.scope.until_comma:
            self.scope.certainty, self.scope.until_comma = Certainty.ASSERTED, False
            self.scope.role = self.base

    def _on_colon(self, token: Token, at: int) -> None:
        if self.denying:
            self._end_clause(keep=True)
        if not self.scope.whole_list or self.made:
            self.scope.negated = self.scope.whole_list = False
        if self.scope.asked:
            self.scope.certainty, self.scope.asked = Certainty.ASSERTED, False

    def _on_dash(self, token: Token, at: int) -> None:
        self._on_colon(token, at)

    def _on_boxed(self, token: Token, at: int) -> None:
        self.walker.boxed = True
        self.scope = _Scope(role=Role.FINAL)

    def _on_unboxed(self, token: Token, at: int) -> None:
        self.walker.boxed = False
        self.scope = _Scope(role=self.base)

    def _end_clause(self, *, keep: bool = False) -> None:
        """A pending "not" denies what its clause named."""
        if self.denying:
            for claim in self.clause:
                claim.negated = not claim.negated
        self.denying = False
        if not keep:
            self.clause = []
