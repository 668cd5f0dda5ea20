"""Words that announce, conclude, come first or speak of another time: how much a mention counts."""

from __future__ import annotations

from situs.score.read.prose.beside import just_before
from situs.score.read.prose.claims import Certainty, Role
from situs.score.read.prose.sentences.state import Scope, SentenceState
from situs.score.read.prose.tokens import Token

__all__ = ["Announcing"]

_SPEAKERS = frozenset({"i", "we", "i'd", "i've"})
_RELATIVE = _SPEAKERS | {"that", "which", "had"}
_ARROWS = frozenset({"→", "- >", "= >", "⇒"})


class Announcing(SentenceState):
    """The role of what follows or came before."""

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

    def _behind_copula(self, at: int) -> bool:
        return bool(self.clause) and any(
            token.text in {"is", "be", "are"} for token in just_before(self.tokens, at, 4)
        )

    def _on_conclude(self, token: Token, at: int) -> None:
        if token.text in _ARROWS and not self._followed_by(at, {"mention", "answer", "final"}):
            return  # "A → liver" says where A lies
        if token.text in {"remains", "remaining", "is left as"} and self.clause:
            self._approve()  # "only A remains"
            for claim in self.clause:
                claim.negated = False  # "after ruling out A, B and C, D remains"
        if token.text == "most likely" and self.clause and self._ends_at(at + 1):
            self._approve()  # "A most likely, B less so"
            return
        self._end_clause()
        self.denied_list = False
        self.scope = Scope(role=max(self.base, Role.CONCLUDED, self.announced or Role.WEAK))

    def _on_first(self, token: Token, at: int) -> None:
        if self._relates_to_last(token, at):
            self.made[-1].role = Role.WEAK  # "28 mm, not the 25 mm I first estimated"
            return
        self.scope.role = Role.WEAK
        beside = self.scope.certainty is Certainty.ASIDE
        for claim in self.clause if beside else self.made[self.anew :]:
            claim.role = Role.WEAK

    def _relates_to_last(self, token: Token, at: int) -> bool:
        """Whether "(that) I first thought" follows a mention at once,
        and is said of that one only."""
        if not self.made:
            return False
        near = just_before(self.tokens, at, 4)
        between = [one.text for one in near if one.start >= self.made[-1].end]
        says_who = token.text.split(" ")[0] in _SPEAKERS or not _SPEAKERS.isdisjoint(between)
        return says_who and len(between) < len(near) and _RELATIVE.issuperset(between)

    def _on_typical(self, token: Token, at: int) -> None:
        """What is so in others is not said of this patient, until "here" or "this" comes."""
        if not self.course.subjects and self.made and self._same_clause(self.made[-1], at):
            self.made[-1].role = Role.WEAK  # "the answer would be yes in most patients"
            return
        for claim in self.clause:
            claim.role = Role.WEAK
        if not self.clause:
            self.scope.role, self.typical = Role.WEAK, True

    def _on_as_usual(self, token: Token, at: int) -> None:
        """ "Usually the right, and this patient is no exception": what is so in others is so
        here."""
        for claim in self.made:
            if claim.role is Role.WEAK:
                claim.role, claim.verdict = Role.CONCLUDED, True

    def _on_elsewhere(self, token: Token, at: int) -> None:
        """Another time or source: not the answer is what it follows,
        else what comes until "here" or "now"."""
        if self.made and self._same_clause(self.made[-1], at):
            self.made[-1].role = Role.WEAK
        else:
            self.scope.role, self.typical = Role.WEAK, True

    def _on_settle(self, token: Token, at: int) -> None:
        self._turn()
        self._announce(Role.STATED)

    def _on_near(self, token: Token, at: int) -> None:
        if not self.course.apart and token.text != "close to":
            self._on_first(token, at)

    def _on_turn(self, token: Token, at: int) -> None:
        self._turn()
