"""`situs tune build`: training examples from a bench, as a stream, in one folder or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import msgspec

from situs import __version__
from situs.base.files import canonical_json, digest, write_atomic
from situs.base.publish import new_folder
from situs.bench import Bench, open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Image, Presenter, Profile, SliceStore, load_profile, prompt_text
from situs.run import Viewing
from situs.tune.forms import BoxForm, box_form, fits_grid
from situs.tune.lengths import LengthTally
from situs.tune.record import MARKER, Example, Manifest
from situs.tune.selection import Selection, Selector
from situs.tune.targets import LeftOut, check_target, is_negative, write_target
from situs.tune.wording import profile_text, training_profile

__all__ = ["SPLITS", "BuildChoices", "Built", "build_data"]

SPLITS = ("train", "val")
"""What a model may learn from or be watched on; the test split is never among them."""

Progress = Callable[[int, int], None]


class BuildChoices(msgspec.Struct, frozen=True):
    """What to train on."""

    target: str = "boxes+answer"
    box_form: str = "qwen3"
    profile: str = "default"
    frames: str = "profile"
    """`profile`, `all`, `item`, or a number of slices."""
    size: int = 0
    """Pictures of so many pixels square instead of the profile's size."""
    splits: tuple[str, ...] = SPLITS
    mix: dict[str, float] = {}
    """Task → share of its items that is taken; tasks that are not named are taken whole."""
    negatives: float | None = None
    """Share of examples with nothing to be found, among those with boxes; None: as they come."""
    most_boxes: int = 64
    seed: int = 0
    pictures: bool = True


class Built(msgspec.Struct, frozen=True):
    """What was written."""

    examples: dict[str, int]
    pictures: int
    negative: int
    by_task: dict[str, int]
    left_out: dict[str, int]
    lengths: dict[str, int]
    """Family → tokens of the longest example, estimated."""
    restricted: bool
    profile: str


def build_data(
    folder: Path,
    out: Path,
    choices: BuildChoices,
    *,
    data: Path | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
) -> Built:
    """Write the training data of a bench.

    Raises `SitusError` where the test split is asked for, where a patient is in two splits, and
    where nothing is left.
    """
    check_target(choices.target)
    _check_splits(choices.splits)
    form = box_form(choices.box_form)
    bench = open_bench(folder)
    if bench.info.restricted and not allow_restricted:
        raise SitusError(
            "its data are restricted: pictures would leave the bench",
            where=folder,
            fix="add --allow-restricted if you may hold such a copy; it is marked as restricted",
        )
    profile = training_profile(
        load_profile(choices.profile),
        choices.target,
        form,
        frames=choices.frames,
        size=choices.size,
    )
    selector = Selector(
        bench, Selection(choices.splits, choices.mix, choices.negatives, choices.seed)
    )
    with new_folder(out, marker=MARKER, overwrite=overwrite) as scratch:
        writer = _Writer(bench, profile, form, choices, scratch, data)
        for number, item in enumerate(selector.items(), start=1):
            writer.add(item)
            progress(number, selector.total)
        writer.left_out.update(selector.left_out)
        manifest = writer.finish()
        where = canonical_json({"bench": str(bench.folder.resolve())}) + b"\n"
        write_atomic(scratch / "locations.json", where, private=True)
    return Built(
        manifest.counts,
        manifest.pictures,
        manifest.negative,
        manifest.by_task,
        manifest.left_out,
        {one.family: one.longest for one in manifest.lengths},
        manifest.restricted,
        str(out / "profile.toml"),
    )


def _check_splits(splits: tuple[str, ...]) -> None:
    for split in splits:
        if split not in SPLITS:
            problem = (
                "the test split is for evaluation only"
                if split == "test"
                else f"no training split is called {split!r}"
            )
            raise SitusError(problem, where="--split", fix=f"give {' or '.join(SPLITS)}")


class _Writer:
    """Turns items into lines and pictures; holds counts only, whatever the size of the bench."""

    def __init__(
        self,
        bench: Bench,
        profile: Profile,
        form: BoxForm,
        choices: BuildChoices,
        folder: Path,
        data: Path | None,
    ) -> None:
        self._bench, self._profile, self._form, self._choices = bench, profile, form, choices
        self._folder = folder
        self._presenter = Presenter(bench, profile, store=SliceStore(), data=data)
        self._viewing = Viewing(bench, profile)
        self._stack = ExitStack()
        self._files: dict[str, IO[bytes]] = {}
        self._lengths = LengthTally()
        self._written: set[bytes] = set()
        self._sizes: set[tuple[int, int]] = set()
        self.left_out: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._tasks: Counter[str] = Counter()
        self._patients: dict[str, set[str]] = {}
        self._negative = 0

    def add(self, item: Item) -> None:
        """Write an item's example, or count why there is none."""
        reason = self._try(item)
        if reason:
            self.left_out[reason] += 1

    def _try(self, item: Item) -> str:
        if not item.series or not self._presenter.series(item).image_hash:
            return "its study has no image"
        written = write_target(item, self._choices.target, self._form, self._viewing)
        if isinstance(written, LeftOut):
            return written.reason
        if len(written.boxes) > self._choices.most_boxes:
            return f"more than {self._choices.most_boxes} boxes (--most-boxes)"
        if self._choices.pictures and self._presenter.hidden(item):
            return "not answerable under the profile"
        prompt, images = self._shown(item)
        sizes = self._viewing.sizes(item)
        self._check_resize(item, sizes)
        example = Example(
            item_id=item.item_id,
            patient_id=item.patient_id,
            study_id=item.study_id,
            series=item.series,
            split=item.split,
            task=item.task,
            form=item.form,
            prompt=prompt,
            completion=written.text,
            pictures=tuple(self._picture(image) for image in images),
            shown=len(sizes),
            boxes=len(written.boxes) if self._choices.target != "answer" else -1,
            negative=is_negative(item),
            tokens=self._lengths.add((prompt, written.text), sizes),
        )
        self._sizes.update((int(width), int(height)) for width, height in sizes)
        self._line(example)
        return ""

    def _shown(self, item: Item) -> tuple[str, tuple[Image, ...]]:
        """The words and pictures that a run sends; without pictures the same words, from the geometry."""
        if self._choices.pictures:
            shown = self._presenter.present(item)
            return shown.prompt, shown.images
        modality = self._presenter.series(item).modality
        return prompt_text(item, self._profile, self._viewing.layout(item), modality), ()

    def _check_resize(self, item: Item, sizes: list[tuple[float, float]]) -> None:
        """Pixels of a resized picture are pixels of the shown one only if it is not resized."""
        factor = self._form.resized_to
        if not factor or self._choices.target == "answer":
            return
        for width, height in set(sizes):
            if not fits_grid(width, height, factor):
                raise SitusError(
                    f"box form {self._form.name} writes pixels of the resized picture, and "
                    f"{width:g} × {height:g} is no multiple of {factor}",
                    where=item.item_id,
                    fix=f"add --size {max(factor, round(max(width, height) / factor) * factor)}",
                )

    def _picture(self, image: Image) -> str:
        suffix = "jpg" if image.media_type == "image/jpeg" else "png"
        name = digest(image.data)
        path = f"pictures/{name[:2]}/{name}.{suffix}"
        key = bytes.fromhex(name)
        if key not in self._written:
            self._written.add(key)
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

    def finish(self) -> Manifest:
        """Close the files and write profile, manifest and card."""
        self._stack.close()
        if not self._counts["train"] and "train" in self._choices.splits:
            reasons = ", ".join(f"{why} ({n})" for why, n in self.left_out.most_common(3))
            raise SitusError(
                f"no training example is left: {reasons or 'its train split is empty'}",
                where=self._bench.folder,
                fix="try another target or profile, or build a bench with a train split",
            )
        (self._folder / "profile.toml").write_text(profile_text(self._profile), "utf-8")
        info = self._bench.info
        names = [*(f"{split}.jsonl" for split in sorted(self._counts)), "profile.toml"]
        manifest = Manifest(
            format=1,
            bench=info.name,
            bench_hash=info.content_hash,
            source=info.source,
            licence=info.licence,
            restricted=info.restricted,
            profile_hash=load_profile(str(self._folder / "profile.toml")).hash,
            target=self._choices.target,
            box_form=self._form.name,
            frames=_frames_words(self._profile),
            mix=self._choices.mix,
            negatives=self._choices.negatives,
            seed=self._choices.seed,
            counts=dict(sorted(self._counts.items())),
            by_task=dict(sorted(self._tasks.items())),
            patients={split: len(ids) for split, ids in sorted(self._patients.items())},
            negative=self._negative,
            pictures=len(self._written),
            with_pictures=self._choices.pictures,
            sizes=tuple(sorted(self._sizes)),
            lengths=self._lengths.lengths(),
            left_out=dict(sorted(self.left_out.items())),
            files={name: digest((self._folder / name).read_bytes()) for name in names},
            notes=()
            if self._choices.pictures
            else ("built without pictures: visibility was not judged",),
            written_by=__version__,
        )
        (self._folder / MARKER).write_bytes(
            msgspec.json.format(canonical_json(manifest), indent=2) + b"\n"
        )
        (self._folder / "README.md").write_text(_card(manifest), "utf-8")
        return manifest


def _frames_words(profile: Profile) -> str:
    view = profile.view
    if view.every_mm is not None:
        return f"one slice every {view.every_mm:g} mm"
    return {"all": "all slices", "item": "the item's slices, else all"}.get(
        str(view.slices), f"at most {view.slices} slices, evenly spread"
    )


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
