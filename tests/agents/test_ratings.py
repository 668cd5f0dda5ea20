"""Readers' ratings of arms, and banks of wordings, from files that anybody may have written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from situs.bench import open_bench
from situs.build.authoring.arms import compare_arms, read_ratings
from situs.errors import SitusError
from situs.items.programs.bank import Wording, read_bank, write_bank


def test_ratings_are_read_as_every_other_table_is(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("\ufeffitem;rating;arm\na;2;P\na;1;P\nb;0;\n", encoding="utf-8")
    assert read_ratings(file) == {("P", "a"): [2.0, 1.0], ("", "b"): [0.0]}


@pytest.mark.parametrize(
    "content",
    ["item,rating\na,3\n", "item,rating\na\n", f'item,rating\n"{"a" * 200_000}",1\n', 'item\n"a'],
)
def test_ratings_that_cannot_be_read_are_one_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "ratings.csv").write_text(content)
    with pytest.raises(SitusError):
        read_ratings(tmp_path / "ratings.csv")


def test_a_pipe_is_no_table_of_ratings(tmp_path: Path) -> None:
    """Nobody writes to it: whoever reads it waits for ever."""
    file = tmp_path / "ratings.csv"
    os.mkfifo(file)
    # Whoever reads it gets a table; where nobody does, the thread ends with the tests.
    threading.Thread(target=file.write_text, args=("item,rating\na,1\n",), daemon=True).start()
    with pytest.raises(SitusError, match="file"):
        read_ratings(file)


def test_a_bank_that_is_written_can_be_read(tmp_path: Path) -> None:
    bank = [
        Wording("volume({A})", "What is {A}'s volume, in mL?", 'R\x7f\x01"\\\u202e', "", ("x",))
    ]
    write_bank(tmp_path / "bank.toml", bank)
    assert read_bank(tmp_path / "bank.toml") == bank


@pytest.fixture(scope="module")
def arms(cohort: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One bench as four arms: what differs is what readers say of them."""
    folder = tmp_path_factory.mktemp("arms")
    for name in ("T", "P", "W", "PW"):
        (folder / name).symlink_to(cohort)
    return folder


def rated(folder: Path, by_arm: dict[str, tuple[float, ...]], shift: int = 0) -> Path:
    """Ratings of the first question of twelve patients, by turns from an arm's; `shift` patients on
    in the arms but T."""
    first_items = {}
    for item in open_bench(folder / "T").items():
        first_items.setdefault(item.patient_id, item.item_id)
    rows = ["arm,item,rating"]
    for arm, ratings in by_arm.items():
        ids = list(first_items.values())[shift * (arm != "T") :][:12]
        rows += [f"{arm},{id_},{ratings[n % len(ratings)]}" for n, id_ in enumerate(ids)]
    (folder / "ratings.csv").write_text("\n".join(rows))
    return folder / "ratings.csv"


def test_an_arm_that_is_rated_lower_is_not_called_equal(arms: Path) -> None:
    told = compare_arms(arms, rated(arms, {"T": (1, 2), "P": (2, 1), "W": (0, 0, 1), "PW": (2, 2)}))
    # Twelve of twelve signs by luck: about 1 in 4,096, three times that after Holm.
    assert told.arms["W"].p_below_holm is not None
    assert told.arms["W"].p_below_holm < 0.01
    assert told.arms["W"].verdict == "not shown"
    assert "W: rated below the templates." in told.statement
    assert told.arms["P"].verdict == "no difference"
    # Rated above, but nobody read the keys.
    assert told.arms["PW"].verdict == "not shown"
    assert "PW: rated below" not in told.statement


def test_readers_who_rated_other_patients_show_nothing(arms: Path) -> None:
    """Twelve patients in each arm, but only nine in both."""
    told = compare_arms(arms, rated(arms, {"T": (1, 2), "P": (1, 2)}, shift=3))
    assert told.arms["P"].rated == 12
    assert told.arms["P"].p_holm is None
    assert told.arms["P"].verdict == "not shown"
