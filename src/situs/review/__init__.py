"""The radiologists' station: quizzes that people answer offline, and what they found."""

from situs.review._answers import QuizAnswers, SaidAnswer, SaidBox, read_answers
from situs.review._import import Imported, import_answers
from situs.review._quiz import QuizResult, write_quiz

__all__ = [
    "Imported",
    "QuizAnswers",
    "QuizResult",
    "SaidAnswer",
    "SaidBox",
    "import_answers",
    "read_answers",
    "write_quiz",
]
