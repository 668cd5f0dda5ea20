"""Whether a study's anatomy looks as it should: swapped names, a mirrored volume, no real orientation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from situs.anatomy import suspects
from situs.errors import Problem, Severity
from situs.facts import Ledger

__all__ = ["anatomy_problems"]


def anatomy_problems(study_id: str, ledger: Ledger) -> Iterator[Problem]:
    """Warnings, each naming the suspect; never proof that something is wrong."""
    matrix = ledger.regions.grid.affine.matrix
    if np.array_equal(matrix, np.eye(4)):
        yield _warning("orientation", study_id, "has an identity affine: is its orientation real?")
    if ledger.side_basis == "undeclared":
        yield _warning("orientation", study_id, "declares no orientation, so its sides are unknown")
        return
    if ledger.midline is None:
        return
    whole = [name for name in ledger.structures if not ledger.is_cut(name)]
    observed = {name: str(ledger.fact("side", name).value) for name in whole if ledger.terms[name].kind != "vertebra"}
    for found in suspects(observed, ledger.terms):
        where = f"{study_id}:{','.join(found.structures[:4])}"
        yield Problem(Severity.WARNING, found.code.value, where, found.problem, found.fix)


def _warning(code: str, where: str, problem: str) -> Problem:
    return Problem(Severity.WARNING, code, where, problem, "check the file it came from")
