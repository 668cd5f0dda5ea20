"""Whether a reply says yes or no."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from situs.score.read.assertions.echoes import echoed
from situs.score.read.assertions.propositions import affirms, placed_elsewhere
from situs.score.read.assertions.question_forms import usual_form
from situs.score.read.assertions.reaching import with_ends_as_places
from situs.score.read.assertions.relations import stated
from situs.score.read.likelihoods import likeliest
from situs.score.read.option_names.unequal import idle_beside_signs
from situs.score.read.presence import asked_to_exist, plainly_present
from situs.score.read.prose.claims import Certainty, Role, Statement
from situs.score.read.prose.content import content_words, words_of
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english, language_file
from situs.score.read.prose.refusal import cannot_tell, could_not_see, refuses
from situs.score.read.prose.resolve import decide
from situs.score.read.prose.tokens import Mention
from situs.score.read.remembered import remembered
from situs.score.read.reply import plain_reply
from situs.score.read.restated import denies, restates, said_to_be_there, same_question
from situs.score.read.result import CONTRADICTION, Parsed, RefusedInWords, Result, Unparsed

__all__ = ["bare_answers", "parse_yes_no"]

_SENTENCE = re.compile(r"[^.;!?\n\ue000\ue001]+")
_OPENING = re.compile(
    r"^[\s\"'(\[*>•–—-]*(?:\(?[0-9]{1,2}[.):] ?|\(?[a-z]\) )?[\s\"'(\[*]*", re.IGNORECASE
)
_HEDGED = re.compile(
    r"(?:(?:of course|certainly|clearly|definitely|indeed|"
    r"i(?:'d| would| do)? (?:think|believe|say|guess)|in my (?:view|opinion)|well|hmm*"
    r"|ok(?:ay)?|so|therefore|thus|hence|"
    r"on this (?:scan|slice|image)|"
    r"in this (?:case|scan|image|patient|study|volume)|here|on these images),? )?(?:that )?",
    re.IGNORECASE,
)
# "…, thus the claim "the liver is below" is false": the same at the end of a sentence.
_JUDGED = re.compile(
    r"\b(?:statement|claim|proposition|assertion|premise|hypothesis)(?: (?:that"
    r" [^.;!?\n]{1,120}|\"[^\"\n]{1,120}\"))?"
    r" (?:is|was|must be|seems|appears)(?: to be)?(?P<not> not)?(?: [a-z]+ly| indeed)? "
    r"(?:(?P<true>correct|right|true|accurate|valid)|(?P<false>incorrect|wrong|untrue|false|"
    r"inaccurate|invalid))$",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^\W*(?:(?:the |my |final |short )*(?:answer|ans|response|result|verdict|conclusion|a)\b"
    r"(?: is)?[:=]?|"
    r"[^:=]{0,60}[:=]) ?[\"'(\[*]*",
    re.IGNORECASE,
)
# "…, so the answer is affirmative": behind an announcement, words that otherwise must stand alone
# are answers.
_ANSWER_IS = re.compile(
    r"\b(?:answer|verdict|conclusion|response|reply|assessment|impression|opinion|determination)"
    r"(?: here| then| therefore"
    r"| to (?:the|your|this|that) question)?(?:,? therefore,?)?"
    r" ?(?:is|would be|must be|has to be|should be|remains|:)(?: an?| the)?(?: clear(?:ly)?|"
    r" definite(?:ly)?)? ",
    re.IGNORECASE,
)
# "…, but in this patient it is not": what a contrast leads to.
_TURNED = re.compile(
    r"\b(?:but|however|yet|though),? (?:(?:in this"
    r" (?:patient|case|scan|study|image|volume|one)|here"
    r"|on this (?:scan|slice|image)),? )?",
    re.IGNORECASE,
)
# "…, so it does", "…, and it isn't", "…, so the statement holds": what a sentence ends in.
_ENDING = re.compile(
    r"\b(?:so|thus|hence|therefore|consequently|which means)(?: that)?,? "
    r"|, and (?=(?:it|they|there) )",
    re.IGNORECASE,
)
# "One of the three lesions abuts it": any of them was asked about.
_ONE_OF = re.compile(
    r"\b(?:at least )?(?:one|two|three|some|several|all) of the (?:[a-z]+ )?(?P<what>lesions?"
    r"|cysts?|nodules?|masses|tumou?rs?)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:^|[.;\n])[ *-]*([A-Za-z][^.:;?\n]{0,60}): ", re.MULTILINE)
_LONGEST_LABELLED = 2_000
_CALLED = re.compile(
    r"^(?:that's|that is|it's|it is|this is) (?:an? )?(?=(?:affirmative|negative)$)"
)
_CLAUSE_MARK = re.compile(r"[,:–—(]")
_NUMBERED = re.compile(r"\.? ?[0-9]")
# "There is, however, an effusion" is no "there is".
_THERE_IS = re.compile(
    r"\b((?:there|it|that|this) (?:is|are|does|was)),"
    r" (?:however|though|in contrast|on the other hand|also|instead|nevertheless),(?= [a-z])",
    re.IGNORECASE,
)
# "There is no contact, however."
_TRAILING = re.compile(r", (?:however|though|then|after all)(?= ?(?:[.!;\n]|$))", re.IGNORECASE)
# "✅ The reader marked one", "❌ No tear is marked": a sign before a whole sentence adds nothing to
# what this says, and is as often a bullet.
_HEADED = re.compile(r"^[✅✓✔❌✗✘] ?(?=(?:[^\s✅✓✔❌✗✘]+ ){3})(?!.*[✅✓✔❌✗✘])", re.DOTALL)
# Left and right are the patient's in every question: it adds nothing to say so before a statement.
_PERSPECTIVE = re.compile(
    r"(?:(?<=^)|(?<=[.;\n] ))from the patient's (?:perspective|point of view|viewpoint) (?=the"
    r" |it )",
    re.IGNORECASE,
)
# "Yes, I can see the spleen. It is shorter": a yes to having found what the question is about.
_FOUND = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|okay|ok)\b[,.!]? (?:i (?:can |do )?(?:clearly )?(?:see|identify"
    r"|find|locate) (?:the|this|that|both) (?P<seen>[a-z -]{1,40})"
    r"|(?:the|both|both of the) (?P<there>[a-z -]{1,40}?) (?:is|are) (?:[a-z]+ly )?"
    r"(?:visible|seen|identified))"
    r"(?: (?:clearly|well|here|on (?:the|these|this) [a-z]+|in (?:the|these|this) [a-z]+))?"
    r"(?:[.!;] |, (?:and|but) )(?=\S)",
    re.IGNORECASE,
)
# "Not only does it reach the hilum, it also …": it does. Before a noun it is another matter.
_NOT_ONLY = re.compile(
    r"\bnot only (?=(?:does|do|did|is|are|was|were|has|have|can|touch|reach|abut|lie|extend)"
    r"[a-z]*\b)",
    re.IGNORECASE,
)
_THINGS = frozenset({"organ", "structure", "image", "slice", "scan", "lesion", "them", "two"})
_SEEING = frozenset({"see", "seen", "visible", "shown", "present", "there", "identified", "found"})
_CONDITIONS = {
    "torn": "tear",
    "ruptured": "rupture",
    "fractured": "fracture",
    "dilated": "dilatation",
    "displaced": "displacement",
    "dislocated": "dislocation",
    "herniated": "herniation",
    "swollen": "swelling",
    "thickened": "thickening",
}
"""A condition of a structure, and the finding that it is."""
_CONDITION = re.compile(
    rf"(?:is|are) (?:the )?(?P<structure>[a-z -]+?) (?P<condition>{'|'.join(_CONDITIONS)})"
    r"(?: (?:on|in) (?:this|the) [a-z]+)?\?",
    re.IGNORECASE,
)

_AS_PROGRAMS_WRITE = {"1": "YES", "0": "NO"}
_EVENTS = {
    "displace": "displacement", "compress": "compression", "invade": "invasion",
    "involve": "involvement", "infiltrate": "infiltration", "encase": "encasement",
    "obstruct": "obstruction", "narrow": "narrowing", "indent": "indentation",
}  # fmt: skip
"""What one structure does to another, and the finding that this is."""
_EVENT = re.compile(
    rf"(?:does|do) (?:the |this )?(?P<subject>[a-z -]+?) (?P<verb>{'|'.join(_EVENTS)}) (?:the"
    r" )?(?P<object>[^?]+)\?",
    re.IGNORECASE,
)
_TOWARDS = {"left": "leftward", "right": "rightward", "front": "anterior", "back": "posterior"}


@remembered
def parse_yes_no(text: str, question: str = "", *, language: str = "en") -> Result[bool]:
    """True for yes, False for no.

    "No" counts only as an answer, not as a determiner: "No abnormality is seen" says neither, but
    for a "No X" to a `question` that asks whether X is there. "Not yes" and "it is unlikely that
    the answer is yes" say no. A reply that only repeats the question's words as a statement, or
    their opposite, answers it too.
    """
    plain = plain_reply(text, language, question)
    if isinstance(plain, Unparsed):
        return plain
    share = _AS_PROGRAMS_WRITE.get(plain.strip(" ."), likeliest(plain))
    if share in {"YES", "NO"}:
        return Parsed(share == "YES")
    rest = _behind_found(plain, question)
    behind = parse_yes_no(rest, question, language=language) if rest else None
    if isinstance(behind, Parsed):
        return behind
    plain = _NOT_ONLY.sub("", plain)
    asks_for_any = re.search(r"\bany\b", question) is not None
    plain = with_ends_as_places(plain, question)
    question = usual_form(question)
    plain = _TRAILING.sub("", _THERE_IS.sub(r"\1", plain))
    plain = _HEADED.sub("", plain)
    plain = _ONE_OF.sub(r"a \g<what>", plain) if asks_for_any else plain
    plain = plainly_present(plain, question)
    plain = _PERSPECTIVE.sub("", plain)
    mentions = idle_beside_signs(plain, list(_mentions(plain)))
    found = statements(plain, mentions, english(), subjects=False, question=question)
    _answer_asides(found, plain, question)
    _weigh_labels(found, plain, question)
    _courtesies(found, plain)
    for statement in found:
        for claim in statement.claims:
            if claim.negated and claim.certainty is Certainty.ASSERTED:
                claim.values = tuple(not value for value in claim.values)
                claim.negated = False
    if _opens_politely(found, plain):
        rest = plain[found[0].end :].lstrip("!. ")
        answer = stated(rest, question)
        answer = restates(rest, question) if answer is None else answer
        return Unparsed("a courtesy or a yes") if answer is None else Parsed(answer)
    result = decide(found)
    if isinstance(result, Parsed):
        value = bool(result.value)
        return (
            CONTRADICTION if _both(value, found) else _unless_refused(value, plain, found, question)
        )
    if refuses(plain) and not isinstance(result, Unparsed):
        return RefusedInWords()
    if result is None:
        conditional = any(
            claim.certainty is Certainty.CONDITIONAL for one in found for claim in one.claims
        )
        answer = None if conditional else _in_other_words(plain, question)
        return Parsed(answer) if answer is not None else Unparsed("neither yes nor no")
    return result if isinstance(result, Unparsed) else Unparsed("neither yes nor no")


def _behind_found(plain: str, question: str) -> str:
    """What follows an opening yes that may only say that what the question is about is seen;
    nothing where the question asks for that."""
    found = _FOUND.match(plain)
    if found is None or _SEEING & set(words_of(question)):
        return ""
    seen = set(content_words(found["seen"] or found["there"]))
    named = seen <= {*content_words(question), *_THINGS}
    return plain[found.end() :] if seen and named else ""


def _in_other_words(plain: str, question: str) -> bool | None:
    """What a reply without yes or no states; nothing where what it found lies elsewhere."""
    answer = stated(plain, question)
    if answer is None:
        answer = _restated(plain, question)
    return None if answer and placed_elsewhere(plain, question) else answer


def _restated(plain: str, question: str) -> bool | None:
    """What a reply without yes or no says by repeating the question, or by what is there."""
    if denies(plain, question):
        return False
    there = said_to_be_there(plain, question)
    if there is None:
        there = restates(plain, question)
    condition = _CONDITION.fullmatch(question.strip())
    if there is None and condition:
        # "Is the meniscus torn?" asks whether there is a meniscus tear.
        noun = _CONDITIONS[condition["condition"].lower()]
        asked = f"Is there a {condition['structure']} {noun}?"
        there = False if denies(plain, asked) else stated(plain, asked)
    event = _EVENT.fullmatch(question.strip())
    there = _as_event(plain, event) if there is None and event else there
    there = affirms(plain, question) if there is None else there
    existing = asked_to_exist(question)
    # "No large tear" leaves open whether there is another.
    denied = re.search(r"\b(?:no|not|none|nothing|without|nor|never)\b|n't\b", plain.lower())
    return affirms(plain, existing) if there is None and existing and not denied else there


def _as_event(plain: str, event: re.Match[str]) -> bool | None:
    """ "Does the mass displace the aorta?" asks whether there is a displacement of the aorta."""
    asked = f"Is there a {_EVENTS[event['verb'].lower()]} of the {event['object']}?"
    towards = [word for side, word in _TOWARDS.items() if side in words_of(event["object"])]
    named = f"{asked} {event['subject']} {' '.join(towards)}"
    sentences = [sentence[0].strip() for sentence in _SENTENCE.finditer(plain)]
    denied = any(denies(sentence, named) for sentence in sentences)
    claimed = stated(plain, asked)
    return None if denied and claimed else False if denied else claimed


def bare_answers(plain: str) -> list[Mention]:
    """Every yes and no of a text that stands as an answer."""
    return list(_mentions(plain))


def _both(value: bool, found: Sequence[Statement]) -> bool:
    """Whether one sentence says yes and no of different things ("yes in the upper slices,
    no in the lower ones")."""
    for statement in found:
        claims = [
            claim for claim in statement.claims if claim.asserted and claim.role is not Role.WEAK
        ]
        latest = [
            claim
            for claim in claims
            if claim.turns == claims[-1].turns and claim.role < Role.CONCLUDED
        ]
        told = {bool(claim.values[0]) for claim in latest}
        if len(told) == 2 and not any(claim.role >= Role.CONCLUDED for claim in claims):
            return not any(
                claim.role >= Role.CONCLUDED
                for other in found
                for claim in other.claims
                if claim.asserted
            )
    return False


def _unless_refused(
    value: bool, plain: str, found: Sequence[Statement], question: str
) -> Result[bool]:
    """A "no" that heads a refusal ("No, I cannot determine this") says nothing."""
    strong = [
        claim
        for statement in found
        for claim in statement.claims
        if claim.role >= Role.LEAD and claim.asserted
    ]
    if not value and len(strong) == 1 and refuses(plain[strong[0].end : strong[0].end + 60]):
        return Unparsed("a no or a refusal")
    if (
        strong
        and all(claim.role is Role.LEAD for claim in strong)
        and _not_followed(plain[strong[-1].end :], question)
    ):
        return Unparsed("what is asked about was not seen")
    return Parsed(value)


def _not_followed(rest: str, question: str) -> bool:
    """Whether what comes later says that the very thing asked about could not be seen."""
    asked = set(content_words(question))
    return any(
        asked & set(content_words(sentence[0]))
        for sentence in _SENTENCE.finditer(rest)
        if could_not_see(sentence[0]) or cannot_tell(sentence[0])
    )


def _answer_asides(found: Sequence[Statement], plain: str, question: str) -> None:
    """A yes behind a question of the reply's own ("Is the vessel visible?

    Yes.") answers that one only.
    """
    for before, statement in itertools.pairwise(found):
        if (
            before.asks
            and statement.claims
            and not same_question(plain[before.start : before.end], question)
        ):
            first = statement.claims[0]
            if first.role <= Role.LEAD:
                first.role = Role.WEAK
        elif before.asks and statement.claims and before.claims:
            # "Is the answer yes? No." denies the claim of the question; the second word is the
            # answer.
            before.claims = [replace(claim, certainty=Certainty.ASIDE) for claim in before.claims]


def _weigh_labels(found: Sequence[Statement], plain: str, question: str) -> None:
    """ "Visible: yes. Larger than 20 mm: no." answers several questions;
    the label that is nearest to ours counts."""
    asked = set(content_words(question))
    labels = [
        (match.end(), len(asked & set(content_words(match[1]))))
        for match in _LABEL.finditer(plain, 0, _LONGEST_LABELLED)
    ]
    most = max((shared for _, shared in labels), default=0)
    if len(labels) < 2 or not most or sum(shared == most for _, shared in labels) > 1:
        return
    lesser = {end for end, shared in labels if shared < most}
    for statement in found:
        for claim in statement.claims:
            if claim.role < Role.FINAL and statement.announced is None:
                near = max((end for end, _ in labels if end <= claim.start), default=None)
                if near in lesser and near is not None and claim.start - near < 3:
                    claim.role = Role.WEAK


def _opens_politely(found: Sequence[Statement], plain: str) -> bool:
    """Whether the only answer is a "Certainly!" before other sentences:
    it may only greet the question."""
    claims = [
        claim for statement in found for claim in statement.claims if claim.role is not Role.WEAK
    ]
    if len(claims) != 1 or not found[0].claims or not found[1:]:
        return False
    word = plain[claims[0].start : claims[0].end].lower()
    return word in _words()["courtesies"] and plain[claims[0].end : claims[0].end + 1] == "!"


def _courtesies(found: Sequence[Statement], plain: str) -> None:
    """ "Sure! The answer is no.":
    a word that only opens the reply says nothing beside an answer."""
    claims = [claim for statement in found for claim in statement.claims]
    polite = [
        claim
        for claim in claims[:1]
        if plain[claim.start : claim.end].lower() in _words()["courtesies"]
    ]
    if polite and any(claim.asserted and claim.role >= Role.LEAD for claim in claims[1:]):
        polite[0].role = Role.WEAK
    for statement in found[1:]:
        for claim in statement.claims[:1]:
            heads = plain[claim.start : claim.end].lower() in _words()["courtesies"]
            if heads and plain[claim.end : statement.end].strip(" ,"):
                claim.role = Role.WEAK  # "Of course, a radiologist should check this."


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    return language_file("en")["yes_no"]


@lru_cache(maxsize=1)
def _alone() -> dict[str, bool]:
    words = _words()
    return {**dict.fromkeys(words["yes_alone"], True), **dict.fromkeys(words["no_alone"], False)}


@lru_cache(maxsize=1)
def _anywhere() -> re.Pattern[str]:
    words = _words()
    return re.compile(
        rf"(?<![\w-])(?:(?P<yes>{'|'.join(words['yes'])})|(?P<no>no|"
        rf"{'|'.join(words['no'])}))(?![\w-]|'\w)|(?P<tick>[✅✓✔])|(?P<cross>[❌✗✘])",
        re.IGNORECASE,
    )


def _mentions(plain: str) -> Iterator[Mention]:
    taken = 0
    for sentence in _SENTENCE.finditer(plain):
        alone = _standing_alone(sentence[0])
        if alone is None and (judged := _JUDGED.search(sentence[0].rstrip(" \"'*"))):
            value = (judged["true"] is not None) is (judged["not"] is None)
            alone = judged.start(), judged.end(), value
        if alone is not None:
            start, end, value = alone
            yield Mention(sentence.start() + start, sentence.start() + end, value)
            taken = sentence.start() + end
        for match in _anywhere().finditer(plain, max(taken, sentence.start()), sentence.end()):
            if match["no"] is None or match["no"].lower() != "no" or _answers(plain, match.end()):
                yield Mention(
                    match.start(),
                    match.end(),
                    match["yes"] is not None or match["tick"] is not None,
                )


def _standing_alone(sentence: str) -> tuple[int, int, bool] | None:
    """An answer that is the whole sentence, or all of it before the first comma."""
    opening = _OPENING.match(sentence)
    start = opening.end() if opening else 0
    hedge = _HEDGED.match(sentence, start)
    announced = _ANNOUNCED.match(sentence)
    heads = {start, hedge.end() if hedge else start, announced.end() if announced else start}
    for pattern in (_ANSWER_IS, _TURNED, _ENDING):
        heads |= {match.end() for match in list(pattern.finditer(sentence))[-1:]}
    for head in sorted(heads):
        comma = _CLAUSE_MARK.search(sentence, head)
        stops = [len(sentence.rstrip(" \"')]*"))]
        if comma:
            stops.append(len(sentence[: comma.start()].rstrip()))
        for stop in stops:
            words = " ".join(sentence[head:stop].lower().split())
            value = _alone().get(_CALLED.sub("", words))
            if value is None:
                value = echoed(words)
            if value is not None:
                return head, stop, value
    return None


def _answers(plain: str, end: int) -> bool:
    """Whether a "no" that ends here is an answer;
    before a noun it is a determiner, before a digit "number"."""
    rest = plain[end : end + 40]
    if _NUMBERED.match(rest):
        return False
    following = re.match(r" ?(?P<mark>[^\w\s]|\n|$)| (?P<word>[^\W_]+(?:'\w+)?)", rest)
    if following is None or following["word"] is None:
        return True
    return following["word"].lower() in _words()["clause_heads"] or following["word"].lower() in {
        "yes",
        "no",
    }
