"""Probes through a room tell a reader that looks from one that knows the answers by heart."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import scripted

import wire
from situs.clients import Image
from situs.probe import derive, mirrored
from situs.profiles import prompt_text
from situs.room.view.opened import OpenScan
from situs.room.view.scan import Look, Scan

LIMIT = 8
SLICE = 35


class Table:
    """What is right of what is seen: a picture and the words of a question → the answer."""

    def __init__(self, known: scripted.Known) -> None:
        self.by_picture: dict[tuple[str, str], str] = {}
        self.by_heart: dict[str, str] = {}
        """The words alone → the answer of the bench as it is."""
        self.moved = 0
        """Answers that a mirror changes."""
        for item in known.items.values():
            opened = known.opened[item.item_id]
            words = prompt_text(item, known.profile, opened.scan.answer_layout, "ct")
            self.by_heart[words] = known.right(item)
            self.by_picture[_picture(opened.scan), words] = known.right(item)
            self._mirror(known, item, opened)

    def _mirror(self, known: scripted.Known, item: Any, opened: OpenScan) -> None:
        assert opened.patient is not None
        body = mirrored(opened.patient)
        scan = Scan(body.series, known.room, known.profile, body.image)
        (derived,) = derive([item], body.ledger(known.bench), "mirror")
        self.moved += derived.outcome == "changed"
        if derived.outcome != "undefined":
            words = prompt_text(derived.item, known.profile, scan.answer_layout, "ct")
            self.by_picture[_picture(scan), words] = known.right(derived.item)

    def words_in(self, text: str) -> str:
        """The question that a message asks."""
        asked = {words for _, words in self.by_picture if words in text}
        return max(asked, key=len)


def _picture(scan: Scan) -> str:
    window = next(iter(scan.windows))
    look = Look("axial", (SLICE - 1,), window)
    image: Image = scan.picture(look, scan.window_rule(window), {}).image
    return base64.b64encode(image.data).decode()


def looker(table: Table, body: dict[str, Any]) -> dict[str, Any]:
    """Looks once where it may, and knows only what it sees."""
    words = table.words_in(_first(body))
    contents = [m["content"] for m in body["messages"] if isinstance(m["content"], list)]
    urls = [part["image_url"]["url"] for c in contents for part in c if "image_url" in part]
    if not urls and "- look:" in _first(body):
        return {"action": "look", "plane": "axial", "slice": SLICE}
    shown = urls[0].partition("base64,")[2] if urls else ""
    said = table.by_picture.get((shown, words), "I cannot tell.")
    return {"action": "answer", "answer": said}


def by_heart(table: Table, body: dict[str, Any]) -> dict[str, Any]:
    """Looks as well, and says what it knows from the words whatever it sees."""
    act = looker(table, body)
    if act["action"] == "answer":
        act["answer"] = table.by_heart.get(table.words_in(_first(body)), "I cannot tell.")
    return act


def _first(body: dict[str, Any]) -> str:
    words: str = body["messages"][0]["content"]
    return words


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("reader", [looker, by_heart])
def test_who_looks_is_told_from_who_does_not(
    situs, bench, tmp_path, own_cache, monkeypatch, reader
) -> None:
    monkeypatch.setenv("SITUS_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    table = Table(scripted.Known(bench, "free", None, LIMIT))
    assert table.moved > 0

    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return wire.raw(json.dumps(wire.completion(json.dumps(reader(table, body)))).encode())

    with wire.Server(behave) as server:
        ran = situs(
            "probe", bench, "--model", server.spec, "--room", "free", "--limit", LIMIT,
            "--probes", "other-patient,mirror", "--stratum", "all", "--out", tmp_path / "probes",
            "--json",
        )  # fmt: skip
    assert ran.code == 0, ran.err
    gain, rows = ran.json["sight_gain"], ran.json["probes"]
    assert gain["model"] == 1.0
    sees = reader is looker
    # Whoever looks knows nothing where no look is allowed; the other knows as much.
    assert gain["value"] == gain["model"] - gain["text"] == (1.0 if sees else 0.0)
    assert rows["mirror"]["n_followed"] == table.moved
    assert rows["mirror"]["followed"] == (1.0 if sees else 0.0)
    assert rows["mirror"]["kept_old"] == (0.0 if sees else 1.0)
    assert rows["other-patient"]["same_answer"] == (0.0 if sees else 1.0)
    # A session on another patient's scan is played back on that scan.
    other = tmp_path / "probes" / "other-patient"
    (first, *_) = (other / "turns.jsonl").read_text().splitlines()
    shown = ("--item", json.loads(first)["item_id"], "--out", tmp_path / "other.html")
    played = situs("show", other, *shown)
    assert played.code == 0, played.err
