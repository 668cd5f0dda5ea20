"""Parsers, metrics and statistics over answers: pure functions, each with an id and version."""

from situs.score._agreement import agreement, cohen_kappa, gwet_ac1, krippendorff_alpha, percent_agreement
from situs.score._audit import (
    AuditPlan,
    AuditResult,
    AuditRow,
    audit_agreement,
    audit_plan,
    audit_sheet,
    draw_items,
    read_audit,
)
from situs.score._entries import METRICS, Entry, entries
from situs.score._jury import JurySummary
from situs.score._metrics_number import mra_vsi_code, mra_vsi_paper, relative_accuracy, within_interval
from situs.score._metrics_numbers import median_abs_log_ratio, skill_over_mean, spearman_within_structure
from situs.score._open_answers import PROTOCOLS, Verdicts
from situs.score._option_tricks import TRICKS, option_tricks
from situs.score._outcomes import Outcome, Scored, judge
from situs.score._parse_choice import parse_choice
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed
from situs.score._parse_number import parse_number
from situs.score._parse_yes_no import parse_yes_no
from situs.score._protocol_ct_spatialvqa import PublishedScores
from situs.score._run import score_run
from situs.score._scores import BaselineScores, NotComputed, Scores, blind_scores, choose_metrics, score_rows
from situs.score._statistics import Estimate, cluster_bootstrap, cluster_bootstrap_of, cluster_of, paired_difference
from situs.score._statistics_exact import binomial_interval_999, chance_adjusted, clopper_pearson
from situs.score._text_metrics import TEXT_METRICS
from situs.score._verdicts import parse_verdicts_option

__all__ = [
    "METRICS",
    "PROTOCOLS",
    "TEXT_METRICS",
    "TRICKS",
    "AuditPlan",
    "AuditResult",
    "AuditRow",
    "BaselineScores",
    "Entry",
    "Estimate",
    "JurySummary",
    "NotComputed",
    "Outcome",
    "Parsed",
    "PublishedScores",
    "RefusedInWords",
    "Result",
    "Scored",
    "Scores",
    "Unparsed",
    "Verdicts",
    "agreement",
    "audit_agreement",
    "audit_plan",
    "audit_sheet",
    "binomial_interval_999",
    "blind_scores",
    "chance_adjusted",
    "choose_metrics",
    "clopper_pearson",
    "cluster_bootstrap",
    "cluster_bootstrap_of",
    "cluster_of",
    "cohen_kappa",
    "draw_items",
    "entries",
    "gwet_ac1",
    "judge",
    "krippendorff_alpha",
    "median_abs_log_ratio",
    "mra_vsi_code",
    "mra_vsi_paper",
    "option_tricks",
    "paired_difference",
    "parse_choice",
    "parse_number",
    "parse_verdicts_option",
    "parse_yes_no",
    "percent_agreement",
    "read_audit",
    "relative_accuracy",
    "score_rows",
    "score_run",
    "skill_over_mean",
    "spearman_within_structure",
    "within_interval",
]
