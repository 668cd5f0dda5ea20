"""Builds and runs in parts: put together, they are what one build or run makes."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from situs.base.files import digest
from situs.base.shard import Shard
from situs.bench import open_bench
from situs.build.spool import Spool
from situs.build.study import with_sources
from situs.errors import SitusError
from tune_cohort import write_volumes


@pytest.fixture(scope="module")
def whole_and_parts(situs, small, tmp_path_factory) -> tuple[Path, tuple[object, ...]]:
    """A bench of three studies, the same in two parts, and the command that made them."""
    root = tmp_path_factory.mktemp("sharded")
    studies = sorted((small / "data").iterdir())[:3]
    command = ("build", "masks", *studies, "--annotation", "exact")
    assert situs(*command, "--out", root / "whole").code == 0
    for number in (1, 2):
        ran = situs(*command, "--out", root / f"part{number}", "--shard", f"{number}/2", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["studies"] == (2, 1)[number - 1]
    return root, command


def test_parts_may_be_built_with_relative_paths(situs, small, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(small)
    command = (
        "build",
        "masks",
        Path("data/patient000"),
        Path("data/patient001"),
        "--annotation",
        "exact",
    )
    for number in (1, 2):
        ran = situs(*command, "--out", tmp_path / str(number), "--shard", f"{number}/2")
        assert ran.code == 0, ran.err
    monkeypatch.chdir(tmp_path)
    ran = situs("merge", "1", "2", "--out", "merged")
    assert ran.code == 0, ran.err


def test_parts_put_together_are_the_whole_bench(situs, whole_and_parts) -> None:
    root, _ = whole_and_parts
    ran = situs("merge", root / "part2", root / "part1", "--out", root / "merged", "--json")
    assert ran.code == 0, ran.err
    whole, merged = (open_bench(root / name).info for name in ("whole", "merged"))
    assert merged.content_hash == whole.content_hash
    assert ran.json["items"] == whole.counts["items"]
    for name in ("items.parquet", "facts.parquet", "studies.parquet"):
        assert (root / "merged" / name).read_bytes() == (root / "whole" / name).read_bytes()
    # It rests on the files, not on the parts: what is finished is never measured again, and check
    # passes.
    assert situs("check", root / "merged").code == 0


def test_a_part_is_private_and_no_bench(situs, whole_and_parts) -> None:
    part = whole_and_parts[0] / "part1"
    assert stat.S_IMODE(part.stat().st_mode) == 0o700
    assert stat.S_IMODE((part / "shard.json").stat().st_mode) == 0o600
    assert not (part / "bench.json").exists()
    assert situs("check", part).code == 2


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("part1",), "2 are missing"),
        (("part1", "part1b"), "so is"),
        (("part1", "whole"), "of different kinds"),
    ],
)
def test_what_cannot_be_put_together_is_named(situs, whole_and_parts, parts, words) -> None:
    root, _ = whole_and_parts
    if not (root / "part1b").exists():
        (root / "part1b").mkdir()
        (root / "part1b" / "shard.json").write_bytes((root / "part1" / "shard.json").read_bytes())
    ran = situs("merge", *(root / part for part in parts), "--out", root / "never")
    assert ran.code == 2
    assert words in ran.err
    assert not (root / "never").exists()


@pytest.mark.parametrize(
    "damage",
    [
        {"studies": 4_294_967_297},
        {"shard": {"number": 1, "of": 10**12}},
        {"shard": {"number": 0, "of": 0}},
        {"command": "nonsense"},
        {"arguments": {}},
        {"arguments": {"jobs": "x"}},
        {"arguments": {"as_json": []}},
        {"arguments": {"roots": 3}},
    ],
    ids=repr,
)
def test_a_damaged_part_is_one_line(situs, whole_and_parts, tmp_path, damage) -> None:
    """And it is refused at once, however many studies or parts it tells of."""
    root, _ = whole_and_parts
    for name in ("part1", "part2"):
        shutil.copytree(root / name, tmp_path / name)
        path = tmp_path / name / "shard.json"
        told = json.loads(path.read_bytes())
        if kept := damage.get("arguments"):
            damage = {"arguments": told["arguments"] | kept}
        path.write_text(json.dumps(told | damage))
    before = sorted(tmp_path.rglob("*"))
    ran = situs("merge", tmp_path / "part1", tmp_path / "part2", "--out", tmp_path / "merged")
    assert ran.code == 2, ran.err
    assert ran.err.count("\n") == 1
    assert str(tmp_path / "part1") in ran.err
    assert sorted(tmp_path.rglob("*")) == before


def test_what_a_part_calls_null_was_not_given(situs, whole_and_parts, tmp_path) -> None:
    root, _ = whole_and_parts
    parts = [Path(shutil.copytree(root / name, tmp_path / name)) for name in ("part1", "part2")]
    file = parts[1] / "shard.json"
    told = json.loads(file.read_text())
    names = [name for name, value in told["arguments"].items() if value is None]
    assert names
    for name in names:
        del told["arguments"][name]
    file.write_text(json.dumps(told))
    ran = situs("merge", *parts, "--out", tmp_path / "merged")
    assert ran.code == 0, ran.err
    assert (tmp_path / "merged" / "items.parquet").read_bytes() == (
        root / "whole" / "items.parquet"
    ).read_bytes()


def test_a_damaged_outcome_is_worked_out_anew(tmp_path, monkeypatch) -> None:
    """A part may come from another machine: what it names is not walked through."""
    (tmp_path / "input").touch()
    spool = Spool(tmp_path / "done", int)
    spool.write(1, 5, [tmp_path / "input"])
    assert 1 in spool
    path = tmp_path / "done" / "0000001.json"
    written = path.read_bytes()
    entry = json.loads(written)["entry"]

    def write_sealed(**changes: object) -> None:
        """As somebody would who knows how outcomes are kept."""
        raw = json.dumps(entry | changes).encode()
        path.write_bytes(b'{"digest": "%s", "entry": %s}' % (digest(raw).encode(), raw))

    write_sealed()
    assert 1 in spool
    for odd in (b"", b"[" * 100_000, b'{"entry": ["\xff"]}', written.replace(b":5", b":6")):
        assert odd != written
        path.write_bytes(odd)
        assert 1 not in spool
    os.truncate(path, 1 << 40)  # more than any memory holds, and nothing on the disk
    assert 1 not in spool
    path.unlink()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path.symlink_to(pipe)
    # Whoever reads it gets what belongs there; where nobody does, the thread ends with the tests.
    threading.Thread(target=pipe.write_bytes, args=(written,), daemon=True).start()
    assert 1 not in spool
    path.unlink()
    write_sealed(files=["a\0b"])
    assert 1 not in spool
    looked_at = []

    def walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
        for number in range(10**6):
            looked_at.append(number)
            yield str(top), [], [f"{number}"]

    monkeypatch.setattr("os.walk", walk)
    write_sealed(files=["/"])
    assert 1 not in spool
    assert len(looked_at) <= 3


def test_a_part_of_another_build_is_named(situs, whole_and_parts, tmp_path) -> None:
    root, command = whole_and_parts
    other = tmp_path / "other"
    ran = situs(*command, "--seed", 9, "--out", other, "--shard", "2/2")
    assert ran.code == 0, ran.err
    ran = situs("merge", root / "part1", other, "--out", tmp_path / "never")
    assert ran.code == 2
    assert "not a part of the same build" in ran.err


def test_a_question_that_rests_on_what_is_not_there_is_named() -> None:
    """A part is somebody else's file: its questions may name facts that it does not hold."""
    with pytest.raises(SitusError, match="fact f0, which is not there"):
        with_sources([], ["f0"])


def merged_is_whole(situs, command: tuple[object, ...], folder: Path, of: int = 2) -> None:
    """Parts put together are the bench that one build makes."""
    assert situs(*command, "--out", folder / "whole").code == 0
    for number in range(1, of + 1):
        part = ("--out", folder / f"part{number}", "--shard", f"{number}/{of}")
        ran = situs(*command, *part)
        assert ran.code == 0, ran.err
    parts = [folder / f"part{number}" for number in range(1, of + 1)]
    ran = situs("merge", *parts, "--out", folder / "merged")
    assert ran.code == 0, ran.err
    for name in ("items.parquet", "facts.parquet", "studies.parquet"):
        assert (folder / "merged" / name).read_bytes() == (folder / "whole" / name).read_bytes()


def test_boxes_in_parts(situs, tmp_path) -> None:
    command = ("build", "boxes", *write_volumes(tmp_path, count=3))
    merged_is_whole(situs, command, tmp_path, of=5)  # more parts than studies
    # What decides the questions is compared, though a part holds none.
    other = ("--seed", 4, "--out", tmp_path / "other", "--shard", "2/5")
    assert situs(*command, *other).code == 0
    ran = situs("merge", tmp_path / "part1", tmp_path / "other", "--out", tmp_path / "never")
    assert ran.code == 2
    assert "a different --seed" in ran.err


def test_reports_in_parts_unless_models_write(situs, tmp_path) -> None:
    rows = [
        f"r{n},There is a {size} mm nodule in the {side} {lobe} lobe."
        for n, (size, side, lobe) in enumerate(
            itertools.product((5, 8), ("right", "left"), ("upper", "lower"))
        )
    ]
    file = tmp_path / "reports.csv"
    file.write_text("\n".join(["id,findings", *rows]))
    merged_is_whole(situs, ("build", "reports", file), tmp_path)
    model = (
        "--writer",
        "openai:m@http://127.0.0.1:9/v1",
        "--validator",
        "openai:n@http://127.0.0.1:9/v1",
    )
    ran = situs("build", "reports", file, *model, "--shard", "1/2", "--out", tmp_path / "never")
    assert ran.code == 2
    assert "--shard" in ran.err


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_parts_that_do_not_exist_are_refused(text) -> None:
    with pytest.raises(SitusError, match="is not a part"):
        Shard.parse(text)


def test_every_job_is_in_one_part() -> None:
    for total in (0, 1, 7, 100):
        for of in (1, 2, 3, 11):
            parts = [Shard(number, of).of_jobs(total) for number in range(1, of + 1)]
            assert sorted(job for part in parts for job in part) == list(range(total))


def answers(run: Path) -> dict[str, Any]:
    rows = map(json.loads, (run / "answers.jsonl").read_text().splitlines())
    return {row["item_id"]: row["response"] for row in rows}


def test_a_run_in_parts_is_the_whole_run(situs, bench, tmp_path) -> None:
    command = ("run", bench, "--model", "random?seed=3")
    assert situs(*command, "--out", tmp_path / "whole").code == 0
    parts = []
    for number in (1, 2, 3):
        parts.append(tmp_path / f"part{number}")
        ran = situs(*command, "--out", parts[-1], "--shard", f"{number}/3", "--json")
        assert ran.code == 0, ran.err
    seen = [set(answers(part)) for part in parts]
    assert not seen[0] & seen[1]
    studies = {item.item_id: item.study_id for item in open_bench(bench).items()}
    of_parts = [{studies[item] for item in part} for part in seen]
    assert not of_parts[0] & of_parts[1]
    ran = situs("merge", *parts, "--out", tmp_path / "merged", "--json")
    assert ran.code == 0, ran.err
    assert ran.json == {"parts": 3, "items": len(studies), "missing": 0}
    assert answers(tmp_path / "merged") == answers(tmp_path / "whole")
    scores = [
        situs("score", bench, tmp_path / name, "--json").json["overall"]
        for name in ("whole", "merged")
    ]
    assert scores[0] == scores[1]


def test_sessions_in_a_room_in_parts(situs, bench, tmp_path) -> None:
    command = ("run", bench, "--model", "random-looker?seed=2", "--room", "frugal", "--limit", 8)
    assert situs(*command, "--out", tmp_path / "whole").code == 0
    parts = [tmp_path / f"part{number}" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        ran = situs(*command, "--out", part, "--shard", f"{number}/2")
        assert ran.code == 0, ran.err
    assert situs("merge", *parts, "--out", tmp_path / "merged").code == 0

    def turns(run: Path) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for line in (run / "turns.jsonl").read_text().splitlines():
            found.setdefault(json.loads(line)["item_id"], []).append(line)
        return found

    whole, merged = tmp_path / "whole", tmp_path / "merged"
    assert answers(merged) == answers(whole)
    assert turns(merged) == turns(whole)
    assert (merged / "room.json").read_bytes() == (whole / "room.json").read_bytes()
    hidden = [
        sorted((run / "hidden.jsonl").read_text().splitlines())
        if (run / "hidden.jsonl").exists()
        else []
        for run in (whole, merged)
    ]
    assert hidden[0] == hidden[1]
    scores = [situs("score", bench, run, "--json").json for run in (whole, merged)]
    assert scores[0]["looks"] == scores[1]["looks"]
    assert scores[0]["overall"] == scores[1]["overall"]


def test_runs_that_contradict_each_other_are_named(situs, bench, tmp_path) -> None:
    for name, seed in (("one", 3), ("other", 4)):
        ran = situs("run", bench, "--model", f"random?seed={seed}", "--out", tmp_path / name)
        assert ran.code == 0
    ran = situs("merge", tmp_path / "one", tmp_path / "other", "--out", tmp_path / "never")
    assert ran.code == 2
    assert "another model" in ran.err
    # The same run with an answer that somebody changed.
    lines = (tmp_path / "one" / "answers.jsonl").read_text().splitlines(keepends=True)
    row = json.loads(lines[0]) | {"response": "something else"}
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in (tmp_path / "one").iterdir():
        if file.is_file():
            (changed / file.name).write_bytes(file.read_bytes())
    (changed / "answers.jsonl").write_text(json.dumps(row) + "\n")
    ran = situs("merge", tmp_path / "one", changed, "--out", tmp_path / "never")
    assert ran.code == 2
    assert "differently from" in ran.err
    assert not (tmp_path / "never").exists()
