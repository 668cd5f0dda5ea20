"""The tasks: each writes its questions and poses them from the ledger."""

from situs.errors import SitusError, did_you_mean
from situs.items.masks.comparison import Comparison
from situs.items.masks.contact import Contact
from situs.items.masks.count import Count
from situs.items.masks.direction import DirectionTask
from situs.items.masks.distance import Distance
from situs.items.masks.extent import Extent
from situs.items.masks.lesion_side import LesionSide
from situs.items.masks.lesions import LesionOrgan, LesionPair, LesionPole
from situs.items.masks.level import Level
from situs.items.masks.location import Location
from situs.items.masks.marks import Marks
from situs.items.masks.volume import VolumeEstimate
from situs.items.posed import Task

__all__ = ["TASKS", "choose_tasks"]

_ALL: tuple[Task, ...] = (
    DirectionTask(),
    Comparison(),
    Distance(),
    Extent(),
    VolumeEstimate(),
    Level(),
    LesionSide(),
    LesionOrgan(),
    LesionPole(),
    LesionPair(),
    Contact(),
    Count(),
    Marks(),
    Location(),
)
TASKS: dict[str, Task] = {task.name: task for task in _ALL}


def choose_tasks(names: str | None) -> list[Task]:
    """Tasks by comma-separated name; all of them by default."""
    if names is None:
        return list(TASKS.values())
    chosen = []
    for name in dict.fromkeys(word.strip() for word in names.split(",")):
        if name not in TASKS:
            raise SitusError(
                f"unknown task {name!r}", where="--tasks", fix=did_you_mean(name, TASKS)
            )
        chosen.append(TASKS[name])
    return chosen
