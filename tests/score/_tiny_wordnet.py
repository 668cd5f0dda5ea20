"""A WordNet of a dozen words in the files of the real one, for tests."""

from __future__ import annotations

from pathlib import Path

_SYNSETS = {
    "noun": [
        ("n", ["nodule", "lump"]),
        ("n", ["lung"]),
        ("n", ["belly", "abdomen", "upper_abdomen"]),
        ("n", ["man"]),
    ],
    "verb": [
        ("v", ["detect", "observe", "find"]),
        ("v", ["show", "demonstrate"]),
        ("v", ["lie", "be"]),
    ],
    "adj": [("a", ["big", "large"]), ("a", ["right(a)", "correct"]), ("a", ["find"])],
    "adv": [("r", ["near", "close"])],
}
_EXCEPTIONS = {
    "noun": "men man\n",
    "verb": "found find\nwere be\n",
    "adj": "bigger big\n",
    "adv": "best well\n",
}
_HEADER = "  1 WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved.  \n"


def write_tiny_wordnet(folder: Path, version: str = "3.0") -> Path:
    """Write the files, with everything NLTK's reader looks for too."""
    folder.mkdir(parents=True)
    header = _HEADER.replace("3.0", version)
    for part, synsets in _SYNSETS.items():
        data, entries = header, dict[str, list[int]]()
        for kind, words in synsets:
            offset = len(data.encode())
            named = " ".join(f"{word} 0" for word in words)
            frames = " 01 + 01 00" if part == "verb" else ""
            data += f"{offset:08d} 00 {kind} {len(words):02x} {named} 000{frames} | a gloss  \n"
            for word in words:
                entries.setdefault(word.partition("(")[0], []).append(offset)
        (folder / f"data.{part}").write_text(data)
        letter = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}[part]
        index = header
        for word, offsets in sorted(entries.items()):
            at = " ".join(f"{offset:08d}" for offset in offsets)
            index += f"{word} {letter} {len(offsets)} 0 {len(offsets)} 0 {at}  \n"
        (folder / f"index.{part}").write_text(index)
        (folder / f"{part}.exc").write_text(_EXCEPTIONS[part])
    (folder / "lexnames").write_text("".join(f"{n:02d}\tname.{n}\t1\n" for n in range(45)))
    for name in ("index.sense", "cntlist.rev"):
        (folder / name).write_text("")
    return folder
