"""WordNet's synonyms, from the database files the user has installed."""

from __future__ import annotations

import mmap
import os
import re
import sys
import zipfile
from functools import lru_cache
from pathlib import Path

from situs.errors import SitusError

__all__ = ["WordNet", "find_wordnet"]

Content = bytes | mmap.mmap

_PARTS = ("noun", "verb", "adj", "adv")
_ENDINGS = {
    "noun": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"),
             ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""),
             ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
"""Morphy's rules of detachment."""
_HINT = (
    "apt install wordnet-base wordnet-sense-index, or python -m nltk.downloader wordnet, "
    "or set WNSEARCHDIR to a folder with WordNet 3.0's data.noun"
)


def find_wordnet() -> Path:
    """The folder or zip file with WordNet 3.0:
    WNSEARCHDIR, NLTK's data folders, or where systems install it."""
    others = []
    for folder in _places():
        if _has_files(folder):
            version = _version(folder)
            if version == "3.0":
                return folder
            others.append(f"{folder} is version {version}")
    other_version = f" ({others[0]})" if others else ""
    raise SitusError(f"WordNet 3.0 is not installed{other_version}", fix=_HINT)


def _has_files(place: Path) -> bool:
    if place.suffix == ".zip":
        return place.is_file()
    return all(
        (place / f"{kind}.{part}").is_file() for kind in ("index", "data") for part in _PARTS
    )


def _version(folder: Path) -> str:
    match = re.search(
        rb"Word[nN]et (\d+\.\d+) Copyright", bytes(_content(folder, "data.adj")[:4096])
    )
    return match[1].decode() if match else "unknown"


def _places() -> list[Path]:
    places = [Path(os.environ[name]) for name in ("WNSEARCHDIR",) if os.environ.get(name)]
    if os.environ.get("WNHOME"):
        places.append(Path(os.environ["WNHOME"]) / "dict")
    nltk = [Path(entry) for entry in os.environ.get("NLTK_DATA", "").split(os.pathsep) if entry]
    nltk += [Path.home() / "nltk_data"]
    nltk += [Path(sys.prefix) / tail / "nltk_data" for tail in ("", "share", "lib")]
    nltk += [
        Path("/usr") / tail / "nltk_data" for tail in ("share", "local/share", "lib", "local/lib")
    ]
    places += [folder / "corpora" / name for folder in nltk for name in ("wordnet", "wordnet.zip")]
    return [
        *places,
        Path("/usr/share/wordnet"),
        Path("/usr/local/WordNet-3.0/dict"),
        Path("/opt/local/share/WordNet"),
    ]


class WordNet:
    """Synonyms by word; the index is held in memory,
    the much larger data files are read where needed."""

    def __init__(self, place: Path) -> None:
        try:
            self._index = {part: _index(_content(place, f"index.{part}")) for part in _PARTS}
            self._exceptions = {
                part: _exceptions(_content(place, f"{part}.exc")) for part in _PARTS
            }
            self._data = {part: _content(place, f"data.{part}") for part in _PARTS}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise SitusError(f"WordNet cannot be read ({error})", where=place, fix=_HINT) from error
        self.synonyms = lru_cache(maxsize=1 << 16)(self._synonyms)

    def _synonyms(self, word: str) -> frozenset[str]:
        """All single words that share a sense with this one (in any part of speech),
        and the word itself."""
        synonyms = {word}
        for part in _PARTS:
            for line in self._entries(word.lower(), part):
                fields = line.split()
                for offset in fields[-int(fields[2]) :]:
                    synonyms.update(self._lemmas(part, int(offset)))
        return frozenset(synonyms)

    def _entries(self, word: str, part: str) -> list[bytes]:
        """The entries a word may stand under, as NLTK's morphy finds them:
        exceptions, else one ending detached."""
        forms = self._exceptions[part].get(word)
        if forms is None:
            forms = [word[: -len(old)] + new for old, new in _ENDINGS[part] if word.endswith(old)]
        keys = [form.encode("utf-8", "replace") for form in dict.fromkeys([word, *forms])]
        return [self._index[part][key] for key in keys if key in self._index[part]]

    def _lemmas(self, part: str, offset: int) -> list[str]:
        data = self._data[part]
        line = data[offset : data.find(b"\n", offset)].decode("utf-8", "replace")
        fields = line.split(" ", 4 + 2 * 256)
        if fields[0] != f"{offset:08d}":
            raise SitusError(f"data.{part} has no entry at {offset}", where="WordNet", fix=_HINT)
        words = (fields[4 + 2 * n].partition("(")[0] for n in range(int(fields[3], 16)))
        return [word for word in words if "_" not in word]


def _index(content: Content) -> dict[bytes, bytes]:
    lines = content[:].splitlines()
    return {line[: line.index(b" ")]: line for line in lines if line and not line.startswith(b" ")}


def _exceptions(content: Content) -> dict[str, list[str]]:
    rows = (line.split() for line in content[:].decode("utf-8").splitlines())
    return {row[0]: row[1:] for row in rows if row}


def _content(place: Path, name: str) -> Content:
    """One file; of a folder it is mapped, not read."""
    if place.suffix == ".zip":
        with zipfile.ZipFile(place) as archive:
            return archive.read(f"wordnet/{name}")
    with (place / name).open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
