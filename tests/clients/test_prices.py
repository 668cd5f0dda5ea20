"""What a model costs: the user's files before the shipped one."""

from __future__ import annotations

import pytest

from situs.clients import Price, Spec, price_of
from situs.errors import SitusError


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "situs").mkdir(parents=True)
    return tmp_path / "config" / "situs" / "prices.toml"


def spec(name: str) -> Spec:
    return Spec("openai", name, "https://example.org/v1")


def test_a_price_is_per_million_tokens() -> None:
    assert Price(2.0, 10.0).of(500_000, 100_000) == pytest.approx(1.0 + 1.0)
    cached = Price(2.0, 10.0, cached=0.5, cache_written=2.5)
    assert cached.of(500_000, 100_000) == pytest.approx(2.0)
    # 100,000 at 2.00, 300,000 at 0.50 and 100,000 at 2.50 a million, and the answers.
    assert cached.of(500_000, 100_000, 300_000, 100_000) == pytest.approx(0.2 + 0.15 + 0.25 + 1.0)
    assert Price(2.0, 10.0).of(500_000, 0, 300_000, 100_000) == pytest.approx(1.0)


def test_nobody_knows_every_price() -> None:
    assert price_of(spec("no-such-model"), remote=True) is None
    assert price_of(spec("gpt-4o"), remote=True) is not None


def test_a_model_on_this_machine_is_free_unless_the_user_prices_it(config) -> None:
    assert price_of(spec("gpt-4o"), remote=False) == Price(0.0, 0.0)
    config.write_text('["gpt-4o"]\ninput = 1\noutput = 2\n')
    assert price_of(spec("gpt-4o"), remote=False) == Price(1.0, 2.0)


def test_the_named_file_comes_before_the_users_and_that_before_the_shipped(
    config, tmp_path
) -> None:
    config.write_text('["gpt-4o"]\ninput = 1\noutput = 2\n["b"]\ninput = 5\noutput = 6\n')
    named = tmp_path / "prices.toml"
    named.write_text('["gpt-4o"]\ninput = 3\noutput = 4\n')
    assert price_of(spec("gpt-4o"), remote=True, prices=named) == Price(3.0, 4.0)
    assert price_of(spec("gpt-4o"), remote=True) == Price(1.0, 2.0)
    assert price_of(spec("b"), remote=True, prices=named) == Price(5.0, 6.0)


def test_the_longest_pattern_fits_best(config) -> None:
    config.write_text(
        '["*"]\ninput = 1\noutput = 1\n["big-*"]\ninput = 2\noutput = 2\n["big-one"]\ninput ='
        " 3\noutput = 3\n"
    )
    assert [price_of(spec(name), remote=True).input for name in ("x", "big-two", "big-one")] == [
        1,
        2,
        3,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[",
        '["x"]\ninput = 1\n',
        '["x"]\ninput = -1\noutput = 1\n',
        '["x"]\ninput = nan\noutput = 1\n',
        "x = 1\n",
    ],
)
def test_a_file_that_is_no_price_list_is_refused(config, text) -> None:
    config.write_text(text)
    with pytest.raises(SitusError, match=r"prices\.toml"):
        price_of(spec("x"), remote=True)


@pytest.mark.parametrize(
    ("name", "usual"),
    [
        ("claude-opus-5", (5.0, 25.0)),
        ("claude-opus-5-5", (4.0, 20.0)),
        ("claude-sonnet-5", (2.0, 10.0)),
        ("claude-sonnet-4-5-20250929", (3.0, 15.0)),
        ("claude-haiku-4-5", (1.0, 5.0)),
        ("claude-opus-4-1-20250805", (15.0, 75.0)),
    ],
)
def test_models_of_anthropic_have_the_providers_list_price(config, name, usual) -> None:
    """platform.claude.com/docs, models and pricing, in 2026; dated names as well."""
    price = price_of(spec(name), remote=True)
    assert price is not None
    assert (price.input, price.output) == usual
    if price.cached is not None:  # a tenth to read, a quarter more to write, by the same page
        assert price.cached == pytest.approx(0.1 * price.input)
        assert price.cache_written == pytest.approx(1.25 * price.input)
