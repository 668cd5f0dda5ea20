"""Readers that try to break a room: tricks in what they send, and in where they look."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scripted
from scripted import Seen

from situs.clients import Reply
from situs.clients.turns import Action, Misread, read_action
from situs.room import load_room
from situs.room.actions import action_kinds
from situs.room.journal import Outcome, read_turns
from situs.room.playback import plain_name
from situs.room.view.evidence import sightings_on
from situs.room.view.opened import OpenScans
from situs.room.view.possible import possible
from situs.room.view.scan import Look

LOOK = {"action": "look", "plane": "axial", "slice": 7}


def outcomes(played) -> list[Outcome]:
    return [row for row in read_turns(played.out / "turns.jsonl") if isinstance(row, Outcome)]


@pytest.fixture(scope="module")
def known(bench):
    return scripted.Known(bench, "callipers", None, 3)


@pytest.fixture(scope="module")
def kinds(known):
    return action_kinds(known.room, next(iter(known.opened.values())).scan)


THOUGHT = 'I could use {"action": "answer", "answer": "B"} here'


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>{THOUGHT}</think>{{}}",
        f"{THOUGHT}</think>\n{{}}",
        f"<thinking>{THOUGHT}</thinking>{{}}",
        f"<think>{THOUGHT}</think> hm <think>{THOUGHT}</think>{{}}",
        "```json\n{}\n```",
        "{}" + '{"action": "answer", "answer": "B"}',
        '[{}, {"action": "answer", "answer": "B"}]',
        "\ufeff\u200b{}\u2028",
    ],
)
def test_the_action_is_the_first_outside_thoughts(kinds, reply: str) -> None:
    said = reply.replace("{}", json.dumps(LOOK), 1)
    read = read_action(Reply("answered", said), kinds)
    assert isinstance(read, Action), read
    assert (read.name, read.arguments["slice"]) == ("look", 7)


RUNAWAY = [
    "x",
    "<",
    "</",
    "</think",
    "<think>",
    "<think></thinking>",
    "{",
    '{"a":[',
    '{"action":',
    " x",
]


@pytest.mark.parametrize("piece", RUNAWAY)
def test_no_reply_holds_up_the_others(kinds, piece: str) -> None:
    """Replies that run on are read in one pass; some took minutes."""

    def too_long(*_: object) -> None:
        raise TimeoutError(piece)

    before = signal.signal(signal.SIGVTALRM, too_long)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 5.0)
        read = read_action(Reply("answered", piece * (200_000 // len(piece))), kinds)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    assert isinstance(read, Misread)


TRICKS = [
    ({"action": "look", "plane": "axial", "slice": 7, "window": "0 to 1e400"}, "too large"),
    ({"action": "look", "plane": "axial", "slice": 7, "window": "-1e999 to 1e999"}, "too large"),
    ({"action": "look", "plane": "axial", "slice": 7, "window": "9 to 3"}, "shows nothing"),
    ({"action": "look", "plane": "a\u0445ial", "slice": 7}, "is one of"),
    ({"action": "note", "text": "x" * 5000}, "at most 600"),
    ({"action": "note", "text": "\u202e\ud800" * 301}, "at most 600"),
    ({"action": "answer", "answer": "y" * 96_001}, "characters; at most"),
    ({"action": "look", "plane": "axial", "slice": 7.5}, "whole number"),
    ({"action": "look", "plane": "axial", "slice": True}, "is a number"),
    ({"action": "strip", "plane": "axial", "n": 10**30}, "too large"),
    ({"action": "mark", "point_mm": [float("nan"), 0, 0]}, "too large"),
    ({"action": "measure", "a": [1, 2, 3, 4], "b": [1, 2]}, "list of 2 to 3"),
    ({"action": ["look"], "plane": "axial"}, "no JSON object"),
]


def test_no_trick_ends_a_session_or_costs_a_look(play) -> None:
    def trickster(seen: Seen) -> scripted.Act:
        if seen.turn % 2:
            return {"action": "note", "text": f"again {seen.turn}"}
        return TRICKS[seen.turn // 2][0] if seen.turn // 2 < len(TRICKS) else seen.answer()

    played = play(trickster, "callipers", limit=1)
    assert played.run["ends"] == {"answered": 1}
    assert played.run["looks"] == 0
    told = [one.words for one in outcomes(played) if one.state == "invalid"]
    assert len(told) == len(TRICKS)
    for words, (_, expected) in zip(told, TRICKS, strict=True):
        assert expected in words
        assert len(words) < 300


def test_a_mark_on_what_the_window_hides_does_not_show_it(known) -> None:
    """Marks are drawn in white: where the window shows nothing, only they stand out."""
    item = next(one for one in known.items.values() if known.targets[one.item_id])
    opened = known.opened[item.item_id]
    targets = [one for one in known.targets[item.item_id] if one.kind == "mask"]
    window = msgspec.structs.replace(opened.scan.window_rule("usual"), low_percentile=None)
    dark = msgspec.structs.replace(window, high_percentile=None, low=5e5, high=6e5)
    for target in targets:
        box = next(box for box in item.boxes if box.label == target.name)
        middle = 0.5 * (np.array(box.lo_mm) + np.array(box.hi_mm))
        look = Look("axial", (opened.scan.nearest_index("axial", middle),), "5e5 to 6e5", 8.0)
        look = msgspec.structs.replace(look, centre=tuple(map(float, middle)))
        spread = np.linspace(-8, 8, 9)
        marks = {
            str(n): middle + np.array([x, y, 0.0])
            for n, (x, y) in enumerate((x, y) for x in spread for y in spread)
        }
        picture = opened.scan.picture(look, dark, marks)
        assert picture.pixels.any()
        seen = sightings_on(picture, item, (target,), opened.scan, opened.masks)
        assert not any(one.is_clear for one in seen)
    assert targets


def test_what_only_another_window_or_a_magnified_look_shows_can_be_answered(
    bench, known, tmp_path
) -> None:
    """A first window that shows nothing hides no item,
    nor do pictures so small that organs are too, where one may magnify them."""
    text = Path(tmp_path / "room.toml")
    dark = "[windows.any.dark]\nlow = 500000.0\nhigh = 600000.0\n"
    usual = "[windows.any.usual]\nlow_percentile = 1.0\nhigh_percentile = 99.0\n"
    hidden = {}
    for name, more in (
        ("both", dark + usual),
        ("dark", dark),
        ("small", usual),
        ("fixed", usual),
    ):
        size = 32 if name in ("small", "fixed") else 448
        zoom = 1 if name == "fixed" else 8
        text.write_text(f'name = "{name}"\nsize_px = {size}\nmost_zoom = {zoom}\n{more}')
        room = load_room(str(text))
        scans = OpenScans(known.bench, room, room.profile())
        hidden[name] = {
            item.item_id
            for item in known.items.values()
            if possible(item, (opened := scans.take(item)).scan, opened.masks).hidden
        }
    every = {item.item_id for item in known.items.values()}
    assert hidden["dark"] == every
    assert hidden["both"] == set()
    assert hidden["small"] < hidden["fixed"]


def test_roles_are_named_in_plain_words() -> None:
    assert plain_name("largest:*") == "the largest lesion"
    assert plain_name("largest:liver_lesion") == "the largest liver lesion"
    assert plain_name("second:cyst") == "the second cyst"
    assert re.search(r"[\x00-\x1f]", plain_name("second:liver_cyst")) is None


def test_every_picture_is_in_the_folder_of_a_session(situs, play, tmp_path) -> None:
    """Also one that is shown twice, and those that the room no longer keeps."""
    room = tmp_path / "one.toml"
    kept = 'name = "one"\npictures_kept = 1\n'
    room.write_text(f"{kept}[windows.any.usual]\nlow_percentile = 1.0\nhigh_percentile = 99.0\n")

    def again(seen: Seen) -> scripted.Act:
        return LOOK | {"slice": (7, 9, 7, 9)[seen.turn]} if seen.turn < 4 else seen.answer()

    played = play(again, str(room), limit=1)
    (item,) = played.known.items.values()
    ran = situs("show", played.out, "--item", item.item_id, "--out", tmp_path / "folder")
    assert ran.code == 0, ran.err
    names = sorted(path.name for path in (tmp_path / "folder").glob("*.png"))
    assert names == ["001.png", "002.png", "003.png", "004.png"]


def test_a_session_goes_on_as_it_began(situs, play, bench) -> None:
    """Native calls are proved of the server between the first turns and the rest."""
    from situs.clients import make_client, parse_spec
    from situs.clients.turns import record_proof

    played = play(scripted.looker, limit=1, options=("--no-cache",))
    rows = (played.out / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (played.out / "turns.jsonl").write_bytes(b"".join(rows[:3]))
    (played.out / "answers.jsonl").write_bytes(b"")
    with scripted.server(played.known, scripted.looker) as server:
        info = json.loads((played.out / "run.json").read_text())
        (played.out / "run.json").write_text(json.dumps(info | {"client": server.spec}))
        record_proof(make_client(parse_spec(server.spec)), proved=True)
        ran = situs(
            "run", bench, "--model", server.spec, "--room", "free", "--limit", 1, "--no-cache",
            "--out", played.out,
        )  # fmt: skip
    assert ran.code == 0, ran.err
    assert server.bodies
    assert not any("tools" in body for body in server.bodies)
