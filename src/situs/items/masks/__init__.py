"""The shipped tasks about masks: each writes its questions,
poses them from the ledger, and says what is about it."""

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
from situs.items.masks.reach import Reach
from situs.items.masks.volume import VolumeEstimate
from situs.items.tasks import Task, register

__all__: list[str] = []

_ALL: tuple[Task, ...] = (
    DirectionTask(),
    Comparison(),
    Distance(),
    Extent(),
    VolumeEstimate(),
    Level(),
    Reach(),
    LesionSide(),
    LesionOrgan(),
    LesionPole(),
    LesionPair(),
    Contact(),
    Count(),
    Marks(),
    Location(),
)
for _task in _ALL:
    register(_task, shipped=True)
