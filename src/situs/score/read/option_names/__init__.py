"""Where a reply names the options of its question."""

from situs.score.read.option_names.letters import ALPHABET
from situs.score.read.option_names.names import OptionNames
from situs.score.read.option_names.phrases import as_options_write

__all__ = ["ALPHABET", "OptionNames", "as_options_write"]
