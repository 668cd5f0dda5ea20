"""`situs build boxes` and `situs check`: images, patients, tampering, privacy, options."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import msgspec
import numpy as np
import pytest

from bench_rows import rows_of, write_rows
from frame_make import make_cohort, picture, write_h5, write_images
from situs.bench import Locations, load_image, open_bench
from situs.build import debiasing
from situs.items import Item
from situs.space import PixelGrid
from situs.volumes import AnnotationSet, FrameStack, read_annotations

PLANTED = "Jane-Doe-1961"


def args(root: Path) -> list[object]:
    files = [root / f"{organ}.csv" for organ in ("brain", "knee")]
    lists = [
        part for organ in ("brain", "knee") for part in ("--lists", root / f"{organ}_file_list.csv")
    ]
    return [*files, *lists]


def make(folder: Path, situs: Callable[..., Any]) -> None:
    cohort = make_cohort(1, count=12)
    cohort.write(folder / "notes")
    write_images(cohort, folder / "images", planted=PLANTED, acquisition=PLANTED)
    for name, extra in (("plain", []), ("seen", ["--images", folder / "images"])):
        ran = situs(
            "build", "boxes", *args(folder / "notes"), *extra, "--json", "--out", folder / name
        )
        assert ran.code == 0, ran.err
        (folder / f"{name}.json").write_text(ran.out)


@pytest.fixture(scope="session")
def built(once: Callable[..., Path], situs: Callable[..., Any]) -> Path:
    """A folder with `notes`, `images`, and benches `plain` (annotations alone) and `seen`.

    Do not change it.
    """
    return once("boxes", lambda folder: make(folder, situs))


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", ["plain", "seen"])
def test_every_answer_is_recomputed_from_the_files(
    built: Path, situs: Callable[..., Any], name: str
) -> None:
    ran = situs("check", built / name, "--json")
    assert ran.code == 0, ran.out
    assert ran.json["recomputed"] == ran.json["items"] > 100
    assert ran.json["problems"] == []


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", ["plain", "seen"])
def test_the_same_seed_gives_the_same_bytes(
    built: Path, situs: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    extra = ["--images", built / "images", "--jobs", 2] if name == "seen" else []
    assert (
        situs("build", "boxes", *args(built / "notes"), *extra, "--out", tmp_path / name).code == 0
    )
    for file in ("items.parquet", "facts.parquet", "studies.parquet", "bench.json", "README.md"):
        assert (tmp_path / name / file).read_bytes() == (built / name / file).read_bytes(), file


def test_without_images_nothing_is_claimed_about_them(built: Path) -> None:
    bench = open_bench(built / "plain")
    for study in bench.studies():
        (series,) = study.series
        assert series.affine == ()
        assert isinstance(series.grid, PixelGrid)
        assert (series.grid.frames, series.grid.width, series.grid.height) == (0, None, None)
    assert not any(tag.startswith("ask:side") for item in bench.items() for tag in item.tags)
    assert any("patient overlap possible" in note for note in bench.info.notes)
    card = (built / "plain" / "README.md").read_text()
    assert "by file, patient overlap possible" in card
    assert "annotations alone" in card
    assert "patient overlap possible" in " ".join(
        json.loads((built / "plain.json").read_text())["notes"]
    )


def test_with_images_sides_are_asked_and_patients_known(built: Path) -> None:
    bench = open_bench(built / "seen")
    studies = list(bench.studies())
    assert len({study.patient_id for study in studies}) == len(studies) // 2
    assert any("ask:side" in item.tags for item in bench.items())
    by_patient = {}
    for study in studies:
        assert by_patient.setdefault(study.patient_id, study.split) == study.split
    assert "patient overlap" not in (built / "seen" / "README.md").read_text()


def test_the_image_of_a_bench_is_as_displayed(built: Path) -> None:
    bench = open_bench(built / "seen")
    study = next(iter(bench.studies()))
    image = load_image(study.series[0], Locations.read(built / "seen"))
    assert isinstance(image.source, FrameStack)
    with h5py.File(built / "images" / f"{study.study_id}.h5") as file:
        assert np.array_equal(image.values, file["reconstruction_rss"][()][:, ::-1, :])
    assert image.values.shape == study.series[0].shape


def test_no_attribute_or_path_enters_the_bench(
    built: Path, plain_content: Callable[[Path], bytes]
) -> None:
    for path in sorted((built / "seen").iterdir()):
        content = plain_content(path)
        assert PLANTED.encode() not in content, path.name
        assert b"patient-file" not in content, path.name
        assert path.name == "locations.json" or str(built).encode() not in content, path.name


def copy(built: Path, tmp_path: Path, name: str = "plain") -> Path:
    shutil.copytree(built / name, tmp_path / "bench")
    shutil.copytree(built / "notes", tmp_path / "notes")
    return tmp_path / "bench"


def rewrite(
    bench: Path,
    table: str,
    column: str,
    change: Callable[[str], str],
    pick: Callable[[dict[str, Any]], bool],
) -> None:
    """Change a column of one row, as JSON text."""
    rows = rows_of(bench, table)
    texts = [row | {column: _text(row[column])} for row in rows]
    place = next(number for number, row in enumerate(texts) if pick(row))
    text = change(texts[place][column])
    is_text = isinstance(rows[place][column], str)
    rows[place][column] = text if is_text else json.loads(text)
    write_rows(bench, table, rows)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def problems(situs: Callable[..., Any], bench: Path, data: Path) -> set[str]:
    ran = situs("check", bench, "--data", data, "--json")
    assert ran.code == 1
    return {problem["code"] for problem in ran.json["problems"]}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("knee.csv", ",No,", ",No,1"),
        ("brain.csv", "Normal for age", "Motion artifact"),
        (
            "knee_file_list.csv",
            "\n",
            "\nx",
        ),
    ],
)
def test_a_changed_annotation_is_found(
    built: Path, situs: Callable[..., Any], tmp_path: Path, file: str, old: str, new: str
) -> None:
    bench = copy(built, tmp_path)
    path = tmp_path / "notes" / file
    path.write_text(path.read_text().replace(old, new, 1))
    assert "evidence" in problems(situs, bench, tmp_path)


@pytest.mark.sampled(one_in=3)
@pytest.mark.parametrize(
    ("table", "column", "change", "form", "code"),
    [
        ("items", "answer", ("true", "false"), "yes_no", "item"),
        ("items", "answer", ('"x1":', '"x1":1'), "boxes", "item"),
        ("items", "answer", ('"frames":[', '"frames":[0,'), "frames", "item"),
        ("items", "answer", ("The reader", "A reader"), "text", "item"),
        ("items", "options", ('"text":"', '"text":"not '), "choice", "item"),
        ("items", "options", ('"text":"', '"text":"not '), "choices", "item"),
        ("items", "question", ("?", " maybe?"), "yes_no", "item"),
        ("items", "steps", ('"text":"', '"text":"not '), "boxes", "item"),
        ("items", "stratum", ("untwinned", "headline"), "yes_no", "item"),
        ("items", "stratum", ("headline", "untwinned"), "boxes", "item"),
        ("facts", "value", ("", "1"), "read_as_normal", "fact"),
        ("facts", "derivation", ("@1", "@2"), "boxes", "fact"),
    ],
)
def test_a_changed_table_is_found(
    built: Path,
    situs: Callable[..., Any],
    tmp_path: Path,
    table: str,
    column: str,
    change: tuple[str, str],
    form: str,
    code: str,
) -> None:
    old, new = change
    bench = copy(built, tmp_path)
    kind = "form" if table == "items" else "kind"
    rewrite(
        bench,
        table,
        column,
        lambda text: text.replace(old, new, 1) if old else new,
        lambda row: row[kind] == form and old in row[column],
    )
    assert code in problems(situs, bench, tmp_path)


def test_a_changed_image_is_found(built: Path, situs: Callable[..., Any], tmp_path: Path) -> None:
    bench = copy(built, tmp_path, "seen")
    shutil.copytree(built / "images", tmp_path / "images")
    path = next((tmp_path / "images").glob("file_brain*.h5"))
    with h5py.File(path, "r+") as file:
        file["reconstruction_rss"][0, 0, 0] += 1.0
    assert "image" in problems(situs, bench, tmp_path)


@pytest.mark.parametrize(
    ("break_", "problem"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:1000]), "truncated"),
        (lambda path: write_h5(path, picture([])[:4]), "frames"),
        (lambda path: h5py.File(path, "w").close(), "lacks the dataset"),
    ],
    ids=["truncated", "frames", "dataset"],
)
def test_an_unusable_image_is_one_line_or_left_out(
    built: Path,
    situs: Callable[..., Any],
    tmp_path: Path,
    break_: Callable[[Path], object],
    problem: str,
) -> None:
    shutil.copytree(built / "images", tmp_path / "images")
    break_(tmp_path / "images" / "file1000000.h5")
    command = [
        "build",
        "boxes",
        *args(built / "notes"),
        "--images",
        tmp_path / "images",
        "--out",
        tmp_path / "out",
    ]
    ran = situs(*command)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert problem in ran.err
    assert len({*ran.err.split("; ")}) == len(ran.err.split("; ")) == 2
    assert not (tmp_path / "out").exists()
    ran = situs(*command, "--skip-bad", "--json")
    assert ran.code == 0
    assert ran.json["studies"] == 23
    assert any(problem in entry["problem"] for entry in ran.json["problems"])


def test_an_unusable_row_makes_no_negative_and_check_finds_a_bench_that_says_so(
    situs: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "file,slice,study_level,x,y,width,height,label\n"
    rows = [
        f"file100000{n},{frame},No,50,60,20,20,Meniscus Tear" for n in range(3) for frame in (3, 4)
    ]
    table, names = tmp_path / "knee.csv", tmp_path / "list.csv"
    table.write_text(head + "\n".join([*rows, "file1000008,5,No,50,60,0,20,Meniscus Tear"]) + "\n")
    names.write_text("".join(f"file100000{n}\n" for n in range(10)))
    command = ["build", "boxes", table, "--lists", names, "--mix", "detection=100", "--out"]
    assert situs(*command, tmp_path / "right").code == 0
    asked = {item.study_id for item in open_bench(tmp_path / "right").items()}
    assert {"file1000007", "file1000009"} & asked
    assert "file1000008" not in asked
    assert situs("check", tmp_path / "right").code == 0

    def careless(*given: Any, **more: Any) -> AnnotationSet:
        read = read_annotations(*given, **more)
        read.annotations = [msgspec.structs.replace(own, unusable=()) for own in read.annotations]
        return read

    monkeypatch.setattr("situs.build.sources.boxes.read_annotations", careless)
    assert situs(*command, tmp_path / "wrong").code == 0
    assert "file1000008" in {item.study_id for item in open_bench(tmp_path / "wrong").items()}
    monkeypatch.undo()
    ran = situs("check", tmp_path / "wrong", "--json")
    assert ran.code == 1
    assert {problem["where"] for problem in ran.json["problems"]} == {"file1000008"}


def test_a_box_beyond_the_picture_is_reported_with_its_line(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    table = tmp_path / "knee.csv"
    rows = [
        "file1007000.h5,3,No,10,12,20,20,Meniscus Tear",
        "file1007000.h5,4,No,90,12,20,20,Meniscus Tear",
    ]
    table.write_text("\n".join(["file,slice,study_level,x,y,width,height,label", *rows]) + "\n")
    write_h5(tmp_path / "images" / "file1007000.h5", picture([]))
    ran = situs(
        "build",
        "boxes",
        table,
        "--images",
        tmp_path / "images",
        "--out",
        tmp_path / "out",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert [(p["code"], p["where"]) for p in ran.json["problems"]] == [("outside", "knee.csv:3")]


def test_the_mix_and_the_number_a_study_are_chosen_by_option(
    built: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    command = ["build", "boxes", *args(built / "notes"), "--json"]
    mixed = situs(
        *command,
        "--mix",
        "captioning=0,detection.slice=0,localization.slice=2",
        "--out",
        tmp_path / "a",
    ).json
    assert "captioning" not in mixed["by_task"]
    items = list(open_bench(tmp_path / "a").items())
    slices = [item for item in items if item.level == "slice"]
    assert not any(item.task == "detection" for item in slices)
    per_study = {item.study_id: 0 for item in slices}
    for item in slices:
        per_study[item.study_id] += item.task == "localization"
    assert max(per_study.values()) == 2
    few = situs(
        *command, "--per-study", 3, "--tasks", "localization,captioning", "--out", tmp_path / "b"
    ).json
    assert set(few["by_task"]) == {"localization", "captioning"}
    assert few["items"] <= 3 * few["studies"]


@pytest.mark.parametrize(
    "extra",
    [
        ["--mix", "detektion=1"],
        ["--mix", "detection"],
        ["--tasks", "detektion"],
        ["--images", "nowhere"],
    ],
)
def test_mistakes_are_one_line(
    built: Path, situs: Callable[..., Any], tmp_path: Path, extra: list[str]
) -> None:
    ran = situs("build", "boxes", *args(built / "notes"), *extra, "--out", tmp_path / "out")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not (tmp_path / "out").exists()


def test_compartments_are_asked_with_a_table_of_sides(
    built: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    names = (built / "notes" / "knee_file_list.csv").read_text().split()
    rows = [f"{name},{'left' if n % 2 else 'right'},48" for n, name in enumerate(names)]
    sides = tmp_path / "sides.csv"
    sides.write_text("\n".join(["file,medial,midline_x", *rows]) + "\n")
    ran = situs(
        "build", "boxes", *args(built / "notes"), "--sides", sides, "--out", tmp_path / "out"
    )
    assert ran.code == 0, ran.err
    asked = [
        item for item in open_bench(tmp_path / "out").items() if "ask:compartment" in item.tags
    ]
    assert {item.answer.value for item in asked} == {"medial", "lateral"}  # type: ignore[union-attr]
    assert situs("check", tmp_path / "out").code == 0
    sides.write_text(sides.read_text().replace("left", "right"))
    assert situs("check", tmp_path / "out").code == 1


def test_names_of_ones_own_volumes_stay_out(
    situs: Callable[..., Any], tmp_path: Path, plain_content: Callable[..., bytes]
) -> None:
    rows = [
        f"{PLANTED}-{n},{frame},10,10,{9 + n},9,Soft spot" for n in range(6) for frame in (2, 3)
    ]
    table = tmp_path / "own.csv"
    table.write_text("\n".join(["volume,frame,x,y,width,height,label", *rows]) + "\n")
    ran = situs("build", "boxes", table, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["by_task"]["localization"] > 0
    assert situs("check", tmp_path / "out").code == 0
    for path in (tmp_path / "out").iterdir():
        assert PLANTED.encode() not in plain_content(path)
    assert msgspec.json.decode((tmp_path / "out" / "bench.json").read_bytes())["restricted"] is True


def test_debias_keeps_the_evidence(built: Path, situs: Callable[..., Any], tmp_path: Path) -> None:
    assert situs("debias", built / "seen", "--out", tmp_path / "out").code == 0
    ran = situs("check", tmp_path / "out", "--json")
    assert ran.code == 0, ran.out
    assert "Split and clustered by patient" in (tmp_path / "out" / "README.md").read_text()


def test_debias_asks_only_what_chance_can_answer(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = open_bench(built / "seen")
    asked: set[str] = set()

    class Listening:
        def answer(self, item: Item) -> str:
            asked.add(item.item_id)
            return "yes"

    monkeypatch.setattr(debiasing, "make_baseline", lambda *_: Listening())
    debiasing.predictable_templates(bench)
    offered = {i.item_id for i in bench.items() if i.options or i.form == "yes_no"}
    assert offered
    assert asked == offered < {item.item_id for item in bench.items()}
