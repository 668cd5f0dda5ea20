"""`python -m situs`."""

import sys

# `-m` puts the current folder first on the path; code that lies beside data must not run.
if not sys.flags.safe_path:
    del sys.path[0]

from situs.cli import main

main()
