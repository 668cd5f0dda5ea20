"""Folders in which the shown commands can be run: small files under the names that the pages use.

A world makes an input when a command first names it, from other inputs or by a command. The same
name means different things on different pages: `bench` is of masks in the README, and of boxes in
"Train a model".
"""

from __future__ import annotations

import csv
import json
import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

import nibabel
import numpy as np
import pytest

from frame_make import make_cohort, write_images
from published_make import QA, RESULTS, write_set
from tune_cohort import low_recipe, write_volumes

__all__ = ["MODEL", "USUAL", "WORLDS", "World"]

REAL = Path(os.environ.get("SITUS_REAL_DATA", "../shared/data")).absolute()
"""Released files, where they are at hand."""

MODEL = "http://localhost:8000/v1"
"""Where the pages' local models listen; the tests put a server of their own in its place."""

_PLUGINS = {
    "plugin:my_package.model:Model": "my_package/model.py",
    "plugin:bright:Bright": "bright.py",
}
"""Files that the pages' own models are in."""

Input = str | Callable[["World", Path], object]
"""A command that makes the input, or a function that is given its path."""


class World:
    """A folder whose inputs are made when they are named."""

    def __init__(
        self, folder: Path, small: Path, inputs: Mapping[str, Input], run: Callable[[str], None]
    ) -> None:
        self.folder = folder
        self.small = small
        """A folder with phantom patients (`data`) and a bench of them (`bench`)."""
        self._inputs = inputs
        self.run = run
        folder.mkdir()

    def provide(self, command: str, besides: str = "") -> None:
        """Make the inputs that a command names after its own name,
        but for one that it makes itself."""
        for word in shlex.split(command)[2:]:
            name = word.partition("=")[2] if word.count("=") == 1 else word
            name = _PLUGINS.get(name.partition("?")[0], name.removeprefix("replay:").rstrip("/"))
            if name not in self._inputs:
                name = name.partition("/")[0]  # a file of a folder that is made
            if name == besides or name not in self._inputs:
                continue
            if not any(self.folder.glob(name)):
                self._make(name, self._inputs[name])

    def _make(self, name: str, made_by: Input) -> None:
        if isinstance(made_by, str):
            for command in made_by.split(" && "):
                self.provide(command, besides=name)
                self.run(command)
        else:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            made_by(self, path)
        assert any(self.folder.glob(name)), f"{made_by} does not make {name}"


def _totalsegmentator() -> dict[str, int]:
    text = files("situs.anatomy").joinpath("data", "totalsegmentator.csv").read_text("utf-8")
    return {row["name"]: int(row["label"]) for row in csv.DictReader(text.splitlines())}


def _write_labels(patient: Path, path: Path) -> None:
    ids, image = _totalsegmentator(), None
    labels = np.zeros(0)
    for mask in sorted((patient / "segmentations").glob("*.nii.gz")):
        name = mask.name.removesuffix(".nii.gz")
        if name not in ids:
            continue
        image = nibabel.load(mask)
        labels = labels if labels.size else np.zeros(image.shape, np.uint8)
        labels[np.asanyarray(image.dataobj) > 0] = ids[name]
    assert image is not None
    nibabel.save(nibabel.Nifti1Image(labels, image.affine), path)


def _write_scan(world: World, path: Path) -> None:
    shutil.copy(next((world.small / "data" / "patient000").glob("*.nii.gz")), path)


def _write_cohort(world: World, path: Path) -> None:
    lines = ["study,patient,image,labels"]
    for patient in sorted((world.small / "data").iterdir()):
        labels, image = f"{patient.name}-labels.nii.gz", f"{patient.name}.nii.gz"
        _write_labels(patient, path.parent / labels)
        shutil.copy(next(patient.glob("*.nii.gz")), path.parent / image)
        lines.append(f"{patient.name},{patient.name},{image},{labels}")
    path.write_text("\n".join(lines) + "\n")


def _write_names(world: World, path: Path) -> None:
    rows = (f"{label},{name}" for name, label in _totalsegmentator().items())
    path.write_text("\n".join(["label,name", *rows]) + "\n")


def _write_answers(world: World, path: Path) -> None:
    from situs.bench import open_bench

    rows = [
        {"item_id": item.item_id, "response": "A"}
        for item in open_bench(world.small / "bench").items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _write_plugin(world: World, path: Path) -> None:
    path.write_text(
        "class Model:\n    remote = False\n\n    def answer(self, request):\n        return 'A'\n"
    )


def _write_page_plugin(world: World, path: Path) -> None:
    """The plugin that the page itself shows."""
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text("utf-8")
    path.write_text(page.split("```python\n")[1].split("```")[0])


def _write_fastmri(world: World, path: Path) -> None:
    """The tables and lists beside `path`, and the images in it."""
    cohort = make_cohort(seed=0, count=8)
    cohort.write(path.parent)
    write_images(cohort, path)


def _write_reports(world: World, path: Path) -> None:
    rows = [
        ("r1", "There is a 2 cm nodule in the right upper lobe. The liver is normal.", "Nodule."),
        ("r2", "A 14 mm cyst lies in the lower pole of the left kidney.", "Renal cyst."),
    ]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", "findings", "impression"), *rows])


_TEXT = [
    ("valid_1_a_1", "Where is the nodule?", "In the left lung."),
    ("valid_2_b_1", "Where?", "Up."),
]


def _write_text_questions(world: World, path: Path) -> None:
    pairs = {
        f"{volume}.nii.gz": {"qa_pairs": [{"question": question, "answer": answer}]}
        for volume, question, answer in _TEXT
    }
    path.write_text(json.dumps(pairs))


def _text_rows() -> list[dict[str, object]]:
    return [
        {"image_path": f"{volume}.npy", "question": question, "answer": answer, "prediction": "Up."}
        for volume, question, answer in _TEXT
    ]


def _write_text_answers(world: World, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in _text_rows()))


def _write_verdicts(world: World, path: Path) -> None:
    path.write_text(json.dumps([row | {"is_correct": True} for row in _text_rows()]))


def _write_published_knees(world: World, path: Path) -> None:
    table, _ = write_set(path.parent)
    table.rename(path.parent / "split.csv")


def _write_questions(world: World, path: Path) -> None:
    path.write_text(json.dumps(QA))


def _write_results(world: World, path: Path) -> None:
    path.write_text(json.dumps(RESULTS))


def _write_abstracts(world: World, path: Path) -> None:
    record = {"pmid": "1", "title": "Size of the spleen", "abstract": "The spleen is 11 cm long."}
    path.write_text(json.dumps(record) + "\n")


def _copy_small(name: str) -> Input:
    return lambda world, path: shutil.copytree(world.small / name, path)


def _beside(name: str) -> Input:
    """Made together with another input."""
    return lambda world, path: world.provide(f"situs make {name}")


def _build_parts(world: World, path: Path) -> None:
    for part in (1, 2):
        command = "situs build masks data/cohort.csv --names totalsegmentator"
        world.provide("situs make data/cohort.csv")
        world.run(f"{command} --shard {part}/2 --out data/parts/{part}")


def _run_parts(world: World, path: Path) -> None:
    world.provide("situs make bench")
    for part in (1, 2, 3, 4):
        world.run(f"situs run bench --model prior --shard {part}/4 --out runs/part{part}")


_MASKS: dict[str, Input] = {
    "patient/segmentations": _copy_small("data/patient000/segmentations"),
    "labels.nii.gz": lambda world, path: _write_labels(world.small / "data" / "patient000", path),
    "scan.nii.gz": _write_scan,
    "my_names.csv": _write_names,
    "cohort.csv": _write_cohort,
    "data/cohort.csv": _write_cohort,
    "data/parts/*": _build_parts,
    "runs/part1": _run_parts,
    "runs/part2": _beside("runs/part1"),
    "runs/part3": _beside("runs/part1"),
    "runs/part4": _beside("runs/part1"),
    "data/studies": _copy_small("data"),
    "studies": _copy_small("data"),
    "scans": _copy_small("data"),
    "bench": _copy_small("bench"),
    "my_package/model.py": _write_plugin,
    "their_answers.jsonl": _write_answers,
    "runs/prior": "situs run bench --model prior --out runs/prior",
    "runs/plain": "situs run bench --model majority --out runs/plain",
    "runs/qwen": f"situs run bench --model openai:qwen3-vl@{MODEL} --limit 3 --out runs/qwen",
    "runs/local": "situs run bench --model random --out runs/local",
    "runs/theirs": "situs run bench --model replay:their_answers.jsonl --out runs/theirs",
    "runs/mine": "situs run bench --model random?seed=3 --out runs/mine",
    "runs/frugal": "situs run bench --model driller --room frugal --limit 6 --out runs/frugal",
    "runs/driller": "situs run bench --model driller --room frugal --limit 6 --out runs/driller",
    "runs/true": (
        "situs run bench --model driller --room callipers --tools segmentation --limit 6 --out"
        " runs/true"
    ),
    "runs/lied": (
        "situs run bench --model driller --room callipers"
        " --tools segmentation:lying:wrong-side --limit 6 --out runs/lied"
    ),
    "probes/qwen/text": (
        f"situs probe bench --model openai:qwen3-vl@{MODEL} --probes blind --limit 3 --out"
        " probes/qwen"
    ),
    "probes/reader/original": (
        "situs probe bench --model random --probes blind --limit 3 --out probes/reader"
    ),
    "authored": "situs author bench --out authored",
    "written": "situs build reports reports.csv --out written",
    "station": "situs review init station",
    "results": "situs review export station --project pilot --bench bench --out results",
    "knee.csv": _beside("fastmri"),
    "brain.csv": _beside("fastmri"),
    "knee_file_list.csv": _beside("fastmri"),
    "brain_file_list.csv": _beside("fastmri"),
    "fastmri": _write_fastmri,
    "reports.csv": _write_reports,
    "qa.json": _write_questions,
    "answers.json": _beside("split.csv"),
    "split.csv": _write_published_knees,
}


def _write_grades(world: World, path: Path) -> None:
    """The table of phantom knees under this name, with the folders it names beside it."""
    world.provide("situs make knees")
    shutil.copytree(world.folder / "knees" / "volumes", path.parent, dirs_exist_ok=True)
    (path.parent / "grades.csv").rename(path)


def _build_boxes(world: World, path: Path) -> None:
    made = world.folder / "made"
    made.mkdir()
    words = [*write_volumes(made), "--recipe", low_recipe(made), "--licence", "CC0-1.0"]
    world.run(shlex.join(["situs", "build", "boxes", *map(str, words), "--out", str(path)]))


def _published(folder: str, name: str) -> Input:
    """A file of the released set, where it is at hand."""

    def make(world: World, path: Path) -> None:
        if not (REAL / folder / name).exists():
            pytest.skip(f"{name} of {folder} is not in {REAL} (SITUS_REAL_DATA)")
        path.symlink_to(REAL / folder / name)

    return make


_KNEES = "situs build phantoms --body knee --studies 2 --seed 5 --out knees"
_MASKS |= {
    "bright.py": _write_page_plugin,
    "synthetic": "situs build phantoms --studies 2 --seed 1 --out synthetic",
    "knees": _KNEES,
    "grades.csv": _write_grades,
    "names.csv": _write_names,
    "roi_names.csv": lambda world, path: path.write_text("pattern,name\nliver*,liver\n"),
    "dicom-cohort": _copy_small("data"),
    "patient-dicom": _copy_small("data/patient000"),
    "dicom-bench": "situs build masks dicom-cohort --restricted --out dicom-bench",
    "boxes-bench": (
        "situs build boxes knee.csv brain.csv --lists knee_file_list.csv"
        " --lists brain_file_list.csv --images fastmri --out boxes-bench"
    ),
    "runs/majority": (
        "situs run boxes-bench --model majority --profile sgmri-frames --out runs/majority"
    ),
    "reports-bench": "situs build reports reports.csv --out reports-bench",
    "text-bench": "situs import ct-spatialvqa spatial_qa.json --out text-bench",
    "spatial_qa.json": _write_text_questions,
    "spatial_qa_filtered_full.json": _write_text_questions,
    "answers.jsonl": _write_text_answers,
    "gpt.json": _write_verdicts,
    "gemini.json": _write_verdicts,
    "runs/text": "situs run text-bench --model replay:answers.jsonl --out runs/text",
    "graded": "situs build grades grades.csv --out graded",
    "runs/graded-majority": (
        "situs run graded --model majority --profile 3dreasonknee-qwen --out runs/graded-majority"
    ),
    "prices.toml": lambda world, path: path.write_text(
        '["my-model-*"]\ninput = 2.5\noutput = 10.0\n'
    ),
    "library": "situs library build abstracts.jsonl --out library",
    "abstracts.jsonl": _write_abstracts,
}
_TUNE: dict[str, Input] = {
    "bench": _build_boxes,
    "boxes": "situs tune build bench --profile sgmri-frames --out boxes",
    "knees": _KNEES,
    "moaks.csv": _write_grades,
    "fastMRI": _write_fastmri,
    "knee.csv": _beside("fastMRI"),
    "brain.csv": _beside("fastMRI"),
    "knee_file_list.csv": _beside("fastMRI"),
    "brain_file_list.csv": _beside("fastMRI"),
}
_CT = "ct-spatialvqa"
_PAPERS: dict[str, Input] = {
    **{
        name: _published(_CT, name)
        for name in (
            "spatial_qa_filtered_full_with_categories.json",
            "spatial_qa_output_full.json",
            "validation_reports_output.json",
        )
    },
    **{
        name: _published(f"{_CT}/llm_eval", name)
        for name in (
            "radfm_gemini2.5_eval_full.json",
            "radfm_gpt_eval.json",
            "radfm_qwen_eval.json",
        )
    },
    "CT-RATE/valid": lambda world, path: path.mkdir(),
    "radfm_predictions_full.jsonl": _published(
        f"{_CT}/predictions", "radfm_predictions_full.jsonl"
    ),
    "bench": (
        "situs import ct-spatialvqa spatial_qa_filtered_full_with_categories.json"
        " --reports validation_reports_output.json --out bench"
    ),
    "radfm": "situs run bench --model replay:radfm_predictions_full.jsonl --out radfm",
    "made": "situs build reports validation_reports_output.json --out made",
    "reports.csv": _write_reports,
    "written": "situs build reports reports.csv --out written",
    "sheet.csv": "situs audit export written --items 4 --raters anna,ben --out sheet.csv",
    "FASTMRI": _write_fastmri,
    "brain.csv": _beside("FASTMRI"),
    "knee.csv": _beside("FASTMRI"),
    "brain_file_list.csv": _beside("FASTMRI"),
    "knee_file_list.csv": _beside("FASTMRI"),
    "QA.json": _write_questions,
    "model_inference.json": _write_results,
    "published": "situs import sgmri-vqa model_inference.json --out published",
    "run": (
        "situs run published --model replay:model_inference.json --profile sgmri-frames --out run"
    ),
    "knee": "situs build boxes knee.csv --lists knee_file_list.csv --tasks localization --out knee",
    "prior5": "situs run knee --model prior?boxes=5 --profile sgmri-frames --out prior5",
    "knees": _KNEES,
    "oracle": "situs run knees --model oracle --profile 3dreasonknee-qwen --out oracle",
}
_TEXTS: dict[str, Input] = {
    **_MASKS,
    "bench": "situs import ct-spatialvqa spatial_qa.json --out bench",
    "runs/theirs": "situs run bench --model replay:answers.jsonl --out runs/theirs",
    "runs/mine": "situs run bench --model replay:answers.jsonl --out runs/mine",
}
_STUDY: dict[str, Input] = {
    **_MASKS,
    "station": (
        "situs review init station && situs review user station add R2 --role reader"
        " && situs review user station add R3 --role reader"
    ),
}
WORLDS: dict[str, Mapping[str, Input]] = {
    "review-coordinator.md": _STUDY,
    "tune.md": _TUNE,
    "tune build bench --target": _TUNE,
    "papers.md": _PAPERS,
    "--verdicts gpt=": _TEXTS,
    "score bench runs/mine --judge": _TEXTS,
}
"""What names mean on a page, or in a command with these words;
else they mean what they do in `USUAL`."""
USUAL: Mapping[str, Input] = _MASKS
