"""A profile: exactly what a model is shown, as data with a hash."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import msgspec

from situs._files import canonical_json, digest, read_text
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.profiles._planes import Plane

__all__ = ["INTRO_SLOTS", "Profile", "Prompt", "View", "WindowRule", "load_profile", "unmet_needs"]


INTRO_SLOTS: dict[str, str | int | float] = {
    "frames": 1,
    "plane": "axial",
    "modality": "CT",
    "first": "feet",
    "last": "head",
    "mm_per_pixel": 1.0,
    "mm_between": 1.0,
}
"""What the intro may speak of, with a value of each kind."""


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which slices, and how large."""

    plane: Plane
    slices: int
    size_px: int


class WindowRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is black and what is white: fixed values, or percentiles of the volume."""

    low: float | None = None
    high: float | None = None
    low_percentile: float | None = None
    high_percentile: float | None = None


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words around the question."""

    intro: str
    yes_no: str
    choice: str
    number: str


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model is shown and told."""

    name: str
    gives: tuple[str, ...]
    """Needs of items that it meets."""
    view: View
    window: dict[str, WindowRule]
    """By modality."""
    prompt: Prompt

    @property
    def hash(self) -> str:
        """Equal profiles have equal hashes."""
        return digest(canonical_json(self))


def _shipped() -> list[str]:
    folder = files("situs.profiles").joinpath("data")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_profile(spec: str) -> Profile:
    """A shipped profile by name, or the user's own TOML file."""
    if spec in _shipped():
        text = files("situs.profiles").joinpath("data", f"{spec}.toml").read_text("utf-8")
    elif Path(spec).is_file():
        text = read_text(Path(spec))
    else:
        raise SitusError("no such profile or file", where=spec, fix=did_you_mean(spec, _shipped()))
    try:
        profile = msgspec.convert(tomllib.loads(text), Profile)
    except (ValueError, RecursionError) as error:
        raise SitusError(str(error), where=spec, fix="compare it with the shipped default profile") from error
    if profile.view.slices < 1 or not 16 <= profile.view.size_px <= 4096:
        raise SitusError("needs at least one slice, of 16 to 4096 px", where=spec, fix="change [view]")
    _check_prompt(profile, spec)
    for modality, rule in profile.window.items():
        fixed = rule.low is not None and rule.high is not None and rule.low < rule.high
        share = rule.low_percentile, rule.high_percentile
        relative = share[0] is not None and share[1] is not None and 0 <= share[0] < share[1] <= 100
        if fixed == relative:
            fix = "give low < high, or low_percentile < high_percentile"
            raise SitusError(f"window of {modality} is not one range", where=spec, fix=fix)
    return profile


def _check_prompt(profile: Profile, spec: str) -> None:
    """Every slot in the prompt's words is one that Situs fills."""
    words = {name: getattr(profile.prompt, name) for name in profile.prompt.__struct_fields__}
    for name, text in words.items():
        known = INTRO_SLOTS if name == "intro" else {"unit": ""}
        try:
            text.format(**known)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            fix = f"known slots: {', '.join(known)}"
            raise SitusError(f"prompt.{name} has a slot that is not known ({error})", where=spec, fix=fix) from error


def unmet_needs(item: Item, gives: tuple[str, ...]) -> list[str]:
    """What the item needs and the profile does not give; what must be seen is decided from the pixels."""
    return [need for need in item.needs if not need.startswith("sees:") and need not in gives]
