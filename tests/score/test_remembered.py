"""A reply that was read before is not read again,
and is told from like replies to other questions."""

from __future__ import annotations

from situs.items import Option
from situs.score.read import Parsed, parse_choice
from situs.score.read.remembered import remembered


def test_short_replies_are_read_once_and_long_ones_each_time() -> None:
    read = []

    @remembered
    def length(text: str, options: list[str], *, unit: str = "") -> int:
        read.append((text, *options, unit))
        return len(text)

    long = "word " * 50
    for _ in range(2):
        assert length("B", ["a"]) == 1
        assert length("B", ["b"]) == 1
        assert length("B", ["a"], unit="mm") == 1
        assert length(long, ["a"]) == len(long)
    once = [("B", "a", ""), ("B", "b", ""), ("B", "a", "mm")]
    assert sorted(read) == sorted([*once, (long, "a", ""), (long, "a", "")])


def test_a_letter_means_what_the_options_say() -> None:
    liver, spleen = Option("liver", "the liver"), Option("spleen", "the spleen")
    for options in ((liver, spleen), (spleen, liver), (liver, spleen)):
        assert parse_choice("B", options, "Which is larger?") == Parsed(options[1].value)
