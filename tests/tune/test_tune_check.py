"""`situs tune check`: faults planted in a copy of the pipeline, each of which must be found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from situs.profiles import Presenter
from situs.space import FrameBox
from situs.tune import BuildChoices, build_data, check_data, dataset, forms, targets
from tune_cohort import reseal


def rebuilt(trained_on: Path, out: Path, pictures: bool = False, **choices: Any) -> Path:
    """Training data of the bench through the pipeline as it stands now, faults and all."""
    chosen = BuildChoices(profile="sgmri-frames", pictures=pictures, splits=("train",), **choices)
    build_data(trained_on / "bench", out, chosen, allow_restricted=True)
    return out


def codes(folder: Path) -> dict[str, int]:
    return check_data(folder, limit=150).by_code


def test_sound_data_are_proved(trained_on: Path) -> None:
    found = check_data(trained_on / "data", limit=150)
    assert found.problems == ()
    assert "pictures are pixel for pixel those of situs run" in found.proved


def test_boxes_shifted_by_one_frame(
    trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = forms.BoxForm.objects

    def shifted(self: Any, boxes: Any, space: Any, sizes: Any) -> Any:
        later = [msgspec.structs.replace(b, frame=min(b.frame + 1, len(sizes) - 1)) for b in boxes]
        return real(self, later, space, sizes)

    monkeypatch.setattr(forms.BoxForm, "objects", shifted)
    assert codes(rebuilt(trained_on, tmp_path / "d"))["box-frame"] > 0


def test_999_for_1000(trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        forms.BoxForm,
        "_rounded",
        lambda self, value, side, space: int(min(999, max(0, value / side * 999))),
    )
    assert codes(rebuilt(trained_on, tmp_path / "d"))["box-shifted"] > 0


def test_a_cut_completion(
    trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dataset.write_target

    def cut(*args: Any) -> Any:
        written = real(*args)
        if isinstance(written, targets.Written):
            return msgspec.structs.replace(written, text=written.text[:-8])
        return written

    monkeypatch.setattr(dataset, "write_target", cut)
    folder = rebuilt(trained_on, tmp_path / "d")
    lines = (folder / "train.jsonl").read_text().splitlines()
    found = codes(folder)
    assert found["completion-differs"] == min(150, len(lines))
    assert found["scored-wrong"] > 5


def test_a_prompt_with_one_blank_more(
    trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dataset.prompt_text
    monkeypatch.setattr(dataset, "prompt_text", lambda *args: real(*args) + " ")
    folder = rebuilt(trained_on, tmp_path / "d")
    lines = (folder / "train.jsonl").read_text().splitlines()
    assert codes(folder) == {"prompt-differs": min(150, len(lines))}


def test_a_picture_resized_otherwise(
    trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    from PIL import Image as Pictures

    real = Presenter.present

    def smaller(self: Any, item: Any) -> Any:
        shown = real(self, item)
        images = []
        for image in shown.images:
            with Pictures.open(io.BytesIO(image.data)) as picture:
                buffer = io.BytesIO()
                picture.resize((48, 36)).resize((96, 72)).save(buffer, "png")
            images.append(msgspec.structs.replace(image, data=buffer.getvalue()))
        import dataclasses

        return dataclasses.replace(shown, images=tuple(images))

    with monkeypatch.context() as patched:
        patched.setattr(Presenter, "present", smaller)
        folder = rebuilt(
            trained_on, tmp_path / "d", pictures=True, mix={"detection": 0.0, "captioning": 0.0}
        )
    assert codes(folder)["picture-differs"] > 0


def test_a_box_that_leaves_its_range_is_found(
    trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pixels where 0 to 1000 was promised: the mistake behind most reports of ruined grounding."""
    real = forms.BoxForm.objects

    def in_pixels(self: Any, boxes: Any, space: Any, sizes: Any) -> Any:
        plain = msgspec.structs.replace(space, box_scale="pixel")
        return real(self, boxes, plain, sizes)

    monkeypatch.setattr(forms.BoxForm, "objects", in_pixels)
    found = codes(rebuilt(trained_on, tmp_path / "d"))
    assert found.get("box-shifted", 0) + found.get("box-range", 0) > 5


@pytest.fixture
def copy(trained_on: Path, tmp_path: Path) -> Path:
    """A copy of the data that a test may tamper with; its bench is the same."""
    return Path(shutil.copytree(trained_on / "data", tmp_path / "data"))


def rewrite(folder: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change the training table, and the manifest so that it agrees."""
    path = folder / "train.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reseal(folder)


def test_changed_bytes_are_found_by_the_manifest(copy: Path) -> None:
    path = copy / "train.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Yes", b"No ", 1))
    assert codes(copy)["file-changed"] == 1


def test_a_swapped_answer_is_found_by_the_scorer(copy: Path) -> None:
    def swap(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in rows if row["completion"].endswith("Answer: Yes"))
        row["completion"] = row["completion"].replace("Answer: Yes", "Answer: No")

    rewrite(copy, swap)
    assert codes(copy) == {"completion-differs": 1, "scored-wrong": 1}


@pytest.mark.parametrize(
    ("field", "value"), [("boxes", 99), ("patient_id", "someone"), ("task", "counting")]
)
def test_a_field_that_is_not_the_items_is_found(copy: Path, field: str, value: Any) -> None:
    rewrite(copy, lambda rows: rows[0].update({field: value}))
    found = check_data(copy, limit=2)
    assert found.by_code["fields-differ"] == 1
    (problem,) = (one for one in found.problems if one.code == "fields-differ")
    assert problem.problem.endswith(field)


def test_a_missing_and_a_changed_picture(copy: Path) -> None:
    pictures = sorted((copy / "pictures").rglob("*.png"))
    pictures[0].unlink()
    pictures[1].write_bytes(pictures[2].read_bytes())
    found = codes(copy)
    assert found["picture-missing"] == found["picture-changed"] == 1


def test_a_picture_in_two_splits(copy: Path, situs: Callable[..., Any]) -> None:
    rows = [json.loads(line) for line in (copy / "train.jsonl").read_text().splitlines()]
    path = copy / "val.jsonl"
    path.write_text(json.dumps({**rows[0], "split": "val", "patient_id": "other"}) + "\n")
    ran = situs("tune", "check", copy, "--json")
    assert ran.code == 1
    found = {problem["code"] for problem in ran.json["problems"]}
    assert {"series-in-two-splits", "picture-in-two-splits"} <= found


def test_boxes_on_a_thin_side_are_left_out_not_taught(trained_on: Path) -> None:
    thin = FrameBox(0, 10.0, 10.0, 10.02, 30.0, "a")
    form = forms.BOX_FORMS["qwen3"]
    from situs.profiles import AnswerSpace

    space = form.space(AnswerSpace())
    (numbers,) = (one["bbox_2d"] for one in form.objects([thin], space, [(96.0, 72.0)]))
    assert numbers[0] == numbers[2]  # this is why such an item makes no example


@pytest.mark.parametrize(
    ("size", "factor", "expected"),
    [
        # By hand from the published rule: rounded to multiples; then the area bounds.
        ((640, 480), 28, (644, 476)),
        ((100, 100), 32, (256, 256)),
        ((6_000, 3_000), 28, (5068, 2520)),
    ],
)
def test_the_resize_of_qwen(size: tuple[int, int], factor: int, expected: tuple[int, int]) -> None:
    least, most = {28: (3_136, 12_845_056), 32: (65_536, 16_777_216)}[factor]
    assert forms.smart_resize(*size, factor, least, most) == expected
