"""Questions: the item record, the tasks that write them, twins and options, and the average anatomy."""

from situs.items import findings as findings
from situs.items import masks as masks
from situs.items import reports as reports
from situs.items.arrangement.candidates import Candidate, candidates
from situs.items.arrangement.engine import Placement, place
from situs.items.arrangement.marks import lettered
from situs.items.arrangement.twin_check import Twins
from situs.items.arrangement.twins import Outline, arrange, outline
from situs.items.average import AverageAnatomy, clear_sign
from situs.items.gate import pose
from situs.items.grades.graded import GRADED, graded_questions, pose_grades, scale_tags
from situs.items.masks.shared import compose, measure_step, obstacle
from situs.items.owners import class_of, is_ordered, mask_task, task_of_masks
from situs.items.posed import NotAsked, Posed, Question, quantity
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
from situs.items.subjects import Subject, resolve
from situs.items.tasks import (
    TASKS,
    NothingExpected,
    Task,
    TaskRules,
    all_tasks,
    choose_tasks,
    declared_mix,
    declared_quotas,
    import_tasks,
    task,
    task_modules,
    task_named,
    with_declared,
)
from situs.items.units import SHIPPED_UNITS, UNITS, Unit, unit_named

__all__ = [
    "GRADED",
    "SHIPPED_UNITS",
    "TASKS",
    "UNITS",
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
    "NothingExpected",
    "Number",
    "Option",
    "Outline",
    "Placement",
    "Posed",
    "Question",
    "Simple",
    "Step",
    "Subject",
    "Task",
    "TaskRules",
    "Text",
    "Twins",
    "Unit",
    "YesNo",
    "all_tasks",
    "answer_key",
    "arrange",
    "candidates",
    "choose_tasks",
    "class_of",
    "clear_sign",
    "compose",
    "declared_mix",
    "declared_quotas",
    "graded_questions",
    "import_tasks",
    "imported_item_id",
    "is_ordered",
    "item_id",
    "letter_of",
    "lettered",
    "mark_label",
    "marks_of",
    "mask_task",
    "measure_step",
    "obstacle",
    "outline",
    "place",
    "pose",
    "pose_grades",
    "quantity",
    "resolve",
    "scale_tags",
    "task",
    "task_modules",
    "task_named",
    "task_of_masks",
    "unit_named",
    "with_declared",
]
