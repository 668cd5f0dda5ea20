"""The words a model is given."""

from __future__ import annotations

from situs.errors import SitusError
from situs.items import Item, Number
from situs.profiles._pictures import Picture
from situs.profiles._profile import Profile

__all__ = ["options_text", "prompt_text"]


def options_text(item: Item) -> str:
    """The options, a letter each."""
    return "\n".join(f"({letter}) {o.text}" for letter, o in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", item.options))


def question_text(item: Item, profile: Profile) -> str:
    """Question, options and how to answer: all that depends on the item."""
    how = getattr(profile.prompt, item.form, None)
    if how is None:
        raise SitusError(f"profile {profile.name!r} has no words for a {item.form} answer", fix="add it to [prompt]")
    unit = item.answer.unit if isinstance(item.answer, Number) else ""
    parts = [item.question, options_text(item), how.format(unit=unit)]
    return "\n".join(part for part in parts if part)


def prompt_text(item: Item, profile: Profile, pictures: list[Picture], modality: str) -> str:
    """The whole prompt beside the pictures."""
    axis = profile.view.plane.through
    between = 0.0
    if len(pictures) > 1:
        first, last = (p.to_world_origin() for p in (pictures[0], pictures[-1]))
        between = float(((last - first) ** 2).sum() ** 0.5) / (len(pictures) - 1)
    ends = {"superior_inferior": ("feet", "head"), "anterior_posterior": ("back", "front")}
    start, end = ends.get(axis.value, ("patient's left", "patient's right"))
    intro = profile.prompt.intro.format(
        frames=len(pictures),
        plane=profile.view.plane.value,
        modality={"ct": "CT", "mr": "MR"}.get(modality, modality),
        first=start,
        last=end,
        mm_per_pixel=pictures[0].mm_per_pixel[0],
        mm_between=between,
    )
    return f"{intro}\n\n{question_text(item, profile)}"
