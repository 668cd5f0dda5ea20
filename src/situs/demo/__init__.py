"""The demo: synthetic patients, a small reader that looks,
and a confident guesser that does not."""

from situs.demo.guesser import ConfidentGuesser
from situs.demo.reader import PhantomReader
from situs.demo.story import DemoResult, DemoRow, run_demo

__all__ = ["ConfidentGuesser", "DemoResult", "DemoRow", "PhantomReader", "run_demo"]
