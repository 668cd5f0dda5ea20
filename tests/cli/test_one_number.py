"""One headline: the same accuracy, n and chance wherever it is shown,
and blind rows on the same items."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from forms import write_bench
from frame_make import make_cohort
from situs.items import Choice, Choices, Item, YesNo
from situs.profiles import unmet_needs
from situs.run import open_run, read_hidden

CLOSED = (YesNo, Choice, Choices)


class Place(NamedTuple):
    """A bench with two runs on all its items, and how it is shown."""

    bench: Path
    runs: Path
    profile: str


def _phantoms(folder: Path, bench: Path, situs: Callable[..., Any]) -> Path:
    return bench


def _debiased(folder: Path, bench: Path, situs: Callable[..., Any]) -> Path:
    assert situs("debias", bench, "--out", folder / "debiased").code == 0
    return folder / "debiased"


def _frames(folder: Path, bench: Path, situs: Callable[..., Any]) -> Path:
    """Boxes, frames, counts, sets and texts beside options, without images."""
    files, lists = make_cohort(5, 20).write(folder / "annotations")
    assert (
        situs(
            "build", "boxes", *files, *lists, "--licence", "CC0-1.0", "--out", folder / "frames"
        ).code
        == 0
    )
    return folder / "frames"


def _forms(folder: Path, bench: Path, situs: Callable[..., Any]) -> Path:
    """Every form of answer, grades and compounds among them, without a headline of its own."""
    write_bench(folder / "forms")
    return folder / "forms"


MADE = {
    "phantoms": (_phantoms, "default"),
    "hidden by the profile": (_phantoms, "one-slice"),
    "debiased": (_debiased, "default"),
    "boxes on frames": (_frames, "sgmri-frames"),
    "every form": (_forms, "sgmri-frames"),
}


def _place(once: Callable[..., Path], situs: Callable[..., Any], bench: Path, name: str) -> Place:
    maker, profile = MADE[name]

    def make(folder: Path) -> None:
        made = maker(folder, bench, situs)
        (folder / "bench.txt").write_text(str(made))
        for model in ("random", "prior"):
            ran = situs(
                "run",
                made,
                "--model",
                model,
                "--profile",
                profile,
                "--out",
                folder / "runs" / model,
            )
            assert ran.code == 0, ran.err

    folder = once(f"one_number_{name.replace(' ', '_')}", make)
    return Place(Path((folder / "bench.txt").read_text()), folder / "runs", profile)


@pytest.fixture(scope="module")
def runs(once: Callable[..., Path], situs: Callable[..., Any], bench: Path) -> Path:
    """Two runs that cover all items, and one that covers a part."""
    folder = _place(once, situs, bench, "phantoms").runs
    if not (folder / "few").exists():
        situs("run", bench, "--model", "majority", "--limit", 40, "--out", folder / "few")
    return folder


def counted_by_hand(bench: Path, run: Path, stratum: str) -> tuple[int, float]:
    """n and chance by the definition:
    questions with options of the stratum, answerable under the run's profile."""
    info, opened = open_run(run, bench)
    hidden = read_hidden(run / "hidden.jsonl")

    def counts(item: Item) -> bool:
        there = stratum in ("all", item.stratum) and isinstance(item.answer, CLOSED)
        return there and item.item_id not in hidden and not unmet_needs(item, info.profile.gives)

    items = [item for item in opened.items() if counts(item)]
    chances = [
        1 / (2 ** len(item.options) - 1)
        if isinstance(item.answer, Choices)
        else 1 / (len(item.options) or 2)
        for item in items
    ]
    return len(items), sum(chances) / len(chances)


CASES = [("phantoms", "headline"), ("hidden by the profile", "headline")]
MORE = [
    ("phantoms", "all"),
    ("phantoms", "textbook"),
    ("debiased", "headline"),
    ("boxes on frames", "headline"),
]
MORE += [("boxes on frames", "all"), ("every form", "headline"), ("hidden by the profile", "all")]


@pytest.mark.parametrize(
    ("name", "stratum"), [*CASES, *(pytest.param(*case, marks=pytest.mark.sweep) for case in MORE)]
)
def test_every_place_shows_the_same_number(situs, once, bench, tmp_path, name, stratum) -> None:
    place = _place(once, situs, bench, name)
    bench, runs = place.bench, place.runs
    run, more = runs / "random", ("--stratum", stratum)
    ran = situs("score", bench, run, "--json", "--tables", tmp_path / "tables", *more)
    scores = ran.json
    own = scores["headline"]
    value, n, chance = own["value"], own["n"], own["chance"]
    # A bench without a headline shows all its questions with options, and says so.
    by_hand = counted_by_hand(bench, run, own["stratum"])
    assert own["stratum"] == stratum or stratum not in scores["by_stratum"]
    assert (n, chance) == (by_hand[0], pytest.approx(by_hand[1]))

    # The file that score leaves in the run, and the row of the stratum beside others.
    assert json.loads((run / "scores.json").read_text())["headline"] == own
    if stratum in scores["by_stratum"]:
        row = {e["metric"]: e for e in scores["by_stratum"][stratum]}
        assert (row["accuracy.closed"]["value"], row["accuracy.closed"]["n"]) == (value, n)
        assert row["accuracy.closed"]["ci95"] == own["ci95"]
        assert (row["chance"]["value"], row["chance"]["n"]) == (chance, n)

    # Blind rows beside it.
    for name, blind in scores["baselines_headline"].items():
        assert (blind["n"], blind["chance"]) == (n, chance), name
    assert scores["baselines_headline"]["random"]["value"] == value, (
        "the run is the baseline itself"
    )

    # The terminal.
    text = situs("score", bench, run, *more).out
    line = next(line for line in text.splitlines() if line.strip().startswith("accuracy "))
    assert line.split()[1] == str(n)
    assert line.split()[3] == f"{value:.3f}"
    assert f"{chance:.3f}" in line.split()[4:]
    if own["ci95"] is not None:
        assert f"{own['ci95'][0]:.3f} – {own['ci95'][1]:.3f}" in line

    # Tables for a paper.
    table = next(csv.DictReader(io.StringIO((tmp_path / "tables" / "headline.csv").read_text())))
    assert (float(table["value"]), int(table["items"]), float(table["chance"])) == (
        value,
        n,
        chance,
    )
    for ending, split in (("md", "|"), ("tex", "&")):
        lines = (tmp_path / "tables" / f"headline.{ending}").read_text().splitlines()
        cells = [
            cell.strip(" \\") for cell in next(x for x in lines if "accuracy" in x).split(split)
        ]
        for shown in (str(n), f"{value:.3f}", f"{chance:.3f}"):
            assert shown in cells

    # The report: its page and its table.
    page = tmp_path / "report.html"
    args = (
        "report",
        run,
        runs / "prior",
        "--out",
        page,
        "--pictures",
        0,
        "--tables",
        tmp_path / "report",
    )
    assert situs(*args, *more).code == 0
    board = list(csv.DictReader(io.StringIO((tmp_path / "report" / "leaderboard.csv").read_text())))
    first = next(row for row in board if row["run"] == "random" and row["kind"] == "baseline")
    assert float(first["headline_value"]) == pytest.approx(100 * value, abs=0.006)
    assert float(first["headline_chance"]) == pytest.approx(100 * chance, abs=0.006)
    assert int(first["headline_n"]) == n
    if own["numbers"] is not None and own["numbers"]["value"] is not None:
        skill = own["numbers"]["value"]
        rows = csv.DictReader(io.StringIO((tmp_path / "tables" / "headline.csv").read_text()))
        assert [float(r["value"]) for r in rows if r[""].startswith("numbers:")] == [skill]
        assert float(first["skill-over-prior@1"]) == pytest.approx(skill, abs=0.006)
        assert "skill-over-mean@1" not in first
    # Blind rows on the same items stand beside it; the baseline that was run stands there once.
    assert sum(row["run"] == "random" for row in board) == 1
    beside = next(row for row in board if row["run"] == "majority" and row["kind"] == "blind")
    assert beside["headline_n"] == first["headline_n"]
    html = page.read_text()
    assert f"headline accuracy {100 * value:.1f} %" in html
    assert re.search(
        rf"headline accuracy {100 * value:.1f} %[^>]*chance {100 * chance:.1f} %", html
    )

    # The comparison.
    compared = situs("compare", run, runs / "prior", "--json", *more).json
    standings = {row["name"]: row["value"] for row in compared["standings"]}
    if standings:
        assert standings["random"] == pytest.approx(value)
    else:  # Texts that no judge has read leave a run incomplete: compared, not ranked.
        assert any("not ranked" in warning for warning in compared["warnings"])
    other = situs("score", bench, runs / "prior", "--json", *more).json["headline"]["value"]
    assert compared["pairs"][0]["difference"] == pytest.approx(value - other)
    assert compared["pairs"][0]["n"] == n

    # The sight gain, of which this is the first half.
    out = tmp_path / "probe"
    args = (
        "probe",
        bench,
        "--model",
        "random",
        "--profile",
        place.profile,
        "--probes",
        "text",
        "--out",
        out,
    )
    gain = situs(*args, "--json", *more).json
    assert gain["sight_gain"]["n"] == n
    assert gain["sight_gain"]["model"] == pytest.approx(value)
    assert gain["shortcuts"]["chance"]["value"] == pytest.approx(chance)
    assert {
        row["n"] for name, row in gain["shortcuts"].items() if name in ("majority", "prior")
    } == {n}

    # The same gain by `compare`, as it is and with chance credit.
    blind = [word for name in ("text", "silent") for word in ("--blind", out / name)]
    (sight,) = situs("compare", out / "original", *blind, "--json", *more).json["sight"]
    for pair, shown in (
        (sight["gain"], gain["sight_gain"]),
        (sight["credited"], gain["sight_gain"]["with_chance_credit"]),
    ):
        assert pair["n"] == shown["n"]
        assert pair["difference"] == pytest.approx(shown["value"])
        assert pair["ci95"] == (shown["ci95"] and pytest.approx(shown["ci95"]))


CARDS = [
    "phantoms",
    *(pytest.param(name, marks=pytest.mark.sweep) for name in ("debiased", "boxes on frames")),
]


@pytest.mark.parametrize("name", CARDS)
def test_the_card_shows_the_same_blind_rows(situs, once, bench, tmp_path, name) -> None:
    """The card knows no profile; these hide nothing of the headline's questions with options."""
    place = _place(once, situs, bench, name)
    scores = situs("score", place.bench, place.runs / "random", "--json").json
    lines = (place.bench / "README.md").read_text().splitlines()
    head = next(line for line in lines if line.startswith("| stratum |") and "majority" in line)
    row = next(line for line in lines[lines.index(head) :] if line.startswith("| headline |"))
    cells = dict(zip((c.strip() for c in head.split("|")), (c.strip() for c in row.split("|"))))
    own = scores["headline"]
    assert int(cells["n"].replace(",", "")) == own["n"]
    assert cells["chance"] == f"{own['chance']:.3f}"
    for model, blind in scores["baselines_headline"].items():
        low_high = blind["ci95"] and f" ({blind['ci95'][0]:.3f}–{blind['ci95'][1]:.3f})"
        assert cells[model] == f"{blind['value']:.3f}{low_high or ''}"
    # What a patient's other answers tell is of the whole bench: a sentence, no row among rows of the
    # run's items.
    told = scores["same_patient"]
    share = f"{told['right'] / told['n']:.3f}"
    sentence = f"would be right in {share} of {told['n']:,} headline questions"
    assert sentence in "\n".join(lines)
    text = situs("score", place.bench, place.runs / "random").out
    assert sentence in " ".join(text.split())
    assert not any(line.strip().startswith("blind, told") for line in text.splitlines())


def test_runs_on_different_items_have_blind_rows_of_their_own(situs, bench, runs, tmp_path) -> None:
    args = ("report", runs / "random", runs / "few", "--out", tmp_path / "r.html", "--pictures", 0)
    assert situs(*args, "--tables", tmp_path / "t").code == 0
    board = list(csv.DictReader(io.StringIO((tmp_path / "t" / "leaderboard.csv").read_text())))
    own = {row["run"]: row["headline_n"] for row in board if row["kind"] == "baseline"}
    assert own["random"] != own["majority"]
    # Each baseline stands once for the items of either run, as a run of its own or as a blind row.
    for name in ("majority", "random", "prior"):
        counts = [row["headline_n"] for row in board if row["run"] == name]
        assert sorted(counts) == sorted(own.values()), name


def test_an_unknown_stratum_is_refused(situs, bench, runs) -> None:
    for args in (("score", bench), ("compare", runs / "prior")):
        ran = situs(*args, runs / "random", "--stratum", "headlin")
        assert ran.code == 2
        assert "headline" in ran.err
        assert len(ran.err.splitlines()) == 1
