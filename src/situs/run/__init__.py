"""Putting a bench's questions to a model or baseline:
the runner, its journal, and the baselines."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports
from situs.base.verbs import make_callable

if TYPE_CHECKING:
    from situs.clients import Spec, parse_spec
    from situs.run.append_file import AppendFile
    from situs.run.balance import set_aside
    from situs.run.baselines.box_prior import BoxPlaces, BoxPrior, boxes_of, fixed_grid
    from situs.run.baselines.catalogue import (
        BASELINES,
        BLIND,
        LEARNERS,
        Baseline,
        blind_rows,
        is_baseline,
        known_models,
        make_baseline,
    )
    from situs.run.baselines.learners import Prior
    from situs.run.baselines.speech import list_boxes, speakable_boxes
    from situs.run.baselines.survey import surveyed
    from situs.run.folder import Conditions, Covered, RunInfo, open_run, start_run
    from situs.run.hidden import SET_ASIDE, HiddenRow, read_hidden
    from situs.run.journal import AnswerRow, Journal, StoredRows, read_journal
    from situs.run.merge import MergedRun, merge_runs
    from situs.run.plan import items_of, selected_items
    from situs.run.released import Row, first_text, released_rows
    from situs.run.replay import ANSWER_FIELDS, REFERENCE_FIELDS, VOLUME_FIELDS, Joined, volume_stem
    from situs.run.requests import Presents, Shown, requests_for
    from situs.run.respondent import Respondent, Ways, respondent_of
    from situs.run.result import RunResult
    from situs.run.runner import run_baseline, run_client
    from situs.run.viewing import NATIVE, Viewing, volume_hull
else:
    __getattr__ = lazy_exports(__name__)

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
    "BoxPlaces",
    "BoxPrior",
    "Conditions",
    "Covered",
    "HiddenRow",
    "Joined",
    "Journal",
    "MergedRun",
    "Presents",
    "Prior",
    "Respondent",
    "Row",
    "RunInfo",
    "RunResult",
    "Shown",
    "Spec",
    "StoredRows",
    "Viewing",
    "Ways",
    "blind_rows",
    "boxes_of",
    "first_text",
    "fixed_grid",
    "is_baseline",
    "items_of",
    "known_models",
    "list_boxes",
    "make_baseline",
    "merge_runs",
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
    "surveyed",
    "volume_hull",
    "volume_stem",
]

make_callable(__name__)
