"""From a bench to an evaluated model, for every source that the papers train on:
boxes, grades, published questions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from frame_make import write_h5
from tune_cohort import MIX, low_recipe, write_volumes

pytestmark = pytest.mark.tune

STEPS = 20
Situs = Callable[..., Any]


@pytest.fixture(scope="session")
def roomy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose context holds whole prompts. Do not change it."""
    from situs.tune.demo.tiny import write_tiny_model

    folder = tmp_path_factory.mktemp("roomy") / "tiny"
    write_tiny_model(folder, context=16384)
    return folder


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


CHAINS = {
    "fastmri+": (fastmri_plus, ("--box-form", "qwen3", "--profile", "sgmri-frames")),
    "knees": (
        knees,
        *(("--box-form", "json", "--profile", "3dreasonknee-qwen", "--frames", 4, "--size", 64),),
    ),
    "sgmri-vqa": (sgmri_vqa, ("--box-form", "bbx", "--profile", "sgmri-frames")),
}


def write_config(path: Path, model: Path, data: Path) -> Path:
    path.write_text(
        f"""name = "chain"
model = "{model}"
tuning = "lora"
save_every = 1000
[[stages]]
steps = {STEPS}
data = [{{ path = "{data}" }}]
[optimizer]
learning_rate = 1e-3
[batch]
per_device = 1
accumulate = 1
[lora]
rank = 4
alpha = 8
[hardware]
dtype = "float32"
checkpointing = false
cpu = true
"""
    )
    return path


@pytest.mark.parametrize("source", CHAINS)
def test_from_bench_to_evaluation(source: str, roomy: Path, situs: Situs, tmp_path: Path) -> None:
    make, options = CHAINS[source]
    bench, data, run = make(tmp_path, situs), tmp_path / "data", tmp_path / "run"
    target = "reasoning+boxes+answer" if source == "knees" else "boxes+answer"
    for command in (
        ("build", bench, "--target", target, *options, "--out", data),
        ("check", data, "--model", roomy, "--limit", 16),
        ("export", data, "--to", "trl", "--out", tmp_path / "trl"),
        ("run", write_config(tmp_path / "c.toml", roomy, data), "--out", run),
        ("merge", run, "--out", tmp_path / "merged", "--sample", 2),
    ):
        ran = situs("tune", *command)
        assert ran.code == 0, f"{command[0]}: {ran.out}\n{ran.err}"
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    losses = [row["loss"] for row in rows if "loss" in row]
    assert len(losses) == STEPS
    assert all(map(math.isfinite, losses))
    assert sum(losses[-5:]) < sum(losses[:5])  # it learns what it is shown
    ran = situs(
        *("tune", "eval", run, "--bench", bench, "--out", tmp_path / "evaluation", "--json"),
        *("--limit", 4, "--max-tokens", 8, "--no-sight"),
    )
    assert ran.code == 0, ran.err
    assert set(ran.json["arms"]) == {"base", "boxes"}
    assert ran.json["arms"]["boxes"]["grounding"]["n"] > 0
    assert (tmp_path / "evaluation" / "report.html").is_file()
