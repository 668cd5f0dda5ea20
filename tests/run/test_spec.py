"""How a model is named: `kind[:name][@url][?key=value&…]`."""

from __future__ import annotations

import pytest

from situs.errors import SitusError
from situs.run import parse_spec

SPECS = {
    "oracle": ("oracle", "", "", {}),
    "random?seed=3": ("random", "", "", {"seed": "3"}),
    "openai:qwen3-vl@http://localhost:8000/v1": (
        "openai",
        "qwen3-vl",
        "http://localhost:8000/v1",
        {},
    ),
    "hf:path/to/model": ("hf", "path/to/model", "", {}),
    "plugin:module:object": ("plugin", "module:object", "", {}),
    "x?b=2&a=1": ("x", "", "", {"b": "2", "a": "1"}),
}


@pytest.mark.parametrize("text", SPECS)
def test_a_spec_is_taken_apart(text: str) -> None:
    spec = parse_spec(text)
    assert (spec.kind, spec.name, spec.url, spec.settings) == SPECS[text]


@pytest.mark.parametrize("text", SPECS)
def test_its_text_means_the_same(text: str) -> None:
    """The text goes into run.json and decides whether a run may be resumed."""
    assert parse_spec(str(parse_spec(text))) == parse_spec(text)


def test_the_order_of_settings_does_not_make_another_model() -> None:
    assert str(parse_spec("x?b=2&a=1")) == str(parse_spec("x?a=1&b=2"))


@pytest.mark.parametrize("text", ["", " ", "?seed=1", ":name", "x?seed", "x?&"])
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(SitusError, match=r"cannot read|names no kind"):
        parse_spec(text)


@pytest.mark.parametrize("value", ["-1", "1.5", "x", "", "9" * 19])
def test_a_setting_that_is_no_whole_number_is_refused(value: str) -> None:
    with pytest.raises(SitusError, match="whole number"):
        parse_spec(f"random?seed={value}").whole("seed", 0)
