"""Boxes on frames from files: fastMRI+, CSV, COCO; what is dirty and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from frame_make import make_cohort
from situs.errors import SitusError
from situs.space import FrameBox
from situs.volumes import Mark, read_annotations, read_sides

HEAD = "file,slice,study_level,x,y,width,height,label\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_rows_become_half_open_boxes_and_study_labels(tmp_path: Path) -> None:
    text = HEAD + "file1000001,3,No,10,20,5,6,Meniscus Tear\nfile1000001,0,Yes,,,,,artifact\n"
    read = read_annotations([write(tmp_path / "knee.csv", text)])
    (own,) = read.annotations
    assert own.organ == "knee"
    assert own.boxes == (FrameBox(3, 10.0, 20.0, 15.0, 26.0, "meniscus_tear"),)
    assert own.study_labels == ("artifact",)
    assert not own.reviewed
    assert not own.read_as_normal


def test_a_listed_volume_without_rows_was_read_as_normal(tmp_path: Path) -> None:
    table = write(tmp_path / "knee.csv", HEAD + "file1000001,3,No,10,20,5,6,Meniscus Tear\n")
    names = write(tmp_path / "list.csv", "file1000001\nfile1000002\n")
    read = read_annotations([table], [names])
    normal = {own.volume: own.read_as_normal for own in read.annotations}
    assert normal == {"file1000001": False, "file1000002": True}
    assert (read.counts["knee.csv"].reviewed, read.counts["knee.csv"].in_list_only) == (2, 1)


DIRTY = [
    ("v,1,No,5,5,0,3,Mass", "zero-size"),
    ("v,1,No,5,-1,6,3,Mass", "outside"),
    ("v,1,No,50,50,6,3,Mass", None),
    ("v,1,No,50,50,6,3,Mass", "duplicate"),
    ("v,1,No,50,50,6,3,Edema", "two-labels"),
    ("v,2,No,50,50,6,3,Edema ", "label"),
    ("v,0,Yes,,,,,Normal for age", None),
    ("v,0,Yes,,,,,Motion artifact", "two-study-labels"),
]


def test_each_piece_of_dirt_is_reported_with_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path / "brain.csv", HEAD + "\n".join(row for row, _ in DIRTY) + "\n")
    read = read_annotations([path])
    expected = {(f"brain.csv:{n}", code) for n, (_, code) in enumerate(DIRTY, start=2) if code}
    assert {(problem.where, problem.code) for problem in read.problems} == expected
    (own,) = read.annotations
    boxes = {(box.frame, box.label): box for box in own.boxes if box.y0 < 10}
    assert boxes == {(1, "mass"): FrameBox(1, 5.0, 0.0, 11.0, 2.0, "mass")}
    assert len(own.boxes) == 4


@pytest.mark.parametrize(
    "row",
    [
        "v,1,No,a,5,6,3,Mass",
        "v,,No,1,5,6,3,Mass",
        "v,1.5,No,1,5,6,3,Mass",
        "v,-1,No,1,5,6,3,Mass",
        "v,1,No,1,5,6,Mass",
        "v,1,Perhaps,1,5,6,3,Mass",
        ",1,No,1,5,6,3,Mass",
        "v,1,No,nan,5,6,3,Mass",
        "v,1,No,1,5,1e30,3,Mass",
        "v,99999999,No,1,5,6,3,Mass",
        "v,1e400,No,1,5,6,3,Mass",
        "v,1,No,1,5,6,3,",
    ],
)
def test_unreadable_rows_are_refused_with_their_line(tmp_path: Path, row: str) -> None:
    path = write(tmp_path / "t.csv", HEAD + "v,1,No,1,5,6,3,Mass\n" + row + "\n")
    with pytest.raises(SitusError, match=r"t\.csv:3"):
        read_annotations([path])
    read = read_annotations([path], skip_bad=True)
    assert len(read.annotations[0].boxes) == 1
    assert [problem.where for problem in read.problems] == ["t.csv:3"]


@pytest.mark.parametrize(
    ("row", "mark"),
    [
        ("w,5,No,50,60,0,20,Mass", Mark(5, "mass")),
        ("w,5,No,-30,60,20,20,Mass", Mark(5, "mass")),
        ("w,5,No,5O,60,20,20,Mass", Mark(5, "mass")),
        ("w,x,No,50,60,20,20,Mass", Mark(-1, "mass")),
        ("w,5,No,50,60,20,20,", Mark(5, "")),
        ("w,5,No,50,60,20,Mass", Mark(-1, "")),
        (",5,No,50,60,20,20,Mass", Mark(5, "mass")),
    ],
)
def test_a_volume_whose_only_row_is_left_out_was_not_read_as_normal(
    tmp_path: Path, row: str, mark: Mark
) -> None:
    table = write(tmp_path / "t.csv", HEAD + "v,1,No,1,5,6,3,Mass\n" + row + "\n")
    read = read_annotations([table], [write(tmp_path / "list.csv", "v\nw\n")], skip_bad=True)
    own = {entry.volume: entry for entry in read.annotations}
    assert (own["w"].unusable, own["w"].read_as_normal) == ((mark,), False)
    assert own["v"].unusable == (() if row.startswith("w") else (mark,))


def test_a_volume_may_be_called_by_its_file(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", HEAD + "file1007000.h5,1,No,1,5,6,3,Meniscus Tear\n")
    read = read_annotations(
        [table], [write(tmp_path / "list.csv", "file1007000.h5\nfile1007001\n")]
    )
    assert [own.volume for own in read.annotations] == ["file1007000", "file1007001"]


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", HEAD, "file,slice,x,y,width,height,label,label\n"]
)
def test_files_that_are_not_boxes_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SitusError):
        read_annotations([write(tmp_path / "t.csv", text)])


def test_a_volume_in_two_files_is_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, HEAD + "v,1,No,1,5,6,3,Mass\n") for name in ("a.csv", "b.csv")]
    with pytest.raises(SitusError, match="same volume"):
        read_annotations(paths)


def test_a_list_of_other_volumes_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", HEAD + "v,1,No,1,5,6,3,Mass\n")
    with pytest.raises(SitusError, match="no volume that is annotated"):
        read_annotations([table], [write(tmp_path / "list.csv", "w\n")])


def coco() -> dict[str, object]:
    images = [
        {"id": n, "file_name": f"case7/img_{n}.png", "width": 64, "height": 48} for n in (10, 9, 11)
    ]
    return {
        "images": images,
        "annotations": [{"image_id": 11, "category_id": 1, "bbox": [1, 2, 3, 4]}],
        "categories": [{"id": 1, "name": "Soft Spot"}],
    }


def test_all_formats_give_one_record(tmp_path: Path) -> None:
    as_coco = read_annotations([write(tmp_path / "a.json", json.dumps(coco()))]).annotations
    table = "volume,frame,x0,y0,x1,y1,label\ncase7,2,1,2,4,6,soft spot\n"
    as_table = read_annotations([write(tmp_path / "a.csv", table)]).annotations
    assert [own.boxes for own in as_coco] == [own.boxes for own in as_table]
    assert (as_coco[0].frames, as_coco[0].size) == (3, (64, 48))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["k/k_slice_005.png", "k/k_slice_009.png"], "numbered from 5"),
        (["k/k_slice_5.png"], "numbered from 5"),
        (["k/2.png", "k/10.png", "k/3.png"], "numbered 9, but one is numbered 10"),
        (["k/k_slice_000.png", "k/k_slice_002.png"], "numbered 1, but one is numbered 2"),
    ],
)
def test_images_with_missing_numbers_are_not_renumbered(
    tmp_path: Path, names: list[str], said: str
) -> None:
    images = [{"id": name, "file_name": name} for name in names]
    boxes = [{"image_id": name, "category_id": 1, "bbox": [1, 2, 3, 4]} for name in names]
    entry = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "Spot"}]}
    with pytest.raises(SitusError, match=said):
        read_annotations([write(tmp_path / "a.json", json.dumps(entry))])
    for number, image in enumerate(images):
        image["frame"] = 4 * number  # type: ignore[assignment]
    (own,) = read_annotations([write(tmp_path / "a.json", json.dumps(entry))]).annotations
    assert [box.frame for box in own.boxes] == [4 * number for number in range(len(names))]


@pytest.mark.parametrize("what", ["image", "category", "bbox", "frames"])
def test_broken_coco_is_refused(tmp_path: Path, what: str) -> None:
    entry = coco()
    row = entry["annotations"][0]  # type: ignore[index]
    if what == "image":
        row["image_id"] = 99
    elif what == "category":
        row["category_id"] = "x"
    elif what == "bbox":
        row["bbox"] = [1, 2, 3]
    else:
        entry["images"][0]["frame"] = 1  # type: ignore[index]
    with pytest.raises(SitusError):
        read_annotations([write(tmp_path / "a.json", json.dumps(entry))])


def test_the_hash_does_not_depend_on_rows_order_or_names(tmp_path: Path) -> None:
    cohort = make_cohort(count=4)
    files, lists = cohort.write(tmp_path)
    before = {own.volume: own.hash for own in read_annotations(files, lists).annotations}
    for path in files:
        head, *rows = path.read_text().splitlines()
        path.write_text("\n".join([head, *reversed(rows)]) + "\n")
    assert {own.volume: own.hash for own in read_annotations(files, lists).annotations} == before


@pytest.mark.parametrize(
    "text",
    [
        "file\nv\n",
        "file,medial\nv,up\n",
        "file,medial,midline_x\nv,left,nan\n",
        "file,medial\nv,left\nv,left\n",
    ],
)
def test_broken_tables_of_sides_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SitusError):
        read_sides(write(tmp_path / "sides.csv", text))


def test_known_labels_are_cleaned_up_however_they_are_spelt(tmp_path: Path) -> None:
    spellings = ["Joint Effusion ", "joint effusion", "Joint-Effusion"]
    rows = "".join(f"v,{n},No,1,5,6,3,{label}\n" for n, label in enumerate(spellings))
    read = read_annotations([write(tmp_path / "t.csv", HEAD + rows)])
    assert Counter(box.label for box in read.annotations[0].boxes) == {"joint_effusion": 3}
