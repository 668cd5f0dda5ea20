"""Language models that write, vet and sort items.

They never decide an answer: rules run before and after them.
"""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports

if TYPE_CHECKING:
    from situs.agents.dimensions import DIMENSIONS, dimensions_of
    from situs.agents.labeller import label_dimensions
    from situs.agents.validator import Vetted, validate_items, validator_sheet
    from situs.agents.writer import Proposal, propose_questions
else:
    __getattr__ = lazy_exports(__name__)

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
