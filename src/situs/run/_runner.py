"""One run: a client or baseline × profile × bench, resumable at any moment."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from situs import __version__
from situs._files import canonical_json, read_json, write_atomic
from situs.bench import Bench, open_bench
from situs.clients import Spec
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Profile
from situs.run._baselines import make_baseline
from situs.run._journal import AnswerRow, Journal
from situs.run._replay import Replay, recorded_replay

__all__ = ["RunInfo", "RunResult", "open_run", "run_baseline", "selected_items"]


class RunInfo(msgspec.Struct, frozen=True):
    """`run.json`."""

    client: str
    profile: Profile
    profile_hash: str
    bench: str
    """The bench folder relative to the run, or its name where they lie far apart."""
    bench_hash: str
    split: str | None
    limit: int | None
    settings: dict[str, str]
    versions: dict[str, str]


class RunResult(msgspec.Struct, frozen=True):
    """What a run did."""

    items: int
    states: dict[str, int]
    requests: int
    seconds: float
    cost: float
    notes: list[str] = []
    """What a user should know of it."""


def selected_items(bench: Bench, split: str | None, limit: int | None) -> Iterator[Item]:
    """The items a run covers."""
    return islice(bench.items(split), limit)


def run_baseline(
    bench: Bench,
    spec: Spec,
    profile: Profile,
    out: Path,
    *,
    split: str | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> RunResult:
    """Answer every item that has no answer yet."""
    baseline = make_baseline(bench, spec)
    delay = _delay(spec)
    count = sum(1 for _ in selected_items(bench, split, limit))
    if not count:
        raise SitusError("no item to ask", where=f"--split {split}", fix="leave --split out, or name one the bench has")
    _start(out, bench, spec, profile, split, limit)
    begin = time.monotonic()
    states: Counter[str] = Counter()
    asked = total = 0
    with Journal(out / "answers.jsonl") as journal:
        for item in selected_items(bench, split, limit):
            total += 1
            progress(total, count)
            if item.item_id not in journal.done:
                if delay > 0:
                    time.sleep(delay)
                said = baseline.answer(item)
                row = AnswerRow(item.item_id, "answered", said or "", {}, 0.0)
                journal.add(row if said is not None else AnswerRow(item.item_id, "failed", error="no answer given"))
                asked += 1
            states[journal.done.get(item.item_id, "failed")] += 1
    notes = []
    if isinstance(baseline, Replay):
        notes = baseline.joined.notes()
        write_atomic(out / "joined.json", msgspec.json.format(canonical_json(baseline.joined), indent=1) + b"\n")
    return RunResult(total, dict(sorted(states.items())), asked, time.monotonic() - begin, 0.0, notes)


def _delay(spec: Spec) -> float:
    """Seconds to wait before each answer, for trying out interruptions."""
    try:
        delay = float(spec.settings.get("delay", "0"))
    except ValueError:
        delay = math.nan
    if not 0 <= delay <= 3600:
        raise SitusError("delay is not a number of seconds", where=str(spec), fix="e.g. delay=0.1")
    return delay


def _start(out: Path, bench: Bench, spec: Spec, profile: Profile, split: str | None, limit: int | None) -> None:
    info = RunInfo(
        client=recorded_replay(spec) if spec.kind == "replay" else str(spec),
        profile=profile,
        profile_hash=profile.hash,
        bench=_relative(bench.folder, out),
        bench_hash=bench.info.content_hash,
        split=split,
        limit=limit,
        settings=spec.settings,
        versions={"situs": __version__},
    )
    path = out / "run.json"
    if path.is_file():
        _refuse_another(read_json(path, RunInfo), info, out)
    elif out.is_dir() and any(not _is_left_over(entry) for entry in out.iterdir()):
        raise SitusError("exists and is not a run", where=out, fix="choose another --out")
    elif out.exists() and not out.is_dir():
        raise SitusError("is a file, not a folder", where=out, fix="choose another --out")
    files = {path: msgspec.json.format(canonical_json(info), indent=2) + b"\n"}
    if (out / info.bench).resolve() != bench.folder.resolve():
        files[out / "locations.json"] = canonical_json({"bench": str(bench.folder.resolve())}) + b"\n"
    for file, content in files.items():
        if not file.is_file() or file.read_bytes() != content:
            write_atomic(file, content)
    for entry in filter(_is_left_over, list(out.iterdir())):
        entry.unlink()


def _is_left_over(entry: Path) -> bool:
    """Whether a run that was killed before its first answer left this behind."""
    return entry.name.startswith((".run.json.", ".locations.json.")) and entry.name.endswith(".part")


def _refuse_another(old: RunInfo, new: RunInfo, out: Path) -> None:
    for what, before, now in (
        ("model", old.client, new.client),
        ("profile", old.profile_hash, new.profile_hash),
        ("bench", old.bench_hash, new.bench_hash),
    ):
        if before != now:
            raise SitusError(
                f"was run with another {what}", where=out, fix="choose another --out, or the same settings"
            )


def _relative(bench: Path, run: Path) -> str:
    """A path that moves with the two folders and names none but the bench's own."""
    relative = Path(os.path.relpath(bench.resolve(), run.resolve()))
    named = [part for part in relative.parts if part != ".."]
    return str(relative) if len(named) <= 1 else bench.resolve().name


def _find_bench(run: Path, info: RunInfo) -> Path:
    """Where the bench lies: as the run remembers it, or, privately, where it was on this machine."""
    private = run / "locations.json"
    places = [run / info.bench]
    if private.is_file():
        places.append(Path(read_json(private, dict[str, str]).get("bench", "")))
    for place in places:
        if (place / "bench.json").is_file():
            return place
    raise SitusError("its bench is not where it was", where=run, fix="give the bench with --bench")


def open_run(run: Path, bench: Path | None = None) -> tuple[RunInfo, Bench]:
    """A run and its bench, refused if the bench is not the one it was run on."""
    info = read_json(run / "run.json", RunInfo)
    opened = open_bench(bench if bench is not None else _find_bench(run, info))
    if opened.info.content_hash != info.bench_hash:
        raise SitusError("was run on another bench", where=run, fix="give the bench it was run on")
    return info, opened
