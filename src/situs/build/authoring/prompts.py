"""Questions as they are shown without a scan:
each text with its options once, and who is asked it."""

from __future__ import annotations

from typing import Any

import msgspec

from situs.base.files import digest
from situs.items import Item, answer_key

__all__ = ["Asked", "Prompt", "collect"]

_YES_NO = (("yes", "yes"), ("no", "no"))


class Asked(msgspec.Struct, frozen=True):
    """One item behind a prompt."""

    item_id: str
    patient_id: str
    key: str
    """Value of the right option. It is never shown."""


class Prompt(msgspec.Struct):
    """One text with its options."""

    prompt_id: str
    program: str
    question: str
    options: tuple[tuple[str, str], ...]
    """Value and text, by value."""
    stratum: str
    asked: list[Asked]

    @property
    def shown(self) -> dict[str, Any]:
        """What a critic sees: the options in an order that tells nothing."""
        order = sorted(self.options, key=lambda option: digest(self.prompt_id, option[0]))
        return {"question": self.question, "options": [text for _, text in order]}


def collect(prompts: dict[str, Prompt], item: Item, program: str) -> None:
    """Add an item to the prompts, under its text and options."""
    options = tuple(sorted((option.value, option.text) for option in item.options))
    key = answer_key(item.answer)
    if item.form == "yes_no":
        options = _YES_NO
    prompt_id = "q" + digest(program, item.question, *(value for value, _ in options), size=6)
    prompt = prompts.setdefault(
        prompt_id, Prompt(prompt_id, program, item.question, options, item.stratum, [])
    )
    if key is not None and options:
        prompt.asked.append(Asked(item.item_id, item.patient_id, key))
