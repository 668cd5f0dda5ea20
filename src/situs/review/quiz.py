"""The quiz: one HTML file with the questions and pictures of a sample,
and no key unless that is to be verified."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from situs import __version__
from situs.base.files import digest, write_atomic
from situs.base.page import render_page_file
from situs.bench import open_bench
from situs.errors import SitusError
from situs.items import Item, Simple, boxes_in, frames_in, kind_of, parts_of
from situs.profiles import Presenter, ToneScale, load_profile
from situs.review import draw_items
from situs.review.answers import FORMAT, QuizHead
from situs.review.key import key_words
from situs.review.quiz_pictures import ItemPictures, QuizPictures
from situs.run import Viewing
from situs.space import FrameBox

__all__ = ["QuizResult", "write_quiz"]

_SCRIPTS = ("answer.js", "quiz.js")


class PartForm(msgspec.Struct, frozen=True):
    """How one thing is answered."""

    name: str
    form: str
    unit: str = ""
    grades: tuple[str, ...] = ()


class Key(msgspec.Struct, frozen=True):
    """The key, in a quiz that verifies it."""

    words: str
    boxes: tuple[tuple[int, float, float, float, float, str], ...] = ()
    frames: tuple[int, ...] = ()


class QuizItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question."""

    item_id: str
    question: str
    intro: str
    options: tuple[tuple[str, str], ...]
    parts: tuple[PartForm, ...]
    pictures: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    scale: str
    """Key of what the pictures' grey levels mean."""
    frame_base: int
    opening: int | None = None
    """The picture that is shown first, from 0; else the middle one."""
    key: Key | None = None


class QuizPage(msgspec.Struct, frozen=True):
    """What the page's script reads."""

    quiz: QuizHead
    items: tuple[QuizItem, ...]
    pictures: dict[str, str]
    scales: dict[str, ToneScale]


class QuizDraw(msgspec.Struct, frozen=True):
    """Which items of a bench a quiz takes: so many at random, from one split or from all."""

    items: int | None = None
    """How many; None is twenty, or all where there are fewer."""
    seed: int = 0
    split: str | None = None


_USUAL_DRAW = QuizDraw()


class QuizResult(msgspec.Struct, frozen=True):
    """What was written."""

    path: Path
    mode: str
    items: int
    left_out: dict[str, int]
    bytes: int
    item_ids: tuple[str, ...] = ()
    """The items in it, in its order."""


def write_quiz(
    bench: Path,
    out: Path,
    draw: QuizDraw = _USUAL_DRAW,
    *,
    profile: str = "default",
    verify: bool = False,
    data: Path | None = None,
    allow_restricted: bool = False,
    max_bytes: int = 200_000_000,
) -> QuizResult:
    """Write a quiz of items drawn at random; `verify` shows the key and asks whether it is right.

    Where answers are asked for, items that the profile hides are left out and counted: nobody could
    answer them.
    """
    opened, chosen = open_bench(bench), load_profile(profile)
    if opened.info.restricted and not allow_restricted:
        fix = "add --allow-restricted if the readers may see the data; the file gets a banner"
        raise SitusError(
            "its data are restricted: a quiz holds their pictures", where=bench, fix=fix
        )
    drawn = draw_items(list(opened.items(draw.split)), draw.items, draw.seed)
    presenter, viewing = Presenter(opened, chosen, data=data), Viewing(opened, chosen)
    left_out: Counter[str] = Counter()
    pictures = QuizPictures(presenter)
    made: list[QuizItem] = []
    for item in sorted(drawn, key=lambda item: (item.study_id, item.series)):
        if not item.series or not presenter.series(item).image_hash:
            left_out["no image"] += 1
            continue
        if not verify and presenter.hidden(item):
            left_out["cannot be answered under this profile"] += 1
            continue
        prompt, shown_pictures = presenter.prompt(item), pictures.add(item)
        if pictures.bytes > max_bytes:
            problem = f"the pictures exceed {max_bytes / 1e6:.0f} MB at item {len(made) + 1}"
            raise SitusError(
                problem, where="--items", fix="ask fewer --items, or a profile with fewer slices"
            )
        made.append(
            _quiz_item(
                item,
                prompt,
                shown_pictures,
                chosen.answer.frame_base,
                _key(item, viewing) if verify else None,
            )
        )
    if not made:
        reasons = ", ".join(sorted(left_out))
        raise SitusError(
            f"no item can be shown ({reasons})", where=bench, fix="give --data, or another profile"
        )
    made.sort(key=lambda entry: digest("quiz order", str(draw.seed), entry.item_id))
    ids = tuple(entry.item_id for entry in made)
    head = QuizHead(
        FORMAT,
        "verify" if verify else "answer",
        opened.info.name,
        opened.info.content_hash,
        chosen,
        draw.seed,
        ids,
    )
    banner = (
        "RESTRICTED DATA: this file holds pixels of patients. Do not share it."
        if opened.info.restricted
        else ""
    )
    html = _render(QuizPage(head, tuple(made), pictures.uris, pictures.scales), banner)
    write_atomic(out, html)
    return QuizResult(out, head.mode, len(made), dict(left_out), len(html), ids)


def _quiz_item(
    item: Item, prompt: str, pictures: ItemPictures, frame_base: int, key: Key | None
) -> QuizItem:
    parts = parts_of(item.answer)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return QuizItem(
        item_id=item.item_id,
        question=item.question,
        intro=prompt.partition(item.question)[0].strip(),
        options=tuple((letter, option.text) for letter, option in zip(letters, item.options)),
        parts=tuple(_part(name, part) for name, part in parts.items()),
        pictures=pictures.keys,
        sizes=pictures.sizes,
        scale=pictures.scale,
        frame_base=frame_base,
        opening=pictures.opening,
        key=key,
    )


def _part(name: str, answer: Simple) -> PartForm:
    """Only how it is answered: names of sub-scores and the unit,
    which the question states, and never a value."""
    form = kind_of(answer)
    return PartForm(name, form, getattr(answer, "unit", ""), tuple(getattr(answer, "grades", ())))


def _key(item: Item, viewing: Viewing) -> Key:
    boxes, frames = boxes_in(item.answer), frames_in(item.answer)
    return Key(
        key_words(item),
        tuple(_placed(box) for box in viewing.boxes(item, boxes)) if boxes else (),
        tuple(viewing.frames(item, frames)) if frames else (),
    )


def _placed(box: FrameBox) -> tuple[int, float, float, float, float, str]:
    return (
        box.frame,
        round(box.x0, 2),
        round(box.y0, 2),
        round(box.x1, 2),
        round(box.y1, 2),
        box.label,
    )


def _render(page: QuizPage, banner: str) -> bytes:
    return render_page_file(
        "situs.review",
        "quiz.html.j2",
        "quiz.css",
        _SCRIPTS,
        page,
        title=page.quiz.bench,
        mode=page.quiz.mode,
        banner=banner,
        version=__version__,
    )
