"""`python -m situs`."""

from situs.cli import main

main()
