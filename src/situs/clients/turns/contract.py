"""What a model may do in a turn: named actions with few flat fields, each bounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from situs.errors import SitusError

__all__ = ["ActionKind", "Field", "schema_of", "tools_of"]


class Field(msgspec.Struct, frozen=True):
    """One argument of an action."""

    kind: Literal["text", "number", "whole", "choice", "numbers", "texts"]
    about: str = ""
    """One line for the model."""
    required: bool = False
    choices: tuple[str, ...] = ()
    """Of a choice."""
    longest: int = 200
    """Characters of a text, or of each of several."""
    least: float | None = None
    most: float | None = None
    """Of numbers, both included."""
    count: tuple[int, int] = (2, 3)
    """How many numbers or texts a list holds, at least and at most."""

    def schema(self) -> dict[str, Any]:
        """The field as JSON schema."""
        if self.kind == "choice":
            return {"type": "string", "enum": list(self.choices)}
        if self.kind == "text":
            return {"type": "string", "maxLength": self.longest}
        if self.kind in ("numbers", "texts"):
            fewest, most = self.count
            items: dict[str, Any] = {"type": "number"}
            if self.kind == "texts":
                items = {"type": "string", "maxLength": self.longest}
            return {"type": "array", "items": items, "minItems": fewest, "maxItems": most}
        bounds = {"minimum": self.least, "maximum": self.most}
        declared_bounds = {name: value for name, value in bounds.items() if value is not None}
        return {"type": "integer" if self.kind == "whole" else "number"} | declared_bounds


class ActionKind(msgspec.Struct, frozen=True):
    """An action by name, with its fields."""

    name: str
    about: str
    """One line for the model."""
    fields: dict[str, Field] = {}


def schema_of(kinds: Iterable[ActionKind]) -> dict[str, Any]:
    """One flat object for all actions: `action`, and every field of any of them, null where it does
    not apply.

    Servers that enforce schemas want every property required, so what an action does not use is
    null. Unions of objects are avoided: several servers accept and ignore them.
    """
    listed = list(kinds)
    fields: dict[str, Field] = {}
    for kind in listed:
        for name, field in kind.fields.items():
            known = fields.setdefault(name, field)
            if _shape(known) != _shape(field):
                raise SitusError(
                    f"two actions mean different things by {name!r}", fix="name one differently"
                )
    properties: dict[str, Any] = {
        "action": {"type": "string", "enum": [kind.name for kind in listed]}
    }
    for name, field in fields.items():
        properties[name] = _or_null(field.schema())
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def tools_of(kinds: Iterable[ActionKind]) -> tuple[dict[str, Any], ...]:
    """The same actions as tools of the chat-completions interface."""
    return tuple(
        {
            "type": "function",
            "function": {
                "name": kind.name,
                "description": kind.about,
                "parameters": {
                    "type": "object",
                    "properties": {
                        name: field.schema() | ({"description": field.about} if field.about else {})
                        for name, field in kind.fields.items()
                    },
                    "required": [name for name, field in kind.fields.items() if field.required],
                    "additionalProperties": False,
                },
            },
        }
        for kind in kinds
    )


def _shape(field: Field) -> Field:
    """What of a field goes into the common schema."""
    return msgspec.structs.replace(field, about="", required=False)


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    nullable = schema | {"type": [schema["type"], "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable
