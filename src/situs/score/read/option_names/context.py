"""Whether words that could name an option do so where they stand:
sides of the picture, idioms, other nouns."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.option_names.phrases import GENERIC, option_words
from situs.score.read.prose.beside import just_before
from situs.score.read.prose.content import opposites, other_forms
from situs.score.read.prose.lexicon import language_file

__all__ = ["contradicted", "idiom", "names_another", "of_picture", "seen_from", "told_apart"]

_APART = r"(?:distinguish\w*|differentiat\w+|discern\w*|discriminat\w+|separat\w+)"
_TWO = r"(?:the )?[a-z]+(?: (?!from\b|that\b|is\b)[a-z]+){0,2}"
# What is, or is not, told from one another: "I can't tell left from right", "left cannot be
# distinguished from right", "the left and right sides cannot be told apart".
_TOLD_APART = re.compile(
    rf"\b(?:tell(?:ing)?|{_APART})(?: between)? (?!you\b|me\b|us\b|that\b|it\b|from\b)"
    rf"{_TWO} (?:from|and) {_TWO}"
    rf"|\b{_TWO} (?:can(?:not| not|'t)?|could(?: not|n't)|is not|are not)(?: be)?(?: [a-z]+ly)? "
    rf"(?:told|{_APART})(?: apart)? from {_TWO}"
    rf"|\b{_TWO} and {_TWO} (?:can(?:not| not|'t)|could(?: not|n't)) be (?:told apart|{_APART})",
    re.IGNORECASE,
)

_PICTURE = (
    r"(?:image|picture|screen|slice|display|photo|scan|figure|frame|view|page|panel|viewer|"
    r"film|monitor)s?"
)

_OF_PICTURE = re.compile(
    r"(?:[ -]hand)?(?: (?:side|half|part|edge|portion|corner))? (?:of|in|on) (?:the |this |each"
    r" |every |my |your )?"
    rf"(?:[a-z]+ )?{_PICTURE}\b",
    re.IGNORECASE,
)

_PICTURE_BEFORE = re.compile(rf"\b{_PICTURE}(?:'s)?[ -]$", re.IGNORECASE)

# "In the image, it is on the left." may mean either left; "in the image, the left kidney …" names
# the kidney.
_PICTURE_LED = re.compile(
    rf"\b(?:in|on|within|from) (?:the |this |these |"
    rf"each )?(?:[a-z]+ )?{_PICTURE}\b[^.;!?\n]{{0,60}}\b(?:on|to|at|towards?) (?:the )?$",
    re.IGNORECASE,
)

_SIDE_ALONE = re.compile(
    r"(?:[ -]hand)?(?: side)?(?: of (?:it|the [a-z ]{1,30}))? ?(?:$|[.,;!?)\n])", re.IGNORECASE
)

# "Image left is the patient's right": how pictures are shown, not where anything lies.
_SIDE = r"(?:left|right)(?:[ -]hand)?(?: side)?"
_CONVENTION = re.compile(
    rf"\b(?:{_PICTURE}(?:'s)?[ -]{_SIDE}|{_SIDE}(?: side)? (?:of|in|on) (?:the |this |an? )?"
    rf"(?:[a-z]+ )?{_PICTURE})(?: side)?"
    r",?(?: usually| normally| always)? ?(?:=|→|->|≙|≡|(?:is|means|equals|shows|represents"
    r"|corresponds to|is equal to|being|depicts|displays)(?: usually| normally| always)?) ?"
    rf"(?:on )?(?:the |a )?(?:patient(?:'s)?|anatomic(?:al)?)[ -]{_SIDE}\b",
    re.IGNORECASE,
)

# "It is on image left = patient right" places something.
_PLACED_ON = re.compile(
    r"\b(?:on|in|at|is|are|was|lies|located|seen|appears|sits|towards?)(?: the)? $", re.IGNORECASE
)

_SIDED = re.compile(r"\b(?:left|right|top|bottom|upper|lower)\b", re.IGNORECASE)

_DIRECTED = re.compile(
    r"(?:^|[.;:!?,(/\"&<>→⇒\n\ue000-] ?|'s"
    r" |\b(?:on|to|in|at|from|the|its|is|are|was|were|be|towards?|or|and|"
    r"but|more|lies?|sits?|than|"
    r"located|situated|positioned|placed|found|seen|extends?|appears?|directly|\w+ly|slightly|so|"
    r"therefore|not|say|neither|nor|a|"
    r"answer|it's|directed|points?|pointing|further|farther|mostly|either|between|i'd"
    r" say|guess|think|"
    r"patient|anatomical(?:ly)?|likely|both|only|just|third|choose|pick|favou?rs?|prefer|exclude|"
    r"well|far|go|goes|going|it|them|looks?|(?:is|lies|sits) right) )$",
    re.IGNORECASE,
)

_NO_DIRECTION = re.compile(
    r"(?:\b(?:you are|you're|that is|that's|this is|which is|what is|is all|(?<!favour )(?<!favor"
    r" )of the|as) )$",
    re.IGNORECASE,
)

_IDIOM_AFTER = {
    "right": re.compile(
        r" (?:behind|above|below|next|beside|besides|in(?! th(?:e|is) patient)|on|at|under|over"
        r"|there|here|away|now|after|before|by|up|down|"
        r"through|between|where|into|around|against|along|about|to|near|answer|option|choice)\b"
        r"|, (?:so|let|i|now|here|ok|okay|this|we)\b",
        re.IGNORECASE,
    ),
    "left": re.compile(
        r" (?:to (?:see|say|do|be|show|assess)|over|out|alone|behind|with|untouched"
        r"|as (?:the|an?|my|our) (?:answer|only|sole|best|one|option|choice))\b",
        re.IGNORECASE,
    ),
}

_ADJECTIVE = re.compile(
    r"[ -](?:of|kidney|lobe|lung|side|sided|one|adrenal|ureter|half|ventricle|atrium|hip|femur|"
    r"breast|"
    r"upper|lower|middle|third|hemi\w+|hand)\b",
    re.IGNORECASE,
)


def told_apart(plain: str) -> list[tuple[int, int]]:
    """Where names only say what is, or is not, told from one another, or how pictures are shown."""
    apart = [match.span() for match in _TOLD_APART.finditer(plain)]
    shown = [
        match.span()
        for match in _CONVENTION.finditer(plain)
        if not _PLACED_ON.search(just_before(plain, match.start(), 30))
    ]
    return [*apart, *shown]


def of_picture(plain: str, phrase: str, start: int, end: int) -> bool:
    """Whether a side is that of the picture, as far as the words tell."""
    if not _SIDED.search(phrase) or re.search(rf"\b{_PICTURE}\b", phrase):
        return False
    before = just_before(plain, start, 100)
    if _OF_PICTURE.match(plain, end, end + 60) or _PICTURE_BEFORE.search(before[-60:]):
        return True
    side = phrase.removeprefix("the ")
    return bool(" " not in side and _PICTURE_LED.search(before) and _SIDE_ALONE.match(plain, end))


_ORGAN_NOUN = re.compile(r" ([a-z]+) ([a-z]+)", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[ -]([a-z]+)", re.IGNORECASE)


def names_another(plain: str, end: int, phrase: str, words: str) -> bool:
    """Whether attributes of an option stand before another noun ("right adrenal" for "right
    kidney").

    An adjective names its organ only before what lies in it ("splenic lesion"); alone it may be a
    vein's.
    """
    following = _NEXT_WORD.match(plain, end, end + 30)
    word = following[1].lower() if following else ""
    if words and phrase.split()[-1] in other_forms(words.split()[-1]):
        return word not in _IN_ORGAN
    attributes = words.startswith(f"{phrase} ") or f" {phrase} " in words
    if not attributes or not word:
        return False
    organ = _ORGAN_NOUN.match(plain, end, end + 40)
    if organ and other_forms(organ[1].lower()) and organ[2].lower() in words.split():
        return False  # "left cerebral hemisphere" for "left hemisphere"
    return word not in _behind_attributes() and word not in words.split()


def contradicted(plain: str, start: int, phrase: str, words: str) -> bool:
    """Whether the word before a part of an option is against
    the rest of it ("right parietal" for "left parietal")."""
    if len(phrase) >= len(words):
        return False
    before = _LAST_WORD.search(plain, max(0, start - 20), start)
    against = opposites().get(before[1].lower(), frozenset()) if before else frozenset()
    return any(word in against for word in words.split() if word not in phrase.split())


_LAST_WORD = re.compile(r"([a-z]+)[ -]$", re.IGNORECASE)

_IN_ORGAN = frozenset(
    {
        "lesion",
        "lesions",
        "mass",
        "masses",
        "tumour",
        "tumor",
        "cyst",
        "nodule",
        "finding",
        "metastasis",
        "parenchyma",
    }
)


@lru_cache(maxsize=1)
def _behind_attributes() -> frozenset[str]:
    """Words that may follow an attribute without being the noun that it belongs to."""
    vocabulary = language_file("en")
    fillers = vocabulary["fillers"]
    return frozenset(
        [
            *fillers["words"],
            *fillers["verbs"],
            *vocabulary["topic"]["idle"],
            *option_words()["behind_a"],
            *GENERIC,
        ]
    ) | {"region", "area", "aspect", "because", "where", "however", *_IN_ORGAN}


_SEEN_FROM = re.compile(
    r"\b(?:below|above|under|beneath|underneath|beyond|behind|in front of|anterior to|posterior"
    r" to|superior to|"
    r"inferior to|lateral to|medial to|(?:left|right) of"
    r"|count(?:ed|ing)(?: up(?:wards?)?| down(?:wards?)?)? from) (?:the )?$",
    re.IGNORECASE,
)


_ON_ITS_LEVEL = re.compile(
    r"(?:behind|in front of|anterior to|posterior to|lateral to|(?:left|right) of)", re.IGNORECASE
)
_VERTEBRA = re.compile(r"[ctls][0-9]{1,2}\b", re.IGNORECASE)


def seen_from(plain: str, start: int) -> bool:
    """Whether what is named only tells where something else lies ("below L2, at L3")."""
    seen = _SEEN_FROM.search(just_before(plain, start, 28))
    # "In front of the L4 vertebral body" is at the level of L4.
    return seen is not None and not (
        _ON_ITS_LEVEL.match(seen[0]) and _VERTEBRA.match(plain, start, start + 30)
    )


_NAMED_SO = re.compile(
    r" (?:vena cava|mesenteric|epigastric|phrenic|cruciate|communicating|sagittal sinus)\b",
    re.IGNORECASE,
)
"""Behind a word of direction that is part of a name."""


# "From top to bottom the thirds are …": an order, no place.
_FROM = re.compile(r"\bfrom (?:the )?$", re.IGNORECASE)
_ON_TO = re.compile(r" to (?:the )?[a-z]+", re.IGNORECASE)
_FROM_TO = re.compile(r"\bfrom (?:the )?[a-z]+ to (?:the )?$", re.IGNORECASE)


def idiom(plain: str, phrase: str, start: int, end: int) -> bool:
    """Whether a word of direction is none here:
    "right behind", "nothing left to see", "as I said above"."""
    if (
        " " in phrase
        or phrase.endswith("ly")
        or phrase not in _directions()
        or phrase in {"upper", "middle", "lower", "central", "mid"}
    ):
        return False
    if _NAMED_SO.match(plain, end, end + 20):
        return True  # "the inferior vena cava"
    before = just_before(plain, start, 60)
    if _FROM_TO.search(before) or (_FROM.search(before) and _ON_TO.match(plain, end, end + 20)):
        return True
    idiom = _IDIOM_AFTER.get(phrase)
    sided = phrase in {"left", "right"} and _ADJECTIVE.match(plain, end, end + 20)
    if idiom and idiom.match(plain, end, end + 30):
        return True
    if _NO_DIRECTION.search(before) and not sided:
        return True  # "of the right size"; "of the right kidney" names a side
    return not _DIRECTED.search(before) and not _ADJECTIVE.match(plain, end, end + 20)


@lru_cache(maxsize=1)
def _directions() -> frozenset[str]:
    words = {word.strip() for line in option_words()["directions"] for word in line.split("|")}
    return frozenset(
        words
        | {
            "medial",
            "lateral",
            "up",
            "down",
            "inside",
            "outside",
            "over",
            "under",
            "before",
            "after",
            "back",
        }
    )
