"""A task of your own in one file: the angle between the long axes of two structures.

Asked as a number in degrees, and as yes or no ("more than 40°?"). It brings what is new with it: how the angle is
measured (a kind of fact) and the unit of its answers.
"""

import itertools
import math

import numpy as np

import situs
from situs.facts import kind, number, span
from situs.items import (
    NotAsked,
    Number,
    Question,
    Unit,
    YesNo,
    clear_sign,
    compose,
    measure_step,
    obstacle,
    resolve,
)

ROUND = 0.75
"""A structure whose second axis is this share of its longest has no clear long axis."""
LIMITS = (15, 30, 45, 60, 75)
"""Angles that are asked about with yes or no, in degrees."""


@kind("axis_angle", hangs_on=())
def axis_angle(ledger, a, b):
    """The angle between the longest principal axes of two structures, 0–90°; None where one of them is too round."""
    axes = [ledger.main_region(name).principal_axes for name in (a, b)]
    if any(one.lengths_mm[1] > ROUND * one.lengths_mm[0] for one in axes):
        return ledger.record("axis_angle", (a, b), None, unit="°", flags=ledger.cut_flags(a, b))
    first, second = (np.array(one.directions[0]) for one in axes)
    degrees = math.degrees(math.acos(min(1.0, abs(float(first @ second)))))
    # An end of the long axis lies no surer than the surface: half a voxel's diagonal, or the annotation's error.
    error_mm = max(ledger.half_diagonal_mm, ledger.annotation.surface_mm)
    slack = sum(math.degrees(math.atan(error_mm / (one.lengths_mm[0] / 2))) for one in axes)
    return ledger.record(
        "axis_angle",
        (a, b),
        degrees,
        unit="°",
        interval=(max(0.0, degrees - slack), min(90.0, degrees + slack)),
        parameters={"error_mm": error_mm},
        flags=ledger.cut_flags(a, b),
    )


@situs.task(
    "angle",
    quotas={"number": 4, "more_than": 12},
    mix="comparison",
    units=(Unit(name="°", dimension="angle", spelled="degrees?|deg", largest_guess=90.0),),
    whole=True,
    decides=(),
    learns=("axis_angle",),
    group="angles",
)
class Angle:
    """Asks for the angle between the long axes of two organs or vessels."""

    def questions(self, ledger, subjects):
        """Every pair of organs and vessels."""
        long_ones = [s for s in subjects if s.term.kind in ("organ", "vessel")]
        for a, b in itertools.combinations(long_ones, 2):
            pair, family = {"a": a.key, "b": b.key}, f"{a.key}|{b.key}"
            yield Question(self.name, "number", pair, family=family)
            for limit in LIMITS:
                yield Question(
                    self.name,
                    "yes_no",
                    {"ask": "more_than", **pair, "degrees": str(limit)},
                    family=family,
                )

    def pose(self, ledger, question):
        """Asked of whole structures with a clear long axis, and for yes or no away from the limit."""
        a, b = (resolve(ledger, question.parameters[key]) for key in ("a", "b"))
        reason = obstacle(ledger, [a, b], whole=True, oriented=False)
        if reason is not None:
            return reason
        fact = ledger.fact("axis_angle", a.structure, b.structure)
        if fact.value is None:
            return NotAsked("a structure has no clear long axis")
        degrees, (low, high) = number(fact), span(fact)
        between = f"between the long axes of {a.phrase} and {b.phrase}"
        if question.form == "number":
            text, answer, limit = (
                f"What is the angle {between}, in degrees?",
                Number(degrees, "°", (low, high)),
                None,
            )
        else:
            limit = float(question.parameters["degrees"])
            if low <= limit <= high:
                return NotAsked("angle too close to the limit")
            text, answer = f"Is the angle {between} more than {limit:.0f}°?", YesNo(low > limit)
        return compose(
            ledger,
            [a, b],
            text=text,
            answer=answer,
            facts=[fact],
            steps=[measure_step(f"The long axes meet at {degrees:.0f}°.", fact, limit)],
            conclusion=f"The angle is {degrees:.0f}°.",
            difficulty=None
            if limit is None
            else abs(degrees - limit) / max(1e-6, (high - low) / 2),
        )

    def expected(self, item, average):
        """Whether the angle is clearly larger or smaller than the limit in other patients."""
        if item.form == "number":
            return []
        limit = float(item.parameters["degrees"])
        sign = clear_sign(degrees - limit for degrees in self._others(item, average))
        return ["yes" if sign > 0 else "no"] if sign else []

    def expected_number(self, item, average):
        """The mean angle of other patients."""
        others = self._others(item, average)
        return sum(others) / len(others) if others else None

    def _others(self, item, average):
        a, b = item.parameters["a"], item.parameters["b"]
        return list(average.numbers("axis_angle", a, b, without=item.patient_id).values())
