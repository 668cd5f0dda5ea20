"""Putting a bench's questions to a model or baseline: the runner, its journal, and the baselines."""

from situs.clients import Spec, parse_spec
from situs.run._baselines import BASELINES, Baseline, make_baseline
from situs.run._journal import AnswerRow, Journal, read_journal
from situs.run._released_rows import Row, first_text, released_rows
from situs.run._replay import Joined, volume_stem
from situs.run._runner import RunInfo, RunResult, open_run, run_baseline, selected_items

__all__ = [
    "BASELINES",
    "AnswerRow",
    "Baseline",
    "Joined",
    "Journal",
    "Row",
    "RunInfo",
    "RunResult",
    "Spec",
    "first_text",
    "make_baseline",
    "open_run",
    "parse_spec",
    "read_journal",
    "released_rows",
    "run_baseline",
    "selected_items",
    "volume_stem",
]
