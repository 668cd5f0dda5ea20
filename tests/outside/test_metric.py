"""A newcomer's metric: one file outside the package,
in score, its tables, compare and the report."""

from __future__ import annotations

import json

import pytest

METRIC = {"situs.metrics": {"close": "situs_close"}}
EVERYWHERE = """
import situs

@situs.metric("near@1", forms=["number"], shown={shown!r}, heading="Near by")
def near(said, truth):
    "Within a tenth of the truth."
    return float(abs(said - truth) <= truth / 10)
"""
ANSWERS = {"S0": ("10 mL", 10.0), "S1": ("15 mL", 10.0), "S2": ("nothing to be said", 10.0)}


@pytest.fixture
def measured(outside, tmp_path):
    """The package, a bench of three volumes, and answers:
    the truth, half as much again, and none."""
    package = outside("close")
    package.install_example("situs_close", METRIC, "Adding a metric")
    questions = [
        {
            "study": study,
            "patient": study,
            "question": "How large is it?",
            "answer": truth,
            "unit": "mL",
        }
        for study, (_, truth) in ANSWERS.items()
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, questions)))
    bench = tmp_path / "bench"
    package.json("import", "items", tmp_path / "items.jsonl", "--ids", "table", "--out", bench)
    package.situs("run", bench, "--model", "oracle", "--out", tmp_path / "run")
    lines = (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    for row, (said, _) in zip(rows, ANSWERS.values()):
        row["response"] = said
    (tmp_path / "run" / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return package, tmp_path


def test_it_is_listed_scored_compared_and_reported(measured):
    package, folder = measured
    assert "1 at the truth" in package.situs("list", "metrics")
    scored = package.json("score", folder / "bench", folder / "run", "--tables", folder / "tables")
    (entry,) = (one for one in scored["overall"] if one["metric"] == "close-thirds@1")
    # The truth, half off, and not read: (1 + 1/2 + 0) / 3.
    assert (entry["value"], entry["n"]) == (pytest.approx(0.5), 3)
    assert "close-thirds@1" in (folder / "tables" / "overall.csv").read_text()
    assert "close-thirds@1" in package.situs("score", folder / "bench", folder / "run")
    package.situs("run", folder / "bench", "--model", "prior", "--out", folder / "other")
    runs = folder / "run", folder / "other"
    pairs = package.json("compare", *runs, "--metric", "close-thirds@1")["pairs"]
    assert pairs[0]["n"] == 3
    package.situs("report", *runs, "--pictures", 0, "--out", folder / "report.html")


@pytest.mark.parametrize(
    "shown", [("leaderboard",), ("terminal", "tag", "breakdown", "comparison", "report")]
)
def test_it_stands_where_it_is_declared_to_stand(measured, shown):
    package, folder = measured
    offer = {"situs.metrics": {"near": "situs_near"}}
    package.install("situs_near", offer, EVERYWHERE.format(shown=shown))
    run, page = folder / "run", folder / "report.html"
    printed = package.situs("score", folder / "bench", run)
    printed += package.situs("score", folder / "bench", run, "--breakdowns")
    package.situs("report", run, "--pictures", 0, "--out", page)
    heading = '<abbr title="near@1: Within a tenth of the truth.">Near by</abbr>'
    assert (heading in page.read_text("utf-8")) == ("leaderboard" in shown)
    assert ("near@1" in printed) == ("terminal" in shown)
    if "leaderboard" in shown:
        # One of three volumes is told within a tenth.
        assert '<td class="num">0.33</td>' in page.read_text("utf-8")


def test_a_wrong_golden_value_is_told(outside):
    package = outside("wrong")
    text = (
        "import situs\n@situs.metric('half@1', forms=['number'], golden=[(1.0, 2.0, 0.9)])\n"
        "def half(said, truth):\n    return said / truth\n"
    )
    package.install("situs_half", {"situs.metrics": {"half": "situs_half"}}, text)
    told = package.python("-m", "situs", "list", "metrics")
    assert told.returncode == 2
    assert "half@1" in told.stderr
    assert "0.5" in told.stderr


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ("'accuracy', forms=['number']", "there already"),
        ("'new@1', forms=['numbers']", "number"),
        ("'new@1', forms=['number'], shown=['everywhere']", "everywhere"),
        ("'new@1', forms=['number'], shown=['sub-score']", "sub-score"),
    ],
)
def test_what_is_not_declared_rightly_is_an_error(outside, declared, says):
    package = outside("odd")
    text = f"import situs\n@situs.metric({declared})\ndef new(said, truth):\n    return 1.0\n"
    package.install("situs_odd", {"situs.metrics": {"odd": "situs_odd"}}, text)
    told = package.python("-m", "situs", "list", "metrics")
    assert told.returncode == 2, told.stderr
    assert says in told.stderr
