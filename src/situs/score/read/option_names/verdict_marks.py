"""Verdicts on options in signs: bits ("tear: 1"), plus and minus, ticked boxes ("☑ A ☐ B");
and in a row ("A) yes B) no C) yes"), where a verdict stands before the next letter as well."""

from __future__ import annotations

import re

from situs.score.read.option_names.phrases import ALPHABET

__all__ = ["verdicts_apart", "with_words_for_marks"]

_FOR = ("yes", "true", "present", "correct", "positive", "seen", "visible", "annotated", "marked")
_AGAINST = (
    "no", "false", "absent", "incorrect", "wrong", "negative",
    *(f"not {word}" for word in _FOR if word not in ("yes", "true")),
)  # fmt: skip
_OPEN = ("maybe", "possibly", "perhaps", "partially", "partly", "unclear", "unsure", "uncertain")
_WORDS = {
    **dict.fromkeys(_FOR, "yes"),
    **dict.fromkeys(_AGAINST, "no"),
    **dict.fromkeys(_OPEN, "maybe"),
}
# "A) yes", "(B) no.", "C. Yes;", "D behind - no,": a letter, perhaps the words of its option, and a
# verdict.
_JUDGED = re.compile(
    r"\(?(?P<letter>(?-i:[A-Z]))"
    r"(?:\)[.:]?|[.:=]| (?=(?-i:[a-z–—-])|(?:yes|no|true|false|present|absent)\b))[ =–—-]*"
    r"(?:(?P<words>[a-z0-9][^\n():;.=]{0,60}?) ?[:=–—-] ?)??"
    rf"(?P<verdict>{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b(?P<end>[ .,;|/\n]*)",
    re.IGNORECASE,
)

# A bit, a sign or a letter that ends what is said of a name before it.
_MARK = re.compile(
    r"[\"')\]]*+ ?(?:[:=→]|->) ?[\"']?(?P<mark>[01]|[+−–-]|[yYnN])[\"']?"
    r"(?=[ \t]*+(?:[,;.}\n]|$))[,;.]?"
)
_BRACKETED = re.compile(r"(?<=[a-zA-Z]) ?\((?P<mark>[01+−–-])\)[,;.]?")
_BOX = re.compile(r"(?P<box>[☑☒✅☐⬜]) ?(?P<name>[^☑☒✅☐⬜\n]{1,80})")
_POSITIVE = frozenset("1+yY")
_TICKED = frozenset("☑☒✅")
_BOXES = _TICKED | frozenset("☐⬜")
_FEWEST = 2
"""Verdicts that make a list of them."""


def with_words_for_marks(plain: str) -> str:
    """The reply with "yes" and "no" on a line of its own for each verdict in signs."""
    for pattern in (_MARK, _BRACKETED):
        if len(pattern.findall(plain)) >= _FEWEST:
            plain = pattern.sub(_verdict, plain)
    if plain.lstrip(" -*•")[:1] in _BOXES and ("☐" in plain or "⬜" in plain):
        plain = _BOX.sub(
            lambda match: (
                f"{match['name'].strip(' ,;.')}: {'yes' if match['box'] in _TICKED else 'no'}\n"
            ),
            plain,
        )
    return plain


def verdicts_apart(plain: str) -> str:
    """The reply with each of a row of verdicts on a line of its own; as it is where the letters do
    not follow one another from A, or something else stands between them."""
    first = re.search(r"(?:^|(?<=[\n:\ue000] )|(?<=[\n:\ue000]))\(?A\b", plain)
    if first is None:
        return plain
    lines, end = list[str](), first.start()
    while judged := _JUDGED.match(plain, end):
        if judged["letter"] != ALPHABET[len(lines)]:
            break
        lines.append(f"{judged['letter']}: {_WORDS[judged['verdict'].lower()]}\n")
        end = judged.end()
    if len(lines) < _FEWEST or re.match(r"\(?[A-Z]\b", plain[end:]):
        return plain
    return f"{plain[: first.start()]}\n{''.join(lines)}{plain[end:]}"


def _verdict(match: re.Match[str]) -> str:
    return ": yes\n" if match["mark"] in _POSITIVE else ": no\n"
