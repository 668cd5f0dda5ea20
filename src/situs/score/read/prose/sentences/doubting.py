"""Words that leave open, set a condition, compare or lead beside the main clause."""

from __future__ import annotations

from situs.score.read.prose.claims import Certainty, Role
from situs.score.read.prose.sentences.judging import Judging
from situs.score.read.prose.sentences.state import Scope
from situs.score.read.prose.tokens import Token

__all__ = ["Doubting"]


_LIKELY = frozenset({"probably", "likely", "very likely", "almost certainly", "definitely"})
_ROUGHLY = frozenset({"maybe", "perhaps"})


class Doubting(Judging):
    """Certainty."""

    def _on_maybe(self, token: Token, at: int) -> None:
        if self._is_named(at):
            self.made[-1].certainty = Certainty.DOUBTED
        elif self.course.apart and token.text in _ROUGHLY and self._announces():
            return  # "I'd say maybe 14 mm" is about as much
        else:
            self._doubt_all()

    def _announces(self) -> bool:
        """Whether the sentence gives what it says as its answer, before or behind."""
        return any(token.kind == "answer" for token in self.tokens)

    def _on_doubt(self, token: Token, at: int) -> None:
        self._doubt_all()

    def _on_odd(self, token: Token, at: int) -> None:
        """Until the next comma nothing is asserted; claims before the last comma stand."""
        if self.course.apart and "part" in token.text:
            return  # "5 whole vertebrae and 2 partly visible ones" leaves the five
        if self.scope.certainty is Certainty.ASSERTED:
            self.scope.certainty, self.scope.until_comma = Certainty.DOUBTED, True
        for claim in self.clause:
            if claim.certainty is Certainty.ASSERTED and claim.role is not Role.FINAL:
                claim.certainty = Certainty.DOUBTED

    def _on_if(self, token: Token, at: int) -> None:
        self.scope.certainty, self.scope.until_comma = Certainty.CONDITIONAL, False
        for claim in self.made:
            if claim.certainty is Certainty.ASSERTED and claim.turns == self.course.turns:
                claim.certainty = Certainty.CONDITIONAL

    _on_otherwise = _on_if

    def _on_or(self, token: Token, at: int) -> None:
        self.scope.after_or = True
        if token.text == "nor" or self.denied_list:
            self.scope.negated = True

    def _on_contrast(self, token: Token, at: int) -> None:
        if self.seeming:
            for claim in self.made[self.anew :]:
                claim.role = Role.WEAK if claim.role < Role.STATED else claim.role
        self._end_clause()
        self.contrasted = True
        self.denied_list = self.seeming = False
        role = self.base if self.scope.role is Role.WEAK else self.scope.role
        self.scope = Scope(role=role)
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
        near = token.text in {"versus", "vs", "vs ."} or not self.course.subjects
        if near and not self._followed_by(at, {"mention"}):
            return
        self._end_clause(keep=True)
        self.scope.certainty, self.scope.next_only = Certainty.ASIDE, True

    def _on_beats(self, token: Token, at: int) -> None:
        self._approve()
        self._on_than(token, at)

    def _on_over(self, token: Token, at: int) -> None:
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        moved = following is not None and following.text.startswith("to ")  # "over to the right"
        if self.clause and not moved and self._followed_by(at, {"mention"}):
            self._on_than(token, at)

    def _on_except(self, token: Token, at: int) -> None:
        self.scope.excepted = True

    def _on_options(self, token: Token, at: int) -> None:
        if self._followed_by(at, {"mention"}) or token.text in {"between", "out of"}:
            self.scope.certainty, self.scope.next_only = Certainty.ASIDE, True
            self.scope.of_several = token.text in {"between", "out of"}

    def _on_minor(self, token: Token, at: int) -> None:
        following = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
        if self.course.apart:
            if following in {"over", "under", "above", "below", "more", "less"}:
                self._on_odd(token, at)  # "a little over 8 cm" is no number yet
        else:
            self.scope.minor = True

    def _on_neutral(self, token: Token, at: int) -> None:
        self.scope.likely |= token.text in _LIKELY

    def _on_asked(self, token: Token, at: int) -> None:
        self.scope.certainty, self.scope.asked = Certainty.ASIDE, True

    def _on_likewise(self, token: Token, at: int) -> None:
        """ "So is D": as what was said last."""
        last = self.made[-1:] or self.course.all_claims[-1:]
        self.scope.negated = bool(last) and last[0].negated
        if self.made and self.made[-1].role is Role.WEAK and self.contrasted:
            self.scope.role = Role.WEAK  # "D seems plausible, but so does A"
            return
        if not self.made and not self.scope.negated:
            self.scope.role = max(self.scope.role, Role.CONCLUDED)  # "X is in the liver, as is B"
