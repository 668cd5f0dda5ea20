"""The radiologists' station: quizzes that people answer offline, and what they found."""

from situs.review.answers import QuizAnswers, SaidAnswer, SaidBox, read_answers
from situs.review.audit import (
    AuditPlan,
    AuditResult,
    AuditRow,
    audit_agreement,
    audit_plan,
    audit_sheet,
    draw_items,
    read_audit,
)
from situs.review.imported import Imported, import_answers
from situs.review.quiz import QuizDraw, QuizResult, write_quiz

__all__ = [
    "AuditPlan",
    "AuditResult",
    "AuditRow",
    "Imported",
    "QuizAnswers",
    "QuizDraw",
    "QuizResult",
    "SaidAnswer",
    "SaidBox",
    "audit_agreement",
    "audit_plan",
    "audit_sheet",
    "draw_items",
    "import_answers",
    "read_answers",
    "read_audit",
    "write_quiz",
]
