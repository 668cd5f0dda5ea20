"""Which options a reply chooses, where several may be right."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from situs.items import Option
from situs.score.read.option_names import ALPHABET, OptionNames
from situs.score.read.option_names.excepted import with_rest_named
from situs.score.read.option_names.phrases import both_sides_named
from situs.score.read.option_names.runs import with_ranges_written, written_runs
from situs.score.read.option_names.unequal import idle_beside_signs
from situs.score.read.option_names.verdict_marks import verdicts_apart, with_words_for_marks
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.clean import FINAL_CLOSE, FINAL_OPEN, visible
from situs.score.read.prose.content import content_words, noun, words_of
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english, language_file
from situs.score.read.prose.loose_json import loose_values
from situs.score.read.prose.plans import set_aside_plans
from situs.score.read.prose.refusal import declines, refuses
from situs.score.read.prose.taken import Taken
from situs.score.read.prose.tokens import Mention
from situs.score.read.remembered import remembered
from situs.score.read.reply import plain_reply
from situs.score.read.result import Parsed, RefusedInWords, Result, Unparsed
from situs.score.read.stated_options import stated_options

__all__ = ["parse_choices"]

_LOWER_RUN = re.compile(r"[\s(]*[a-z](?:\)?[\s,;/&+.(]+(?:and )?[a-z])*[\s).]*")
_SPACED = re.compile(r"\W*[A-Z](?:[\s,;/&+.]+(?:and[\s,]+)?[A-Z])+\W*")
# "Options: A, B" as the whole reply names those chosen, not those offered.
_OPTIONS_HEAD = re.compile(
    r"(?:options?|findings?|letters?|answers?) ?(?::|are) ?(?=\S)", re.IGNORECASE
)
_PLUS = re.compile(r"(?<=\b[A-Z]) (?:plus|as well as|together with|along with) (?=[A-Z]\b)")
_FINAL = re.compile(f"{FINAL_OPEN}[^{FINAL_CLOSE}]*")
_GLUED = re.compile(r"(?:^|(?<=[\s\ue000:]))([A-Z]{2,10})(?=[.\s\ue001]|$)")
_KEYS = {
    "answer",
    "answers",
    "finalanswer",
    "choice",
    "choices",
    "selected",
    "options",
    "letters",
    "findings",
    "selection",
    "present",
    "visible",
    "seen",
    "applicable",
    "labels",
}
_EMPTY_LIST = re.compile(
    r"\s*(?:```(?:json)?)?[\s{]*(?:\"(?P<key>[A-Za-z_ ]{1,40})\"\s*:)?\s*\[\s*\][\s}]*(?:```)?\s*"
)
_NUMBERS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}
_JUDGED = re.compile(
    r"(all|none|nothing|everything|each)(?: (?P<number>two|three|four|five|six|[2-6]))?"
    r"(?: of (?:them|these(?: (?:organs|findings|options|structures|levels))?"
    r"|the (?:above|(?:[a-z]+ )?(?:list|options|findings|structures|organs)))"
    r"| (?:on|in|from) (?:this|the) list)?"
    r"(?: (?P<counted>two|three|four|five|six))?"
    r"(?: (?:findings|options|organs|structures|levels))?"
    r"(?: appl(?:y|ies)| (?:are|is|were|was|has been|have been|can be) (?:[a-z]+ly )?"
    r"(?:annotated|present|marked"
    r"|seen|visible|there|shown))?"
    r"(?: (?:on|in) this (?:slice|volume|scan|image))?"
)
# "It cuts none of them", "the slice shows all of them".
_DOES_ALL = re.compile(
    r"^(?:it|(?:the|this) (?:[a-z]+ )?(?:plane|slice|image|scan|lesion|volume|study)) [a-z]+s"
    r" (all|none)(?: of (?:them|these|those))?$"
)
# "None of the vertebrae is fractured", in words of the question.
_ALL_ARE = re.compile(
    r"(?P<whole>all|none)(?: of)?(?: the| these)?(?: (?:two|three|four|five|six))? (?P<noun>[a-z]+)"
    r" (?:are|is) (?P<state>[a-z]+)"
)
_NO_MEMBER = re.compile(
    r"no (?:[a-z]+ )?(?:organs?|structures?|findings?|options?|abnormalit(?:y|ies)|levels?)"
    r" (?:contains?|shows?|has|have|is|are|was|were|appl(?:y|ies))(?: [a-z]+){0,5}"
    r"|(?:i (?:can )?see |i find |there (?:is|are) )?(?:no|none of the)"
    r"(?: (?:abnormal|pathologic(?:al)?|such|of these))?"
    r" (?:findings?|abnormalit(?:y|ies)|pathology|options?)(?: is| are)?"
    r"(?: (?:seen|visible|present|annotated|identified|marked))?"
    r"(?: (?:from|among|of|on|in) (?:the|this|these) (?:list(?:ed)?|options?|four|slice|image)"
    r"(?: (?:ones|findings))?)?(?: (?:on|in) this (?:slice|image))?"
    r"|no [a-z][a-z -]{2,40}? (?:at any level|in any (?:of (?:them|these)|organ|structure)"
    r"|anywhere)"
)
# "The slice looks normal": nothing of what may be marked is there.
_NORMAL = re.compile(
    r"(?:(?:the|this) (?:slice|image|scan|knee|joint|picture|study) (?:looks|is|appears)"
    r" (?:entirely |completely |perfectly )?(?:normal|unremarkable))|nothing abnormal(?: is seen)?"
    r"|normal(?: study| slice| knee)?"
)
# A line that only says that what follows is not there.
_ABSENT_HEADING = re.compile(
    r"^(?:[^\w\n]|_)*[^\n:]{0,60}\b(?:not|never|without|no longer)\b[^\n:,;]{0,40}:\W*$"
    r"|^(?:[^\w\n]|_)*[^\n:]{0,60}n't\b[^\n:,;]{0,40}:\W*$"
    r"|^(?:[^\w\n]|_)*(?:[a-z]+ ){0,4}?(?:absent|not (?:[a-z]+ly )?"
    r"(?:annotated|present|marked|seen|visible|found|identified|there)"
    r"|negative|ruled out|excluded|missing)(?: (?:on|in) (?:this|the) [a-z]+)?\W*:\W*$",
    re.IGNORECASE | re.MULTILINE,
)
# "… (D) is seen lower down": what a verb says of the option before it.
_SAID_OF = re.compile(
    r"[)\]]* (?:is|are|was|were|shows?|has|have|lies?|sits?|starts?|begins?|ends?|appears?|looks?"
    r"|seems?|remains?|extends?|comes?|turn(?:s|ed)? out|proves?|proved)\b"
    r"(?P<words>[^,;.:\n]*)",
    re.IGNORECASE,
)
_BEING_THERE = frozenset(
    {
        "annotated", "present", "visible", "marked", "shown", "noted", "identified",
        "detected", "evident", "apparent", "positive", "affected", "involved", "cut",
        "hit", "crossed", "included", "true", "correct", "right", "yes", "chosen",
        "selected", "labelled", "labeled", "observed", "indicated", "listed", "likely",
        "probable", "too", "one", "two", "abnormal", "confirmed", "suspected", "reported",
        "clear", "obvious", "reader", "slice", "image", "scan", "volume", "finding",
        "findings", "lesion", "small", "large", "mild", "moderate", "severe", "subtle",
    }
)  # fmt: skip
"""What may be said of an option that is chosen."""
_NONE_OF_EACH = re.compile(
    r"(?:there(?: is|'s| are) |i (?:can )?see |findings: )?(?:no|neither|without) (?P<things>"
    r"(?:(?!\b(?:is|are|but|except|only|other)\b)[a-z, -])+?)"
    r"(?: (?:is|are|was|were) (?:seen|visible|present|marked|annotated|identified))?"
    r"(?: (?:on|in) (?:this|the) [a-z]+)?[.!]?",
    re.IGNORECASE,
)
_DENIALS = re.compile(r",? ?\b(?:and|or|nor)\b(?: no)?|, ?(?:no )?|\bno\b", re.IGNORECASE)
_SHORT_CONTENT = re.compile(r"[a-z]{3,}", re.IGNORECASE)
_LIST_END = re.compile(r"\n\s*\n|\n[^\n]*:[^\w\n:]*(?:\n|$)")
_UNSURE = Unparsed("not said for sure")


def parse_choices(
    text: str, options: Sequence[Option], question: str = "", *, language: str = "en"
) -> Result[tuple[str, ...]]:
    """The values of all options that the reply chooses, in the order of the options.

    By letters ("A, C", "(A)(C)", "AC", a JSON list), by the options' words, or by a verdict on each
    ("A: yes"). A final or announced answer wins over prose. What the `question` asks of the options
    may be said of each of them. Denied options do not count; "A or B" and "A, maybe C" leave the
    reply unread.
    """
    stated = stated_options(text, options, language)
    if stated is not None:
        return Parsed(tuple(option.value for option in stated))
    return _read_choices(text, options, question, language)


@remembered
def _read_choices(
    text: str, options: Sequence[Option], question: str, language: str
) -> Result[tuple[str, ...]]:
    """The same by grammar."""
    plain = plain_reply(text, language)
    if isinstance(plain, Unparsed):
        return plain
    if _is_empty_list(visible(text)):
        return Parsed(())
    structured = _given(visible(text))
    if structured:
        plain = f"Final answer: {structured}"
    head = _OPTIONS_HEAD.match(plain)
    if head and not re.search(r"[.\n] ?\S", plain[head.end() :]):
        plain = plain[head.end() :]
    plain = written_runs(with_words_for_marks(verdicts_apart(plain)), len(options))
    plain = plain.upper() if _LOWER_RUN.fullmatch(plain) else plain
    plain = _PLUS.sub(" and ", _FINAL.sub(lambda match: match[0].replace(";", ","), plain))
    names = OptionNames(options)
    plain = both_sides_named(plain, names.cores)
    names.several = True
    plain = with_rest_named(with_ranges_written(plain, names.cores), names)
    glued = _glued(plain, names)
    mentions = glued or idle_beside_signs(plain, names.mentions(plain), names.cores)
    sentences = statements(plain, mentions, english(), question="", offered=names.offered)
    set_aside_plans(sentences, plain, question)
    _deny_under_headings(sentences, plain)
    _doubt_other_predicates(sentences, plain, f"{names.offered} {question}")
    chosen = _chosen(sentences)
    if isinstance(chosen, Unparsed):
        return RefusedInWords() if refuses(plain) else chosen
    stated = any(
        claim.role >= Role.CONCLUDED for statement in sentences for claim in statement.claims
    )
    if chosen and not stated and declines(plain):
        return RefusedInWords()
    if any(index >= names.count for index in chosen):
        return Unparsed("no such option")
    if chosen and _half_named(plain, mentions, sentences, names):
        return Unparsed("an option is named in part")
    if chosen:
        return Parsed(
            tuple(option.value for index, option in enumerate(options) if index in chosen)
        )
    return _whole(plain, options, sentences, names, question)


def _by_one_word(text: str, names: OptionNames) -> set[int]:
    """Options of which a word that no other one has stands in the text ("the cyst")."""
    words = {noun(word.lower()) for word in _SHORT_CONTENT.findall(text)}
    owners = {
        word: [index for index in range(names.count) if word in _short_words(names, index)]
        for word in words
    }
    return {own[0] for own in owners.values() if len(own) == 1}


def _short_words(names: OptionNames, index: int) -> set[str]:
    return {noun(word.lower()) for word in _SHORT_CONTENT.findall(names.cores[index])}


def _denies_each(plain: str, names: OptionNames) -> bool:
    """Whether a reply is nothing but "no tear, no effusion …", up to the last option."""
    match = _NONE_OF_EACH.fullmatch(plain.strip())
    if match is None:
        return False
    parts = [part for part in _DENIALS.split(match["things"]) if part.strip()]
    return all(_by_one_word(part, names) for part in parts) and set().union(
        *(_by_one_word(part, names) for part in parts)
    ) == {*range(names.count)}


def _deny_under_headings(found: Sequence[Statement], plain: str) -> None:
    """Deny what is listed on the lines under "Findings absent:",
    up to an empty line or the next heading."""
    firsts, lasts = [], []
    for heading in _ABSENT_HEADING.finditer(plain):
        end = _LIST_END.search(plain, heading.end())
        firsts.append(heading.end())
        lasts.append(end.start() if end else len(plain))
    for statement in found:
        for claim in statement.claims:
            # The next heading ends a list: only the last one before a claim can deny it.
            above = bisect_right(firsts, claim.start) - 1
            if above >= 0 and claim.start < lasts[above]:
                claim.negated = True


def _doubt_other_predicates(found: Sequence[Statement], plain: str, known: str) -> None:
    """Doubt what is named only to say something else of it ("the liver is seen lower down")."""
    explained = set(content_words(known)) | _BEING_THERE
    for statement in found:
        for claim in statement.claims:
            behind = (other.start for other in statement.claims if other.start > claim.start)
            end = min(behind, default=statement.end)
            predicate = _SAID_OF.match(plain, claim.end, end)
            open_claim = claim.asserted and claim.role < Role.STATED and not claim.verdict
            if predicate and open_claim and set(content_words(predicate["words"])) - explained:
                opened = plain.rfind("(", statement.start, claim.start)
                aside = opened >= 0 and ")" not in plain[opened : claim.start]
                claim.certainty = Certainty.ASIDE if aside else Certainty.DOUBTED


def _chosen(found: Sequence[Statement]) -> set[int] | Unparsed:
    claims = _deciding(found)
    open_ones = [
        claim
        for claim in claims
        if not claim.negated
        and claim.certainty is not Certainty.ASIDE
        and claim.role is not Role.WEAK
    ]
    if any(claim.certainty is Certainty.DOUBTED or claim.alternatives for claim in open_ones):
        return _UNSURE
    if any(claim.certainty is Certainty.CONDITIONAL for claim in open_ones):
        return _UNSURE
    asserted = {
        int(str(value))
        for claim in claims
        if claim.asserted and claim.role is not Role.WEAK
        for value in claim.values
    }
    denied = {int(str(value)) for claim in claims if claim.denied for value in claim.values}
    if asserted & denied:
        return Unparsed("contradictory answers")
    return asserted


def _deciding(found: Sequence[Statement]) -> list[Claim]:
    """The claims that count: those of the last final statement, of the last announcement,
    or all since the last turn."""
    for role in (Role.FINAL, Role.STATED):
        marked = [
            index
            for index, one in enumerate(found)
            if any(claim.role is role and claim.asserted for claim in one.claims)
        ]
        if marked:
            last = marked[-1]
            claims = [claim for claim in found[last].claims if claim.role is role]
            for following in found[last + 1 :]:
                if not following.alone:
                    break
                claims += following.claims
            return claims
    claims = [claim for statement in found for claim in statement.claims]
    turned = [claim for claim in claims if claim.asserted]
    latest = turned[-1].turns if turned else 0
    return [claim for claim in claims if claim.turns == latest]


_CLAUSE = re.compile(r"[^,;]+")
_CONTENT = re.compile(r"[a-z]{5,}", re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"\b(?:no|not|without|normal|intact|unremarkable|absent|preserved|healthy|n't)\b|n't\b",
    re.IGNORECASE,
)


def _half_named(
    plain: str, mentions: Sequence[Mention], sentences: Sequence[Statement], names: OptionNames
) -> bool:
    """Whether a word of an option that is not claimed stands in a sentence with claims, as if it
    were meant.

    "A joint effusion with a torn meniscus" leaves open whether the option "meniscus tear" is chosen
    as well.
    """
    if any(claim.role >= Role.STATED for statement in sentences for claim in statement.claims):
        return False
    claimed = {
        value for statement in sentences for claim in statement.claims for value in claim.values
    }
    known = {
        word
        for index in claimed
        if isinstance(index, int) and index < names.count
        for word in _words_of(names, index)
    }
    unclaimed = {
        word
        for index in range(names.count)
        if index not in claimed
        for word in _words_of(names, index)
    } - known
    taken = Taken(plain)
    for mention in mentions:
        taken.take(mention.start, mention.end)
    for statement in sentences:
        for clause in (
            _CLAUSE.finditer(plain, statement.start, statement.end) if statement.claims else ()
        ):
            if not _NOT_FOUND.search(plain, statement.start, clause.end()):
                words = _CONTENT.finditer(plain, clause.start(), clause.end())
                if any(
                    noun(match[0].lower()) in unclaimed and not taken.holds(match.start())
                    for match in words
                ):
                    return True
    return False


def _words_of(names: OptionNames, index: int) -> list[str]:
    return [noun(word.lower()) for word in _CONTENT.findall(names.cores[index])]


def _glued(plain: str, names: OptionNames) -> list[Mention]:
    """The letters of "AC", where they are all of the answer and each an option."""
    if _SPACED.fullmatch(plain):
        marks = re.finditer("[A-Z]", plain)
        return [Mention(mark.start(), mark.end(), ALPHABET.index(mark[0])) for mark in marks]
    found: list[Mention] = []
    for match in _GLUED.finditer(plain):
        letters = match[1]
        alone = not re.search(r"[a-z]{2}", re.sub(r"(?i)answers?|options?|final|:", "", plain))
        if (
            alone
            and len(set(letters)) == len(letters)
            and max(map(ALPHABET.index, letters)) < names.count
        ):
            found += [
                Mention(match.start() + k, match.start() + k + 1, ALPHABET.index(letter))
                for k, letter in enumerate(letters)
            ]
    return found


def _is_empty_list(text: str) -> bool:
    """Whether a reply is nothing but a list without entries, under a key for the answer or bare."""
    empty = _EMPTY_LIST.fullmatch(text)
    key = empty and empty["key"]
    return empty is not None and (not key or re.sub(r"[^a-z]", "", key.lower()) in _KEYS)


def _given(text: str) -> str:
    """The answer of the last JSON object that has one, with words instead of letters' verdicts."""
    for found in reversed(list(loose_values(text, "{"))):
        for name, value in found.value.items() if isinstance(found.value, dict) else ():
            if re.sub(r"[^a-z]", "", name.lower()) in _KEYS and isinstance(value, str | list):
                words = value if isinstance(value, list) else [value]
                return " and ".join(word for word in words if isinstance(word, str))
    return ""


def _whole(
    plain: str,
    options: Sequence[Option],
    found: Sequence[Statement],
    names: OptionNames,
    question: str,
) -> Result[tuple[str, ...]]:
    """Replies that name no option: all of them, none of them, or no answer."""
    words = language_file("en")["options"]
    bare = re.sub(r"^(?:final answer|answer|the answer is|answers)\W*", "", plain.lower()).strip(
        " .!*\"'\ue000\ue001"
    )
    claimed = any(statement.claims for statement in found)
    bare = _DOES_ALL.sub(r"\1", bare)
    judged = _JUDGED.fullmatch(bare)
    number = judged and (judged["number"] or judged["counted"])
    if judged and number and _NUMBERS.get(number, number) != str(names.count):
        return Unparsed("another number of options")
    if judged:
        bare = "all" if judged[1] == "each" else judged[1]
    state = _ALL_ARE.fullmatch(bare)
    if state and {state["noun"], state["state"]} <= set(words_of(question)):
        bare = state["whole"]
    if bare in words["all"] and not any("all of the above" in core for core in names.cores):
        return Parsed(tuple(option.value for option in options))
    if _denies_each(plain, names):
        return Parsed(())
    none = bare in words["none"] or _NO_MEMBER.fullmatch(bare) or _NORMAL.fullmatch(bare)
    if none and not claimed:
        return Parsed(())
    return RefusedInWords() if refuses(plain) else Unparsed("no option named")
