"""A task: which questions it asks, how it poses them, and everything else that is about it.

A task declares all of it in its `rules`. What it does not declare stops its registration, so that
nothing about a task is ever left to a default somewhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from situs.base.plugins import load_offered, offered, offered_names
from situs.errors import SitusError, did_you_mean
from situs.facts import Ledger, Recipe, load_recipe
from situs.items.record import Answer, Item, Number
from situs.items.units import Unit, register_unit, unit_named

if TYPE_CHECKING:
    from situs.items.average import AverageAnatomy
    from situs.items.posed import NotAsked, Posed, Question
    from situs.items.subjects import Subject

__all__ = [
    "ENTRY_POINTS",
    "OTHER_TASKS",
    "TASKS",
    "NothingExpected",
    "OtherTask",
    "Task",
    "TaskRules",
    "all_tasks",
    "check_unit",
    "choose_tasks",
    "declared_mix",
    "declared_quotas",
    "import_tasks",
    "quota_of",
    "register",
    "task",
    "task_modules",
    "task_named",
    "with_declared",
]

ENTRY_POINTS = "situs.tasks"
"""The group under which an installed package offers tasks."""
STATEMENTS = ("measurement", "comparison", "direction", "side", "level", "frames", "box")
"""Kinds of statement that are read in a reply's reasoning."""
GROUPS = ("sides", "sizes", "lesions")
"""Groups of tasks that a diagnosis speaks of together."""


class TaskRules(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a task but its questions, their wording and their proof."""

    quotas: dict[str, int]
    """What is asked (the parameter `ask`, else the form) → at most so many questions a study,
    before twins are formed. A recipe may say otherwise."""
    mix: str
    """The class in the mix of the headline: `lesion`, `comparison`, `marks`, `quantity`, or one of
    its own."""
    units: tuple[Unit | str, ...]
    """Units of the numbers it asks for: names of known ones, or units of its own.

    Empty if it asks for none.
    """
    whole: bool
    """Whether its answers follow only from structures that are shown whole."""
    decides: tuple[str, ...]
    """Kinds of statement that would repeat its answer (`STATEMENTS`): such a statement is no step
    of reasoning."""
    learns: tuple[str, ...]
    """Kinds of facts of other patients that its expectations rest on."""
    group: str
    """What a diagnosis files it under: `sides`, `sizes`, `lesions`, or a name of its own."""
    mix_share: float | None = None
    """Of a class of its own: its share of the headline, beside the recipe's."""
    mix_always: bool = False
    """Whether the class holds for all its questions. Else numbers and frames are quantities, and
    what is asked about a lesion belongs to the lesions."""
    ordered: tuple[str, ...] = ()
    """What is asked with options that have an order: those offered together lie next to each
    other."""
    on_request: bool = False
    """Whether it is asked only where `--tasks` names it."""
    drawn: bool = False
    """Whether it asks about what is drawn into the pictures: never of a study without an image."""


class Task(Protocol):
    """A kind of question: which ones a patient's structures allow, and how each is posed."""

    name: str
    rules: TaskRules

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterable[Question]:
        """Every question that could be put to the patient, whether or not its answer holds."""

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Put one question to the patient. KeyError if a structure it names is not there."""

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Answers that other patients speak for, without sight of this one.

        None where they are silent.
        """

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """The number that other patients suggest, in the item's unit.

        None where they are silent.
        """


class NothingExpected:
    """For tasks of which other patients tell nothing: no anatomy says where a lesion lies."""

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """Other patients are silent."""
        return []

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """Other patients are silent."""
        return None


TASKS: dict[str, Task] = {}
"""The tasks that are loaded, by name: those shipped, and those of other packages that were asked
for."""
_SHIPPED: set[str] = set()


class OtherTask(msgspec.Struct, frozen=True):
    """What the mask tasks' machinery must know of a task about boxes, reports or grades."""

    ordered: bool = False
    """Whether its options have an order: those offered together lie next to each other."""


OTHER_TASKS: dict[str, OtherTask] = {}
"""The tasks of other sources by name, or by what their names begin with (`grade.`)."""
_METHODS = ("questions", "pose", "expected", "expected_number")

T = TypeVar("T", bound=type)


def task(name: str, **rules: Any) -> Callable[[T], T]:
    """Register a class as a task: `@situs.task("angle", quotas={"number": 4}, …)`.

    The keywords are the fields of `TaskRules`; the class has the four methods of `Task`. A package
    offers its tasks to the command line under the entry points `situs.tasks`."""

    def decorate(made: T) -> T:
        made.name, made.rules = name, _rules(name, rules)  # type: ignore[attr-defined]
        register(made())
        return made

    return decorate


def _rules(name: str, declared: Mapping[str, Any]) -> TaskRules:
    fields = {field.name: field for field in msgspec.structs.fields(TaskRules)}
    unknown = sorted(set(declared) - fields.keys())
    if unknown:
        raise SitusError(
            f"task {name!r} declares an unknown {unknown[0]!r}",
            fix=did_you_mean(unknown[0], fields),
        )
    missing = [
        field.name for field in fields.values() if field.required and field.name not in declared
    ]
    if missing:
        raise SitusError(
            f"task {name!r} does not declare {', '.join(missing)}", fix="see situs.items.TaskRules"
        )
    listed: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in declared.items()
    }
    return TaskRules(**listed)


def register(made: Task, *, shipped: bool = False) -> None:
    """Make a task known. An error lists everything that it fails to declare."""
    wrong = list(_problems(made))
    if wrong:
        name = getattr(made, "name", type(made).__qualname__)
        raise SitusError(
            f"task {name!r}: {'; '.join(wrong)}",
            fix="see situs.items.TaskRules and CONTRIBUTING.md",
        )
    known = TASKS.get(made.name)
    if known is not None and not _is_same(known, made):
        raise SitusError(f"there is a task {made.name!r} already", fix="give yours another name")
    for unit in made.rules.units:
        if isinstance(unit, Unit):
            register_unit(unit)
    TASKS[made.name] = made
    if shipped:
        _SHIPPED.add(made.name)


def _is_same(known: Task, made: Task) -> bool:
    """Whether a class was only defined anew, as in a notebook."""
    one, other = type(known), type(made)
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def _problems(made: Task) -> Iterator[str]:
    name, rules = getattr(made, "name", None), getattr(made, "rules", None)
    if not isinstance(name, str) or not name.replace("_", "").isalnum():
        yield "its name is not one of letters, digits and underscores"
    if not isinstance(rules, TaskRules):
        yield "it has no rules"
        return
    yield from (
        f"it has no method {word}" for word in _METHODS if not callable(getattr(made, word, None))
    )
    if not rules.quotas or any(
        not isinstance(most, int) or most < 1 for most in rules.quotas.values()
    ):
        yield "quotas are not numbers from 1, one for each thing it asks"
    yield from _mix_problems(rules)
    for unit in rules.units:
        if isinstance(unit, str):
            try:
                unit_named(unit)
            except SitusError as error:
                yield error.one_line()
    yield from (f"decides names {word!r}, not one of {', '.join(STATEMENTS)}" for word in
                rules.decides if word not in STATEMENTS)  # fmt: skip
    yield from (f"ordered names {ask!r}, for which there is no quota" for ask in
                rules.ordered if ask not in rules.quotas)  # fmt: skip
    if not rules.group:
        yield "group is empty"


def _mix_problems(rules: TaskRules) -> Iterator[str]:
    known = _shipped_mix()
    if rules.mix in known and rules.mix_share is not None:
        yield f"mix_share is for classes of its own; the recipe says the share of {rules.mix!r}"
    if rules.mix not in known and rules.mix_share is None:
        classes = ", ".join(known)
        yield (
            f"no share of the headline is for its class {rules.mix!r}: "
            f"use {classes}, or give mix_share"
        )
    if rules.mix_share is not None and not 0.0 < rules.mix_share <= 1.0:
        yield "mix_share is not above 0 and up to 1"


@cache
def _shipped_mix() -> dict[str, float]:
    return load_recipe().mix


def all_tasks() -> dict[str, Task]:
    """Every task: those loaded, and those that installed packages offer."""
    for name in offered_names(ENTRY_POINTS):
        task_named(name)
    return dict(TASKS)


def task_named(name: str, where: str = "--tasks") -> Task:
    """The task of that name; loaded from the package that offers it, if it is not shipped."""
    if name not in TASKS and name in offered(ENTRY_POINTS):
        made = load_offered(ENTRY_POINTS, name, where=where)
        if name not in TASKS:
            offering = getattr(made, "__name__", made)
            problem = f"its entry point ({offering}) registers no task of that name"
            raise SitusError(
                problem, where=f"{ENTRY_POINTS} {name}", fix="decorate the class with @situs.task"
            )
    if name not in TASKS:
        known = {*TASKS, *offered(ENTRY_POINTS)}
        raise SitusError(f"unknown task {name!r}", where=where, fix=did_you_mean(name, known))
    return TASKS[name]


def choose_tasks(names: str | None) -> list[Task]:
    """Tasks by comma-separated name; by default all that are not asked on request only."""
    if names is None:
        return [made for made in all_tasks().values() if not made.rules.on_request]
    return [task_named(name) for name in dict.fromkeys(word.strip() for word in names.split(","))]


def task_modules() -> tuple[str, ...]:
    """Modules of tasks that no entry point would load: another process has to import them."""
    installed = set(offered(ENTRY_POINTS))
    return tuple(
        sorted(
            {
                type(made).__module__
                for name, made in TASKS.items()
                if name not in _SHIPPED | installed
            }
        )
    )


def import_tasks(modules: Iterable[str]) -> None:
    """Import the modules of tasks in another process than the one that registered them."""
    for module in modules:
        if module == "__main__":
            problem = "a task defined in a notebook or script is not known to worker processes"
            raise SitusError(
                problem, where="--jobs", fix="use one job, or move the task into a module"
            )
        if module not in sys.modules:
            __import__(module)


def quota_of(question: Question, recipe: Recipe) -> int:
    """At most so many questions like this one a study, as the recipe or else its task says."""
    if question.quota in recipe.per_study:
        return recipe.per_study[question.quota]
    quotas = task_named(question.task).rules.quotas
    ask = question.quota.partition(".")[2]
    if ask not in quotas:
        problem = f"task {question.task!r} asks {ask!r}, for which it declares no quota"
        raise SitusError(
            problem, fix=f"its quotas are {', '.join(quotas)}; a recipe may add {question.quota!r}"
        )
    return quotas[ask]


def check_unit(made: Task, answer: Answer) -> None:
    """An error if a task asks for a number in a unit that it does not declare."""
    if not isinstance(answer, Number):
        return
    declared = [unit.name if isinstance(unit, Unit) else unit for unit in made.rules.units]
    if answer.unit not in declared:
        problem = (
            f"task {made.name!r} asks for a number in {answer.unit!r}, "
            "a unit that it does not declare"
        )
        raise SitusError(problem, fix=f"its units are {', '.join(map(repr, declared)) or 'none'}")


def declared_quotas(tasks: Iterable[Task]) -> dict[str, int]:
    """Every quota that tasks declare, by the name under which a recipe may change it."""
    return {f"{made.name}.{ask}": most for made in tasks for ask, most in made.rules.quotas.items()}


def with_declared(recipe: Recipe, tasks: Iterable[Task]) -> Recipe:
    """The recipe with the quotas and shares that it leaves to the tasks, as a bench records it."""
    tasks = list(tasks)
    quotas = declared_quotas(tasks)
    odd = next((name for name in recipe.per_study if name not in quotas), None)
    if odd is not None:
        problem = f"the recipe's per_study names {odd!r}, which no task asks"
        raise SitusError(problem, where="--recipe", fix=did_you_mean(odd, quotas))
    own_classes = {
        name: share for name, share in declared_mix(tasks).items() if name not in recipe.mix
    }
    return msgspec.structs.replace(
        recipe, per_study=quotas | recipe.per_study, mix=recipe.mix | own_classes
    )


def declared_mix(tasks: Iterable[Task]) -> dict[str, float]:
    """The classes of their own that tasks declare, and their shares of the headline."""
    return {
        made.rules.mix: made.rules.mix_share for made in tasks if made.rules.mix_share is not None
    }
