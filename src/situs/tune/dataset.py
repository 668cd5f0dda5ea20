"""Training examples from a bench, as a stream, in one folder or none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path

import msgspec

from situs.base.engines import HERE, Engine, map_on
from situs.base.files import canonical_json, write_atomic
from situs.base.publish import new_folder
from situs.base.workers import Lost
from situs.bench import Bench, open_bench
from situs.errors import SitusError
from situs.items import Item
from situs.profiles import Image, Presenter, Profile, SliceStore, load_profile, prompt_text
from situs.run import Viewing
from situs.tune.forms import BoxForm, box_form, fits_grid
from situs.tune.record import FORMAT, MARKER, Example, Manifest
from situs.tune.selection import Selection, Selector
from situs.tune.targets import LeftOut, check_target, is_negative, write_target
from situs.tune.wording import training_profile
from situs.tune.writer import ExampleWriter

__all__ = [
    "SPLITS",
    "BuildChoices",
    "Built",
    "build_from_bench",
    "built_of",
    "check_splits",
    "refuse_restricted",
]

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
    """Share of examples with nothing to find, among those with boxes; None: as they come."""
    most_boxes: int = 64
    max_length: int = 0
    """Examples with more tokens are left out; 0 for no limit."""
    model: Path | None = None
    """A model's folder, whose tokenizer counts the tokens; without it they are estimated."""
    seed: int = 0
    pictures: bool = True


class Built(msgspec.Struct, frozen=True):
    """What was written."""

    target: str
    examples: dict[str, int]
    pictures: int
    negative: int
    by_task: dict[str, int]
    left_out: dict[str, int]
    lengths: dict[str, int]
    """Family → tokens of the longest example, estimated."""
    restricted: bool
    profile: str


def build_from_bench(
    folder: Path,
    out: Path,
    choices: BuildChoices,
    *,
    data: Path | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda done, total: None,
    engine: Engine = HERE,
) -> Built:
    """Write the training data of a bench; `engine` draws the pictures, study by study.

    Raises `SitusError` where the test split is asked for, where a patient is in two splits, and
    where nothing is left.
    """
    check_target(choices.target)
    check_splits(choices.splits)
    form = box_form(choices.box_form)
    bench = open_bench(folder)
    refuse_restricted(bench, allow_restricted)
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
        writer = ExampleWriter(
            scratch, choices.box_form, max_length=choices.max_length, model=choices.model
        )
        studies = (
            list(study_items)
            for _, study_items in groupby(selector.items(), key=lambda i: i.study_id)
        )
        worker = partial(_open_drawing, folder.resolve(), profile, choices, data)
        number = 0
        with closing(map_on(engine, worker, studies)) as results:
            for drawn in results:
                if isinstance(drawn, Lost):
                    fix = "give it more memory (fewer --jobs)"
                    raise SitusError(drawn.reason, where=drawn.job[0].study_id, fix=fix)
                for one in drawn:
                    if reason := one if isinstance(one, str) else writer.add(*one):
                        writer.left_out[reason] += 1
                number += len(drawn)
                progress(number, selector.total)
        writer.left_out.update(selector.left_out)
        manifest = writer.finish(
            _about(bench, profile, choices),
            profile,
            source=folder,
            needed=choices.splits[0],
            fix="try another target or profile, or build a bench with a train split",
        )
        where = canonical_json({"bench": str(bench.folder.resolve())}) + b"\n"
        write_atomic(scratch / "locations.json", where, private=True)
    return built_of(manifest, out)


def refuse_restricted(bench: Bench, allowed: bool) -> None:
    """Pictures of restricted data are copied only by those who say that they may."""
    if bench.info.restricted and not allowed:
        raise SitusError(
            "its data are restricted: pictures would leave the bench",
            where=bench.folder,
            fix="add --allow-restricted if you may hold such a copy; it is marked as restricted",
        )


def built_of(manifest: Manifest, out: Path) -> Built:
    """What a manifest says was written."""
    return Built(
        manifest.target,
        manifest.counts,
        manifest.pictures,
        manifest.negative,
        manifest.by_task,
        manifest.left_out,
        {one.family: one.longest for one in manifest.lengths},
        manifest.restricted,
        str(out / "profile.toml"),
    )


def check_splits(splits: tuple[str, ...]) -> None:
    """Refuse the test split, and what is no split."""
    for split in splits:
        if split not in SPLITS:
            problem = (
                "the test split is for evaluation only"
                if split == "test"
                else f"no training split is called {split!r}"
            )
            raise SitusError(problem, where="--split", fix=f"give {' or '.join(SPLITS)}")


_Sizes = list[tuple[float, float]]
_Drawn = tuple[Example, tuple[Image, ...], _Sizes] | str
"""An item's example with its pictures and their sizes, or why there is none."""


def _open_drawing(
    folder: Path, profile: Profile, choices: BuildChoices, data: Path | None
) -> Callable[[list[Item]], list[_Drawn]]:
    """What a worker does with the items of its studies."""
    form = box_form(choices.box_form)
    return _Examples(open_bench(folder), profile, form, choices, data).of_study


class _Examples:
    """Makes examples of items, under one profile."""

    def __init__(
        self,
        bench: Bench,
        profile: Profile,
        form: BoxForm,
        choices: BuildChoices,
        data: Path | None,
    ) -> None:
        self._profile, self._form, self._choices = profile, form, choices
        self._presenter = Presenter(bench, profile, store=SliceStore(), data=data)
        self._viewing = Viewing(bench, profile)

    def of_study(self, items: list[Item]) -> list[_Drawn]:
        """The example of each item."""
        return [self._drawn(item) for item in items]

    def _drawn(self, item: Item) -> _Drawn:
        if not item.series or not self._presenter.series(item).image_hash:
            return "its study has no image"
        written = write_target(item, self._choices.target, self._form, self._viewing)
        if isinstance(written, LeftOut):
            return written.reason
        if len(written.boxes) > self._choices.most_boxes:
            return f"more than {self._choices.most_boxes} boxes (--most-boxes)"
        if self._choices.pictures and self._presenter.hidden(item):
            return "not answerable under the profile"
        prompt, images = self._prompt_and_pictures(item)
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
            pictures=(),
            shown=len(sizes),
            boxes=len(written.boxes) if self._choices.target != "answer" else -1,
            negative=is_negative(item),
        )
        return example, images, sizes

    def _prompt_and_pictures(self, item: Item) -> tuple[str, tuple[Image, ...]]:
        """The words and pictures that a run sends;
        without pictures the same words, from the geometry."""
        if self._choices.pictures:
            presented = self._presenter.present(item)
            return presented.prompt, presented.images
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


def _about(bench: Bench, profile: Profile, choices: BuildChoices) -> Manifest:
    """What the data are of, before anything is counted."""
    info = bench.info
    return Manifest(
        format=FORMAT,
        bench=info.name,
        bench_hash=info.content_hash,
        source=info.source,
        licence=info.licence,
        restricted=info.restricted,
        target=choices.target,
        box_form=choices.box_form,
        frames=_frames_words(profile),
        mix=choices.mix,
        negatives=choices.negatives,
        seed=choices.seed,
        with_pictures=choices.pictures,
        notes=() if choices.pictures else ("built without pictures: visibility was not judged",),
    )


def _frames_words(profile: Profile) -> str:
    view = profile.view
    if view.every_mm is not None:
        return f"one slice every {view.every_mm:g} mm"
    return {"all": "all slices", "item": "the item's slices, else all"}.get(
        str(view.slices), f"at most {view.slices} slices, evenly spread"
    )
