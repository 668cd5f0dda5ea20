"""Questions: the item record, the tasks that write them, twins and options, and the average anatomy."""

from situs.items._average import AverageAnatomy
from situs.items._candidates import Candidate, candidates
from situs.items._posed import NotAsked, Posed, Question, Task
from situs.items._record import (
    Answer,
    Box,
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Grades,
    Item,
    Measurement,
    Number,
    Option,
    Step,
    Text,
    YesNo,
    answer_key,
    imported_item_id,
    item_id,
    letter_of,
)
from situs.items._twins import Outline, Placement, arrange, outline, place
from situs.items.tasks import TASKS, choose_tasks

__all__ = [
    "TASKS",
    "Answer",
    "AverageAnatomy",
    "Box",
    "Boxes",
    "Candidate",
    "Choice",
    "Choices",
    "Compound",
    "Frames",
    "Grades",
    "Item",
    "Measurement",
    "NotAsked",
    "Number",
    "Option",
    "Outline",
    "Placement",
    "Posed",
    "Question",
    "Step",
    "Task",
    "Text",
    "YesNo",
    "answer_key",
    "arrange",
    "candidates",
    "choose_tasks",
    "imported_item_id",
    "item_id",
    "letter_of",
    "outline",
    "place",
]
