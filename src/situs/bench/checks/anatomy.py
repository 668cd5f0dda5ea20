"""What looks wrong about a study's anatomy, as problems that name the study, the reason and the remedy."""

from __future__ import annotations

from collections.abc import Iterator

from situs.anatomy import Doubt, Suspicion
from situs.bench.folder import SuspectStudy
from situs.errors import Problem, Severity
from situs.facts import Doubted

__all__ = ["anatomy_problems", "suspect_studies"]

_WITHHELD = {
    Doubt.LEFT_RIGHT: "questions of side",
    Doubt.FRONT_BACK: "questions of front and back",
    Doubt.UP_DOWN: "questions of height",
    Doubt.SCALE: "sizes and distances",
    Doubt.LEVELS: "vertebral levels",
}
_MOST_NAMED = 4


def anatomy_problems(study_id: str, ledger: Doubted) -> Iterator[Problem]:
    """A warning for every suspicion: never proof that something is wrong."""
    for found in ledger.suspicions:
        where = ":".join(filter(None, (study_id, ",".join(found.structures[:_MOST_NAMED]))))
        yield Problem(
            Severity.WARNING,
            found.code.value,
            where,
            _problem(ledger, found),
            _fix(study_id, ledger, found),
        )


def suspect_studies(study_id: str, ledger: Doubted) -> list[SuspectStudy]:
    """The same for the bench's card."""
    return [
        SuspectStudy(
            study_id,
            found.doubt.value if found.doubt else "",
            found.problem,
            _is_trusted(ledger, found),
        )
        for found in ledger.suspicions
    ]


def _is_trusted(ledger: Doubted, found: Suspicion) -> bool:
    return found.doubt is not None and ledger.trusts(found)


def _problem(ledger: Doubted, found: Suspicion) -> str:
    if found.doubt is None:
        return f"{found.problem}; no question is withheld"
    if _is_trusted(ledger, found):
        return f"{found.problem}; trusted, so its questions are asked"
    return f"{found.problem}; not asked: {_withheld(found)}"


def _withheld(found: Suspicion) -> str:
    if found.doubt is not None and found.doubt in _WITHHELD:
        return _WITHHELD[found.doubt]
    names = ", ".join(found.structures[:_MOST_NAMED])
    more = len(found.structures) - _MOST_NAMED
    return f"anything about {names}" + (f" and {more} more" if more > 0 else "")


def _fix(study_id: str, ledger: Doubted, found: Suspicion) -> str:
    if found.doubt is None or _is_trusted(ledger, found):
        return found.fix
    return (
        f"{found.fix}; if it is right as it is, build with --trust {study_id}:{found.doubt.value}"
    )
