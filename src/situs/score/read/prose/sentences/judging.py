"""Words that deny or approve what stands before or behind them."""

from __future__ import annotations

from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.claims import Certainty, Role
from situs.score.read.prose.sentences.state import _LONGEST_LIST, SentenceState
from situs.score.read.prose.tokens import Token

__all__ = ["Judging"]

_NAMING = frozenset(
    {
        "would be a",
        "would",
        "is",
        "was",
        "be",
        "must",
        "a",
        "the",
        "simply",
        "clearly",
        "plainly",
        "'",
        '"',
    }
)
"""What may stand between a yes or no and the word that judges it."""
_THE_REST = frozenset({"others", "rest", "other", "remaining", "else"})
"""What a "no" behind it denies is not what was said before ("B: yes; the others, no")."""
_LONGEST_HEADING = 2
"""Tokens before the last word of a heading ("These are wrong: A, B")."""
_LONGEST_VERDICT = 5
"""Tokens of "no focal lesion present", which judges what stands before its colon."""
_LETTER = 3
"""Characters of a letter with its brackets."""
_NAMED_WITHIN = 6
"""Tokens that may stand there."""


class Judging(SentenceState):
    """Negation and verdicts."""

    def _on_negate(self, token: Token, at: int) -> None:
        self.denied_list = not self.clause
        if self.clause and not self._faces_mention(at + 1):
            self.denying = not self.denying
            self.named_before_not = len(self.clause)
        else:
            self.scope.negated = not self.scope.negated
            self.scope.whole_list = token.text in {"neither"}
            self.scope.lacking = token.text == "without"

    def _faces_mention(self, at: int) -> bool:
        """Whether a mention follows at once, but for articles and prepositions."""
        for token in just_after(self.tokens, at, 4):
            if token.kind == "mention":
                return True
            if (
                token.kind != "word"
                or token.text not in self.course.lexicon.fillers
                or token.text in self.course.lexicon.verbs - {"is", "are"}
            ):
                return False
        return False

    def _on_exclude(self, token: Token, at: int) -> None:
        if self.denying or (self.scope.negated and not self.scope.whole_list):
            self._doubt_all()
            return
        self.scope.negated = self.scope.whole_list = True

    def _on_deny(self, token: Token, at: int) -> None:
        if self._is_named(at):
            self.made[-1].negated = not self.made[-1].negated
            return
        if self.clause:
            if self.denying:
                self._doubt_all()
            for claim in self.clause:
                claim.negated, claim.verdict = True, True
            self.clause = []
            self.denying = False
            return
        if at > _LONGEST_HEADING and self._followed_by(at, {"colon"}):
            return  # "the z part is negative: below": a predicate of something else, no heading
        self.dangling |= not self._followed_by(at, {"colon", "mention"})
        self.scope.negated = not self.scope.negated
        self.scope.whole_list = self._followed_by(at, {"colon", "mention"})

    def _on_healthy(self, token: Token, at: int) -> None:
        letters = any(claim.end - claim.start <= _LETTER for claim in self.clause)
        if self.course.apart or ("fine" in token.text and letters):
            return  # "B looks fine" may well choose B
        if self.course.subjects and self.made and not self._has_verb(at):
            self.clause = list(
                self.made
            )  # "the liver, the spleen and both kidneys are unremarkable"
        self._on_deny(token, at)

    def _has_verb(self, at: int) -> bool:
        """Whether a verb stands before the one that leads to this predicate."""
        return any(
            token.kind == "word" and token.text in self.course.lexicon.verbs
            for token in self.tokens[: max(at - 2, 0)][-_LONGEST_LIST:]
        )

    def _is_named(self, at: int) -> bool:
        """Whether the predicate is said of a yes or no itself (""Yes" would be wrong")."""
        if self.course.subjects or not self.made:
            return False
        near = just_before(self.tokens, at, _NAMED_WITHIN)
        between = [token for token in near if token.start >= self.made[-1].end]
        if len(between) == _NAMED_WITHIN:
            return False
        verbs = {token.text for token in between} & {"would", "would be a", "is", "was", "must"}
        return bool(verbs) and all(token.text in _NAMING for token in between)

    def _on_approve(self, token: Token, at: int) -> None:
        if self.clause:
            self._approve()
            if not token.text[0].isalpha():
                self.clause = []  # "A ✓ B ✗": a mark judges what stands before it only
        elif self._followed_by(at, {"colon", "mention"}):
            self._announce(Role.CONCLUDED)

    def _on_yes(self, token: Token, at: int) -> None:
        if self._is_verdict(at):
            for claim in self.clause:
                claim.role, claim.verdict = max(claim.role, Role.CONCLUDED), True
            self.clause = []
        elif at == 0 and self.asked is not None and not self._names_own():
            for claim in self.asked.claims:
                claim.certainty, claim.role = Certainty.ASSERTED, Role.CONCLUDED

    def _names_own(self) -> bool:
        """Whether the sentence gives a number itself ("Less than 20 mm? Yes: 17 mm")."""
        return self.course.apart and any(token.kind == "mention" for token in self.tokens)

    def _on_no(self, token: Token, at: int) -> None:
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        ends = following is None or following.kind in {
            "comma",
            "dash",
            "colon",
            "quote",
            "close",
            "unboxed",
        }
        listed = (
            following is not None
            and following.kind == "mention"
            and self.tokens[at - 1].kind == "colon"
        )
        # "Upper third: no lesion" judges the upper third.
        short = (
            self.tokens[at - 1].kind in {"colon", "dash"}
            and len(self.tokens) - at <= _LONGEST_VERDICT
            and all(token.kind in {"word", "approve"} for token in self.tokens[at + 1 :])
        )
        if at == 0 and self._heads_verdicts(at):
            self.scope.negated = self.scope.whole_list = True  # "Yes: A, B. No: C, D."
        elif self._is_verdict(at) and (ends or listed or short):
            for claim in self.clause:
                claim.negated, claim.verdict = True, True
            self.clause = []
        elif at == 0 and self.asked is not None and self.asked.claims:
            for claim in self.asked.claims:
                claim.certainty, claim.negated = Certainty.ASSERTED, True
        elif at and self.tokens[at - 1].kind == "colon" and not self.clause:
            return  # "Cartilage loss: no": a verdict on what is no answer here
        elif ends and not any(
            before.text in _THE_REST for before in just_before(self.tokens, at, 4)
        ):
            if self.course.all_claims or self.made:
                self._turn()
                for claim in (*self.course.all_claims, *self.made):
                    claim.retracted = True
                self.course.all_claims = []
        elif self.course.subjects:
            self.denied_list = True
            self.scope.negated = self.scope.whole_list = True
            self.noes += 1

    def _heads_verdicts(self, at: int) -> bool:
        """Whether a no heads a list of options, of which several may be chosen."""
        listing = self.course.subjects and not self.course.apart and not self.course.single
        return listing and [token.kind for token in self.tokens[at + 1 : at + 3]] == [
            "colon",
            "mention",
        ]

    def _is_verdict(self, at: int) -> bool:
        """Whether a yes or no judges the mention before it: nothing but marks stands between."""
        if not self.clause or at == 0:
            return False
        before = self.tokens[at - 1].kind
        return before in {"colon", "dash", "mention", "close", "stop", "quote", "open"} or (
            before == "comma" and self._faces_verdict(at - 1)
        )

    def _faces_verdict(self, at: int) -> bool:
        """Whether a yes or no judges the mention before the comma ("muscle strain, yes")."""
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        judges = (
            following is not None and following.kind in {"yes", "no"} and at + 2 == len(self.tokens)
        )
        return judges and at > 0 and self.tokens[at - 1].kind == "mention" and len(self.made) == 1

    def _on_yields(self, token: Token, at: int) -> None:
        """ "A loses to D"."""
        for claim in self.clause:
            claim.negated, claim.verdict = True, True
        self.clause = []
        self.scope.role = max(self.scope.role, Role.CONCLUDED)
