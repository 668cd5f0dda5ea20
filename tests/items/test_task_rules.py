"""A task declares everything about it, or it is not registered."""

from __future__ import annotations

import pytest

import situs
from situs.errors import SitusError
from situs.facts import load_recipe
from situs.items import (
    TASKS,
    UNITS,
    NotAsked,
    NothingExpected,
    Number,
    Question,
    Unit,
    with_declared,
)
from situs.items.tasks import check_unit, quota_of, register, task_named

WHOLE = {
    "quotas": {"number": 3},
    "mix": "quantity",
    "units": ("mL",),
    "whole": True,
    "decides": (),
    "learns": (),
    "group": "sizes",
}


class Asks(NothingExpected):
    """Asks nothing."""

    def questions(self, ledger, subjects):
        return []

    def pose(self, ledger, question):
        return NotAsked("never")


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Tasks and units as they were, afterwards."""
    tasks, units = dict(TASKS), dict(UNITS)
    yield
    for table, before in ((TASKS, tasks), (UNITS, units)):
        table.clear()
        table.update(before)


@pytest.mark.parametrize("left_out", WHOLE)
def test_every_declaration_is_asked_for(left_out):
    rules = {key: value for key, value in WHOLE.items() if key != left_out}
    with pytest.raises(SitusError, match=f"does not declare {left_out}"):
        situs.task("asks", **rules)(Asks)
    assert "asks" not in TASKS


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"quotas": {}}, "quotas"),
        ({"quotas": {"number": 0}}, "quotas"),
        ({"mix": "angles"}, "no share of the headline is for its class 'angles'"),
        ({"mix_share": 0.1}, "mix_share is for classes of its own"),
        ({"units": ("furlong",)}, "no unit 'furlong'"),
        ({"decides": ("colour",)}, "decides names 'colour'"),
        ({"ordered": ("range",)}, "ordered names 'range', for which there is no quota"),
        ({"group": ""}, "group is empty"),
        ({"colour": "red"}, "unknown 'colour'"),
    ],
)
def test_a_wrong_declaration_is_named(changed, said):
    with pytest.raises(SitusError, match=said):
        situs.task("asks", **(WHOLE | changed))(Asks)


@pytest.mark.parametrize("method", ["questions", "pose", "expected", "expected_number"])
def test_every_method_is_asked_for(method):
    found = {
        name: getattr(Asks, name) for name in ("questions", "pose", "expected", "expected_number")
    }
    del found[method]
    with pytest.raises(SitusError, match=f"it has no method {method}"):
        situs.task("asks", **WHOLE)(type("Half", (), found))


def test_two_tasks_do_not_share_a_name():
    with pytest.raises(SitusError, match="there is a task 'volume' already"):
        situs.task("volume", **WHOLE)(Asks)
    situs.task("asks", **WHOLE)(Asks)
    situs.task("asks", **WHOLE)(Asks)  # the cell of a notebook, run again
    with pytest.raises(SitusError, match="there is a task 'asks' already"):
        situs.task("asks", **WHOLE)(type("Other", (Asks,), {}))


def test_a_question_beyond_the_declared_ones_is_an_error():
    """Not "0 questions, beyond the quota": nobody would know why."""
    situs.task("asks", **WHOLE)(Asks)
    recipe = load_recipe()
    assert quota_of(Question("asks", "number", {}), recipe) == 3
    with pytest.raises(SitusError, match="'asks' asks 'yes_no', for which it declares no quota"):
        quota_of(Question("asks", "yes_no", {}), recipe)


def test_an_undeclared_unit_is_an_error():
    situs.task("asks", **WHOLE)(Asks)
    check_unit(task_named("asks"), Number(1.0, "mL"))
    with pytest.raises(SitusError, match="a number in 'mm', a unit that it does not declare"):
        check_unit(task_named("asks"), Number(1.0, "mm"))


def test_a_class_of_its_own_has_its_share():
    recipe = with_declared(load_recipe(), TASKS.values())
    assert recipe.mix == load_recipe().mix
    situs.task("asks", **(WHOLE | {"mix": "angles", "mix_share": 0.15}))(Asks)
    assert with_declared(load_recipe(), TASKS.values()).mix["angles"] == 0.15


def test_a_recipe_changes_quotas_by_name_only(tmp_path):
    import msgspec

    changed = msgspec.structs.replace(load_recipe(), per_study={"volume.number": 9})
    assert with_declared(changed, TASKS.values()).per_study["volume.number"] == 9
    assert quota_of(Question("volume", "number", {}), changed) == 9
    typo = msgspec.structs.replace(load_recipe(), per_study={"volume.numbr": 9})
    with pytest.raises(SitusError, match=r"'volume\.numbr', which no task asks"):
        with_declared(typo, TASKS.values())


def test_a_unit_is_declared_once():
    register(_with_units(Unit(name="°", dimension="angle", largest_guess=90.0)))
    with pytest.raises(SitusError, match="'°' is declared twice, differently"):
        register(_with_units(Unit(name="°", dimension="angle", largest_guess=180.0)))


def _with_units(*units):
    made = Asks()
    made.name, made.rules = "asks", situs.items.TaskRules(**(WHOLE | {"units": units}))
    return made
