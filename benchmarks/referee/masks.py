"""Answers about masks, worked out again from the question's words and the files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.referee.scan import Mask, Scan, codes_of
from numpy.typing import NDArray

__all__ = ["NOT_JUDGED", "WAYS", "judge", "proved", "right_share", "vertebra_at"]

Item = dict[str, Any]
Verdict = str
"""Empty: agrees. Else what the referee makes of it; `NOT_JUDGED` if it cannot tell."""
NOT_JUDGED = "not judged"

_AXES = {
    "to the left of": (0, -1), "to the right of": (0, 1), "in front of": (1, 1),
    "behind": (1, -1), "above": (2, 1), "below": (2, -1),
}  # fmt: skip
WAYS = {
    "left": (0, -1), "right": (0, 1), "anterior": (1, 1),
    "posterior": (1, -1), "superior": (2, 1), "inferior": (2, -1),
}  # fmt: skip
_SURE = 0.9
"""DEFINITIONS, direction: a random voxel of one lies beyond a random voxel of the other."""
_LINE_DEGREES = 30.0
_ROW = [
    f"{part}{n}"
    for part, most in (("C", 7), ("T", 12), ("L", 5), ("S", 1))
    for n in range(1, most + 1)
]
"""Vertebrae from the head down."""


def judge(item: Item, scan: Scan) -> Verdict:
    """What the referee says to an item."""
    asked = item["parameters"].get("ask", "")
    rule = _RULES.get((item["task"], asked)) or _RULES.get((item["task"], ""))
    if rule is None:
        return NOT_JUDGED
    return rule(item, scan)


def _subject(scan: Scan, key: str, text: str = "") -> Mask:
    role, _, family = key.rpartition(":")
    if not role:
        return scan.with_lesions(key) if "including" in text else scan[key]
    families = scan.families() if family == "*" else {family}
    lesions = sorted((m for f in families for m in scan.lesions(f)), key=lambda m: -len(m.index))
    return lesions[0 if role == "largest" else 1]


def _number(item: Item, value: float, slack: float = 0.0) -> Verdict:
    """The number asked for agrees with ours, which lies in the interval that counts as exact."""
    told = item["answer"]
    low, high = told["interval"] or (told["value"], told["value"])
    close = abs(told["value"] - value) <= slack + 1e-6 * max(1.0, abs(value))
    inside = low - slack <= value <= high + slack
    return (
        "" if close and inside else f"{value:.6g}, not {told['value']:.6g} in {low:.5g}–{high:.5g}"
    )


def _same(told: object, ours: object) -> Verdict:
    return "" if told == ours else f"{ours}, not {told}"


def _cannot(item: Item, scan: Scan, keys: list[str]) -> Verdict:
    """Rightly so if one of them reaches the edge of the array or nearly so."""
    for key in keys:
        mask = _subject(scan, key, item["question"])
        low, high = mask.index.min(0), np.array(mask.shape) - 1 - mask.index.max(0)
        if min(low.min(), high.min()) <= 4:
            return ""
    return "nothing is cut"


def _limit(text: str, unit: str) -> float:
    found = re.search(rf"([\d.]+) {unit}\b", text)
    assert found is not None, text
    return float(found[1])


def _volume(item: Item, scan: Scan) -> Verdict:
    ml = _subject(scan, item["parameters"]["of"], item["question"]).ml
    match item["form"]:
        case "number":
            return _number(item, ml)
        case "yes_no":
            return _same(item["answer"]["value"], ml > _limit(item["question"], "mL"))
    low, high = item["answer"]["value"].split("-")
    return "" if float(low) <= ml < float(high) else f"{ml:.1f} mL"


def _length(item: Item, scan: Scan) -> Verdict:
    if item["form"] == "choice":
        keys = [item["parameters"][key] for key in ("a", "b")]
        if item["answer"]["value"] not in keys:
            return _cannot(item, scan, keys)
        mms = {key: _height(_subject(scan, key, item["question"])) for key in keys}
        longest = "shorter" not in item["question"]
        return _same(item["answer"]["value"], (max if longest else min)(mms, key=lambda k: mms[k]))
    mm = _height(_subject(scan, item["parameters"]["of"], item["question"]))
    if item["form"] == "number":
        return _number(item, mm / 10.0)
    return _same(item["answer"]["value"], mm > 10.0 * _limit(item["question"], "cm"))


def _height(mask: Mask) -> float:
    low, high = mask.main.box
    return float(high[2] - low[2])


def _diameter(item: Item, scan: Scan) -> Verdict:
    least, most = _subject(scan, item["parameters"]["of"]).axial_diameter_mm()
    if item["form"] == "number":
        value = item["answer"]["value"]
        return (
            "" if least - 1e-6 <= value <= most + 1e-6 else f"{least:.3f}–{most:.3f}, not {value}"
        )
    limit = _limit(item["question"], "mm")
    if least <= limit < most:
        return NOT_JUDGED
    return _same(item["answer"]["value"], least > limit)


def _beside_the_middle_of_kidneys(mask: Mask, scan: Scan) -> float | None:
    kidneys = [scan[n] for n in ("kidney_left", "kidney_right") if n in scan.names]
    if not kidneys and "kidney" in scan:
        kidneys = scan["kidney"].main.parts()[:2]
    if len(kidneys) != 2:
        return None
    middle = float(np.mean([kidney.points[:, 0].mean() for kidney in kidneys]))
    return float((mask.points[:, 0] > middle).mean())


def _larger(item: Item, scan: Scan) -> Verdict:
    p = item["parameters"]
    if p["ask"] == "left_right":
        keys = {"left": p["left"], "right": p["right"]}
    else:
        keys = {key: key for key in (p["of"].split("+") if "of" in p else (p["a"], p["b"]))}
    told = item["answer"]["value"]
    if isinstance(told, str) and told not in keys and ">" not in told:
        return _cannot(item, scan, list(keys.values()))
    ml = {name: _subject(scan, key, item["question"]).ml for name, key in keys.items()}
    if p["ask"] == "ratio":
        return _number(item, ml[p["a"]] / ml[p["b"]])
    order = sorted(ml, key=lambda name: -ml[name])
    if p["ask"] == "rank":
        return _same(told, ">".join(order))
    return _same(told, order[-1] if "smaller" in item["question"] else order[0])


def _direction(item: Item, scan: Scan) -> Verdict:
    p = item["parameters"]
    a, b = _subject(scan, p["a"]), _subject(scan, p["b"])
    if item["form"] == "yes_no":
        words = max((w for w in _AXES if f" {w} " in item["question"]), key=len)
        axis, sign = _AXES[words]
        step = float(np.sign((a.points.mean(0) - b.points.mean(0))[axis]))
        if not proved(a, b, axis, step):
            return "neither side holds for nine in ten voxels"
        return _same(item["answer"]["value"], step == sign)
    axis, sign = WAYS[item["answer"]["value"]]
    plane = {WAYS[option["value"]][0] for option in item["options"]}
    step = a.points.mean(0) - b.points.mean(0)
    across = [abs(step[other]) for other in plane if other != axis]
    angle = float(np.degrees(np.arctan2(max(across), abs(step[axis]))))
    holds = np.sign(step[axis]) == sign and angle <= _LINE_DEGREES and proved(a, b, axis, sign)
    return "" if holds else f"{angle:.0f} degrees off {step.round(1)}"


def proved(a: Mask, b: Mask, axis: int, sign: float) -> bool:
    """Whether a random voxel of one lies beyond a random voxel of the other."""
    first, second = sign * a.points[:, axis], np.sort(sign * b.points[:, axis])
    return float(np.searchsorted(second, first).mean() / len(second)) >= _SURE - 0.005


def _distance(item: Item, scan: Scan) -> Verdict:
    p = item["parameters"]
    lesion = _subject(scan, p["a"]).main
    if p["ask"] == "nearest":
        mm = {key: lesion.gap_mm(_subject(scan, key).main) for key in p["of"].split("+")}
        return _same(item["answer"]["value"], min(mm, key=lambda key: mm[key]))
    gap = lesion.gap_mm(_subject(scan, p["b"]).main)
    if p["ask"] == "gap":
        return _number(item, gap, slack=1e-3)
    return _same(item["answer"]["value"], gap <= _limit(item["question"], "mm"))


def _contact(item: Item, scan: Scan) -> Verdict:
    gap = _subject(scan, item["parameters"]["a"]).gap_mm(_subject(scan, item["parameters"]["b"]))
    return _same(item["answer"]["value"], gap < 1e-6)


def _organ(item: Item, scan: Scan) -> Verdict:
    return _same(item["answer"]["value"], _holder(item, scan))


def _holder(item: Item, scan: Scan) -> str:
    """The offered organ on whose voxels most of the lesion and of its rim lies."""
    lesion = _subject(scan, item["parameters"]["of"])
    around = (lesion.index[:, None, :] + _SHIFTS[None]).reshape(-1, 3)
    around = np.unique(around, axis=0)
    known = codes_of(around)
    shares = {
        option["value"]: int(np.isin(known, scan[option["value"]].codes).sum())
        for option in item["options"]
        if option["value"] in scan
    }
    return max(shares, key=lambda name: shares[name])


_SHIFTS = np.array([[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])


def _side(item: Item, scan: Scan) -> Verdict:
    right = right_share(_subject(scan, item["parameters"]["of"]), scan)
    if right is None:
        return NOT_JUDGED
    return _same(item["answer"]["value"], "right" if right > 0.5 else "left")


def right_share(mask: Mask, scan: Scan) -> float | None:
    """How much of a structure lies right of the line through the vertebrae, or midway between the
    kidneys; None with neither."""
    bones = [scan[n].points.mean(0) for n in scan.names if n.startswith("vertebrae_") and n in scan]
    if len(bones) < 3:
        return _beside_the_middle_of_kidneys(mask, scan)
    line = np.polyfit([b[2] for b in bones], [b[0] for b in bones], 1)
    return float((mask.points[:, 0] > np.polyval(line, mask.points[:, 2])).mean())


def _pole(item: Item, scan: Scan) -> Verdict:
    lesion = _subject(scan, item["parameters"]["of"])
    found = re.search(r"third of the ([\w ]+), from", item["question"])
    assert found is not None
    noun = found[1].replace(" ", "_")
    sided = [name for name in (f"{noun}_left", f"{noun}_right") if name in scan.names]
    organs = [scan[name] for name in sided] or _pair_or_one(scan[noun])
    organ = min(organs, key=lesion.gap_mm)
    near = [m for f in scan.families() for m in scan.lesions(f) if organ.gap_mm(m) < 1e-6]
    points = np.concatenate([mask.main.points for mask in (organ, *near)])
    half = np.abs(lesion.affine[2, :3]).sum() / 2.0
    low, high = points[:, 2].min() - half, points[:, 2].max() + half
    height = (lesion.points[:, 2].mean() - low) / (high - low)
    return _same(item["answer"]["value"], ("lower", "middle", "upper")[min(2, int(3 * height))])


def _pair_or_one(mask: Mask) -> list[Mask]:
    """Both kidneys, where they are annotated as one; else the organ as it is."""
    parts = mask.parts()
    largest = [part for part in parts if len(part.index) >= 0.2 * len(mask.index)]
    return largest if len(largest) == 2 else [mask]


def _level(item: Item, scan: Scan) -> Verdict:
    """The vertebra whose body reaches the height asked for."""
    p = item["parameters"]
    if re.fullmatch(r"[CTLS]\d+", item["answer"]["value"]) is None:
        return _cannot(item, scan, [p["of"]])
    mask = _subject(scan, p["of"])
    z = mask.main.points[:, 2]
    at = {"top": z.max(), "bottom": z.min(), "centre": mask.points[:, 2].mean()}[p["at"]]
    return _same(item["answer"]["value"], vertebra_at(float(at), scan))


def _past(item: Item, scan: Scan) -> Verdict:
    """Whether that end lies beyond the line half way between the vertebra named and the next."""
    p = item["parameters"]
    z = _subject(scan, p["of"]).main.points[:, 2]
    at = float(z.max() if p["at"] == "top" else z.min())
    found = re.search(r" (above|below) ([CTLS]\d+)\?$", item["question"])
    assert found is not None, item["question"]
    below = found[1] == "below"
    heights = _body_heights(scan)
    row = _ROW.index(found[2])
    beyond, before = (heights.get(_ROW[row + step]) for step in ((1, -1) if below else (-1, 1)))
    named = heights[found[2]]
    # Of the last vertebra annotated, as far as it is to the one on its other side.
    line = (named + beyond) / 2 if beyond is not None else named + (named - (before or named)) / 2
    return _same(item["answer"]["value"], at < line if below else at > line)


def _reach(item: Item, scan: Scan) -> Verdict:
    """The one whose main part has the highest, or the lowest, voxel."""
    keys = [item["parameters"][key] for key in ("a", "b")]
    z = {key: _subject(scan, key).main.points[:, 2] for key in keys}
    up = "further up" in item["question"]
    ends = {key: float(heights.max() if up else -heights.min()) for key, heights in z.items()}
    return _same(item["answer"]["value"], max(ends, key=lambda key: ends[key]))


def vertebra_at(height_mm: float, scan: Scan) -> str:
    """The vertebra whose body lies nearest to a height."""
    bodies = _body_heights(scan)
    return min(bodies, key=lambda name: abs(bodies[name] - height_mm))


def _body_heights(scan: Scan) -> dict[str, float]:
    """Where the body of every vertebra lies, which is its front half."""
    bodies = {}
    for name in scan.names:
        if name.startswith("vertebrae_") and name in scan:
            points = scan[name].points
            front = points[points[:, 1] > np.quantile(points[:, 1], 0.5)]
            bodies[name.removeprefix("vertebrae_")] = float(np.median(front[:, 2]))
    return bodies


def _location(item: Item, scan: Scan) -> Verdict:
    mask = _subject(scan, item["parameters"]["of"]).main
    if item["form"] == "frames":
        axis = mask.slice_axis()
        up = mask.affine[2, axis] > 0
        on = mask.index[:, axis]
        first, last = int(on.min()), int(on.max())
        told = item["answer"]["frames"]
        last_frame = mask.shape[axis] - 1
        ours = ([first, last], [last_frame - last, last_frame - first])
        del up  # which end is the first slice is for the profile to say
        return "" if [told[0], told[-1]] in ours else f"{ours}, not {told}"
    box = item["answer"]["boxes"][0]["world"]
    ours_mm = np.concatenate(mask.box)
    told_mm = np.array([*box["lo_mm"], *box["hi_mm"]])
    return "" if np.allclose(ours_mm, told_mm, atol=1e-3) else f"{ours_mm}, not {told_mm}"


def _count(item: Item, scan: Scan) -> Verdict:
    return _same(item["answer"]["value"], float(len(scan.lesions(item["parameters"]["of"]))))


def _pair(item: Item, scan: Scan) -> Verdict:
    p = item["parameters"]
    a, b = _subject(scan, p["a"]), _subject(scan, p["b"])
    if p["ask"] == "larger":
        first = a.ml > b.ml
    else:
        axis = 1 if p["ask"] == "forward" else 2
        first = bool(a.points[:, axis].mean() > b.points[:, axis].mean())
    return _same(item["answer"]["value"], p["a"] if first else p["b"])


def _marks(item: Item, scan: Scan) -> Verdict:
    """The mark in the answer lies in what is asked for, the other marks do not."""
    marks = {
        box["world"]["label"].removeprefix("mark:"): np.array(box["world"]["lo_mm"])
        for box in item["boxes"]
        if box["kind"] == "world" and box["world"]["label"].startswith("mark:")
    }
    p = item["parameters"]
    if p["ask"] == "same":
        names = [n for n in scan.names if n not in ("body",) and n in scan]
        inside = {name for name in names if _holds(scan[name], marks["X"])}
        wanted = [scan[name] for name in inside]
    elif p["ask"] == "same_organ":
        lesion = _subject(scan, p["of"])
        organs = [n for n in scan.names if n in scan and n != "body" and not _is_lesion(scan, n)]
        right = marks[item["answer"]["value"]]
        holding = [scan[n] for n in organs if _holds(scan[n], right)]
        wanted = [mask for mask in holding if mask.gap_mm(lesion) < 1e-6]
    else:
        wanted = [_subject(scan, p["of"])]
    hits = {
        letter
        for letter, point in marks.items()
        if letter != "X" and any(_holds(mask, point) for mask in wanted)
    }
    return _same({item["answer"]["value"]}, hits)


def _is_lesion(scan: Scan, name: str) -> bool:
    return re.sub(r"[_-]?\d+$", "", name) in scan.families()


def _holds(mask: Mask, point: NDArray[np.float64]) -> bool:
    inverse = np.linalg.inv(mask.affine)
    index = np.rint(inverse[:3, :3] @ point + inverse[:3, 3]).astype(np.int64)
    return bool(np.isin(codes_of(index[None]), mask.codes)[0])


_RULES: dict[tuple[str, str], Callable[[Item, Scan], Verdict]] = {
    ("volume", ""): _volume,
    ("extent", ""): _length,
    ("extent", "diameter"): _diameter,
    ("extent", "wider_than"): _diameter,
    ("comparison", ""): _larger,
    ("direction", ""): _direction,
    ("distance", ""): _distance,
    ("contact", ""): _contact,
    ("lesion_organ", ""): _organ,
    ("lesion_side", ""): _side,
    ("lesion_pole", ""): _pole,
    ("lesion_pair", ""): _pair,
    ("level", ""): _level,
    ("level", "past"): _past,
    ("reach", ""): _reach,
    ("location", ""): _location,
    ("count", ""): _count,
    ("marks", ""): _marks,
}
"""Task, and what it asks → how the referee answers."""
