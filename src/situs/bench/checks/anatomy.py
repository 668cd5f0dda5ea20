"""What looks wrong about a study's anatomy,
as problems that name the study, the reason and the remedy."""

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
    for suspicion in ledger.suspicions:
        where = ":".join(filter(None, (study_id, ",".join(suspicion.structures[:_MOST_NAMED]))))
        yield Problem(
            Severity.WARNING,
            suspicion.code.value,
            where,
            _problem(ledger, suspicion),
            _fix(study_id, ledger, suspicion),
        )


def suspect_studies(study_id: str, ledger: Doubted) -> list[SuspectStudy]:
    """The same for the bench's card."""
    return [
        SuspectStudy(
            study_id,
            suspicion.doubt.value if suspicion.doubt else "",
            suspicion.problem,
            _is_trusted(ledger, suspicion),
        )
        for suspicion in ledger.suspicions
    ]


def _is_trusted(ledger: Doubted, suspicion: Suspicion) -> bool:
    return suspicion.doubt is not None and ledger.trusts(suspicion)


def _problem(ledger: Doubted, suspicion: Suspicion) -> str:
    if suspicion.doubt is None:
        return f"{suspicion.problem}; no question is withheld"
    if _is_trusted(ledger, suspicion):
        return f"{suspicion.problem}; trusted, so its questions are asked"
    return f"{suspicion.problem}; not asked: {_withheld(suspicion)}"


def _withheld(suspicion: Suspicion) -> str:
    if suspicion.doubt is not None and suspicion.doubt in _WITHHELD:
        return _WITHHELD[suspicion.doubt]
    names = ", ".join(suspicion.structures[:_MOST_NAMED])
    more = len(suspicion.structures) - _MOST_NAMED
    return f"anything about {names}" + (f" and {more} more" if more > 0 else "")


def _fix(study_id: str, ledger: Doubted, suspicion: Suspicion) -> str:
    if suspicion.doubt is None or _is_trusted(ledger, suspicion):
        return suspicion.fix
    return (
        f"{suspicion.fix}; if it is right as it is, build with --trust"
        f" {study_id}:{suspicion.doubt.value}"
    )
