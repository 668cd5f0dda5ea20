"""The number a reply gives, in the unit that was asked for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from situs.errors import SitusError
from situs.items import UNITS
from situs.score.read.assertions.propositions import affirms
from situs.score.read.numbers.owners import labelled, of_another
from situs.score.read.numbers.recording import counts_samples, describes_scan
from situs.score.read.numbers.roles import (
    averaged,
    concluded,
    measures_asked,
    measures_else,
    subtracted,
    working,
)
from situs.score.read.numbers.tokens import Kind, Token, tokens
from situs.score.read.numbers.totals import asks_for_part, sum_of_parts, total
from situs.score.read.numbers.turned_ratios import without_turned_ratios
from situs.score.read.numbers.units import COUNT, RATIO, Unit, known_unit
from situs.score.read.numbers.words import (
    count_in_words,
    counted_ones,
    digits_for_words,
    times_as_numbers,
    without_differences,
)
from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.content import content_words, noun, stem, words_of
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english
from situs.score.read.prose.refusal import refuses
from situs.score.read.prose.resolve import SEVERAL, decide
from situs.score.read.prose.tokens import Mention
from situs.score.read.prose.topic import set_aside_other_topics
from situs.score.read.remembered import remembered
from situs.score.read.reply import plain_reply
from situs.score.read.result import CONTRADICTION, Parsed, RefusedInWords, Result, Unparsed

__all__ = ["UNIT_MISSING", "parse_number"]

UNIT_MISSING = "unit_missing"
"""Flag of a number without a unit, taken to be in the unit asked for."""

Ranges = Literal["reject", "midpoint"]
_ROUNDED = Fraction(2, 100)
"""Two numbers in different units say the same if they differ by no more than rounding does:
111.4 mm is 11.1 cm."""
_ROUNDS = re.compile(
    r"[ ,;(]*(?:(?:which|that|this) )?(?:i ?\.? ?e\.?|or|so|is|are|that is|rounded|rounds|≈|~|→|=)"
    r"(?:[ ,]*(?:up|down|off|to|or|so|≈|~|about|approximately|roughly|around|nearly|say))*[ ,:]*",
    re.IGNORECASE,
)
"""What stands between a number and the same one rounded ("161.5 mL, i.e. about 160 mL")."""
_OTHER = Unparsed("unit of another dimension")
_ANNOUNCED = re.compile(r"^(?:the )?(?:final )?answer(?: is)?\W*", re.IGNORECASE | re.MULTILINE)
# Behind "Answer:", a list mark or an answer: "1. 150 mL", "1) 150 mL"; on a line of its own also
# "1. The liver …".
_NUMBERED = re.compile(
    r"\banswer(?: is)? ?[:=]? ?(?:[0-9]{1,2}(?:\. (?=[~≈]? ?[0-9])|\) (?=\S))|\n[0-9]{1,2}[.)]"
    r" (?=\S))",
    re.IGNORECASE,
)


@remembered
def parse_number(
    text: str, unit: str, *, ranges: Ranges = "reject", question: str = "", language: str = "en"
) -> Result[Fraction]:
    """The reply's number, exactly, converted to `unit` (mm, cm², mL, %, `fraction`, …; empty for a
    count).

    A final number wins; then one that is announced, concluded (behind an equals sign, "therefore
    …") or stands alone; then the only number in a compatible unit, else the only number without one
    (flag `unit_missing`). Operands, slice spacings, components along axes, normal values and
    measures of something else than the `question` asks for are no answers, and neither are ranges,
    dimensions, bounds and alternatives; `ranges="midpoint"` takes the middle of a range instead.
    """
    asked = known_unit(unit)
    if asked is None:
        known = ", ".join(filter(None, UNITS))
        fix = f"use {known}, '' for a count, or install the package whose task asks in it"
        raise SitusError(f"no unit {unit!r}", fix=fix)
    plain = plain_reply(text, language, question)
    if isinstance(plain, Unparsed):
        return plain
    plain = _UNIT_IN_BRACKETS.sub(r" \g<unit>", plain)
    if asked == RATIO:
        without = without_differences(plain)
        ratio = times_as_numbers(digits_for_words(without_turned_ratios(without, question)))
        result = _Reader(ratio, asked, ranges, question).read()
        differs = without != plain and not isinstance(result, Parsed)
        return Unparsed("a difference, not a ratio") if differs else result
    if asked is COUNT:
        plain = _LEFT_OUT.sub("", _SIZED_THING.sub(r"\g<count>", plain))
        plain = counted_ones(plain, _things_counted(question))
    plain = _PAIR_OF_SIDES.sub(_each_side, plain)
    plain = _NAMED_BEHIND.sub(r"\g<name> \g<number>", digits_for_words(plain))
    return _Reader(plain, asked, ranges, question).read()


# "2.5 (in cm)": the unit of that number, which was taken for one in the unit asked for.
_UNIT_IN_BRACKETS = re.compile(
    r"(?<=[0-9]) ?\((?:in |unit:? )?(?P<unit>mm|cm|ml|cc|millimet(?:er|re)s|centimet(?:er|re)s"
    r"|millilit(?:er|re)s|lit(?:er|re)s)\)",
    re.IGNORECASE,
)

# "Left and right kidney have 160 and 150 mL": each number is one side's.
_PAIR_OF_SIDES = re.compile(
    r"\b(?:the )?(?P<one>left|right)(?: [a-z]+)? and (?:the )?(?P<two>left|right)"
    r"(?P<said>[^.;\n0-9]{0,60}?)(?P<first>(?<![0-9.])[0-9]{1,4}(?:\.[0-9]{1,2})?)"
    r"(?: ?(?:mm|cm|ml|cc))? and (?P<second>[0-9]{1,4}(?:\.[0-9]{1,2})?)"
    r"(?P<unit> ?(?:mm|cm|ml|cc))\b",
    re.IGNORECASE,
)


def _each_side(match: re.Match[str]) -> str:
    said, unit = match["said"], match["unit"]
    return (
        f"the {match['one']}{said}{match['first']}{unit}; "
        f"the {match['two']}{said}{match['second']}{unit}"
    )


# "18 mm (long axis)" as "long axis 18 mm".
_NAMED_BEHIND = re.compile(
    r"(?<![0-9.,×x] )(?P<number>(?<![0-9.,])[0-9]{1,4}(?:\.[0-9]{1,3})? ?(?:mm|cm)) "
    r"\((?P<name>(?:[a-z-]+ ){0,3}(?:axis|diameter|dimension|length|width|height|depth))\)",
    re.IGNORECASE,
)
# "One 14 mm lesion", "two 5–8 mm cysts": how large what is counted is.
_SIZED_THING = re.compile(
    r"(?P<count>\b(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|single|only"
    r"|[0-9]{1,2})(?: (?:small|large|tiny|single))?)"
    r" (?:[0-9]{1,3}(?:\.[0-9]{1,2})?(?: ?(?:[-–x×]|to) ?[0-9]{1,3}(?:\.[0-9]{1,2})?)?)"
    r"[ -]?(?:mm|cm|millimet(?:re|er)|centimet(?:re|er))\b(?= [a-z])",
    re.IGNORECASE,
)
# "6 (not counting cysts)", "3, not including the doubtful one": what is left out of a number.
_LEFT_OUT = re.compile(
    r"(?: \(|, )(?:not (?:counting|including|considering)|without(?: counting| the)?"
    r"|excluding|ignoring|disregarding|leaving out|apart from)\b[^().;\n]{0,80}\)?",
    re.IGNORECASE,
)
_NO_THING = re.compile(
    r"(?:there (?:is|are) |i (?:can )?see )?(?:no|none of the)"
    r"(?: (?:definite|discrete|obvious|visible|such))? (?P<things>[a-z-]+"
    r"(?: [a-z-]+){0,3}?)"
    r"(?: (?:is|are|was|were) [a-z]+)?[ .!]*",
    re.IGNORECASE,
)


_NONE_IS = re.compile(
    r"none(?: of (?:them|these|the [a-z -]{2,40}))? (?:is|are|was|were) (?P<what>[a-z ]+?)[ .!]*",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"how many (?P<things>[^?]+?)(?: (?:are|were|can|do|does|have|has|did) [^?]*)?\?", re.IGNORECASE
)


def _things_counted(question: str) -> frozenset[str]:
    """The noun of what a question counts, and its singular."""
    asked = _HOW_MANY.match(question.strip())
    words = words_of(asked["things"]) if asked else []
    return frozenset([*words[-1:], *map(noun, words[-1:])])


def _none_of(plain: str, question: str) -> bool:
    """Whether a reply is nothing but "no fractured ribs", in words of the question."""
    none = _NONE_IS.fullmatch(plain.strip())
    if none is not None:
        said = {stem(word) for word in content_words(none["what"])}
        return said <= {stem(word) for word in content_words(question)}
    match = _NO_THING.fullmatch(plain.strip())
    return match is not None and set(content_words(match["things"])) <= set(content_words(question))


_LISTED = re.compile(r" ?(?:,|and|, and|&|/|x|×) ?", re.IGNORECASE)
_LONGEST_LIST = 6
_IN_BRACKETS = re.compile(r"(?<=[0-9]) \([^()]*$")


class _Reader:
    def __init__(self, plain: str, asked: Unit, ranges: Ranges, question: str) -> None:
        self.plain = plain
        self.asked = asked
        self.ranges = ranges
        self.question = question
        self.numbers = tokens(plain)
        self.values = [self._as_answer(token) for token in self.numbers]

    def read(self) -> Result[Fraction]:
        if _NUMBERED.search(self.plain):
            return Unparsed("a list mark or an answer")
        found = statements(
            self.plain,
            [self._mention(index) for index in range(len(self.numbers))],
            english(),
            apart=True,
        )
        if self.asked is COUNT:
            things = _things_counted(self.question)
            added = sum_of_parts(found, self.plain, self.numbers, things)
            if added is not None:
                return Parsed(Fraction(added))
            total(found, self.plain, self.numbers, self.question)
        self._promote(found)
        self._demote(found)
        self._bracketed(found)
        self._head_no_list(found)
        set_aside_other_topics(found, self.plain, self.question, self._same)
        self._prefer_named(found)
        result = decide(found, self._same, ranked=True)
        if isinstance(result, Parsed):
            return self._checked(int(str(result.value)), found)
        return self._nothing(result, found)

    def _mention(self, index: int) -> Mention:
        token = self.numbers[index]
        return Mention(token.start, token.end, index, idle=self._serves_else(token))

    def _serves_else(self, token: Token) -> bool:
        """Whether a number is an operand, a measure of another kind, or of another structure."""
        if self.asked is COUNT and self._shares_unit(token):
            return True
        return any(
            aside(self.plain, token, self.question)
            for aside in (working, measures_else, of_another, describes_scan, counts_samples)
        )

    def _shares_unit(self, token: Token) -> bool:
        """Whether a number without a unit is the first of a list that has one ("12 and 18 mm")."""
        if token.units != (None,):
            return False
        at = self.numbers.index(token)
        for before, behind in itertools.pairwise(just_after(self.numbers, at, _LONGEST_LIST)):
            if not _LISTED.fullmatch(self.plain, before.end, behind.start):
                return False
            if behind.units != (None,):
                return True
        return False

    def _promote(self, found: Sequence[Statement]) -> None:
        """The result of a calculation stands out,
        and so does what the superlative of the question labels."""
        for statement in found:
            for claim in statement.claims:
                token = self.numbers[int(str(claim.values[0]))]
                if claim.role not in {Role.PLAIN, Role.LEAD}:
                    continue
                if (
                    concluded(self.plain, token, statement.start)
                    or labelled(self.plain, token, self.question)
                    or averaged(self.plain, token)
                    or subtracted(self.plain, token)
                ):
                    claim.role = Role.CONCLUDED

    def _prefer_named(self, found: Sequence[Statement]) -> None:
        """Beside numbers of no named measure,
        one that is called what the question asks for stands out."""
        claims = [
            claim
            for statement in found
            for claim in statement.claims
            if claim.asserted and self._fits(claim)
        ]
        claims = [claim for claim in claims if self._units(claim)] or claims
        if any(claim.role is Role.CONCLUDED for claim in claims):
            return  # "a lesion of 18 mm, and a larger one of 34 mm"
        named = [claim for claim in claims if self._names_measure(claim)]
        if not 0 < len(named) < len(claims):
            return
        for claim in named:
            if claim.role in {Role.PLAIN, Role.LEAD}:
                claim.role = Role.CONCLUDED

    def _names_measure(self, claim: Claim) -> bool:
        return measures_asked(self.plain, self.numbers[int(str(claim.values[0]))], self.question)

    def _demote(self, found: Sequence[Statement]) -> None:
        """Numbers of another kind or dimension count
        only where no fitting one stands beside them."""
        claims = [claim for statement in found for claim in statement.claims if claim.asserted]
        fits = [self._fits(claim) for claim in claims]
        units = [fit and self._units(claim) for claim, fit in zip(claims, fits)]
        strongest = max((claim.role for claim, fit in zip(claims, fits) if fit), default=None)
        with_units = max((claim.role for claim, unit in zip(claims, units) if unit), default=None)
        turned = max((claim.turns for claim, unit in zip(claims, units) if unit), default=0)
        for claim, fit, with_unit in zip(claims, fits, units):
            misfit = not fit and strongest is not None and strongest >= claim.role
            if self.asked is COUNT:
                misfit |= not fit and self._units(claim)  # a size counts nothing
            bare = with_units is not None and fit and not with_unit and self.asked is not COUNT
            # "I'd say 18, maybe 19 cm. Let's go with 18.5": what is settled on needs no unit again.
            settled = claim.role >= Role.STATED and claim.turns > turned
            outdone = claim.role <= Role.LEAD or claim.role == with_units
            if misfit or (bare and outdone and not settled):
                claim.certainty = Certainty.ASIDE

    def _head_no_list(self, found: Sequence[Statement]) -> None:
        """A number that heads a sentence with others
        beside it ("12 mm and 14 mm") is not said alone."""
        for statement in found:
            asserted = [claim for claim in statement.claims if claim.asserted and self._fits(claim)]
            plain = [
                other
                for other in asserted
                if other.role is Role.PLAIN and not self._in_brackets(other)
            ]
            for claim in asserted:
                if claim.role is Role.LEAD and any(
                    not self._same(claim.values[0], other.values[0]) for other in plain
                ):
                    claim.role = Role.PLAIN

    def _bracketed(self, found: Sequence[Statement]) -> None:
        """A number in brackets is said beside one before or behind them."""
        for statement in found:
            asserted = [claim for claim in statement.claims if claim.asserted and self._fits(claim)]
            inside = [
                claim for claim in asserted if claim.role < Role.FINAL and self._in_brackets(claim)
            ]
            if len(inside) < len(asserted):
                for claim in inside:
                    claim.certainty = Certainty.ASIDE

    def _in_brackets(self, claim: Claim) -> bool:
        opened = self.plain.rfind("(", max(0, claim.start - 80), claim.start)
        return opened >= 0 and ")" not in self.plain[opened : claim.start]

    def _fits(self, claim: Claim) -> bool:
        return all(isinstance(self.values[int(str(value))], Parsed) for value in claim.values)

    def _units(self, claim: Claim) -> bool:
        return any(self.numbers[int(str(value))].units != (None,) for value in claim.values)

    def _same(self, first: object, second: object) -> bool:
        if first == second:
            return True
        one, other = self.numbers[int(str(first))], self.numbers[int(str(second))]
        a, b = self.values[int(str(first))], self.values[int(str(second))]
        if not isinstance(a, Parsed) or not isinstance(b, Parsed):
            return False
        rounded = one.units != other.units or self._rounds(one, other)
        slack = _ROUNDED if rounded else Fraction(0)
        return abs(a.value - b.value) <= slack * max(abs(a.value), abs(b.value))

    def _rounds(self, one: Token, other: Token) -> bool:
        """Whether nothing but words of rounding stands between two numbers."""
        first, second = sorted((one, other), key=lambda token: token.start)
        return _ROUNDS.fullmatch(self.plain, first.end, second.start) is not None

    def _checked(self, index: int, found: Sequence[Statement]) -> Result[Fraction]:
        """The number, unless something beside it speaks against it."""
        result = self.values[index]
        claims = [claim for statement in found for claim in statement.claims]
        strongest = max(claim.role for claim in claims if index in claim.values)
        if not isinstance(result, Parsed) or strongest >= Role.STATED:
            return result
        if strongest <= Role.PLAIN and refuses(self.plain[self.numbers[index].end :]):
            return RefusedInWords()  # "… 33 mm yesterday; here I cannot tell"
        part = self.asked is COUNT and asks_for_part(self.plain, self.question)
        if part and strongest < Role.CONCLUDED:
            return Unparsed("a whole and a part of it")  # "24 are seen, 3 of them fractured"
        if result.flags and self.asked not in (COUNT, RATIO) and self._other_units():
            return _OTHER
        for claim in claims:
            if (
                claim.role is Role.WEAK
                or claim.negated
                or claim.certainty is Certainty.ASKED
                or strongest > claim.role
            ):
                continue
            for value in claim.values:
                token = self.numbers[int(str(value))]
                if value == index or self._serves_else(token):
                    continue
                trouble = self._conflict(token, result)
                if trouble is not None:
                    return trouble
        return result

    def _other_units(self) -> bool:
        """Whether a number in a unit of another kind stands beside; one in brackets explains."""
        return any(
            token.kind is Kind.VALUE
            and not _IN_BRACKETS.search(just_before(self.plain, token.start, 40))
            and token.units[0] is not None
            and token.units[0].to(self.asked) is None
            and token.units[0].dimension != "slices"
            for token in self.numbers
        )

    def _nothing(
        self, result: Result[object] | None, found: Sequence[Statement]
    ) -> Result[Fraction]:
        claims = [claim for statement in found for claim in statement.claims]
        if refuses(self.plain) and not any(
            claim.asserted and claim.role >= Role.LEAD for claim in claims
        ):
            return RefusedInWords()
        bare = _ANNOUNCED.sub("", self.plain)
        counted = (
            count_in_words(bare)
            if self.asked is COUNT
            and not any(claim.asserted and self._fits(claim) for claim in claims)
            else None
        )
        if counted is None and self.asked is COUNT and not claims and self._are_none(bare):
            counted = 0
        if counted is not None:
            return Parsed(Fraction(counted))
        if isinstance(result, Unparsed):
            together = sum(any(claim.asserted for claim in one.claims) for one in found) == 1
            return (
                Unparsed("several numbers")
                if result == SEVERAL or (result == CONTRADICTION and together)
                else result
            )
        reasons = [self.values[int(str(value))] for claim in claims for value in claim.values]
        told = next((reason for reason in reasons if isinstance(reason, Unparsed)), None)
        return told or Unparsed(
            "no number" if not claims else "numbers, but none is said to be the answer"
        )

    def _are_none(self, bare: str) -> bool:
        """Whether a reply without numbers says that there are none of what is counted."""
        if _none_of(bare, self.question):
            return True
        asked = _HOW_MANY.match(self.question.strip())
        return asked is not None and affirms(bare, f"Are there any {asked['things']}?") is False

    def _conflict(self, token: Token, result: Parsed[Fraction]) -> Unparsed | None:
        """A range or dimensions beside the only number:
        fine if they hold it or measure something else."""
        if token.kind in {Kind.VALUE, Kind.BOUND, Kind.LABEL, Kind.SPREAD}:
            return None
        if token.kind is Kind.RATIO and self.asked.dimension != "share":
            return None  # a window of 400/40
        if token.kind is Kind.UNCLEAR:
            return Unparsed(token.kind.value)
        parts = [self._converted(token, index) for index in range(len(token.parts))]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        inside = (
            min(known) <= result.value <= max(known)
            if token.kind is Kind.RANGE
            else result.value in known
        )
        return None if inside else Unparsed(token.kind.value)

    def _as_answer(self, token: Token) -> Result[Fraction]:
        parts = [self._converted(token, index) for index in range(len(token.parts))]
        known = [part for part in parts if part is not None]
        if token.kind is Kind.UNCLEAR:
            return Unparsed(token.kind.value)
        if len(known) < len(parts):
            return _OTHER if token.kind is Kind.VALUE else Unparsed(token.kind.value)
        flags = (UNIT_MISSING,) if self.asked is not COUNT and not any(token.units) else ()
        if token.kind is Kind.VALUE or (token.kind is Kind.ALTERNATIVES and len(set(known)) == 1):
            return Parsed(known[0], flags)
        if token.kind is Kind.RANGE and self.ranges == "midpoint" and len(known) == 2:
            return Parsed((known[0] + known[1]) / 2, flags)
        share = (
            token.kind is Kind.RATIO and self.asked.dimension == "share" and not any(token.units)
        )
        if share and len(known) == 2 and known[1]:
            return Parsed(known[0] / known[1] / self.asked.size)
        return Unparsed(token.kind.value)

    def _converted(self, token: Token, index: int) -> Fraction | None:
        """A part in the asked unit;
        a part without a unit takes that of the last part that has one."""
        value = token.parts[index]
        unit = token.units[index] or next((unit for unit in reversed(token.units) if unit), None)
        if value is None:
            return None
        factor = Fraction(1) if unit is None else unit.to(self.asked)
        return None if factor is None else value * factor
