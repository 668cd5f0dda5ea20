"""The fields of a room: what a model may look at,
with which actions, and how much of it; data with a hash."""

from __future__ import annotations

from typing import Literal

import msgspec

from situs.base.files import canonical_json, digest
from situs.profiles import AnswerSpace, Profile
from situs.profiles.planes import Plane
from situs.profiles.schema import Draw, Encoding, Prompt, View, WindowRule

__all__ = ["ActionName", "Allowance", "Room"]

VERSION = "1"
"""Goes into every room's hash.

Raised whenever the same room would say other words or show other pixels.
"""

ActionName = Literal["look", "strip", "window", "mark", "measure", "segmentation", "note", "answer"]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the TOML file: a misspelt field is refused."""


class Allowance(_Table, frozen=True):
    """How much a session may take.

    Beyond it the model is asked to answer; nothing else is held against it.
    """

    looks: int = 64
    """Pictures, a strip being one."""
    turns: int = 96
    """Replies."""
    pixels: int = 32_000_000
    """Of all pictures together."""
    tokens: int | None = None
    """Of all prompts and replies together, as the server counts them."""


class Room(_Table, frozen=True):
    """What a model may do with a scan."""

    name: str
    windows: dict[str, dict[str, WindowRule]]
    """Modality → name → window; the first of each is where a session begins.

    `any` is for modalities not named.
    """
    about: str = ""
    """One line for people; not part of the hash."""
    actions: tuple[ActionName, ...] = ("look", "strip", "window", "note", "answer")
    planes: tuple[Plane, ...] = (Plane.AXIAL, Plane.CORONAL, Plane.SAGITTAL)
    size_px: int = 448
    """The longest side of a picture; both axes at the same scale in mm."""
    most_zoom: float = 8.0
    own_windows: bool = True
    """Whether `window` takes values as well as names."""
    strip: int = 16
    """Slices of a strip at most."""
    strip_px: int = 896
    """The longest side of a strip."""
    pictures_kept: int | None = None
    """How many of the latest pictures stay in the conversation; None keeps all.

    Older ones are told, not shown.
    """
    tells: tuple[Literal["modality", "size", "position"], ...] = ("modality", "size", "position")
    """What is said of the scan: its modality,
    the number and spacing of slices, and where they lie in mm."""
    display: Literal["radiological", "neurological"] = "radiological"
    budget: Allowance = Allowance()
    tools: str = "none"
    """`none`, `callipers`, `segmentation`, `segmentation:noisy` or `segmentation:lying:NAME`."""
    encoding: Encoding = Encoding()
    draw: Draw = Draw()
    answer: AnswerSpace = AnswerSpace()
    prompt: Prompt = msgspec.field(default_factory=lambda: Prompt(intro="", intro_pixels=""))

    @property
    def hash(self) -> str:
        """Equal rooms have equal hashes; every setting but `about` goes in."""
        return digest(VERSION, canonical_json(msgspec.structs.replace(self, about="")))

    def profile(self) -> Profile:
        """The space in which places are spoken of: every slice of the first plane, as a look
        without zoom shows it.

        Answers that name slices or boxes are read in it, so scores of rooms and of profiles mean
        the same.
        """
        view = View(plane=self.planes[0], slices="all", size_px=self.size_px, display=self.display)
        first = {
            modality: next(iter(modality_windows.values()))
            for modality, modality_windows in self.windows.items()
        }
        return Profile(
            name=f"room-{self.name}",
            window=dict(first),
            view=view,
            encoding=self.encoding,
            draw=self.draw,
            answer=self.answer,
            prompt=self.prompt,
            gives=self.gives(),
        )

    def gives(self) -> tuple[str, ...]:
        """The needs of items that the room meets, for a series with millimetres.

        Which side is where, is always said; all slices of its planes can be seen, so order and
        anchors follow.
        """
        met_needs = {"side_convention", "view_convention", "anchor", "slice_order", "frame_count"}
        if self.planes == (Plane.SAGITTAL,) and "position" not in self.tells:
            met_needs.discard("side_convention")
        if "size" in self.tells:
            met_needs.add("scale")
        if self.planes[0] is Plane.AXIAL:
            met_needs.add("axial_slices")
        return tuple(sorted(met_needs))
