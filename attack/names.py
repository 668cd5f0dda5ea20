"""A person's name, planted wherever a file has room for one, turns up nowhere."""

from __future__ import annotations

import json
import random
from pathlib import Path

import nibabel
import numpy as np
import pyarrow.parquet as pq

from attack.program import call, complaints, tree

__all__ = ["case"]

_PRIVATE = "locations.json"


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A bench, its report and its cache, made of files that name somebody."""
    name = "".join(rng.choice("bdfgklmnprstvwz") + rng.choice("aeiou") for _ in range(5)).title()
    data = work / f"clinic of {name}"
    data.mkdir()
    words = rng.choice([_items, _table, _reports])(rng, corpus, data, name)
    before = tree(work)
    ran = call(*words, "--out", work / "bench")
    wrong = complaints(ran, work, before)
    if ran.code != 0:
        wrong.append(f"{words[1]}: no bench: {ran.err.strip()}")
    else:
        call("run", work / "bench", "--model", "random", "--out", work / "run")
        call("report", work / "run", "--bench", work / "bench", "--out", work / "report.html")
    for path in work.rglob("*"):
        if not path.is_file() or path.name == _PRIVATE or data in path.parents:
            continue
        if name.lower().encode() in (_plain(path) + str(path.relative_to(work)).encode()).lower():
            wrong.append(f"{words[1]}: the name stands in {path.relative_to(work)}")
    return wrong


def _plain(path: Path) -> bytes:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return repr((table.schema.metadata, table.to_pylist())).encode()
    return path.read_bytes()


def _items(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    rows = [json.loads(line) for line in (corpus / "items.jsonl").read_text().splitlines()]
    for row in rows:
        row["study"] = f"{name}_{row['study']}"
        row["patient"] = f"{row['patient']} {name}"
        row["id"] = f"{name}/{row['id']}"
    file = data / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["import", "items", str(file)]


def _table(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    image = nibabel.load(corpus / "labels.nii.gz")
    header = image.header.copy()
    for field in ("descrip", "aux_file", "intent_name", "db_name"):
        header[field] = name.encode()
    nibabel.save(nibabel.Nifti1Image(np.asarray(image.dataobj), image.affine, header), data / f"{name}.nii.gz")
    rows = f"{name} {rng.randrange(9)},{name},,{name}.nii.gz\n"
    (data / "table.csv").write_text("study,patient,image,labels\n" + rows)
    # A name map is the user's own word on what may be called by name; a person is not called there.
    (data / "names.csv").write_text((corpus / "names.csv").read_text())
    return ["build", "masks", str(data / "table.csv"), "--names", str(data / "names.csv"), "--annotation", "manual"]


def _reports(rng: random.Random, corpus: Path, data: Path, name: str) -> list[str]:
    text = (corpus / "reports.csv").read_text().replace("\nr", f"\n{name}-r")
    (data / "reports.csv").write_text(text)
    return ["build", "reports", str(data / "reports.csv")]
