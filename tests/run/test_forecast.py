"""`situs run --dry-run`: what asking would take,
by the providers' published rules, and nothing is sent."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import pytest

import wire
from asking import picture
from situs.bench import open_bench
from situs.clients import Limits, Message, Observed, Price, Request, Settings, forecast, parse_spec
from situs.profiles import Presenter, load_profile


def asked_with(size: int, words: str = "a" * 400, pictures: int = 3) -> Request:
    parts = (*(picture(number, size) for number in range(pictures)), words)
    return Request("key", (Message("user", parts),), Settings(max_tokens=50))


@pytest.mark.parametrize(
    ("spec", "size", "tokens"),
    [
        # Providers' public rules for a square picture, worked out by hand.
        ("anthropic:claude-x", 750, 750),  # 750 · 750 / 750
        ("gemini:gemini-x", 384, 258),  # small: one tile
        ("gemini:gemini-x", 1000, 4 * 258),  # 2 × 2 tiles of 768
        ("openai:gpt-4o@https://x.org/v1", 512, 85 + 170),  # one tile of 512
        ("openai:gpt-4o@https://x.org/v1", 4096, 85 + 4 * 170),  # shrunk to 768: 2 × 2 tiles
        ("openai:qwen3-vl@http://127.0.0.1:9/v1", 560, 20 * 20),  # patches of 28
    ],
)
def test_pictures_cost_what_the_provider_says(spec, size, tokens) -> None:
    told = forecast(parse_spec(spec), [asked_with(size)], 10, Limits(), Price(2.0, 8.0))
    # 400 characters are 100 tokens; ten such requests of three pictures.
    assert told.tokens_in == 10 * (100 + 3 * tokens)
    assert (told.requests, told.pictures) == (10, 30)
    # 200 tokens are taken for an answer, but these may not be longer than 50.
    assert told.tokens_out == 500
    assert told.cost == pytest.approx((2.0 * told.tokens_in + 8.0 * 500) / 1e6)
    assert told.seconds is None


def test_calls_that_were_made_are_the_better_basis() -> None:
    observed = Observed(calls=4, prompt_tokens=4000, completion_tokens=40, seconds=20)
    told = forecast(
        parse_spec("openai:m@http://127.0.0.1:9/v1"),
        [asked_with(64)],
        100,
        Limits(concurrency=5),
        None,
        observed,
    )
    assert (told.tokens_in, told.tokens_out) == (100_000, 1_000)
    assert told.seconds == pytest.approx(100 * 5 / 5)
    assert told.cost is None
    assert "4 calls" in told.basis


def test_a_rate_limit_sets_the_time() -> None:
    told = forecast(
        parse_spec("openai:m@http://127.0.0.1:9/v1"),
        [asked_with(64, pictures=0)],
        120,
        Limits(requests_per_minute=60),
        None,
    )
    assert told.seconds == pytest.approx(120)


def test_a_dry_run_sends_and_writes_nothing(situs, bench, small_pictures, tmp_path) -> None:
    with wire.Server() as server:
        ran = situs(
            "run",
            *(bench, "--model", server.spec, "--out", tmp_path / "run", "--limit", 12),
            *("--profile", small_pictures, "--dry-run", "--json"),
        )
    assert ran.code == 0, ran.err
    assert server.seen == []
    assert not (tmp_path / "run").exists()
    presenter = Presenter(open_bench(bench), load_profile(str(small_pictures)))
    shown = [presenter.present(item) for item, _ in zip(open_bench(bench).items(), range(12))]
    assert ran.json["requests"] == 12
    assert ran.json["pictures"] == sum(len(one.images) for one in shown)
    patches = sum(
        math.ceil(image.width / 28) * math.ceil(image.height / 28)
        for one in shown
        for image in one.images
    )
    assert ran.json["tokens_in"] == round(patches + sum(len(one.prompt) for one in shown) / 4)
    assert set(ran.json) >= {"tokens_out", "cost", "seconds", "basis"}


def test_a_part_of_a_run_is_forecast_alone(situs, bench, small_pictures, tmp_path) -> None:
    """The studies are dealt out among the parts, so that these add up to the whole."""
    common = ("--profile", small_pictures, "--out", tmp_path / "run", "--dry-run", "--json")
    with wire.Server() as server:
        asked = ("run", bench, "--model", server.spec, *common)
        parts = [situs(*asked, "--shard", f"{n}/2").json["requests"] for n in (1, 2)]
        whole = situs(*asked).json["requests"]
    assert min(parts) > 0
    assert sum(parts) == whole


def test_what_is_answered_is_not_forecast_again(situs, bench, small_pictures, tmp_path) -> None:
    out = tmp_path / "run"
    with wire.Server() as server:
        model = ("--model", server.spec, "--profile", small_pictures, "--out", out)
        model += ("--no-cache", "--json")
        assert situs("run", bench, *model, "--limit", 5).code == 0
        sent = len(server.seen)
        ran = situs("run", bench, *model, "--limit", 8, "--dry-run")
        assert len(server.seen) == sent
    assert ran.json["requests"] == 3
    rows = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    mean = sum(row["usage"]["prompt_tokens"] for row in rows) / len(rows)
    assert ran.json["tokens_in"] == round(3 * mean)


def test_a_profile_that_hides_everything_stops_before_anything_is_sent(
    situs, bench, tmp_path
) -> None:
    """In small pictures, windowed so that all is white,
    nothing stands out from what lies around it."""
    profile = tmp_path / "white.toml"
    shipped = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")
    changes = {
        "size_px = 448": "size_px = 16",
        "low = -160.0": "low = -9000.0",
        "high = 240.0": "high = -8000.0",
        "low_percentile = 1.0": "low_percentile = 0.0",
        "high_percentile = 99.0": "high_percentile = 0.01",
    }
    for usual, changed in changes.items():
        assert usual in shipped
        shipped = shipped.replace(usual, changed)
    profile.write_text(shipped)
    with wire.Server() as server:
        ran = situs(
            *("run", bench, "--model", server.spec, "--profile", profile),
            *("--out", tmp_path / "run"),
        )
    assert ran.code == 2
    assert "hides what the questions need" in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert server.seen == []
    assert not (tmp_path / "run").exists()
