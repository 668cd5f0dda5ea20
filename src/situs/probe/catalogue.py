"""The probes by name, and what kind of change each is."""

from __future__ import annotations

from typing import Literal

import msgspec

from situs.errors import SitusError, did_you_mean

__all__ = ["GROUPS", "PROBES", "Kind", "Probe", "choose_probes"]

Kind = Literal["blind", "representation", "patient", "choice"]


class Probe(msgspec.Struct, frozen=True):
    """One planned change."""

    kind: Kind
    about: str


PROBES: dict[str, Probe] = {
    "text": Probe("blind", "no picture at all; told to choose anyway"),
    "silent": Probe("blind", "no picture, and nothing said about it"),
    "blank": Probe("blind", "black pictures of the same number and size"),
    "noise": Probe("blind", "random grey in place of every picture"),
    "marks-on-blank": Probe(
        "blind", "black pictures with the marks, letters and bars that the profile draws"
    ),
    "one-slice": Probe("blind", "one slice in place of the volume"),
    "other-patient": Probe("blind", "the pictures of another patient under the same words"),
    "convention": Probe("representation", "the other display convention, and said so"),
    "slice-order": Probe("representation", "the slices in the opposite order, and said so"),
    "axis-order": Probe("representation", "the same scan stored with other axes"),
    "spacing": Probe("representation", "pictures of another size, their new spacing said"),
    "swap": Probe("patient", "another real patient with another answer to the same words"),
    "mirror": Probe("patient", "the patient's mirror image"),
    "flip-ap": Probe("patient", "the patient turned front to back, not declared"),
    "flip-si": Probe("patient", "the patient turned head to feet, not declared"),
    "reversed": Probe("patient", "the slices in the opposite order, not declared"),
    "shuffled": Probe("patient", "the slices in no order, not declared"),
    "painted-out": Probe("patient", "the largest lesion painted over"),
    "moved": Probe("patient", "the largest lesion elsewhere in its organ"),
    "copied": Probe("patient", "a second lesion like the largest in its organ"),
    "sham": Probe("patient", "healthy tissue painted over with the same brush"),
    "rotations": Probe("choice", "every rotation of the options"),
    "wordings": Probe("choice", "the same demand in other words"),
}
GROUPS: dict[str, tuple[str, ...]] = {
    "all": tuple(PROBES),
    **{kind: tuple(name for name, p in PROBES.items() if p.kind == kind) for kind in Kind.__args__},  # type: ignore[attr-defined]
    "lesions": ("painted-out", "moved", "copied", "sham"),
}
_WITH_SHAM = ("painted-out", "moved", "copied")


def choose_probes(text: str) -> list[str]:
    """Probes by comma-separated name or group, in the order of the catalogue.

    An edit of a lesion brings the sham edit with it.
    """
    wanted: set[str] = set()
    for name in (part.strip() for part in text.split(",")):
        if name in PROBES:
            wanted.add(name)
        elif name in GROUPS:
            wanted.update(GROUPS[name])
        else:
            known = did_you_mean(name, [*PROBES, *GROUPS])
            raise SitusError(f"unknown probe {name!r}", where="--probes", fix=known)
    if wanted.intersection(_WITH_SHAM):
        wanted.add("sham")
    return [name for name in PROBES if name in wanted]
