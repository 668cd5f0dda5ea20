"""One sentence of a reply: what its words do to the answers that it mentions."""

from __future__ import annotations

from dataclasses import dataclass, field

from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.lexicon import Lexicon
from situs.score.read.prose.rows import MentionRow, row_of_mentions
from situs.score.read.prose.tokens import Token

__all__ = ["Course", "Sentence"]


@dataclass(slots=True)
class Course:
    """How the reply has run so far, from sentence to sentence."""

    lexicon: Lexicon
    apart: bool
    """Every mention is a claim of its own."""
    subjects: bool
    """Whether mentions can have predicates ("B is wrong"); yes and no cannot."""
    known: frozenset[str] | None = None
    """Words of the question and its options; None where short answers need no licence."""
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
    after_or: bool = False
    asked: bool = False
    """What follows repeats the question, up to a colon."""
    minor: bool = False
    """The next mention holds a little only."""
    of_several: bool = False
    """The certainty holds only for several mentions at once ("between A and B")."""


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
_AT_PRESENT = frozenset({"here", "this", "now", "currently", "today", "presently"})
"""What leads back from others, or from another time, to this patient and scan."""
_ARROWS = frozenset({"→", "- >", "= >", "⇒"})
_COPULAS = frozenset({"is", "seems", "sounds", "looks", "feels"})
_MEASURING = frozenset(
    {
        "long", "wide", "deep", "thick", "tall", "apart", "away", "across", "larger", "bigger",
        "smaller", "nearest", "closest", "farthest", "nearer", "closer", "largest", "smallest",
        "higher", "lower", "highest", "lowest", "right", "left", "final", "inside", "identical",
    }
)  # fmt: skip
"""Predicates of a number or a letter that take nothing from it."""
_LONGEST_HEADING = 2
"""Tokens before the last word of a heading ("These are wrong: A, B")."""
_LONGEST_DENIAL = 4
"""Tokens before the colon of a heading that denies what follows ("Not visible on this slice:")."""
_LONGEST_LIST = 60
"""Tokens of a list of subjects that is looked through for a verb."""
_NAMED_WITHIN = 6
"""Tokens that may stand there."""


class Sentence:
    """One sentence on its way from tokens to claims."""

    def __init__(self, course: Course, tokens: list[Token], asked: Statement | None) -> None:
        self.course = course
        self.tokens = tokens
        self.asked = asked
        self.base = Role.WEAK if course.explaining or course.step_line else Role.PLAIN
        if course.carried is not None:
            self.base = course.carried
            course.explaining = False
        self.scope = _Scope(role=self.base)
        self.made: list[Claim] = []
        self.clause: list[Claim] = []
        self.denying = False
        """A "not" behind a mention whose predicate has not come yet."""
        self.announced: Role | None = None
        self.words = 0
        self.content = False
        """Whether there are words that matter beside the claims and the lexicon's."""
        self.led_by_words, self.weighed = False, 0
        """Whether words that matter stand before a mention, and how many tokens were looked at for that."""
        self.seeming = False
        """Whether something only seems so, as far as the clause goes."""
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
        """ "3 is alarmist.", "B would be absurd.": an adjective that no class explains leaves nothing asserted."""
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
        verbs = [token.text for token in self.tokens[at : at + 2]]
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
        if len(minor) < len(asserted):
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
            excepted=scope.excepted,
            after_or=scope.after_or,
        )
        scope.minor = False
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
        """ "I'd say C, with B as the runner-up" announces C only; "I'd say C is better than B" neither alone."""
        announced = self.course.single and self.scope.role is Role.STATED
        subjects = claim.subject or any(one.subject for one in self.made)
        if announced and not self.scope.negated and not subjects:
            self.scope.role = self.base
            self.used_up = True

    def _each_denied(self, row: MentionRow) -> bool:
        """Whether "no" stands before each that is denied ("A, no B, no C, D"), so that it ends with the comma."""
        single = (
            len(row.mentions) > 1 and "comma" in row.joined and not row.joined & {"or", "slash"}
        )
        return single and self.noes > 1 and any(claim.asserted for claim in self.made)

    def _is_subject(self, after: int) -> bool:
        following = self.tokens[after] if after < len(self.tokens) else None
        return following is not None and following.text in self.course.lexicon.verbs

    def _answers_contrast(self, at: int, after: int) -> bool:
        """Whether a mention behind "but" is what the reply turns to ("B is close, but it has to be C").

        Not so if it only has a predicate of its own ("…, but C is near as well") or adds to what was said ("but
        also C").
        """
        if not self.contrasted or not self.course.subjects:  # "yes, but no" says neither
            return False
        if self.scope.negated or self.scope.certainty is not Certainty.ASSERTED:
            return False
        self.contrasted = False
        before = {token.text for token in self.tokens[max(0, at - 3) : at]}
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
            "comma", "dash", "colon", "reason", "open", "close", "unboxed", "quote", "contrast", "whereas",
            "than", "approve", "if", "stop",
        }  # fmt: skip

    # words

    def _signal(self, token: Token, at: int) -> None:
        self.seeming |= token.text in _SEEMING
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
        if self.typical and token.text in _AT_PRESENT:
            self.scope.role, self.typical = self.base, False
        if token.text == "it" and self._closes_with_it(at):
            self._approve()  # "D it is."
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

    def _closes_with_it(self, at: int) -> bool:
        following = [token.text for token in self.tokens[at + 1 : at + 3]]
        heads = at > 0 and self.tokens[at - 1].kind in {"mention", "close", "quote", "unboxed"}
        return heads and following in (["is"], ["is", ","])

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
        if self.scope.next_only:
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
        if self.scope.until_comma and self.scope.certainty is Certainty.ASIDE:
            self.scope.certainty, self.scope.until_comma = (
                Certainty.ASSERTED,
                False,
            )  # "despite …, the answer is"
        self.course.explaining = False
        if self.announced is None or role > self.announced:
            self.announced = role
        if self.scope.role is not Role.WEAK or self.base is Role.WEAK:
            self.scope.role = max(self.scope.role, role)

    def _behind_copula(self, at: int) -> bool:
        return bool(self.clause) and any(
            token.text in {"is", "be", "are"} for token in self.tokens[max(0, at - 4) : at]
        )

    def _on_conclude(self, token: Token, at: int) -> None:
        if token.text in _ARROWS and not self._followed_by(at, {"mention", "answer", "final"}):
            return  # "A → liver" says where A lies
        if token.text in {"remains", "remaining"} and self.clause:
            self._approve()  # "only A remains"
            for claim in self.clause:
                claim.negated = False  # "after ruling out A, B and C, D remains"
        if token.text == "most likely" and self.clause and self._ends_at(at + 1):
            self._approve()  # "A most likely, B less so"
            return
        self._end_clause()
        self.denied_list = False
        self.scope = _Scope(role=max(self.base, Role.CONCLUDED, self.announced or Role.WEAK))

    def _ends_at(self, at: int) -> bool:
        return at >= len(self.tokens) or self.tokens[at].kind in {
            "comma",
            "contrast",
            "whereas",
            "dash",
        }

    def _on_first(self, token: Token, at: int) -> None:
        self.scope.role = Role.WEAK
        beside = self.scope.certainty is Certainty.ASIDE
        for claim in self.clause if beside else self.made[self.anew :]:
            claim.role = Role.WEAK

    def _on_typical(self, token: Token, at: int) -> None:
        """What is so in others is not said of this patient, until "here" or "this" comes."""
        for claim in self.clause:
            claim.role = Role.WEAK
        if not self.clause:
            self.scope.role, self.typical = Role.WEAK, True

    def _on_elsewhere(self, token: Token, at: int) -> None:
        """Another time or source: not the answer is what it follows, else what comes until "here" or "now"."""
        if self.made and self._same_clause(self.made[-1], at):
            self.made[-1].role = Role.WEAK
        else:
            self.scope.role, self.typical = Role.WEAK, True

    def _same_clause(self, claim: Claim, at: int) -> bool:
        """Whether no comma, bracket or contrast stands between a claim and here ("12 mm (previously 15 mm)")."""
        between = [
            token
            for token in self.tokens[max(0, at - _LONGEST_LIST) : at]
            if token.start >= claim.end
        ]
        return not any(
            token.kind in {"comma", "open", "contrast", "whereas", "dash", "and"}
            for token in between
        )

    def _on_settle(self, token: Token, at: int) -> None:
        self._turn()
        self._announce(Role.STATED)

    def _on_near(self, token: Token, at: int) -> None:
        if not self.course.apart and token.text != "close to":
            self._on_first(token, at)

    def _on_turn(self, token: Token, at: int) -> None:
        self._turn()

    def _turn(self) -> None:
        self._end_clause()
        self.course.turns += 1
        self.course.explaining = False
        self.base = Role.PLAIN if self.base is Role.WEAK else self.base
        self.scope = _Scope(role=max(self.base, self.announced or Role.WEAK))

    def _on_negate(self, token: Token, at: int) -> None:
        self.denied_list = not self.clause
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
        self.scope.negated = not self.scope.negated
        self.scope.whole_list = self._followed_by(at, {"colon", "mention"})

    def _on_healthy(self, token: Token, at: int) -> None:
        if self.course.apart:
            return
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
        near = self.tokens[max(0, at - _NAMED_WITHIN) : at]
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
        if self._is_verdict(at) and (ends or listed):
            for claim in self.clause:
                claim.negated, claim.verdict = True, True
            self.clause = []
        elif at == 0 and self.asked is not None and self.asked.claims:
            for claim in self.asked.claims:
                claim.certainty, claim.negated = Certainty.ASSERTED, True
        elif at and self.tokens[at - 1].kind == "colon" and not self.clause:
            return  # "Cartilage loss: no": a verdict on what is no answer here
        elif ends and not any(
            before.text in _THE_REST for before in self.tokens[max(0, at - 4) : at]
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

    def _is_verdict(self, at: int) -> bool:
        """Whether a yes or no judges the mention before it: nothing but marks stands between."""
        if not self.clause or at == 0:
            return False
        before = self.tokens[at - 1].kind
        return before in {"colon", "dash", "mention", "close", "stop", "quote", "open"} or (
            before == "comma" and self._faces_verdict(at - 1)
        )

    def _on_maybe(self, token: Token, at: int) -> None:
        if self._is_named(at):
            self.made[-1].certainty = Certainty.DOUBTED
        else:
            self._doubt_all()

    def _on_doubt(self, token: Token, at: int) -> None:
        self._doubt_all()

    def _on_odd(self, token: Token, at: int) -> None:
        """Until the next comma nothing is asserted; claims before the last comma stand."""
        if self.scope.certainty is Certainty.ASSERTED:
            self.scope.certainty, self.scope.until_comma = Certainty.DOUBTED, True
        for claim in self.clause:
            if claim.certainty is Certainty.ASSERTED and claim.role is not Role.FINAL:
                claim.certainty = Certainty.DOUBTED

    def _doubt_all(self) -> None:
        if self.scope.certainty is not Certainty.ASIDE:
            self.scope.certainty, self.scope.until_comma = Certainty.DOUBTED, False
        for claim in self.clause:
            if claim.certainty is not Certainty.ASIDE:
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
        near = token.text in {"versus", "vs", "vs ."} or not self.course.subjects
        if near and not self._followed_by(at, {"mention"}):
            return
        self._end_clause(keep=True)
        self.scope.certainty, self.scope.next_only = Certainty.ASIDE, True

    def _on_beats(self, token: Token, at: int) -> None:
        self._approve()
        self._on_than(token, at)

    def _on_yields(self, token: Token, at: int) -> None:
        """ "A loses to D"."""
        for claim in self.clause:
            claim.negated, claim.verdict = True, True
        self.clause = []
        self.scope.role = max(self.scope.role, Role.CONCLUDED)

    def _on_over(self, token: Token, at: int) -> None:
        if self.clause and self._followed_by(at, {"mention"}):
            self._on_than(token, at)

    def _on_except(self, token: Token, at: int) -> None:
        self.scope.excepted = True

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

    def _on_asked(self, token: Token, at: int) -> None:
        self.scope.certainty, self.scope.asked = Certainty.ASIDE, True

    def _on_likewise(self, token: Token, at: int) -> None:
        """ "So is D": as what was said last."""
        last = self.made[-1:] or self.course.all_claims[-1:]
        self.scope.negated = bool(last) and last[0].negated
        if not self.made and not self.scope.negated:
            self.scope.role = max(self.scope.role, Role.CONCLUDED)  # "X is in the liver, as is B"

    def _followed_by(self, at: int, kinds: set[str]) -> bool:
        for token in self.tokens[at + 1 : at + 4]:
            if token.kind in kinds:
                return True
            if token.kind not in {"quote", "open", "close"} and token.text not in {"the", "a"}:
                return False
        return False

    # marks

    def _on_comma(self, token: Token, at: int) -> None:
        self._end_clause(keep=self._faces_verdict(at))
        if not self.scope.whole_list:
            self.scope.negated = False
        if self.scope.next_only and not self.scope.of_several:
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
        if self.scope.until_comma:
            self.scope.certainty, self.scope.until_comma = Certainty.ASSERTED, False
            self.scope.role = self.base

    def _faces_verdict(self, at: int) -> bool:
        """Whether a yes or no judges the mention before the comma ("muscle strain, yes")."""
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        judges = (
            following is not None and following.kind in {"yes", "no"} and at + 2 == len(self.tokens)
        )
        return judges and at > 0 and self.tokens[at - 1].kind == "mention" and len(self.made) == 1

    def _on_colon(self, token: Token, at: int) -> None:
        self.denied_list = False
        if self.scope.next_only:
            self.scope.certainty, self.scope.next_only = Certainty.ASSERTED, False
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
        self.scope = _Scope(role=Role.FINAL)

    def _on_unboxed(self, token: Token, at: int) -> None:
        self.course.boxed = False
        self.scope = _Scope(role=self.base)

    def _end_clause(self, *, keep: bool = False) -> None:
        """A pending "not" denies what its clause named."""
        if self.denying:
            for claim in self.clause:
                claim.negated = not claim.negated
        self.denying = False
        if not keep:
            self.clause = []
