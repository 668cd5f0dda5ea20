"""The same scan under another profile:
one slice, another convention, order or size, other words."""

from __future__ import annotations

import msgspec

from situs.profiles import Profile

__all__ = ["WORDINGS", "one_slice", "reconvened", "reordered", "resized", "worded"]

_replace = msgspec.structs.replace
_SMALLER = 0.75
_LONGEST_PX = 384
"""Of pictures that had the size of their voxels."""


def one_slice(profile: Profile) -> Profile:
    """The middle slice only, or that of the item or of its first mark.

    What the profile gives stays as it was: the items of the whole volume are asked of one slice.
    """
    view = profile.view
    plane = {"kind": "stack"} if view.kind == "three_views" else {}
    single = _replace(view, slices=1, every_mm=None, limit=None, montage=None, fps=None, **plane)
    return _replace(profile, name=f"{profile.name}+one-slice", view=single)


def reconvened(profile: Profile) -> Profile:
    """Radiological pictures become neurological ones,
    and the other way round; the prompt says so."""
    other = "neurological" if profile.view.display == "radiological" else "radiological"
    return _replace(
        profile, name=f"{profile.name}+convention", view=_replace(profile.view, display=other)
    )


def reordered(profile: Profile) -> Profile:
    """Slices come in the opposite order; the prompt says so."""
    other = "descending" if profile.view.order == "ascending" else "ascending"
    return _replace(
        profile, name=f"{profile.name}+slice-order", view=_replace(profile.view, order=other)
    )


def resized(profile: Profile) -> Profile:
    """Pictures of three quarters of the size; the prompt says how long a pixel is now."""
    view = profile.view
    if view.width_px is not None and view.height_px is not None:
        smaller = _replace(view, width_px=_less(view.width_px), height_px=_less(view.height_px))
    else:
        smaller = _replace(
            view, size_px=_LONGEST_PX if view.size_px is None else _less(view.size_px)
        )
    return _replace(profile, name=f"{profile.name}+spacing", view=smaller)


def _less(pixels: int) -> int:
    return max(16, round(_SMALLER * pixels))


WORDINGS: tuple[dict[str, str], ...] = (
    {
        "yes_no": "Please reply with one word: yes or no.",
        "choice": "Which option is correct? Please reply with its letter only.",
        "choices": (
            "Which options are correct? Please reply with their letters, separated by commas."
        ),
        "number": "Please reply with a single number{in_unit}.",
    },
    {
        "yes_no": 'Give your answer as JSON: {{"answer": "yes"}} or {{"answer": "no"}}.',
        "choice": 'Give your answer as JSON: {{"answer": "<letter>"}}.',
        "choices": 'Give your answer as JSON: {{"answer": ["<letter>", "<letter>"]}}.',
        "number": 'Give your answer as JSON: {{"answer": <number{in_unit}>}}.',
    },
    {
        "yes_no": "Look at the pictures first. Then end with a line 'Answer: yes' or 'Answer: no'.",
        "choice": (
            "Look at the pictures first. Then end with a line 'Answer: ' and the letter of the"
            " right option."
        ),
        "choices": (
            "Look at the pictures first. Then end with a line 'Answer: ' and the letters of all"
            " right options."
        ),
        "number": (
            "Look at the pictures first. Then end with a line 'Answer: ' and one number{in_unit}."
        ),
    },
)
"""Other ways to ask for the same answer: politely and short, as JSON, and after looking."""


def worded(profile: Profile, number: int) -> Profile:
    """The profile with another wording of how to answer; pictures and questions stay."""
    prompt = _replace(profile.prompt, **WORDINGS[number])
    return _replace(profile, name=f"{profile.name}+wording-{number + 1}", prompt=prompt)
