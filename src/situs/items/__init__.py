"""Questions: the item record, the tasks that write them, twins and options, and the average anatomy."""

from situs.items.arrangement.candidates import Candidate, candidates
from situs.items.arrangement.evenness import AskedQuestion, shares_of_limit
from situs.items.arrangement.marks import lettered
from situs.items.arrangement.mix import class_of
from situs.items.arrangement.twin_check import Twins
from situs.items.arrangement.twins import Outline, Placement, arrange, outline, place
from situs.items.average import AverageAnatomy
from situs.items.gate import pose
from situs.items.grades.graded import GRADED, graded_questions, pose_grades, scale_tags
from situs.items.masks import TASKS, choose_tasks
from situs.items.posed import NotAsked, Posed, Question, Task
from situs.items.record import (
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
    Simple,
    Step,
    Text,
    YesNo,
    answer_key,
    imported_item_id,
    item_id,
    letter_of,
    mark_label,
    marks_of,
)

__all__ = [
    "GRADED",
    "TASKS",
    "Answer",
    "AskedQuestion",
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
    "Simple",
    "Step",
    "Task",
    "Text",
    "Twins",
    "YesNo",
    "answer_key",
    "arrange",
    "candidates",
    "choose_tasks",
    "class_of",
    "graded_questions",
    "imported_item_id",
    "item_id",
    "letter_of",
    "lettered",
    "mark_label",
    "marks_of",
    "outline",
    "place",
    "pose",
    "pose_grades",
    "scale_tags",
    "shares_of_limit",
]
