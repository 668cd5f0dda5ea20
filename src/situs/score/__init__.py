"""Parsers, metrics and statistics over answers: pure functions, each with an id and version."""

from situs.score._compare import Comparison, Contestant, Pair, compare, holm, sign_flip_p
from situs.score._compare_runs import COMPARED, compare_runs
from situs.score._entries import METRICS, Entry, entries
from situs.score._metrics_number import mra_vsi_code, mra_vsi_paper, relative_accuracy, within_interval
from situs.score._metrics_numbers import median_abs_log_ratio, skill_over_mean, spearman_within_structure
from situs.score._option_tricks import TRICKS, option_tricks
from situs.score._outcomes import Outcome, Scored, judge
from situs.score._parse_choice import parse_choice
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed
from situs.score._parse_number import parse_number
from situs.score._parse_yes_no import parse_yes_no
from situs.score._run import score_run
from situs.score._scores import BaselineScores, NotComputed, Scores, blind_scores, choose_metrics, score_rows
from situs.score._statistics import Estimate, cluster_bootstrap, cluster_bootstrap_of, cluster_of, paired_difference
from situs.score._statistics_exact import binomial_interval_999, chance_adjusted, clopper_pearson

__all__ = [
    "COMPARED",
    "METRICS",
    "TRICKS",
    "BaselineScores",
    "Comparison",
    "Contestant",
    "Entry",
    "Estimate",
    "NotComputed",
    "Outcome",
    "Pair",
    "Parsed",
    "RefusedInWords",
    "Result",
    "Scored",
    "Scores",
    "Unparsed",
    "binomial_interval_999",
    "blind_scores",
    "chance_adjusted",
    "choose_metrics",
    "clopper_pearson",
    "cluster_bootstrap",
    "cluster_bootstrap_of",
    "cluster_of",
    "compare",
    "compare_runs",
    "entries",
    "holm",
    "judge",
    "median_abs_log_ratio",
    "mra_vsi_code",
    "mra_vsi_paper",
    "option_tricks",
    "paired_difference",
    "parse_choice",
    "parse_number",
    "parse_yes_no",
    "relative_accuracy",
    "score_rows",
    "score_run",
    "sign_flip_p",
    "skill_over_mean",
    "spearman_within_structure",
    "within_interval",
]
