"""From a reply as a model writes it to plain text: no thinking, no markup, marked answers made
uniform.

Every pattern here runs in linear time: no nested repetition, and runs of white space are collapsed
before cues are sought.
"""

from __future__ import annotations

import re

from situs.score.read.prose.language import glossed
from situs.score.read.prose.markup.json_answers import mark_json
from situs.score.read.prose.markup.tables import rows_as_lines

__all__ = [
    "FINAL_CLOSE",
    "FINAL_OPEN",
    "LATEX_TEXT",
    "LONGEST_REPLY",
    "MOST_CHARACTERS",
    "clean",
    "visible",
    "without_spans",
]

MOST_CHARACTERS = 2_000_000
"""A reply that is longer is not read at all."""

LONGEST_REPLY = 20_000
"""Characters kept, from the end: answers stand there."""

FINAL_OPEN, FINAL_CLOSE = "\ue000", "\ue001"
"""Stand around an answer that markup (a box, an answer tag, JSON) declares final."""

_TRANSLATE: dict[int, str | None] = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full-width forms
    **dict.fromkeys(
        [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF, 0xAD], None
    ),
    **dict.fromkeys([0x2018, 0x2019, 0x201B, 0x2032, 0x02BC], "'"),
    **dict.fromkeys([0x201C, 0x201D, 0x201F], '"'),
    **dict.fromkeys([0x2010, 0x2011, 0x2212], "-"),
    **dict.fromkeys([0x00A0, 0x2002, 0x2003, 0x2004, 0x2005, 0x2007, 0x3000, 0x0B, 0x0C], " "),
    **dict.fromkeys([0x2009, 0x202F], "\u2009"),
    **dict.fromkeys([0x0D, 0x85, 0x2028, 0x2029], "\n"),
    0xE000: " ",
    0xE001: " ",
}
_THINK_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|analysis|scratchpad)"
_THINK_STEMS = ("think", "thought", "reasoning", "analysis", "scratchpad")
_THINK_OPEN = re.compile(rf"[<◁\[]{_THINK_NAMES}[>▷\]]", re.IGNORECASE)
_THINK_CLOSE = re.compile(rf"[<◁\[]/{_THINK_NAMES}[>▷\]]", re.IGNORECASE)
_CHANNEL_FINAL = "<|channel|>final<|message|>"

LATEX_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|texttt|mathrm|mathbf|mathit|operatorname)\s?\{([^{}]*)\}"
)
_LATEX_WORDS = {
    r"\times": "×",
    r"\cdot": "·",
    r"\approx": "≈",
    r"\sim": "~",
    r"\pm": "±",
    r"\%": "%",
    r"\$": " ",
}
_LATEX_WORD = re.compile(r"\\(?:times|cdot|approx|sim|pm)(?![A-Za-z])|\\[%$]")
_BOX = re.compile(
    r"\\(?:boxed|fbox)\s?\{([^{}]*)\}|<\|begin_of_box\|>([^<]*)<\|end_of_box\|>", re.IGNORECASE
)
_ANSWER_TAG = re.compile(
    r"<(?:(?:final_)?answer|final)(?: [^<>]{0,60})?>([^<]*)(?:</(?:(?:final_)?answer|final)>|$)",
    re.IGNORECASE,
)

# Other tags mark an answer only where they hold little more than one.
_SHORT_TAG = re.compile(
    r"<(response|ans|choice|result|output|prediction)>([^<]{1,60})</\1>", re.IGNORECASE
)

_SUBSTITUTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), replacement)
    for pattern, replacement in [
        (r"</?(?:b|i|u|p|em|strong|div|span|s|eos|bos|end_of_turn|pad)/?>|<\|[a-z_]{1,30}\|>", " "),
        (r"<sup>([0-9])</sup>", r"^\1"),
        (r"<br ?/?>", "\n"),
        (r"~~[^~\n]*~~", " "),
        (r"(?<=[0-9])\*\*(?=[0-9])", "^"),
        (r"\*\*|__|`", ""),
        (r"(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?!\w)", r"\1"),
        (r"(?<!\w)_(?=\S)([^_\n]+)(?<=\S)_(?!\w)", r"\1"),
        # A quotation below a colon ("Here is my estimate:\n> 58 mm"); elsewhere "> 58 mm" is a
        # bound.
        (r"(?<=:)( ?\n\s*)> (?=[0-9])", r"\1"),
        (r"^ ?(?:#{1,6} |>(?! ?[0-9]) |[*•] |[-–—] (?![0-9]))", ""),
    ]
)


def clean(text: str, *, language: str = "en", question: str = "") -> str:
    """The reply without thinking and markup, its tables as lines, in English words; empty if
    nothing is left.

    A cut reply begins with a line of its own that says so, so that its first words are not taken
    for the lead.
    """
    text = glossed(visible(text), language)
    text = re.sub(
        r"```(?:json|python|text|txt|plaintext|markdown|latex|yaml)?", " ", rows_as_lines(text)
    )
    text = _plain_latex(mark_json(text, FINAL_OPEN, FINAL_CLOSE, question))
    text = _BOX.sub(lambda match: _final(match[1] if match[1] is not None else match[2]), text)
    text = _ANSWER_TAG.sub(lambda match: _final(match[1]), text)
    text = _SHORT_TAG.sub(lambda match: _final(match[2]), text)
    text = re.sub(
        r"(?<=[0-9])\u2009(?=[0-9]{3}(?![0-9]))", "", text
    )  # 1 200 with the thin space of printers
    text = re.sub(r"[^\S\n]+", " ", text)
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    text = re.sub(r"[^\S\n]+", " ", text)
    return re.sub(r" ?\n\s*", "\n", text).strip()


def without_spans(text: str, opening: str, closing: str) -> str:
    """The text without every stretch from an opening mark to the next closing one; one that is
    never closed stays.

    What `re.sub("<open>.*?<close>", "", text)` gives, in linear time whatever the text.
    """
    parts: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        parts.append(text[position:start])
        position = end + len(closing)
    return "".join([*parts, text[position:]])


def visible(text: str, longest: int = LONGEST_REPLY) -> str:
    """The reply without its thinking, at most its last `longest` characters; markup stays."""
    if len(text) > MOST_CHARACTERS:
        return ""
    # Of ASCII only these few characters are put otherwise.
    if not text.isascii() or any(one in text for one in "\r\x0b\x0c"):
        text = text.translate(_TRANSLATE)
    text = _after_thinking(text)
    if len(text) <= longest:
        return text
    tail = text[-longest:]
    first_break = re.search(r"\s", tail)
    return "[cut]\n" + (tail[first_break.end() :] if first_break else tail)


def _after_thinking(text: str) -> str:
    """What follows the thinking; what precedes it if nothing follows."""
    channel = text.rfind(_CHANNEL_FINAL)
    if channel >= 0:
        text = text[channel + len(_CHANNEL_FINAL) :]
    # The same for ASCII, and ten times as quick.
    folded = text.lower() if text.isascii() else text.casefold()
    # Most replies hold none of these words: then the patterns need not be tried at every bracket.
    if not any(stem in folded for stem in _THINK_STEMS):
        return text
    end = 0
    for match in _THINK_CLOSE.finditer(text):
        end = match.end()
    after, before = text[end:], text[:end]
    reopened = _THINK_OPEN.search(after)
    if reopened:
        after = after[: reopened.start()]
    if after.strip() or not before:
        return after
    opened = _THINK_OPEN.search(before)
    return before[: opened.start()] if opened else ""


def _plain_latex(text: str) -> str:
    if "\\" not in text and "$" not in text and "{" not in text:
        return text
    text = re.sub(r"\^\{(-?[0-9]{1,2})\}", r"^\1", text).replace("{,}", ",")
    text = re.sub(r"\\d?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}", r"\1 / \2", text)
    text = _LATEX_WORD.sub(lambda match: _LATEX_WORDS[match[0]], text)
    for _ in range(2):
        text = LATEX_TEXT.sub(r"\1", text)
    text = re.sub(r"\\[,;:! ]", "\u2009", text)
    return re.sub(r"\\[()\[\]]|\$", " ", text).replace(" ^", "^")


def _final(answer: str) -> str:
    return f"{FINAL_OPEN}{answer.strip()}{FINAL_CLOSE}"
