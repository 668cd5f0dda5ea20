"""Items are asked of the patients that the tests of facts and laws make: blocks and phantoms."""

import sys
from pathlib import Path

for room in ("facts", "laws"):
    sys.path.append(str(Path(__file__).parents[1] / room))
