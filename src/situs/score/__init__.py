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
from situs.score._compare import Comparison, Contestant, Pair, compare, holm, sign_flip_p
from situs.score._compare_runs import PER_ITEM, compare_runs
from situs.score._entries import METRICS, Entry, entries
from situs.score._jury import JurySummary
from situs.score._key_errors import KeyErrors, key_errors
from situs.score._metrics_boxes import (
    box_metrics,
    centre_f1,
    f1_at,
    frame_f1,
    frame_iou,
    mean_iou,
    panoptic_quality,
    same_labels,
    tube_iou,
)
from situs.score._metrics_grades import (
    grade_table,
    macro_f1,
    presence_sensitivity,
    presence_specificity,
    quadratic_kappa,
)
from situs.score._metrics_number import mra_vsi_code, mra_vsi_paper, relative_accuracy, within_interval
from situs.score._metrics_numbers import median_abs_log_ratio, skill_over_mean, spearman_within_structure
from situs.score._metrics_sets import ends_within_one, set_f1, set_iou
from situs.score._open_answers import PROTOCOLS, Verdicts
from situs.score._option_tricks import TRICKS, option_tricks
from situs.score._outcomes import Outcome, Scored, judge
from situs.score._parse_boxes import INFERRED, parse_boxes
from situs.score._parse_choice import parse_choice
from situs.score._parse_choices import parse_choices
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed
from situs.score._parse_frames import parse_frames
from situs.score._parse_grades import parse_grades
from situs.score._parse_number import parse_number
from situs.score._parse_yes_no import parse_yes_no
from situs.score._protocol_ct_spatialvqa import PublishedScores
from situs.score._protocol_sgmri import SgmriTable
from situs.score._run import score_run
from situs.score._scores import BaselineScores, NotComputed, Scores, blind_scores, choose_metrics, score_rows
from situs.score._statistics import Estimate, cluster_bootstrap, cluster_bootstrap_of, cluster_of, paired_difference
from situs.score._statistics_exact import binomial_interval_999, chance_adjusted, clopper_pearson
from situs.score._text_metrics import TEXT_METRICS
from situs.score._verdicts import parse_verdicts_option

__all__ = [
    "INFERRED",
    "METRICS",
    "PER_ITEM",
    "PROTOCOLS",
    "TEXT_METRICS",
    "TRICKS",
    "AuditPlan",
    "AuditResult",
    "AuditRow",
    "BaselineScores",
    "Comparison",
    "Contestant",
    "Entry",
    "Estimate",
    "JurySummary",
    "KeyErrors",
    "NotComputed",
    "Outcome",
    "Pair",
    "Parsed",
    "PublishedScores",
    "RefusedInWords",
    "Result",
    "Scored",
    "Scores",
    "SgmriTable",
    "Unparsed",
    "Verdicts",
    "agreement",
    "audit_agreement",
    "audit_plan",
    "audit_sheet",
    "binomial_interval_999",
    "blind_scores",
    "box_metrics",
    "centre_f1",
    "chance_adjusted",
    "choose_metrics",
    "clopper_pearson",
    "cluster_bootstrap",
    "cluster_bootstrap_of",
    "cluster_of",
    "cohen_kappa",
    "compare",
    "compare_runs",
    "draw_items",
    "ends_within_one",
    "entries",
    "f1_at",
    "frame_f1",
    "frame_iou",
    "grade_table",
    "gwet_ac1",
    "holm",
    "judge",
    "key_errors",
    "krippendorff_alpha",
    "macro_f1",
    "mean_iou",
    "median_abs_log_ratio",
    "mra_vsi_code",
    "mra_vsi_paper",
    "option_tricks",
    "paired_difference",
    "panoptic_quality",
    "parse_boxes",
    "parse_choice",
    "parse_choices",
    "parse_frames",
    "parse_grades",
    "parse_number",
    "parse_verdicts_option",
    "parse_yes_no",
    "percent_agreement",
    "presence_sensitivity",
    "presence_specificity",
    "quadratic_kappa",
    "read_audit",
    "relative_accuracy",
    "same_labels",
    "score_rows",
    "score_run",
    "set_f1",
    "set_iou",
    "sign_flip_p",
    "skill_over_mean",
    "spearman_within_structure",
    "tube_iou",
    "within_interval",
]
