"""The quiz: no key in the file, answers that become a run, verdicts that become a rate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from frame_make import make_cohort, write_images
from situs.bench import Bench, open_bench, read_readings
from situs.build import BuildOptions, build_boxes
from situs.errors import SitusError
from situs.facts import load_recipe
from situs.items import Boxes, Choice, Choices, Frames, Item, Text, YesNo, letter_of
from situs.profiles import Presenter, load_profile
from situs.review import QuizDraw, draw_items, import_answers, write_quiz
from situs.review.quiz import _quiz_item
from situs.review.quiz_pictures import QuizPictures, _fitting
from situs.run import Viewing
from situs.score import clopper_pearson, open_replies, read_run


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Boxes, frames, options, yes/no and text on small stacks."""
    root = tmp_path_factory.mktemp("quiz")
    cohort = make_cohort(4, 12)
    files, lists = cohort.write(root / "notes")
    options = BuildOptions("quiz", load_recipe(), licence="synthetic", restricted=False)
    build_boxes(
        files, root / "bench", options, lists=lists, images=write_images(cohort, root / "images")
    )
    return root / "bench"


def payload_of(path: Path) -> Any:
    found = re.search(
        r'<script type="application/json" id="payload">(.*?)</script>',
        path.read_text("utf-8"),
        re.S,
    )
    assert found is not None
    return json.loads(found[1])


def quiz_of(bench: Path, out: Path, **options: Any) -> Any:
    drawn = {name: options.pop(name) for name in ("items", "seed", "split") if name in options}
    write_quiz(bench, out, QuizDraw(**drawn), allow_restricted=True, **options)
    return payload_of(out)


def true_answer(item: Item, shown: Viewing) -> dict[str, Any]:
    """What a reader who is always right would have exported."""
    match item.answer:
        case YesNo(value):
            said: dict[str, Any] = {"text": "yes" if value else "no"}
        case Choice(value):
            said = {"text": letter_of(item, value)}
        case Choices(values):
            said = {"text": ", ".join(sorted(letter_of(item, value) for value in values))}
        case Frames(frames):
            base = shown.space.frame_base
            said = {
                "text": ", ".join(str(place + base) for place in shown.frames(item, frames))
                or "none"
            }
        case Boxes(boxes):
            said = {
                "boxes": [
                    {
                        "frame": b.frame,
                        "x0": b.x0,
                        "y0": b.y0,
                        "x1": b.x1,
                        "y1": b.y1,
                        "label": b.label,
                    }
                    for b in shown.boxes(item, boxes)
                ]
            }
        case Text(references):
            said = {"text": references[0]}
        case other:
            said = {"text": f"{getattr(other, 'value', '')} {getattr(other, 'unit', '')}".strip()}
    return {"item_id": item.item_id, "state": "answered", "said": said, "seconds": 1.5}


def write_answers(
    path: Path, quiz: Any, answers: list[dict[str, Any]], reader: str = "Ann B."
) -> Path:
    path.write_text(json.dumps({"quiz": quiz, "reader": reader, "answers": answers}))
    return path


def items_of(bench: Bench, ids: list[str]) -> list[Item]:
    known = {item.item_id: item for item in bench.items()}
    return [known[key] for key in ids]


def test_the_file_holds_no_key(bench: Path, tmp_path: Path) -> None:
    page = quiz_of(bench, tmp_path / "q.html", profile="sgmri-frames", items=60)
    assert all("key" not in entry for entry in page["items"])
    allowed = {
        "item_id",
        "question",
        "intro",
        "options",
        "parts",
        "pictures",
        "scale",
        "sizes",
        "frame_base",
        "opening",
    }
    assert {name for entry in page["items"] for name in entry} <= allowed
    text = (tmp_path / "q.html").read_text("utf-8")
    for item in items_of(open_bench(bench), page["quiz"]["items"]):
        if isinstance(item.answer, Text):
            assert item.answer.references[0] not in text
        assert not any(fact_id in text for fact_id in item.fact_ids)
    forms = {part["form"] for entry in page["items"] for part in entry["parts"]}
    assert {"boxes", "yes_no", "choices"} <= forms


def test_another_answer_gives_the_same_file(bench: Path, tmp_path: Path) -> None:
    """Nothing in an answer-mode item depends on the key:
    it is the same for a bench with every key changed."""
    profile = load_profile("sgmri-frames")
    presenter = Presenter(open_bench(bench), profile)
    flipped = 0
    for item in open_bench(bench).items():
        if not isinstance(item.answer, YesNo) or flipped >= 5:
            continue
        other = msgspec.structs.replace(item, answer=YesNo(not item.answer.value))
        pictures = QuizPictures(presenter)
        pair = [
            _quiz_item(one, presenter.prompt(one), pictures.add(one), 1, None)
            for one in (item, other)
        ]
        assert pair[0] == pair[1]
        flipped += 1
    assert flipped == 5


def test_right_answers_score_as_a_run(bench: Path, tmp_path: Path) -> None:
    page = quiz_of(bench, tmp_path / "q.html", profile="sgmri-frames", items=60, seed=3)
    opened, profile = open_bench(bench), load_profile("sgmri-frames")
    shown = Viewing(opened, profile)
    items = [i for i in items_of(opened, page["quiz"]["items"]) if not isinstance(i.answer, Text)]
    answers = [true_answer(item, shown) for item in items]
    answers[0] = {"item_id": items[0].item_id, "state": "unsure"}
    file = write_answers(tmp_path / "a.json", page["quiz"], answers)
    result = import_answers(bench, file, tmp_path / "run")
    assert result.states == {"answered": len(items) - 1, "unsure": 1}
    outcomes = read_run(open_replies(tmp_path / "run", bench)).outcomes()
    assert outcomes.keys() == set(page["quiz"]["items"]), "the run is about the sample"
    assert outcomes[items[0].item_id].state == "refused"
    wrong = [i.form for i in items[1:] if not outcomes[i.item_id].right]
    assert wrong == []


def test_verdicts_give_an_exact_rate_on_the_card(bench: Path, tmp_path: Path) -> None:
    page = quiz_of(bench, tmp_path / "v.html", profile="sgmri-frames", items=20, verify=True)
    assert all(entry["key"]["words"] for entry in page["items"])
    assert "Not reader-verified" in (bench / "README.md").read_text()
    states = ["disagree"] * 2 + ["unsure"] * 3 + ["not_visible"] + ["agree"] * 14
    answers = [
        {"item_id": key, "state": state} for key, state in zip(page["quiz"]["items"], states)
    ]
    before = open_bench(bench).info.content_hash
    result = import_answers(bench, write_answers(tmp_path / "v.json", page["quiz"], answers), None)
    errors = result.key_errors
    assert errors is not None
    assert (errors.errors, errors.decided, errors.unsure, errors.not_visible) == (2, 16, 3, 1)
    assert errors.ci95 == clopper_pearson(2, 16)
    card = (bench / "README.md").read_text()
    assert "Not reader-verified" not in card
    assert "key-error rate 12.5 % (2 of 16 items" in card
    assert open_bench(bench).info.content_hash == before
    # A second reader who contradicts leaves those items undecided; the same reader again replaces
    # his file.
    turned = [a | {"state": "agree"} if a["state"] == "disagree" else a for a in answers]
    again = import_answers(
        bench, write_answers(tmp_path / "w.json", page["quiz"], turned, "Ben"), None
    )
    assert again.key_errors is not None
    assert (again.key_errors.errors, again.key_errors.unsure) == (0, 5)
    import_answers(bench, tmp_path / "w.json", None)
    assert len(read_readings(bench)) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file["quiz"].update(bench_hash="0"), "is of another bench"),
        (lambda file: file["quiz"].update(format="x"), r"\$.quiz.format"),
        (lambda file: file.update(reader="../x"), r"\$.reader"),
        (lambda file: file["answers"].append(file["answers"][0]), "occurs twice"),
        (lambda file: file["answers"][0].update(item_id="i0"), "is not an item of the quiz"),
        (
            lambda file: file["answers"][0].update(state="agree"),
            "does not belong to a quiz to answer",
        ),
        (lambda file: file["answers"][0].update(extra=1), "extra"),
    ],
    ids=["bench", "format", "reader", "twice", "stranger", "state", "field"],
)
def test_a_spoilt_file_is_refused(
    bench: Path, tmp_path: Path, change: Callable[[Any], None], said: str
) -> None:
    page = quiz_of(bench, tmp_path / "q.html", profile="sgmri-frames", items=5)
    file = {
        "quiz": page["quiz"],
        "reader": "Ann",
        "answers": [{"item_id": page["quiz"]["items"][0], "state": "unsure"}],
    }
    change(file)
    (tmp_path / "a.json").write_text(json.dumps(file))
    with pytest.raises(SitusError, match=said):
        import_answers(bench, tmp_path / "a.json", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command(bench: Path, tmp_path: Path, situs: Callable[..., Any]) -> None:
    out = tmp_path / "q.html"
    ran = situs("quiz", bench, "--out", out, "--items", 4, "--full-stack", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["items"] == 4
    assert payload_of(out)["quiz"]["profile"]["name"] == "full-stack"
    ran = situs("quiz", bench, "--items", 4)
    assert ran.code == 2
    assert "--out" in ran.err
    ran = situs("quiz", bench, "--out", tmp_path / "r.html", "--items", 99999)
    assert ran.code == 2
    assert not (tmp_path / "r.html").exists()


def test_twenty_are_drawn_or_all_where_there_are_fewer(bench: Path) -> None:
    items = list(open_bench(bench).items())
    assert len(draw_items(items, None, 0)) == 20 < len(items)
    assert draw_items(items[:7], None, 0) == items[:7]


def test_pictures_of_an_item_take_under_700_kb() -> None:
    """Ten slices of noise, which no code makes small."""
    noise = np.random.default_rng(0).integers(0, 256, (10, 320, 320), dtype=np.uint8)
    images = _fitting(list(noise))
    assert 400_000 < sum(4 * -(-len(image.data) // 3) for image in images) < 700_000
    smooth = [np.tile(np.arange(200, dtype=np.uint8), (200, 1))]
    best, again = _fitting(smooth), _fitting(smooth * 2)
    assert best[0].data == again[0].data == again[1].data


def test_a_sheet_links_to_the_pictures_of_its_items(
    bench: Path, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    sheet = tmp_path / "sheets" / "sheet.json"
    page = tmp_path / "look here.html"
    more = ("--items", 6, "--raters", "anna,ben", "--profile", "sgmri-frames")
    ran = situs("audit", "export", bench, *more, "--pictures", page, "--out", sheet)
    assert ran.code == 0, ran.err
    shown = {item["item_id"] for item in payload_of(page)["items"]}
    items = {item.item_id: item for item in open_bench(bench).items()}
    rows = json.loads(sheet.read_text("utf-8"))
    assert len(rows) == 12
    for row in rows:
        item = items[row["item"]]
        assert row["study"] == item.study_id
        assert all(option.text in row["options"] for option in item.options)
        expected = f"../look%20here.html#{item.item_id}" if item.item_id in shown else ""
        assert row["picture"] == expected
    assert shown
