"""Which grades a reply gives: JSON of the published knee form, or what models make of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from situs.score.read.graded_prose import passages, stated_grade
from situs.score.read.prose.clean import LATEX_TEXT, visible
from situs.score.read.prose.loose_json import Loose, loose_values
from situs.score.read.prose.refusal import refuses
from situs.score.read.result import Parsed, RefusedInWords, Result, Unparsed

__all__ = ["Offered", "parse_grades"]


@dataclass(frozen=True)
class Offered:
    """The grades that a question offers for one sub-score."""

    levels: Mapping[int, str]
    """Grade → what it means, in the words of the question."""
    absent: int | None = 0
    """The grade that means the sign is not there; None if none does."""


_MARKUP = re.compile(r"```[a-z]*|\*\*|__|`|\\boxed(?=\{)", re.IGNORECASE)
_HEDGED = re.compile(
    r"\b(?:if|whether|unclear|uncertain|otherwise|may be|might|could"
    r" be|cannot|not|\w+n['’]t|never|neither|nor|"
    r"unlikely|rather than|instead of|rules? out|ruled out|exclude[sd]?|no (?:grade|score))\b",
    re.IGNORECASE,
)
"""Words of a clause that says nothing for sure, or what is not so."""
_CLAUSES = re.compile(r"([.;\n])")
_FINAL = re.compile(
    r"\b(?:final(?:ly)? ?:|(?:final (?:diagnosis|answer|grades?|scores?)|in conclusion)\b\s*:?)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?P<key>[A-Za-z%][\w"
    r" %()/\-]{0,80}?)\s*(?:[:=→]|->|\bis\b|\bwas\b|\bof\b|\bas\b|\s[–—-]\s(?=[0-9])|"
    r"(?<=\w) (?=(?:grade|score)d?\b))\s*"
    r"(?:(?:a|an|MOAKS)\s+)?(?:(?:grade|score)d?\s*(?:of\s*)?[:=]?\s*)?"
    r"(?P<value>[0-9]{1,2}(?![0-9.]*[0-9%])|none|absent|present|yes|no|"
    r"(?:zero|one|two|three|four)(?=\s*(?:$|[.,;)\n])))\b"
    r"(?!\s*(?:%|percent|mm|cm|-|–|to\b|or\b|/(?!\s*[3-58]\b)))",
    re.IGNORECASE,
)
# "Grade 2 for size", "a 0 for depth": the grade before its name.
_FOR = re.compile(
    r"(?:\b(?:grade|score)d? (?:of )?|\ban? )(?P<value>[0-9]{1,2}) (?:for|in|on) (?:the )?"
    r"(?P<key>[a-z][a-z ]{0,40}?)(?= ?(?:[.,;)\n]|$|\band\b))",
    re.IGNORECASE,
)
_GRADED = re.compile(
    r"\b(?:grade|score)\s*(?:is|of|:|=)?\s*([0-9]{1,2})\b(?!\s*(?:-|–|to|or)\s*[0-9])",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\W*(?:(?:moaks )?(?:grade|score)\s*[:=]?\s*)?([0-9]{1,2})\W*", re.IGNORECASE)
_VALUE = re.compile(
    r"\s*(?:(?:moaks\s*)?(?:grade|score)\s*[:=]?\s*)?([0-9]{1,2})(?:\.0+)?(?=$|"
    r"[\s:;,(/\-–—.)])(.*)",
    re.IGNORECASE | re.DOTALL,
)
_NO_GRADE = re.compile(
    r"\s*(?:(?:\||-|–|—|or\b|to\b)\s*[0-9](?![0-9])|/(?!\s*[3-58]\b)|\.[0-9]|,?\s*(?:maybe|perhaps|"
    r"possibly)\b|%|percent|mm\b|cm\b)",
    re.IGNORECASE,
)
"""What stands behind a number that is no grade: a range, a fraction, a measure.

`2/3` is two out of three.
"""
_OF_THE_WHOLE = re.compile(r"%+ of the [a-z ]+$")
_SIGNED_SHARE = re.compile(r"(?P<sign>[<>]) ?(?=[0-9]+ ?%)")
_SHARES = re.compile(r"\b([0-9]{1,3}) ?%? ?[-–] ?([0-9]{1,3}) ?%")
_HIGHEST = 10
"""No scale goes further: a larger number is a measure."""
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")
_ROMAN_GRADE = re.compile(
    rf"\b((?i:grade|score)s?\s*[:=]?\s*)({'|'.join(_ROMAN)})\b(?!\s*(?:-|–|to|or|/)\s*[IV0-9])"
)
# Blanks before a cell, but no line breaks: these would be tried anew from each line of a long gap.
_CELLS = re.compile(r"^[^\S\n]*\|(.+)\|\s*$", re.MULTILINE)
_FORMAL = re.compile(r"^[^\S\n]*\||[{}]|\(0 ?=|[0-9] ?\| ?[0-9]|\b0 or 1\b", re.MULTILINE)
"""A table, a record or the legend of a scale: no prose."""
_MEASURES = frozenset({"size", "number", "percent", "depth"})
_ABSENT = frozenset({"none", "absent", "no", "normal", "negative", "not present", "false"})
_ANSWERS = frozenset({"no", "yes", "true", "false"})
"""Words that judge what stands beside them, as often as they are grades."""
_PRESENT = frozenset({"present", "yes", "positive", "true"})
_NUMERALS = {
    **{word: grade for grade, word in enumerate(("zero", "one", "two", "three", "four"))},
    **{roman.lower(): grade for grade, roman in enumerate(_ROMAN, start=1)},
}
_SKIPPED = re.compile(
    r"reason|explan|confiden|probab|thought|rationale|descri|box|slice|frame|coord|evidence|scale|"
    r"max|out"
    r" ?of|"
    r"(?:^|[_\W])mm(?:$|[_\W])|millimet|measurement"
)
_SAME = {
    "percentage": "percent", "%": "percent", "pct": "percent", "proportion": "percent",
    "share": "percent",
    "count": "number", "numbers": "number", "num": "number", "amount": "number", "bmls": "bml",
    "thickness": "depth", "full": "depth", "deep": "depth", "extent": "size", "area": "size",
    "lesions": "lesion",
    "excl": "excluding", "incl": "including", "present": "presence", "exists": "presence",
    "teared": "tear",
    "tears": "tear", "torn": "tear", "cysts": "cyst", "repaired": "repair", "meniscal": "meniscus",
    "anterior": "ant",
    "posterior": "post", "med": "medial", "lat": "lateral",
}  # fmt: skip
_NAMING = frozenset(
    {
        "name",
        "region",
        "finding",
        "subscore",
        "key",
        "label",
        "metric",
        "parameter",
        "feature",
        "criterion",
        "category",
    }
)
_FILLER = frozenset(
    {
        "of", "the", "a", "in", "at", "is", "on", "within", "that", "and", "or", "to", "for",
        "with", "by", "moaks",
        "scores", "score", "grade", "grades", "value", "answer", "subregion", "site", "result",
        "final", "diagnosis",
        "level", "severity",
    }
)  # fmt: skip


Said = int | str
"""A number, or a word whose grade depends on the scale."""


def parse_grades(
    text: str, names: Sequence[str], scales: Mapping[str, Offered]
) -> Result[dict[str, int]]:
    """The grade of each named sub-score that the reply tells; those it does not tell are left out,
    and it is flagged.

    Keys may differ in case, punctuation and wording: a value goes to the sub-score whose own words
    its path holds. Two different values for one sub-score leave it out. A schema that is only
    repeated ("0 | 1") says nothing. `scales` are those the question offers: a grade that is not on
    its scale is none, and its words are read. For a name without a scale any number up to 10 is a
    grade, and words of absence are 0.
    """
    words = frozenset(word for scale in scales.values() for word in _level_words(scale))
    plain = _ROMAN_GRADE.sub(
        lambda m: f"{m[1]}{_ROMAN.index(m[2]) + 1}",
        _MARKUP.sub("", LATEX_TEXT.sub(r"\1", visible(text))),
    )
    if not plain.strip():
        return Unparsed("empty")
    plain = _FOR.sub(r"\g<key>: \g<value>", plain)
    plain = _SIGNED_SHARE.sub(
        lambda sign: "less than " if sign["sign"] == "<" else "more than ", plain
    )
    plain = _SHARES.sub(r"\1 % to \2 %", plain)
    leaves = _leaves_of(plain, words)
    grades, contradictory = _assigned(leaves, names, scales)
    if not grades and not contradictory:
        grades = _by_passages(_after_final(plain), names, scales)
    if not grades:
        told = [
            pair
            for pair in (*_pairs(plain), *_cells(plain, words))
            if not _SKIPPED.search(pair[0].lower())
        ]
        grades, contradictory = _assigned(told, names, scales, prose=True)
    if not grades and not contradictory:
        grades = _shared(_sure(_after_final(plain)), names, scales)
    if not grades and len(names) == 1 and not contradictory:
        sure = _sure(_after_final(plain))
        alone = _ALONE.fullmatch(sure)
        stated: set[Said] = {
            int(value) for value in ([alone[1]] if alone else _GRADED.findall(sure))
        }
        if (word := _word(plain, words)) is not None:
            stated = {word}
        grade = _on_scale(stated.pop(), scales.get(names[0])) if len(stated) == 1 else None
        grades = {} if grade is None else {names[0]: grade}
    if not grades:
        if contradictory:
            return Unparsed("contradictory grades")
        return RefusedInWords() if refuses(plain) else Unparsed("no grade given")
    return Parsed(grades, () if len(grades) == len(set(names)) else ("partial",))


# "Both are 0.", "All sub-scores: 1".
_SHARED = re.compile(
    r"\b(?P<who>both|all)(?: of them)?(?: (?:the )?(?:two |three |four"
    r" )?(?:grades|scores|sub-?scores|values))?"
    r"(?:,? (?:are|get|equal|is|as)| ?[:=])?(?: graded?)? ?(?P<grade>[0-9]|zero)(?![0-9.,/]?[0-9])",
    re.IGNORECASE,
)


def _shared(sure: str, names: Sequence[str], scales: Mapping[str, Offered]) -> dict[str, int]:
    """One grade that a reply gives to all sub-scores, and no other number beside it."""
    found = _SHARED.search(sure)
    if found is None or len(re.findall(r"[0-9]+", sure)) > 1:
        return {}
    if found["who"].lower() == "both" and len(set(names)) != 2:
        return {}
    said = 0 if found["grade"].lower() == "zero" else int(found["grade"])
    grades = {name: _on_scale(said, scales.get(name)) for name in names}
    return {name: grade for name, grade in grades.items() if grade is not None}


def _after_final(plain: str) -> str:
    finals = list(_FINAL.finditer(plain))
    return plain[finals[-1].end() :] if finals else plain


def _sure(plain: str) -> str:
    """Without the clauses that say nothing for sure."""
    return "".join(clause for clause in _CLAUSES.split(plain) if not _HEDGED.search(clause))


def _leaves_of(plain: str, words: frozenset[str]) -> list[tuple[str, Said]]:
    """Path and grade of every leaf of the last JSON object that has any,
    the final answer's first."""
    for part in (_after_final(plain), plain):
        for found in reversed([found for found in loose_values(part) if _is_record(found.value)]):
            leaves = list(_leaves(found.value, "", 0, words))
            if leaves:
                return leaves
    return []


def _is_record(value: Loose) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(part, dict) for part in value)
    )


def _leaves(
    value: Loose, path: str, depth: int, words: frozenset[str]
) -> Iterator[tuple[str, Said]]:
    if isinstance(value, dict) and depth < 8:
        for name, part in value.items():
            if not _SKIPPED.search(name.lower()):
                yield from _leaves(part, f"{path} / {name}", depth + 1, words)
    elif isinstance(value, list) and depth < 8:
        if len(value) == 1 and not isinstance(value[0], dict):
            yield from _leaves(value[0], path, depth + 1, words)
        for part in value:
            if isinstance(part, dict):
                named = [
                    str(v) for k, v in part.items() if re.sub(r"[^a-z]", "", k.lower()) in _NAMING
                ]
                rest: Loose = {k: v for k, v in part.items() if str(v) not in named}
                yield from _leaves(rest, " / ".join([path, *named]), depth + 1, words)
    elif (said := _said(value, words)) is not None:
        yield path, said


def _said(value: Loose, words: frozenset[str] = frozenset()) -> Said | None:
    """What a cell says of a grade; None if it says none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return int(value) if 0 <= value == int(value) <= _HIGHEST else None
    if not isinstance(value, str):
        return None
    match = _VALUE.match(value)
    if match and _plain(value) not in words:
        return None if _NO_GRADE.match(match[2]) or int(match[1]) > _HIGHEST else int(match[1])
    return _word(value, words)


def _word(text: str, words: frozenset[str]) -> str | None:
    """A text that is nothing but a word for a grade."""
    told = _plain(text)
    return (
        told if told in words or told in _ABSENT or told in _PRESENT or told in _NUMERALS else None
    )


def _plain(text: str) -> str:
    """Without case and punctuation."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _level_words(scale: Offered) -> dict[str, int]:
    """The words of a scale's levels; not those that two levels share.

    Whole, up to a colon ("small: fluid …"), and without the whole that a share is of ("less than 33
    %").
    """
    told = [
        (_plain(part), grade)
        for grade, text in scale.levels.items()
        for part in {text, text.partition(":")[0], _OF_THE_WHOLE.sub("%", text)}
    ]
    count = Counter(word for word, _ in told)
    return {word: grade for word, grade in told if count[word] == 1 and not word.isdigit()}


def _on_scale(said: Said, scale: Offered | None) -> int | None:
    """The grade that a number or a word means on a scale;
    without one, words of absence are 0 and of presence 1."""
    number = said if isinstance(said, int) else _NUMERALS.get(said)
    if scale is None:
        return 0 if said in _ABSENT else 1 if said in _PRESENT else number
    if isinstance(said, str) and (told := _level_words(scale).get(said)) is not None:
        return told
    if said in _ABSENT:
        return scale.absent
    if said in _PRESENT:
        return 1 if set(scale.levels) == {0, 1} else None
    return number if number in scale.levels else None


def _pairs(plain: str) -> Iterator[tuple[str, Said]]:
    bare = _sure(_after_final(plain))
    bare = re.sub(r"\bout of\s*[0-9]+", "", bare if "{" in bare else re.sub("[\"']", "", bare))
    for part in re.split(
        r"[\n;]|(?<=[0-9)]),|(?<=[a-z0-9)])\.\s|\band\b(?=[^:\n]{0,40}[:=])", bare
    ):
        for match in _PAIR.finditer(part):
            said = _said(match["value"])
            # "size (0 = none" is the legend of a scale.
            if said is not None and not match["key"].rstrip()[-1:].isdigit():
                yield match["key"], said


def _by_passages(plain: str, names: Sequence[str], scales: Mapping[str, Offered]) -> dict[str, int]:
    """The grades that prose states, if it states one for
    each name and does not contradict itself; else none."""
    tokens = {name: _tokens(name) for name in names}
    common = Counter(token for own in tokens.values() for token in own)
    own_words = {
        name: frozenset(token for token in own if common[token] == 1)
        for name, own in tokens.items()
    }
    if len(tokens) < 2 or not all(own_words.values()) or _FORMAL.search(plain):
        return {}
    told: dict[str, set[int]] = {}
    for passage in passages(plain, own_words, _SAME):
        scale = scales.get(passage.name)
        words = [*(_level_words(scale) if scale else ()), *_ABSENT, *_PRESENT, *_NUMERALS]
        words = [word for word in words if word not in _ANSWERS and len(word) > 1]
        grade = stated_grade(passage.text, words, partial(_on_scale, scale=scale))
        if grade is not None:
            told.setdefault(passage.name, set()).add(grade)
    complete = len(told) == len(tokens) and all(len(grades) == 1 for grades in told.values())
    return {name: next(iter(told[name])) for name in tokens} if complete else {}


def _cells(plain: str, words: frozenset[str]) -> Iterator[tuple[str, Said]]:
    """The rows of a Markdown table: name and grade, or a row of names above a row of grades."""
    rows = [[cell.strip() for cell in match[1].split("|")] for match in _CELLS.finditer(plain)]
    rows = [row for row in rows if any(re.search(r"\w", cell) for cell in row)]
    if len(rows) == 2 and len(rows[0]) == len(rows[1]) and _said(rows[1][0], words) is not None:
        told = list(zip(rows[0], rows[1]))
    else:
        told = [(row[0], row[1]) for row in rows if len(row) > 1]
    yield from ((name, said) for name, cell in told if (said := _said(cell, words)) is not None)


def _assigned(
    leaves: Sequence[tuple[str, Said]],
    names: Sequence[str],
    scales: Mapping[str, Offered],
    *,
    prose: bool = False,
) -> tuple[dict[str, int], bool]:
    """Each leaf's grade under the one name its path speaks of, and whether some name got two
    grades.

    One leaf that names none goes to the one name that is left; not for a single name in prose,
    which speaks of more. What is not on the name's scale is no grade: a measure beside it, or,
    under the very same path, a contradiction.
    """
    tokens = {name: _tokens(name) for name in names}
    common = Counter(token for own in tokens.values() for token in own)
    said: dict[str, set[int]] = {}
    left: list[Said] = []
    off: set[str] = set()
    told: list[tuple[str, str, int]] = []
    for path, value in leaves:
        name = _spoken_of(_tokens(path), tokens, common)
        if name is None:
            left.append(value)
        elif (grade := _on_scale(value, scales.get(name))) is None:
            off.add(path)
        else:
            told.append((path, name, grade))
    for path, name, grade in told:
        if path not in off:
            said.setdefault(name, set()).add(grade)
    open_names = [name for name in tokens if name not in said]
    if (
        len(open_names) == len(left) == 1
        and len(leaves) == len(tokens)
        and not (prose and len(tokens) == 1)
    ):
        alone = _on_scale(left[0], scales.get(open_names[0]))
        said |= {} if alone is None else {open_names[0]: {alone}}
    grades = {name: next(iter(said[name])) for name in tokens if len(said.get(name, ())) == 1}
    return grades, any(len(values) > 1 for values in said.values())


def _spoken_of(path: set[str], tokens: dict[str, set[str]], common: Counter[str]) -> str | None:
    """The name whose words, weighed by how few names share them,
    the path holds most of; None if it is not one."""
    if len(tokens) == 1:
        ((name, own),) = tokens.items()
        return name if own & path or not own else None
    scores = {
        name: (
            0.0
            if (measures := own & _MEASURES) and not measures & path
            else sum(
                (1 if token in path else -0.25) / common[token]
                for token in own
                if common[token] < len(tokens)
            )
        )
        for name, own in tokens.items()
    }
    best = max(scores.values())
    top = [name for name, score in scores.items() if score == best]
    return top[0] if len(top) == 1 and best > 0 else None


def _tokens(words: str) -> set[str]:
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words).lower()
    found = re.findall(r"[a-z]+|%|[0-9]+", split)
    return {_SAME.get(token, token) for token in found} - _FILLER
