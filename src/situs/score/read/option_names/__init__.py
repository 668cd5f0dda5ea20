"""Where a reply names the options of its question."""

from situs.score.read.option_names.letters import ALPHABET
from situs.score.read.option_names.names import OptionNames

__all__ = ["ALPHABET", "OptionNames"]
