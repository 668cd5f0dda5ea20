"""Numbers that cannot be meant, and benches that contradict themselves, are refused in one line."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nibabel
import numpy as np
import pyarrow.parquet as pq
import pytest

from bench_rows import rows_of, write_rows
from situs.bench import open_bench
from situs.bench.tables import table_schema, whole_table
from situs.errors import SitusError
from situs.items.average import AverageAnatomy, Place
from situs.score.scored_run import open_replies, read_run

RECIPE = files("situs.facts").joinpath("data", "recipe.toml").read_text("utf-8")
NUMBERS = re.findall(r"^(\w+|\"[\w.]+\") = ([\d.]+)\b", RECIPE, re.MULTILINE)


def refusal(ran: Any) -> str:
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "Traceback" not in ran.err
    return str(ran.err)


@pytest.mark.parametrize("value", ["nan", "inf", "-1e308", "1e308"])
@pytest.mark.parametrize("name", sorted({name for name, _ in NUMBERS})[::6])
def test_odd_numbers_in_a_recipe(situs, tmp_path, name, value) -> None:
    recipe = re.sub(
        rf"^{re.escape(name)} = [\d.]+", f"{name} = {value}", RECIPE, count=1, flags=re.MULTILINE
    )
    (tmp_path / "recipe.toml").write_text(recipe)
    ran = situs(
        "build",
        "phantoms",
        "--studies",
        1,
        "--recipe",
        tmp_path / "recipe.toml",
        "--out",
        tmp_path / "b",
    )
    refusal(ran)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("origin", [1e308, -1e300, 1e12])
def test_an_origin_beyond_any_scanner(situs, tmp_path, origin) -> None:
    affine = np.eye(4)
    affine[0, 3] = origin
    lines = [
        "NRRD0005",
        "type: uchar",
        "dimension: 3",
        "space: right-anterior-superior",
        "sizes: 4 4 4",
    ]
    lines += [
        "space directions: (1,0,0) (0,1,0) (0,0,1)",
        f"space origin: ({origin!r},0,0)",
        "encoding: raw",
        "",
        "",
    ]
    (tmp_path / "labels.nrrd").write_bytes("\n".join(lines).encode() + bytes([1] * 64))
    assert "no place in a scanner" in refusal(situs("measure", tmp_path / "labels.nrrd"))


def test_a_profile_with_odd_numbers(situs, bench, tmp_path) -> None:
    text = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")
    for value in ("nan", "inf", "1e308"):
        odd, count = re.subn(r"\b\d+(?:\.\d+)?\b(?=[ ,\]]*[\]\n#])", value, text, count=1)
        assert count == 1
        (tmp_path / "odd.toml").write_text(odd)
        refusal(
            situs("show", bench, "--profile", tmp_path / "odd.toml", "--out", tmp_path / "shown")
        )


def changed(bench: Path, folder: Path, column: str, change: Any, form: str) -> Path:
    """A bench of which one item of a form has another value in a column."""
    made = Path(shutil.copytree(bench, folder))
    rows = rows_of(made, "items")
    row = next(row for row in rows if row["form"] == form)
    row[column] = change(row[column])
    write_rows(made, "items", rows)
    return made


CONTRADICTIONS = {
    "study missing": ("study_id", lambda _: "nobody", "choice"),
    "choice not offered": ("answer", lambda answer: answer | {"value": "nothing"}, "choice"),
    "no options": ("options", lambda _: [], "choice"),
    "option twice": ("options", lambda options: [options[0], *options], "choice"),
    "no question": ("question", lambda _: " ", "choice"),
    "no references": ("answer", lambda _: {"type": "text", "references": []}, "choice"),
    "number too large": ("answer", lambda answer: answer | {"value": 1e300}, "number"),
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_bench_that_contradicts_itself(situs, bench, tmp_path, name) -> None:
    made = changed(bench, tmp_path / "bench", *CONTRADICTIONS[name])
    ran = situs("check", made, "--json")
    assert ran.code == 1
    assert any(problem["severity"] == "error" for problem in ran.json["problems"])
    run = tmp_path / "run"
    for words in (
        ("run", made, "--model", "random", "--out", run),
        ("run", made, "--model", "majority", "--out", run),
        ("debias", made, "--out", tmp_path / "debiased"),
        ("export", made, "--to", "hf", "--allow-restricted", "--out", tmp_path / "hf"),
        ("quiz", made, "--out", tmp_path / "quiz.html"),
        ("audit", "export", made, "--out", tmp_path / "sheet.csv"),
    ):
        refusal(situs(*words))
    assert not (tmp_path / "debiased").exists()


def test_splits_of_an_imported_file_are_its_own(situs, tmp_path) -> None:
    rows = [
        {"study": f"s{n}", "question": "Is it?", "answer": "yes", "split": "train" if n else "test"}
        for n in range(4)
    ]
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert situs("import", "items", file, "--out", tmp_path / "bench").code == 0
    assert situs("check", tmp_path / "bench").code == 0
    assert sorted(item.split for item in open_bench(tmp_path / "bench").items()) == [
        "test",
        "train",
        "train",
        "train",
    ]
    file.write_text("".join(json.dumps(row | {"patient": "one"}) + "\n" for row in rows))
    assert "split" in refusal(situs("import", "items", file, "--out", tmp_path / "other"))


def test_a_run_whose_every_call_fails_does_not_end_well(
    situs, bench, tmp_path, monkeypatch
) -> None:
    (tmp_path / "broken_model.py").write_text(
        "class Model:\n    remote = False\n\n    def answer(self, request):\n        raise"
        " ValueError('out of order')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    ran = situs(
        "run",
        bench,
        "--model",
        "plugin:broken_model:Model",
        "--limit",
        3,
        "--out",
        tmp_path / "run",
    )
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_nifti_of_an_odd_origin_is_refused_too(situs, tmp_path) -> None:
    affine = np.eye(4)
    affine[2, 3] = 3e38
    nibabel.save(
        nibabel.Nifti1Image(np.ones((4, 4, 4), np.uint8), affine), tmp_path / "labels.nii.gz"
    )
    refusal(situs("measure", tmp_path / "labels.nii.gz"))


def refilled(made: Path, table: str, change: Any) -> Path:
    """The bench with a table's rows changed, and a hash that says so."""
    rows = rows_of(made, table)
    change(rows)
    write_rows(made, table, rows)
    return made


def to_nobody(rows: list[dict[str, Any]]) -> None:
    next(row for row in rows if row["kind"] == "volume")["study_id"] = "nobody"


def about_nothing(rows: list[dict[str, Any]]) -> None:
    next(row for row in rows if row["kind"] == "volume")["subjects"] = []


def of_no_width(rows: list[dict[str, Any]]) -> None:
    next(row for row in rows if row["kind"] == "centroid")["interval"] = []


def of_one_end(rows: list[dict[str, Any]]) -> None:
    row = next(row for row in rows if row["kind"] == "volume")
    row["interval"] = row["interval"][:1]


@pytest.mark.parametrize("change", [to_nobody, about_nothing, of_no_width, of_one_end])
def test_facts_that_contradict_the_bench(situs, bench, tmp_path, change) -> None:
    made = refilled(Path(shutil.copytree(bench, tmp_path / "bench")), "facts", change)
    for words in (
        ("run", made, "--model", "prior", "--out", tmp_path / "out"),
        (
            "probe",
            made,
            "--model",
            "random",
            "--probes",
            "rotations",
            "--limit",
            2,
            "--out",
            tmp_path / "out",
        ),
    ):
        assert "fact f" in refusal(situs(*words))
        assert not (tmp_path / "out").exists(), "what cannot end is not begun"


def test_gaps_along_no_axis(situs, bench, tmp_path) -> None:
    """Pages draw them; models are asked without."""

    def turn(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["kind"] = row["kind"].replace("gap.superior_inferior", "gap.upwards")

    made = refilled(Path(shutil.copytree(bench, tmp_path / "bench")), "facts", turn)
    run, page = tmp_path / "run", tmp_path / "page.html"
    assert situs("run", made, "--model", "random", "--out", run).code == 0
    ran = situs("report", run, "--bench", made, "--pictures", 0, "--out", page)
    assert "of no axis" in refusal(ran)
    assert not page.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("affine", [1.0] * 17),
        ("affine", [float("nan")] * 16),
        ("shape", [-1, 2, 3]),
        ("grid_error_mm", float("inf")),
    ],
)
def test_a_study_whose_grid_cannot_be(situs, bench, tmp_path, field, value) -> None:
    def spoil(rows: list[dict[str, Any]]) -> None:
        rows[-1]["series"][0][field] = value

    made = refilled(Path(shutil.copytree(bench, tmp_path / "bench")), "studies", spoil)
    out = tmp_path / "out"
    for words in (("export", made, "--to", "vlmevalkit"), ("run", made, "--model", "random")):
        assert "series" in refusal(situs(*words, "--out", out))
        assert not out.exists()


def test_masks_that_the_bench_does_not_list(situs, bench, tmp_path) -> None:
    """Its items ask about structures that its studies, it says, do not have."""
    broken = Path(shutil.copytree(bench, tmp_path / "bench"))
    rows = rows_of(broken, "studies")
    for row in rows:
        for series in row["series"]:
            series["structures"] = dict(list(series["structures"].items())[:3])
    write_rows(broken, "studies", rows)
    for words in (
        ("show", broken, "--out", tmp_path / "shown"),
        ("run", broken, "--model", "random", "--limit", 40, "--out", tmp_path / "run"),
    ):
        ran = situs(*words)
        assert ran.code == 0 or refusal(ran)


def test_an_item_without_what_its_task_needs(situs, bench, tmp_path) -> None:
    def strip(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["parameters"] = {"x": "y"}

    made = refilled(Path(shutil.copytree(bench, tmp_path / "bench")), "items", strip)
    error = refusal(situs("run", made, "--model", "prior", "--out", tmp_path / "out"))
    assert "lacks the parameter" in error


def test_one_item_without_what_its_task_needs_is_found_before_anybody_is_asked(
    situs, bench, tmp_path
) -> None:
    def strip(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in reversed(rows) if "of" in dict(row["parameters"]))
        row["parameters"] = {"x": "y"}

    made = refilled(Path(shutil.copytree(bench, tmp_path / "bench")), "items", strip)
    for words in (
        ("probe", made, "--model", "random", "--probes", "text"),
        ("run", made, "--model", "prior"),
    ):
        error = refusal(situs(*words, "--out", tmp_path / "out"))
        assert "lacks the parameter" in error
        assert not (tmp_path / "out").exists(), "what cannot end is not begun"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_an_option_that_is_no_number(situs, bench, tmp_path, value) -> None:
    out = tmp_path / "out"
    assert refusal(situs("run", bench, "--model", "random", "--timeout", value, "--out", out))
    assert refusal(situs("report", bench, "--max-mb", value, "--out", out))
    assert not out.exists()


@pytest.mark.parametrize("half_width", ["0", "1e-320", "1e-9", "nan", "0.5"])
def test_a_plan_that_nobody_can_carry_out(situs, half_width) -> None:
    assert "cannot plan" in refusal(situs("audit", "plan", "--half-width", half_width))


def test_a_plan_counts_the_items_that_are_there(situs, bench, tmp_path) -> None:
    """What `bench.json` says of them may be wrong, or missing."""
    made = Path(shutil.copytree(bench, tmp_path / "bench"))
    info = json.loads((made / "bench.json").read_bytes())
    (made / "bench.json").write_text(json.dumps(info | {"counts": {}}))
    planned = situs("audit", "plan", "--bench", made, "--json").json
    assert planned["population"] == len(pq.read_table(made / "items.parquet"))
    refilled(made, "items", list.clear)
    assert "no items" in refusal(situs("audit", "plan", "--bench", made))


def test_a_graded_study_without_a_series(situs, tmp_path) -> None:
    columns = "study,patient,side,shape,affine,question,sub_score,grade"
    grade = "k0,p0,right,13 14 12,5 0 0 0 0 5 0 0 0 0 5 0 0 0 0 1,1,size,2"
    (tmp_path / "grades.csv").write_text(f"{columns}\n{grade}\n")
    (tmp_path / "regions.csv").write_text(
        "study,region,x0,y0,z0,x1,y1,z1\nk0,patella_medial,0,0,0,9,8,7\n"
    )
    made = tmp_path / "bench"
    words = ("--boxes", tmp_path / "regions.csv", "--out", made)
    built = situs("build", "grades", tmp_path / "grades.csv", *words)
    assert built.code == 0, built.err
    write_rows(made, "studies", [row | {"series": []} for row in rows_of(made, "studies")])
    ran = situs("check", made, "--json")
    assert ran.code == 1
    assert "its study has no series" in {problem["problem"] for problem in ran.json["problems"]}


def test_a_probe_that_cannot_be_made_asks_nobody_and_leaves_nothing(
    situs, tmp_path, monkeypatch
) -> None:
    """Patients are changed before the model is asked: nothing has been paid for then."""
    rows = [{"study": "s", "question": "Is it?", "answer": "yes"}]
    (tmp_path / "items.jsonl").write_text(json.dumps(rows[0]) + "\n")
    made = tmp_path / "bench"
    assert situs("import", "items", tmp_path / "items.jsonl", "--out", made).code == 0

    def fails(*_: object, **__: object) -> None:
        raise SitusError("contradicts itself")

    monkeypatch.setattr("situs.probe.suite.changed_bench", fails)
    out = tmp_path / "new" / "probed"
    refusal(situs("probe", made, "--model", "random", "--probes", "rotations,mirror", "--out", out))
    assert not out.parent.exists()


def test_a_probe_of_an_unknown_stratum_asks_nobody(situs, tmp_path) -> None:
    row = {"study": "s", "question": "Is it?", "answer": "yes"}
    (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n")
    made, out = tmp_path / "bench", tmp_path / "probed"
    assert situs("import", "items", tmp_path / "items.jsonl", "--out", made).code == 0
    words = ("probe", made, "--model", "random", "--probes", "text", "--stratum", "nonsense")
    assert "no item of stratum" in refusal(situs(*words, "--out", out))
    assert not out.exists()


@pytest.mark.parametrize("name", ["task", "stratum", "split"])
def test_a_bench_that_does_not_list_what_its_items_are(situs, tmp_path, name) -> None:
    """Scores are grouped by what `bench.json` lists: nobody is asked what could not be scored."""
    row = {"study": "s", "question": "Is it?", "answer": "yes"}
    (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n")
    made, out = tmp_path / "bench", tmp_path / "out"
    assert situs("import", "items", tmp_path / "items.jsonl", "--out", made).code == 0
    info = json.loads((made / "bench.json").read_bytes())
    (made / "bench.json").write_text(json.dumps(info | {f"by_{name}": {}}))
    for words in (
        ("probe", made, "--model", "random", "--probes", "rotations"),
        ("run", made, "--model", "random"),
    ):
        assert f"lists no {name}" in refusal(situs(*words, "--out", out))
        assert not out.exists()


@pytest.mark.parametrize("table", ["items", "facts"])
def test_a_damaged_table_is_one_line_however_it_is_read(situs, bench, tmp_path, table) -> None:
    made = Path(shutil.copytree(bench, tmp_path / "bench"))
    path = made / f"{table}.parquet"
    path.write_bytes(path.read_bytes()[:-8])
    for read in (table_schema, whole_table, lambda path: whole_table(path, ["study_id"])):
        with pytest.raises(SitusError, match="is not a readable Parquet table"):
            read(path)
    told = refusal(situs("export", made, "--to", "croissant", "--out", tmp_path / "out"))
    assert str(path) in told


def test_scores_that_are_kept_are_of_the_items_that_stand_in_the_bench(
    situs, bench, tmp_path
) -> None:
    """A bench that was changed by hand keeps the hash in its card."""
    made, run = Path(shutil.copytree(bench, tmp_path / "bench")), tmp_path / "run"
    assert situs("run", made, "--model", "random", "--out", run).code == 0
    before = set(read_run(open_replies(run, made)).columns.item_ids)
    path = made / "items.parquet"
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path)
    after = set(read_run(open_replies(run, made)).columns.item_ids)
    assert after == before - {table["item_id"][0].as_py()}


@pytest.mark.parametrize("value", [1.0, (1.0, 2.0), ("a", "b", "c")])
def test_a_place_that_is_none_teaches_nothing(value: Any) -> None:
    """A bench's facts may say anything of other patients."""
    facts: list[Any] = [
        SimpleNamespace(study_id=study, kind="centroid", subjects=("liver",), value=held, flags=())
        for study, held in (("s1", value), ("s2", (1.0, 2.0, 3.0)))
    ]
    average = AverageAnatomy(facts, {"s1": "p1", "s2": "p2"})
    lateral = Place(0, of=3)
    others = average.apart("centroid", "liver", "liver", lateral, without="p3")
    assert others.patients == 1
    assert others.mean == 0.0
