"""Asking models for verdicts: everything by id, nothing by position, and kept in a journal."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports

if TYPE_CHECKING:
    from situs.judges.asker import Asker, asker_of, role_spec
    from situs.judges.by_id import AskedByID, Role, Subject, ask_by_id
    from situs.judges.of_run import AskedJudges, JudgesStopped, ask_judges, forecast_judges
    from situs.judges.rates import RATES, rate_reasoning
    from situs.judges.verdict import VERDICT, judge_answers, verdict_subjects
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "RATES",
    "VERDICT",
    "AskedByID",
    "AskedJudges",
    "Asker",
    "JudgesStopped",
    "Role",
    "Subject",
    "ask_by_id",
    "ask_judges",
    "asker_of",
    "forecast_judges",
    "judge_answers",
    "rate_reasoning",
    "role_spec",
    "verdict_subjects",
]
