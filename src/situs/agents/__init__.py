"""Language models that write, vet and sort items. They never decide an answer: rules run before and after them."""

from situs.agents.dimensions import DIMENSIONS, dimensions_of
from situs.agents.labeller import label_dimensions
from situs.agents.validator import Vetted, validate_items, validator_sheet
from situs.agents.writer import Proposal, propose_questions

__all__ = [
    "DIMENSIONS",
    "Proposal",
    "Vetted",
    "dimensions_of",
    "label_dimensions",
    "propose_questions",
    "validate_items",
    "validator_sheet",
]
