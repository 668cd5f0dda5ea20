"""Law 6 for every form of answer:
said in a profile's coordinates and read back, the truth is right under each."""

from __future__ import annotations

from pathlib import Path

import pytest

from forms import write_bench
from situs.bench import Bench, open_bench
from situs.profiles import load_profile, shipped_profiles
from situs.run import AnswerRow, Viewing, make_baseline, parse_spec
from situs.score import Replies, Scored, ScoredRun, score_answer, score_table


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Two patients with every form of answer."""
    return write_bench(tmp_path_factory.mktemp("made") / "bench", 2)


def judged(bench: Bench, spec: str, profile: str | None) -> list[tuple[str, Scored]]:
    chosen = None if profile is None else load_profile(profile)
    baseline, viewing = make_baseline(bench, parse_spec(spec), chosen), Viewing(bench, chosen)
    return [
        (said, score_answer(item, AnswerRow(item.item_id, response=said), None, shown=viewing))
        for item in bench.items()
        if item.form != "text"
        for said in [baseline.answer(item) or ""]
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("profile", [None, *shipped_profiles()])
@pytest.mark.parametrize("seed", range(2))
def test_the_oracle_is_right_under_every_shipped_profile(
    made: Bench, profile: str | None, seed: int
) -> None:
    rows = judged(made, f"oracle?seed={seed}", profile)
    wrong = [
        (row.task, said, row.outcome.parsed) for said, row in rows if row.outcome.right is False
    ]
    assert wrong == []
    hidden = [row.outcome.parsed for _, row in rows if row.outcome.right is None]
    assert all("no picture shows it" in text or "needs millimetres" in text for text in hidden)
    assert len(hidden) < len(rows)
    assert not any(flag.endswith("_inferred") for _, row in rows for flag in row.outcome.flags)


def test_all_scores_of_the_oracle_are_one(made: Bench) -> None:
    rows = judged(made, "oracle", "sgmri-frames")
    for _, row in rows:
        assert {name for name, value in row.values.items() if value < 0.98} == set(), row
        assert row.answer_right is not False
        assert row.place_right is not False
        assert all(truth == told for _, truth, told in row.grades)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", ["random", "majority", "minority", "prior", "prior?boxes=5", "grid"]
)
@pytest.mark.parametrize("profile", [None, "sgmri-gemini", "3dreasonknee-qwen"])
def test_blind_rows_say_something_readable_for_every_form(
    made: Bench, name: str, profile: str | None
) -> None:
    rows = judged(made, name, profile)
    unread = [
        (row.task, said[:80], row.outcome.parsed)
        for said, row in rows
        if row.outcome.state == "unparsed"
    ]
    assert unread == []


def test_a_size_that_is_not_known_needs_pixels(tmp_path: Path) -> None:
    """Annotations without images: pixels can be spoken of, shares of the picture cannot."""
    bench = write_bench(tmp_path / "bench", 2, size_known=False)
    for _, row in judged(bench, "oracle", "sgmri-frames"):
        assert row.outcome.right
    gone = [row for _, row in judged(bench, "oracle", "default") if row.task == "slice box"]
    assert [row.outcome.state for row in gone] == ["not answerable"] * 2


def test_a_prior_does_not_know_the_patient(tmp_path: Path) -> None:
    """Another truth of this patient does not change what is guessed for it."""
    first = write_bench(tmp_path / "one", 6)
    items = {item.item_id: item for item in first.items()}
    own = [item for item in items.values() if item.patient_id == "p003"]
    moved = tmp_path / "two"
    write_bench(moved, 6, moved="p003")
    second = open_bench(moved)
    assert [item.answer for item in second.items() if item.patient_id == "p003"] != [
        item.answer for item in own
    ]
    for name in ("majority", "prior", "prior?boxes=5", "grid", "random"):
        baselines = [make_baseline(bench, parse_spec(name)) for bench in (first, second)]
        said = [[baseline.answer(item) for item in own] for baseline in baselines]
        assert said[0] == said[1], name


def test_the_table_has_every_row_and_metric(made: Bench) -> None:
    baseline = make_baseline(made, parse_spec("oracle"))
    rows = {
        item.item_id: AnswerRow(item.item_id, response=baseline.answer(item) or "")
        for item in made.items()
    }
    scores = score_table(ScoredRun.of(Replies(made, rows)))
    assert set(scores.baselines) == {"random", "majority", "minority", "prior", "grid"}
    found = {entry.metric: entry.value for entry in scores.overall}
    for metric in (
        "box.f1-at-0.5@1",
        "box.tube-iou@1",
        "frames.f1@1",
        "choices.f1@1",
        "grade.exact@1",
        "grounded.accuracy",
    ):
        assert found[metric] == pytest.approx(1.0, abs=0.01)
    blind = {entry.metric for entry in scores.baselines["grid"].overall}
    assert {"box.f1-at-0.5@1", "box.mean-iou@1", "grade.quadratic-kappa@1"} <= blind
    assert set(scores.by_subscore) == {"size", "number", "percent"}
