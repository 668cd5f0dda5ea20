"""`import situs`: light, the same as the command line, and at home in a notebook."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest

import situs as package
from situs.api.settings import AskSettings, BuildSettings
from situs.clients import Asking
from situs.items import Choice, Choices, YesNo

HEAVY = ("numpy", "scipy", "numba", "pyarrow", "nibabel", "matplotlib", "torch", "msgspec", "click")


def test_importing_loads_nothing_heavy() -> None:
    code = f"import sys, situs; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


@pytest.mark.parametrize("name", package.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    value = getattr(package, name)
    assert value.__doc__
    assert name in dir(package)


def test_a_notebook_offers_the_public_names_only() -> None:
    assert [name for name in dir(package) if not name.startswith("__")] == sorted(package.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scroe'"):
        _ = package.scroe


DASHBOARDS = {"events", "track"}
"""A program that calls a function can watch it by itself."""


@pytest.mark.parametrize("source", ["phantoms", "masks", "boxes", "reports", "grades"])
def test_a_builder_takes_the_options_of_its_command(source: str) -> None:
    from situs.api import build
    from situs.cli.build import command

    function = getattr(build, source)
    assert getattr(package.build, source) is function
    known = {*inspect.signature(function).parameters, *BuildSettings.__annotations__}
    assert isinstance(command, click.Group)
    options = {parameter.name for parameter in command.commands[source].params}
    # How to ask is one record in Python, and what is printed is not an option.
    assert options - known - {*AskSettings.__annotations__} <= {"as_json", *DASHBOARDS}


SPOKEN = {"judge": "judges", "compare_published": "published"}
"""Options whose argument in Python has another name."""
ONLY_COMMANDS = {
    "run": {"dry_run", *DASHBOARDS},
    "probe": {"dry_run", *DASHBOARDS},
    "score": {"dry_run"},
    # A frame is written by pandas; of a table `situs.facts.measure_cohort` measures every study.
    "measure": {"csv", "jobs", "engine"},
    # `list_names` and others are functions of their own; sessions are shown by
    # `situs.room.show_session`.
    "show": {"list", "allow_restricted"},
    "export": {"bench"},  # a result or a folder knows what it is
}


@pytest.mark.parametrize(
    "name",
    [
        "check",
        "compare",
        "debias",
        "export",
        "measure",
        "probe",
        "report",
        "run",
        "score",
        "show",
    ],
)
def test_a_function_takes_the_options_of_its_command(name: str) -> None:
    command = importlib.import_module(f"situs.cli.{name}").command
    options = {max(p.opts, key=len).lstrip("-").replace("-", "_") for p in command.params}
    spoken = {SPOKEN.get(option, option) for option in options}
    function = getattr(package.api, name)
    known = {*inspect.signature(function).parameters, *AskSettings.__annotations__}
    # What is printed is not an option of a function.
    assert spoken - known - ONLY_COMMANDS.get(name, set()) <= {"json"}
    assert set(AskSettings.__annotations__) == set(Asking.__struct_fields__)


def test_judges_are_asked_from_python(bench: Path, tmp_path: Path, situs: Callable) -> None:
    run = package.run(str(bench), "prior", out=tmp_path / "prior")
    with pytest.raises(package.SitusError, match="no free-text answers to judge"):
        package.score(bench, run, judges="oracle")
    scored = package.score(bench, run, breakdowns=True, tables=tmp_path / "tables")
    names = {table.name for table in scored.tables()}
    assert {"headline", "overall", "accuracy_by_task", "by_task"} <= names
    assert {path.stem for path in (tmp_path / "tables").glob("*.csv")} == names
    told = situs("score", bench, tmp_path / "prior", "--tables", tmp_path / "told")
    assert told.code == 0
    for path in (tmp_path / "tables").iterdir():
        assert path.read_bytes() == (tmp_path / "told" / path.name).read_bytes()


def test_the_same_scores_as_the_command_line(bench: Path, tmp_path: Path, situs: Callable) -> None:
    run = package.run(str(bench), "prior", out=tmp_path / "prior")
    assert run.states == {"answered": run.items}
    scored = package.score(package.open_bench(bench), run)
    told = situs("score", bench, tmp_path / "prior", "--json").json
    assert scored.headline.value == told["headline"]["value"]
    assert [entry.value for entry in scored.overall] == [
        entry["value"] for entry in told["overall"]
    ]
    columns = scored.to_arrow().to_pydict()
    assert columns["value"][0] == told["headline"]["value"]
    assert columns["items"][0] == told["headline"]["n"]


def test_every_table_of_a_result_is_a_data_frame(bench: Path, tmp_path: Path) -> None:
    run = package.run(bench, "random", out=tmp_path / "run")
    scored = package.score(bench, run)
    by_task = scored.to_arrow("accuracy_by_task").to_pydict()
    closed = Counter(
        item.task
        for item in package.open_bench(bench).items()
        if isinstance(item.answer, YesNo | Choice | Choices)
    )
    counts = dict(zip(by_task["task"], by_task["items"]))
    assert {name: counts[name] for name in closed} == closed
    # A row an answer, as any program reads it that opens the run.
    answers = scored.to_arrow("answers")
    names = ["item_id", "state", "right", "truth", "prediction"]
    stored = pq.read_table(tmp_path / "run" / "scores.parquet", columns=names)
    assert answers.select(names).to_pydict() == stored.to_pydict()
    assert answers.num_rows == run.items
    assert set(scored.table_names()) >= {"headline", "overall", "accuracy_by_task", "answers"}
    with pytest.raises(package.SitusError, match=r"no table 'answer'.*did you mean answers"):
        scored.to_arrow("answer")


class _SaysA:
    remote = False

    def answer(self, request: package.Request) -> str:
        assert request.images()
        return "A"


def test_a_model_is_any_object_with_answer(bench: Path, tmp_path: Path) -> None:
    run = package.run(bench, _SaysA(), out=tmp_path / "run", limit=3, no_cache=True)
    assert run.states == {"answered": 3}
    rows = [
        json.loads(line) for line in (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    ]
    assert [row["response"] for row in rows] == ["A"] * 3
    with pytest.raises(package.SitusError, match="no answer"):
        package.run(bench, object(), out=tmp_path / "other")


def test_it_works_where_an_event_loop_runs(bench: Path, tmp_path: Path) -> None:
    """As in a notebook."""

    async def cell() -> dict[str, int]:
        return package.run(bench, _SaysA(), out=tmp_path / "run", limit=2, no_cache=True).states

    assert asyncio.run(cell()) == {"answered": 2}


def test_the_probes_and_the_report(bench: Path, tmp_path: Path) -> None:
    probed = package.probe(bench, "majority", out=tmp_path / "probes", probes=["blind"], limit=20)
    assert probed.tables()[0].columns[0] == "probe"
    assert probed.diagnosis.summary in repr(probed)
    written = package.report(
        tmp_path / "probes" / "original", out=tmp_path / "report.html", pictures=0
    )
    assert (tmp_path / "report.html").stat().st_size == written.bytes
    compared = package.compare(tmp_path / "probes" / "original", tmp_path / "probes" / "text")
    assert compared.to_arrow().num_rows == 1


def test_pictures_show_themselves(bench: Path, tmp_path: Path) -> None:
    item = next(package.open_bench(bench).items())
    shown = package.show(bench, item=item.item_id)
    assert shown._repr_png_().startswith(b"\x89PNG")
    assert item.question in shown.prompt
    package.show(bench, item=item.item_id, out=tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").read_bytes() == shown.png


def test_a_bench_in_frames(bench: Path) -> None:
    opened = package.open_bench(bench)
    items = opened.to_arrow()
    assert items.num_rows == opened.info.counts["items"] == sum(1 for _ in opened.items())
    assert "<table>" in opened._repr_html_()
    with pytest.raises(package.SitusError, match="no table 'itmes'"):
        opened.to_arrow("itmes")
    if importlib.util.find_spec("pandas") is None:
        with pytest.raises(package.SitusError, match="pip install pandas"):
            opened.to_pandas()
    else:
        assert list(opened.to_pandas()["item_id"]) == items["item_id"].to_pylist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda out: package.build.phantoms(2, out=out, jbos=2), "did you mean jobs"),
        (lambda out: package.build.phantoms(2, out=out, ids="file"), "ids"),
        (lambda out: package.build.phantoms(2, out=out, body="leg"), "abdomen or knee"),
        (lambda out: package.run("nowhere", "prior", out=out), "no such bench"),
        (lambda out: package.report(out=out), "no run"),
        (lambda out: package.report(["a", "b"], out=out), "list is not a path"),
        (lambda out: package.compare({"a": "b"}, "c"), "dict is not a path"),
        (lambda out: package.open_bench(7), "int is not a path"),
        (lambda out: package.build.phantoms(2, out=[out]), "list is not a path"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    call: Callable, message: str, tmp_path: Path
) -> None:
    with pytest.raises(package.SitusError, match=message) as caught:
        call(tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_measuring(small: Path) -> None:
    patient = next((small / "data").iterdir())
    measured = package.measure(patient / "segmentations")
    frame = measured.to_arrow().to_pydict()
    volumes = {s.name: s.volume_ml for s in measured.structures}
    assert dict(zip(frame["structure"], frame["mL"], strict=True)) == volumes
