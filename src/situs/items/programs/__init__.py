"""The language of spatial questions: typed programs over the ledger, how they are said, and what they prove."""

from situs.items.programs.expression import Expr, read_program
from situs.items.programs.names import Names, shipped_names
from situs.items.programs.other_tasks import COMPOSE, program_of
from situs.items.programs.proof import Refusal, language_version, prove, prove_text
from situs.items.programs.reading import parse
from situs.items.programs.saying import fill, render, wordings_of
from situs.items.programs.shapes import all_shapes, shape_of
from situs.items.programs.task import Compose, as_question
from situs.items.tasks import register

__all__ = [
    "COMPOSE",
    "Expr",
    "Names",
    "Refusal",
    "all_shapes",
    "as_question",
    "fill",
    "language_version",
    "parse",
    "program_of",
    "prove",
    "prove_text",
    "read_program",
    "render",
    "shape_of",
    "shipped_names",
    "wordings_of",
]

register(Compose(), shipped=True)
