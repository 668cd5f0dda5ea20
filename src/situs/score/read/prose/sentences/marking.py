"""Commas, colons and dashes: where the reach of a word ends."""

from __future__ import annotations

from situs.score.read.prose.claims import Certainty, Role
from situs.score.read.prose.sentences.judging import Judging
from situs.score.read.prose.sentences.state import Scope
from situs.score.read.prose.tokens import Token

__all__ = ["Marking"]

_LONGEST_DENIAL = 4
"""Tokens before the colon of a heading that denies what follows ("Not visible on this slice:")."""


class Marking(Judging):
    """The borders of clauses."""

    def _on_comma(self, token: Token, at: int) -> None:
        self.aside_ended = self.scope.role is Role.WEAK and bool(self.made)
        self._end_clause(keep=self._faces_verdict(at))
        beside = [one.kind for one in self.tokens[max(0, at - 1) : at + 2 : 2]]
        self.doubt_ended = not self.made and beside == ["doubt", "answer"]
        following = [token.text for token in self.tokens[at + 1 : at + 3]]
        if following[:1] == ["and"] and following[1:] in (["a"], ["an"], ["there"]):
            # "… but no sprain, and an effusion": what is named with an article is there.
            self.scope.negated = self.scope.whole_list = self.denied_list = False
        if not self.scope.whole_list:
            self.scope.negated = False
        if self.scope.next_only and not self.scope.of_several:
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
        if self.scope.until_comma:
            self.scope.certainty, self.scope.until_comma = Certainty.ASSERTED, False
            self.scope.role = self.base

    def _on_colon(self, token: Token, at: int) -> None:
        self.denied_list = False
        if self.scope.next_only:
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
        if self.scope.until_comma and self._ends_with_mention(at):
            # "… would have been marked: no" gives its answer behind the colon.
            self.scope.certainty, self.scope.until_comma = Certainty.ASSERTED, False
        if self.denying:
            self._end_clause(keep=True)
        if self._heads_denied(at):
            self.scope.whole_list = True
        elif (
            not self.scope.whole_list or self.made or not self.course.subjects or self.course.apart
        ):
            self.scope.negated = self.scope.whole_list = False
        if self.scope.asked:
            self.scope.certainty, self.scope.asked = Certainty.ASSERTED, False
        following = [token.text for token in self.tokens[at + 1 : at + 3]]
        if self.scope.role is Role.WEAK and self.made and following[:1] == ["it's"]:
            self.scope.role = max(self.base, Role.CONCLUDED)  # "first B, then I saw it: it's A"

    def _ends_with_mention(self, at: int) -> bool:
        behind = [token.kind for token in self.tokens[at + 1 :]]
        if at and self.tokens[at - 1].kind == "odd":
            return False  # "Second best: B" is said of what follows
        return behind[:1] == ["mention"] and not set(behind[1:]) - {"stop", "quote", "close"}

    def _heads_denied(self, at: int) -> bool:
        """Whether "Not visible:" heads a list of what is denied."""
        listing = self.course.subjects and not self.course.apart and not self.course.single
        return (
            listing
            and 1 < at <= _LONGEST_DENIAL
            and self.tokens[0].kind == "negate"
            and not self.made
        )

    def _on_dash(self, token: Token, at: int) -> None:
        self._on_colon(token, at)

    def _on_boxed(self, token: Token, at: int) -> None:
        self.course.boxed = True
        self.scope = Scope(role=Role.FINAL)

    def _on_unboxed(self, token: Token, at: int) -> None:
        self.course.boxed = False
        self.scope = Scope(role=self.base)
