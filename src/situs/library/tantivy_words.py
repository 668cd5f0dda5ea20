"""An index of words by tantivy, for libraries as large as PubMed. Needs the extra `library`."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from situs.errors import SitusError

__all__ = ["TANTIVY", "TantivyWords", "write_tantivy"]

TANTIVY = "words.tantivy"
"""The folder of the index in a library."""
_MEMORY = 64 << 20
_ONE_THREAD = 1
"""Documents are then numbered as they were added: the same files give the same order of equals."""


def _tantivy() -> Any:
    try:
        import tantivy
    except ImportError as error:
        fix = "pip install 'situs[library]', or build the library with --engine fts5"
        raise SitusError("tantivy is not installed", fix=fix) from error
    return tantivy


def write_tantivy(folder: Path, rows: Iterable[tuple[int, str, str]]) -> None:
    """Index PubMed ids with their titles and abstracts."""
    tantivy = _tantivy()
    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("pmid", stored=True)
    for name in ("title", "body"):
        schema.add_text_field(name, stored=False, tokenizer_name="en_stem")
    (folder / TANTIVY).mkdir()
    index = tantivy.Index(schema.build(), path=str(folder / TANTIVY))
    writer = index.writer(heap_size=_MEMORY, num_threads=_ONE_THREAD)
    for pmid, title, body in rows:
        writer.add_document(tantivy.Document(pmid=pmid, title=title, body=body))
    writer.commit()
    writer.wait_merging_threads()


class TantivyWords:
    """The index of a library."""

    def __init__(self, folder: Path) -> None:
        tantivy = _tantivy()
        try:
            self._index = tantivy.Index.open(str(folder / TANTIVY))
            self._searcher = self._index.searcher()
        except Exception as error:  # the library raises whatever its Rust side calls an error
            problem = f"cannot be read ({str(error)[:120]})"
            raise SitusError(problem, where=folder, fix="build the library again") from error
        self._lock = threading.Lock()

    def matching(self, terms: Sequence[str], *, every: bool, limit: int) -> list[tuple[int, float]]:
        """PubMed ids with their scores, best first: of what holds every term, or some."""
        sign = "+" if every else ""
        query = " ".join(f'{sign}"{term}"' for term in terms)
        with self._lock:
            parsed = self._index.parse_query(query, ["title", "body"], field_boosts={"title": 3.0})
            hits = self._searcher.search(parsed, limit).hits
            scored = [
                (int(self._searcher.doc(address)["pmid"][0]), float(s)) for s, address in hits
            ]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))
