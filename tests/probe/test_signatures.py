"""Planted slips are found as what they are, and random errors as nothing more than chance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.stats import binom

from forms import FRAMES, write_bench
from situs.bench import Bench, open_bench
from situs.items import Choice, Frames, Item, Number, YesNo, letter_of
from situs.probe.diagnosis.evidence import ALL_ITEMS
from situs.probe.diagnosis.measured import prior_evidence
from situs.profiles import Profile
from situs.run import NATIVE, AnswerRow, Prior, Spec, Viewing, make_baseline
from situs.score import Replies, ScoredRun, score_answer
from situs.score.explain import Answered, Budget, Cause, budget_of, upper_tail
from situs.score.explain.closed import exchanged
from situs.score.explain.numbers import chance_in, holds, windows_of
from situs.space import Axis, FrameBox

Say = Callable[[Item], str | None]
"""What a planted reader says; None where it is honest."""


def _budget(
    bench: Bench, say: Say, *, state: str = "answered", profile: Profile | None = None
) -> Budget:
    oracle = make_baseline(bench, Spec("oracle"), profile)
    rows = {}
    for item in bench.items():
        said = say(item)
        if said is not None:
            rows[item.item_id] = AnswerRow(item.item_id, state, said)
        else:
            rows[item.item_id] = AnswerRow(item.item_id, response=oracle.answer(item) or "")
    return budget_of(ScoredRun.of(Replies(bench, rows, profile=profile)))


def _found(budget: Budget) -> set[str]:
    return {row.cause for row in budget.rows if row.beyond_chance}


def _fits(budget: Budget, cause: str) -> int:
    return next(row.fits for row in budget.rows if row.cause == cause)


def _first(budget: Budget) -> dict[str, int]:
    return {row.cause: row.first for row in budget.rows if row.first}


@pytest.fixture(scope="module")
def phantoms(cohort: Path) -> Bench:
    return open_bench(cohort)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return write_bench(tmp_path_factory.mktemp("forms") / "bench", patients=14)


def _opposite(axis: Axis) -> Say:
    def say(item: Item) -> str | None:
        if isinstance(item.answer, Choice):
            other = exchanged(item.answer.value, axis)
            offered = [option.value for option in item.options]
            return letter_of(item, other) if other in offered else None
        if item.form == "yes_no" and f"axis:{axis}" in item.tags:
            return "no" if item.answer.value else "yes"
        return None

    return say


@pytest.mark.parametrize(
    ("axis", "cause"),
    [(Axis.LEFT_RIGHT, Cause.MIRRORED), (Axis.ANTERIOR_POSTERIOR, Cause.FRONT_BACK)],
)
def test_a_reader_who_exchanges_an_axis(phantoms: Bench, axis: Axis, cause: Cause) -> None:
    budget = _budget(phantoms, _opposite(axis))
    assert _found(budget) == {cause}
    assert _first(budget).get(cause, 0) >= 0.8 * budget.wrong


def test_an_honest_reader_has_no_budget(phantoms: Bench) -> None:
    budget = _budget(phantoms, lambda item: None)
    assert budget.wrong == 0
    assert not budget.answers
    assert not _found(budget)


def _scaled(factor: Callable[[Item], float]) -> Say:
    def say(item: Item) -> str | None:
        if not isinstance(item.answer, Number) or item.answer.unit not in ("mm", "mL"):
            return None
        return f"{item.answer.value * factor(item):.6g} {item.answer.unit}"

    return say


def test_centimetres_said_as_millimetres(phantoms: Bench) -> None:
    say = _scaled(lambda item: 0.1 if item.answer.unit == "mm" else 1.0)
    budget = _budget(phantoms, say)
    assert "unit_slip" in _found(budget)
    assert _first(budget) == {"unit_slip": budget.wrong}


def test_litres_said_as_millilitres(phantoms: Bench) -> None:
    budget = _budget(phantoms, _scaled(lambda item: 0.001 if item.answer.unit == "mL" else 1.0))
    assert _first(budget) == {"unit_slip": budget.wrong}


def test_voxels_said_as_millimetres(phantoms: Bench) -> None:
    """The phantoms have voxels of 5 mm, and of 125 mm³."""
    budget = _budget(phantoms, _scaled(lambda item: 1 / 5 if item.answer.unit == "mm" else 1 / 125))
    assert "voxel_as_mm" in _found(budget)
    assert _first(budget).get("voxel_as_mm", 0) >= 0.9 * budget.wrong
    assert "unit_slip" not in _found(budget)


def test_a_bare_number_that_is_wrong(phantoms: Bench) -> None:
    def say(item: Item) -> str | None:
        return (
            f"{item.answer.value * 1.9:.6g}"
            if isinstance(item.answer, Number) and item.answer.unit
            else None
        )

    budget = _budget(phantoms, say)
    row = next(row for row in budget.rows if row.cause == "unit_missing")
    assert row.fits == budget.wrong > 0
    assert row.expected is None


@pytest.mark.parametrize(
    ("said", "state", "cause"),
    [
        ("hmm, maybe", "answered", "unparsed"),
        ("I'm sorry, I cannot answer that.", "answered", "refused"),
        ("", "refused", "refused"),
        ("", "failed", "failed"),
    ],
)
def test_answers_that_are_none(forms: Bench, said: str, state: str, cause: str) -> None:
    budget = _budget(forms, lambda item: said if item.form == "yes_no" else None, state=state)
    assert _first(budget) == {cause: budget.wrong}
    assert budget.wrong == 14


def test_a_missing_answer(forms: Bench) -> None:
    items = [item for item in forms.items() if item.form == "yes_no"]
    replies = Replies(forms, {"other": AnswerRow("other")}, chosen=lambda: items)
    assert _first(budget_of(ScoredRun.of(replies))) == {"missing": 14}


def test_the_level_beside_the_right_one(forms: Bench) -> None:
    """T12 and L2 have L1 between them: saying L1 is next to both, saying L4 is not.

    It is one opinion on one question, however many patients are asked, so it proves no slip.
    """
    near = _budget(forms, lambda item: letter_of(item, "L1") if item.task == "level" else None)
    far = _budget(forms, lambda item: letter_of(item, "L4") if item.task == "level" else None)
    assert _first(near) == {"neighbour": 14}
    assert not _found(near)
    assert "neighbour" not in _first(far)


def test_always_the_prior(phantoms: Bench) -> None:
    prior = make_baseline(phantoms, Spec("prior"))
    budget = _budget(phantoms, prior.answer)
    assert "prior" in _found(budget)


Change = Callable[[FrameBox, tuple[float, float]], FrameBox]


def _boxes(bench: Bench, change: Change, *tasks: str) -> Say:
    """Says the true boxes, changed."""
    shown = Viewing(bench)

    def say(item: Item) -> str | None:
        if item.task not in tasks:
            return None
        sizes = shown.sizes(item)
        boxes = [change(box, sizes[box.frame]) for box in shown.boxes(item, item.answer.boxes)]
        base = shown.space.frame_base
        return "\n".join(
            f"{b.label}, Frame {b.frame + base}: [{b.x0:.2f}, {b.y0:.2f}, {b.x1:.2f}, {b.y1:.2f}]"
            for b in boxes
        )

    return say


_PLANTED_BOXES: dict[str, Change] = {
    "mirrored": lambda b, s: FrameBox(b.frame, s[0] - b.x1, b.y0, s[0] - b.x0, b.y1, b.label),
    "up_down": lambda b, s: FrameBox(b.frame, b.x0, s[1] - b.y1, b.x1, s[1] - b.y0, b.label),
    "box_order": lambda b, s: FrameBox(b.frame, b.y0, b.x0, b.y1, b.x1, b.label),
}


@pytest.mark.parametrize("cause", sorted(_PLANTED_BOXES))
def test_slips_of_boxes(forms: Bench, cause: str) -> None:
    budget = _budget(forms, _boxes(forms, _PLANTED_BOXES[cause], "slice box", "tube"))
    assert cause in _found(budget)
    assert _fits(budget, cause) == budget.wrong > 10


def test_pixels_where_thousandths_are_asked_for(forms: Bench) -> None:
    """All numbers are under 320 and may be meant either way: only the truth tells."""
    answer = msgspec.structs.replace(NATIVE.answer, box_scale="thousand")
    profile = msgspec.structs.replace(NATIVE, answer=answer)
    budget = _budget(forms, _boxes(forms, lambda b, s: b, "slice box", "tube"), profile=profile)
    assert "box_scale" in _found(budget)
    assert _first(budget) == {"box_scale": budget.wrong}


def test_boxes_one_frame_late(forms: Bench) -> None:
    late: Change = lambda b, s: FrameBox(b.frame + 1, b.x0, b.y0, b.x1, b.y1, b.label)  # noqa: E731
    budget = _budget(forms, _boxes(forms, late, "two tubes"))
    assert _first(budget) == {"off_by_one": 14}
    assert "off_by_one" in _found(budget)


def _frames(change: Callable[[int, int], int], task: str) -> Say:
    def say(item: Item) -> str | None:
        if item.task != task or not isinstance(item.answer, Frames):
            return None
        base = NATIVE.answer.frame_base
        return "frames " + ", ".join(
            str(f + base) for f in sorted(change(f, FRAMES) for f in item.answer.frames)
        )

    return say


def test_slices_counted_from_the_other_end(forms: Bench) -> None:
    budget = _budget(forms, _frames(lambda f, n: n - 1 - f, "range"))
    assert _fits(budget, "up_down") == budget.wrong > 5


def test_frames_one_too_late(forms: Bench) -> None:
    budget = _budget(forms, _frames(lambda f, n: f + 1, "set"))
    assert _fits(budget, "off_by_one") == budget.wrong == 14
    assert "off_by_one" in _found(budget)


@pytest.mark.sweep
def test_random_errors_are_no_signature(phantoms: Bench, little_of: Callable[..., Any]) -> None:
    """Thirty readers with random errors, some ten causes each:
    after Holm at most one in twenty shows any."""
    flagged, readers = (
        0,
        little_of([(seed, share) for seed in range(10) for share in (0.2, 0.5, 1.0)], 2),
    )
    for seed, share in readers:
        client, rng = (
            make_baseline(phantoms, Spec("random", settings={"seed": str(seed)})),
            Random(seed),
        )
        flagged += bool(_found(_budget(phantoms, _now_and_then(client.answer, share, rng))))
    assert flagged <= binom.ppf(0.999, len(readers), 0.05)


def _now_and_then(say: Say, share: float, rng: Random) -> Say:
    return lambda item: say(item) if rng.random() < share else None


def test_a_good_reader_with_random_errors_shows_nothing(phantoms: Bench) -> None:
    client = make_baseline(phantoms, Spec("random"))
    budget = _budget(phantoms, _now_and_then(client.answer, 0.3, Random(4)))
    assert not _found(budget)
    shown = [row for row in budget.rows if row.expected is not None and row.could > 30]
    assert shown
    for row in shown:
        assert row.p is not None
        assert row.expected is not None
        # Counts of independent slips: within four of their standard errors (Poisson).
        assert row.fits - row.expected < 4 * max(row.expected, 1.0) ** 0.5, (
            "no more than chance expects"
        )


@pytest.mark.sweep
def test_first_causes_add_up_and_the_rarest_stands_first(phantoms: Bench) -> None:
    client = make_baseline(phantoms, Spec("random"))
    budget = _budget(phantoms, client.answer)
    assert sum(row.first for row in budget.rows) == budget.wrong == len(budget.answers)
    for answer in budget.answers:
        chances = [one.chance for one in answer.causes if one.chance is not None]
        assert chances == sorted(chances)


@pytest.mark.parametrize(
    ("value", "axis", "other"),
    [
        ("kidney_left", Axis.LEFT_RIGHT, "kidney_right"),
        ("spleen>kidney_right", Axis.LEFT_RIGHT, "spleen>kidney_left"),
        ("heart_atrium_left", Axis.LEFT_RIGHT, None),
        ("upper", Axis.SUPERIOR_INFERIOR, "lower"),
        ("posterior", Axis.ANTERIOR_POSTERIOR, "anterior"),
        ("image_left", Axis.LEFT_RIGHT, "image_right"),
        ("inferior_vena_cava", Axis.SUPERIOR_INFERIOR, None),
        ("spleen", Axis.LEFT_RIGHT, None),
    ],
)
def test_exchanged_names(value: str, axis: Axis, other: str | None) -> None:
    assert exchanged(value, axis) == other


def test_a_window_is_the_interval_moved() -> None:
    windows = windows_of(Number(50.0, "mm", (45.0, 55.0)), [2.0], [], None)
    for said, slip, voxel in (
        (500, True, False),
        (4.6, True, False),
        (25, False, True),
        (440, False, False),
    ):
        assert holds(windows[Cause.UNIT_SLIP], said) is slip
        assert holds(windows[Cause.VOXEL_AS_MM], said) is voxel


def test_an_imprecise_reader_fills_window_and_surroundings_alike() -> None:
    """Log-uniform numbers: the expected count is the share of the decade that the window covers."""
    rng = Random(1)
    truth = Number(50.0, "mm", (45.0, 55.0))
    windows = windows_of(truth, [], [], None)[Cause.UNIT_SLIP]
    cases = [(truth, windows, 10 ** rng.uniform(-0.5, 3.9)) for _ in range(4000)]
    seen = sum(holds(windows, said) for _, _, said in cases)
    assert sum(chance_in(cases)) == pytest.approx(seen, abs=4 * seen**0.5)


def test_tail_of_equal_chances_is_binomial() -> None:
    for seen in (0, 3, 10):
        assert upper_tail(np.full(20, 0.3), seen) == pytest.approx(
            binom.sf(seen - 1, 20, 0.3), abs=1e-12
        )
    # Of many, the normal approximation.
    for seen in (1140, 1200, 1240):
        assert upper_tail(np.full(4000, 0.3), seen) == pytest.approx(
            binom.sf(seen - 1, 4000, 0.3), abs=2e-3
        )


@pytest.mark.sweep
def test_a_fixed_opinion_on_each_text_is_not_the_prior(
    phantoms: Bench, little_of: Callable[..., Any]
) -> None:
    """However many patients a text is asked of:
    at a level of 2.5 %, no more than chance gives in 999 of 1,000."""
    shown = Viewing(phantoms)
    prior = Prior(phantoms, Spec("prior"), shown)
    found = 0
    salts = little_of(range(40), 5)
    for salt in salts:
        answers = {}
        for item in phantoms.items():
            if isinstance(item.answer, Choice | YesNo):
                draw = Random(f"{salt}|{item.question}").random()
                said = "yes" if draw < 0.5 else "no"
                if item.options:
                    said = letter_of(
                        item, sorted(o.value for o in item.options)[int(draw * len(item.options))]
                    )
                row = AnswerRow(item.item_id, response=said)
                answers[item.item_id] = Answered(
                    item, row, score_answer(item, row, None, shown=shown)
                )
        found += prior_evidence(answers.values(), prior.left_open)[ALL_ITEMS].p < 0.025
    assert found <= binom.ppf(0.999, len(salts), 0.025)


def test_errors_around_the_truth_are_no_voxels() -> None:
    """A voxel of 0.8 mm makes lengths a quarter longer:
    whoever errs as far either way has no such slip."""
    rng = np.random.default_rng(4)
    truth = Number(100.0, "mm", (97.0, 103.0))
    windows = windows_of(truth, [0.8], [], None)[Cause.VOXEL_AS_MM]
    errs = [100.0 * 10**error for error in rng.normal(0.0, 0.08, 400)]
    wrong = [(truth, windows, said) for said in errs if not 97.0 <= said <= 103.0]
    fits = sum(holds(windows, said) for _, _, said in wrong)
    assert sum(chance_in(wrong)) == pytest.approx(fits, abs=4 * fits**0.5)
    slipped = [(truth, windows, said * 1.25) for said in rng.normal(100.0, 1.0, 100)]
    assert sum(chance_in(slipped)) < 0.1 * len(slipped)
