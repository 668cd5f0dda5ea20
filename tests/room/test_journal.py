"""Journals replay to the same bytes, nothing finished is lost, and storage changes no outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scripted
from scripted import Seen

from situs.bench import open_bench
from situs.clients import Image
from situs.probe import stored_otherwise
from situs.room import load_room
from situs.room.journal import Outcome, ReplyRow, read_turns
from situs.room.playback import Replayer
from situs.room.view.opened import OpenScans
from situs.room.view.scan import Look, Scan

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


def test_a_changed_scan_does_not_replay(play) -> None:
    from situs.errors import SitusError

    played = play(reader, limit=1)
    path = played.out / "turns.jsonl"
    lines = path.read_text().splitlines()
    changed = [line.replace('"digest":"', '"digest":"0') for line in lines]
    path.write_text("\n".join(changed) + "\n")
    with pytest.raises(SitusError, match="another picture"):
        list(Replayer(played.out).sessions())


def cut_at(out: Path, lines: int, torn: bool) -> tuple[int, int]:
    """What a kill leaves: the first rows of the journal, maybe a torn one, and the answers they led to."""
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


@pytest.mark.sweep(one_in=20)
def test_kill_9_loses_only_turns_in_flight(bench, tmp_path, monkeypatch) -> None:
    """The program itself, killed at some moment; what the server was asked twice was in flight."""
    import wire

    known = scripted.Known(bench, "free", None, 6)

    def slow(number: int, body: dict) -> wire.Behaviour:
        seen = Seen(known, body)
        text = json.dumps(reader(seen))

        async def behave(request, body):
            import asyncio

            await asyncio.sleep(0.03)
            return wire.web.json_response(wire.completion(text))

        return behave

    env = dict(os.environ, SITUS_CACHE=str(tmp_path / "cache"))
    with wire.Server(slow) as server:
        command = [
            sys.executable, "-m", "situs", "run", str(bench), "--model", server.spec, "--room", "free",
            "--limit", "6", "--no-cache", "--concurrency", "2", "--out", str(tmp_path / "run"),
        ]  # fmt: skip
        for _ in range(40):
            process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
            before = len(server.bodies)
            while len(server.bodies) < before + 3 and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            if process.wait() == 0:
                break
        assert subprocess.run(command, env=env).returncode == 0
    rows = list(read_turns(tmp_path / "run" / "turns.jsonl"))
    turns = {(r.item_id, r.turn) for r in rows if isinstance(r, ReplyRow)}
    assert len(turns) == sum(isinstance(r, ReplyRow) for r in rows) == 6 * 5


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
    import msgspec

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
