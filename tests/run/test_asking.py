"""`situs run` with a model: all items, one row each, nothing of the answer on the wire."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

import wire
from situs.bench import open_bench
from situs.profiles import Presenter, load_profile
from situs.run import read_hidden, read_journal


@pytest.fixture(scope="module")
def asked(situs, bench, tmp_path_factory):
    """A run of the phantom bench, with what the server saw. Do not change it."""
    out = tmp_path_factory.mktemp("asked")
    with pytest.MonkeyPatch.context() as patch, wire.Server() as server:
        patch.setenv("SITUS_CACHE", str(out / "cache"))
        patch.delenv("OPENAI_API_KEY", raising=False)
        ran = situs(
            "run", bench, "--model", server.spec, "--limit", 12, "--out", out / "run", "--json"
        )
    assert ran.code == 0, ran.err
    return ran, server, out / "run"


def test_every_item_is_asked_once_and_has_one_row(asked, bench) -> None:
    ran, server, out = asked
    items = [item.item_id for item, _ in zip(open_bench(bench).items(), range(12))]
    rows = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert sorted(row["item_id"] for row in rows) == sorted(items)
    assert {row["state"] for row in rows} == {"answered"}
    result = ran.json
    # One more than items: once, the same words are sent without pictures to see whether those are
    # counted.
    assert (result["items"], result["states"], result["requests"]) == (12, {"answered": 12}, 13)
    assert result["tokens"]["prompt"] == sum(
        row["usage"]["prompt_tokens"] for row in rows
    ) + result_probe(server)
    assert result["cost"] == 0.0


def result_probe(server: wire.Server) -> int:
    """The tokens of the question without pictures."""
    (probe,) = (body for body in server.bodies if not wire.pictures_in(body))
    return len(wire.words_of(probe).split())


def test_the_words_and_pictures_are_the_profiles(asked, bench) -> None:
    _, server, _ = asked
    presenter = Presenter(open_bench(bench), load_profile("default"))
    shown = [presenter.present(item) for item, _ in zip(open_bench(bench).items(), range(12))]
    said = sorted(wire.words_of(body) for body in server.bodies if wire.pictures_in(body))
    assert said == sorted(one.prompt for one in shown)
    assert {wire.pictures_in(body) for body in server.bodies} == {0, len(shown[0].images)}


def test_nothing_on_the_wire_names_the_answer(asked, bench, small) -> None:
    """Every byte the server saw, heads included,
    beside every id, hash, path and file name there is."""
    _, server, out = asked
    opened = open_bench(bench)
    secrets = {str(bench), str(small), str(out), "patient0", ".nii", "locations", "test_asking"}
    for item, _ in zip(opened.items(), range(12)):
        secrets |= {
            item.item_id,
            item.study_id,
            item.patient_id,
            *item.fact_ids,
            item.twin_group or "twin_group",
        }
    for study in opened.studies():
        secrets |= {series.image_hash for series in study.series} | {
            series.labels_hash for series in study.series
        }
    assert len(secrets) > 40
    for seen in server.seen:
        text = seen.decode("latin-1")
        assert [secret for secret in secrets if secret and secret in text] == []
    for body in server.bodies:
        assert set(body) == {"model", "messages", "temperature", "max_tokens"}
        assert all(set(message) == {"role", "content"} for message in body["messages"])
        for part in pictures(body):
            assert chunks(part) <= {b"IHDR", b"IDAT", b"PLTE", b"IEND"}
    heads = {
        line.partition(b":")[0].lower()
        for seen in server.seen
        for line in seen.partition(b"\n\n")[0].splitlines()[1:]
    }
    assert heads == {
        b"host",
        b"content-type",
        b"user-agent",
        b"accept",
        b"accept-encoding",
        b"content-length",
    }


def pictures(body: dict[str, Any]) -> list[bytes]:
    import base64

    parts = [
        part for m in body["messages"] if isinstance(m["content"], list) for part in m["content"]
    ]
    uris = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(uri.startswith("data:image/png;base64,") for uri in uris)
    return [base64.b64decode(uri.partition(",")[2]) for uri in uris]


def chunks(png: bytes) -> set[bytes]:
    """The kinds of chunk in a PNG: text would be one of its own."""
    found, place = set(), 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        found.add(png[place + 4 : place + 8])
        place += 12 + size
    return found


def test_hidden_items_are_written_down_and_asked_all_the_same(asked, bench) -> None:
    _, _, out = asked
    presenter = Presenter(open_bench(bench), load_profile("default"))
    expected = {
        i.item_id: presenter.hidden(i) for i, _ in zip(open_bench(bench).items(), range(12))
    }
    assert read_hidden(out / "hidden.jsonl") == {
        item: reasons for item, reasons in expected.items() if reasons
    }
    assert len(read_journal(out / "answers.jsonl")) == 12


def test_the_run_says_what_it_was(asked, bench) -> None:
    _, server, out = asked
    info = json.loads((out / "run.json").read_text())
    assert info["client"] == server.spec
    assert info["sampling"] == {
        "temperature": 0.0,
        "max_tokens": 1024,
        "top_p": None,
        "seed": None,
        "extra": {},
    }
    assert info["profile_hash"] == load_profile("default").hash
    assert info["bench_hash"] == open_bench(bench).info.content_hash
    assert {"situs", "aiohttp"} <= set(info["versions"])
    assert info["notes"] == []


def test_a_second_identical_run_is_free(asked, situs, bench, tmp_path, monkeypatch) -> None:
    _, server, out = asked
    monkeypatch.setenv("SITUS_CACHE", str(out.parent / "cache"))
    ran = situs(
        "run", bench, "--model", server.spec, "--limit", 12, "--out", tmp_path / "again", "--json"
    )
    assert (ran.code, ran.json["requests"], ran.json["cached"]) == (0, 0, 12)
    first, again = (read_journal(folder / "answers.jsonl") for folder in (out, tmp_path / "again"))
    assert {k: (r.state, r.response) for k, r in first.items()} == {
        k: (r.state, r.response) for k, r in again.items()
    }


def test_the_run_can_be_scored(asked, situs, bench) -> None:
    """What the server says names no option,
    so all of it is unparsed or not answerable, and nothing is lost."""
    ran = situs("score", bench, asked[2], "--json")
    assert ran.code == 0, ran.err
    (accuracy,) = (entry for entry in ran.json["overall"] if entry["metric"] == "accuracy")
    assert sum(accuracy["states"].values()) == 12
    assert not {"missing", "failed"} & set(accuracy["states"])


@pytest.mark.parametrize(
    "change",
    [
        ("--model", "openai:other@http://127.0.0.1:9/v1"),
        ("--model", "?temperature=1"),
        ("--profile", "three-views"),
    ],
    ids=["model", "settings", "profile"],
)
def test_another_model_or_profile_in_the_same_folder_is_refused(
    asked, situs, bench, change
) -> None:
    _, server, out = asked
    args = {"--model": server.spec, "--profile": "default"}
    args[change[0]] = server.spec + change[1] if change[1].startswith("?") else change[1]
    before = (out / "answers.jsonl").read_bytes(), (out / "run.json").read_bytes()
    ran = situs("run", bench, *(word for pair in args.items() for word in pair), "--out", out)
    assert ran.code == 2
    assert "another" in ran.err
    assert ((out / "answers.jsonl").read_bytes(), (out / "run.json").read_bytes()) == before


def test_failed_calls_are_asked_again_and_only_those(situs, words, tmp_path) -> None:
    def odd_ones_fail(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return (
            wire.status(400)
            if number < 20 and wire.number_in(wire.words_of(body)) % 2
            else wire.good
        )

    args = ("run", words(20), "--out", tmp_path / "run", "--concurrency", 1, "--json", "--model")
    with wire.Server(odd_ones_fail) as server:
        first = situs(*args, server.spec)
        assert first.json["states"] == {"answered": 10, "failed": 10}
        second = situs(*args, server.spec)
        assert (second.json["states"], second.json["requests"]) == ({"answered": 20}, 10)
        assert len(server.seen) == 30
    rows = [
        json.loads(line) for line in (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    ]
    assert len(rows) == 30
    good = [row["item_id"] for row in rows if row["state"] != "failed"]
    assert len(good) == len(set(good)) == 20
    assert all(row["response"] == "" for row in rows if row["state"] == "failed")


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_down_ends_the_run_with_a_word(situs, words, tmp_path) -> None:
    with wire.Server() as server:
        gone = server.spec
    ran = situs("run", words(30), "--model", gone, "--out", tmp_path / "run", "--json")
    assert ran.code == 1
    assert "cannot be reached" in ran.err
    assert (ran.json["unasked"], ran.json["states"]) == (30, {})


def test_a_server_that_ignores_pictures_is_noted(
    situs, bench, tmp_path, asked, monkeypatch
) -> None:
    monkeypatch.setenv("SITUS_CACHE", str(asked[2].parent / "cache"))
    with wire.Server(
        lambda number, body: wire.raw(json.dumps(wire.completion("A", 15)).encode())
    ) as server:
        ran = situs(
            "run", bench, "--model", server.spec, "--limit", 3, "--out", tmp_path / "run", "--json"
        )
    assert "ignore the pictures" in ran.err
    assert "ignore the pictures" in ran.json["notes"][0]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["notes"] == ran.json["notes"]


def test_restricted_data_does_not_leave_and_leaves_nothing_behind(situs, words, tmp_path) -> None:
    args = ("run", words(5), "--model", "openai:m@http://203.0.113.5/v1", "--out", tmp_path / "run")
    ran = situs(*args)
    assert ran.code == 2
    assert "--allow-remote" in ran.err
    assert not (tmp_path / "run").exists()


def test_money_needs_a_price_and_the_users_file_gives_it(situs, words, tmp_path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["te*"]\ninput = 1000.0\noutput = 0.0\n')
    args = (
        "run",
        words(50),
        "--out",
        tmp_path / "run",
        "--max-cost",
        "0.05",
        "--concurrency",
        1,
        "--json",
        "--model",
    )
    with wire.Server(
        lambda number, body: wire.raw(json.dumps(wire.completion("A", 10)).encode())
    ) as server:
        assert "--prices" in situs(*args, server.spec).err
        ran = situs(*args, server.spec, "--prices", prices)
    assert ran.code == 1
    assert "--max-cost" in ran.err
    # Ten tokens at a tenth of a cent each: five answers cost five cents.
    assert (ran.json["states"], round(ran.json["cost"], 9)) == ({"answered": 5}, 0.05)


def test_two_runs_do_not_write_to_one_folder(situs, words, tmp_path) -> None:
    from situs.run import Journal

    (tmp_path / "run").mkdir()
    bench = words(5)
    assert (
        situs("run", bench, "--model", "oracle", "--limit", 1, "--out", tmp_path / "run").code == 0
    )
    with Journal(Path(tmp_path / "run" / "answers.jsonl")):
        ran = situs("run", bench, "--model", "oracle", "--out", tmp_path / "run")
    assert ran.code == 2
    assert "another situs run" in ran.err
