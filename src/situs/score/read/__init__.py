"""Readers of replies: from what a model wrote to the answer it gave, or why none can be told."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports

if TYPE_CHECKING:
    from situs.score.read.boxes import mentioned_boxes, parse_boxes, place_boxes
    from situs.score.read.choice import parse_choice
    from situs.score.read.choices import parse_choices
    from situs.score.read.frames import parse_frames
    from situs.score.read.grades import Offered, parse_grades
    from situs.score.read.number import parse_number
    from situs.score.read.numbers.quantities import Quantity, base_value, quantities
    from situs.score.read.prose.clean import without_spans
    from situs.score.read.prose.language import known_language
    from situs.score.read.prose.lexicon import LANGUAGES
    from situs.score.read.prose.loose_json import loose_values
    from situs.score.read.result import INFERRED, Parsed, RefusedInWords, Result, Unparsed
    from situs.score.read.yes_no import parse_yes_no
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "INFERRED",
    "LANGUAGES",
    "Offered",
    "Parsed",
    "Quantity",
    "RefusedInWords",
    "Result",
    "Unparsed",
    "base_value",
    "known_language",
    "loose_values",
    "mentioned_boxes",
    "parse_boxes",
    "parse_choice",
    "parse_choices",
    "parse_frames",
    "parse_grades",
    "parse_number",
    "parse_yes_no",
    "place_boxes",
    "quantities",
    "without_spans",
]
