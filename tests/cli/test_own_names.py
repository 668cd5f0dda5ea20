"""What the user's name map says counts:
lesions, parts, new structures, patterns; and what no map names stays out."""

from __future__ import annotations

import functools
import json
import re
from importlib.resources import files
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest

AFFINE = np.diag([4.0, 4.0, 4.0, 1.0])
SHAPE = (80, 60, 60)


def ball(centre: tuple[float, float, float], radii: tuple[float, float, float]) -> np.ndarray:
    """An ellipsoid, in voxels of 4 mm."""
    grid = np.ogrid[tuple(slice(n) for n in SHAPE)]
    return sum(((g - c) / r) ** 2 for g, c, r in zip(grid, centre, radii)) <= 1


@functools.cache
def masks() -> dict[str, np.ndarray]:
    """A liver of 1.6 L on the right, a spleen on the left,
    a column of vertebrae, two targets in the liver."""
    organs = {
        "liver": ball((56, 32, 36), (18, 17, 19)),
        "spleen": ball((16, 26, 38), (8, 8, 12)),
        "stomach": ball((26, 40, 36), (8, 8, 10)),
    }
    spine = {f"vertebrae_L{n}": ball((40, 14, 46 - 9 * n), (5, 5, 3.4)) for n in range(1, 5)}
    targets = {"GTV-1": ball((60, 34, 42), (7, 7, 7)), "gtv-2": ball((52, 30, 25), (3, 3, 3))}
    return organs | spine | targets


def save(path: Path, array: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nib.save(nib.Nifti1Image(array, AFFINE), path)
    return path


def image() -> np.ndarray:
    values = np.full(SHAPE, 20, np.int16)
    values[:2] = -1000
    for number, mask in enumerate(masks().values(), start=2):
        values[mask] = 30 * number
    return values


def folder(root: Path, *left_out: str) -> Path:
    for name, mask in masks().items():
        if name not in left_out:
            save(root / "segmentations" / f"{name}.nii.gz", mask.astype(np.uint8))
    save(root / "ct.nii.gz", image())
    return root


def built(situs, root: Path, names: Path | None, *options: object) -> dict:
    """A bench that keeps every question it can ask, of one study."""
    bench, recipe = root.parent / "bench", root.parent / "recipe.toml"
    shipped = files("situs.facts").joinpath("data", "recipe.toml").read_text("utf-8")
    recipe.write_text(re.sub(r"(?m)^untwinned = \d+", "untwinned = 99", shipped), encoding="utf-8")
    options = (*options, "--recipe", recipe, "--trust", root.name)  # balls are no anatomy
    given = ("--names", names) if names is not None else ()
    ran = situs(
        "build", "masks", root, *given, *options, "--annotation", "exact", "--out", bench, "--json"
    )
    assert ran.code == 0, ran.err
    checked = situs("check", bench, "--json").json
    assert [problem for problem in checked["problems"] if problem["severity"] == "error"] == []
    assert checked["recomputed"] == ran.json["items"]
    return ran.json


def questions(root: Path) -> list[dict]:
    import pyarrow.parquet as pq

    return pq.read_table(root.parent / "bench" / "items.parquet").to_pylist()


def structures(root: Path) -> dict[str, int]:
    import pyarrow.parquet as pq

    (row,) = pq.read_table(root.parent / "bench" / "studies.parquet").to_pylist()
    return {one["key"]: one["value"] for one in row["series"][0]["structures"]}


TARGETS = (
    "pattern,name,plain,kind,part_of,exhaustive\nGTV-*,target,target volume,lesion,liver,yes\n"
)


def test_patterns_make_lesions_of_any_name(situs, tmp_path):
    """Two ROIs that one pattern names are two lesions of one family: counted, sided, compared."""
    root = folder(tmp_path / "study")
    (tmp_path / "names.csv").write_text(TARGETS)
    found = built(situs, root, tmp_path / "names.csv", "--tasks", "count,extent")
    assert {"target_1", "target_2"} <= set(structures(root))
    counted = next(row for row in questions(root) if row["task"] == "count")
    assert counted["question"].startswith("How many target volumes")
    assert counted["answer"]["number"]["value"] == 2
    assert any("the largest target volume" in row["question"] for row in questions(root))
    assert found["coverage"]["with_unknown_names"] == 0


def test_the_oracle_sees_the_users_lesions(situs, tmp_path):
    root = folder(tmp_path / "study")
    (tmp_path / "names.csv").write_text(TARGETS)
    built(situs, root, tmp_path / "names.csv", "--tasks", "lesion_side,extent,count,lesion_pair")
    run = tmp_path / "run"
    assert situs("run", tmp_path / "bench", "--model", "oracle", "--out", run).code == 0
    overall = situs("score", tmp_path / "bench", run, "--json").json["overall"]
    accuracy = next(entry for entry in overall if entry["metric"] == "accuracy")
    assert (accuracy["value"], accuracy["n"] > 0) == (1.0, True)


@pytest.mark.sampled
@pytest.mark.parametrize("pattern", ["gtv-?", "re:gtv-[0-9]+", "GTV*"])
def test_globs_and_regular_expressions_match_whole_names_in_any_case(pattern, situs, tmp_path):
    (tmp_path / "names.json").write_text(
        json.dumps({pattern: {"name": "target", "kind": "lesion", "part_of": "liver"}})
    )
    ran = situs("measure", folder(tmp_path / "study"), "--names", tmp_path / "names.json", "--json")
    assert ran.code == 0, ran.err
    assert {"target_1", "target_2", "liver"} <= {s["name"] for s in ran.json["structures"]}


def test_a_pattern_must_match_the_whole_name(situs, tmp_path):
    (tmp_path / "names.json").write_text(json.dumps({"gtv": {"name": "target", "kind": "lesion"}}))
    ran = situs("measure", folder(tmp_path / "study"), "--names", tmp_path / "names.json", "--json")
    assert "target" not in " ".join(s["name"] for s in ran.json["structures"])


def test_structures_that_come_to_share_a_name_are_one(situs, tmp_path):
    (tmp_path / "names.csv").write_text("pattern,name\nspleen,upper organs\nstomach,upper organs\n")
    ran = situs("measure", folder(tmp_path / "study"), "--names", tmp_path / "names.csv", "--json")
    found = {s["name"]: s["voxels"] for s in ran.json["structures"]}
    assert found["upper organs"] == int(masks()["spleen"].sum() + masks()["stomach"].sum())
    assert not {"spleen", "stomach"} & set(found)


def test_kind_lesion_in_a_map_of_labels(situs, tmp_path):
    """Labels by number, in the words of a spreadsheet with semicolons."""
    labels = np.zeros(SHAPE, np.uint8)
    for value, name in enumerate(masks(), start=1):
        labels[masks()[name]] = value
    root = tmp_path / "study"
    save(root / "ct.nii.gz", image())
    save(root / "seg.nii.gz", labels)
    rows = ["label;name;kind;part_of;exhaustive"]
    rows += [
        f"{value};{name};;;"
        for value, name in enumerate(masks(), start=1)
        if not name.lower().startswith("gtv")
    ]
    rows += ["8;metastasis_1;lesion;liver;yes", "9;metastasis_2;lesion;liver;yes"]
    (tmp_path / "names.csv").write_text("\r\n".join(rows), encoding="utf-8-sig")
    built(situs, root, tmp_path / "names.csv", "--tasks", "count,extent")
    texts = [row["question"] for row in questions(root)]
    assert "How many metastases are there?" in texts
    assert any("largest metastasis" in text for text in texts)


def test_a_name_that_no_vocabulary_knows_is_a_structure_of_its_own(situs, tmp_path):
    root = folder(tmp_path / "study", "GTV-1", "gtv-2")
    (root / "segmentations" / "stomach.nii.gz").rename(
        root / "segmentations" / "Widget organ.nii.gz"
    )
    (tmp_path / "names.csv").write_text("name\nwidget_organ\n")
    built(situs, root, tmp_path / "names.csv", "--tasks", "volume,extent")
    assert "widget_organ" in structures(root)
    assert any("widget organ" in row["question"] for row in questions(root))


PRIVATE = "Meier Anna target"


def test_an_unmapped_name_stays_on_the_terminal(situs, tmp_path, plain_content):
    root = folder(tmp_path / "study", "GTV-1", "gtv-2")
    save(root / "segmentations" / f"{PRIVATE}.nii.gz", masks()["GTV-1"].astype(np.uint8))
    found = built(situs, root, None)
    assert found["coverage"]["with_unknown_names"] == 1
    for file in (tmp_path / "bench").rglob("*"):
        assert b"Meier" not in plain_content(file)


def test_a_mapped_name_enters_the_bench_as_the_map_calls_it(situs, tmp_path, plain_content):
    root = folder(tmp_path / "study", "GTV-1", "gtv-2")
    save(root / "segmentations" / f"{PRIVATE}.nii.gz", masks()["GTV-1"].astype(np.uint8))
    (tmp_path / "names.csv").write_text("pattern,name,kind,part_of\n*target,liver_tumour,,\n")
    built(situs, root, tmp_path / "names.csv")
    assert "liver_tumour" in structures(root)
    for file in (tmp_path / "bench").rglob("*"):
        assert b"Meier" not in plain_content(file)


PARTS = """label,name,plain,kind,part_of
1,liver,,,
2,hcc_core,necrotic core,lesion_part,hcc
3,hcc_rim,enhancing rim,lesion_part,hcc
,hcc,hepatocellular carcinoma,lesion,liver
"""


@pytest.mark.parametrize("kind", ["lesion_part", "lesion"])
def test_parts_of_a_lesion_are_one_lesion(kind, situs, tmp_path):
    """A rim around two cores is one tumour; a second tumour elsewhere is another."""
    labels = masks()["liver"].astype(np.uint8)
    labels[ball((60, 34, 42), (7, 5, 5))] = 3
    labels[ball((57, 34, 42), (2, 2, 2)) | ball((63, 34, 42), (2, 2, 2))] = 2
    labels[ball((52, 30, 24), (3, 3, 3))] = 3
    root = tmp_path / "study"
    save(root / "ct.nii.gz", image())
    save(root / "seg.nii.gz", labels)
    (tmp_path / "names.csv").write_text(
        PARTS.replace("lesion_part", kind).replace(",liver\n", ",liver\n")
    )
    built(situs, root, tmp_path / "names.csv")
    rows = questions(root)
    texts = " ".join(row["question"] for row in rows)
    assert "hepatocellular carcinoma" in texts
    counted = [row["answer"]["number"]["value"] for row in rows if row["task"] == "count"]
    assert counted in ([], [2])
    by_stratum = {
        (row["task"], row["stratum"])
        for row in rows
        if "core" in row["question"] or "rim" in row["question"]
    }
    assert "textbook" not in {stratum for _, stratum in by_stratum}
    names = {
        s["name"]
        for s in situs("measure", root, "--names", tmp_path / "names.csv", "--json").json[
            "structures"
        ]
    }
    assert {"hcc_core", "hcc_rim"} <= names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pattern,name\nre:(,liver\n", "not a regular expression"),
        ("pattern,name,kind\nGTV*,target,tumor\n", "unknown kind 'tumor'"),
        ("pattern,name,kind\nGTV*,target,lesion\nCTV*,target,organ\n", "'target' occurs twice"),
        ("label,pattern\n1,liver\n", "columns are"),
    ],
)
def test_a_bad_map_is_one_line(text, words, situs, tmp_path):
    (tmp_path / "names.csv").write_text(text)
    ran = situs("measure", folder(tmp_path / "study"), "--names", tmp_path / "names.csv")
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_names_are_listed_and_searched(situs):
    every = situs("list", "names", "--json").json
    assert {"liver", "lung_tumour", "medial_meniscus", "vertebrae_L4"} <= {
        name["name"] for name in every["names"]
    }
    assert {"kits", "totalsegmentator", "brats2015"} <= set(every["vocabularies"])
    lung = situs("list", "names", "Lung", "tumor", "--json").json["names"]
    assert [name["name"] for name in lung] == ["lung_tumour"]
    lesions = situs("list", "names", "--kind", "lesion", "--json").json["names"]
    assert {name["kind"] for name in lesions} == {"lesion"}
    kits = situs("list", "names", "--vocabulary", "kits", "--json").json["names"]
    assert {name["name"]: name["labels"]["kits"] for name in kits} == {
        "kidney": 1,
        "kidney_tumour": 2,
        "kidney_cyst": 3,
    }
    assert "lung_tumour" in situs("list", "names", "lung").out
    wrong = situs("list", "names", "--kind", "lesoin")
    assert (wrong.code, "did you mean lesion" in wrong.err) == (2, True)


@pytest.mark.parametrize("what", ["layouts", "tasks", "profiles", "probes", "metrics", "formats"])
def test_registries_are_listed(what, situs):
    entries = situs("list", what, "--json").json[what]
    assert entries
    shown = situs("list", what).out
    assert all(name in shown for name in entries)


def test_names_of_what_is_not_there_are_not_kept(situs, tmp_path: Path) -> None:
    """A clinic's map may name people; a bench keeps the names of the structures that it has."""
    labels = np.zeros(SHAPE, np.uint8)
    for number, mask in enumerate(masks().values(), start=1):
        labels[mask] = number
    file = save(tmp_path / "labels.nii.gz", labels)
    rows = [f"{number},{name.replace('GTV-1', 'lung_tumour').replace('gtv-2', 'cyst')}"
            for number, name in enumerate(masks(), start=1)]  # fmt: skip
    (tmp_path / "names.csv").write_text(
        "\n".join(["label,name", *rows, "77,Quixote Alonso", "78,pancreas"]) + "\n"
    )
    ran = situs(
        "build",
        "masks",
        file,
        "--names",
        tmp_path / "names.csv",
        "--trust",
        "labels",
        "--out",
        tmp_path / "b",
    )
    assert ran.code == 0, ran.err
    import pyarrow.parquet as pq

    held = "".join(
        str(pq.read_table(path).to_pylist()) for path in (tmp_path / "b").glob("*.parquet")
    )
    assert "liver" in held
    assert "Quixote" not in held + (tmp_path / "b" / "bench.json").read_text()
    assert situs("check", tmp_path / "b").code == 0
