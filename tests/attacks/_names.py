"""Wrong names: every mask is a structure of the patient, but not the one it is called."""

from __future__ import annotations

import re
from collections.abc import Callable

from attacks._study import Attack, Study, renamed
from situs.anatomy import term
from situs.anatomy.plausible import VERTEBRAE


def _naming(new_name: Callable[[str], str | None]) -> Attack:
    def attack(study: Study) -> Study | None:
        labels = renamed(study.labels, new_name)
        same = [s.name for s in labels.structures] == [s.name for s in study.labels.structures]
        return None if same else study.relabelled(labels)

    return attack


def exchanged(a: str, b: str) -> Attack:
    """Two names exchanged, where the study has both."""

    def attack(study: Study) -> Study | None:
        if not study.has(a, b):
            return None
        return study.relabelled(renamed(study.labels, lambda name: {a: b, b: a}.get(name, name)))

    return attack


def called(mask: str, name: str) -> Attack:
    """One mask under the name of another structure, whose own mask is missing."""

    def attack(study: Study) -> Study | None:
        if not study.has(mask):
            return None
        return study.relabelled(renamed(study.labels, lambda n: {mask: name, name: None}.get(n, n)))

    return attack


def numbered_off(by: int) -> Attack:
    def new_name(name: str) -> str | None:
        level = name.removeprefix("vertebrae_")
        if level not in VERTEBRAE:
            return name
        moved = VERTEBRAE.index(level) + by
        return f"vertebrae_{VERTEBRAE[moved]}" if 0 <= moved < len(VERTEBRAE) - 1 else None

    return _naming(new_name)


def _skipped(level: str) -> Attack:
    """A vertebra that nobody labelled; those below it are numbered as if it did not exist."""
    first = VERTEBRAE.index(level)

    def new_name(name: str) -> str | None:
        number = name.removeprefix("vertebrae_")
        if number not in VERTEBRAE or VERTEBRAE.index(number) < first:
            return name
        moved = VERTEBRAE.index(number) - 1
        return None if moved < first else f"vertebrae_{VERTEBRAE[moved]}"

    return _naming(new_name)


def _ribs_off(by: int, sides: tuple[str, ...] = ("left", "right")) -> Attack:
    def new_name(name: str) -> str | None:
        match = re.fullmatch(r"rib_(left|right)_(\d+)", name)
        if match is None or match[1] not in sides:
            return name
        moved = int(match[2]) + by
        return f"rib_{match[1]}_{moved}" if 1 <= moved <= 12 else None

    return _naming(new_name)


def _swap_one_pair(name: str) -> Attack:
    return exchanged(f"{name}_left", f"{name}_right")


def _rotated(names: tuple[str, ...]) -> Attack:
    """The names of a group handed on in a ring."""

    def attack(study: Study) -> Study | None:
        there = [name for name in names if study.has(name)]
        if len(there) < 2:
            return None
        ring = dict(zip(there, (*there[1:], there[0]), strict=True))
        return study.relabelled(renamed(study.labels, lambda name: ring.get(name, name)))

    return attack


def _by_label(step: int) -> Attack:
    """A multilabel map read with names that are one label off."""

    def attack(study: Study) -> Study:
        structures = sorted(study.labels.structures, key=lambda s: s.label)
        names = [s.name for s in structures if term(s.name).kind != "lesion" and s.name != "body"]
        moved = names[step:] + names[:step]
        ring = dict(zip(names, moved, strict=True))
        return study.relabelled(renamed(study.labels, lambda name: ring.get(name, name)))

    return attack


def _reversed_labels(study: Study) -> Study:
    names = [
        s.name
        for s in study.labels.structures
        if term(s.name).kind != "lesion" and s.name != "body"
    ]
    ring = dict(zip(names, reversed(names), strict=True))
    return study.relabelled(renamed(study.labels, lambda name: ring.get(name, name)))


LOBES = tuple(
    f"lung_{lobe}"
    for lobe in (
        "upper_lobe_left",
        "lower_lobe_left",
        "upper_lobe_right",
        "middle_lobe_right",
        "lower_lobe_right",
    )
)

NAMES: dict[str, Attack] = {
    "exchanged_vertebrae": exchanged("vertebrae_L1", "vertebrae_L3"),
    "exchanged_neighbours": exchanged("vertebrae_L2", "vertebrae_L3"),
    "exchanged_neck": exchanged("vertebrae_C3", "vertebrae_C5"),
    "numbered_too_low": numbered_off(1),
    "numbered_too_high": numbered_off(-1),
    "vertebra_skipped": _skipped("L2"),
    "vertebra_of_the_chest_skipped": _skipped("T12"),
    "kidney_renamed": called("kidney_left", "kidney_right"),
    "spleen_called_kidney": called("spleen", "kidney_left"),
    "liver_called_spleen": called("liver", "spleen"),
    "liver_called_kidney": called("liver", "kidney_right"),
    "kidney_called_liver": called("kidney_right", "liver"),
    "stomach_called_spleen": called("stomach", "spleen"),
    "bladder_called_prostate": called("urinary_bladder", "prostate"),
    "lobe_called_spleen": called("lung_lower_lobe_left", "spleen"),
    "ribs_too_low": _ribs_off(1),
    "ribs_too_high": _ribs_off(-1),
    "ribs_of_one_side_too_low": _ribs_off(1, ("left",)),
    "ribs_exchanged": exchanged("rib_left_9", "rib_left_11"),
    "swapped_kidneys": _swap_one_pair("kidney"),
    "swapped_adrenals": _swap_one_pair("adrenal_gland"),
    "swapped_hips": _swap_one_pair("hip"),
    "swapped_psoas": _swap_one_pair("iliopsoas"),
    "swapped_lobes": exchanged("lung_upper_lobe_left", "lung_upper_lobe_right"),
    "all_sides_swapped": _naming(lambda name: term(name).mirrored_name),
    "liver_named_spleen": exchanged("liver", "spleen"),
    "stomach_named_pancreas": exchanged("stomach", "pancreas"),
    "stomach_named_spleen": exchanged("stomach", "spleen"),
    "aorta_named_cava": exchanged("aorta", "inferior_vena_cava"),
    "gallbladder_named_duodenum": exchanged("gallbladder", "duodenum"),
    "kidney_named_adrenal": exchanged("kidney_left", "adrenal_gland_left"),
    "colon_named_small_bowel": exchanged("colon", "small_bowel"),
    "bladder_named_prostate": exchanged("urinary_bladder", "prostate"),
    "esophagus_named_trachea": exchanged("esophagus", "trachea"),
    "femur_called_humerus": called("femur_left", "humerus_left"),
    "hip_called_scapula": called("hip_right", "scapula_right"),
    "gallbladder_called_bladder": called("gallbladder", "urinary_bladder"),
    "spleen_called_liver": called("spleen", "liver"),
    "kidney_called_spleen": called("kidney_left", "spleen"),
    "pancreas_called_stomach": called("pancreas", "stomach"),
    "stomach_called_colon": called("stomach", "colon"),
    "liver_called_heart": called("liver", "heart"),
    "psoas_called_back": called("iliopsoas_left", "autochthon_left"),
    "sacrum_called_hip": called("sacrum", "hip_left"),
    "thyroid_called_adrenal": called("thyroid_gland", "adrenal_gland_left"),
    "lobes_rotated": _rotated(LOBES),
    "labels_one_off": _by_label(1),
    "labels_one_off_the_other_way": _by_label(-1),
    "labels_reversed": _reversed_labels,
}
