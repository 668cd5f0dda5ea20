"""Questions that are answered by a place: boxes drawn on slices and slices that are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Running, ok


@pytest.fixture
def located(new_station: Callable[..., Running], stacks: Path) -> Running:
    """A station of it, handed out to R1 and R2."""
    running = new_station(bench=stacks, items=60, training=0)
    running.freeze("R1", "R2")
    return running


def hidden_of(running: Running, case: str) -> dict[str, Any]:
    from sqlalchemy import select

    from situs.review.station.store.tables import Assignment, Snapshot, Unit

    with running.database.read() as db:
        row = db.execute(
            select(Unit.kind, Snapshot.hidden)
            .join(Assignment, Assignment.unit_id == Unit.id)
            .join(Snapshot, Snapshot.hash == Unit.snapshot_hash)
            .where(Assignment.public_id == case)
        ).one()
    return {"kind": row[0], **row[1]}


def halved(text: str) -> str:
    """The left half of every box: exactly half of each of them."""
    boxes = json.loads(text)
    for box in boxes:
        box["x1"] = (box["x0"] + box["x1"]) / 2
    return json.dumps(boxes)


def answers_of(view: Any, hidden: dict[str, Any], code: str) -> dict[str, str] | None:
    """R1 marks what the key marks; R2 the left half of each box, and the same slices.

    None: another form.
    """
    places = hidden["places"]
    if set(places) != {part["name"] for part in view["parts"]}:
        return None
    second = code == "R2"
    return {
        name: halved(place["key"]) if second and place["form"] == "boxes" else place["key"]
        for name, place in places.items()
    }


def read_all(running: Running, code: str) -> dict[str, float]:
    """Reads everything; returns of each located item how much of the key's place was marked."""
    person, shares = running.person(code), {}
    while (view := person.case()) is not None:
        hidden = hidden_of(running, view["id"])
        said = answers_of(view, hidden, code)
        if said is None:
            person.read(view)
            continue
        body = {"answers": said, "confidence": 3}
        shown = ok(person.send(f"/assignments/{view['id']}/answer", body, version=view["version"]))
        assert shown["reveal"]["places"] == hidden["places"]
        ok(person.rate(shown))
        boxed = [p for p in hidden["places"].values() if p["form"] == "boxes"]
        shares[hidden["item_id"]] = 0.5 if boxed and code == "R2" else 1.0
    return shares


def test_places_are_read_agreed_on_and_scored(
    located: Running, stacks: Path, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    """Half of every box: overlap one half with the other reader and the key, by formula;
    the right one scores 1."""
    from situs.bench import open_bench
    from situs.review.station.exported import export_station
    from situs.review.station.store.projects import find_project

    first, second = read_all(located, "R1"), read_all(located, "R2")
    shared = sorted(set(first) & set(second))
    assert len(shared) >= 5
    assert {second[key] for key in shared} == {0.5, 1.0}, "boxes and slices are both asked for"
    desk = located.person("C1")
    ok(desk.send(f"/projects/{located.project()}/lock"))
    found = ok(desk.get(f"/projects/{located.project()}/agreement"))
    expected = float(np.mean([second[key] for key in shared]))
    assert found["agreement"]["place"]["n"] == len(shared)
    assert found["agreement"]["place"]["overlap"] == pytest.approx(expected, abs=1e-9)
    assert found["place_overlap"]["R1"]["value"] == pytest.approx(1.0, abs=1e-9)
    halves = float(np.mean(list(second.values())))
    assert found["place_overlap"]["R2"]["value"] == pytest.approx(halves, abs=1e-9)
    with located.database.read() as db:
        project = find_project(db, "pilot")
    export_station(located.database, project, tmp_path / "out", bench=open_bench(stacks))
    ran = situs("score", stacks, tmp_path / "out" / "runs" / "R1", "--json")
    assert ran.code == 0, ran.err
    scored = {entry["metric"]: entry for entry in ran.json["overall"]}
    boxes = [entry for name, entry in scored.items() if "iou" in name.lower()]
    assert boxes
    assert all(entry["value"] == pytest.approx(1.0) for entry in boxes), boxes


def test_what_is_no_place_is_refused(located: Running) -> None:
    person = located.person("R1")
    while (view := person.case()) is not None:
        forms = {part["form"] for part in view["parts"]}
        if forms & {"boxes"}:
            break
        person.read(view)
    columns, rows, slices = view["series"]["shape"]
    name, path = view["parts"][0]["name"], f"/assignments/{view['id']}/answer"
    box = {"frame": 0, "x0": 1, "y0": 1, "x1": 5, "y1": 5, "label": ""}
    bad: list[Any] = ["12", "{}", "[1]", [box | {"x1": 0}], [box | {"frame": slices}]]
    bad += [[box | {"x1": columns + 1}], [box | {"y0": -1}], [box | {"more": 1}], [box] * 41]
    for said in bad:
        words = said if isinstance(said, str) else json.dumps(said)
        body = {"answers": {name: words}, "confidence": 2}
        answer = person.send(path, body, version=view["version"])
        assert answer.status_code == 409, words
    good = json.dumps([box | {"x1": columns, "y1": rows, "frame": slices - 1}])
    ok(person.send(path, {"answers": {name: good}, "confidence": 2}, version=view["version"]))


def test_readers_who_mark_different_places_are_adjudicated() -> None:
    """By the closed form: half of a box still agrees, less does not;
    nor does a place beside "cannot be told"."""
    from situs.review.station.places import KeyPlace
    from situs.review.station.protocol import load_protocol
    from situs.review.station.store.adjudicating import triggers

    protocol, places = load_protocol("default"), {"": KeyPlace("boxes", "[]")}

    def reading(x1: float) -> dict[str, Any]:
        box = {"frame": 2, "x0": 0, "y0": 0, "x1": x1, "y1": 10}
        return {"answers": {"": json.dumps([box])}, "score": 2}

    assert triggers([reading(10), reading(5)], protocol, places) == []
    assert triggers([reading(10), reading(4.9)], protocol, places) == ["answers differ"]
    assert triggers([reading(10), {"cannot": "cut", "score": 2}], protocol, places) == [
        "answers differ"
    ]


def test_the_key_of_a_box_lies_around_its_lesion(
    new_station: Callable[..., Running], lesions: Path
) -> None:
    """On every axial slice of the station the key's box is
    the bounding box of the mask's voxels, within a pixel."""

    from situs.bench import open_bench

    running, usual = new_station("lesions", bench=lesions, items=2, training=0), new_station()
    rows = [(running, *row) for row in located_rows(running)]
    # Slices are asked for on the usual phantoms, whose grids are turned too far to compare boxes in
    # millimetres.
    rows += [(usual, *row) for row in located_rows(usual) if "frames" in str(row[1]["places"])]
    items = {item.item_id: item for item in open_bench(lesions).items()}
    forms = set()
    for where, shown, hidden in rows:
        (place,) = hidden["places"].values()
        forms.add(place["form"])
        name = hidden["structures"][0]["structure"]
        low, mask = stored_mask(where.folder.volumes / hidden["volume"], name)
        across, down, _ = shown["size"]
        seen = np.flatnonzero(mask.any(axis=(0, 1))) + low[2]
        if place["form"] == "frames":
            assert place["key"] == ", ".join(str(n + 1) for n in seen)
            continue
        assert place["solid"] is True
        x, y = (np.flatnonzero(mask.any(axis=axes)) for axes in ((1, 2), (0, 2)))
        # The picture begins at the patient's right and front, where the indices are largest. The
        # key is a box in mm, and phantoms lie a little turned: its corners reach up to a pixel
        # beyond the voxels.
        left, right = across - (low[0] + x[-1] + 1), across - (low[0] + x[0])
        top, bottom = down - (low[1] + y[-1] + 1), down - (low[1] + y[0])
        boxes = json.loads(place["key"])
        assert sorted(box["frame"] for box in boxes) == seen.tolist()
        for box in boxes:
            edges = [box["x0"], box["y0"], box["x1"], box["y1"]]
            assert edges == pytest.approx([left, top, right, bottom], abs=1.0)
        assert items[hidden["item_id"]].form == "boxes"
    assert forms == {"boxes", "frames"}


def test_a_mark_on_a_frame_and_its_slice_are_shown(located: Running, stacks: Path) -> None:
    """The point of the question, at the pixel of its frame; which slice is meant is told too."""
    from sqlalchemy import select

    from situs.bench import open_bench
    from situs.items import marks_of
    from situs.review.station.store.tables import Snapshot

    items = {item.item_id: item for item in open_bench(stacks).items()}
    marked = {key: item for key, item in items.items() if marks_of(item)}
    with located.database.read() as db:
        taken = {held.hidden.get("item_id"): held.shown for held in db.scalars(select(Snapshot))}
    found = [(marked[key], shown) for key, shown in taken.items() if key in marked]
    assert found
    for item, shown in found:
        ((letter, box),) = marks_of(item).items()
        ((drawn, (i, j, k)),) = shown["marks"]
        columns, rows, _ = shown["size"]
        # Pictures begin at the largest index: pixel x is columns - ½ - i.
        assert (drawn, k) == (letter, box.frame)
        assert (columns - 0.5 - i, rows - 0.5 - j) == pytest.approx((box.x0, box.y0), abs=0.01)
        assert shown["frames"] == list(item.frames) == [box.frame]


TRAINED = [
    ({"right": ["B"]}, "B", True),
    ({"right": ["B"]}, "A", False),
    ({"detail": {"number": [94.4, 84.9, 110.0, "mm"]}}, "84,9", True),
    ({"detail": {"number": [94.4, 84.9, 110.0, "mm"]}}, "111", False),
    ({"detail": {"number": [94.4, 84.9, 110.0, "mm"]}}, "about ten", False),
    ({"detail": {"number": [94.4, 84.9, 110.0, "mm"]}}, "9,5 cm", True),
    ({"detail": {"number": [94.4, 84.9, 110.0, "mm"]}}, "purple", None),
    ({"places": {"": {"form": "frames", "key": "3, 4, 5"}}}, "3-4", True),
    ({"places": {"": {"form": "frames", "key": "3, 4, 5"}}}, "5-9", False),
    ({}, "in words", None),
]


@pytest.mark.parametrize(("hidden", "said", "is_right"), TRAINED)
def test_training_tells_right_from_wrong(hidden: Any, said: str, is_right: bool | None) -> None:
    from situs.review.station.web.cases import _feedback

    told, words = _feedback({"right": [], "detail": {}} | hidden, {"answers": {"": said}})
    start = {True: "Your answer was", False: "Your answer differs", None: "Compare"}[is_right]
    assert told is is_right
    assert words.startswith(start)
    untold, words = _feedback({"right": ["A"], "detail": {}}, {"cannot": "cut"})
    assert untold is None
    assert words.startswith("Compare")


def located_rows(running: Running) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Of every item that is answered by one place: what is shown and what is hidden."""
    from sqlalchemy import select

    from situs.review.station.store.tables import Snapshot, Unit

    with running.database.read() as db:
        query = select(Snapshot.shown, Snapshot.hidden)
        query = query.join(Unit, Unit.snapshot_hash == Snapshot.hash).where(Unit.kind == "item")
        return [(row[0], row[1]) for row in db.execute(query) if len(row[1]["places"]) == 1]


def stored_mask(folder: Path, name: str) -> tuple[list[int], np.ndarray]:
    """A structure's voxels as they were stored beside a volume, and where they begin."""
    from situs.base.files import file_name

    # Behind the name stand digits of the labels' hash.
    (path,) = folder.glob(f"mask-{file_name(name)}-*.npz")
    with np.load(path) as stored:
        shape = tuple(int(n) for n in stored["shape"])
        bits = np.unpackbits(stored["bits"], count=int(np.prod(shape))).astype(bool)
        return [int(n) for n in stored["low"]], bits.reshape(shape)
