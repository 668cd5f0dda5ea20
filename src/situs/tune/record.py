"""Training data on disk: examples by split, pictures by content, the profile, and a manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from situs.base.files import bounded_lines, canonical_json, digest, file_name, read_json
from situs.bench import Bench, open_bench
from situs.clients import Image, Message
from situs.errors import SitusError
from situs.profiles import Profile, load_profile
from situs.tune.pictures import picture_bytes

__all__ = [
    "FORMAT",
    "MARKER",
    "Example",
    "Lengths",
    "Manifest",
    "TrainingData",
    "Turn",
    "bench_of",
    "messages_of",
    "open_data",
    "read_examples",
    "stored_picture",
    "write_manifest",
]

MARKER = "manifest.json"
FORMAT = 1


class Turn(msgspec.Struct, frozen=True):
    """A message of a conversation: so many of the example's pictures, then words."""

    role: Literal["system", "user", "assistant"]
    pictures: int
    texts: tuple[str, ...]


class Example(msgspec.Struct, frozen=True):
    """One line of `train.jsonl`: what is shown and said, and what the model is to reply."""

    item_id: str
    patient_id: str
    study_id: str
    series: str
    split: str
    task: str
    form: str
    prompt: str
    """The words of the user's turn; the pictures stand before it, as `situs run` sends them."""
    completion: str
    pictures: tuple[str, ...]
    """Paths in the folder, named by content."""
    shown: int
    """How many pictures the prompt speaks of, also where none was written."""
    boxes: int
    """Boxes in the completion; −1 where the target has none to write."""
    negative: bool = False
    tokens: int = 0
    """Of prompt, pictures and completion:
    estimated for the family that writes such boxes, or counted."""
    turns: tuple[Turn, ...] = ()
    """The conversation before the completion, where it has more than one message."""

    def messages(self) -> tuple[Turn, ...]:
        """The conversation before the completion."""
        return self.turns or (Turn("user", len(self.pictures), (self.prompt,)),)

    def words(self) -> tuple[str, ...]:
        """All texts of the conversation."""
        return tuple(text for turn in self.messages() for text in turn.texts)


class Lengths(msgspec.Struct, frozen=True):
    """Estimated tokens of whole examples under one family of models."""

    family: str
    median: int
    p95: int
    longest: int
    basis: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the data are, and what was left out.

    Defaults are not written, so that a field that a later version adds leaves the seal as it is.
    """

    format: int
    bench: str
    bench_hash: str
    source: str
    licence: str
    restricted: bool
    profile_hash: str = ""
    target: str
    box_form: str
    frames: str
    """Which pictures are shown, in words."""
    mix: dict[str, float] = {}
    negatives: float | None = None
    """The share that was asked for."""
    seed: int = 0
    counts: dict[str, int] = {}
    """Split → examples."""
    by_task: dict[str, int] = {}
    patients: dict[str, int] = {}
    negative: int = 0
    pictures: int = 0
    """Distinct ones; 0 if they were not written."""
    with_pictures: bool = True
    sizes: tuple[tuple[int, int], ...] = ()
    """Width and height of the pictures that occur."""
    lengths: tuple[Lengths, ...] = ()
    left_out: dict[str, int] = {}
    files: dict[str, str] = {}
    """File → hash of its bytes."""
    notes: tuple[str, ...] = ()
    written_by: str = ""
    max_length: int = 0
    """Tokens an example may have; 0 where nothing was left out for its length."""
    room: str = ""
    """Hash of the room, where the examples are turns of sessions."""
    seal: str = ""
    """Hash of all other fields: a licence that was edited afterwards shows."""

    @property
    def hash(self) -> str:
        """Equal data have equal hashes: a run that is resumed checks it."""
        return digest(canonical_json(msgspec.structs.replace(self, seal="")))


class TrainingData(msgspec.Struct, frozen=True):
    """A folder of `situs tune build`."""

    folder: Path
    manifest: Manifest
    profile: Profile

    def examples(self, split: str = "train") -> Iterator[Example]:
        """The examples of a split, as a stream."""
        return read_examples(self.folder / f"{split}.jsonl")


def read_examples(path: Path) -> Iterator[Example]:
    """The examples of a file."""
    if not path.is_file():
        return
    decoder = msgspec.json.Decoder(Example)
    with path.open("rb") as stream:
        for number, line in enumerate(bounded_lines(stream, path), start=1):
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise SitusError(
                    f"is not an example ({error})",
                    where=f"{path.name}:{number}",
                    fix="build the data again",
                ) from error


def open_data(folder: Path) -> TrainingData:
    """A folder that `situs tune build` wrote."""
    if not (folder / MARKER).is_file():
        raise SitusError(
            f"is not training data: {MARKER} is missing",
            where=folder,
            fix="give the --out folder of situs tune build",
        )
    manifest = read_json(folder / MARKER, Manifest)
    if manifest.format != FORMAT:
        raise SitusError(
            f"has format {manifest.format}, this version reads {FORMAT}",
            where=folder,
            fix="build it again",
        )
    if manifest.seal != manifest.hash:
        raise SitusError(
            f"{MARKER} was changed after it was written", where=folder, fix="build the data again"
        )
    _refuse_paths(manifest, folder)
    return TrainingData(folder, manifest, load_profile(str(folder / "profile.toml")))


def _refuse_paths(manifest: Manifest, folder: Path) -> None:
    """A split names a file of its own, and a file lies in the folder: anybody can seal a manifest
    that says otherwise."""
    paths = {split: file_name(split) == split for split in manifest.counts}
    for name in manifest.files:
        paths[name] = all(file_name(part) == part for part in Path(name).parts)
    for name, is_inside in paths.items():
        if not is_inside:
            problem = f"{MARKER} names {name!r}, which leads out of the folder"
            raise SitusError(problem, where=folder, fix="build the data again")


def messages_of(
    example: Example, folder: Path, read: Callable[[Path, str], Image] | None = None
) -> tuple[Message, ...]:
    """The conversation before the completion as a client sends it; `read` gives its pictures."""
    read = read or stored_picture
    names = iter(example.pictures)
    return tuple(
        Message(
            turn.role, (*(read(folder, next(names)) for _ in range(turn.pictures)), *turn.texts)
        )
        for turn in example.messages()
    )


def stored_picture(folder: Path, name: str) -> Image:
    """A picture of the folder as a client sends it."""
    path = folder / name
    kind = "image/jpeg" if path.suffix == ".jpg" else "image/png"
    return Image(picture_bytes(path), kind, path.stem, 0, 0)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest with its seal."""
    sealed = msgspec.structs.replace(manifest, seal=manifest.hash)
    (folder / MARKER).write_bytes(msgspec.json.format(canonical_json(sealed), indent=2) + b"\n")


def bench_of(data: TrainingData, bench: Path | None) -> Bench | None:
    """The bench the data were built from; None if it is not on this machine."""
    location = bench
    private = data.folder / "locations.json"
    if location is None and private.is_file():
        location = Path(read_json(private, dict[str, str]).get("bench", ""))
        if not (location / "bench.json").is_file():
            return None
    if location is None:
        return None
    opened = open_bench(location)
    if opened.info.content_hash != data.manifest.bench_hash:
        raise SitusError(
            "is not the bench these data were built from",
            where=location,
            fix="give the right one, or build the data again",
        )
    return opened
