"""A page in parts is the page in one piece."""

from __future__ import annotations

import json

import msgspec

from situs.base.page import json_for_script, safe_in_script, script_parts


class Small(msgspec.Struct):
    words: list[str]
    texts: dict[str, msgspec.Raw]
    none: dict[str, msgspec.Raw] = {}
    note: str = ""


def test_parts_are_the_json_of_the_whole_and_end_no_script() -> None:
    evil = "</script><b>\u2028\u2029é"
    texts = {
        f"{evil}{number}": msgspec.Raw(safe_in_script(json.dumps([evil, number]).encode()))
        for number in range(3)
    }
    for payload in (Small([evil, "plain"], texts, note=evil), Small([], {}), [evil], {}, None):
        whole = b"".join(script_parts(payload))
        assert whole == json_for_script(payload)
        assert b"<" not in whole
    told = json.loads(b"".join(script_parts(Small([evil], texts))))
    assert told == {
        "words": [evil],
        "texts": {f"{evil}{number}": [evil, number] for number in range(3)},
        "none": {},
        "note": "",
    }
