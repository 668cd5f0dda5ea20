"""A person's name, planted wherever a file has room for one, turns up nowhere."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import shutil
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import h5py
import nibabel
import numpy as np
import pyarrow.parquet as pq
import pydicom

from attack.clinic import of_a_clinic
from attack.commands import lay_out
from attack.program import call, complaints, tree
from attack.server import Answer, completion, serve

__all__ = ["case"]

_MEASURED = ("dicom-seg", "dicom-sr", "slicer-markups")
_PRIVATE = "locations.json"
"""Which file a study came from: a private file beside the bench, never shared."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A bench of files that name somebody, and all that can be made of it:
    nothing but `locations.json` names them."""
    name = "".join(rng.choice("bdfgklmnprstvwz") + rng.choice("aeiou") for _ in range(5)).title()
    data = work / f"clinic of {name}"
    data.mkdir()
    words = rng.choice(
        [_items, _table, _reports, _boxes, _grades, _folder, _dicom, _sgmri, of_a_clinic]
    )(rng, corpus, data, name)
    bench = work / "bench"
    before = tree(work)
    with mock.patch.dict(os.environ, {"SITUS_CACHE": str(work / "cache")}):
        ran = call(*words, "--licence", "CC0-1.0", "--out", bench)
        wrong = complaints(ran, work, before)
        if ran.code != 0:
            return [*wrong, f"{words[1]}: no bench: {ran.err.strip()}"]
        asked = _use(rng, corpus, work, bench)
    for path in sorted(work.rglob("*")):
        if path == data or data in path.parents or path.name == _PRIVATE or not path.is_file():
            continue
        if name.lower().encode() in (_plain(path) + str(path.relative_to(work)).encode()).lower():
            wrong.append(f"{words[1]}: the name stands in {path.relative_to(work)}")
    if any(name.lower().encode() in request.lower() for request in asked):
        wrong.append(f"{words[1]}: the name was sent to the model")
    return wrong


def _use(rng: random.Random, corpus: Path, work: Path, bench: Path) -> list[bytes]:
    """Everything that is done with a bench; what a model was sent meanwhile."""
    run = work / "run"
    with serve(lambda _: Answer(completion("A"))) as server:
        call(
            "run",
            bench,
            "--model",
            f"openai:m@{server.url}",
            "--limit",
            "4",
            "--tries",
            "1",
            "--out",
            run,
        )
        asked = list(server.received)
    later: list[tuple[Any, ...]] = [
        ("score", bench, run, "--json", "--breakdowns", "--tables", work / "tables"),
        (
            "report",
            run,
            "--bench",
            bench,
            "--out",
            work / "report.html",
            "--tables",
            work / "report-tables",
        ),
        ("show", bench, "--out", work / "shown"),
        ("quiz", bench, "--items", "1", "--out", work / "quiz.html"),
        (
            "audit",
            "export",
            bench,
            "--items",
            "1",
            "--raters",
            "ann,bob",
            "--out",
            work / "sheet.csv",
        ),
        ("debias", bench, "--out", work / "debiased"),
        (
            "export",
            run,
            "--bench",
            bench,
            "--to",
            rng.choice(["inspect", "lmms-eval"]),
            "--out",
            work / "log",
        ),
        (
            "probe",
            bench,
            "--model",
            "random",
            "--probes",
            "mirror",
            "--limit",
            "2",
            "--out",
            work / "probed",
        ),
        ("check", bench, "--json"),
        (
            "run",
            bench,
            "--model",
            "random",
            "--events",
            work / "events.jsonl",
            "--out",
            work / "told",
        ),
        (
            "report",
            run,
            "--bench",
            bench,
            "--out",
            work / "drawn.html",
            "--charts",
            work / "charts",
        ),
        ("author", bench, "--per-study", "2", "--out", work / "authored"),
        ("tune", "build", bench, "--no-pictures", "--target", "answer", "--out", work / "taught"),
        ("tune", "build", bench, "--target", "answer", "--out", work / "lessons"),
        ("run", bench, "--model", "random", "--shard", "1/2", "--out", work / "half"),
        *(
            ("export", bench, "--to", to, "--limit", "2", "--out", work / f"export-{to}")
            for to in ("hf", "inspect", "vlmevalkit", "lmms-eval", "3dreasonknee", *_MEASURED)
        ),
        ("export", bench, "--to", "croissant", "--out", work / "croissant"),
    ]
    read = ("run", bench, "--model", "peeker", "--room", corpus / "room.toml", "--limit", "2")
    if (
        rng.random() < 0.4
        and call(*read, "--tools", "segmentation", "--out", work / "sessions").code == 0
    ):
        sessions = work / "sessions"
        later += [
            ("report", sessions, "--bench", bench, "--out", work / "sessions.html"),
            ("export", sessions, "--bench", bench, "--to", "traces", "--out", work / "traces"),
        ]
    if rng.random() < 0.4 and call("review", "init", work / "station").code == 0:
        brought = ("review", "import", work / "station", bench, "--project", "p", "--items", "4")
        kept = ("review", "export", work / "station", "--project", "p", "--out", work / "readings")
        call(*brought)
        later.append(kept)
    lessons = [words for words in later if words[0] == "tune"]
    for words in [*rng.sample(later, 3), rng.choice(lessons)]:
        if Path(words[-1]).exists():  # drawn twice
            continue
        ran = call(*words)
        # What a command prints about a study may be kept or piped, as its files are.
        (work / f"said-{words[0]}-{rng.randrange(10**6)}").write_text(ran.out)
    if rng.random() < 0.5 and run.exists():
        (work / "viewed").write_text(asyncio.run(_viewed(work)))
    return asked


async def _viewed(folder: Path) -> str:
    """What `situs view` shows of the runs of a folder:
    the page, the lists, and the first item of each."""
    from aiohttp.test_utils import TestClient, TestServer

    from situs.view import WatchedRuns, view_app

    async with TestClient(TestServer(view_app(WatchedRuns(folder)))) as client:
        shown = [await (await client.get("/")).text()]
        runs = await (await client.get("/api/runs")).json()
        shown.append(json.dumps(runs))
        for run in runs:
            path = f"/api/runs/{run['key']}/items"
            listed = await (await client.get(path)).text()
            shown.append(listed)
            rows = json.loads(listed).get("rows", []) if listed.startswith("{") else []
            for row in rows[:1]:
                shown.append(await (await client.get(f"{path}/{row['item_id']}")).text())
    return "\n".join(shown)


def _plain(path: Path) -> bytes:
    """What a file holds, without its packing."""
    raw = path.read_bytes()
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return repr((table.schema.metadata, table.to_pylist())).encode()
    if raw.startswith(b"\x1f\x8b"):
        return gzip.decompress(raw)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return b"".join(archive.read(entry) + entry.encode() for entry in archive.namelist())
    return raw


def _items(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    rows = [json.loads(line) for line in (corpus / "items.jsonl").read_text().splitlines()]
    for row in rows:
        row["study"] = f"{name}_{row['study']}"
        row["patient"] = f"{row['patient']} {name}"
        row["id"] = f"{name}/{row['id']}"
    file = data / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["import", "items", str(file)]


def _signed(source: Path, target: Path, name: str) -> None:
    """A NIfTI file that names somebody in every field with room for it."""
    image = nibabel.load(source)
    header = image.header.copy()
    for field in ("descrip", "aux_file", "intent_name", "db_name"):
        header[field] = name.encode()
    made = nibabel.Nifti1Image(np.asarray(image.dataobj), image.affine, header)
    made.header.extensions.append(nibabel.nifti1.Nifti1Extension(6, name.encode()))
    nibabel.save(made, target)


def _table(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    _signed(corpus / "labels.nii.gz", data / f"{name}.nii.gz", name)
    _signed(corpus / "ct.nii.gz", data / f"{name}_ct.nii.gz", name)
    study = f"{name} {rng.randrange(9)}"
    image = f"{name}_ct.nii.gz" if rng.random() < 0.7 else ""
    (data / "table.csv").write_text(
        f"study,patient,image,labels\n{study},{name},{image},{name}.nii.gz\n"
    )
    # A name map is the user's own word; of what the file does not hold, nothing is kept.
    (data / "names.csv").write_text((corpus / "names.csv").read_text() + f"77,{name}\n")
    words = [
        "build",
        "masks",
        str(data / "table.csv"),
        "--names",
        str(data / "names.csv"),
        "--trust",
        study,
    ]
    return [*words, "--annotation", "manual"]


def _folder(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    """Masks as files, one of which is called after the patient."""
    study = data / name
    (study / "segmentations").mkdir(parents=True)
    for file in (corpus / "study" / "segmentations").iterdir():
        _signed(file, study / "segmentations" / file.name, name)
    _signed(
        corpus / "study" / "segmentations" / "liver.nii.gz",
        study / "segmentations" / f"{name}.nii.gz",
        name,
    )
    _signed(corpus / "ct.nii.gz", study / "ct.nii.gz", name)
    return ["build", "masks", str(study), "--trust", name]


def _dicom(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    """Every text of every DICOM file is the name; the bench is one of words about the series."""
    shutil.copytree(corpus / "dicom", data / "dicom")
    for file in (data / "dicom").rglob("*.dcm"):
        dataset = pydicom.dcmread(file)
        for element in dataset:
            if element.VR in ("PN", "LO", "SH", "LT", "ST", "UT") and element.keyword != "ROIName":
                element.value = name
        dataset.save_as(file)
    (data / "dicom" / "series").rename(data / "dicom" / f"{name}-1")
    row = {"study": f"{name}-1", "patient": name, "question": "Is it?", "answer": "yes"}
    row["split"] = rng.choice(["train", "test"])
    (data / "items.jsonl").write_text(json.dumps(row) + "\n")
    return ["import", "items", str(data / "items.jsonl"), "--images", str(data / "dicom")]


def _reports(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    text = (corpus / "reports.csv").read_text().replace("\nr", f"\n{name}-r")
    (data / "reports.csv").write_text(text)
    return ["build", "reports", str(data / "reports.csv")]


def _boxes(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    (data / f"{name}.csv").write_text(
        (corpus / "boxes.csv").read_text().replace("file1000", f"{name}_")
    )
    if rng.random() < 0.5:
        return ["build", "boxes", str(data / f"{name}.csv"), "--per-study", "3"]
    lay_out("stacks/file1000000.h5", corpus, data)
    for path in sorted((data / "stacks").iterdir()):
        path.rename(path.with_name(path.name.replace("file1000", f"{name}_")))
    for path in (data / "stacks").glob("*.h5"):
        with h5py.File(path, "a") as file:
            file.attrs["patient_id"] = name
            file["ismrmrd_header"] = f"<patient>{name}</patient>"
    return [
        "build",
        "boxes",
        str(data / f"{name}.csv"),
        "--images",
        str(data / "stacks"),
        "--per-study",
        "3",
    ]


def _grades(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    for file in ("grades.csv", "regions.csv"):
        (data / file).write_text(
            (corpus / file).read_text().replace("\nk", f"\n{name}k").replace(",p", f",{name}p")
        )
    regions = (data / "regions.csv").read_text().replace(f"{name}patella", "patella")
    (data / "regions.csv").write_text(regions)
    return ["build", "grades", str(data / "grades.csv"), "--boxes", str(data / "regions.csv")]


def _sgmri(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    text = (corpus / "sgmri.json").read_text()
    (data / "qa.json").write_text(text.replace("file1000001", f"{name}_1").replace("6002425", name))
    return ["import", "sgmri-vqa", str(data / "qa.json")]
