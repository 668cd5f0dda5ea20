"""A small reader that really looks: it measures organs and lesions in the pictures it is shown, and
answers from that.

It receives what any model receives, pictures and words, through `answer(request)`. It knows
synthetic patients only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from situs.clients import Request
from situs.demo.anatomy import Finding, Findings, measure_findings
from situs.demo.guesser import guess, options_of
from situs.demo.sight import classify, stack_of

__all__ = ["PhantomReader"]

_PIXEL = re.compile(r"One pixel is ([\d.]+) mm; neighbouring pictures are ([\d.]+) mm apart")
_ORGAN = r"(liver|spleen|left kidney|right kidney)"
_LESION = r"largest (?:(liver|kidney|splenic) )?lesion"
_NEIGHBOURS_MM = {
    "the inferior vena cava": ("kidney_right", (40.0, -5.0, 45.0)),
    "the aorta": ("kidney_left", (40.0, -5.0, -45.0)),
    "the right adrenal gland": ("kidney_right", (60.0, -5.0, 15.0)),
    "the left adrenal gland": ("kidney_left", (60.0, -5.0, -15.0)),
    "the gallbladder": ("liver", (-50.0, -35.0, 10.0)),
    "the stomach": ("spleen", (0.0, -60.0, -40.0)),
}
"""Structures it does not recognise → roughly where they lie from one that it does:
to the head, back and left."""


class PhantomReader:
    """Measures the pictures with a perceptron trained on other synthetic patients,
    and answers by rule."""

    remote = False

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], Findings] = {}

    def answer(self, request: Request) -> str:
        """One reply, with what was measured."""
        words = request.text()
        scale = _PIXEL.search(words)
        if not request.images() or scale is None:
            return f"I see no picture with a scale, so this is a guess. {guess(words)}"
        for pattern, reply in _RULES:
            match = pattern.search(words)
            if match:
                measured = reply(match, words, self._findings(request, scale))
                return (
                    measured
                    or f"I do not find it in the pictures, so this is a guess. {guess(words)}"
                )
        return f"I did not learn to measure this, so this is a guess. {guess(words)}"

    def _findings(self, request: Request, scale: re.Match[str]) -> Findings:
        pictures = request.images()
        key = tuple(picture.digest for picture in pictures)
        if key not in self._seen:
            stack = stack_of(
                [picture.data for picture in pictures],
                float(scale[1]),
                float(scale[2]),
                is_ct=" CT " in request.text(),
            )
            # Questions come patient by patient: one is enough to remember.
            self._seen = {key: measure_findings(classify(stack))}
        return self._seen[key]


def _organ(name: str | None, findings: Findings) -> Finding | None:
    parts = (name or "").split()
    return findings.organs.get("_".join(reversed(parts)))


def _lesion(kind: str | None, findings: Findings) -> Finding | None:
    stem = {"splenic": "spleen", None: ""}.get(kind, kind or "")
    return next((one for one in findings.lesions if one.name.startswith(stem)), None)


def _yes(value: float, limit: float, what: str, unit: str) -> str:
    return f"I measure {what} of about {value:.3g} {unit}. {'Yes' if value > limit else 'No'}."


def _larger_organ(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _organ(match[1], findings)
    return None if one is None else _yes(one.volume_ml, float(match[2]), "a volume", "mL")


def _longer_organ(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _organ(match[1], findings)
    return None if one is None else _yes(one.height_mm / 10, float(match[2]), "a height", "cm")


def _wide_lesion(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _lesion(match[1], findings)
    return None if one is None else _yes(one.width_mm, float(match[2]), "a diameter", "mm")


def _large_lesion(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _lesion(match[1], findings)
    return None if one is None else _yes(one.volume_ml, float(match[2]), "a volume", "mL")


def _volume(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _organ(match[1], findings)
    return None if one is None else f"{one.volume_ml:.0f} mL"


def _height(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _organ(match[1], findings)
    return None if one is None else f"{one.height_mm / 10:.1f} cm"


def _ratio(match: re.Match[str], words: str, findings: Findings) -> str | None:
    small, large = _organ(match[1], findings), _organ(match[2], findings)
    return None if small is None or large is None else f"{large.volume_ml / small.volume_ml:.2f}"


def _kidneys(match: re.Match[str], words: str, findings: Findings) -> str | None:
    left, right = (findings.organs.get(f"kidney_{side}") for side in ("left", "right"))
    if left is None or right is None:
        return None
    larger = "left" if left.volume_ml > right.volume_ml else "right"
    volumes = f"Left {left.volume_ml:.0f} mL, right {right.volume_ml:.0f} mL."
    return _option(words, f"the {larger}", volumes)


def _longer_of(match: re.Match[str], words: str, findings: Findings) -> str | None:
    pair = [(name, _organ(name, findings)) for name in match.groups()]
    known = {name: one.height_mm for name, one in pair if one is not None}
    if len(known) < 2:
        return None
    heights = ", ".join(f"{name} {mm / 10:.1f} cm" for name, mm in known.items())
    return _option(words, f"the {max(known, key=lambda name: known[name])}", f"{heights}.")


def _side(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _lesion(match[1], findings)
    if one is None or "_" not in one.name:
        return None
    return _option(words, f"the {one.name.split('_')[1]}", f"I see it in the {_plain(one.name)}.")


def _holder(match: re.Match[str], words: str, findings: Findings) -> str | None:
    one = _lesion(match[1], findings)
    return None if one is None else _option(words, f"the {_plain(one.name)}", "I see it there.")


def _nearest(match: re.Match[str], words: str, findings: Findings) -> str | None:
    lesion = _lesion(match[1], findings)
    if lesion is None:
        return None
    distances = {text: _distance_mm(text, lesion, findings) for text in options_of(words).values()}
    known = {text: mm for text, mm in distances.items() if mm is not None}
    if not known:
        return None
    return _option(words, min(known, key=lambda text: known[text]), "By distance from the lesion:")


def _distance_mm(text: str, lesion: Finding, findings: Findings) -> float | None:
    """From the lesion's centre to a structure's surface, taken as a ball; roughly."""
    organ = _organ(text.removeprefix("the "), findings)
    if organ is not None:
        radius = 10.0 * (organ.volume_ml * 3.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
        return float(np.linalg.norm(organ.centre_mm - lesion.centre_mm)) - float(radius)
    beside = _NEIGHBOURS_MM.get(text)
    anchor = findings.organs.get(beside[0]) if beside else None
    if beside is None or anchor is None:
        return None
    return float(np.linalg.norm(anchor.centre_mm + np.array(beside[1]) - lesion.centre_mm)) - 10.0


def _plain(name: str) -> str:
    return " ".join(reversed(name.split("_")))


def _option(words: str, text: str, reason: str) -> str | None:
    letter = next((key for key, option in options_of(words).items() if option == text), None)
    return None if letter is None else f"{reason} ({letter})"


Reply = Callable[[re.Match[str], str, Findings], str | None]
_RULES: tuple[tuple[re.Pattern[str], Reply], ...] = (
    (re.compile(rf"Is the {_ORGAN} larger than ([\d.]+) mL\?"), _larger_organ),
    (re.compile(rf"Is the {_ORGAN} longer than ([\d.]+) cm from top"), _longer_organ),
    (re.compile(rf"longest diameter of the {_LESION} .* more than ([\d.]+) mm\?"), _wide_lesion),
    (re.compile(rf"Is the {_LESION} larger than ([\d.]+) mL\?"), _large_lesion),
    (re.compile(rf"What is the volume of the {_ORGAN}, in mL\?"), _volume),
    (re.compile(rf"How long is the {_ORGAN} from top to bottom, in cm\?"), _height),
    (re.compile(rf"how many times as large as the {_ORGAN} is the {_ORGAN}\?"), _ratio),
    (re.compile(r"Which kidney is larger by volume\?"), _kidneys),
    (
        re.compile(rf"Which is longer from top to bottom: the {_ORGAN} or the {_ORGAN}\?"),
        _longer_of,
    ),
    (re.compile(rf"On which side of the patient is the {_LESION}\?"), _side),
    (re.compile(rf"In which organ does the {_LESION} lie\?"), _holder),
    (re.compile(rf"Which of these lies nearest to the {_LESION}\?"), _nearest),
)
"""A question's words → how it is answered from what was measured."""
