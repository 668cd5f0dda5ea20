"""Putting a bench's questions to a model or baseline: the runner, its journal, and the baselines."""

from situs.clients import Spec, parse_spec
from situs.run._baselines import BASELINES, Baseline, make_baseline
from situs.run._box_prior import boxes_of
from situs.run._journal import AnswerRow, Journal, read_journal
from situs.run._runner import RunInfo, RunResult, open_run, run_baseline, selected_items
from situs.run._shown import NATIVE, Shown, has_places, volume_hull

__all__ = [
    "BASELINES",
    "NATIVE",
    "AnswerRow",
    "Baseline",
    "Journal",
    "RunInfo",
    "RunResult",
    "Shown",
    "Spec",
    "boxes_of",
    "has_places",
    "make_baseline",
    "open_run",
    "parse_spec",
    "read_journal",
    "run_baseline",
    "selected_items",
    "volume_hull",
]
