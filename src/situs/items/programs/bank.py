"""The wording bank: a file that a person can read and edit,
one wording of one shape of question an entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from situs.base.files import digest, parse_toml, read_text, write_atomic
from situs.errors import SitusError
from situs.items.programs.expression import Expr, read_program
from situs.items.programs.proof import language_version, prove
from situs.items.programs.saying import render, wordings_of

__all__ = ["BUILT_IN", "Wording", "built_in_wordings", "read_bank", "wording_for", "write_bank"]

BUILT_IN = "situs"
"""Who proposed the wordings that come with the language."""
_MOST = 100_000


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One wording."""

    shape: str
    """The program with slots that it stands for."""
    text: str
    by: str
    """Who proposed it: `situs`, a person, or a model."""
    proof: str = ""
    """The version of the language by which the text was read back as the shape,
    and nothing else."""
    read_by: tuple[str, ...] = ()
    """Readers who found that it says what it should."""

    @property
    def wording_id(self) -> str:
        """A name that only shape and text decide."""
        return "w" + digest(self.shape, self.text, size=5)


def built_in_wordings(shape: Expr) -> list[Wording]:
    """Situs's own ways to say a shape."""
    texts = dict.fromkeys(render(shape, number) for number in range(wordings_of(shape)))
    return [Wording(str(shape), text, BUILT_IN, language_version()) for text in texts]


def wording_for(program: Expr, wordings: Sequence[Wording], seed: int) -> Wording:
    """The wording of a program: the same for every patient, so that twins share their text."""
    draw = int(digest("wording", str(seed), str(program), size=8), 16)
    return sorted(wordings, key=lambda one: one.wording_id)[draw % len(wordings)]


def read_bank(path: Path) -> list[Wording]:
    """The wordings of a file, each proved anew; an error lists every one that is refused."""
    try:
        raw = parse_toml(read_text(path, limit_bytes=1 << 26))
        wordings = msgspec.convert(raw.get("wording", []), list[Wording])
    except (ValueError, RecursionError) as error:
        raise SitusError(str(error), where=path, fix="see docs/language.md") from error
    if len(wordings) > _MOST:
        raise SitusError(f"more than {_MOST:,} wordings", where=path, fix="split the file")
    problems = []
    for number, one in enumerate(wordings, start=1):
        try:
            refusal = prove(one.text, read_program(one.shape))
        except SitusError as error:
            problems.append(f"wording {number}: {error.one_line()}")
            continue
        if refusal is not None:
            problems.append(f"wording {number} ({one.text!r}) {refusal.reason}")
    if problems:
        first_problems = "; ".join(problems[:3]) + ("; …" if len(problems) > 3 else "")
        raise SitusError(
            f"{len(problems)} refused: {first_problems}", where=path, fix="edit or remove them"
        )
    return wordings


def write_bank(path: Path, wordings: Iterable[Wording]) -> None:
    """Write a bank, by shape and then by wording."""
    lines = [
        (
            "# Wordings of spatial questions. Edit, add or remove entries; each is proved again"
            " when it is read."
        ),
        "# `read_by` names the readers who found that the text says what it should.",
    ]
    ordered = sorted(set(wordings), key=lambda one: (one.shape, one.by != BUILT_IN, one.text))
    for one in ordered:
        lines += ["", "[[wording]]"]
        for name in ("shape", "text", "by", "proof", "read_by"):
            value = getattr(one, name)
            spelt = msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
            lines.append(f"{name} = {spelt}")
    write_atomic(path, "\n".join(lines).encode() + b"\n")
