"""Journals replay to the same bytes, nothing finished is lost, and storage changes no outcome."""

from __future__ import annotations

import itertools
import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scripted
from scripted import Seen

from situs.bench import open_bench
from situs.clients import Image
from situs.errors import SitusError
from situs.probe import stored_otherwise
from situs.room import load_room
from situs.room.journal import Outcome, ReplyRow, read_turns
from situs.room.looked import looked_in
from situs.room.playback import Replayer, plain_name
from situs.room.view.opened import OpenScans
from situs.room.view.scan import Look, Scan
from situs.run import AppendFile
from situs.run.merge import write_turns

LOOK = {"action": "look", "plane": "axial", "slice": 12}
LOOKS = [
    Look("axial", (20,), "usual"),
    Look("coronal", (11,), "usual"),
    Look("sagittal", (30,), "usual"),
    Look("axial", (5, 9, 14, 22), "usual", strip=True),
]


def reader(seen: Seen) -> scripted.Act:
    acts = [
        {"action": "look", "plane": "axial", "slice": 12},
        {"action": "window", "low": 0, "high": 400},
        {"action": "look", "plane": "coronal", "slice": 9, "zoom": 2, "centre": [60, 70]},
        {"action": "strip", "plane": "sagittal", "n": 5},
    ]
    return acts[seen.turn] if seen.turn < len(acts) else seen.answer()


def test_a_session_replays_to_the_same_bytes(play) -> None:
    played = play(reader, limit=2)
    sent: set[str] = set()
    for body in played.server.bodies:
        for message in body["messages"]:
            if isinstance(message["content"], list):
                sent |= {
                    p["image_url"]["url"] for p in message["content"] if p["type"] == "image_url"
                }
    again = set()
    for session in Replayer(played.out).sessions():
        assert session.rows.end == "answered"
        import base64

        for message in session.messages:
            for part in message.parts:
                if isinstance(part, Image):
                    data = base64.b64encode(part.data).decode()
                    again.add(f"data:{part.media_type};base64,{data}")
    assert again == sent
    # Two questions on one scan: the same three looks show the same three pictures.
    assert len(sent) == 3


@pytest.mark.parametrize("stored", ["as declared", "by the alphabet"])
def test_a_session_is_played_back_in_the_window_it_began_with(play, tmp_path, stored) -> None:
    """The first window of a room is the one that is not named;
    earlier versions stored windows by the alphabet."""
    room = tmp_path / "mine.toml"
    room.write_text(
        'name = "mine"\n'
        "[windows.any.wide]\nlow_percentile = 0.0\nhigh_percentile = 100.0\n"
        "[windows.any.bright]\nlow_percentile = 40.0\nhigh_percentile = 60.0\n"
    )
    played = play(lambda seen: LOOK if seen.turn == 0 else seen.answer(), str(room), limit=1)
    path = played.out / "room.json"
    assert list(json.loads(path.read_text())["windows"]["any"]) == ["wide", "bright"]
    if stored == "by the alphabet":
        path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    (session,) = Replayer(played.out).sessions()
    assert session.pictures[1].look.window == "wide"


def test_a_changed_scan_does_not_replay(play) -> None:
    played = play(reader, limit=1)
    path = played.out / "turns.jsonl"
    lines = path.read_text().splitlines()
    changed = [line.replace('"digest":"', '"digest":"0') for line in lines]
    path.write_text("\n".join(changed) + "\n")
    with pytest.raises(SitusError, match="a different picture"):
        list(Replayer(played.out).sessions())


def test_a_picture_that_no_reply_asked_for_is_refused(play) -> None:
    """Somebody's journal may tell of more than its replies did."""
    played = play(reader, limit=1)
    journal = played.out / "turns.jsonl"
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    last = max((row for row in rows if row.get("picture")), key=lambda row: row["picture"])
    last["picture"] += 40
    journal.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SitusError, match="no reply asked for"):
        list(Replayer(played.out).sessions())


def test_the_name_of_a_target_is_for_people() -> None:
    assert plain_name("largest:lung_nodule") == "the largest lung nodule"
    assert plain_name("second:*lesion") == "the second *lesion"


@pytest.mark.parametrize("line", [b"{}", b"{", b"[1]", b"[" * 100_000, b'{"item_id": "\xff"}'])
def test_damaged_turns_of_a_part_are_named(tmp_path, line) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "turns.jsonl").write_bytes(b'{"item_id": "i1"}\n' + line + b"\n")
    with pytest.raises(SitusError, match=r"turns\.jsonl:2"):
        write_turns(tmp_path / "turns.jsonl", [tmp_path / "part"], {})


@pytest.mark.parametrize("zoom", [0, -1, 1e-320, 1e308, -1e308])
def test_an_odd_magnification_is_no_traceback(play, tmp_path, zoom) -> None:
    """A magnified look shows the part of its slice that its magnification leaves."""
    played = play(reader, limit=1)
    lines = (played.out / "turns.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    looks = [row["look"] for row in rows if row.get("look")]
    assert looks
    for look in looks:
        look["zoom"] = zoom
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if zoom < 1:
        with pytest.raises(SitusError, match=r"turns\.jsonl:\d+: .*zoom"):
            looked_in(tmp_path)
    else:
        assert [one.volume_share for one in looked_in(tmp_path).values()] == [0]


def cut_at(out: Path, lines: int, torn: bool) -> tuple[int, int]:
    """What a kill leaves: the first rows of the journal,
    maybe a torn one, and the answers they led to."""
    path = out / "turns.jsonl"
    rows = path.read_bytes().splitlines(keepends=True)
    kept = b"".join(rows[:lines])
    path.write_bytes(kept + (rows[lines][: len(rows[lines]) // 2] if torn else b""))
    ended = {row.item_id for row in read_turns(path) if isinstance(row, Outcome) and row.end}
    answers = out / "answers.jsonl"
    whole = answers.read_bytes().splitlines(keepends=True)
    left = [line for line in whole if json.loads(line)["item_id"] in ended]
    answers.write_bytes(b"".join(left))
    replies = sum(isinstance(row, ReplyRow) for row in read_turns(path))
    return replies, len(left)


def test_nothing_finished_is_asked_again_wherever_it_was_killed(
    situs, play, bench, little_of, tmp_path
) -> None:
    played = play(reader, limit=3, options=("--no-cache", "--concurrency", 1))
    whole = (played.out / "turns.jsonl").read_bytes()
    answers = (played.out / "answers.jsonl").read_bytes()
    replies = [r for r in read_turns(played.out / "turns.jsonl") if isinstance(r, ReplyRow)]
    said = {row["item_id"]: row["response"] for row in map(json.loads, answers.splitlines())}
    total = len(whole.splitlines())
    for moment in little_of(range(1, total), 3):
        (played.out / "turns.jsonl").write_bytes(whole)
        (played.out / "answers.jsonl").write_bytes(answers)
        kept, _ = cut_at(played.out, moment, torn=bool(moment % 2))
        with scripted.server(played.known, reader) as server:
            path = played.out / "run.json"
            info = json.loads(path.read_text())
            info["client"] = server.spec
            path.write_text(json.dumps(info))
            ran = situs(
                "run", bench, "--model", server.spec, "--room", "free", "--limit", 3,
                "--no-cache", "--concurrency", 1, "--out", played.out, "--json",
            )  # fmt: skip
        assert ran.code == 0, ran.err
        asked = [b for b in server.bodies if "response_format" in b]
        assert len(asked) == len(replies) - kept
        after = map(json.loads, (played.out / "answers.jsonl").read_text().splitlines())
        assert {row["item_id"]: row["response"] for row in after} == said


MOMENTS = 40
"""At which a run is killed, spread over all of its writes;
every other one in the middle of a line."""
WRITES = 3 * (1 + 5 + 5 + 1)
"""Of three items: a session begins, five replies, what came of each, and the answer."""


def killed_at(number: int, torn: bool, run: Callable[[], object]) -> None:
    """Run in a process of its own that kill -9 ends at its write of this number (from 0)."""
    pid = os.fork()
    if pid == 0:
        # Whatever happens, nothing of the tests may go on here.
        try:
            signal.alarm(300)
            add, count = AppendFile.add, itertools.count()

            def add_or_die(self: AppendFile, row: object) -> None:
                if next(count) == number:
                    if torn:
                        line = msgspec.json.encode(row)
                        os.write(self._stream.fileno(), line[: len(line) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                add(self, row)

            AppendFile.add = add_or_die  # type: ignore[method-assign]
            run()
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL


def test_kill_9_loses_only_turns_in_flight(situs, bench, little_of, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    known, at_once = scripted.Known(bench, "free", None, 3), 2
    right = {item.item_id: known.right(item) for item in known.items.values()}
    for moment in little_of(range(MOMENTS), 3):
        out = tmp_path / f"killed{moment}"
        with scripted.server(known, reader) as server:
            command = (
                "run", bench, "--model", server.spec, "--room", "free", "--limit", 3,
                "--no-cache", "--concurrency", at_once, "--out", out,
            )  # fmt: skip
            killed_at(moment * WRITES // MOMENTS, bool(moment % 2), partial(situs, *command))
            # Once, the same words are sent without pictures and schema; that is no turn.
            asked = sum("response_format" in body for body in server.bodies)
            stored = [row for row in read_turns(out / "turns.jsonl") if isinstance(row, ReplyRow)]
            answers = (out / "answers.jsonl").read_bytes()
            assert 0 <= asked - len(stored) <= at_once
            ran = situs(*command)
            assert ran.code == 0, ran.err
            again = sum("response_format" in body for body in server.bodies) - asked
        rows = [row for row in read_turns(out / "turns.jsonl") if isinstance(row, ReplyRow)]
        assert again == 3 * 5 - len(stored)
        assert rows[: len(stored)] == stored
        assert len({(row.item_id, row.turn) for row in rows}) == len(rows) == 3 * 5
        finished = answers[: answers.rfind(b"\n") + 1]
        after = (out / "answers.jsonl").read_bytes()
        assert after.startswith(finished)
        responses = [json.loads(line) for line in after.splitlines()]
        assert {row["item_id"]: row["response"] for row in responses} == right


@pytest.fixture(scope="module")
def opened(bench):
    """The first series of the bench in a room with every action."""
    room = load_room("callipers")
    scans = OpenScans(open_bench(bench), room, room.profile())
    return scans.take(next(open_bench(bench).items()))


def test_the_order_of_stored_axes_changes_no_picture(opened) -> None:
    other = stored_otherwise(opened.patient)
    scan = opened.scan
    again = Scan(other.series, scan.room, scan.profile, other.image)
    middle = tuple(float(v) for v in opened.ledger.main_region("liver").centroid_mm)
    for look in [*LOOKS, Look("axial", (30,), "usual", 3.0, middle)]:
        one = scan.picture(look, scan.window_rule("usual"), {"A": np.array(middle)})
        two = again.picture(look, again.window_rule("usual"), {"A": np.array(middle)})
        assert one.image.digest == two.image.digest
        for x, y in ((10, 10), (60, 80)):
            assert one.point_at(x, y) == pytest.approx(two.point_at(x, y))


def test_millimetres_agree_with_the_ledger_within_half_a_pixel(opened) -> None:
    """The length of a structure, measured by its ends on a picture, beside the ledger's own."""
    scan, ledger = opened.scan, opened.ledger
    for name in ("liver", "spleen", "kidney_left"):
        box = ledger.main_region(name).box_mm
        low, high = np.array(box.lo_mm), np.array(box.hi_mm)
        middle = 0.5 * (low + high)
        index = scan.nearest_index("coronal", tuple(middle))
        picture = scan.picture(Look("coronal", (index,), "usual"), scan.window_rule("usual"), {})
        ends = []
        for z in (low[2], high[2]):
            x, y, _ = picture.tiles[0].from_source(np.array([[middle[0], middle[1], z]]))[0]
            ends.append(picture.point_at(round(float(x)), round(float(y))))
        measured = float(np.linalg.norm(ends[0] - ends[1]))
        truth = float(ledger.fact("extent.superior_inferior", name).value)
        # Each end was rounded to a whole pixel, so each is off by half a pixel at most along z.
        assert abs(measured - truth) <= picture.mm_per_pixel * 1.0 + 1e-6
        half = 0.5 * picture.mm_per_pixel
        assert all(abs(end[2] - z) <= half + 1e-6 for end, z in zip(ends, (low[2], high[2])))


def test_both_conventions_name_the_same_points(opened) -> None:
    scan = opened.scan
    profile = scan.profile
    turned = msgspec.structs.replace(
        profile, view=msgspec.structs.replace(profile.view, display="neurological")
    )
    other = Scan(opened.series, scan.room, turned, scan.image)
    look = Look("axial", (20,), "usual")
    one = scan.picture(look, scan.window_rule("usual"), {})
    two = other.picture(look, scan.window_rule("usual"), {})
    width = one.pixels.shape[1]
    assert np.array_equal(one.pixels, two.pixels[:, ::-1])
    assert one.point_at(12, 30) == pytest.approx(two.point_at(width - 1 - 12, 30))
