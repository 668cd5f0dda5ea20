"""The tool ladder: none, callipers, a truthful segmentation,
one that errs within its interval, one that lies."""

from __future__ import annotations

import msgspec

from situs.errors import SitusError, did_you_mean

__all__ = ["LIES", "Tools", "parse_tools"]

LIES: dict[str, str] = {
    "wrong-side": "left and right are exchanged",
    "cm-for-mm": "lengths in centimetres under the name of millimetres",
    "other-organ": "the measures of another organ under the name that was asked for",
    "stale-patient": "the measures of another patient",
    "constant": "the same measures whatever is asked",
}
"""Lie → what the tool says."""
_RUNGS = ("none", "callipers", "segmentation", "segmentation:noisy", "segmentation:lying:NAME")


class Tools(msgspec.Struct, frozen=True):
    """One rung of the ladder."""

    name: str
    callipers: bool = False
    segmentation: bool = False
    noisy: bool = False
    lie: str = ""
    """Empty for a tool that tells the truth."""


def parse_tools(text: str) -> Tools:
    """`none`, `callipers`, `segmentation`, `segmentation:noisy` or `segmentation:lying:NAME`."""
    match text.split(":"):
        case ["none"]:
            return Tools(text)
        case ["callipers"]:
            return Tools(text, callipers=True)
        case ["segmentation"]:
            return Tools(text, callipers=True, segmentation=True)
        case ["segmentation", "noisy"]:
            return Tools(text, callipers=True, segmentation=True, noisy=True)
        case ["segmentation", "lying", lie] if lie in LIES:
            return Tools(text, callipers=True, segmentation=True, lie=lie)
        case ["segmentation", "lying", *lie]:
            problem = f"unknown lie {':'.join(lie)!r}"
            raise SitusError(problem, where="--tools", fix=did_you_mean(":".join(lie), LIES))
        case _:
            raise SitusError(
                f"unknown tools {text!r}", where="--tools", fix=did_you_mean(text, _RUNGS)
            )
