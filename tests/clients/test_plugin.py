"""`plugin:module:object`: the user's own code as a model."""

from __future__ import annotations

import re
import threading
import time
from importlib.metadata import EntryPoint
from pathlib import Path

import msgspec
import numpy as np
import pytest

from asking import QUICK, question
from situs.clients import Message, Request, ResponseCache, VolumeInput, make_client, parse_spec
from situs.errors import SitusError

CODE = """
import threading, time
from situs.clients import Reply

class Echo:
    remote = False
    def __init__(self, loud="no"):
        self.loud = loud
        self.now = self.most = 0
    def answer(self, request):
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(0.01)
        self.now -= 1
        return request.text().upper() if self.loud == "yes" else request.text()

class Many(Echo):
    concurrency = 3

class Later(Echo):
    async def answer(self, request):
        return Reply("answered", "later " + request.text(), {"prompt_tokens": 5.0})

class Broken(Echo):
    def answer(self, request):
        raise ValueError("no weights\\nfor this")

class Odd(Echo):
    def answer(self, request):
        return 42

class Swapped(Echo):
    def answer(self, request):
        return Reply("B")

class Worded(Echo):
    def answer(self, request):
        return Reply("answered", 5)

class Counted(Echo):
    def answer(self, request):
        return Reply("answered", "B", {"prompt_tokens": "5"})

class Undeclared:
    def answer(self, request):
        return "x"

class Versioned(Echo):
    version = 3

class Unmakeable:
    def __init__(self):
        raise RuntimeError("no GPU")

def factory(loud="no"):
    return Echo(loud)

ready = Echo()
nothing = object()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin's file lies in the folder the command is called in."""
    import sys

    (tmp_path / "my_plugin.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_plugin", raising=False)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Echo", "question 1"),
        ("Echo?loud=yes", "QUESTION 1"),
        ("factory?loud=yes", "QUESTION 1"),
        ("ready", "question 1"),
        ("Later", "later question 1"),
        ("Echo?loud=yes&temperature=0.5&seed=1", "QUESTION 1"),
    ],
)
def test_classes_factories_and_objects_answer(asked, name, said) -> None:
    _, book = asked(f"plugin:my_plugin:{name}", [question(1)])
    assert (book["key1"].state, book["key1"].text) == ("answered", said)


@pytest.mark.parametrize(("name", "most"), [("Echo", 1), ("Many", 3)])
def test_a_plain_answer_is_called_one_at_a_time_unless_it_allows_more(asked, name, most) -> None:
    client = make_client(parse_spec(f"plugin:my_plugin:{name}"))
    limits = msgspec.structs.replace(QUICK, concurrency=8)
    asked(client, [question(n) for n in range(12)], limits)
    assert client._object.most == most


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Broken", "ValueError: no weights for this"),
        ("Odd", "gave int"),
        ("Swapped", "a Reply that cannot be kept: Invalid enum value 'B'"),
        ("Worded", "a Reply that cannot be kept: Expected `str`"),
        ("Counted", "a Reply that cannot be kept: Expected `float`"),
    ],
)
def test_what_goes_wrong_is_a_failed_call_with_its_message(asked, name, word) -> None:
    result, book = asked(f"plugin:my_plugin:{name}", [question(1)])
    assert (book["key1"].state, book["key1"].text) == ("failed", "")
    assert word in book["key1"].error
    assert result.tally.requests == 1


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("plugin:no_such_module:X", "cannot be imported"),
        ("plugin:my_plugin:Ecko", "did you mean Echo"),
        ("plugin:my_plugin:nothing", "has no answer"),
        ("plugin:my_plugin:Unmakeable", "no GPU"),
        ("plugin:my_plugin:Echo?wrong=1", "cannot be made"),
        ("plugin:my_plugin:ready?loud=yes", "takes no 'loud'"),
        ("plugin:nobody-offers-this", "no installed package"),
    ],
)
def test_what_is_no_plugin_is_said_in_one_line(spec, word) -> None:
    with pytest.raises(SitusError, match=re.escape(word)):
        make_client(parse_spec(spec))


def test_an_entry_point_is_found_by_its_name(asked, monkeypatch) -> None:
    entry = EntryPoint("echo", "my_plugin:Echo", "situs.clients")
    monkeypatch.setattr(
        "situs.base.plugins.entry_points", lambda group: [entry] if group == entry.group else []
    )
    monkeypatch.syspath_prepend(str(Path.cwd()))
    assert asked("plugin:echo", [question(1)])[1]["key1"].text == "question 1"


def test_a_plugin_that_does_not_say_it_is_local_gets_no_restricted_data(asked) -> None:
    with pytest.raises(SitusError, match="--allow-remote"):
        asked("plugin:my_plugin:Undeclared", [question(1)])
    assert (
        asked("plugin:my_plugin:Undeclared", [question(1)], allow_remote=True)[1]["key1"].text
        == "x"
    )


@pytest.mark.parametrize(("name", "sent"), [("Echo", 2), ("Versioned", 1)])
def test_only_what_has_a_version_is_cached(asked, tmp_path, name, sent) -> None:
    cache = ResponseCache(tmp_path)
    total = sum(
        asked(f"plugin:my_plugin:{name}", [question(1)], cache=cache)[0].tally.requests
        for _ in range(2)
    )
    cache.close()
    assert total == sent


def test_a_volume_is_made_only_when_it_is_looked_at(asked) -> None:
    made = []

    def load() -> np.ndarray:
        made.append(threading.current_thread().name)
        return np.ones((2, 3, 4))

    class Looks:
        remote = False

        def answer(self, request: Request) -> str:
            volume = request.volume()
            assert volume is not None
            time.sleep(0.001)
            return (
                f"{volume.array().shape} {volume.affine[0, 0]}"
                if "look" in request.text()
                else "no"
            )

    import sys
    from types import ModuleType

    module = ModuleType("my_looks")
    module.Looks = Looks  # type: ignore[attr-defined]
    sys.modules["my_looks"] = module
    volume = VolumeInput(load, np.diag([2.0, 2.0, 2.0, 1.0]), "digest")
    requests = [Request(word, (Message("user", (volume, word)),)) for word in ("look", "rest")]
    _, book = asked("plugin:my_looks:Looks", requests)
    assert (book["look"].text, book["rest"].text) == ("(2, 3, 4) 2.0", "no")
    assert len(made) == 1
    assert "plugin" in made[0]
