"""Small good inputs of every kind, made once; each attack spoils copies of them."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import h5py
import nibabel
import numpy as np
from PIL import Image

from attack import dicom, station
from attack.program import must

__all__ = ["BENCHES", "ENVIRONMENT", "NAMES_OF_LABELS", "make", "restricted"]

_ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
ENVIRONMENT = {"SITUS_ID_KEY": "a key for the attacks"} | _ONE_THREAD
NAMES_OF_LABELS = ("liver", "spleen", "kidney_left", "kidney_right", "aorta")
BENCHES = ("items", "scans", "frames", "knees", "words")
"""Benches of every source: `benches/NAME`, each with a run, `runs/NAME`."""

_SHAPE = (34, 32, 28)
_TRUSTED = ("--trust", "s0", "--trust", "s1", "--trust", "s2")
"""Five balls look like nobody's anatomy."""


def make(folder: Path) -> None:
    """Write the corpus."""
    folder.mkdir(parents=True)
    _volumes(folder)
    _frames(folder)
    _tables(folder)
    _published(folder)
    dicom.write(folder)
    open_licence = ("--licence", "CC0-1.0")
    sources: dict[str, tuple[Any, ...]] = {
        "items": ("import", "items", folder / "items.jsonl"),
        "scans": (
            "build",
            "masks",
            folder / "scans.csv",
            "--names",
            folder / "names.csv",
            *_TRUSTED,
        ),
        "frames": (
            "build",
            "boxes",
            folder / "boxes.csv",
            "--images",
            folder / "stacks",
            "--per-study",
            6,
        ),
        "knees": ("build", "grades", folder / "grades.csv", "--boxes", folder / "regions.csv"),
        "words": ("build", "reports", folder / "reports.csv"),
    }
    for name, words in sources.items():
        bench, run = folder / "benches" / name, folder / "runs" / name
        must(*words, *open_licence, "--out", bench)
        must("run", bench, "--model", "random", "--out", run)
    # A run remembers what judges said of it: those that are judged are not those that others read.
    shutil.copytree(folder / "runs" / "items", folder / "runs" / "judged")
    _restricted(folder, sources)
    _lessons(folder)
    _parts(folder)
    _from_people(folder)
    _abstracts(folder)
    station.write(folder)


def restricted(folder: Path) -> tuple[Path, Path]:
    """A bench of words that must not leave this machine, and a run of it. Do not change them."""
    return folder / "benches" / "kept", folder / "runs" / "kept"


def _lessons(folder: Path) -> None:
    """A bench to learn from: a series with pictures, in the split for training."""
    asked = {"study": "series", "patient": "p", "split": "train", "answer": "yes"}
    _lines(folder / "lessons.jsonl", [asked | {"question": f"Is {n} odd?"} for n in (1, 3)])
    words = ("import", "items", folder / "lessons.jsonl", "--images", folder / "dicom")
    lessons = folder / "benches" / "lessons"
    must(*words, "--licence", "CC0-1.0", "--out", lessons)
    must("tune", "build", lessons, "--target", "answer", "--out", folder / "taught")
    config = files("situs.tune").joinpath("configs", "sgmri-qwen3-vl-8b.toml").read_bytes()
    (folder / "config.toml").write_bytes(config)


def _restricted(folder: Path, sources: dict[str, tuple[Any, ...]]) -> None:
    """Without a licence data is restricted: `kept` of words, and `private` of scans."""
    bench, run = restricted(folder)
    must(*sources["items"], "--out", bench)
    must("run", bench, "--model", "random", "--out", run)
    must(*sources["scans"], "--out", folder / "benches" / "private")


def _parts(folder: Path) -> None:
    """A room whose pictures are small, sessions in it, and the two halves of a run."""
    room = files("situs.room").joinpath("data", "workstation.toml").read_text("utf-8")
    rest = [line for line in room.splitlines() if not line.startswith(("size_px", "strip_px"))]
    small = ["size_px = 64", "strip_px = 64", *rest]
    (folder / "room.toml").write_text("\n".join(small) + "\n", encoding="utf-8")
    scans, items = folder / "benches" / "scans", folder / "benches" / "items"
    model = ("--model", "driller?answers=oracle&looks=40", "--room", folder / "room.toml")
    must("run", scans, *model, "--limit", 6, "--out", folder / "sessions")
    for part in (1, 2):
        halves = ("--shard", f"{part}/2", "--out", folder / "halves" / str(part))
        must("run", items, "--model", "random", *halves)
        shard = ("--shard", f"{part}/2", "--out", folder / "parts" / str(part))
        must(
            "build",
            "masks",
            folder / "scans.csv",
            "--names",
            folder / "names.csv",
            *_TRUSTED,
            *shard,
        )


def _volumes(folder: Path) -> None:
    # Round, and apart from each other and the border: near it they would count as cut off by the
    # scan.
    centres = ((9, 9, 18), (24, 9, 18), (24, 22, 9), (9, 22, 9), (16.5, 16, 14))
    labels = np.zeros(_SHAPE, np.uint8)
    grid = np.moveaxis(np.indices(labels.shape), 0, -1)
    for value, centre in enumerate(centres, 1):
        labels[np.linalg.norm(grid - centre, axis=-1) < 3.8] = value
    affine = np.diag([-5.0, 5.0, 5.0, 1.0])
    affine[:3, 3] = 40, -30, -20
    nibabel.save(nibabel.Nifti1Image(labels, affine), folder / "labels.nii.gz")
    nibabel.save(nibabel.Nifti1Image(labels, affine), folder / "labels.nii")
    nibabel.save(nibabel.Nifti2Image(labels, affine), folder / "second.nii")
    scan = np.where(labels > 0, 60 + 20 * labels, -1000).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(scan, affine), folder / "ct.nii.gz")
    study = folder / "study"
    (study / "segmentations").mkdir(parents=True)
    nibabel.save(nibabel.Nifti1Image(scan, affine), study / "ct.nii.gz")
    for value, name in enumerate(NAMES_OF_LABELS, 1):
        mask = nibabel.Nifti1Image((labels == value).astype(np.uint8), affine)
        nibabel.save(mask, study / "segmentations" / f"{name}.nii.gz")
    head = ["type: uchar", "dimension: 3", "space: right-anterior-superior", "sizes: 34 32 28"]
    head += [
        "space directions: (-5,0,0) (0,5,0) (0,0,5)",
        "space origin: (40,-30,-20)",
        "encoding: raw",
    ]
    segments = [
        line
        for n, name in enumerate(NAMES_OF_LABELS)
        for line in (
            f"Segment{n}_Name:={name}",
            f"Segment{n}_LabelValue:={n + 1}",
            f"Segment{n}_Layer:=0",
        )
    ]
    voxels = labels.tobytes(order="F")
    for name, extra in (("labels.nrrd", []), ("labels.seg.nrrd", segments)):
        text = "\n".join(["NRRD0005", *head, *extra, "", ""])
        (folder / name).write_bytes(text.encode() + voxels)
    mha = [
        "ObjectType = Image",
        "NDims = 3",
        "BinaryData = True",
        "TransformMatrix = 1 0 0 0 -1 0 0 0 1",
    ]
    mha += [
        "Offset = -40 30 -20",
        "ElementSpacing = 5 5 5",
        "DimSize = 34 32 28",
        "ElementType = MET_UCHAR",
    ]
    (folder / "labels.mha").write_bytes(
        "\n".join([*mha, "ElementDataFile = LOCAL", ""]).encode() + voxels
    )


def _frames(folder: Path) -> None:
    """Pictures of the volumes that `boxes.csv` speaks of: two as PNG stacks, two as HDF5."""
    grey = (np.indices((64, 96)).sum(0) % 200).astype(np.uint8)
    for n in range(4):
        volume = folder / "stacks" / f"file1000{n:03d}"
        if n % 2:
            volume.mkdir(parents=True)
            for frame in range(8):
                Image.fromarray(grey).save(volume / f"{frame:03d}.png")
            continue
        volume.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(f"{volume}.h5", "w") as file:
            file["reconstruction_rss"] = np.stack([grey] * 8).astype(np.float32)
            file.attrs["acquisition"], file.attrs["patient_id"] = "CORPD_FBK", f"p{n}"


def _tables(folder: Path) -> None:
    items: list[dict[str, object]] = []
    for n in range(6):
        # Of what is tested nothing may be learnt: a study each to learn from, to tune by and to
        # test.
        split = ("train", "val", "test")[n % 3]
        study = {"study": f"s{n % 3}", "patient": f"p{n % 3}", "split": split}
        items += [
            study | {"id": f"a{n}", "question": f"Is {n} odd?", "answer": "yes" if n % 2 else "no"},
            study
            | {
                "id": f"b{n}",
                "question": f"Which, {n}?",
                "answer": "A",
                "options": ["left", "right"],
            },
            study
            | {
                "id": f"c{n}",
                "question": f"How long, {n}?",
                "answer": 3.5,
                "unit": "mm",
                "tolerance": [3, 4],
            },
            study
            | {
                "id": f"d{n}",
                "question": f"Where, {n}?",
                "answer": "In the left lobe.",
                "tags": ["open"],
            },
        ]
    _lines(folder / "items.jsonl", items)
    replies = ["yes", "(A) left", "3.4 mm", "It lies in the left lobe."]
    rows = [{"item_id": row["id"], "response": replies[n % 4]} for n, row in enumerate(items)]
    _lines(folder / "answers.jsonl", rows)
    _lines(
        folder / "verdicts.jsonl", [{"id": f"d{n}", "is_correct": bool(n % 2)} for n in range(6)]
    )
    (folder / "table.csv").write_text("study,patient,image,labels\ns1,p1,,labels.nii.gz\n")
    scans = "".join(f"s{n},p{n},ct.nii.gz,labels.nii.gz\n" for n in range(3))
    (folder / "scans.csv").write_text("study,patient,image,labels\n" + scans)
    names = dict(enumerate(NAMES_OF_LABELS, 1))
    (folder / "names.csv").write_text(
        "label,name\n" + "".join(f"{n},{name}\n" for n, name in names.items())
    )
    (folder / "names.json").write_text(json.dumps(names))
    boxes = [
        f"file1000{n:03d},{f},,{40 + f},{30 + n},30,20,Meniscus Tear"
        for n in range(4)
        for f in range(3, 6)
    ]
    (folder / "boxes.csv").write_text(
        "\n".join(["file,slice,study_level,x,y,width,height,label", *boxes]) + "\n"
    )
    (folder / "reviewed.csv").write_text("".join(f"file1000{n:03d}\n" for n in range(6)))
    (folder / "sides.csv").write_text(
        "file,medial,midline_x\n" + "".join(f"file1000{n:03d},left,48\n" for n in range(4))
    )
    _coco(folder)
    findings = "There is a 12 mm nodule in the left upper lobe. The liver is normal."
    reports = [{"id": f"r{n}", "findings": findings, "impression": ""} for n in range(4)]
    (folder / "reports.csv").write_text(
        "id,findings,impression\n" + "".join(f"{r['id']},{findings},\n" for r in reports)
    )
    _lines(folder / "reports.jsonl", reports)
    grades = [
        f"k{n},p{n},right,13 14 12,5 0 0 0 0 5 0 0 0 0 5 0 0 0 0 1,1,size,{n % 3}" for n in range(3)
    ]
    columns = "study,patient,side,shape,affine,question,sub_score,grade"
    (folder / "grades.csv").write_text("\n".join([columns, *grades]) + "\n")
    regions = "".join(f"k{n},patella_medial,0,0,0,9,8,7\n" for n in range(3))
    (folder / "regions.csv").write_text("study,region,x0,y0,z0,x1,y1,z1\n" + regions)
    (folder / "columns.toml").write_text('[columns]\nstudy = "study"\ngrade = "grade"\n')
    (folder / "prices.toml").write_text('["m*"]\ninput = 2.5\noutput = 10.0\n')
    for room, name in (("situs.facts", "recipe.toml"), ("situs.profiles", "default.toml")):
        (folder / name).write_bytes(files(room).joinpath("data", name).read_bytes())
    (folder / "bank.toml").write_bytes(
        files("situs.anatomy.banks").joinpath("data", "moaks-knee.toml").read_bytes()
    )


def _coco(folder: Path) -> None:
    pictures = [
        {"id": n, "volume": f"v{n // 4}", "frame": n % 4, "width": 96, "height": 64}
        for n in range(8)
    ]
    marks = [
        {"id": n, "image_id": n, "category_id": 1, "bbox": [10, 12, 20, 9]} for n in range(0, 8, 2)
    ]
    told = {
        "images": pictures,
        "annotations": marks,
        "categories": [{"id": 1, "name": "Meniscus Tear"}],
    }
    (folder / "coco.json").write_text(json.dumps(told))


def _published(folder: Path) -> None:
    """Files in the forms of the published sets."""
    qa = {
        f"valid_{n}_a_1.nii.gz": {"qa_pairs": [{"question": "Where?", "answer": "Left."}]}
        for n in range(3)
    }
    (folder / "qa.json").write_text(json.dumps(qa))
    told = {name: {"findings": f"Nodule {name}.", "impression": ""} for name in qa}
    (folder / "reports.json").write_text(json.dumps(told))
    brain = "file_brain_AXFLAIR_200_6002425"
    box = {"x": 10, "y": 20, "width": 5, "height": 6, "label": "Mass"}
    sgmri: list[dict[str, Any]] = [
        {
            "volume_id": brain,
            "slice_num": 4,
            "level": "slice",
            "task": "detection",
            "type": "closed_ended",
        }
        | {
            "question": "Is there a lesion?",
            "answer": "Yes, there is.",
            "ground_truth": {"bboxes": [box]},
        },
        {
            "volume_id": brain,
            "slice_num": 4,
            "level": "slice",
            "task": "classification",
            "type": "single_choice",
        }
        | {"question": "Which?", "choices": ["(A) Mass", "(B) Edema"], "answer": "(B) Edema"},
        {
            "volume_id": "file1000001",
            "num_slices": 30,
            "level": "volume",
            "task": "counting",
            "type": "closed_ended",
        }
        | {"question": "How many?", "answer": "3"},
    ]
    (folder / "sgmri.json").write_text(json.dumps(sgmri))
    result = {
        "sample_id": "knee_file1000001_localization_0",
        "dataset": "knee",
        "task": "localization",
    }
    result |= {
        "qa_type": "open_ended",
        "question": "Where?",
        "gt_answer": "Frame 7: <bbx>[1,2,3,4]</bbx>",
    }
    result |= {"model_output": "Frame 7: [1,2,4,6]", "level": "volume_level"}
    (folder / "results.json").write_text(json.dumps({"model_key": "m", "results": [result]}))
    columns = "patient_id,time,study_folder,series_folder,knee_side,image_filepath,label_filepath"
    (folder / "split.csv").write_text(f"{columns}\n9001,V00,s1,d1,LEFT,ct.nii.gz,x\n")
    scores = {"Size of BML (including cyst)": 2, "Number of BML within subregion": 1}
    scores["% of lesion that is BML (excluding cyst)"] = 3
    entry = {
        "question_id": 1,
        "image_filepath": "ct.nii.gz",
        "bbox": [3, 7, 2, 9, 4, 11],
        "reasoning": "Bright.",
    }
    entry["answer"] = {"MOAKS_scores": {"patella medial BML": scores}}
    (folder / "knee.json").write_text(json.dumps([entry]))
    (folder / "fields.toml").write_text(
        'verified = true\nimage = "image_filepath"\nquestion = "question_id"\nanswer = "answer"\n'
    )


def _from_people(folder: Path) -> None:
    """Sheets and quizzes that somebody has filled in."""
    bench = folder / "benches" / "items"
    sheet = folder / "sheet.csv"
    must("audit", "export", bench, "--items", 6, "--raters", "ann,bob", "--out", sheet)
    with sheet.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for number, row in enumerate(rows):
        row.update(
            dict.fromkeys(("spatial", "relevant", "correct"), "no" if number % 4 == 0 else "yes")
        )
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    run = json.loads((folder / "runs" / "items" / "run.json").read_text())
    told = [
        json.loads(line)
        for line in (folder / "runs" / "items" / "answers.jsonl").read_text().splitlines()
    ]
    ids = [row["item_id"] for row in told]
    head = {
        "format": "situs-quiz-1",
        "mode": "answer",
        "bench": "items",
        "bench_hash": run["bench_hash"],
    }
    quiz = head | {"profile": run["profile"], "seed": 0, "items": ids}
    answers = [{"item_id": i, "state": "answered", "said": {"text": "A"}} for i in ids]
    (folder / "quiz.json").write_text(
        json.dumps({"quiz": quiz, "reader": "ann", "answers": answers})
    )


def _abstracts(folder: Path) -> None:
    """Publications in every form that a library is made of, and a library."""
    words = "The right kidney lies 2 cm lower than the left in most adults."
    rows = [{"pmid": n, "title": f"Kidneys {n}", "abstract": words} for n in range(1, 5)]
    _lines(folder / "abstracts.jsonl", rows)
    (folder / "abstracts.nbib").write_text(
        "".join(f"PMID- {n}\nTI  - Kidneys {n}\nAB  - {words}\nDP  - 2019\n\n" for n in range(1, 5))
    )
    records = "".join(
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{n}</PMID><Article>'
        f"<ArticleTitle>Kidneys {n}</ArticleTitle>"
        f"<Abstract><AbstractText>{words}</AbstractText></Abstract>"
        "</Article></MedlineCitation></PubmedArticle>"
        for n in range(1, 5)
    )
    xml = f"<PubmedArticleSet>{records}</PubmedArticleSet>"
    (folder / "abstracts.xml").write_text(xml)
    (folder / "packed.xml.gz").write_bytes(gzip.compress(xml.encode(), mtime=0))
    must("library", "build", folder / "abstracts.jsonl", "--out", folder / "library")


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
