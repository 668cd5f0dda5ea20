"""Parsers, metrics and statistics over answers: pure functions, each with an id and version."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports
from situs.base.verbs import make_callable

if TYPE_CHECKING:
    from situs.score.blind.beside import BaselineScores
    from situs.score.blind.option_tricks import TRICKS, option_tricks
    from situs.score.blind.same_patient import told_by_other_answers
    from situs.score.blind.shortcut_gain import ShortcutGain, gain_over_best
    from situs.score.breakdown import (
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
    from situs.score.columns import Columns
    from situs.score.comparison import comparable_metrics, compare_runs
    from situs.score.compound.parts import boxes_right, frames_right
    from situs.score.facets import FACETS, SIZES, Facets, facets_of
    from situs.score.free_text import PROTOCOLS, Verdicts
    from situs.score.headline import (
        ALL_STRATA,
        HEADLINE,
        STRATA,
        Headline,
        Selection,
        headline_of,
        select,
    )
    from situs.score.metrics.boxes import (
        Matches,
        centre_f1,
        f1_at,
        frame_f1,
        frame_iou,
        mean_iou,
        panoptic_quality,
        same_labels,
        tube_iou,
    )
    from situs.score.metrics.grades import (
        macro_f1,
        presence_sensitivity,
        presence_specificity,
        quadratic_kappa,
    )
    from situs.score.metrics.number import (
        mra_vsi_code,
        mra_vsi_paper,
        relative_accuracy,
        within_interval,
    )
    from situs.score.metrics.numbers import (
        spearman_within_structure,
    )
    from situs.score.metrics.registry import Metric, known_metrics, metric
    from situs.score.metrics.sets import ends_within_one, set_f1, set_iou
    from situs.score.outcomes import Outcome, Scored, score_answer
    from situs.score.published.ct_spatialvqa import PublishedScores
    from situs.score.published.numbers import (
        PUBLISHED,
        PublishedTable,
        published_beside,
        published_tables,
    )
    from situs.score.published.sgmri_tables import SgmriRates, SgmriTable, sgmri_texts
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
    from situs.score.records import columns_of, records_of, scored_table
    from situs.score.run_folder import score_run, tables_of_run
    from situs.score.scored_run import Replies, ScoredRun, open_replies, read_run
    from situs.score.shown.comparison import comparison_tables
    from situs.score.shown.entries import entry_of
    from situs.score.shown.scores import score_tables
    from situs.score.stats.agreement import (
        agreement,
        cohen_kappa,
        gwet_ac1,
        krippendorff_alpha,
        percent_agreement,
    )
    from situs.score.stats.calibration import Calibration
    from situs.score.stats.estimates import (
        Estimate,
        cluster_bootstrap_of,
        cluster_mean,
        cluster_of,
        paired_difference,
    )
    from situs.score.stats.exact import binomial_interval_999, clopper_pearson
    from situs.score.stats.key_quality import KeyErrors, key_errors
    from situs.score.stats.paired import (
        Comparison,
        Contestant,
        Pair,
        SightGain,
        average_seeds,
        compare,
        holm,
        sight_gain,
    )
    from situs.score.stats.prediction_powered import PredictionPowered, prediction_powered
    from situs.score.stats.sources import OverSources, over_sources, source_of
    from situs.score.table import (
        NotComputed,
        Scores,
        blind_headlines,
        choose_metrics,
        score_table,
    )
    from situs.score.table_entries import Entry, closed_or_all, entries
    from situs.score.text.jury import JurySummary, same_family
    from situs.score.text.metrics import TEXT_METRICS
    from situs.score.text.verdicts import judged_text, parse_verdicts_option
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "ALL_STRATA",
    "FACETS",
    "HEADLINE",
    "INFERRED",
    "LANGUAGES",
    "PROTOCOLS",
    "PUBLISHED",
    "SAID_SIDES",
    "SIZES",
    "STRATA",
    "TEXT_METRICS",
    "TRICKS",
    "BaselineScores",
    "Breakdowns",
    "Calibration",
    "Columns",
    "Comparison",
    "Contestant",
    "Entry",
    "Estimate",
    "Facets",
    "Headline",
    "JurySummary",
    "KeyErrors",
    "Matches",
    "Metric",
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
    "RefusedInWords",
    "Replies",
    "Result",
    "Scored",
    "ScoredRun",
    "Scores",
    "Selection",
    "SgmriRates",
    "SgmriTable",
    "ShortcutGain",
    "SightGain",
    "Unparsed",
    "Verdicts",
    "agreement",
    "average_seeds",
    "base_value",
    "binomial_interval_999",
    "blind_headlines",
    "boxes_right",
    "breakdown_tables",
    "breakdowns",
    "centre_f1",
    "choose_metrics",
    "clopper_pearson",
    "closed_or_all",
    "cluster_bootstrap_of",
    "cluster_mean",
    "cluster_of",
    "cohen_kappa",
    "columns_of",
    "comparable_metrics",
    "compare",
    "compare_runs",
    "comparison_tables",
    "ends_within_one",
    "entries",
    "entry_of",
    "f1_at",
    "facet_matrix",
    "facet_table",
    "facets_of",
    "frame_f1",
    "frame_iou",
    "frames_right",
    "gain_over_best",
    "gwet_ac1",
    "headline_of",
    "holm",
    "judged_text",
    "key_errors",
    "known_language",
    "known_metrics",
    "krippendorff_alpha",
    "loose_values",
    "macro_f1",
    "mean_iou",
    "metric",
    "mra_vsi_code",
    "mra_vsi_paper",
    "number_table",
    "open_replies",
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
    "read_run",
    "records_of",
    "relative_accuracy",
    "same_family",
    "same_labels",
    "score_answer",
    "score_run",
    "score_table",
    "score_tables",
    "scored_table",
    "select",
    "set_f1",
    "set_iou",
    "sgmri_texts",
    "side_counts",
    "side_table",
    "sight_gain",
    "source_of",
    "spearman_within_structure",
    "tables_of_run",
    "told_by_other_answers",
    "tube_iou",
    "within_interval",
]

make_callable(__name__)
