"""Why answers are wrong: causes that fit each, and whether the steps a model states hold."""

from situs.score.explain.answers import (
    Answered,
    Answers,
    Judged,
    answers_of,
    read_answers,
    said_by,
    scored_answers,
)
from situs.score.explain.budget import (
    Budget,
    BudgetRow,
    WrongAnswer,
    budget_from,
    budget_of,
    signatures,
)
from situs.score.explain.causes import Cause, Suspicion
from situs.score.explain.stated_steps import (
    Faithfulness,
    FaithfulnessCell,
    StepKind,
    faithfulness,
    faithfulness_of,
)
from situs.score.explain.steps import Statement, StudyFacts, statements
from situs.score.explain.study_facts import StudyFactsById
from situs.score.explain.tables import budget_table, faithfulness_tables
from situs.score.explain.tails import upper_tail

__all__ = [
    "Answered",
    "Answers",
    "Budget",
    "BudgetRow",
    "Cause",
    "Faithfulness",
    "FaithfulnessCell",
    "Judged",
    "Statement",
    "StepKind",
    "StudyFacts",
    "StudyFactsById",
    "Suspicion",
    "WrongAnswer",
    "answers_of",
    "budget_from",
    "budget_of",
    "budget_table",
    "faithfulness",
    "faithfulness_of",
    "faithfulness_tables",
    "read_answers",
    "said_by",
    "scored_answers",
    "signatures",
    "statements",
    "upper_tail",
]
