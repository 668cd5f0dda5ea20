"""A session written for people: one HTML file, a folder of pictures, or one sheet."""

from __future__ import annotations

import io
import math
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.base.files import write_atomic, write_files
from situs.base.page import render_page_file
from situs.clients import parse_spec
from situs.errors import SitusError
from situs.items.answer_words import answer_words
from situs.room.playback import PlayedSession, Replayer, SessionView, drawn_picture, view_of
from situs.score import open_replies, read_run

__all__ = ["ShownSession", "session_views", "show_session"]

_TILE_PX = 360
_CAPTION_PX = 44
_BANNER = "RESTRICTED DATA: this file holds pixels of patients. Do not share it."


class ShownSession(msgspec.Struct, frozen=True):
    """What was written."""

    item_id: str
    end: str
    verdict: str
    turns: int
    pictures: int


def show_session(
    run: Path,
    item_id: str,
    out: Path,
    *,
    bench: Path | None = None,
    data: Path | None = None,
    allow_pixels: bool = False,
) -> ShownSession:
    """Play an item's session back into `out`:
    `.html`, `.png` (a sheet), or a folder of the pictures as sent."""
    replayer = Replayer(run, bench, data)
    if replayer.bench.info.restricted and not allow_pixels:
        fix = "add --allow-restricted if you may hold such a file"
        raise SitusError("its data are restricted: pixels would be written", where=run, fix=fix)
    played = replayer.session(item_id)
    view = _viewed(replayer, played)
    banner = _BANNER if replayer.bench.info.restricted else ""
    if out.suffix.lower() in (".html", ".htm"):
        page = render_page_file(
            "situs.room",
            "session.html.j2",
            "session.css",
            (),
            {},
            view=view,
            model=_model_name(replayer.info.client),
            room=replayer.room.name,
            banner=banner,
        )
        write_atomic(out, page)
    elif out.suffix.lower() == ".png":
        write_atomic(out, _sheet(played, view))
    else:
        _folder(out, played, view)
    return ShownSession(
        played.item.item_id, view.end, view.verdict, len(view.turns), len(played.pictures)
    )


def session_views(
    run: Path, item_ids: list[str], *, data: Path | None = None, longest_px: int = 320
) -> list[SessionView]:
    """Some sessions of a run for a report, in the order of the ids;
    those that cannot be played are left out."""
    replayer = Replayer(run, None, data)
    views = {
        played.item.item_id: _viewed(replayer, played, longest_px)
        for played in replayer.sessions(item_ids)
    }
    return [views[item_id] for item_id in item_ids if item_id in views]


def _viewed(replayer: Replayer, played: PlayedSession, longest_px: int = 512) -> SessionView:
    scored = read_run(open_replies(replayer.folder, replayer.bench.folder)).outcomes()
    outcome = scored.get(played.item.item_id)
    truth = answer_words(played.item)
    right = None if outcome is None or outcome.state == "unjudged" else outcome.right
    view = view_of(played, right=right, truth=truth, longest_px=longest_px)
    return msgspec.structs.replace(view, said=_in_words(view.said))


def _model_name(client: str) -> str:
    """A model's name without the folder or address it was found at."""
    spec = parse_spec(client)
    return f"{spec.kind}:{Path(spec.name).name}" if spec.name else spec.kind


def _in_words(spoken: str) -> str:
    """An answer, out of the JSON or the emphasis it may stand in."""
    with suppress(msgspec.DecodeError, msgspec.ValidationError, KeyError):
        answer = msgspec.json.decode(spoken, type=dict[str, str | float])["answer"]
        return answer if isinstance(answer, str) else f"{answer:g}"
    return spoken.removeprefix("**").removesuffix("**")


def _folder(out: Path, played: PlayedSession, view: SessionView) -> None:
    """The very pictures that were sent, and the words of the session."""
    files: dict[str, bytes | str] = {}
    for number, picture in played.pictures.items():
        suffix = "jpg" if picture.image.media_type == "image/jpeg" else "png"
        files[f"{number:03d}.{suffix}"] = picture.image.data
    lines = [view.question, *view.options, ""]
    for turn in view.turns:
        lines += [
            f"{turn.turn}. {turn.action}",
            f"   {turn.words}",
            *(f"   {w}" for w in turn.evidence),
        ]
        if turn.lie:
            lines.append(f"   LIE ({turn.lie}); the truth: {turn.truth}")
    lines += ["", f"said: {view.said}", f"right answer: {view.right_answer}", view.verdict]
    write_files(out, {**files, "session.txt": "\n".join(lines) + "\n"})


def _sheet(played: PlayedSession, view: SessionView) -> bytes:
    """The turns with pictures on one sheet, in reading order, the answer below."""
    from PIL import Image, ImageDraw, ImageFont

    tiles = [(o, drawn_picture(played, o.picture)) for o in played.rows.outcomes if o.picture]
    columns = max(1, min(5, math.ceil(math.sqrt(max(1, len(tiles)) * 1.4))))
    rows = -(-len(tiles) // columns)
    fitted = [_fitting(pixels) for _, pixels in tiles]
    tallest = max((pixels.shape[0] for pixels in fitted), default=0)
    wide, high = _TILE_PX + 8, tallest + _CAPTION_PX + 6
    sheet = Image.new("RGB", (max(2, columns) * wide, 90 + rows * high), (18, 18, 18))
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    pen.text((8, 8), view.question[:160], fill=(255, 255, 255), font=ImageFont.load_default(17))
    pen.text(
        (8, 36),
        f"said: {view.said[:60]} · right answer: {view.right_answer[:60]}",
        fill=(220, 220, 220),
        font=font,
    )
    hue = (64, 220, 120) if view.verdict.startswith("right, saw") else (255, 170, 40)
    pen.text((8, 60), view.verdict, fill=hue, font=font)
    for number, ((outcome, _), pixels) in enumerate(zip(tiles, fitted, strict=True)):
        row, column = divmod(number, columns)
        left, top = column * wide + 4, 90 + row * high
        sheet.paste(Image.fromarray(pixels), (left, top + _CAPTION_PX - 4))
        evidence = ", ".join(view.turns[outcome.turn - 1].evidence) or "no evidence"
        pen.text(
            (left, top),
            f"{outcome.turn}. {view.turns[outcome.turn - 1].action}"[:52],
            fill=(255, 255, 255),
            font=font,
        )
        pen.text((left, top + 19), evidence[:52], fill=(255, 200, 120), font=font)
    stream = io.BytesIO()
    sheet.save(stream, "PNG")
    return stream.getvalue()


def _fitting(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((_TILE_PX, _TILE_PX))
    return np.asarray(picture)
