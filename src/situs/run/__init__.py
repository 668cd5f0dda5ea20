"""Putting a bench's questions to a model or baseline: the runner, its journal, and the baselines."""

from situs._verbs import make_callable
from situs.clients import Spec, parse_spec
from situs.run._append import AppendFile
from situs.run._baselines import BASELINES, BLIND, LEARNERS, Baseline, Prior, is_baseline, make_baseline
from situs.run._box_prior import boxes_of
from situs.run._folder import RunInfo, open_run, start_run
from situs.run._hidden import SET_ASIDE, HiddenRow, read_hidden
from situs.run._journal import AnswerRow, Journal, read_journal
from situs.run._plan import items_of, selected_items
from situs.run._released_rows import Row, first_text, released_rows
from situs.run._replay import ANSWER_FIELDS, REFERENCE_FIELDS, VOLUME_FIELDS, Joined, volume_stem
from situs.run._requests import Presents, Shown, requests_for
from situs.run._respondent import Respondent, respondent_of
from situs.run._result import RunResult
from situs.run._runner import run_baseline, run_client
from situs.run._set_aside import set_aside
from situs.run._speak import list_boxes, speakable_boxes
from situs.run._viewing import NATIVE, Viewing, has_places, volume_hull

__all__ = [
    "ANSWER_FIELDS",
    "BASELINES",
    "BLIND",
    "LEARNERS",
    "NATIVE",
    "REFERENCE_FIELDS",
    "SET_ASIDE",
    "VOLUME_FIELDS",
    "AnswerRow",
    "AppendFile",
    "Baseline",
    "HiddenRow",
    "Joined",
    "Journal",
    "Presents",
    "Prior",
    "Respondent",
    "Row",
    "RunInfo",
    "RunResult",
    "Shown",
    "Spec",
    "Viewing",
    "boxes_of",
    "first_text",
    "has_places",
    "is_baseline",
    "items_of",
    "list_boxes",
    "make_baseline",
    "open_run",
    "parse_spec",
    "read_hidden",
    "read_journal",
    "released_rows",
    "requests_for",
    "respondent_of",
    "run_baseline",
    "run_client",
    "selected_items",
    "set_aside",
    "speakable_boxes",
    "start_run",
    "volume_hull",
    "volume_stem",
]

make_callable(__name__)
