"""One table, shown in five ways: the same cells, in full for programs and rounded for readers."""

from __future__ import annotations

import csv
import io

import pytest

from situs.tables import (
    INTERVAL,
    SIGNED,
    Style,
    Table,
    as_arrow,
    csv_text,
    html_body,
    latex_text,
    markdown_text,
    print_table,
)

TABLE = Table(
    "gains",
    "Gains <of> runs",
    ("run", "items", "share %", "gain", "95 % interval", "p"),
    (
        ("a & b", 1234, 0.98765, 0.125, (-0.0625, 0.3125), 0.0004),
        ("=c", 2, 0.5, -0.25, None, None),
    ),
    "A caption.",
    {
        "share %": Style(digits=1, scale=100.0),
        "gain": SIGNED,
        "95 % interval": INTERVAL,
        "p": Style(digits=4, absent="", detail=True),
    },
)
WORDS = [
    ["a & b", "1,234", "98.8", "+0.125", "-0.062 – 0.312", "0.0004"],
    ["=c", "2", "50.0", "-0.250", "–", ""],
]


def test_cells_are_read_out_by_their_style() -> None:
    assert [TABLE.words(row) for row in TABLE.rows] == WORDS


def test_programs_get_full_numbers_and_intervals_in_two_columns() -> None:
    head, first, second = csv.reader(io.StringIO(csv_text(TABLE)))
    assert head == ["run", "items", "share %", "gain", "low", "high", "p"]
    assert first == ["a & b", "1234", "0.98765", "0.125", "-0.0625", "0.3125", "0.0004"]
    assert second == ["'=c", "2", "0.5", "-0.25", "", "", ""], "no formula for a spreadsheet"
    frame = as_arrow(TABLE)
    assert frame.column_names == head
    assert frame["low"].to_pylist() == [-0.0625, None]
    assert frame["items"].to_pylist() == [1234, 2]


def test_a_paper_gets_what_a_reader_reads() -> None:
    lines = markdown_text(TABLE).splitlines()
    assert lines[2].count("|") == len(TABLE.columns) + 1
    assert [cell.strip() for cell in lines[4].split("|")[2:-1]] == WORDS[0][1:]
    latex = latex_text(TABLE)
    assert r"a \& b & 1,234 & 98.8 & +0.125 & $-$0.062 -- 0.312 & 0.0004 \\" in latex


def test_html_is_escaped_and_numbers_are_marked() -> None:
    html = html_body(TABLE)
    assert '<th scope="row" class="sticky">a &amp; b</th>' in html
    assert '<td class="num">-0.062 – 0.312</td>' in html
    assert html.count("<tr>") == 1 + len(TABLE.rows)
    assert html_body(TABLE, most_rows=1).count("<tr>") == 2
    assert "<script>" not in html_body(Table("t", "t", ("a",), (("<script>",),)))


def test_a_terminal_has_no_room_for_details(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE)
    shown = capsys.readouterr().out
    assert "0.0004" not in shown
    for words in WORDS:
        assert all(word in shown for word in words[:-1])
    assert "A caption." in shown


def test_prose_stands_to_the_left_and_numbers_to_the_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = "the spinal cord is implausibly small for an adult"
    rows = (("a", 7, reason), ("b", 1234, "none"))
    print_table(Table("t", "t", ("study", "items", "why"), rows))
    lines = capsys.readouterr().out.splitlines()
    at = {word: line.index(word) for line in lines for word in (reason, "none") if word in line}
    assert at[reason] == at["none"]
    ends = {
        line.index(word) + len(word)
        for line in lines
        for word in ("    7", "1,234")
        if word in line
    }
    assert len(ends) == 1


def test_columns_without_names_have_no_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(Table("t", "written", ("", ""), (("items", 17), ("pictures", 0))))
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert shown == [["written"], ["items", "17"], ["pictures", "0"]]


def test_a_terminal_breaks_sentences_between_words_and_no_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words need 117 columns in all: headings and the sentence give way, names do not."""
    monkeypatch.setenv("COLUMNS", "120")
    names = ("gluteus_maximus_right", "portal_vein_and_splenic_vein")
    columns = ("a", "b", "centres mm", "boundaries mm", "gap mm", "contact mm²", "a lies … of b")
    side = "anterior and superior"
    print_table(Table("t", "t", columns, ((*names, 12.5, 1.5, 0.0, 7, side),)))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 120
    shown = {word for line in lines for word in line.split()}
    assert shown >= {*names, *side.split(), "boundaries"}


def test_a_terminal_breaks_no_interval(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words alone would fit into 84 columns, if an interval were two of them."""
    monkeypatch.setenv("COLUMNS", "84")
    monkeypatch.setattr("situs.tables.terminal._WIDTH_OF_FILES", 84)
    columns = ("structure", "mL", "interval", "x", "y", "z")
    row = ("portal_vein_and_splenic_vein", 499.0, "404.0 – 593.9", -97.2, -12.3, 44.8)
    print_table(Table("t", "t", columns, (row,)))
    assert "404.0 – 593.9" in capsys.readouterr().out
