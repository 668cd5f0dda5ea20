"""The profile of training data: the user's, in the coordinates and words of the target.

It is written beside the examples, and `situs run --profile DATA/profile.toml` then sends byte for
byte the prompts the model was trained on.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from situs.errors import SitusError
from situs.profiles import Profile
from situs.tune.forms import BoxForm
from situs.tune.targets import ANSWER_MARK

__all__ = ["profile_text", "training_profile"]

_ASKED = ("yes_no", "choice", "choices", "number", "frames", "text")
"""Forms whose answer is not a box itself.

Grades are parts of answers that ask for their box themselves.
"""
_ENDS = ("boxes+answer", "reasoning+boxes+answer")


def training_profile(
    profile: Profile, target: str, form: BoxForm, *, frames: str = "profile", size: int = 0
) -> Profile:
    """The profile whose prompts ask for the target."""
    view = profile.view
    if frames != "profile":
        view = msgspec.structs.replace(view, slices=_slices(frames), every_mm=None)
    if size:
        view = msgspec.structs.replace(view, size_px=None, width_px=size, height_px=size, fit="pad")
    if target == "answer":
        # No box is written. A control has the prompts of its box-supervised arm, whatever its form.
        return msgspec.structs.replace(profile, view=view)
    space = form.space(profile.answer)
    prompt = profile.prompt
    boxes = f"Answer with {form.words(space)}. {{coordinates}}"
    if form.name != "json":
        prompt = msgspec.structs.replace(prompt, boxes=boxes)
    asked = form.words(space)
    words = {
        name: _asking(getattr(prompt, name), target, asked)
        for name in _ASKED
        if not _asks_for_boxes(getattr(prompt, name))
    }
    if target.startswith("reasoning") and prompt.compound.startswith("Answer with"):
        words["compound"] = "Reason step by step. Then answer" + prompt.compound[len("Answer") :]
    prompt = msgspec.structs.replace(prompt, **words)
    return msgspec.structs.replace(profile, view=view, answer=space, prompt=prompt)


def _slices(frames: str) -> Any:
    if frames in ("all", "item"):
        return frames
    if re.fullmatch(r"[1-9]\d{0,3}", frames):
        return int(frames)
    raise SitusError(
        f"unknown choice of frames {frames!r}",
        where="--frames",
        fix="give profile, all, item or a number of slices",
    )


def _asks_for_boxes(words: str) -> bool:
    return "{coordinates" in words


def _asking(words: str, target: str, boxes: str) -> str:
    """The words about an answer, with boxes before, after or instead of it."""
    if target == "boxes":
        return f"Answer with {boxes}. {{coordinates}}"
    then = words[:1].lower() + words[1:]
    if target in _ENDS:
        reasons = (
            "Reason step by step. Then give" if target.startswith("reasoning") else "First give"
        )
        return (
            f"{reasons} {boxes}, for what the answer rests on ([] if there is nothing). "
            f'{{coordinates}} Then, on a new line after "{ANSWER_MARK.strip()}", {then}'
        )
    return (
        f'First, after "{ANSWER_MARK.strip()}", {then} Then, on a new line, give {boxes}, for what '
        "the answer rests on ([] if there is nothing). {coordinates}"
    )


def profile_text(profile: Profile) -> str:
    """The profile as TOML that `load_profile` reads back to the same profile."""
    plain: dict[str, Any] = msgspec.to_builtins(profile)
    plain.pop("gives")  # derived from the rest when it is read
    return "\n".join(_table((), plain)) + "\n"


def _table(path: tuple[str, ...], table: dict[str, Any]) -> list[str]:
    lines, nested = [], []
    for key, value in table.items():
        if value is None:
            continue
        if isinstance(value, dict):
            nested.append(("", key, value))
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            nested += [("[]", key, one) for one in value]
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    for kind, key, value in nested:
        name = ".".join(map(_key, (*path, key)))
        opened = f"[[{name}]]" if kind else f"[{name}]"
        lines += ["", opened, *_table((*path, key), value)]
    return lines


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the delete sign, which TOML wants escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)
