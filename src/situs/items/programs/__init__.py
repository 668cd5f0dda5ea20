"""The language of spatial questions:
typed programs over the ledger, how they are said, and what they prove."""

from situs.items.programs.bank import (
    BUILT_IN,
    Wording,
    built_in_wordings,
    read_bank,
    wording_for,
    write_bank,
)
from situs.items.programs.evaluate import names_of
from situs.items.programs.expression import Expr, read_program
from situs.items.programs.names import Names, shipped_names
from situs.items.programs.nouns import wrong_noun
from situs.items.programs.other_tasks import COMPOSE, program_of
from situs.items.programs.proof import Refusal, language_version, prove, prove_text
from situs.items.programs.reading import parse
from situs.items.programs.saying import fill, render, wordings_of
from situs.items.programs.shapes import all_shapes, shape_of
from situs.items.programs.task import Compose, as_question
from situs.items.tasks import register

__all__ = [
    "BUILT_IN",
    "COMPOSE",
    "Expr",
    "Names",
    "Refusal",
    "Wording",
    "all_shapes",
    "as_question",
    "built_in_wordings",
    "fill",
    "language_version",
    "names_of",
    "parse",
    "program_of",
    "prove",
    "prove_text",
    "read_bank",
    "read_program",
    "render",
    "shape_of",
    "shipped_names",
    "wording_for",
    "wordings_of",
    "write_bank",
    "wrong_noun",
]

register(Compose(), shipped=True)
