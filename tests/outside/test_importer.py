"""A newcomer's importer: one file outside the package, through every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from situs.bench import open_bench
from situs.items import Choice, YesNo

OFFERS = {"situs.importers": {"quizbank": "situs_quizbank:QuizBank"}}
GUIDE = Path(__file__).parent.parent.parent / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def bank(outside, tmp_path_factory):
    """The package with the importer, and a file for it."""
    package = outside("quizbank")
    chapter = GUIDE.read_text("utf-8").partition("## Adding an importer")[2]
    code = chapter.partition("```python\n")[2].partition("```")[0]
    package.install("situs_quizbank", OFFERS, code)
    folder = tmp_path_factory.mktemp("bank")
    lines = ["case,patient,question,answer"]
    for n in range(24):
        lines.append(f"case{n},doe{n // 2},Is the liver enlarged?,{'yes' if n % 3 else 'no'}")
        lines.append(f"case{n},doe{n // 2},On which side is the mass?,{('left', 'right')[n % 2]}")
    (folder / "bank.csv").write_text("\n".join(lines))
    return package, folder


def test_it_imports_checks_runs_and_scores(bank, tmp_path) -> None:
    package, folder = bank
    out = tmp_path / "bench"
    built = package.json("import", "quizbank", folder / "bank.csv", "--out", out)
    assert (built["studies"], built["items"]) == (24, 48)
    bench = open_bench(out)
    items = list(bench.items())
    assert bench.info.source == "quizbank"
    assert {type(item.answer) for item in items} == {YesNo, Choice}
    # Two cases of a patient are in one split, and no name of case or patient is in the bench.
    assert len({item.patient_id for item in items}) == 12
    splits = {(item.patient_id, item.split) for item in items}
    assert len(splits) == 12
    assert not any(name in (out / "bench.json").read_text() for name in ("doe", "case1"))
    assert package.json("check", out)["problems"] == []
    package.situs(
        "run", out, "--model", "oracle", "--profile", "sgmri-frames", "--out", tmp_path / "run"
    )
    scores = package.json("score", out, tmp_path / "run")
    assert scores["headline"]["value"] == 1.0
    assert scores["headline"]["n"] == 48


def test_bad_rows_are_refused_or_left_out(bank, tmp_path) -> None:
    package, folder = bank
    bad = tmp_path / "bad.csv"
    bad.write_text(
        (folder / "bank.csv").read_text()
        + "\ncase30,doe30,Is it?,perhaps\ncase31,doe31,Is it?,maybe"
    )
    said = package.refused("import", "quizbank", bad, "--out", tmp_path / "bench")
    assert "bad.csv:50: answer 'perhaps' (and 1 more entries)" in said
    assert "--skip-bad" in said
    assert not (tmp_path / "bench").exists()
    built = package.json("import", "quizbank", bad, "--skip-bad", "--out", tmp_path / "bench")
    assert (built["items"], len(built["problems"])) == (48, 2)


def test_it_is_listed_and_misspellings_are_named(bank) -> None:
    package, folder = bank
    assert "quizbank" in package.situs("import", "--help")
    assert "quizbank" in package.refused("import", "quizbnak", folder / "bank.csv", "--out", "x")


def test_it_needs_no_package(bank, tmp_path) -> None:
    package, folder = bank
    code = f"""
import situs, situs_quizbank, pathlib
importer = situs_quizbank.QuizBank([pathlib.Path({str(folder / "bank.csv")!r})])
bench = situs.import_.with_importer(importer, {str(tmp_path / "bench")!r})
print(len(list(bench.items())))
"""
    ran = package.python("-c", code)
    assert ran.stdout.split() == ["48"], ran.stderr


def test_what_is_no_importer_is_refused(outside, tmp_path) -> None:
    package = outside("no_importer")
    package.install("odd", {"situs.importers": {"odd": "odd:value"}}, "value = 3\n")
    said = package.refused("import", "odd", tmp_path / "x.csv", "--out", tmp_path / "bench")
    assert "is not an importer" in said
    assert "situs.build.Importer" in said
