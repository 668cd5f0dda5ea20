"""`situs tune export`: one folder, written whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json
from situs.base.publish import new_folder
from situs.errors import SitusError, did_you_mean
from situs.tune.checks.folder import FolderCheck, refuse, refuse_changed
from situs.tune.checks.problems import Problems
from situs.tune.exports.launch import write_launch
from situs.tune.exports.rows import ROWS, obstacle
from situs.tune.record import TrainingData, open_data

__all__ = ["Exported", "export_data"]

_MARKER = "export.json"
Progress = Callable[[int, int], None]


class Exported(msgspec.Struct, frozen=True):
    """What was written."""

    to: str
    examples: dict[str, int]
    pictures: int
    left_out: dict[str, int]
    restricted: bool


def export_data(
    folder: Path,
    to: str,
    out: Path,
    *,
    allow_restricted: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> Exported:
    """Training data as files that a trainer loads, with a launch file beside them."""
    if to not in ROWS:
        raise SitusError(f"unknown trainer {to!r}", where="--to", fix=did_you_mean(to, ROWS))
    data = open_data(folder)
    if not data.manifest.with_pictures:
        raise SitusError(
            "was built without pictures", where=folder, fix="build it without --no-pictures"
        )
    if data.manifest.restricted and to == "openai" and not allow_restricted:
        raise SitusError(
            "its data are restricted, and this format is made to be uploaded",
            where=folder,
            fix="choose a trainer that runs here, or add --allow-restricted if you may",
        )
    refuse_changed(data)
    left_out: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    shown: set[str] = set()
    with new_folder(out, marker=_MARKER, overwrite=overwrite) as scratch:
        total, done = sum(data.manifest.counts.values()), 0
        for split in data.manifest.counts:
            rows = _rows(data, split, to, left_out, shown)
            for row in _written(scratch, split, to, rows):
                counts[split] += bool(row)
                done += 1
                progress(done, total)
        if not any(counts.values()):
            reasons = ", ".join(f"{why} ({n:,})" for why, n in left_out.most_common(3))
            raise SitusError(
                f"no example is left for {to}: {reasons or 'there was none'}",
                where=folder,
                fix="choose another trainer, or build with fewer --frames",
            )
        if to != "openai":
            _copy_pictures(folder, shown, scratch)
        shutil.copyfile(folder / "profile.toml", scratch / "profile.toml")
        notes = write_launch(to, scratch, data.manifest)
        banner = ["**RESTRICTED DATA. Do not publish or pass on this folder.**", ""]
        readme = [f"# Training data for {to}", "", *(banner if data.manifest.restricted else [])]
        (scratch / "README.md").write_text("\n".join([*readme, *notes, ""]), "utf-8")
        exported = Exported(
            to,
            dict(counts),
            len(shown),
            dict(sorted(left_out.items())),
            data.manifest.restricted,
        )
        (scratch / _MARKER).write_bytes(
            msgspec.json.format(canonical_json(exported), indent=2) + b"\n"
        )
    return exported


def _copy_pictures(folder: Path, names: set[str], out: Path) -> None:
    """The pictures that were looked at: whatever else lies beside them, links too, stays there."""
    for name in sorted(names):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, out / name)


def _rows(
    data: TrainingData, split: str, to: str, left_out: Counter[str], shown: set[str]
) -> Iterator[dict[str, Any]]:
    """Rows for a trainer; the pictures they show are added to `shown`."""
    problems = Problems()
    pictures = FolderCheck(data.folder, problems)
    for example in data.examples(split):
        for name in example.pictures:
            # A picture that is not what its name says, or lies elsewhere, is not handed on.
            pictures.size(name, example.item_id)
        refuse(problems, data.folder)
        reason = obstacle(example, to)
        if reason:
            left_out[reason] += 1
        else:
            shown.update(example.pictures)
            yield ROWS[to](example, data.folder)


def _written(
    folder: Path, split: str, to: str, rows: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Write rows as they come: JSON lines, or the one JSON list that Qwen's script reads."""
    as_list = to == "qwen"
    path = folder / f"{split}.{'json' if as_list else 'jsonl'}"
    with path.open("w", encoding="utf-8") as stream:
        if as_list:
            stream.write("[")
        for number, row in enumerate(rows):
            if as_list and number:
                stream.write(",")
            text = json.dumps(row, ensure_ascii=False)
            stream.write(f"\n{text}" if as_list else f"{text}\n")
            yield row
        if as_list:
            stream.write("\n]\n")
