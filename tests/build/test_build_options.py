"""What the options of a build do: tasks, quotas, licences, and what is counted as not asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from situs.bench import open_bench
from situs.build import is_open_licence


def built(situs, data: Path, out: Path, *more: object):
    ran = situs("build", "masks", data, "--annotation", "exact", "--out", out, "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json, list(open_bench(out).items())


def test_only_the_named_tasks_are_asked(situs, small, tmp_path) -> None:
    told, items = built(situs, small / "data", tmp_path / "b", "--tasks", "volume,distance")
    assert {item.task for item in items} == set(told["by_task"]) == {"volume", "distance"}


def test_at_most_so_many_questions_a_study(situs, small, tmp_path) -> None:
    _, items = built(situs, small / "data", tmp_path / "b", "--per-study", 5)
    assert 0 < max(Counter(item.study_id for item in items).values()) <= 5


def test_what_was_built_is_what_is_told(situs, small, tmp_path) -> None:
    told, items = built(situs, small / "data", tmp_path / "b")
    info = open_bench(tmp_path / "b").info
    assert told["items"] == len(items) == info.counts["items"]
    assert told["by_task"] == dict(Counter(item.task for item in items)) == info.by_task
    assert told["by_stratum"] == dict(Counter(item.stratum for item in items)) == info.by_stratum
    assert told["not_asked"] == info.not_asked
    assert all(count > 0 for count in info.not_asked.values())
    front_matter, card = (tmp_path / "b" / "README.md").read_text().split("\n---\n", 1)
    assert front_matter.startswith("---\n")
    assert card.strip().startswith("# b\n")
    assert not [path for path in (tmp_path / "b").rglob("*") if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("licence", "restricted"),
    [("", True), ("my own", True), ("CC BY 4.0", False), ("cc0-1.0", False)],
)
def test_data_is_restricted_unless_its_licence_is_known(
    situs, small, tmp_path, licence, restricted
) -> None:
    one = small / "data" / "patient000"
    built(situs, one, tmp_path / "b", "--tasks", "volume", "--licence", licence)
    assert open_bench(tmp_path / "b").info.restricted is restricted
    assert is_open_licence(licence) is not restricted


def test_restricted_data_stays_so_whatever_its_licence(situs, small, tmp_path) -> None:
    words = ("--tasks", "volume", "--licence", "cc0-1.0", "--restricted")
    built(situs, small / "data" / "patient000", tmp_path / "b", *words)
    assert open_bench(tmp_path / "b").info.restricted


def test_every_item_stands_on_facts_of_its_study(bench) -> None:
    opened = open_bench(bench)
    studies = {fact.fact_id: fact.study_id for fact in opened.facts()}
    for item in opened.items():
        assert item.fact_ids
        assert {studies[fact_id] for fact_id in item.fact_ids} == {item.study_id}
        assert all(
            studies[fact_id] == item.study_id for step in item.steps for fact_id in step.fact_ids
        )


def test_an_unknown_task_is_refused_before_a_patient_is_made(
    situs, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*_: object) -> None:
        pytest.fail("a patient was made")

    monkeypatch.setattr("situs.volumes.phantoms.make_patient", make)
    words = ("build", "phantoms", "--studies", 1, "--tasks", "volum", "--out", tmp_path / "bench")
    ran = situs(*words)
    assert ran.code == 2
    assert "did you mean volume" in ran.err


@pytest.mark.usefixtures("coarse_phantoms")
def test_phantoms_are_nobodys_data(situs, tmp_path) -> None:
    words = ("build", "phantoms", "--studies", 1, "--tasks", "volume")
    assert situs(*words, "--out", tmp_path / "open").code == 0
    assert not open_bench(tmp_path / "open").info.restricted
    assert situs(*words, "--restricted", "--out", tmp_path / "kept").code == 0
    assert open_bench(tmp_path / "kept").info.restricted
