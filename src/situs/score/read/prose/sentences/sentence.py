"""One sentence of a reply: what its words do to the answers that it mentions."""

from __future__ import annotations

from collections.abc import Sequence

from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.claims import Certainty, Claim, Role
from situs.score.read.prose.rows import MentionRow, row_of_mentions
from situs.score.read.prose.sentences.announcing import Announcing
from situs.score.read.prose.sentences.doubting import Doubting
from situs.score.read.prose.sentences.marking import Marking
from situs.score.read.prose.tokens import Mention, Token

__all__ = ["Sentence"]

_SEEMING = frozenset(
    {
        "looks",
        "seems",
        "appears",
        "it seems",
        "looks like",
        "appears to be",
        "look",
        "seem",
        "appear",
    }
)
"""What only seems so is left again where a "but" follows."""
_AT_PRESENT = frozenset({"here", "this", "now", "currently", "today", "presently"})
"""What leads back from others, or from another time, to this patient and scan."""
_SUBJECTS = frozenset(
    {"i", "i'd", "i'll", "i'm", "we", "we'd", "my", "it", "it's", "this", "answer"}
)
"""What a clause begins with that follows on a "without …"."""
_RANKS = frozenset({"first", "second", "third", "fourth", "last"})
_COPULAS = frozenset({"is", "seems", "sounds", "looks", "feels"})
_FREE = frozenset(
    {
        "clear",
        "free",
        "normal",
        "unremarkable",
        "nothing",
        "empty",
        "none",
        "nil",
        "intact",
        "unaffected",
        "spared",
    }
)
"""Behind a colon they say that nothing is there ("Upper third: clear")."""
_MEASURING = frozenset(
    {
        "long", "wide", "deep", "thick", "tall", "apart", "away", "across", "larger", "bigger",
        "smaller", "nearest", "closest", "farthest", "nearer", "closer", "largest", "smallest",
        "higher", "lower", "highest", "lowest", "right", "left", "final", "inside", "identical",
        "farther", "further", "furthest", "greater", "greatest", "biggest", "longer", "longest",
        "shorter", "shortest", "wider", "widest", "thicker", "thickest", "deeper", "deepest",
    }
)  # fmt: skip
"""Predicates of a number or a letter that take nothing from it."""


def _named_twice(named: Sequence[Mention]) -> bool:
    """Whether one option is named by its letter and by its words."""
    lengths = {mention.end - mention.start == 1 for mention in named}
    return len(lengths) == 2 and len({mention.value for mention in named}) == 1


class Sentence(Announcing, Doubting, Marking):
    """One sentence on its way from tokens to claims."""

    def claims(self) -> list[Claim]:
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.kind == "mention":
                row, after = row_of_mentions(
                    self.tokens,
                    at,
                    self.course.lexicon,
                    boxed=self.course.boxed,
                    apart=self.course.apart,
                )
                self._claim(row, at, after)
                at = after
                continue
            self._signal(token, at)
            at += 1
        self._end_clause()
        self._doubt_either()
        self._doubt_unexplained()
        self._weigh_minor()
        for claim in self.made if self.dangling and self.course.single else ():
            claim.licensed &= claim.role >= Role.STATED
        return self.made

    def _doubt_either(self) -> None:
        """ "Either the left, or they are equal": one of them, which is not said."""
        either = next((token for token in self.tokens if token.text == "either"), None)
        last = next((token for token in reversed(self.tokens) if token.text == "or"), None)
        if either is None or last is None:
            return
        turned = (token for token in self.tokens if token.kind in {"contrast", "turn"})
        end = next((token.start for token in turned if token.start > last.start), last.end + 1_000)
        for claim in self.made:
            inside = either.start < claim.start < end
            if inside and not claim.negated and claim.role < Role.CONCLUDED:
                claim.certainty = Certainty.DOUBTED

    def _doubt_unexplained(self) -> None:
        """ "3 is alarmist.", "B would be absurd.":
        an adjective that no class explains leaves nothing asserted."""
        for index, token in enumerate(self.tokens):
            short = token.kind == "mention" and (
                self.course.apart or len(token.text.strip("()")) == 1
            )
            if not short or not self._ends_in_adjective(index + 1):
                continue
            for claim in self.made:
                if (
                    claim.start <= token.start < claim.end
                    and claim.role < Role.STATED
                    and not claim.verdict
                ):
                    claim.certainty = Certainty.DOUBTED

    def _ends_in_adjective(self, at: int) -> bool:
        verbs = [token.text for token in just_after(self.tokens, at, 2)]
        copula = 2 if verbs == ["would", "be"] else 1 if verbs[:1] and verbs[0] in _COPULAS else 0
        predicate = self.tokens[at + copula : at + copula + 2]
        if not copula or not predicate or predicate[0].kind != "word":
            return False
        ends = len(predicate) == 1 or predicate[1].kind in {
            "comma",
            "dash",
            "close",
            "contrast",
            "and",
        }
        word = predicate[0].text
        return ends and len(word) > 2 and word not in self.course.lexicon.fillers | _MEASURING

    def _weigh_minor(self) -> None:
        """ "Slightly above and mainly to the left" says left."""
        asserted = [claim for claim in self.made if claim.asserted]
        minor = [claim for claim in asserted if claim.minor]
        if len(minor) < len(asserted) and (self.course.single or self.course.apart):
            for claim in minor:
                claim.certainty = Certainty.ASIDE

    def _claim(self, row: MentionRow, at: int, after: int) -> None:
        if self._answers_contrast(at, after):
            self.course.turns += 1
        scope = self.scope
        if scope.negated and scope.whole_list and self.noes and self._each_denied(row):
            first, rest = row.parted()
            self._claim(first, at, at + 1)
            scope.negated = scope.whole_list = self.denied_list = False
            self._claim(rest, at, after)
            return
        if self.denied_list and "or" in row.joined and self.course.subjects:
            scope.negated = True
        live = [mention for mention in row.mentions if not mention.idle]
        idle = not live
        named = live or row.mentions
        values = tuple(dict.fromkeys(mention.value for mention in named))
        role = Role.FINAL if row.boxed or self.course.boxed else scope.role
        if role is Role.PLAIN and not self.used_up and self._leads(at, after):
            role = Role.LEAD
        if role is Role.PLAIN and self.led_by_words and self.course.single and _named_twice(named):
            role = Role.CONCLUDED  # "… is the left renal vein, (A)"
        if scope.of_several and len(values) == 1:
            scope.certainty, scope.of_several = Certainty.ASSERTED, False
        claim = Claim(
            values,
            row.start,
            row.end,
            role=role,
            certainty=Certainty.ASIDE if idle else scope.certainty,
            negated=scope.negated,
            alternatives=len(values) > 1 and "or" in row.joined and not scope.negated,
            turns=self.course.turns,
            subject=self._is_subject(after),
            minor=scope.minor,
            likely=scope.likely,
            excepted=scope.excepted,
            idle=idle,
            after_or=scope.after_or,
        )
        scope.minor = scope.likely = False
        self._use_up(claim)
        if (
            scope.negated
            and len(values) > 1
            and not scope.whole_list
            and "comma" in row.joined
            and "or" not in row.joined
        ):
            claim.certainty = Certainty.DOUBTED  # "not A, B", "without A, and B": is B the answer?
        self.made.append(claim)
        if self.course.subjects:
            self.clause.append(claim)
        following = self.tokens[after] if after < len(self.tokens) else None
        if not scope.whole_list and not (following is not None and following.kind == "or"):
            scope.negated = False
        if scope.next_only:
            scope.certainty, scope.next_only = Certainty.ASSERTED, False

    def _use_up(self, claim: Claim) -> None:
        """ "I'd say C, with B as the runner-up" announces C only;
        "I'd say C is better than B" neither alone."""
        announced = self.course.single and self.scope.role is Role.STATED
        subjects = claim.subject or any(one.subject for one in self.made)
        if announced and not self.scope.negated and not subjects:
            self.scope.role = self.base
            self.used_up = True

    def _each_denied(self, row: MentionRow) -> bool:
        """Whether "no" stands before each that is denied ("A,
        no B, no C, D"), so that it ends with the comma."""
        single = (
            len(row.mentions) > 1 and "comma" in row.joined and not row.joined & {"or", "slash"}
        )
        return single and self.noes > 1 and any(claim.asserted for claim in self.made)

    def _is_subject(self, after: int) -> bool:
        following = self.tokens[after] if after < len(self.tokens) else None
        return following is not None and following.text in self.course.lexicon.verbs

    def _answers_contrast(self, at: int, after: int) -> bool:
        """Whether a mention behind "but" is what the reply turns to ("B is close, but it has to be
        C").

        Not so if it only has a predicate of its own ("…, but C is near as well") or adds to what
        was said ("but also C").
        """
        if not self.contrasted or not self.course.subjects:  # "yes, but no" says neither
            return False
        if self.scope.negated or self.scope.certainty is not Certainty.ASSERTED:
            return False
        self.contrasted = False
        before = {token.text for token in just_before(self.tokens, at, 3)}
        following = self.tokens[after] if after < len(self.tokens) else None
        ends = following is None or following.kind not in {
            "word",
            "negate",
            "deny",
            "approve",
            "maybe",
            "first",
            "odd",
        }
        return ends and not before & {
            "also",
            "too",
            "and",
            "with",
            "from",
            "near",
            "by",
            "beside",
            "of",
        }

    def _leads(self, at: int, after: int) -> bool:
        """Whether a mention heads its sentence and is followed by nothing, a mark or a reason."""
        while self.weighed < at and not self.led_by_words:
            token = self.tokens[self.weighed]
            self.led_by_words = (
                token.kind == "word" and token.text not in self.course.lexicon.fillers
            )
            self.weighed += 1
        if self.led_by_words:
            return False
        following = self.tokens[after] if after < len(self.tokens) else None
        beyond = self.tokens[after + 1] if after + 1 < len(self.tokens) else None
        labels = following is not None and following.kind == "colon" and self.course.subjects
        if labels and beyond is not None and beyond.text[:1].isdigit():
            return False  # "Left: 152 mL" labels a measure
        return not self.course.subjects or following is None or following.kind in {
            "comma", "dash", "colon", "reason", "open", "close", "unboxed", "quote", "contrast",
            "whereas",
            "than", "approve", "if", "stop",
        }  # fmt: skip

    def _signal(self, token: Token, at: int) -> None:
        self.seeming |= token.text in _SEEMING
        if self.scope.lacking and token.text.split(" ")[0] in _SUBJECTS:
            # "Without the annotations I would guess no" does not deny the guess.
            self.scope.negated = self.scope.lacking = self.denied_list = False
        handler = getattr(self, f"_on_{token.kind}", None)
        if handler is not None:
            handler(token, at)

    def _on_word(self, token: Token, at: int) -> None:
        self.words += 1
        if (
            self.course.apart
            and self.scope.next_only
            and token.text in {"by", "at", "with", "measuring"}
        ):
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
        if (
            token.text in _FREE
            and at
            and self.tokens[at - 1].kind in {"colon", "dash"}
            and self.course.subjects
            and not self.course.apart
        ):
            self._on_deny(token, at)
        if token.text in _RANKS and self.course.single and self.clause and self._ends_at(at + 1):
            if token.text == "first":
                self._approve()  # "I'd rank A first, B second"
            else:
                self._on_deny(token, at)
        if token.text == "of" and at == 0 and self.course.single:
            # "Of B and D, D is farther" chooses among two.
            self.scope.certainty, self.scope.next_only = Certainty.ASIDE, True
            self.scope.of_several = True
        if self.typical and token.text in _AT_PRESENT:
            self.scope.role, self.typical = self.base, False
        if (
            token.text == "right"
            and self.clause
            and self._ends_at(at + 1)
            and self._is_predicate(at)
        ):
            self._approve()  # "A is probably right"
        if self._closes(at):
            self._approve()  # "D it is.", "D is the one."
        if (
            token.text in {"just", "only", "simply", "rather"}
            and at
            and self.tokens[at - 1].kind in {"comma", "dash"}
        ):
            self.scope.negated = self.scope.whole_list = False  # "neither A nor B, just C"
        if (
            token.text not in self.course.lexicon.fillers
            and not token.text.isdigit()
            and len(token.text) > 1
        ):
            self.content = True

    def _is_predicate(self, at: int) -> bool:
        """Whether a word is said of the mention before it: "is", adverbs at most, stand between."""
        between = just_before(self.tokens, at, 3)
        verbs = [token.text for token in between if token.text in _COPULAS]
        return bool(verbs) and between[-1].text != "the"

    def _closes(self, at: int) -> bool:
        """Whether the words at the end of a clause say no more than that this is the answer."""
        if self.tokens[at].text == "one" and self.clause and self._ends_at(at + 1):
            return [one.text for one in just_before(self.tokens, at, 2)] == ["is", "the"]
        return self.tokens[at].text == "it" and self._closes_with_it(at)

    def _closes_with_it(self, at: int) -> bool:
        following = [token.text for token in self.tokens[at + 1 : at + 3]]
        heads = at > 0 and self.tokens[at - 1].kind in {"mention", "close", "quote", "unboxed"}
        return heads and following in (["is"], ["is", ","])

    def _on_explain(self, token: Token, at: int) -> None:
        if (
            not token.text.endswith(":")
            and len(self.tokens) > 1
            and not self._followed_by(at, {"colon"})
        ):
            self._on_word(token, at)
            return
        self.course.explaining = True
        self.course.carried = None
        self.base = Role.WEAK
        self.scope.role = Role.WEAK

    def _on_step(self, token: Token, at: int) -> None:
        if at == 0:
            self.course.step_line = True
            self.base = Role.WEAK
            self.scope.role = Role.WEAK
        else:
            self._on_word(token, at)
