"""Answers that a model wraps in JSON, or in what it takes for JSON."""

from __future__ import annotations

import json
import re

__all__ = ["mark_json"]

_MOST_OBJECTS = 40
"""Decoding is tried at so many braces from the end, which bounds the work on hostile replies."""

_ANSWER_KEYS = (
    "final_answer",
    "final answer",
    "finalanswer",
    "answer",
    "prediction",
    "choice",
    "option",
    "response",
)
_VALUE_KEYS = (*_ANSWER_KEYS, "letter", "value", "number", "count", "result", "text", "label")
_UNIT_KEYS = ("unit", "units")
_UNIT_SUFFIX = re.compile(r"[_ (](mm|cm|m|ml|l|cc)\)?$")
_ASIDE_KEY = re.compile(
    r"reason|explan|confiden|probab|thought|rationale|why|evidence|note|certainty"
)
_MEASURES = [
    (re.compile(noun), re.compile(asks, re.IGNORECASE))
    for noun, asks in [
        ("length|craniocaudal|height", r"\bhow long|\blength|top to bottom"),
        ("width", r"\bhow wide|\bwidth"),
        ("distance|separation|gap", r"\bdistance|\bhow far|\bapart"),
        ("diameter", r"\bdiameter"),
        ("volume", r"\bvolume of\b"),
        ("ratio|times|factor", r"\bhow many times\b|\bratio\b"),
        ("count|number|^n_lesion|total", r"\bhow many (?!times\b)"),
        ("thickness", r"\bthick"),
    ]
]
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_YES_NO = re.compile(
    r"(?:according to [a-z ]+, )?(?:is|are|was|were|does|do|did|has|have|can)\b", re.IGNORECASE
)
_LONGEST_LIST = 400
_LOOSE = re.compile(
    r"""["'](?:final[_ ]?answer|answer)["'] ?: ?(?:"([^"\n]*)"?|'([^'\n]*)'?|([^"'\[{},\n]+))""",
    re.IGNORECASE,
)
# Numbers stay as they are written: parsing them is the number parser's business.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def mark_json(text: str, opening: str, closing: str, question: str = "") -> str:
    """Replace each object that holds an answer by the answer between `opening` and `closing`."""
    listed = _list(text)
    if listed is not None:
        return f"{opening}{listed}{closing}"
    if "{" not in text:
        return text
    # Same length, so that positions agree: a dictionary as Python prints it.
    requoted = text.replace("'", '"')
    parts: list[str] = []
    done = 0
    for start in [match.start() for match in re.finditer(r"\{", text)][-_MOST_OBJECTS:]:
        if start < done:
            continue
        for source in (text, requoted):
            decoded = _decode(source, start)
            if decoded is None:
                continue
            is_whole_reply = _is_whole(text, start, decoded[1])
            answer = _answer(decoded[0], whole=is_whole_reply, question=question)
            if answer is not None:
                verdicts = "\n" in answer
                marks = ("", "") if verdicts else (opening, closing)
                parts += [
                    text[done:start],
                    marks[0],
                    answer if verdicts else " ".join(answer.split()),
                    marks[1],
                ]
                done = decoded[1]
            break
    marked = "".join([*parts, text[done:]])
    if parts:
        return marked
    return _LOOSE.sub(
        lambda match: f"{opening}{(match[1] or match[2] or match[3] or '').strip()}{closing}", text
    )


def _list(text: str) -> str | None:
    """A reply that is nothing but a list of words, as one answer."""
    bare = text.replace("`", "").strip().removeprefix("json").strip()
    if not (bare.startswith("[") and bare.endswith("]")) or len(bare) > _LONGEST_LIST:
        return None
    for source in (bare, bare.replace("'", '"')):
        try:
            value = _DECODER.decode(source)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            return " and ".join(value) if not _NUMBER.fullmatch(value[0]) else None
    return None


def _decode(source: str, start: int) -> tuple[dict[str, object], int] | None:
    try:
        value, end = _DECODER.raw_decode(source, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _is_whole(text: str, start: int, end: int) -> bool:
    return not text[:start].strip() and not text[end:].strip()


def _answer(record: dict[str, object], *, whole: bool, question: str) -> str | None:
    keys = {str(key).strip().lower(): value for key, value in record.items()}
    if len(keys) == 1 and isinstance(only := next(iter(record.values())), dict) and len(only) > 1:
        # {"options": {"A": "no", …}}: the verdicts, one level down
        inner = {str(key).strip().lower(): value for key, value in only.items()}
        keys = inner if all(len(key) == 1 for key in inner) else keys
    if len(keys) > 1 and all(
        len(key) == 1 and isinstance(value, str | bool) for key, value in keys.items()
    ):
        # A verdict on each option by its letter.
        return "\n".join(f"{key.upper()}: {_words(value)}" for key, value in keys.items())
    for key in _ANSWER_KEYS:
        if key in keys:
            return _with_unit(_words(keys[key]), keys)
    if any(key in keys for key in _UNIT_KEYS) and "value" in keys:
        return _with_unit(_words(keys["value"]), keys)
    answers = {
        key: value
        for key, value in keys.items()
        if not _ASIDE_KEY.search(key) and key not in _UNIT_KEYS
    }
    measured = [key for key in answers if _UNIT_SUFFIX.search(key)]
    asked = [key for key in answers if _names_measure(key, question)]
    if len(answers) > 1 and len(asked) == 1:
        answers = {
            asked[0]: answers[asked[0]]
        }  # {"n_slices": 19, "spacing_mm": 5, "length_cm": 9.5}
    elif len(answers) > 1 and len(measured) == 1:
        answers = {measured[0]: answers[measured[0]]}  # {"diameter_mm": 16.4, "slice": 28}
    verdicts = [value for value in answers.values() if isinstance(value, bool)]
    if whole and len(verdicts) == 1 and _YES_NO.match(question):
        return _words(verdicts[0])  # {"finding": "meniscus tear", "present": false}
    if whole and len(answers) == 1:
        ((key, value),) = answers.items()
        suffix = _UNIT_SUFFIX.search(key)
        words = _with_unit(_words(value), keys)
        return f"{words} {suffix[1]}" if suffix and _NUMBER.fullmatch(words) else words
    return None


def _names_measure(key: str, question: str) -> bool:
    """Whether a key names what a question asks for: "length_cm" for "How long …?"."""
    return any(noun.search(key) and asks.search(question) for noun, asks in _MEASURES)


def _with_unit(words: str, keys: dict[str, object]) -> str:
    unit = next((keys[key] for key in _UNIT_KEYS if key in keys), "")
    return (
        f"{words} {unit}".strip() if isinstance(unit, str) and not words.endswith(unit) else words
    )


def _words(value: object, depth: int = 0) -> str:
    """A decoded value as a model would have said it in words."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if depth > 3:
        return ""
    if isinstance(value, list):
        return " and ".join(_words(part, depth + 1) for part in value)
    if isinstance(value, dict):
        keys = {str(key).strip().lower(): part for key, part in value.items()}
        parts = [_words(keys[key], depth + 1) for key in _VALUE_KEYS if key in keys]
        return _with_unit(" ".join(parts), keys)
    return ""
