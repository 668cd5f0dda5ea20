"""The contract of the command line:
help, one JSON object, streams, exit codes, hints, light imports."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import situs as package
from situs.cli import _COMMANDS

HEAVY = ("torch", "matplotlib", "numba", "scipy", "pyarrow", "SimpleITK", "nibabel", "numpy")


@pytest.mark.parametrize("command", [*_COMMANDS, "build phantoms", "build masks", "import items"])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help(situs, command, flag) -> None:
    ran = situs(*command.split(), flag)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: situs")
    groups = ("build", "import", "audit", "list", "library", "review", "tune", "serve")
    if command not in groups:
        assert "--json" in ran.out


def test_the_program_lists_its_commands(situs) -> None:
    for args in ((), ("--help",)):
        ran = situs(*args)
        assert ran.code == 0
        assert all(name in ran.out for name in _COMMANDS)
    assert situs("--version").out.strip() == f"situs, version {package.__version__}"


HINTS = [
    (("masure", "x"), "did you mean measure"),
    (("build", "phantom"), "did you mean phantoms?"),
    (("run", "BENCH", "--model", "orcle", "--out", "r"), "did you mean oracle?"),
    (
        ("run", "BENCH", "--model", "oracle", "--profile", "defualt", "--out", "r"),
        "did you mean default?",
    ),
    (("score", "BENCH", "BENCH/x", "--metrics", "acuracy"), "did you mean accuracy"),
    (("build", "masks", "DATA", "--tasks", "directions", "--out", "b"), "did you mean direction?"),
    (("build", "masks", "DATA", "--annotation", "manuel", "--out", "b"), "did you mean manual?"),
    (
        ("build", "masks", "DATA", "--names", "totalsegmentor", "--out", "b"),
        "did you mean totalsegmentator",
    ),
    (("measure", "DATA/patient000", "--pairs", "liver,splen"), "did you mean spleen"),
    (("measure", "x", "--pair", "all"), "--pairs"),
]


@pytest.mark.parametrize(
    ("args", "hint"), HINTS, ids=lambda value: value if isinstance(value, str) else None
)
def test_an_unknown_name_is_answered_with_a_near_one(
    situs, small, tmp_path, monkeypatch, args, hint
) -> None:
    monkeypatch.chdir(tmp_path)
    known = {
        "BENCH": small / "bench",
        "DATA": small / "data",
        "DATA/patient000": small / "data" / "patient000",
    }
    ran = situs(*(known.get(word, word) for word in args))
    assert ran.code == 2
    assert hint.casefold() in ran.err.casefold()


KEYS = {
    "structure": (
        "label name side voxels volume_ml volume_ml_interval centroid_mm box_mm box_index extent_mm"
        " touches_border components"
    ),
    "pair": "a b centre_distance_mm boundary_distance_mm gap_mm touching contact_mm2 direction",
    "measure": "structures pairs",
    "build": "studies items by_task not_asked problems",
    "check": "items recomputed given problems",
    "run": "items states requests seconds cost",
    "score": "overall by_task by_tag baselines not_computed",
    "entry": "metric value n ci95 states",
}


def assert_keys(value: dict, kind: str) -> None:
    assert set(KEYS[kind].split()) <= set(value), kind


def test_measure_prints_what_is_promised(situs, small) -> None:
    masks = small / "data" / "patient000"
    ran = situs("measure", masks, "--pairs", "all", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert_keys(ran.json, "measure")
    for structure in ran.json["structures"]:
        assert_keys(structure, "structure")
        assert set(structure["extent_mm"]) == {
            "left_right",
            "anterior_posterior",
            "superior_inferior",
        }
        assert len(structure["box_mm"]) == len(structure["box_index"]) == 2
    count = len(ran.json["structures"])
    assert len(ran.json["pairs"]) == count * (count - 1) // 2
    for pair in ran.json["pairs"]:
        assert_keys(pair, "pair")
    assert situs("measure", masks, "--json").json["pairs"] == []
    assert len(situs("measure", masks, "--json", "--pairs", "liver,spleen").json["pairs"]) == 1


def test_build_check_run_and_score_print_what_is_promised(situs, small, tmp_path) -> None:
    bench, run = tmp_path / "bench", tmp_path / "run"
    built = situs(
        "build", "masks", small / "data", "--annotation", "exact", "--out", bench, "--json"
    )
    assert (built.code, built.err) == (0, "")
    assert_keys(built.json, "build")
    assert sum(built.json["by_task"].values()) == built.json["items"]
    checked = situs("check", bench, "--json")
    assert (checked.code, checked.err) == (0, "")
    assert_keys(checked.json, "check")
    ran = situs("run", bench, "--model", "oracle", "--out", run, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert_keys(ran.json, "run")
    assert ran.json["states"] == {"answered": built.json["items"]}
    scored = situs("score", bench, run, "--json")
    assert (scored.code, scored.err) == (0, "")
    assert_keys(scored.json, "score")
    tables = [
        scored.json["overall"],
        *scored.json["by_task"].values(),
        *scored.json["baselines"].values(),
    ]
    for entry in (entry for table in tables for entry in table):
        assert_keys(entry, "entry")
    assert set(scored.json["baselines"]) >= {"random", "majority", "minority", "prior"}
    assert json.loads((run / "scores.json").read_text())["overall"] == scored.json["overall"]


def test_show_prints_one_object_too(situs, bench, tmp_path) -> None:
    shown = situs("show", bench, "--out", tmp_path / "sheet.png", "--json")
    assert (shown.code, shown.err) == (0, "")
    assert {"pictures", "profile", "profile_hash", "prompt"} <= set(shown.json)
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_tables_for_people_go_to_standard_output(situs, small, bench, tmp_path) -> None:
    for args, words in (
        (("measure", small / "data" / "patient000"), "liver"),
        (("check", bench), "0 errors"),
        (("run", bench, "--model", "oracle", "--out", tmp_path / "r"), "answered"),
        (("show", bench, "--out", tmp_path / "p"), "pictures"),
    ):
        ran = situs(*args)
        assert (ran.code, ran.err) == (0, ""), args
        assert words in ran.out


def test_warnings_of_a_score_go_to_standard_error(situs, bench, tmp_path) -> None:
    situs("run", bench, "--model", "oracle", "--out", tmp_path / "r")
    ran = situs("score", bench, tmp_path / "r")
    assert ran.code == 0
    assert "only 4 patients" in ran.err
    assert "accuracy" in ran.out


def test_check_ends_with_one_when_something_is_wrong(situs, bench, tmp_path) -> None:
    import shutil

    copy = Path(shutil.copytree(bench, tmp_path / "bench"))
    (copy / "locations.json").write_text("{}")
    ran = situs("check", copy)
    assert (ran.code, ran.err) == (1, "")
    assert "evidence" in ran.out


def test_overwrite_replaces_a_bench_and_nothing_else(situs, small, tmp_path) -> None:
    args = (
        "build",
        "masks",
        small / "data" / "patient000",
        "--tasks",
        "volume",
        "--annotation",
        "exact",
        "--out",
        tmp_path / "b",
    )
    assert situs(*args).code == 0
    assert situs(*args).code == 2
    assert situs(*args, "--overwrite").code == 0
    (tmp_path / "b" / "bench.json").unlink()
    assert situs(*args, "--overwrite").code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_failed_overwrite_keeps_the_old_bench(situs, small, tmp_path) -> None:
    args = (
        "build",
        "masks",
        small / "data" / "patient000",
        "--annotation",
        "exact",
        "--out",
        tmp_path / "b",
        "--overwrite",
    )
    assert situs(*args).code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert situs(*args, "--tasks", "nosuch").code == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == before


def test_bad_studies_can_be_skipped_and_are_named(situs, small, tmp_path) -> None:
    import shutil

    data = Path(shutil.copytree(small / "data", tmp_path / "data"))
    (data / "patient002" / "segmentations" / "liver.nii.gz").write_bytes(b"rubbish")
    args = (
        "build",
        "masks",
        data,
        "--annotation",
        "exact",
        "--tasks",
        "volume",
        "--out",
        tmp_path / "b",
        "--json",
    )
    assert situs(*args).code == 2
    ran = situs(*args, "--skip-bad")
    assert ran.code == 0
    assert ran.json["studies"] == 3
    assert [p["severity"] for p in ran.json["problems"] if "liver" in p["problem"]] == ["error"]


def test_a_missing_file_of_a_table_is_its_study_s_problem(situs, small, tmp_path) -> None:
    masks = small / "data" / "patient000" / "segmentations"
    table = tmp_path / "studies.csv"
    table.write_text(f"study,image,labels\nwhole,,{masks}\nlost,,gone\nblind,gone.nii,{masks}\n")
    args = ("build", "masks", table, "--annotation", "exact", "--ids", "table", "--tasks", "volume")
    refused = situs(*args, "--out", tmp_path / "b")
    assert refused.code == 2
    assert "2 missing files" in refused.err
    assert "--skip-bad" in refused.err
    ran = situs(*args, "--out", tmp_path / "b", "--skip-bad", "--json")
    assert ran.code == 0
    assert ran.json["studies"] == 1
    lost = [p for p in ran.json["problems"] if p["code"] == "study"]
    assert [p["severity"] for p in lost] == ["error", "error"]
    assert "gone" in lost[0]["problem"] + lost[1]["problem"]


@pytest.mark.sweep(one_in=20)
@pytest.mark.parametrize("studies", [3, None], ids=["few", "all"])
def test_demo_runs_end_to_end(situs, tmp_path, monkeypatch, studies) -> None:
    if studies is not None:
        monkeypatch.setattr("situs.cli.demo._STUDIES", studies)
    ran = situs("demo", "--out", tmp_path / "demo", "--json")
    assert ran.code == 0, ran.err
    rows = {row["name"]: row for row in ran.json["rows"]}
    assert list(rows) == ["reader", "guesser", "random", "majority", "prior"]
    if studies is None:
        assert rows["reader"]["sight_gain_ci95"][0] > 0
        assert rows["guesser"]["sight_gain_ci95"][0] <= 0
    assert not [p for p in ran.json["checked"]["problems"] if p["severity"] == "error"]
    report = tmp_path / "demo" / "report.html"
    assert 100_000 < report.stat().st_size <= 8_000_000
    assert "Did it look?" in report.read_text("utf-8")
    run = tmp_path / "demo/probes/reader/original"
    again = situs("report", run, "--out", tmp_path / "again.html", "--pictures", 0)
    assert again.code == 0, "a run of the demo knows the way to its bench"


def test_report_writes_one_file_that_loads_nothing(situs, bench, tmp_path) -> None:
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    ran = situs(
        "report",
        tmp_path / "run",
        "--bench",
        bench,
        "--out",
        tmp_path / "r.html",
        "--pictures",
        2,
        "--json",
    )
    assert (ran.code, ran.err) == (0, "")
    html = (tmp_path / "r.html").read_text()
    assert ran.json["runs"] == 1
    assert not [
        mark
        for mark in ('src="http', "src='http", 'href="http', "@import", "fetch(")
        if mark in html
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "run"]


LOADED = f"""
import contextlib, sys
with contextlib.suppress(SystemExit):
    exec(sys.argv.pop(1))
print("loaded", [name for name in {HEAVY!r} if name in sys.modules])
"""
COMMANDS = ["", "build", "build masks", "measure", "run", "score", "check", "show", "report"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_loads_nothing_heavy(command) -> None:
    args = ["from situs.cli import main; main()", *command.split(), "--help"]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *args], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.startswith("Usage: ")
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_import_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "import situs"], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "loaded []"


def test_every_module_imports() -> None:
    names = [
        m.name
        for m in pkgutil.walk_packages(package.__path__, "situs.")
        if m.name != "situs.__main__"
    ]
    assert len(names) > 80
    for name in names:
        importlib.import_module(name)


def test_python_m_situs_works(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "situs", "--version"], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "version" in done.stdout


def test_a_closed_pipe_is_no_error() -> None:
    command = (
        f"{sys.executable} -m situs list names | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["report", "score"])
def test_tables_that_cannot_be_written_stop_a_command_first(
    refused, bench, random_run, work, command
) -> None:
    (work / "tables").write_text("mine")
    words = (random_run, "--out", "report.html") if command == "report" else (bench, random_run)
    assert "is a file, not a folder" in refused(command, *words, "--tables", "tables")


@pytest.mark.parametrize("option", ["--tables", "--charts"])
def test_a_link_that_leads_nowhere_stops_a_report_first(refused, random_run, work, option) -> None:
    (work / "link").symlink_to(work / "nowhere" / "folder")
    refused("report", random_run, "--out", "report.html", option, "link")
