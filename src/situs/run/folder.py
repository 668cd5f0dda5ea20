"""The run folder: what was asked of whom, and where its bench lies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from situs import __version__
from situs.base.files import canonical_json, read_json, write_atomic
from situs.base.remote import is_url, local_input, url_of
from situs.bench import Bench, open_bench
from situs.clients import Price, Settings, Spec
from situs.errors import SitusError
from situs.profiles import Profile
from situs.run.append_file import AppendFile

__all__ = [
    "FolderBefore",
    "RunInfo",
    "add_notes",
    "open_run",
    "refuse_another",
    "start_run",
    "write_run_info",
]


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
    """What stood after the `?` of the model's name."""
    versions: dict[str, str]
    sampling: Settings | None = None
    """How a model was told to generate; none for a baseline."""
    seed: int | None = None
    withheld: bool = False
    """Whether all pictures were kept back: the model's own text-only run."""
    silent: bool = False
    """Whether nothing was said about the pictures that were kept back."""
    sample: tuple[str, ...] = ()
    """The items it is about, where they were drawn from the bench,
    as a reader's quiz is; else all of the split."""
    room: str = ""
    """With a room: its name; `room.json` beside it has the rest."""
    room_hash: str = ""
    tools: str = ""
    """With a room: which measuring tools it offered."""
    notes: tuple[str, ...] = ()
    """What whoever reads the answers should know: e.g. that the server ignored the pictures."""
    price: Price | None = None
    """What its tokens cost when it was begun;
    nothing for a model on this machine, none where nobody knew."""


class Covered(msgspec.Struct, frozen=True):
    """Which items of a bench a run is about."""

    split: str | None = None
    limit: int | None = None
    sample: tuple[str, ...] = ()
    """Ids, where the items were drawn."""


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """Under which conditions a model is asked, beside its profile."""

    client: str = ""
    """The model as it calls itself; as its spec names it if empty."""
    sampling: Settings | None = None
    versions: dict[str, str] = {}
    withheld: str = ""
    """How all pictures are kept back:
    `text` (it is said so) or `silent`; empty if they are shown."""
    room: tuple[str, str, str] = ("", "", "")
    """Name, hash and tools of a reading room."""
    price: Price | None = None


_ALL_ITEMS = Covered()
_PLAIN = Conditions()


def start_run(
    out: Path,
    bench: Bench,
    spec: Spec,
    profile: Profile,
    covered: Covered = _ALL_ITEMS,
    conditions: Conditions = _PLAIN,
    *,
    home: Path | None = None,
) -> RunInfo:
    """Make the folder, or go on in it if it is the same run.

    `home` is where the folder will lie, if it is made elsewhere and moved when it is whole.
    """
    info = RunInfo(
        client=conditions.client or str(spec),
        profile=profile,
        profile_hash=profile.hash,
        bench=_relative(bench.folder, home or out),
        bench_hash=bench.info.content_hash,
        split=covered.split,
        limit=covered.limit,
        settings=spec.settings,
        versions={"situs": __version__} | conditions.versions,
        sampling=conditions.sampling,
        seed=conditions.sampling.seed if conditions.sampling is not None else None,
        withheld=bool(conditions.withheld),
        silent=conditions.withheld == "silent",
        sample=covered.sample,
        room=conditions.room[0],
        room_hash=conditions.room[1],
        tools=conditions.room[2],
        price=conditions.price,
    )
    path = out / "run.json"
    if path.is_file():
        before = read_json(path, RunInfo)
        if _has_no_answer(out):
            for name in ("hidden.jsonl", "room.json"):
                (out / name).unlink(missing_ok=True)
        else:
            refuse_another(before, info, out)
            info = msgspec.structs.replace(info, notes=before.notes)
    elif out.is_dir() and any(not _is_left_over(entry) for entry in out.iterdir()):
        raise SitusError("exists and is not a run", where=out, fix="choose another --out")
    elif out.exists() and not out.is_dir():
        raise SitusError("is a file, not a folder", where=out, fix="choose another --out")
    elif bench.info.restricted:
        _make_private(out)
    write_run_info(out, info, bench, home or out)
    for entry in filter(_is_left_over, list(out.iterdir())):
        entry.unlink()
    return info


_BEGUN = ("run.json", "locations.json", "hidden.jsonl", "room.json")
"""Files that a run has before its first answer."""


def _has_no_answer(out: Path) -> bool:
    """Whether a run ended before anything was answered, as where its server was not there.

    Such a folder is free for another model, unless another process is about to write into it.
    """
    more = [e for e in out.iterdir() if e.name not in _BEGUN and not _is_left_over(e)]
    journal = out / "answers.jsonl"
    if journal not in more or any(e.is_dir() or e.stat().st_size for e in more):
        return False
    AppendFile(journal).close()
    return True


_FILES = (
    "answers.jsonl",
    "hidden.jsonl",
    "turns.jsonl",
    "joined.json",
    "room.json",
    "locations.json",
    "run.json",
)
"""What a run may consist of; without the last it is none."""


class FolderBefore:
    """The folder of a run as it was found, before anything was written."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._was_run = (out / "run.json").exists()
        self._missing = [folder for folder in (out, *out.parents) if not folder.exists()]

    @contextmanager
    def unless_it_ends(self, *, paid: bool) -> Iterator[None]:
        """Take a run back that was begun here and ends in an error: its folder would refuse another
        model.

        Answers stay, for the same command to go on with, where they were paid for, and where it was
        the disk that had no room for more.
        """
        try:
            yield
        except SitusError as error:
            journals = (self._out / name for name in ("answers.jsonl", "turns.jsonl"))
            answered = any(one.is_file() and one.stat().st_size for one in journals)
            may_go_on = paid or isinstance(error.__cause__, OSError)
            if not self._was_run and not (answered and may_go_on):
                for name in _FILES:
                    (self._out / name).unlink(missing_ok=True)
                with suppress(OSError):
                    for folder in self._missing:
                        folder.rmdir()
            raise


def write_run_info(folder: Path, info: RunInfo, bench: Bench, out: Path) -> None:
    """Write `run.json` into a folder that is, or will become, `out`."""
    info = msgspec.structs.replace(info, bench=_relative(bench.folder, out))
    _write(folder / "run.json", info)
    if (out / info.bench).resolve() != bench.folder.resolve():
        address = url_of(bench.folder.resolve()) or str(bench.folder.resolve())
        location = canonical_json({"bench": address}) + b"\n"
        _keep(folder / "locations.json", location, private=True)


def add_notes(out: Path, info: RunInfo, notes: tuple[str, ...]) -> RunInfo:
    """Record what the run found out about its model."""
    new = tuple(note for note in notes if note not in info.notes)
    if not new:
        return info
    info = msgspec.structs.replace(info, notes=info.notes + new)
    _write(out / "run.json", info)
    return info


def _make_private(out: Path) -> None:
    """A new run on restricted data can be read by its owner only."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        out.chmod(0o700)
    except OSError as error:
        fix = "choose a folder you can write to"
        raise SitusError(f"cannot be created ({error.strerror})", where=out, fix=fix) from error


def _write(path: Path, info: RunInfo) -> None:
    _keep(path, msgspec.json.format(canonical_json(info), indent=2) + b"\n")


def _keep(file: Path, content: bytes, *, private: bool = False) -> None:
    if not file.is_file() or file.read_bytes() != content:
        write_atomic(file, content, private=private)


def _is_left_over(entry: Path) -> bool:
    """Whether a run that was killed before its first answer left this behind."""
    return entry.name.startswith((".run.json.", ".locations.json.")) and entry.name.endswith(
        ".part"
    )


_WEIGHTS = "weights"
"""The setting by which users state what their servers serve: wherever it is served, it is the same
model."""


def _model(info: RunInfo) -> str:
    """Whom a run asks: the address tells models apart unless the weights are stated."""
    return _without_address(info) if info.settings.get(_WEIGHTS) else info.client


def _without_address(info: RunInfo) -> str:
    """A model as it calls itself, without where it is served and what it is told."""
    return info.client.partition("?")[0].partition("@")[0]


def _asked_elsewhere(old: RunInfo, new: RunInfo) -> bool:
    """Whether the two differ in their addresses, and not in what the model is called."""
    elsewhere = old.client.partition("?")[0] != new.client.partition("?")[0]
    return elsewhere and _without_address(old) == _without_address(new)


def refuse_another(old: RunInfo, new: RunInfo, out: Path) -> None:
    """Stop if two runs were not asked the same of the same model."""
    if _model(old) != _model(new) and _asked_elsewhere(old, new):
        fix = "choose another --out; where both serve the same model, begin with ?weights=NAME"
        raise SitusError("was run with another server", where=out, fix=fix)
    for what, before, now in (
        ("another model", _model(old), _model(new)),
        ("other settings of the model", old.settings, new.settings),
        ("another profile", old.profile_hash, new.profile_hash),
        ("another bench", old.bench_hash, new.bench_hash),
        ("another choice of what is shown", (old.withheld, old.silent), (new.withheld, new.silent)),
        ("another sample of items", old.sample, new.sample),
        (
            "another room",
            (old.room, old.room_hash, old.tools),
            (new.room, new.room_hash, new.tools),
        ),
    ):
        if before != now:
            raise SitusError(
                f"was run with {what}",
                where=out,
                fix="choose another --out, or the same settings",
            )


def _relative(bench: Path, run: Path) -> str:
    """A path that moves with the two folders and names none but the bench's own."""
    relative = Path(os.path.relpath(bench.resolve(), run.resolve()))
    named = [part for part in relative.parts if part != ".."]
    return str(relative) if len(named) <= 1 else bench.resolve().name


def _find_bench(run: Path, info: RunInfo) -> Path:
    """Where the bench lies: as the run remembers it,
    or, privately, where it was on this machine."""
    private = run / "locations.json"
    places = [run / info.bench]
    if private.is_file():
        places.append(_bench_at(read_json(private, dict[str, str]).get("bench", "")))
    for folder in places:
        if (folder / "bench.json").is_file():
            return folder
    fix = "move it back, or name it with --bench (report, compare and export take it)"
    raise SitusError("its bench has moved", where=run, fix=fix)


def _bench_at(text: str) -> Path:
    """The bench at a path or address."""
    return local_input(text) if is_url(text) else Path(text)


def open_run(
    run: Path, bench: Path | None = None, *, known: Bench | None = None
) -> tuple[RunInfo, Bench]:
    """A run and its bench, refused if the bench is not the one it was run on.

    A bench that is `known` already is not opened again if it is that of the run.
    """
    if not (run / "run.json").is_file():
        raise _no_run(run)
    info = read_json(run / "run.json", RunInfo)
    if known is not None and known.info.content_hash == info.bench_hash:
        return info, known
    opened = open_bench(bench if bench is not None else _find_bench(run, info))
    if opened.info.content_hash != info.bench_hash:
        raise SitusError("was run on another bench", where=run, fix="give the bench it was run on")
    return info, opened


def _no_run(folder: Path) -> SitusError:
    """Says which runs lie in the folder, as in one of probes."""
    if not folder.exists():
        return SitusError("no such folder", where=folder, fix="give the --out of situs run")
    inside = [path.parent for depth in ("*", "*/*") for path in folder.glob(f"{depth}/run.json")]
    named = ", ".join(map(str, sorted(inside)[:4]))
    fix = f"give the runs in it, such as {named}" if inside else "give the --out of situs run"
    return SitusError("is not a run: run.json is missing", where=folder, fix=fix)
