"""`situs score --breakdowns --signatures --tables --compare-published`,
and runs of several seeds in `compare`."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forms import write_bench
from situs.score import open_replies, read_run, records_of

Situs = Callable[..., Any]
QUICK = ("--metrics", "accuracy,chance")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, situs: Situs) -> Path:
    """A made bench and four runs of `random` on it, by their seeds."""
    root = tmp_path_factory.mktemp("extras")
    write_bench(root / "bench", patients=4)
    for seed in (1, 2, 3):
        assert (
            situs(
                "run", root / "bench", "--model", f"random?seed={seed}", "--out", root / f"r{seed}"
            ).code
            == 0
        )
    assert situs("run", root / "bench", "--model", "prior", "--out", root / "prior").code == 0
    return root


def test_nothing_is_added_unless_asked_for(folder: Path, situs: Situs) -> None:
    result = situs("score", folder / "bench", folder / "r1", *QUICK, "--json").json
    assert not {"breakdowns", "signatures", "faithfulness", "published_beside"} & set(result)


def test_json_holds_what_was_asked_for(folder: Path, situs: Situs) -> None:
    args = (*QUICK, "--breakdowns", "--signatures", "--compare-published", "3dreasonknee", "--json")
    result = situs("score", folder / "bench", folder / "r1", *args).json
    assert result["breakdowns"]["by"]["task"].keys() == result["by_task"].keys()
    causes = result["signatures"]["rows"]
    assert sum(row["first"] for row in causes) == result["signatures"]["wrong"]
    assert {(cell["answer"], cell["steps"]) for cell in result["faithfulness"]["table"]} >= {
        ("right", "none")
    }
    assert result["published_beside"][0]["rows"][0][:2] == ["Qwen2.5-VL-3B, zero-shot", "published"]


def test_tables_for_a_paper(folder: Path, situs: Situs, tmp_path: Path) -> None:
    ran = situs("score", folder / "bench", folder / "r1", *QUICK, "--tables", tmp_path / "t")
    assert ran.code == 0
    assert "Results by structure" not in ran.out
    names = {path.stem for path in (tmp_path / "t").iterdir()}
    assert {"overall", "accuracy_by_task", "by_task", "by_modality"} <= names
    for stem in names:
        assert {path.suffix for path in (tmp_path / "t").glob(f"{stem}.*")} == {
            ".csv",
            ".md",
            ".tex",
        }
    rows = list(csv.DictReader((tmp_path / "t" / "overall.csv").read_text().splitlines()))
    scores = situs("score", folder / "bench", folder / "r1", *QUICK, "--json").json
    assert float(rows[0]["value"]) == scores["overall"][0]["value"]


def test_the_terminal_shows_causes(folder: Path, situs: Situs) -> None:
    out = situs(
        "score", folder / "bench", folder / "r1", *QUICK, "--signatures", "--breakdowns"
    ).out
    assert "Why answers are wrong" in out
    assert "Where it differs most" in out
    assert "Results by structure" not in out, "every facet is in the written tables"
    assert "Accuracy by task" not in out, "what was asked for stays on the screen"
    assert len(out.splitlines()) < 100
    plain = situs("score", folder / "bench", folder / "r1", *QUICK).out
    assert out.splitlines()[0] == plain.splitlines()[0], "the main table stands above both"
    assert "Accuracy by task" in plain


def test_causes_that_cannot_be_tested_are_named_below(folder: Path, situs: Situs) -> None:
    words = ("score", folder / "bench", folder / "r1", *QUICK, "--signatures")
    rows = situs(*words, "--json").json["signatures"]["rows"]
    idle = {
        row["cause"]
        for row in rows
        if not row["first"] and row.get("expected") is not None and row.get("p_holm") is None
    }
    shown = situs(*words).out.split("Why answers are wrong")[1]
    table, caption = shown.split("A cause fits", 1)
    assert idle
    for cause in idle:
        assert cause not in table
        assert cause in caption


def test_an_unknown_paper_is_refused(folder: Path, situs: Situs) -> None:
    ran = situs("score", folder / "bench", folder / "r1", "--compare-published", "spatialmd")
    assert ran.code == 2
    assert "spatialmed" in ran.err
    ran = situs("score", folder / "bench", folder / "r1", "--compare-published")
    assert ran.code == 2
    assert "name one" in ran.err


def test_seeds_of_one_model_count_as_one_run(folder: Path, situs: Situs) -> None:
    runs = [folder / name for name in ("r1", "r2", "r3", "prior")]
    result = situs("compare", *runs, "--json").json
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == [
        ("random?seed=1 (3 seeds)", "prior")
    ]
    values = []
    for name in ("r1", "r2", "r3", "prior"):
        rows = records_of(read_run(open_replies(folder / name)).columns)
        scored = [
            row for row in rows if row.chance is not None
        ]  # it has no headline: all with options
        values.append(sum(bool(row.outcome.right) for row in scored) / len(scored))
    assert result["pairs"][0]["difference"] == pytest.approx(sum(values[:3]) / 3 - values[3])


def test_seeds_alone_are_nothing_to_compare(folder: Path, situs: Situs) -> None:
    ran = situs("compare", folder / "r1", folder / "r2")
    assert ran.code == 2
    assert "seeds of one model" in ran.err


def test_sight_gain_of_a_model_over_its_blind_run(folder: Path, situs: Situs) -> None:
    blind = shutil.copytree(folder / "r1", folder / "blind", dirs_exist_ok=True)
    result = situs("compare", folder / "r1", "--blind", blind, "--json").json
    (gain,) = result["sight"]
    assert gain["gain"]["difference"] == 0.0
    assert "Sight gain" in situs("compare", folder / "r1", folder / "prior", "--blind", blind).out
    ran = situs("compare", folder / "prior", folder / "r2", "--blind", folder / "prior")
    assert ran.code == 0
    ran = situs("compare", folder / "prior", "--blind", blind)
    assert ran.code == 2
    assert "no run to set" in ran.err


def _withheld(run: Path, out: Path, *, silent: bool, seed: str, wrong_every: int) -> Path:
    """The run as one without pictures, told so or not, in which every n-th reply says nothing."""
    shutil.copytree(run, out)
    info = json.loads((out / "run.json").read_text())
    info |= {"withheld": True, "silent": silent, "settings": {"seed": seed}}
    (out / "run.json").write_text(json.dumps(info))
    rows = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    for row in rows[::wrong_every]:
        row["response"] = "What a question."
    (out / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return out


def test_told_and_silent_runs_are_no_seeds_of_each_other(
    folder: Path, situs: Situs, tmp_path: Path
) -> None:
    """They differ in more than their seed:
    the gain is that over the better one, not over their mean."""
    told = _withheld(folder / "r1", tmp_path / "text", silent=False, seed="1", wrong_every=1)
    silent = _withheld(folder / "r1", tmp_path / "silent", silent=True, seed="2", wrong_every=3)

    def gain(*blind: Path) -> dict[str, Any]:
        options = [word for run in blind for word in ("--blind", run)]
        ran = situs("compare", folder / "r1", *options, "--bench", folder / "bench", "--json")
        assert ran.code == 0, ran.err
        (found,) = ran.json["sight"]
        return found

    alone, both = [gain(told), gain(silent)], gain(told, silent)
    assert alone[0]["gain"]["difference"] > alone[1]["gain"]["difference"]
    assert both["gain"]["difference"] == alone[1]["gain"]["difference"]
    assert both["blind"] == alone[1]["blind"] == "random?seed=1 without pictures, not told"
    assert both["gain"]["ci95"] is None or both["gain"]["ci95"][0] == min(
        one["gain"]["ci95"][0] for one in alone
    )
    assert gain(silent, told) == both


def test_pairs_and_sight_gain_do_not_contradict_each_other(folder: Path, situs: Situs) -> None:
    """A model alone with its blind runs has no pairs, which Holm would correct for their number.

    Seeds of one model are enough for a sight gain; without blind runs they are nothing to compare.
    """
    blind = shutil.copytree(folder / "r1", folder / "blind", dirs_exist_ok=True)
    seeds = [folder / name for name in ("r1", "r2", "r3")]
    result = situs("compare", *seeds, "--blind", blind, "--json").json
    assert result["pairs"] == result["standings"] == result["tied_groups"] == []
    (gain,) = result["sight"]
    assert gain["name"] == "random?seed=1 (3 seeds)"
    text = situs("compare", folder / "r1", "--blind", blind).out
    assert "Sight gain" in text
    assert "Holm" not in text
    assert "told apart" not in text


def test_of_two_blind_runs_the_better_one_counts(folder: Path, situs: Situs) -> None:
    """One gets what the model gets, so that it gains nothing; the other gets nothing right."""
    same, worse = (
        shutil.copytree(folder / "r1", folder / name, dirs_exist_ok=True)
        for name in ("silent", "text")
    )
    rows = [json.loads(line) for line in (worse / "answers.jsonl").read_text().splitlines()]
    empty = "".join(json.dumps(row | {"response": "Something else."}) + "\n" for row in rows)
    (worse / "answers.jsonl").write_text(empty)
    for order in ((same, worse), (worse, same)):
        blind = [word for path in order for word in ("--blind", path)]
        (gain,) = situs("compare", folder / "r1", *blind, "--json").json["sight"]
        assert gain["gain"]["difference"] == 0.0
        assert gain["gain"]["ci95"] is None or gain["gain"]["ci95"][0] <= 0.0
