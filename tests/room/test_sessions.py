"""Readers whose behaviour is known get the cells,
looks and states that follow from what they do."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import scripted
from scripted import Seen

from situs.room.journal import Outcome, read_turns


def outcomes(played) -> list[Outcome]:
    return [row for row in read_turns(played.out / "turns.jsonl") if isinstance(row, Outcome)]


def test_whoever_looks_at_the_evidence_is_right_and_saw_all(play) -> None:
    played = play(scripted.looker, limit=8)
    assert played.cells() == {
        "right_seen": 1.0,
        "right_unseen": 0.0,
        "wrong_seen": 0.0,
        "wrong_unseen": 0.0,
    }
    looks = played.scores["looks"]
    wanted = [len(played.known.slices(item)) for item in played.known.items.values()]
    assert looks["mean"] == pytest.approx(sum(wanted) / len(wanted))
    assert played.run["looks"] == sum(wanted)
    assert played.run["turns"] == sum(wanted) + len(wanted)
    assert played.run["ends"] == {"answered": 8}
    assert 0 < looks["to_decision"] <= looks["mean"]
    assert looks["to_decision"] + looks["wasted"] == pytest.approx(looks["mean"])
    # A look costs 100 tokens in every later prompt; every prompt has 50 more and every reply 3.
    tokens = sum(sum(53 + 100 * k for k in range(n + 1)) for n in wanted)
    assert looks["tokens_per_right"] == pytest.approx(tokens / 8)
    assert looks["cost_per_right"] == 0.0


def test_a_clairvoyant_is_right_and_saw_nothing(play) -> None:
    played = play(scripted.clairvoyant)
    assert played.cells()["right_unseen"] == 1.0
    assert played.scores["evidence"]["saw_all"]["value"] == 0.0
    looks = played.scores["looks"]
    assert (looks["mean"], looks["to_decision"], looks["volume_share"]) == (0.0, None, 0.0)
    assert [p["accuracy"] for p in looks["curve"]] == [1.0]


def test_one_look_is_no_evidence_and_its_answer_is_scored_as_it_is(play) -> None:
    def peeker(seen: Seen) -> scripted.Act:
        if seen.turn == 0:
            return {"action": "look", "plane": "axial", "slice": 35}
        return seen.answer(right=False)

    played = play(peeker)
    assert played.cells()["wrong_unseen"] == 1.0
    scan = next(iter(played.known.opened.values())).scan
    assert played.scores["looks"]["volume_share"] == pytest.approx(1 / scan.count("axial"))


def test_a_scanner_is_asked_to_answer_when_its_looks_are_used_up(play) -> None:
    def scanner(seen: Seen) -> scripted.Act:
        if seen.must_answer:
            return seen.answer()
        return {"action": "look", "plane": "coronal", "slice": seen.turn + 1}

    played = play(scanner, "frugal", limit=3)
    assert played.run["looks"] == 3 * 8
    assert played.run["turns"] == 3 * (8 + 1 + 1)
    assert played.run["ends"] == {"answered": 3}
    assert played.scores["looks"]["asked_to_answer"] == {"looks": 3}


def test_looking_longer_never_lowers_a_score(play) -> None:
    """The same reader, who goes on looking after it has seen enough."""

    def thorough(seen: Seen) -> scripted.Act:
        slices = seen.known.slices(seen.item)
        if seen.turn < len(slices) + 4 and seen.turn >= len(slices):
            return {"action": "look", "plane": "sagittal", "slice": 5 + seen.turn}
        return scripted.looker(seen) if seen.turn < len(slices) else seen.answer()

    short, long = play(scripted.looker, limit=4), play(thorough, limit=4)
    assert long.run["looks"] == short.run["looks"] + 4 * 4
    assert long.cells() == short.cells()
    accuracies = [p["accuracy"] for p in long.scores["looks"]["curve"]]
    assert accuracies == sorted(accuracies)
    assert long.scores["looks"]["wasted"] == short.scores["looks"]["wasted"] + 4


def test_what_a_window_or_a_zoom_hides_is_not_seen(play) -> None:
    """The right slices, all of them: shown black, or only their corner, which is air."""

    def in_the_dark(seen: Seen) -> scripted.Act:
        if seen.turn == 0:
            return {"action": "window", "low": 500_000, "high": 600_000}
        slices = seen.known.slices(seen.item)
        if seen.turn <= len(slices):
            return {"action": "look", "plane": "axial", "slice": slices[seen.turn - 1]}
        return seen.answer()

    def at_the_corner(seen: Seen) -> scripted.Act:
        slices = [1, *seen.known.slices(seen.item)]
        if seen.turn < len(slices):
            zoom = {"zoom": 8, "centre": [1, 1, 1]} if seen.turn else {}
            return {"action": "look", "plane": "axial", "slice": slices[seen.turn], **zoom}
        return seen.answer()

    for reader in (in_the_dark, at_the_corner):
        played = play(reader, limit=4)
        assert played.cells()["right_unseen"] == 1.0
        assert played.run["ends"] == {"answered": 4}
        assert played.scores["looks"]["to_decision"] is None


def test_one_slice_of_what_needs_two_is_not_enough(play) -> None:
    """The same slice again and again shows no more than once."""

    def stubborn(seen: Seen) -> scripted.Act:
        if seen.turn < 4:
            same = {"action": "look", "plane": "axial", "slice": seen.known.slices(seen.item)[0]}
            return same | {"zoom": 1 + seen.turn / 100}
        return seen.answer(right=False)

    played = play(stubborn, limit=4)
    assert played.cells()["wrong_unseen"] == 1.0
    assert played.scores["looks"]["mean"] == 4.0
    scan = next(iter(played.known.opened.values())).scan
    assert played.scores["looks"]["volume_share"] == pytest.approx(1 / scan.count("axial"))


def test_whoever_repeats_an_action_for_ever_makes_no_progress(play) -> None:
    played = play(lambda seen: {"action": "look", "plane": "axial", "slice": 3}, limit=2)
    assert played.run["ends"] == {"no_progress": 2}
    assert played.run["states"] == {"answered": 2}
    # Three looks that are alike, then two chances to answer.
    assert played.run["turns"] == 2 * 5
    states = next(e for e in played.scores["overall"] if e["metric"] == "accuracy")["states"]
    assert states == {"unparsed": 2}


BAD = [
    ('{"action": "look", "plane": "axial"', "no JSON object"),
    ('{"action": "teleport"}', "unknown action"),
    ('{"action": "look", "plane": "axial", "slice": 4, "width_px": 1000000}', "has no 'width_px'"),
    ('{"action": "strip", "plane": "axial", "n": 1000000}', "at most"),
    ('{"action": "look", "plane": "axial", "slice": 100000}', "at most"),
    ('{"action": "look", "plane": "axial", "at_mm": 88888}', "outside the scan"),
    ('{"action": "look", "plane": "axial", "slice": 3, "zoom": 1000}', "at most"),
    ('{"action": "look", "plane": "axial", "slice": 3, "window": "x-ray"}', "no window"),
    ('{"action": "measure", "a": [1, 5, 5], "b": [1, 9, 9]}', "no picture"),
    ('{"action": "measure", "a_mm": [0, 0, 1e7], "b_mm": [0, 0, 0]}', "outside the scan"),
    ('{"action": "mark", "point": [4, 4]}', "no picture"),
    ('{"action": "window", "low": 5, "high": 5}', "shows nothing"),
    ('{"action": "segmentation", "structure": "liver"}', "unknown action"),
]


def test_every_mistake_is_told_and_none_ends_a_session(play) -> None:
    def clumsy(seen: Seen) -> scripted.Act:
        # A sound action between two mistakes: three in a row would be too many.
        if seen.turn % 2:
            return {"action": "note", "text": f"again {seen.turn}"}
        return BAD[seen.turn // 2][0] if seen.turn // 2 < len(BAD) else seen.answer()

    played = play(clumsy, "callipers", limit=1)
    assert played.run["ends"] == {"answered": 1}
    told = [one.words for one in outcomes(played) if one.state == "invalid"]
    assert len(told) == len(BAD)
    for words, (_, expected) in zip(told, BAD, strict=True):
        assert expected in words
    assert played.run["looks"] == 0


def test_windows_may_have_any_values(play) -> None:
    windows = [(1e-05, 0.00025), (0.0, 1e6), (123456.75, 123457.5)]

    def windowed(seen: Seen) -> scripted.Act:
        if seen.turn >= 2 * len(windows):
            return seen.answer()
        low, high = windows[seen.turn // 2]
        if seen.turn % 2:
            return {"action": "look", "plane": "axial", "slice": seen.turn}
        return {"action": "window", "low": low, "high": high}

    shown = [one.look for one in outcomes(play(windowed, limit=1)) if one.look is not None]
    assert [tuple(map(float, look.window.split(" to "))) for look in shown] == windows


def test_a_model_that_never_gives_an_action_is_invalid(play) -> None:
    played = play(lambda seen: '{"action": "look", "plane": ', limit=2)
    assert played.run["ends"] == {"invalid": 2}
    assert played.run["turns"] == 2 * 5
    states = Counter(one.state for one in outcomes(played))
    assert states == {"invalid": 10}


def test_plain_words_are_an_answer_only_when_nothing_else_is_left(play) -> None:
    played = play(lambda seen: f"I would say {seen.known.wrong(seen.item)}", limit=2)
    assert played.run["ends"] == {"answered": 2}
    assert played.run["turns"] == 2 * 4
    assert played.cells()["wrong_unseen"] == 1.0


def test_nothing_on_the_wire_names_answer_label_patient_or_path(play, bench, small) -> None:
    def curious(seen: Seen) -> scripted.Act:
        acts = [
            {"action": "look", "plane": "axial", "slice": 20},
            {"action": "strip", "plane": "coronal", "n": 4},
            {"action": "mark", "point": [30, 40]},
            {"action": "measure", "a": [1, 20, 20], "b": [1, 90, 20]},
        ]
        return acts[seen.turn] if seen.turn < len(acts) else {"action": "answer", "answer": "none"}

    played = play(curious, "callipers", limit=4)
    secrets = {str(bench), str(small), str(played.out), ".nii", "locations", "sighting", "target"}
    labels: set[str] = set()
    for item in played.known.items.values():
        secrets |= {item.item_id, item.study_id, item.patient_id, *item.fact_ids}
        secrets |= {item.twin_group or "twin_group", *item.tags, *item.needs}
    for study in played.known.bench.studies():
        for series in study.series:
            secrets |= {series.image_hash, series.labels_hash}
            labels |= {name for name in series.structures if "_" in name}
    assert len(secrets) > 30
    assert len(labels) > 10
    for raw in played.server.seen:
        text = raw.decode("latin-1")
        assert [s for s in secrets | labels if s and s in text] == []
    for body in played.server.bodies:
        words = json.dumps([m for m in body["messages"] if m["role"] == "user"][1:])
        item = Seen(played.known, body).item
        assert f'"{played.known.right(item)}"' not in words
        # Once, the same words are sent without pictures and schema, to see whether pictures are
        # counted.
        sent = {"model", "messages", "temperature", "max_tokens"}
        assert set(body) - {"response_format"} == sent
