"""Profiles from files: the shipped ones by name, or a user's own, checked as a whole."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from situs.base.files import parse_toml, read_text
from situs.base.remote import named_file
from situs.errors import SitusError, did_you_mean
from situs.items import Item
from situs.profiles.gives import derived_gives
from situs.profiles.schema import Profile
from situs.profiles.validity import problems_of

__all__ = ["load_profile", "shipped_profiles", "unmet_needs"]


def _folder() -> list[str]:
    folder = files("situs.profiles").joinpath("data")
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


def shipped_profiles() -> dict[str, str]:
    """The shipped profiles and what each is, in one line."""
    return {name: load_profile(name).about for name in _folder()}


def load_profile(spec: str) -> Profile:
    """A shipped profile by name, or the user's own TOML file."""
    if spec in _folder():
        text = files("situs.profiles").joinpath("data", f"{spec}.toml").read_text("utf-8")
    elif (path := named_file(spec)).is_file():
        text = read_text(path)
    else:
        raise SitusError("no such profile or file", where=spec, fix=did_you_mean(spec, _folder()))
    try:
        table = parse_toml(text)
        profile = msgspec.convert(table, Profile)
    except (ValueError, RecursionError) as error:
        raise SitusError(str(error), where=spec, fix="compare it with docs/profiles.md") from error
    if problems := problems_of(profile):
        raise SitusError("; ".join(problems), where=spec, fix="see docs/profiles.md")
    return _with_gives(profile, declared="gives" in table, spec=spec)


def _with_gives(profile: Profile, *, declared: bool, spec: str) -> Profile:
    real = derived_gives(profile)
    if not declared:
        return msgspec.structs.replace(profile, gives=tuple(sorted(real)))
    for need in profile.gives:
        if need not in real:
            problem = (
                f"it says it gives {need}, but"
                f" {_WHY_NOT.get(need, 'nothing of that name is known')}"
            )
            raise SitusError(
                problem, where=spec, fix=f"it gives: {', '.join(sorted(real)) or 'nothing'}"
            )
    return msgspec.structs.replace(profile, gives=tuple(sorted(set(profile.gives))))


_WHY_NOT = {
    "side_convention": (
        "the intro does not say where the patient's right is and no side letters are drawn"
    ),
    "view_convention": "the intro does not say how pictures lie and no side letters are drawn",
    "scale": (
        "neither the intro nor a scale bar tells how long a pixel is, and how far apart"
        " pictures are"
    ),
    "slice_order": "the intro does not say in which order the slices are, or there is one only",
    "axial_slices": "it does not show a stack of axial slices",
    "frame_count": "the intro does not say how many pictures there are",
    "anchor": "it does not show the volume from end to end",
}


def unmet_needs(item: Item, gives: tuple[str, ...]) -> list[str]:
    """What the item needs and the profile does not give;
    what must be seen is decided from the pixels."""
    return [need for need in item.needs if not need.startswith("sees:") and need not in gives]
