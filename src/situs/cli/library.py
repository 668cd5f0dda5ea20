"""`situs library`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from situs.cli.output.paths import INPUT, LOCAL, out_option
from situs.cli.output.printing import (
    echo,
    json_option,
    print_json,
    print_table,
)
from situs.cli.output.progress import progress_bar
from situs.errors import SitusError

_LIBRARY = click.argument("library", type=LOCAL)


@click.group("library")
def command() -> None:
    """Index abstracts on this machine: search them, and verify quotations word for word.
    No network is used."""


@command.command("build")
@click.argument("paths", nargs=-1, required=True, type=INPUT)
@out_option("the library (a folder)")
@click.option(
    "--engine",
    type=click.Choice(["fts5", "tantivy"]),
    default="fts5",
    show_default=True,
    help="What indexes the words; tantivy needs the extra `library`.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing library.")
@json_option
def _build(
    paths: tuple[Path, ...],
    out: Path,
    engine: Literal["fts5", "tantivy"],
    overwrite: bool,
    as_json: bool,
) -> None:
    """Index PubMed files (.xml.gz, with .md5 beside them), .nbib or .jsonl files, or folders of
    them.

    Later files replace earlier ones, as PubMed's update files require. Deleted and retracted
    publications and notices of retraction are left out; an expression of concern is flagged. A line
    of a .jsonl file has pmid, title, abstract (text, or a list of label and text), and may have
    journal, year, retracted and concern.

    \b
    situs library build pubmed/ --out library
    situs library search library "adrenal mass distance to the kidney"
    """
    from situs.library import build_library

    with progress_bar("indexing") as progress:
        counts = build_library(
            list(paths), out, engine=engine, overwrite=overwrite, progress=progress
        )
    if as_json:
        print_json(counts)
        return
    rows = [
        ["publications", f"{counts.articles:,}"],
        ["without an abstract", f"{counts.without_abstract:,}"],
        ["with an expression of concern", f"{counts.concern:,}"],
        ["replaced by a later record", f"{counts.replaced:,}"],
        *([f"left out: {reason}", f"{n:,}"] for reason, n in sorted(counts.withdrawn.items())),
    ]
    print_table(f"library {out}", ["", "count"], rows)


@command.command("search")
@_LIBRARY
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="At most this many publications.",
)
@json_option
def _search(library: Path, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find the publications that match the words best; put phrases in double quotes."""
    from situs.library import open_library

    with open_library(library) as opened:
        hits = opened.search(" ".join(words), limit)
    if as_json:
        print_json({"hits": hits})
        return
    rows = [
        [hit.title, str(hit.year or ""), str(hit.pmid), f"{hit.score:.2f}"]
        + (["expression of concern"] if hit.concern else [""])
        for hit in hits
    ]
    print_table(f"{len(hits)} publications", ["title", "year", "pmid", "score", ""], rows)


@command.command("show")
@_LIBRARY
@click.argument("pmid", type=int)
@json_option
def _show(library: Path, pmid: int, as_json: bool) -> None:
    """Print a publication's title and abstract."""
    from situs.library import open_library

    with open_library(library) as opened:
        article = opened.read(pmid)
    if article is None:
        fix = "search for it; retracted publications are left out"
        raise SitusError(f"has no publication {pmid}", where=library, fix=fix)
    if as_json:
        print_json(article)
        return
    echo(article.title)
    for section in article.sections:
        echo(f"{section.label}: {section.text}" if section.label else section.text)


@command.command("cite")
@_LIBRARY
@click.argument("pmid", type=int)
@click.argument("quote")
@json_option
def _cite(library: Path, pmid: int, quote: str, as_json: bool) -> None:
    """Prove that a publication says something, word for word; exit code 1 if it does not."""
    from situs.library import open_library

    with open_library(library) as opened:
        citation = opened.cite(pmid, quote)
    if as_json:
        print_json({"citation": citation})
    elif citation is None:
        echo(f"{pmid} does not say that in these words")
    else:
        position = "title" if citation.section < 0 else f"section {citation.section + 1}"
        echo(f"{pmid}, {position}, characters {citation.start}–{citation.end}: {citation.quote}")
    if citation is None:
        raise click.exceptions.Exit(1)
