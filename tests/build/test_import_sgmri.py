"""`situs import sgmri-vqa`: QA files and result files, with boxes as they are given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bench_rows import rows_of, write_rows
from frame_make import write_h5
from published_make import BRAIN, KNEE, QA, RESULTS
from situs.bench import open_bench
from situs.items import Boxes, Choice, Choices, Item, Number, Text, YesNo
from situs.space import FrameBox


def imported(situs: Callable[..., Any], tmp_path: Path, content: object) -> list[Item]:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(content))
    ran = situs("import", "sgmri-vqa", path, "--out", tmp_path / "bench", "--overwrite", "--json")
    assert ran.code == 0, ran.err
    return list(open_bench(tmp_path / "bench").items())


def test_answers_become_what_they_say(situs: Callable[..., Any], tmp_path: Path) -> None:
    items = {(item.task, item.frames): item for item in imported(situs, tmp_path, QA)}
    assert items["detection", (3,)].answer == YesNo(True)
    assert items["detection", (4,)].answer == YesNo(False)
    assert items["classification", (3,)].answer == Choice("B")
    assert [option.text for option in items["classification", (3,)].options] == ["Mass", "Edema"]
    assert items["diagnosis", (3,)].answer == Choices(("A", "C"))
    assert items["counting", ()].answer == Number(3.0, "", (3.0, 3.0))
    assert items["captioning", ()].answer == Text(("A tear in frame 7.",))
    first = items["detection", (3,)]
    assert first.boxes == (FrameBox(3, 10.0, 20.0, 15.0, 26.0, "Mass"),)
    assert first.level == "slice"
    assert first.parameters["gt_answer"] == "Yes, there is."
    assert first.parameters["qa_type"] == "closed_ended"
    assert first.steps[0].text == "A bright spot."
    assert items["counting", ()].parameters["gt_labels"] == "Meniscus Tear"


def test_result_files_are_read_too(situs: Callable[..., Any], tmp_path: Path) -> None:
    (item,) = imported(situs, tmp_path, RESULTS)
    assert item.answer == Boxes((FrameBox(6, 1.0, 2.0, 4.0, 6.0, "Meniscus Tear"),))
    assert item.study_id == KNEE
    assert item.source_id == f"knee_{KNEE}_localization_0"
    assert item.level == "volume"
    assert item.parameters["gt_answer"].startswith("Frame 7")
    assert situs("check", tmp_path / "bench", "--json").json["given"] == 1


def test_boxes_of_a_volume_are_read_from_the_words_of_its_answer(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    said = "A tear. Frame 7: <bbx>[1,2,3,4]</bbx>, Frame 8: <bbx>[1,2,3,5]</bbx>"
    row = {
        "sample_id": f"knee_{KNEE}_video_qa_0",
        "task": "localization",
        "qa_type": "open_ended",
        "bboxes": [],
    }
    row |= {
        "question": "Where?",
        "gt_answer": said,
        "model_output": "Frame 7: <bbx>[1,2,3,4]</bbx>",
        "labels": ["Tear"],
    }
    (item,) = imported(situs, tmp_path, {"results": [row | {"dataset": "knee"}]})
    assert item.answer == Boxes(
        (FrameBox(6, 1.0, 2.0, 4.0, 6.0, ""), FrameBox(7, 1.0, 2.0, 4.0, 7.0, ""))
    )
    assert (item.level, item.parameters["gt_labels"]) == ("volume", "Tear")
    replay = f"replay:{tmp_path / 'in.json'}"
    assert (
        situs(
            "run",
            tmp_path / "bench",
            "--model",
            replay,
            "--profile",
            "sgmri-frames",
            "--out",
            tmp_path / "r",
        ).code
        == 0
    )
    scores = situs("score", tmp_path / "bench", tmp_path / "r", "--protocol", "sgmri-vqa", "--json")
    cells = {c["column"]: c["value"] for table in scores.json["published"] for c in table["cells"]}
    assert cells["localization V"] == 0.5


def published(
    situs: Callable[..., Any], tmp_path: Path, results: object
) -> dict[str, tuple[float | None, int]]:
    (tmp_path / "results.json").write_text(json.dumps(results))
    replay = f"replay:{tmp_path / 'results.json'}"
    ran = situs(
        "run",
        tmp_path / "bench",
        "--model",
        replay,
        "--profile",
        "sgmri-frames",
        "--out",
        tmp_path / "run",
    )
    assert ran.code == 0, ran.err
    scores = situs(
        "score", tmp_path / "bench", tmp_path / "run", "--protocol", "sgmri-vqa", "--json"
    ).json
    assert [e["n"] for e in scores["overall"] if e["metric"] == "box.f1-at-0.5@1"] in (
        [],
        [len(results)],
    )  # type: ignore[arg-type]
    return {
        c["column"]: (c["value"], c["n"]) for table in scores["published"] for c in table["cells"]
    }


@pytest.mark.parametrize("carried", ["sample_id", "volume_id"])
def test_results_find_their_questions_by_volume_and_slice(
    situs: Callable[..., Any], tmp_path: Path, carried: str
) -> None:
    """One text on four slices of two volumes; the results stand in another order."""
    asked, said = [], []
    for number, (volume, slice_num) in enumerate(
        [(KNEE, 4), (KNEE, 9), ("file1000002", 1), ("file1000002", 9)]
    ):
        box = {"x": 100 * number, "y": 20, "width": 30, "height": 40}
        place = {"volume_id": volume, "slice_num": slice_num}
        task = {"level": "slice", "task": "localization", "question": "Where is the tear?"}
        answer = f"Here: <bbx>[{100 * number},20,30,40]</bbx>"
        asked.append(
            place
            | task
            | {"type": "open_ended", "answer": answer, "ground_truth": {"bboxes": [box]}}
        )
        name = {"sample_id": f"knee_image_qa_{volume}_slice_{slice_num:03d}_q2"}
        said.append(
            (name if carried == "sample_id" else place)
            | task
            | {"model_output": answer, "bboxes": [box]}
        )
    assert {item.boxes[0].frame for item in imported(situs, tmp_path, asked)} == {0, 3, 8}
    assert published(situs, tmp_path, said[::-1])["localization V"] == (1.0, 4)


def test_true_boxes_of_a_volume_without_a_frame_match_on_any(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    """As the released code has it: frames are told apart only if a true box has one."""
    row = {
        "sample_id": f"knee_video_qa_{KNEE}_v1",
        "level": "volume",
        "task": "localization",
        "question": "Where?",
    }
    row |= {
        "gt_answer": "<bbx>[128,160,7,8]</bbx>",
        "model_output": "Frame 7: <bbx>[128,160,7,8]</bbx>",
    }
    (item,) = imported(situs, tmp_path, {"results": [row]})
    assert item.answer == Text(("<bbx>[128,160,7,8]</bbx>",))
    assert published(situs, tmp_path, [row])["localization V"] == (1.0, 1)


def test_ids_do_not_depend_on_the_order_of_entries(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    one = {item.item_id: item.answer for item in imported(situs, tmp_path, QA)}
    assert len(one) == len(QA)
    assert {item.item_id: item.answer for item in imported(situs, tmp_path, QA[::-1])} == one


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        3,
        [3],
        [{"question": "?"}],
        [{"question": "?", "answer": "a"}],
        [QA[0] | {"ground_truth": {"bboxes": [{"x": 1}]}}],
        [QA[0] | {"slice_num": "four"}],
    ],
)
def test_other_files_are_refused_in_one_line(
    situs: Callable[..., Any], tmp_path: Path, content: object
) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(content))
    ran = situs("import", "sgmri-vqa", path, "--out", tmp_path / "bench")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not (tmp_path / "bench").exists()


def test_images_are_what_a_model_is_shown(situs: Callable, tmp_path: Path) -> None:
    """fastMRI stores frames upside down;
    the box of a bright patch lies on the patch in the picture that is shown."""
    frames = np.zeros((6, 64, 64), np.float32)
    frames[3, 20:26, 10:15] = 1.0
    write_h5(tmp_path / "images" / f"{BRAIN}.h5", frames)
    (tmp_path / "qa.json").write_text(json.dumps([QA[0] | {"task": "localization"}]))
    command = ("import", "sgmri-vqa", tmp_path / "qa.json", "--out", tmp_path / "bench")
    ran = situs(*command, "--images", tmp_path / "images", "--licence", "CC0-1.0")
    assert ran.code == 0, ran.err
    shown = ("show", tmp_path / "bench", "--profile", "sgmri-frames", "--out", tmp_path / "seen")
    ran = situs(*shown)
    assert ran.code == 0, ran.err
    pictures = sorted((tmp_path / "seen").glob("*.png"))
    assert len(pictures) == 1
    pixels = np.asarray(Image.open(pictures[0]).convert("L"), np.float32)
    bright = np.argwhere(pixels > pixels.max() / 2) / np.array(pixels.shape)
    # The patch covers rows 20–26 and columns 10–15 of 64; pictures may be shown larger.
    assert bright.min(axis=0) == pytest.approx([20 / 64, 10 / 64], abs=1.5 / 64)
    assert bright.max(axis=0) == pytest.approx([26 / 64, 15 / 64], abs=1.5 / 64)
    (item,) = open_bench(tmp_path / "bench").items()
    assert item.answer == Boxes((FrameBox(3, 10.0, 20.0, 15.0, 26.0, "Mass"),))


def test_a_folder_without_the_images_is_named(situs: Callable, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "qa.json").write_text(json.dumps(QA[:1]))
    command = ("import", "sgmri-vqa", tmp_path / "qa.json", "--out", tmp_path / "bench")
    ran = situs(*command, "--images", tmp_path / "images")
    assert ran.code == 2
    assert "holds no volume of the questions" in ran.err
    assert f"{BRAIN}.h5" in ran.err
    assert not (tmp_path / "bench").exists()


def test_a_slice_beyond_what_a_table_holds(situs: Callable[..., Any], tmp_path: Path) -> None:
    rows = [dict(row, slice_num=10**20) if "slice_num" in row else row for row in QA]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    ran = situs("import", "sgmri-vqa", tmp_path / "in.json", "--out", tmp_path / "bench")
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "too large" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


@pytest.mark.parametrize("given", ["[", "[[null, [1, 2]]]", '"x"', "[" * 20_000])
def test_damaged_boxes_of_the_published_set_are_one_line(
    situs: Callable[..., Any], tmp_path: Path, given: str
) -> None:
    bench = tmp_path / "bench"
    boxes = [{"label": "Meniscus Tear", "bbox": [1, 2, 3, 4]}]
    (found,) = RESULTS["results"]
    imported(situs, tmp_path, RESULTS | {"results": [found | {"bboxes": boxes}]})
    rows = rows_of(bench, "items")
    assert rows[0]["parameters"]["gt_boxes"] == "[[null,[1.0,2.0,3.0,4.0]]]"
    rows[0]["parameters"]["gt_boxes"] = given
    write_rows(bench, "items", rows)
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"item_id": rows[0]["item_id"], "response": "[1, 2, 4, 6]"}) + "\n"
    )
    ran = situs("score", bench, tmp_path / "a.jsonl", "--protocol", "sgmri-vqa")
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "published boxes" in ran.err
