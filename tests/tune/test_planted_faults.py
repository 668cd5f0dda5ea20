"""`situs tune check` on knees and on imported questions: the faults of training pipelines, planted
in a copy of ours, are found there too."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image as Pictures

from situs.profiles import Presenter
from situs.tune import BuildChoices, build_data, check_data, dataset, forms, targets
from tune_sources import Situs, knees, sgmri_vqa

LIMIT = 24
SOURCES: dict[str, tuple[Callable[[Path, Situs], Path], dict[str, Any]]] = {
    "knees": (
        knees,
        {
            "target": "reasoning+boxes+answer",
            "box_form": "json",
            "profile": "3dreasonknee-qwen",
            "frames": "4",
            "size": 64,
        },
    ),
    "sgmri-vqa": (sgmri_vqa, {"box_form": "qwen3", "profile": "sgmri-frames", "frames": "all"}),
}
Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module", params=SOURCES)
def source(
    request: pytest.FixtureRequest, once: Callable[..., Path], situs: Situs
) -> tuple[Path, dict[str, Any]]:
    """A bench, and how its training data are built."""
    make, choices = SOURCES[request.param]
    return once(f"planted-{request.param}", lambda folder: make(folder, situs)) / "bench", choices


def sound(patch: Patch) -> None:
    """Nothing is planted."""


def next_frame(patch: Patch) -> None:
    """Boxes on the frame after theirs."""
    real = forms.BoxForm.objects

    def shifted(self: Any, boxes: Any, space: Any, sizes: Any) -> Any:
        later = [msgspec.structs.replace(box, frame=(box.frame + 1) % len(sizes)) for box in boxes]
        return real(self, later, space, sizes)

    patch.setattr(forms.BoxForm, "objects", shifted)


def smaller_scale(patch: Patch) -> None:
    """999 steps where 1000 were promised."""
    real = forms.BoxForm.objects

    def scaled(self: Any, boxes: Any, space: Any, sizes: Any) -> Any:
        smaller = [
            msgspec.structs.replace(
                box, x0=box.x0 * 0.998, y0=box.y0 * 0.998, x1=box.x1 * 0.998, y1=box.y1 * 0.998
            )
            for box in boxes
        ]
        return real(self, smaller, space, sizes)

    patch.setattr(forms.BoxForm, "objects", scaled)


def cut_completion(patch: Patch) -> None:
    """A length limit took the end."""
    real = dataset.write_target

    def cut(*args: Any) -> Any:
        written = real(*args)
        if isinstance(written, targets.Written):
            return msgspec.structs.replace(written, text=written.text[:-8])
        return written

    patch.setattr(dataset, "write_target", cut)


def blank_more(patch: Patch) -> None:
    """The prompt of a run, and a blank."""
    real = dataset._Examples._prompt_and_pictures

    def longer(self: Any, item: Any) -> Any:
        prompt, images = real(self, item)
        return f"{prompt} ", images

    patch.setattr(dataset._Examples, "_prompt_and_pictures", longer)


def resized(patch: Patch) -> None:
    """Pictures made smaller and larger again."""
    real = Presenter.present

    def blurred(self: Any, item: Any) -> Any:
        presented = real(self, item)
        images = []
        for image in presented.images:
            with Pictures.open(io.BytesIO(image.data)) as picture:
                half = picture.resize((picture.width // 2, picture.height // 2))
                buffer = io.BytesIO()
                half.resize(picture.size).save(buffer, "png")
            images.append(msgspec.structs.replace(image, data=buffer.getvalue()))
        return dataclasses.replace(presented, images=tuple(images))

    patch.setattr(Presenter, "present", blurred)


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (sound, set()),
        (next_frame, {"box-frame", "completion-differs"}),
        (smaller_scale, {"box-shifted", "completion-differs"}),
        (cut_completion, {"completion-differs"}),
        (blank_more, {"prompt-differs"}),
        (resized, {"picture-differs"}),
    ],
)
def test_planted_faults_are_found(
    plant: Callable[[Patch], None],
    expected: set[str],
    source: tuple[Path, dict[str, Any]],
    tmp_path: Path,
) -> None:
    bench, choices = source
    chosen = BuildChoices(splits=("train",), **choices)
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        build_data(bench, tmp_path / "data", chosen)
    checked = check_data(tmp_path / "data", limit=LIMIT)
    assert expected <= set(checked.by_code)
    assert bool(checked.errors) == bool(expected)
    if expected:
        # What is planted in the text is in every example; a box on another frame is another text.
        assert max(checked.by_code.values()) == checked.examples
