"""Small good inputs of every kind, made once; each attack spoils copies of them."""

from __future__ import annotations

import json
from pathlib import Path

import nibabel
import numpy as np

from attack.program import call

__all__ = ["ENVIRONMENT", "NAMES_OF_LABELS", "make"]

ENVIRONMENT = {"SITUS_ID_KEY": "a key for the attacks", "NUMBA_NUM_THREADS": "1"}
NAMES_OF_LABELS = ("liver", "spleen", "kidney_left", "kidney_right", "aorta")


def make(folder: Path) -> None:
    """Write the corpus."""
    folder.mkdir(parents=True)
    _volumes(folder)
    _tables(folder)
    for words in (
        ("import", "items", folder / "items.jsonl", "--licence", "CC0-1.0", "--out", folder / "bench"),
        ("run", folder / "bench", "--model", "random", "--out", folder / "run"),
    ):
        ran = call(*words)
        assert ran.code == 0, ran.err


def _volumes(folder: Path) -> None:
    # Round, and apart from each other and the border: near it they would count as cut off by the scan.
    centres = ((9, 9, 18), (24, 9, 18), (24, 22, 9), (9, 22, 9), (16.5, 16, 14))
    labels = np.zeros((34, 32, 28), np.uint8)
    grid = np.moveaxis(np.indices(labels.shape), 0, -1)
    for value, centre in enumerate(centres, 1):
        labels[np.linalg.norm(grid - centre, axis=-1) < 3.8] = value
    affine = np.diag([-5.0, 5.0, 5.0, 1.0])
    affine[:3, 3] = 40, -30, -20
    nibabel.save(nibabel.Nifti1Image(labels, affine), folder / "labels.nii.gz")
    nibabel.save(nibabel.Nifti1Image(labels, affine), folder / "labels.nii")
    head = ["type: uchar", "dimension: 3", "space: right-anterior-superior", "sizes: 34 32 28"]
    head += ["space directions: (-5,0,0) (0,5,0) (0,0,5)", "space origin: (40,-30,-20)", "encoding: raw"]
    segments = [
        line
        for n, name in enumerate(NAMES_OF_LABELS)
        for line in (f"Segment{n}_Name:={name}", f"Segment{n}_LabelValue:={n + 1}", f"Segment{n}_Layer:=0")
    ]
    voxels = labels.tobytes(order="F")
    for name, extra in (("labels.nrrd", []), ("labels.seg.nrrd", segments)):
        text = "\n".join(["NRRD0005", *head, *extra, "", ""])
        (folder / name).write_bytes(text.encode() + voxels)
    mha = ["ObjectType = Image", "NDims = 3", "BinaryData = True", "TransformMatrix = 1 0 0 0 -1 0 0 0 1"]
    mha += ["Offset = -40 30 -20", "ElementSpacing = 5 5 5", "DimSize = 34 32 28", "ElementType = MET_UCHAR"]
    (folder / "labels.mha").write_bytes("\n".join([*mha, "ElementDataFile = LOCAL", ""]).encode() + voxels)


def _tables(folder: Path) -> None:
    def lines(name: str, rows: list[dict[str, object]]) -> None:
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    items: list[dict[str, object]] = []
    for n in range(6):
        study = {"study": f"s{n % 3}", "patient": f"p{n % 3}", "split": "test"}
        items += [
            study | {"id": f"a{n}", "question": f"Is {n} odd?", "answer": "yes" if n % 2 else "no"},
            study | {"id": f"b{n}", "question": f"Which, {n}?", "answer": "A", "options": ["left", "right"]},
            study | {"id": f"c{n}", "question": f"How long, {n}?", "answer": 3.5, "unit": "mm", "tolerance": [3, 4]},
            study | {"id": f"d{n}", "question": f"Where, {n}?", "answer": "In the left lobe.", "tags": ["open"]},
        ]
    lines("items.jsonl", items)
    replies = ["yes", "(A) left", "3.4 mm", "It lies in the left lobe."]
    lines("answers.jsonl", [{"item_id": row["id"], "response": replies[n % 4]} for n, row in enumerate(items)])
    lines("verdicts.jsonl", [{"id": f"d{n}", "is_correct": bool(n % 2)} for n in range(6)])
    (folder / "table.csv").write_text("study,patient,image,labels\ns1,p1,,labels.nii.gz\n")
    (folder / "names.csv").write_text("label,name\n" + "".join(f"{n + 1},{v}\n" for n, v in enumerate(NAMES_OF_LABELS)))
    boxes = [f"file1000{n:03d},{f},,{40 + f},{50 + n},30,20,Meniscus Tear" for n in range(4) for f in range(3, 6)]
    (folder / "boxes.csv").write_text("\n".join(["file,slice,study_level,x,y,width,height,label", *boxes]) + "\n")
    findings = "There is a 12 mm nodule in the left upper lobe. The liver is normal."
    (folder / "reports.csv").write_text("id,findings,impression\n" + "".join(f"r{n},{findings},\n" for n in range(4)))
    grades = [f"k{n},p{n},right,13 14 12,5 0 0 0 0 5 0 0 0 0 5 0 0 0 0 1,1,size,{n % 3}" for n in range(3)]
    columns = "study,patient,side,shape,affine,question,sub_score,grade"
    (folder / "grades.csv").write_text("\n".join([columns, *grades]) + "\n")
    qa = {f"valid_{n}_a_1.nii.gz": {"qa_pairs": [{"question": "Where?", "answer": "Left."}]} for n in range(3)}
    (folder / "qa.json").write_text(json.dumps(qa))
