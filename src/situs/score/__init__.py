"""Parsers, metrics and statistics over answers: pure functions, each with an id and version."""

from situs._verbs import make_callable
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
from situs.score._breakdowns import (
    SAID_SIDES,
    Breakdowns,
    NumberError,
    breakdown_tables,
    breakdowns,
    facet_matrix,
    facet_table,
    number_table,
    side_counts,
    side_table,
)
from situs.score._calibration import Calibration
from situs.score._compare import (
    Comparison,
    Contestant,
    Pair,
    SightGain,
    average_seeds,
    compare,
    holm,
    sight_gain,
)
from situs.score._compare_runs import PER_ITEM, compare_runs
from situs.score._entries import METRICS, Entry, closed_or_all, entries
from situs.score._facets import FACETS, SIZES, Facets, facets_of
from situs.score._headline import ALL_STRATA, HEADLINE, STRATA, Headline, Selection, headline_of, select
from situs.score._judged_run import JudgedRun, judged_run
from situs.score._jury import JurySummary, same_family
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
from situs.score._parts import boxes_right, frames_right
from situs.score._prediction_powered import PredictionPowered, prediction_powered
from situs.score._protocol_ct_spatialvqa import PublishedScores
from situs.score._protocol_sgmri import SgmriRates, SgmriTable, sgmri_texts
from situs.score._published import PUBLISHED, PublishedTable, published_beside, published_tables
from situs.score._readings import Reading, readings
from situs.score._run import open_answers, score_run
from situs.score._score_tables import score_tables
from situs.score._scores import BaselineScores, NotComputed, Scores, blind_scores, choose_metrics, score_rows
from situs.score._shortcut_gain import ShortcutGain, gain_over_best
from situs.score._sources import OverSources, over_sources, source_of
from situs.score._statistics import Estimate, cluster_bootstrap_of, cluster_mean, cluster_of, paired_difference
from situs.score._statistics_exact import binomial_interval_999, chance_adjusted, clopper_pearson
from situs.score._text_metrics import TEXT_METRICS
from situs.score._verdicts import judged_text, parse_verdicts_option
from situs.score.read import (
    INFERRED,
    LANGUAGES,
    Offered,
    Parsed,
    Quantity,
    RefusedInWords,
    Result,
    Unparsed,
    base_value,
    known_language,
    loose_values,
    parse_boxes,
    parse_choice,
    parse_choices,
    parse_frames,
    parse_grades,
    parse_number,
    parse_yes_no,
    quantities,
)

__all__ = [
    "ALL_STRATA",
    "FACETS",
    "HEADLINE",
    "INFERRED",
    "LANGUAGES",
    "METRICS",
    "PER_ITEM",
    "PROTOCOLS",
    "PUBLISHED",
    "SAID_SIDES",
    "SIZES",
    "STRATA",
    "TEXT_METRICS",
    "TRICKS",
    "AuditPlan",
    "AuditResult",
    "AuditRow",
    "BaselineScores",
    "Breakdowns",
    "Calibration",
    "Comparison",
    "Contestant",
    "Entry",
    "Estimate",
    "Facets",
    "Headline",
    "JudgedRun",
    "JurySummary",
    "KeyErrors",
    "NotComputed",
    "NumberError",
    "Offered",
    "Outcome",
    "OverSources",
    "Pair",
    "Parsed",
    "PredictionPowered",
    "PublishedScores",
    "PublishedTable",
    "Quantity",
    "Reading",
    "RefusedInWords",
    "Result",
    "Scored",
    "Scores",
    "Selection",
    "SgmriRates",
    "SgmriTable",
    "ShortcutGain",
    "SightGain",
    "Unparsed",
    "Verdicts",
    "agreement",
    "audit_agreement",
    "audit_plan",
    "audit_sheet",
    "average_seeds",
    "base_value",
    "binomial_interval_999",
    "blind_scores",
    "box_metrics",
    "boxes_right",
    "breakdown_tables",
    "breakdowns",
    "centre_f1",
    "chance_adjusted",
    "choose_metrics",
    "clopper_pearson",
    "closed_or_all",
    "cluster_bootstrap_of",
    "cluster_mean",
    "cluster_of",
    "cohen_kappa",
    "compare",
    "compare_runs",
    "draw_items",
    "ends_within_one",
    "entries",
    "f1_at",
    "facet_matrix",
    "facet_table",
    "facets_of",
    "frame_f1",
    "frame_iou",
    "frames_right",
    "gain_over_best",
    "grade_table",
    "gwet_ac1",
    "headline_of",
    "holm",
    "judge",
    "judged_run",
    "judged_text",
    "key_errors",
    "known_language",
    "krippendorff_alpha",
    "loose_values",
    "macro_f1",
    "mean_iou",
    "median_abs_log_ratio",
    "mra_vsi_code",
    "mra_vsi_paper",
    "number_table",
    "open_answers",
    "option_tricks",
    "over_sources",
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
    "prediction_powered",
    "presence_sensitivity",
    "presence_specificity",
    "published_beside",
    "published_tables",
    "quadratic_kappa",
    "quantities",
    "read_audit",
    "readings",
    "relative_accuracy",
    "same_family",
    "same_labels",
    "score_rows",
    "score_run",
    "score_tables",
    "select",
    "set_f1",
    "set_iou",
    "sgmri_texts",
    "side_counts",
    "side_table",
    "sight_gain",
    "skill_over_mean",
    "source_of",
    "spearman_within_structure",
    "tube_iou",
    "within_interval",
]

make_callable(__name__)
