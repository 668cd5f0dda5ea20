"""Lists of replies as models write them: nearly all are read, none is misread."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from situs.anatomy.banks import levels_in
from situs.items import Option
from situs.profiles import AnswerSpace
from situs.score import (
    Offered,
    Parsed,
    parse_boxes,
    parse_choice,
    parse_choices,
    parse_frames,
    parse_grades,
    parse_number,
    parse_yes_no,
)

HERE = Path(__file__).parent / "replies"
UNITS = {"mm": "mm", "cm": "cm", "mL": "mL", "count": "", "ratio": "ratio"}
LEAST_READ = 0.97
MOST_MISREAD = 0.005
FRAMES = 32
"""Pictures shown, where a list names no later one."""


def read(form, question, options, reply, names=(), frames=FRAMES):
    """What the reply is read as, in the terms of the lists; None if it is not read."""
    match form:
        case "yes_no":
            result = parse_yes_no(reply, question)
            return ("yes" if result.value else "no") if isinstance(result, Parsed) else None
        case "boxes":
            space, sizes, labels = options
            result = parse_boxes(reply, space, sizes, labels)
            return (
                sorted((box.frame, box.x0, box.y0, box.x1, box.y1) for box in result.value)
                if isinstance(result, Parsed)
                else None
            )
        case "choice" | "marks":
            result = parse_choice(reply, options, question)
        case "choices":
            result = parse_choices(reply, options, question)
            return list(result.value) if isinstance(result, Parsed) else None
        case "frames":
            result = parse_frames(reply, 1, frames, question=question)
            return (
                [result.value[0] + 1, result.value[-1] + 1]
                if isinstance(result, Parsed) and result.value
                else None
            )
        case "grades":
            scales = {name: Offered(levels) for name, levels in levels_in(question).items()}
            result = parse_grades(reply, sorted(names), scales)
        case _:
            result = parse_number(reply, UNITS[form], question=question)
            return float(result.value) if isinstance(result, Parsed) else None
    return result.value if isinstance(result, Parsed) else None


def agrees(found, meant):
    if (
        isinstance(found, list)
        and isinstance(meant, list)
        and found
        and isinstance(found[0], tuple)
    ):
        pairs = zip(found, sorted(meant), strict=False)
        return len(found) == len(meant) and all(
            abs(one - other) <= 0.5 for box, true in pairs for one, other in zip(box, true)
        )
    if isinstance(found, float) and isinstance(meant, float):
        return abs(found - meant) <= 0.02 * abs(meant) + 1e-9
    return found == meant


def meaning(form, text):
    if text == "-":
        return None
    if form == "choices":
        return [] if text == "none" else text.split()
    if form == "frames":
        return [int(number) for number in text.split()]
    if form == "grades":
        return {name: int(grade) for name, grade in (pair.split("=") for pair in text.split())}
    return float(text) if form in UNITS else text


def written(name):
    """(form, question, options, names, reply, meaning,
    whether unread is fine as well) of every line of a list."""
    form = question = ""
    options: list[Option] = []
    names: list[str] = []
    for line in (HERE / name).read_text("utf-8").splitlines():
        if not line or line.startswith("//"):
            continue
        if line.startswith("@ "):
            form, question, *rest = line[2:].split(" | ")
            pairs = (
                [option.split("=", 1) for option in rest[0].split(" ; ")]
                if rest and form != "grades"
                else []
            )
            options = [Option(letter.strip(), words.strip()) for letter, words in pairs]
            names = [name.strip() for name in question.split(",")] if form == "grades" else []
            question = rest[0].replace("\\n", "\n") if form == "grades" else question
            continue
        reply, _, text = line.rpartition(" => ")
        loose = text.endswith("?")
        yield (
            form,
            question,
            options,
            names,
            reply.replace("\\n", "\n"),
            meaning(form, text.rstrip("?")),
            loose,
        )


def rates(rows):
    """Share of the replies with a meaning that are read,
    share of all that are misread, and what went wrong."""
    read_right = meant = misread = total = 0
    wrong = []
    for form, question, options, names, reply, means, loose in rows:
        frames = max([FRAMES, *means]) if form == "frames" and means else FRAMES
        found = read(form, question, options, reply, names, frames)
        right = agrees(found, means)
        total += 1
        if means is not None and not loose:
            meant += 1
            read_right += right
        if found is not None and not right and not (means is None and loose):
            misread += 1
        if not right and not (loose and (found is None or means is None)):
            wrong.append((question, reply, means, found))
    return read_right / meant, misread / total, wrong


LISTS = {
    "written.txt": LEAST_READ,
    "held_out.txt": LEAST_READ,
    "third.txt": LEAST_READ,
    "fourth.txt": LEAST_READ,
    "fifth.txt": LEAST_READ,
    "sixth.txt": LEAST_READ,
    # Written before a first look. Each was read for the first time with the reader of its day;
    # docs/statistics.md has those rates.
    "seventh.txt": 0.97,
    "eighth.txt": 0.95,
    "ninth.txt": 0.96,
    "tenth.txt": 0.97,
    "eleventh.txt": 0.93,
    "twelfth.txt": 0.98,
    "thirteenth.txt": 0.96,
    "fourteenth.txt": 0.97,
    "fifteenth.txt": 0.97,
    "sixteenth.txt": 0.97,
    "seventeenth.txt": 0.99,
    "eighteenth.txt": 0.55,
    "nineteenth.txt": 0.97,
    "twentieth.txt": 0.97,
    "twentyfirst.txt": 0.97,
    "voices_chatty.txt": 0.97,
    "voices_reasoning.txt": 0.97,
    "voices_dictated.txt": 0.93,
    "bench_voices.txt": 0.97,
    "bench_voices_again.txt": 0.97,
    "lecture.txt": 0.97,
    "ward.txt": 0.97,
    "thinkers.txt": 0.97,
    "tutors.txt": 0.95,
    "twenty_models.txt": 0.97,
    "twenty_models_again.txt": 0.97,
    "third_sitting.txt": 0.95,
    "walk_in.txt": 0.98,
    "walk_in_intricate.txt": 0.91,
    "walk_in_again.txt": 0.98,
    "walk_in_third.txt": 0.95,
    "night_shift.txt": 0.99,
    "night_shift_odd.txt": 0.96,
    "second_night.txt": 0.99,
    "second_night_odd.txt": 0.98,
    "third_night.txt": 0.98,
    "night_hostile.txt": 0.85,
    "counter.txt": 0.99,
    "counter_again.txt": 0.97,
    "counter_third.txt": 0.97,
    # Written by authors who had not seen the reader (but for "tried.json"); the intricate ones are not all
    # read yet.
    "chatty.json": LEAST_READ,
    "terse.json": LEAST_READ,
    "intricate.json": 0.95,
    "broad.json": 0.99,
    "guarded.json": 0.955,
    "plain.json": LEAST_READ,
    "tried.json": 0.965,
    "models.json": 0.99,
    "reasoned.json": LEAST_READ,
    "trapped.json": 0.985,
    "argued.json": 0.94,
    "mingled.json": LEAST_READ,
    "families.json": LEAST_READ,
    "explained.json": 0.965,
    "plainest.json": 0.99,
    "halves.json": 0.95,
    "bench_questions.json": 0.99,
    "asked_again.json": 0.99,
    "model_styles.json": 0.99,
    "brain_and_body.json": 0.98,
    "once_more.json": 0.98,
    "unusual.json": 0.94,
    "fresh_author.json": 0.94,
    "many_voices.json": 0.99,
    "many_voices_again.json": 0.97,
    "new_hands.json": 0.98,
    "new_hands_again.json": 0.98,
    "new_hands_third.json": 0.97,
    "new_hands_fourth.json": 0.98,
    "lone_author.json": 0.98,
    "lone_author_again.json": 0.98,
    "lone_author_third.json": 0.96,
}
"""Lists of replies, and the share of each that is read at least."""
GAPS = HERE / "gaps.json"
"""Of each list the replies that are not read as their author meant, and what they are read as."""


def rows_of(name):
    """The replies of a list, in the terms of `written`."""
    if name.endswith(".txt"):
        return written(name)
    return (recorded if name in BY_REPLY else grouped)(HERE / name)


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_replies(name):
    """Nearly all are read, none is misread, and none that was read as meant is lost: a change to the
    reader that trades replies is to be seen as such (`python tests/score/test_replies.py` writes
    the gaps anew)."""
    share, misread, wrong = rates(rows_of(name))
    assert share >= LISTS[name], wrong
    assert misread <= MOST_MISREAD, wrong
    known = json.loads(GAPS.read_text("utf-8")).get(name, [])
    assert [gap for gap in gaps(wrong) if gap not in known] == []


def gaps(wrong):
    """Question, reply and what it is read as, as JSON has them."""
    return json.loads(json.dumps([[question, reply, found] for question, reply, _, found in wrong]))


BY_REPLY = ("chatty.json", "terse.json", "intricate.json")
"""Lists that name the question with each reply."""


def grouped(path):
    """The replies of a list that names each question once."""
    for group in json.loads(path.read_text("utf-8")):
        if group["form"] == "boxes":
            space = AnswerSpace(**group.get("space", {}))
            shown = space, [tuple(map(float, size)) for size in group["sizes"]], group["labels"]
            for reply, means, *loose in group["replies"]:
                yield "boxes", group["question"], shown, [], reply, means, loose == [True]
            continue
        options = [{"letter": letter, "words": words} for letter, words in group["options"]]
        for reply, means, *loose in group["replies"]:
            yield row_of(
                {
                    **group,
                    "options": options,
                    "reply": reply,
                    "means": means,
                    "or_unread": loose == [True],
                }
            )


SAMPLE = Path(os.environ.get("SITUS_REAL_DATA", "")) / "replies.json"


def sampled():
    return recorded(SAMPLE)


def recorded(path):
    return (row_of(row) for row in json.loads(path.read_text("utf-8")))


def row_of(record):
    """A recorded reply in the terms of `written`."""
    form, question, means = record["form"], record["question"], record["means"]
    options = [Option(option["letter"], option["words"]) for option in record["options"]]
    names = list(means) if isinstance(means, dict) else sorted(levels_in(question))
    meant = float(means) if form in UNITS and means is not None else means
    return form, question, options, names, record["reply"], meant, bool(record.get("or_unread"))


FOREIGN = {
    "Ja.", "Oui, la lésion est à droite.", "Non.", "是的", "Sí.", "Nein, sie liegt links.", "答案:B",
    "答案\uff1aB",
    "La respuesta correcta es la opción C.", "Die richtige Antwort ist A.", "La réponse est (B).",
    "正确答案是A。",
    "Antwort: 128,5 mm", "La distancia es de aproximadamente 22 mm.", "约111毫米", "zwei Läsionen",
    "dos lesiones",
}  # fmt: skip


@pytest.mark.real
@pytest.mark.skipif(not SAMPLE.is_file(), reason="SITUS_REAL_DATA holds no replies.json")
def test_the_shared_sample_of_replies():
    """Those in other languages are not read without a declaration; the rest is."""
    rows = [row for row in sampled() if row[4] not in FOREIGN]
    share, misread, wrong = rates(rows)
    # Two numbers of the sample are rounded by more than the 2 % it allows; they are read as they
    # stand.
    rounded = {"~12 mm", "11 to 14 mm, best estimate 13 mm"}
    assert [row for row in wrong if row[1] not in rounded] == []
    assert share >= LEAST_READ
    assert misread <= 2 / len(rows)
    assert all(read(*row[:3], row[4], row[3]) is None for row in sampled() if row[4] in FOREIGN)


LANGUAGES = [
    ("de", "Ja.", True),
    ("de", "Nein, sie liegt links.", False),
    ("de", "Die Antwort ist nein.", False),
    ("fr", "Oui, la lésion est à droite.", True),
    ("fr", "Non.", False),
    ("es", "Sí.", True),
    ("es", "La respuesta es no.", False),
    ("zh", "是的", True),
    ("zh", "答案是否", False),
    ("de", "No.", False),
]


@pytest.mark.parametrize(("language", "reply", "expected"), LANGUAGES)
def test_a_declared_language_is_read(language, reply, expected):
    assert parse_yes_no(reply, language=language) == Parsed(expected)


@pytest.mark.parametrize(
    ("language", "reply", "expected"),
    [
        ("de", "Die richtige Antwort ist A.", "l"),
        ("de", "Es ist nicht A, sondern B.", "r"),
        ("de", "Links.", "l"),
        ("fr", "La réponse est (B).", "r"),
        ("fr", "À gauche.", "l"),
        ("es", "La respuesta correcta es la opción B.", "r"),
        ("es", "No es A, sino B.", "r"),
        ("zh", "正确答案是A。", "l"),
        ("zh", "不是A,而是B", "r"),
    ],
)
def test_options_in_a_declared_language(language, reply, expected):
    options = (Option("l", "the left"), Option("r", "the right"))
    assert parse_choice(reply, options, language=language) == Parsed(expected)
    assert not isinstance(parse_choice(reply, options), Parsed)


@pytest.mark.parametrize(
    ("language", "reply", "unit", "expected"),
    [
        ("de", "Antwort: 128,5 mm", "mm", 128.5),
        ("es", "La distancia es de aproximadamente 22 mm.", "mm", 22),
        ("zh", "约111毫米", "mm", 111),
        ("de", "zwei Läsionen", "", 2),
        ("es", "dos lesiones", "", 2),
        ("fr", "environ 3 centimètres", "cm", 3),
    ],
)
def test_numbers_in_a_declared_language(language, reply, unit, expected):
    result = parse_number(reply, unit, language=language)
    assert isinstance(result, Parsed)
    assert float(result.value) == expected


CHATTY = [
    "{}",
    "**{}**",
    "Sure! Here is my answer: {}",
    "Looking at the images carefully, I conclude that the answer is {}.",
    "<think>Hmm, could it be something else? No. Let me check again.</think>\n\n{}",
    "### Reasoning\nThe structures were compared slice by slice.\n\n### Answer\n{}",
    "Final answer: {}",
    "I am not entirely sure, but my best guess is {}.",
    "At first I was unsure. After checking every slice, I would say {}.",
    "```\n{}\n```",
    "The images show this clearly. Therefore, the answer is {}.",
    "Answer: {}\n\nExplanation: the other possibilities do not fit the images.",
]


@pytest.mark.parametrize("style", CHATTY)
def test_a_perfect_but_chatty_reader_is_read(style):
    options = (
        Option("l", "the left"),
        Option("r", "the right"),
        Option("s", "they differ by less than 5 %"),
    )
    assert parse_yes_no(style.format("no")) == Parsed(False)
    assert parse_choice(style.format("(B)"), options) == Parsed("r")
    assert parse_choice(style.format("the left"), options) == Parsed("l")
    number = parse_number(style.format("42 mm"), "mm")
    assert isinstance(number, Parsed)
    assert number.value == 42
    assert parse_frames(style.format("slices 3-7"), 1, 20) == Parsed((2, 3, 4, 5, 6))
    assert parse_choices(style.format("A, C"), options) == Parsed(("l", "s"))


def test_a_list_of_replies_with_boxes():
    """Written before a first look; null means that no box is given, or not for sure."""
    wrong = []
    for reply, means in json.loads((HERE / "boxes.json").read_text("utf-8")):
        result = parse_boxes(reply, AnswerSpace(), [(512.0, 512.0)], ["meniscal tear"])
        boxes = result.value if isinstance(result, Parsed) else []
        found = sorted([box.x0, box.y0, box.x1, box.y1] for box in boxes)
        if found != sorted(means or []):
            wrong.append((reply, means, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("Not [10, 20, 30, 40] but [50, 60, 90, 95].", 1),
        ("At first I thought [10, 20, 30, 40], but it is [50, 60, 90, 95].", 1),
        ("[10, 20, 30, 40]? No. [50, 60, 90, 95].", 1),
        ("The tear is not subtle: [10, 20, 30, 40], [50, 60, 90, 95]", 2),
        ("There is no effusion, only tears at [10, 20, 30, 40] and [50, 60, 90, 95].", 2),
    ],
)
def test_boxes_that_are_denied_or_left_again_do_not_count(reply, count):
    result = parse_boxes(reply, AnswerSpace(), [(512.0, 512.0)], ["tear"])
    assert isinstance(result, Parsed)
    assert len(result.value) == count
    assert (50.0, 60.0) in {(box.x0, box.y0) for box in result.value}


if __name__ == "__main__":
    unread = {name: gaps(rates(rows_of(name))[2]) for name in LISTS}
    unread = {name: rows for name, rows in unread.items() if rows}
    GAPS.write_text(json.dumps(unread, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
