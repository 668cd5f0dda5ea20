"""A folder of training data as it is written:
lines by split, pictures by content, then the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import msgspec

from situs import __version__
from situs.base.files import digest
from situs.errors import SitusError
from situs.profiles import Image, Profile, load_profile
from situs.tune.lengths import LengthTally, family_for
from situs.tune.pictures import is_uniform
from situs.tune.record import Example, Manifest, write_manifest
from situs.tune.wording import profile_text

__all__ = ["ExampleWriter"]


class ExampleWriter:
    """Writes examples as they come; holds counts only, whatever the size of the source."""

    def __init__(
        self, folder: Path, box_form: str, *, max_length: int = 0, model: Path | None = None
    ) -> None:
        self._folder = folder
        self._family, self._max_length = family_for(box_form), max_length
        self._stack = ExitStack()
        self._files: dict[str, IO[bytes]] = {}
        self._lengths = LengthTally(model)
        self._split_of_picture: dict[bytes, str] = {}
        self._sizes: set[tuple[int, int]] = set()
        self.left_out: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._tasks: Counter[str] = Counter()
        self._patients: dict[str, set[str]] = {}
        self._negative = 0

    def add(
        self, example: Example, images: Sequence[Image], sizes: Sequence[tuple[float, float]]
    ) -> str:
        """Write an example with its pictures, or say why it is left out."""
        texts = (*example.words(), example.completion)
        lengths = self._lengths.measure(texts, sizes)
        tokens = lengths.get(self._family, max(lengths.values()))
        if self._max_length and tokens > self._max_length:
            return f"more than {self._max_length:,} tokens (--max-length)"
        names = [digest(image.data) for image in images]
        pictures = dict(zip(names, images, strict=True))
        if reason := self._seen_elsewhere(example.split, pictures):
            return reason
        paths = {
            name: self._write_picture(name, image, example.split)
            for name, image in pictures.items()
        }
        self._lengths.count(lengths)
        self._sizes.update((int(width), int(height)) for width, height in sizes)
        self._line(
            msgspec.structs.replace(
                example, pictures=tuple(paths[name] for name in names), tokens=tokens
            )
        )
        return ""

    def _seen_elsewhere(self, split: str, pictures: dict[str, Image]) -> str:
        """Why an example of a later split may not be used:
        one of its very pictures was learnt from."""
        for name, image in pictures.items():
            other = self._split_of_picture.get(bytes.fromhex(name), split)
            if other != split and not is_uniform(image.data):
                return f"one of its pictures is also in {other}"
        return ""

    def _write_picture(self, name: str, image: Image, split: str) -> str:
        suffix = "jpg" if image.media_type == "image/jpeg" else "png"
        path = f"pictures/{name[:2]}/{name}.{suffix}"
        key = bytes.fromhex(name)
        if key not in self._split_of_picture:
            self._split_of_picture[key] = split
            file = self._folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(image.data)
        return path

    def _line(self, example: Example) -> None:
        if example.split not in self._files:
            file = (self._folder / f"{example.split}.jsonl").open("wb")
            self._files[example.split] = self._stack.enter_context(file)
        self._files[example.split].write(msgspec.json.encode(example) + b"\n")
        self._counts[example.split] += 1
        self._tasks[example.task] += 1
        self._patients.setdefault(example.split, set()).add(example.patient_id)
        self._negative += example.negative

    def finish(
        self, about: Manifest, profile: Profile, *, source: Path, needed: str, fix: str
    ) -> Manifest:
        """Close the files and write profile, manifest and card.

        `about` says what the data are of; everything that is counted is filled in. Raises
        `SitusError` with `fix` where `source` gave no example of the split that is `needed`.
        """
        self._stack.close()
        if not self._counts[needed]:
            reasons = ", ".join(f"{why} ({n})" for why, n in self.left_out.most_common(3))
            raise SitusError(
                f"no example of {needed} is left: {reasons or 'that split is empty'}",
                where=source,
                fix=fix,
            )
        (self._folder / "profile.toml").write_text(profile_text(profile), "utf-8")
        names = [*(f"{split}.jsonl" for split in sorted(self._counts)), "profile.toml"]
        manifest = msgspec.structs.replace(
            about,
            profile_hash=load_profile(str(self._folder / "profile.toml")).hash,
            counts=dict(sorted(self._counts.items())),
            by_task=dict(sorted(self._tasks.items())),
            patients={split: len(ids) for split, ids in sorted(self._patients.items())},
            negative=self._negative,
            pictures=len(self._split_of_picture),
            sizes=tuple(sorted(self._sizes)),
            lengths=self._lengths.lengths(),
            max_length=self._max_length,
            left_out=dict(sorted(self.left_out.items())),
            files={name: digest((self._folder / name).read_bytes()) for name in names},
            written_by=__version__,
        )
        write_manifest(self._folder, manifest)
        (self._folder / "README.md").write_text(_card(manifest), "utf-8")
        return manifest


def _card(manifest: Manifest) -> str:
    lines = ["# Training data", ""]
    if manifest.restricted:
        lines += ["**RESTRICTED DATA. Do not publish or pass on this folder.**", ""]
    lines += [
        f"From bench `{manifest.bench}` (content hash `{manifest.bench_hash}`, licence: "
        f"{manifest.licence or 'none named'}). Target: {manifest.target}; box form: "
        f"{manifest.box_form}; {manifest.frames}.",
        "",
        "| split | examples | patients |",
        "|---|---|---|",
        *(
            f"| {split} | {count:,} | {manifest.patients[split]:,} |"
            for split, count in manifest.counts.items()
        ),
        "",
        "| left out because | items |",
        "|---|---|",
        *(f"| {reason} | {count:,} |" for reason, count in manifest.left_out.items()),
        "",
        "Ask a model trained on it with `situs run BENCH --profile profile.toml`: the prompts are",
        "the same, byte for byte. Check it with `situs tune check . --model FOLDER`.",
        "",
    ]
    return "\n".join(lines)
