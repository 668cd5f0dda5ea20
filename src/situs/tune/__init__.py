"""Grounded fine-tuning: training data from a bench, rewards, training, and what the boxes did."""

from situs.tune.audit import Audited, audit_reward
from situs.tune.build import build_data
from situs.tune.checks.check import check_data
from situs.tune.checks.problems import Checked
from situs.tune.dataset import BuildChoices, Built
from situs.tune.exports.export import export_data
from situs.tune.forms import BOX_FORMS
from situs.tune.record import Example, Manifest, TrainingData, open_data
from situs.tune.rewards import REWARDS, total_reward
from situs.tune.targets import TARGETS

__all__ = [
    "BOX_FORMS",
    "REWARDS",
    "TARGETS",
    "Audited",
    "BuildChoices",
    "Built",
    "Checked",
    "Example",
    "Manifest",
    "TrainingData",
    "audit_reward",
    "build_data",
    "check_data",
    "export_data",
    "open_data",
    "total_reward",
]
