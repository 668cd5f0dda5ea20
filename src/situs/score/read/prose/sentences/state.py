"""What is known of a sentence while it is walked, and what several classes of words do to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from situs.score.read.prose.beside import just_before
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.lexicon import Lexicon
from situs.score.read.prose.licence import Topic
from situs.score.read.prose.tokens import Token

__all__ = ["_LONGEST_LIST", "Course", "Scope", "SentenceState"]

_LONGEST_LIST = 60
"""Tokens of a list of subjects that is looked through for a verb."""


@dataclass(slots=True)
class Course:
    """How the reply has run so far, from sentence to sentence."""

    lexicon: Lexicon
    apart: bool
    """Every mention is a claim of its own."""
    subjects: bool
    """Whether mentions can have predicates ("B is wrong"); yes and no cannot."""
    topic: Topic | None = None
    """Words of the question and its options; None where answers need no licence."""
    single: bool = False
    """Whether only one answer can be right."""
    turns: int = 0
    carried: Role | None = None
    """The role that a heading ("Final answer") gives to the next sentence."""
    explaining: bool = False
    boxed: bool = False
    step_line: bool = False
    all_claims: list[Claim] = field(default_factory=list)


@dataclass(slots=True)
class Scope:
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
    lacking: bool = False
    """The negation is a "without", which ends where a clause with a subject of its own begins."""
    after_or: bool = False
    asked: bool = False
    """What follows repeats the question, up to a colon."""
    minor: bool = False
    """The next mention holds a little only."""
    likely: bool = False
    """The next mention is called likely."""
    of_several: bool = False
    """The certainty holds only for several mentions at once ("between A and B")."""


class SentenceState:
    """A sentence on its way from tokens to claims."""

    def __init__(self, course: Course, tokens: list[Token], asked: Statement | None) -> None:
        self.course = course
        self.tokens = tokens
        self.asked = asked
        self.base = Role.WEAK if course.explaining or course.step_line else Role.PLAIN
        if course.carried is not None:
            self.base = course.carried
            course.explaining = False
        self.scope = Scope(role=self.base)
        self.made: list[Claim] = []
        self.clause: list[Claim] = []
        self.denying = False
        """A "not" behind a mention whose predicate has not come yet."""
        self.named_before_not = 0
        """Claims of the clause that stood before that "not"."""
        self.announced: Role | None = None
        self.words = 0
        self.content = False
        """Whether there are words that matter beside the claims and the lexicon's."""
        self.led_by_words, self.weighed = False, 0
        """Whether words that matter stand before a mention,
        and how many tokens were looked at for that."""
        self.seeming = False
        """Whether something only seems so, as far as the clause goes."""
        self.dangling = False
        """Whether something is denied, and what is not clear ("A or, less likely, C")."""
        self.aside_ended = False
        """Whether a comma has come behind what others
        say ("the first reader chose A, I choose C")."""
        self.doubt_ended = False
        """Whether nothing but a comma parts a doubt from the answer that is announced all the
        same."""
        self.used_up = False
        """Whether an announcement has had its answer."""
        self.denied_list = False
        """Whether a "not" has come that a later "or" goes on with ("no X, Y or Z")."""
        self.contrasted = False
        """Whether a "but" has come whose answer has not."""
        self.typical = False
        """Whether the sentence speaks of others, as far as it has come."""
        self.noes = 0
        """How often "no" has stood before a noun."""
        self.anew = 0
        """Where the claims since the last "but" begin."""

    def _announce(self, role: Role) -> None:
        if self.scope.next_only:
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
        if self.scope.until_comma and self.scope.certainty is Certainty.ASIDE:
            self.scope.certainty, self.scope.until_comma = (
                Certainty.ASSERTED,
                False,
            )  # "despite …, the answer is"
        if self.doubt_ended and self.scope.certainty is Certainty.DOUBTED:
            self.scope.certainty = Certainty.ASSERTED  # "hard to say, I'd guess no"
        self.course.explaining = False
        self.announced = role if self.announced is None else max(self.announced, role)
        own = self.aside_ended and self.course.single
        if self.scope.role is not Role.WEAK or self.base is Role.WEAK or own:
            self.scope.role = max(self.scope.role, role)

    def _turn(self) -> None:
        self._end_clause()
        self.course.turns += 1
        self.course.explaining = False
        self.base = Role.PLAIN if self.base is Role.WEAK else self.base
        self.scope = Scope(role=max(self.base, self.announced or Role.WEAK))

    def _approve(self) -> None:
        for claim in self.clause:
            if self.denying:
                claim.negated = True
            elif claim.role in {Role.PLAIN, Role.LEAD}:
                claim.role = Role.CONCLUDED
            claim.verdict = True
        self.denying = False

    def _doubt_all(self) -> None:
        if self.scope.certainty is not Certainty.ASIDE:
            self.scope.certainty, self.scope.until_comma = Certainty.DOUBTED, False
        for claim in self.clause:
            if claim.certainty is not Certainty.ASIDE:
                claim.certainty = Certainty.DOUBTED

    def _followed_by(self, at: int, kinds: set[str]) -> bool:
        for token in self.tokens[at + 1 : at + 4]:
            if token.kind in kinds:
                return True
            if token.kind not in {"quote", "open", "close"} and token.text not in {"the", "a"}:
                return False
        return False

    def _ends_at(self, at: int) -> bool:
        return at >= len(self.tokens) or self.tokens[at].kind in {
            "comma",
            "contrast",
            "whereas",
            "dash",
        }

    def _same_clause(self, claim: Claim, at: int) -> bool:
        """Whether no comma, bracket or contrast stands between
        a claim and here ("12 mm (previously 15 mm)")."""
        between = [
            token
            for token in just_before(self.tokens, at, _LONGEST_LIST)
            if token.start >= claim.end
        ]
        return not any(
            token.kind in {"comma", "open", "contrast", "whereas", "dash", "and"}
            for token in between
        )

    def _end_clause(self, *, keep: bool = False) -> None:
        """A pending "not" denies what its clause named."""
        if self.denying:
            for index, claim in enumerate(self.clause):
                # "B is not enlarged and there is no A": the "no" of A is not undone by the "not" of
                # B.
                claim.negated = not claim.negated or index >= self.named_before_not
        self.denying = False
        if not keep:
            self.clause = []
