"""The sentences of a reply: what every class of words does to the answers that are mentioned."""

from situs.score.read.prose.sentences.sentence import Sentence
from situs.score.read.prose.sentences.state import Course

__all__ = ["Course", "Sentence"]
