"""Whose question an item is: the task that can pose it anew and knows what is about it."""

from __future__ import annotations

from situs.base.plugins import offered
from situs.errors import SitusError
from situs.items.record import Item
from situs.items.tasks import ENTRY_POINTS, OTHER_TASKS, TASKS, OtherTask, Task, task_named

__all__ = ["class_of", "is_ordered", "mask_task", "task_of_masks"]

_QUANTITIES = ("number", "frames")
_LESION_ROLES = ("largest:", "second:")


def task_of_masks(name: str) -> Task | None:
    """The task about masks of that name, loaded from the package that offers it.

    None where there is none.
    """
    if name in TASKS or name in offered(ENTRY_POINTS):
        return task_named(name)
    return None


def mask_task(item: Item) -> Task | None:
    """The task about masks that an item belongs to; None for other sources and imported items.

    An error where the item was built by a task that is not installed: whatever is known of other
    patients would be left out in silence."""
    if _other_task(item.task) is not None:
        return None
    owner = task_of_masks(item.task)
    if owner is not None or not item.parameters:
        return owner
    problem = f"its task {item.task!r} is not installed"
    raise SitusError(
        problem, where=item.item_id, fix="install the package that offers it, or rebuild the bench"
    )


def _other_task(name: str) -> OtherTask | None:
    """The task of another source.

    The graded ones are named by what they begin with (`grade.cartilage`).
    """
    family = f"{name.partition('.')[0]}."
    return OTHER_TASKS.get(name) or OTHER_TASKS.get(family)


def class_of(item: Item) -> str:
    """The class of an item in the mix of the headline; for other sources than masks, its task."""
    owner = mask_task(item)
    if owner is not None and owner.rules.mix_always:
        return owner.rules.mix
    if item.form in _QUANTITIES:
        return "quantity"
    if owner is None:
        return item.task
    subjects = (item.parameters.get("of", ""), item.parameters.get("a", ""))
    is_about_lesion = any(key.startswith(_LESION_ROLES) for key in subjects)
    return "lesion" if is_about_lesion else owner.rules.mix


def is_ordered(kind: str) -> bool:
    """Whether the options of a kind of question (`level.choice`) have an order."""
    name, _, ask = kind.partition(".")
    other = _other_task(name)
    if other is not None:
        return other.ordered
    owner = task_of_masks(name)
    return owner is not None and ask in owner.rules.ordered
