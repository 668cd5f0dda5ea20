"""Every option and argument of every command,
as the program itself lists them, with what nobody should give it."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from attack.apart import begin
from attack.commands import lay_out, spell
from attack.program import Ran, call, complaints, tree
from attack.texts import HOSTILE

__all__ = ["case", "check_complete"]

Words = tuple[str, ...]
_ITEMS, _RUN = "{corpus}/benches/items", "{run}"
_OUT = ("--out", "{out}")
_MASKS = ("--names", "{corpus}/names.csv", "--trust", "s1", "--annotation", "manual")

_GOOD: dict[str, Words] = {
    "measure": ("{corpus}/labels.nii",),
    "build boxes": ("{corpus}/boxes.csv", *_OUT),
    "build grades": ("{corpus}/grades.csv", *_OUT),
    "build masks": ("{corpus}/table.csv", *_MASKS, *_OUT),
    "build phantoms": ("--studies", "1", "--body", "knee", *_OUT),
    "build reports": ("{corpus}/reports.csv", *_OUT),
    "import 3dreasonknee": (
        "{corpus}/split.csv",
        "{corpus}/knee.json",
        "--images",
        "{corpus}",
        *_OUT,
    ),
    "import ct-spatialvqa": ("{corpus}/qa.json", *_OUT),
    "import items": ("{corpus}/items.jsonl", *_OUT),
    "import sgmri-vqa": ("{corpus}/sgmri.json", *_OUT),
    "debias": (_ITEMS, *_OUT),
    "check": (_ITEMS,),
    "show": ("{corpus}/benches/scans", *_OUT),
    "run": (_ITEMS, "--model", "random", *_OUT),
    "score": (_ITEMS, _RUN),
    "probe": (_ITEMS, "--model", "random", "--probes", "text", *_OUT),
    "compare": (_RUN, _RUN, "--bench", _ITEMS),
    "report": (_RUN, "--bench", _ITEMS, "--out", "{out}.html"),
    "quiz": ("{corpus}/benches/scans", "--items", "2", "--out", "{out}.html"),
    "audit export": (_ITEMS, "--items", "4", "--raters", "ann,bob", "--out", "{out}.csv"),
    "audit import": (_ITEMS, "{corpus}/sheet.csv"),
    "audit plan": (),
    "adapter-check": ("random", "--trials", "12", "--profile", "one-slice"),
    "purge": (),
    "export": ("{corpus}/benches/scans", "--to", "inspect", *_OUT),
    "author": ("{corpus}/benches/scans", "--per-study", "2", *_OUT),
    "compare-arms": ("{corpus}/benches",),
    "merge": ("{corpus}/halves/1", "{corpus}/halves/2", *_OUT),
    "review init": ("{out}",),
    "review assign": ("{station}", "--project", "p", "--readers", "ann,bob"),
    "review export": ("{station}", "--project", "p", *_OUT),
    "review import": ("{station}", "{corpus}/benches/scans", "--project", "q", "--items", "4"),
    "review serve": ("{station}", "--port", "0"),
    "review user": ("{station}", "list"),
    "review verify": ("{station}",),
    "serve mcp": ("{corpus}/benches/scans",),
    "view": ("{corpus}/runs", "--port", "0"),
    "tune audit-reward": ("{corpus}/benches/frames", "--limit", "4"),
    "tune build": (_ITEMS, *_OUT),
    "tune check": ("{corpus}/taught",),
    "tune demo": ("--quick", *_OUT),
    "tune eval": ("{corpus}/taught", "--bench", "{corpus}/benches/lessons", *_OUT),
    "tune export": ("{corpus}/taught", "--to", "trl", *_OUT),
    "tune merge": ("{corpus}/taught", *_OUT),
    "tune run": ("sgmri-qwen3-vl-8b", "--data", "{corpus}/taught", "--model", "m", "--dry-run"),
    "list models": (),
    "list rooms": (),
    "library build": ("{corpus}/abstracts.jsonl", *_OUT),
    "library search": ("{corpus}/library", "kidney"),
    "library show": ("{corpus}/library", "2"),
    "library cite": ("{corpus}/library", "2", "The right kidney lies 2 cm lower"),
    "list formats": (),
    "list layouts": (),
    "list metrics": (),
    "list names": (),
    "list probes": (),
    "list profiles": (),
    "list tasks": (),
    "doctor": (),
}
"""A call of each command that works;
in a case one of its words, or one that it can take more, is odd."""
_SERVERS = ("review serve", "serve mcp", "view")
"""Commands that wait for visitors: they are stopped, if they have not ended by themselves."""
_SERVING_SECONDS = 2.0
_NEED_TORCH = ("tune demo", "tune eval", "tune merge")
"""Without torch they refuse whatever they are given; with it, a good call trains a model."""
_LONG_WORK = {("build phantoms", "studies"), ("adapter-check", "trials")}
"""Numbers that are honest orders for years of work, if large."""

_NUMBERS = (
    "nan", "inf", "-inf", "-1", "0", "-0.0", "1e308", "1e-320", "99999999999999999999", "9" * 4400,
    "1e999", "0x10",
    "1_000", "½", "٣", "1,5", "", "2147483648", "4294967297", "-9223372036854775809",
    "18446744073709551616", "1e400",
)  # fmt: skip
_TEXTS = (
    "", " ", ",", "=", "a=", "=b", "a=b=c", "/", "../../x", "/dev/zero", "nan", "random?",
    "random?seed", "hf:",
    "replay:",
    "openai:", "openai:m@", "openai:@http://127.0.0.1:9", "hf:/nowhere", "replay:/dev/zero",
    "x" * 70_000, "[" * 4_000,
    "all,all", "@", "?", "*", "a,b,,c", "0", "-1", "--help", "v=/dev/zero", "\udcff", "%s", "{}",
    "constant:", "none",
    "9" * 5000,
)  # fmt: skip


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One parameter of one command, odd."""
    known = sorted(_parameters())
    if importlib.util.find_spec("torch") is not None:
        known = [name for name in known if name not in _NEED_TORCH]
    rarely = rng.random() < 0.05
    name = rng.choice(known if rarely else [name for name in known if name != "build phantoms"])
    parameter = rng.choice(_parameters()[name]) if _parameters()[name] else None
    lay_out("runs/items/run.json", corpus, work)
    if name.startswith("review"):
        lay_out("station/station.json", corpus, work)
    if parameter is None:
        words = [*name.split(), rng.choice([*HOSTILE, *_TEXTS]).replace("\x00", "")]
    else:
        odd = _odd(rng, name, parameter, work)
        # A command that nobody has written a good call for yet must still refuse what is odd.
        good = spell(
            _GOOD.get(name, ()),
            corpus=corpus,
            run=work / "runs" / "items",
            station=work / "station",
            out=work / "out",
        )
        words = [*name.split(), *_with(rng, good, parameter, odd)]
    before = tree(work)
    ran = _served(*words) if name in _SERVERS else call(*words)
    wrong = complaints(ran, work, before)
    # A command that takes nothing calls an odd word that begins with a dash an option, as it
    # should.
    if parameter is None or name not in _GOOD:
        wrong = [text for text in wrong if "the attack itself is wrong" not in text]
    if name == "probe" and ran.code == 2:  # finished runs stay for the same command to go on with
        wrong = [text for text in wrong if "leaves" not in text]
    said = f"{parameter.name}={words[-1][:60]!r}" if parameter else ""
    return [f"{said} {text}" for text in wrong]


def _served(*words: str) -> Ran:
    """A server that is stopped after a moment; that it was is no fault of it."""
    under_way = begin(*words, work=Path.cwd())
    under_way.wait(_SERVING_SECONDS)
    under_way.signal(signal.SIGINT, group=True)
    code = under_way.end()
    stopped = (-signal.SIGINT, 128 + signal.SIGINT)
    code = 0 if code in stopped else code
    return Ran(words, code, under_way.output, under_way.error, under_way.kilobytes)


def check_complete() -> None:
    """A command without a good call is refused early: most of it is never reached."""
    if strangers := sorted(set(_parameters()) - set(_GOOD)):
        print(f"attacked without a good call: {', '.join(strangers)}")


def _with(rng: random.Random, good: list[str], parameter: click.Parameter, odd: str) -> list[str]:
    """The words of the call with one more option, or another argument in front."""
    if isinstance(parameter, click.Option):
        option = max(parameter.opts, key=len)
        if option in good:
            place = good.index(option)
            good = good[:place] + good[place + 2 :]
        return [*good, option, odd]
    return [*good[1:], "--", odd] if rng.random() < 0.5 or not good[1:] else [*good, "--", odd]


def _odd(rng: random.Random, name: str, parameter: click.Parameter, work: Path) -> str:
    kind = parameter.type
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        small = [value for value in _NUMBERS if not value.strip("-").isdigit() or len(value) < 3]
        return rng.choice(small if (name, parameter.name) in _LONG_WORK else _NUMBERS)
    if isinstance(kind, click.Path):
        places = _places(work)
        if parameter.name in ("out", "tables"):  # the attack itself writes nowhere else
            places = [place for place in places if place.startswith(str(work))]
        return rng.choice(places)
    return rng.choice([*HOSTILE, *_TEXTS]).replace("\x00", "")


def _places(work: Path) -> list[str]:
    """What may stand where a file or folder is wanted."""
    odd = work / "odd"
    odd.mkdir()
    (odd / "empty").touch()
    (odd / "empty.json").touch()
    (odd / "folder").mkdir()
    (odd / "deep.json").write_text("[" * 100_000)
    (odd / "deep.toml").write_text("a = " + "[" * 20_000)
    (odd / "binary.csv").write_bytes(os.urandom(300))
    (odd / "nothing.jsonl").write_text("\n\n\n")
    (odd / "loop").symlink_to(odd / "loop")
    (odd / "dangling").symlink_to(odd / "nowhere")
    for suffix in ("", ".csv", ".json", ".nii.gz", ".toml"):
        os.mkfifo(odd / f"pipe{suffix}")
    inside = [str(path) for path in sorted(odd.iterdir())]
    beyond = [
        str(odd / "empty" / "x"),
        str(odd / ("n" * 300)),
        f"{odd}/{'d/' * 2500}x",
        str(odd / "\udcff"),
    ]
    return [
        *inside,
        *beyond,
        "/dev/zero",
        "/dev/stdin",
        "",
        ".",
        "/",
        "/proc/self/mem",
        "~nobody/x",
        "-",
    ]


@cache
def _parameters() -> dict[str, list[click.Parameter]]:
    """Command → what it can be given, switches apart."""
    from situs import cli

    group = next(value for value in vars(cli).values() if isinstance(value, click.Group))
    found = {}
    for name, command in _commands(group, ()):
        found[name] = [p for p in command.params if not (isinstance(p, click.Option) and p.is_flag)]
    found.pop("demo")
    return found


def _commands(group: click.Group, above: Words) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, (*above, name))
        elif command is not None:
            yield " ".join((*above, name)), command
