"""Grounded fine-tuning: training data from a bench, rewards, training, and what the boxes did."""

from situs.tune.dataset import BuildChoices, Built, build_data
from situs.tune.forms import BOX_FORMS
from situs.tune.record import Example, Manifest, TrainingData, open_data
from situs.tune.targets import TARGETS

__all__ = [
    "BOX_FORMS",
    "TARGETS",
    "BuildChoices",
    "Built",
    "Example",
    "Manifest",
    "TrainingData",
    "build_data",
    "open_data",
]
