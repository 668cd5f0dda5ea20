"""Which changes to a formula does no test notice?

Draws seeded changes to the formulas of `measure`, `score` and `facts` (an operator, a comparison, a
sign, a constant) and puts each to the tests that call the changed function, cheapest first:

    python benchmarks/mutants.py --count 300 --seed 1 --map calls.json
    python benchmarks/mutants.py --at src/situs/score/stats/limits.py --tests score --map calls.json

The tests are collected once. One run of them, traced, tells which test calls which function and at
what cost (`--map` keeps that for the next time, when only tests that it lacks are run). A test that
noticed one change to a function is the first to be tried on the next one. Each change is then made in a fork of the
collected session, in the code of the live function, so that it costs no more than the tests that
are run. Only what a test sees in its own process is tried: a change that only a child process would
meet lives.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import copy
import faulthandler
import gc
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("measure", "score", "facts")
TESTS = (
    "measure",
    "facts",
    "score",
    "items",
    "laws",
    "build",
    "judges",
    "review",
    "cli",
    "probe",
    "report",
    "api",
)
"""Folders of tests that may notice; the others know nothing of formulas."""
BENCHES = ("small", "cohort", "boxes", "knees", "random_run")
"""What fixtures build by way of `measure` and `facts` only:
for a change of `score` they are shared."""
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
Key = str
"""A function: its file and its qualified name."""


@dataclass(frozen=True)
class Mutant:
    """One change to one file."""

    path: Path
    place: int
    """Which of the file's nodes that can be changed."""
    line: int
    function: str
    """The outermost function around it, qualified."""
    before: str
    after: str

    @property
    def package(self) -> str:
        """`measure`, `score` or `facts`."""
        return self.path.relative_to(ROOT / "src" / "situs").parts[0]

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def key(self) -> Key:
        """The function that is changed."""
        return key_of(self.path, self.function)


@dataclass(frozen=True)
class Calls:
    """What the traced run told."""

    tests: Mapping[str, Collection[Key]]
    """For each test that passed, the functions it called, by itself or through its fixtures."""
    cost: Mapping[str, float]
    """CPU seconds of a test with its own set-up."""

    def of(self, key: Key) -> list[str]:
        """The tests that call a function."""
        return [test for test, keys in self.tests.items() if key in keys]


def key_of(path: str | Path, qualified: str) -> Key:
    """Nested functions and comprehensions belong to the function around them."""
    return f"{Path(path).relative_to(ROOT)}:{qualified.partition('.<locals>')[0]}"


def changeable(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The nodes of formulas: arithmetic, comparisons of order, signs, numbers that are not 0 or 1.

    Each comes with the qualified name of the outermost function around it; outside functions there
    is none.
    """

    def inside(node: ast.AST, name: str, function: str) -> Iterator[tuple[str, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield from inside(child, "", function or f"{name}{child.name}")
                case ast.ClassDef():
                    yield from inside(child, f"{name}{child.name}.", function)
                case _:
                    if function and is_formula(child):
                        yield function, child
                    yield from inside(child, name, function)

    return inside(tree, "", "")


def is_formula(node: ast.AST) -> bool:
    """Whether a node can be changed."""
    match node:
        case ast.BinOp():
            return type(node.op) in OPERATORS and not (is_text(node.left) or is_text(node.right))
        case ast.Compare():
            return type(node.ops[0]) in OPERATORS
        case ast.UnaryOp():
            return isinstance(node.op, ast.USub)
        case ast.Constant(value=float(value)):
            return value not in (0.0, 1.0)
    return False


def is_text(node: ast.AST) -> bool:
    """Texts joined and paths are no formulas."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str)
        case ast.JoinedStr():
            return True
        case ast.BinOp():
            return is_text(node.left) or is_text(node.right)
        case ast.IfExp():
            return is_text(node.body) or is_text(node.orelse)
    return False


def change(node: ast.AST) -> None:
    """Change a node in place."""
    match node:
        case ast.BinOp():
            node.op = OPERATORS[type(node.op)]()
        case ast.Compare():
            node.ops[0] = OPERATORS[type(node.ops[0])]()
        case ast.UnaryOp():
            node.op = ast.UAdd()
        case ast.Constant(value=float(value)):
            node.value = value * 1.5


def candidates() -> list[Mutant]:
    """Every change that can be drawn."""
    result = []
    for package in PACKAGES:
        for path in sorted((ROOT / "src" / "situs" / package).rglob("*.py")):
            for place, (function, node) in enumerate(
                changeable(ast.parse(path.read_text("utf-8")))
            ):
                changed = copy.deepcopy(node)
                change(changed)
                line = getattr(node, "lineno", 0)
                result.append(
                    Mutant(path, place, line, function, ast.unparse(node), ast.unparse(changed))
                )
    return result


# Changing the live program.


@dataclass(frozen=True)
class Live:
    """What is loaded of the program. Millions of objects are looked through to find it: once."""

    kernels: Sequence[Any]
    """The compiled functions."""
    functions: Mapping[tuple[str, str], Sequence[types.FunctionType]]
    """By file and qualified name."""

    @classmethod
    def found(cls) -> Live:
        """Look for it."""
        from numba.core.registry import CPUDispatcher

        kernels, functions = [], collections.defaultdict(list)
        for one in gc.get_objects():
            if type(one) is CPUDispatcher and one.py_func.__module__.startswith("situs."):
                kernels.append(one)
            elif type(one) is types.FunctionType:
                functions[one.__code__.co_filename, one.__code__.co_qualname].append(one)
        return cls(kernels, functions)


def called_by(kernel: Any) -> list[Any]:
    """A kernel and all kernels it calls."""
    waiting, result = [kernel], {}
    while waiting:
        one = waiting.pop()
        if id(one) not in result:
            result[id(one)] = one
            names = [one.py_func.__globals__.get(name) for name in one.py_func.__code__.co_names]
            waiting += [found for found in names if type(found) is type(kernel)]
    return list(result.values())


def make(mutant: Mutant, live: Live) -> None:
    """Give the live function the changed code; kernels that call it are compiled anew."""
    from numba.core.caching import NullCache

    tree = ast.parse(mutant.path.read_text("utf-8"))
    change(list(changeable(tree))[mutant.place][1])
    changed = dict(codes(compile(tree, str(mutant.path), "exec", dont_inherit=True)))
    alive = live.functions.get((str(mutant.path), mutant.function))
    if not alive:
        raise LookupError(f"no live function {mutant.key}")
    for kernel in live.kernels:
        if any(one.py_func in alive for one in called_by(kernel)):
            kernel._cache = NullCache()
    definitions = {
        (node.name, line): node.args
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in (node.lineno, *(one.lineno for one in node.decorator_list))
    }
    for function in alive:
        first = function.__code__.co_firstlineno
        function.__code__ = changed[mutant.function, first]
        give_defaults(function, definitions[function.__name__, first])


def give_defaults(function: types.FunctionType, arguments: ast.arguments) -> None:
    """What a function takes where nothing is given, as its changed definition has it; names that only
    a class knows are left."""

    def value(node: ast.expr) -> object:
        return eval(compile(ast.Expression(node), "<default>", "eval"), function.__globals__)

    with contextlib.suppress(NameError):
        function.__defaults__ = tuple(map(value, arguments.defaults)) or None
        keywords = zip(arguments.kwonlyargs, arguments.kw_defaults)
        function.__kwdefaults__ = {
            one.arg: value(node) for one, node in keywords if node is not None
        } or None


def codes(module: types.CodeType) -> Iterator[tuple[tuple[str, int], types.CodeType]]:
    """All code objects in one."""
    for const in module.co_consts:
        if isinstance(const, types.CodeType):
            yield (const.co_qualname, const.co_firstlineno), const
            yield from codes(const)


# Running tests in a fork of the collected session.


def run_items(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, bool | None]]:
    """Run tests in this order; of each whether it passed, None if it was skipped."""
    from _pytest.runner import runtestprotocol

    for item, following in zip(items, [*items[1:], None]):
        reports = runtestprotocol(item, log=False, nextitem=following)
        failed = any(report.failed for report in reports)
        skipped = any(report.skipped for report in reports)
        yield item, None if skipped else not failed


def in_a_fork(work: Callable[[], int], config: pytest.Config, folder: Path, cpu_s: float) -> int:
    """What `work` returns in a fork of this process with its own temporary folder;
    -1 if it had to be ended."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else -1
    code = 99
    try:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 1)
        faulthandler.disable()  # a kernel with a wrong index may crash: that is noticed, too
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 2))
        config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
        code = work()
    except BaseException as fault:
        print(f"{type(fault).__name__}: {fault}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


class Session:
    """Instead of running the collected tests: traces them if need be, then tries each change."""

    def __init__(
        self, mutants: Sequence[tuple[int, Mutant]], map_file: Path, scratch: Path, most_s: float
    ) -> None:
        self.mutants, self.map_file, self.scratch, self.most_s = mutants, map_file, scratch, most_s
        self.built = map_file.with_suffix(".built")
        self.killed: collections.Counter[str] = collections.Counter()
        self.noticed: dict[Key, list[str]] = collections.defaultdict(list)
        """The tests that noticed changes to a function, the latest first."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Called by pytest when everything is collected."""
        gc.unfreeze()  # the tests freeze what is loaded, and frozen functions cannot be found
        for path in sorted((ROOT / "src" / "situs").rglob("*.py")):
            if path.relative_to(ROOT / "src" / "situs").parts[0] in PACKAGES:
                importlib.import_module(
                    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
                )
        live = Live.found()
        gc.freeze()  # else every fork would walk through all that is loaded again and again
        items = {item.nodeid: item for item in session.items}
        calls = self.traced(session, live)
        for number, mutant in self.mutants:
            tests = chosen(calls, mutant, items, self.most_s, self.noticed[mutant.key])
            cost = sum(calls.cost[test] for test in tests)
            end = self.outcome(session, mutant, live, [items[test] for test in tests], cost)
            self.killed[str(mutant.path.relative_to(ROOT))] += end.startswith("killed")
            print(
                f"{number:4} {end}  {mutant.where}  {mutant.before}  →  {mutant.after}", flush=True
            )
        return True

    def traced(self, session: pytest.Session, live: Live) -> Calls:
        """Which test calls what: as the map has it, and of tests that it lacks by running them."""
        if not self.map_file.exists():
            self.built.mkdir()
            self.map_file.write_text(json.dumps({"tests": {}, "cost": {}}), encoding="utf-8")
        known = Calls(**json.loads(self.map_file.read_text("utf-8")))
        unknown = [item for item in session.items if item.nodeid not in known.cost]
        if unknown:
            folder = self.built if len(unknown) == len(session.items) else self.scratch / "traced"
            folder.mkdir(exist_ok=True)
            code = in_a_fork(
                lambda: trace(unknown, live, known, self.map_file), session.config, folder, 7200.0
            )
            if code:
                raise SystemExit(f"the tests could not be traced (exit code {code})")
        return Calls(**json.loads(self.map_file.read_text("utf-8")))

    def outcome(
        self,
        session: pytest.Session,
        mutant: Mutant,
        live: Live,
        items: Sequence[pytest.Item],
        cost_s: float,
    ) -> str:
        """`killed` by a test, a crash or by never ending;
        `LIVED` through so many tests; `NOT RUN` by any."""
        if not items:
            return "NOT RUN"
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        killer = folder / "killed-by"
        if mutant.package == "score":
            lend(self.built, folder)

        def work() -> int:
            make(mutant, live)
            for item, passed in run_items(items):
                if passed is False:
                    killer.write_text(item.nodeid, encoding="utf-8")
                    return 1
            return 0

        code = in_a_fork(work, session.config, folder, 3 * cost_s + 20)
        name = "crashed or never ended"
        if killer.exists():
            name = killer.read_text("utf-8")
            first = self.noticed[mutant.key]
            first[:] = [name, *(other for other in first if other != name)]
        shutil.rmtree(folder, ignore_errors=True)
        return {0: f"LIVED ({len(items)})", 99: "NOT RUN"}.get(code, f"killed ({name})")


def lend(built: Path, folder: Path) -> None:
    """Benches that the traced run built serve for a change that cannot reach them."""
    for name in BENCHES:
        if (built / f"{name}.done").exists():
            (folder / name).symlink_to(built / name)
            (folder / f"{name}.done").touch()


def chosen(
    calls: Calls, mutant: Mutant, known: Collection[str], most_s: float, first: Sequence[str]
) -> list[str]:
    """The tests for a change: some that noticed another one, a few of each module, then the others,
    cheapest first, while they cost less than allowed.

    Tests of a module stay together, so that its fixtures are made once or twice.
    """
    modules: dict[str, list[str]] = {}
    for test in sorted(calls.of(mutant.key), key=lambda test: calls.cost[test]):
        if test in known:
            modules.setdefault(test.partition("::")[0], []).append(test)
    few, result, spent = 5, [], 0.0
    ordered = [*first[:few]]
    ordered += [test for tests in modules.values() for test in tests[:few]]
    ordered += [test for tests in modules.values() for test in tests[few:]]
    for test in dict.fromkeys(ordered):
        if spent + calls.cost[test] <= most_s or not result:
            spent += calls.cost[test]
            result.append(test)
    return result


# Tracing.


def cpu_s() -> float:
    """CPU seconds of this process and its children."""
    own, children = (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Called:
    """Code that ran since it was last asked for, by name."""

    def __init__(self, live: Live) -> None:
        self._seen: dict[int, types.CodeType] = {}
        self._names: dict[int, Key] = {}
        self._held: list[types.CodeType] = []  # so that no id is used twice
        self._inner = {
            id(kernel.py_func.__code__): [one.py_func.__code__ for one in called_by(kernel)]
            for kernel in live.kernels
        }
        self._roots = tuple(str(ROOT / "src" / "situs" / package) + os.sep for package in PACKAGES)

    def add(self, code: types.CodeType) -> None:
        """Note that it ran."""
        self._seen[id(code)] = code

    def taken(self) -> set[Key]:
        """The functions of the packages that ran, and begin anew."""
        now = dict(self._seen)  # the tracer sees this function as well
        for number in list(now):
            now |= {id(code): code for code in self._inner.get(number, ())}
        for number, code in now.items():
            if number not in self._names:
                ours = code.co_filename.startswith(self._roots)
                self._names[number] = key_of(code.co_filename, code.co_qualname) if ours else ""
                self._held.append(code)
        self._seen.clear()
        return {self._names[number] for number in now} - {""}


def trace(items: Sequence[pytest.Item], live: Live, known: Calls, out: Path) -> int:
    """Run tests and write which functions each calls, and at what cost, beside what is known.

    Of a test that did not pass it is written that it calls nothing.
    """
    from numba.core.registry import CPUDispatcher

    called = Called(live)
    call = CPUDispatcher.__call__

    def note(frame: types.FrameType, event: str, argument: object) -> None:
        called.add(frame.f_code)

    def noted_call(self: Any, *args: Any, **more: Any) -> Any:
        called.add(self.py_func.__code__)
        return call(self, *args, **more)

    shared: dict[int, set[Key]] = {}

    class Shared:
        """What a fixture of many tests calls belongs to each of them."""

        @pytest.hookimpl(wrapper=True)
        def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
            before = called.taken()
            result = yield
            during = called.taken()
            if fixturedef.scope != "function":
                shared[id(fixturedef)] = during
            for key in before | during:
                extra.add(key)
            return result

    extra: set[Key] = set()
    tests, cost = dict(known.tests), dict(known.cost)
    CPUDispatcher.__call__ = noted_call
    sys.settrace(note)
    items[0].config.pluginmanager.register(Shared())
    start = cpu_s()
    for item, passed in run_items(items):
        keys = called.taken() | extra
        extra.clear()
        for defs in item._fixtureinfo.name2fixturedefs.values():  # type: ignore[attr-defined]
            keys |= shared.get(id(defs[-1]), set())
        tests[item.nodeid] = sorted(keys) if passed else []
        cost[item.nodeid] = round(cpu_s() - start, 3)
        start = cpu_s()
    sys.settrace(None)
    out.write_text(json.dumps({"tests": tests, "cost": cost}), encoding="utf-8")
    return 0


def main() -> None:
    """Draw, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--start", type=int, default=1, help="number of the first one tried, to go on with a draw"
    )
    parser.add_argument("--tests", nargs="*", default=TESTS, help="folders or files under tests/")
    parser.add_argument(
        "--at", nargs="*", default=(), help="all changes of these FILEs or FILE:LINEs, none drawn"
    )
    parser.add_argument("--package", choices=PACKAGES, default=None, help="only of this package")
    parser.add_argument(
        "--map", type=Path, default=None, help="which test calls what: read, or written if missing"
    )
    parser.add_argument(
        "--most", type=float, default=60.0, help="CPU seconds of tests a change is put to"
    )
    given = parser.parse_args()
    known = [mutant for mutant in candidates() if given.package in (None, mutant.package)]
    drawn = [
        mutant
        for mutant in known
        if mutant.where in given.at or mutant.where.rpartition(":")[0] in given.at
    ]
    drawn = drawn or random.Random(given.seed).sample(known, min(given.count, len(known)))
    print(f"{len(drawn)} of {len(known):,} changes, seed {given.seed}", flush=True)
    tried = list(enumerate(drawn, start=1))[given.start - 1 :]
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(tried, given.map or Path(folder) / "map.json", Path(folder), given.most)
        folders = [str(ROOT / "tests" / name) for name in given.tests]
        options = [
            "-o",
            "addopts=",
            "-n0",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:terminal",
            "-s",
            "--sample-seed=1",
        ]
        pytest.main(
            [*options, f"--rootdir={ROOT}", f"--basetemp={folder}/collected", *folders],
            plugins=[session],
        )
    drawn_of = collections.Counter(str(mutant.path.relative_to(ROOT)) for _, mutant in tried)
    for path, count in drawn_of.most_common() if len(drawn_of) > 1 and given.at else ():
        print(f"{path}: killed {session.killed[path]} of {count}")
    killed = session.killed.total()
    print(f"killed {killed} of {len(tried)} ({killed / max(1, len(tried)):.1%})")


if __name__ == "__main__":
    main()
