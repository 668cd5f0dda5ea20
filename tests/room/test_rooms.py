"""Rooms as data, scripted readers, traces, playback, and what is proved of a server."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import scripted
from scripted import Seen

import wire
from situs.base.files import canonical_json
from situs.bench import open_bench
from situs.errors import SitusError
from situs.items.answer_words import answer_words
from situs.room import load_room, shipped_rooms
from situs.room.files import with_tools
from situs.room.playback import room_of
from situs.room.runner import _keep_room

NAMES = {"free", "frugal", "axial-only", "callipers", "workstation"}


def test_the_shipped_rooms_load_and_are_listed(situs) -> None:
    assert set(shipped_rooms()) == NAMES
    listed = situs("list", "rooms", "--json").json
    assert set(listed["rooms"]) == NAMES
    assert set(listed["readers"]) == {"driller", "random-looker", "peeker"}
    assert load_room("frugal").budget.looks == 8
    assert [p.value for p in load_room("axial-only").planes] == ["axial"]
    assert len({load_room(name).hash for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ('actions = ["look"]', "answer"),
        ('actions = ["fly", "answer"]', "fly"),
        ("size_px = 100000", "size_px"),
        ('planes = ["axial", "axial"]', "planes"),
        ("looks = 3", "looks"),
        ('tools = "scissors"', "tools"),
        ("answer = {frame_base = 0}", "counted from 1"),
    ],
)
def test_a_bad_room_is_refused_in_one_line(situs, bench, tmp_path, change: str, word: str) -> None:
    path = tmp_path / "mine.toml"
    window = "[windows.any.usual]\nlow_percentile = 1.0\nhigh_percentile = 99.0\n"
    path.write_text(f'name = "mine"\n{change}\n{window}')
    ran = situs("run", bench, "--model", "peeker", "--room", path, "--out", tmp_path / "run")
    assert ran.code == 2
    assert word in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_options_that_contradict_are_refused(situs, bench, tmp_path) -> None:
    base = ("run", bench, "--model", "peeker", "--out", tmp_path / "run")
    for more in (("--tools", "callipers"), ("--room", "free", "--profile", "default")):
        ran = situs(*base, *more)
        assert ran.code == 2
    assert "did you mean frugal" in situs(*base, "--room", "frugl").err


def test_scripted_readers_do_what_they_are_called(
    situs, bench, tmp_path, own_cache, monkeypatch
) -> None:
    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    seen = {}
    for model in ("peeker", "driller?looks=5&answers=oracle", "oracle"):
        out = tmp_path / model.partition("?")[0]
        ran = situs("run", bench, "--model", model, "--room", "free", "--limit", 3, "--out", out, "--json")  # fmt: skip
        assert ran.code == 0, ran.err
        scores = situs("score", bench, out, "--stratum", "all", "--json").json
        seen[out.name] = ran.json["looks"], scores
    assert seen["peeker"][0] == 3
    assert seen["driller"][0] == 15
    assert seen["oracle"][0] == 0
    assert seen["oracle"][1]["evidence"]["right_unseen"]["value"] == 1.0
    cells = seen["driller"][1]["evidence"]
    assert cells["right_seen"]["value"] + cells["right_unseen"]["value"] == pytest.approx(1.0)


def test_traces_hold_only_what_was_right_and_seen(situs, play, tmp_path) -> None:
    ids: list[str] = []

    def mixed(seen: Seen) -> scripted.Act:
        """The first item is read, the second is known without looking,
        the third is read and wrong."""
        place = [i.item_id for i in seen.known.items.values()].index(seen.item.item_id)
        ids.append(seen.item.item_id)
        act = scripted.looker(seen)
        if place == 1:
            return seen.answer()
        return seen.answer(right=False) if place == 2 and act.get("action") == "answer" else act

    played = play(mixed, limit=3)
    ran = situs("export", played.out, "--to", "traces", "--out", tmp_path / "traces", "--json")
    assert ran.code == 0, ran.err
    lines = (tmp_path / "traces" / "traces.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    items = list(played.known.items.values())
    assert [row["id"] for row in rows] == [items[0].item_id]
    assert ran.json["left_out"] == {"right without having seen the evidence": 1, "not right": 1}
    assert all((tmp_path / "traces" / name).is_file() for name in rows[0]["images"])
    assert json.loads(rows[0]["messages"][-1]["content"][0]["text"])["action"] == "answer"


def test_a_session_is_played_back_for_people(situs, play, tmp_path) -> None:
    played = play(scripted.looker, limit=1)
    (item,) = played.known.items.values()
    for name in ("session.html", "session.png", "folder"):
        ran = situs("show", played.out, "--item", item.item_id, "--out", tmp_path / name)
        assert ran.code == 0, ran.err
        assert "right, saw all of the evidence" in ran.out
    page = (tmp_path / "session.html").read_text()
    assert item.question in page
    assert page.count("<img ") == len(played.known.slices(item))
    assert "all of the evidence seen" in page
    assert "http" not in page.replace("http-equiv", "")
    assert f"right answer: <strong>{answer_words(item)}</strong>" in page
    assert "saw all" in (tmp_path / "folder" / "session.txt").read_text()
    assert situs("show", played.out, "--out", tmp_path / "x.html").code == 2


def native(number: int, body: dict) -> wire.Behaviour:
    """A server that calls tools where it is given some."""
    words = wire.words_of(body)
    plane = "axial" if "plane axial" in words else "coronal"
    look = {"plane": plane, "slice": int(words.partition("slice ")[2].split(".")[0])}
    if "tools" not in body:
        return wire.raw(json.dumps(wire.completion(json.dumps(look | {"action": "look"}))).encode())
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": json.dumps(look)}}  # fmt: skip
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return wire.raw(json.dumps(wire.completion("", message=message)).encode())


def never(number: int, body: dict) -> wire.Behaviour:
    """A server that accepts tools and calls none."""
    return native(number, {k: v for k, v in body.items() if k != "tools"})


@pytest.mark.parametrize(("behave", "proved"), [(native, True), (never, False)])
def test_native_calls_are_used_only_where_they_were_proved(
    situs, tmp_path, own_cache, monkeypatch, behave, proved
) -> None:
    from situs.clients import make_client, parse_spec
    from situs.clients.turns import is_proved

    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with wire.Server(behave) as server:
        found = situs("adapter-check", server.spec, "--room", "--json")
        assert found.code == 0, found.err
        assert found.json["schema"] == found.json["trials"]
        assert found.json["proved"] is proved
        assert is_proved(make_client(parse_spec(server.spec))) is proved


def test_a_room_without_a_window_says_so(bench, tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[windows.pet.usual]\nlow = 0.0\nhigh = 1.0\n')
    with pytest.raises(SitusError, match="no window for"):
        scripted.Known(bench, str(path), None, 1)


def test_frames_without_millimetres_are_read_too(situs, tmp_path, own_cache, monkeypatch) -> None:
    """Boxes on stored frames: one plane, no lengths,
    and the frame of a question is its evidence."""
    import frame_make
    from situs.room.journal import Opened, Outcome, read_turns

    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    cohort = frame_make.make_cohort(0, 2)
    files, lists = cohort.write(tmp_path / "csv")
    images = frame_make.write_images(cohort, tmp_path / "images")
    bench, out = tmp_path / "bench", tmp_path / "run"
    built = situs("build", "boxes", *files, "--lists", *lists, "--images", images, "--out", bench)
    assert built.code == 0, built.err
    model = "driller?looks=14&answers=oracle"
    ran = situs("run", bench, "--model", model, "--room", "callipers", "--limit", 4, "--out", out)
    assert ran.code == 0, ran.err
    rows = list(read_turns(out / "turns.jsonl"))
    assert {r.look.plane for r in rows if isinstance(r, Outcome) and r.look} == {"frame"}
    kinds = {t.kind for r in rows if isinstance(r, Opened) for t in r.targets}
    assert kinds <= {"slice", "boxes"}
    scores = situs("score", bench, out, "--stratum", "all", "--json").json
    # Every frame was shown, so whatever is known to decide an item was seen.
    assert scores["evidence"]["saw_all"]["value"] == 1.0
    _what_waits_for_a_judge_is_in_no_cell(situs, bench, tmp_path)


def _what_waits_for_a_judge_is_in_no_cell(situs, bench, tmp_path) -> None:
    """A clairvoyant's captions are neither right nor wrong before somebody has judged them."""
    out = tmp_path / "clairvoyant"
    ran = situs("run", bench, "--model", "oracle", "--room", "free", "--limit", 40, "--out", out)
    assert ran.code == 0, ran.err
    items = [item for item, _ in zip(open_bench(bench).items(), range(40))]
    captions = [item.item_id for item in items if item.form == "text"]
    assert 0 < len(captions) < 40
    scores = situs("score", bench, out, "--stratum", "all", "--json").json
    assert scores["evidence"]["right_unseen"]["value"] == 1.0
    assert scores["evidence"]["right_unseen"]["n"] == 40 - len(captions)
    assert scores["room"]["unjudged"] == len(captions)
    assert scores["looks"]["curve"][-1]["accuracy"] == 1.0
    page = tmp_path / "caption.html"
    shown = situs("show", out, "--item", captions[0], "--out", page, "--allow-pixels")
    assert shown.code == 0, shown.err
    words = page.read_text("utf-8")
    assert "did not see all of the evidence" in words
    assert "wrong, did not see" not in words


def test_a_stored_room_has_its_windows_in_the_order_they_were_told(tmp_path: Path) -> None:
    """The first is open at the start: sorted by name, a CT would be played back in bone."""
    room = load_room("frugal")
    names = list(room.windows["ct"])
    assert names != sorted(names)
    for number, kept in enumerate(
        (room, with_tools(room, "callipers"), msgspec.structs.replace(room, name="mine"))
    ):
        run = tmp_path / str(number)
        run.mkdir()
        _keep_room(run, kept)
        assert list(room_of(run).windows["ct"]) == names
        _keep_room(run, kept)  # a run that is resumed
        with pytest.raises(SitusError, match="another room"):
            _keep_room(run, msgspec.structs.replace(kept, strip=3))
    # Runs of earlier versions have them sorted.
    (tmp_path / "0" / "room.json").write_bytes(canonical_json(room))
    assert list(room_of(tmp_path / "0").windows["ct"]) == names
