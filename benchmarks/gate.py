"""How many wrong questions the anatomy gate lets pass, attack by attack, and how often it doubts a
sound study.

python -P benchmarks/gate.py --phantoms 2 --real DATA/volumes [--only NAME] [--pairs]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from attacks import ATTACKS, Study, ledger_of_study, other_patients, trial
from situs.anatomy import load_vocabulary
from situs.bench import restrict, terms_for
from situs.volumes import modality_of, open_labels, open_volume
from situs.volumes.phantoms import make_patient

REAL = {
    "s0002": ("totalseg_s0002/segmentations", "totalseg_s0002/ct.nii.gz", None),
    "s0003": ("totalseg_s0003/segmentations", "totalseg_s0003/ct.nii.gz", None),
    "s0009": ("totalseg_s0009/segmentations", "totalseg_s0009/ct.nii.gz", None),
    "testref": (
        "totalseg_testref/example_seg.nii.gz",
        "totalseg_testref/example_ct_sm.nii.gz",
        "totalsegmentator",
    ),
    "torso": (
        "totalseg_testref/example_seg_fast_force_split.nii.gz",
        "totalseg_testref/example_ct.nii.gz",
        "totalsegmentator",
    ),
    "ctchest": ("slicerio_ctchest/Segmentation.seg.nrrd", "slicerio_ctchest/CTChest4.nrrd", None),
    "dicom": ("totalseg_testref/example_seg_dicom.nii.gz", None, "totalsegmentator"),
    "mr": (
        "totalseg_testref/example_seg_mr.nii.gz",
        "totalseg_testref/example_mr_sm.nii.gz",
        "totalsegmentator_mr",
    ),
    "spine": (
        "tptbox_spine/sample_ct/sub-ct_seg-vert_label-22_msk.nii.gz",
        "tptbox_spine/sample_ct/sub-ct_label-22_ct.nii.gz",
        "spine",
    ),
}
_SPINE = {
    **{n: f"vertebrae_C{n}" for n in range(1, 8)},
    **{n + 7: f"vertebrae_T{n}" for n in range(1, 13)},
    **{n + 19: f"vertebrae_L{n}" for n in range(1, 6)},
    26: "sacrum",
}


def real_study(root: Path, name: str) -> Study:
    labels_path, image_path, names = REAL[name]
    image = open_volume(root / image_path) if image_path else None
    known = _SPINE if names == "spine" else load_vocabulary(names).labels if names else {}
    source = open_labels(root / labels_path, known, reference=image)
    labels = source.load()
    terms = terms_for([s.name for s in labels.structures], {})
    labels = restrict(labels, {s.name: s.label for s in labels.structures if terms[s.name].known})
    values = image.onto(source.grid).array_and_hash()[0] if image is not None else None
    modality = modality_of(values) if values is not None else "ct"
    return Study(labels, values, modality=modality)


def phantom_study(seed: int, index: int, spacing: float = 6.0) -> Study:
    patient = make_patient(seed, index, modality="ct", spacing_mm=(spacing,) * 3)
    from laws._studies import phantom_labels

    labels = phantom_labels(seed, index, (spacing,) * 3)
    assert labels.grid.shape == patient.image.shape
    return Study(labels, np.asarray(patient.image))


def studies(args: argparse.Namespace) -> Iterator[tuple[str, Study]]:
    for index in range(args.phantoms):
        study = phantom_study(args.seed, index)
        yield f"phantom{index}+ct", study
        yield f"phantom{index}", Study(study.labels)
    for name in REAL if args.real else ():
        if args.study and name not in args.study:
            continue
        study = real_study(args.real, name)
        yield f"{name}+ct" if study.image is not None else name, study
        if study.image is not None and not args.images_only:
            yield name, Study(study.labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phantoms", type=int, default=1)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--study", action="append")
    parser.add_argument("--only")
    parser.add_argument("--images-only", action="store_true")
    args = parser.parse_args()
    donor = phantom_study(99, 5)
    donor_torso = real_study(args.real, "torso") if args.real else donor
    total = wrong = 0
    for name, study in studies(args):
        started = time.process_time()
        truth = ledger_of_study(study)
        plain = trial(study, study, truth=truth)
        print(
            f"== {name}: {plain.asked} asked, doubts {plain.doubts}, wrong {plain.wrong}",
            flush=True,
        )
        attacks = dict(ATTACKS)
        other = donor if name.startswith("phantom") else donor_torso
        if not name.startswith("torso"):
            attacks["masks_of_another_patient"] = other_patients(other)
            for mask in ("liver", "spleen", "kidney_left", "pancreas"):
                attacks[f"{mask}_of_another_patient"] = other_patients(other, (mask,))
        tried = 0
        for attack, change in attacks.items():
            if args.only and args.only not in attack:
                continue
            spoilt = change(study)
            if spoilt is None:
                continue
            tried += 1
            outcome = trial(study, spoilt, truth=truth)
            total, wrong = total + 1, wrong + bool(outcome.wrong)
            if outcome.wrong or (not outcome.doubts and outcome.unknown):
                word = "WRONG" if outcome.wrong else "silent"
                print(
                    f"{word} {attack}: {len(outcome.wrong)} of {outcome.asked}"
                    f" ({len(outcome.unknown)} unknown):"
                    f" {[text[:70] for text in outcome.wrong[:2]]} doubts"
                    f" {[d[:50] for d in outcome.doubts[:3]]}",
                    flush=True,
                )
        print(f"   {tried} attacks, {time.process_time() - started:.0f} s", flush=True)
    print(f"{total} attacks on studies, {wrong} with a wrong question")


if __name__ == "__main__":
    main()
