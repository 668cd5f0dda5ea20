"""Small benches of every source that the papers train on: boxes, grades, published questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

from frame_make import write_h5
from tune_cohort import MIX, low_recipe, write_volumes

Situs = Callable[..., Any]


def fastmri_plus(folder: Path, situs: Situs) -> Path:
    """Boxes of brains and knees with small HDF5 volumes."""
    built = situs(
        *("build", "boxes", *write_volumes(folder, count=7)),
        *("--recipe", low_recipe(folder), "--licence", "CC0-1.0", "--mix", MIX),
        *("--out", folder / "bench"),
    )
    assert built.code == 0, built.err
    return folder / "bench"


def knees(folder: Path, situs: Situs) -> Path:
    """Reader grades of knees with the boxes of their regions, on small volumes."""
    rng = np.random.default_rng(3)
    rows = ["study,patient,side,image,question,sub_score,grade"]
    boxes = ["study,region,x0,y0,z0,x1,y1,z1,approximate"]
    for number in range(14):
        name = f"k{number:02d}"
        voxels = rng.uniform(0, 50, (10, 32, 32)).astype(np.float32)
        voxels[3:7, 8:20, 10:24] += 100 * (1 + number % 3)
        nibabel.Nifti1Image(voxels, np.diag([4.0, 2.0, 2.0, 1.0])).to_filename(
            folder / f"{name}.nii.gz"
        )
        rows += [
            f"{name},{name},left,{name}.nii.gz,1,size,{number % 3}",
            f"{name},{name},left,{name}.nii.gz,44,grade,{number % 4}",
        ]
        boxes += [
            f"{name},patella_medial,12,16,20,24,38,46,",
            f"{name},medial_meniscus,8,20,24,20,44,40,",
        ]
    (folder / "grades.csv").write_text("\n".join(rows) + "\n")
    (folder / "boxes.csv").write_text("\n".join(boxes) + "\n")
    built = situs(
        *("build", "grades", folder / "grades.csv", "--boxes", folder / "boxes.csv"),
        *("--recipe", low_recipe(folder), "--licence", "CC0-1.0", "--out", folder / "bench"),
    )
    assert built.code == 0, built.err
    return folder / "bench"


def sgmri_vqa(folder: Path, situs: Situs) -> Path:
    """Published questions, imported with their volumes."""
    rng = np.random.default_rng(4)
    questions = []
    for number in range(16):
        volume = f"file_brain_AXFLAIR_200_6{number:06d}"
        frames = rng.uniform(0.0, 0.1, (4, 64, 64)).astype(np.float32)
        x, y = (int(v) for v in rng.integers(5, 40, 2))
        frames[2, y : y + 14, x : x + 12] = 1.0
        write_h5(folder / "images" / f"{volume}.h5", frames, patient=volume)
        box = {"x": x, "y": y, "width": 12, "height": 14, "label": "Mass"}
        about = {"volume_id": volume, "slice_num": 3, "level": "slice"}
        truth = {"ground_truth": {"labels": ["Mass"], "bboxes": [box]}}
        questions += [
            about
            | truth
            | {
                "task": "localization",
                "type": "open_ended",
                "question": "Where is the mass?",
                "answer": f"<bbx>[{x},{y},12,14]</bbx>",
            },
            about
            | truth
            | {
                "task": "detection",
                "type": "closed_ended",
                "question": "Is there a lesion?",
                "answer": "Yes",
            },
        ]
    (folder / "qa.json").write_text(json.dumps(questions))
    ran = situs(
        *("import", "sgmri-vqa", folder / "qa.json", "--images", folder / "images"),
        *("--licence", "CC0-1.0", "--out", folder / "bench"),
    )
    assert ran.code == 0, ran.err
    return folder / "bench"
