"""Supervised fine-tuning with TRL: the plan's order and our collator."""

from __future__ import annotations

from typing import Any

from situs.tune.training.config import Config
from situs.tune.training.examples import make_collator, planned_examples
from situs.tune.training.plan import Plan
from situs.tune.training.setup import Setup, TrainerMaker

__all__ = ["method"]


def method(config: Config, plan: Plan) -> TrainerMaker:
    """Completions are learnt word for word; nothing more is asked of the plan."""
    return _trainer


def _trainer(setup: Setup) -> Any:
    from torch.utils.data import SequentialSampler
    from trl import SFTConfig, SFTTrainer

    class InOrder(SFTTrainer):  # type: ignore[misc]
        """Takes examples in the order of the plan."""

        def _get_train_sampler(self, *_: Any, **__: Any) -> Any:
            return SequentialSampler(self.train_dataset)

    return InOrder(
        model=setup.model,
        args=SFTConfig(
            **setup.settings,
            max_length=None,
            completion_only_loss=True,
            dataset_kwargs={"skip_prepare_dataset": True},
        ),
        train_dataset=planned_examples(setup.plan),
        data_collator=make_collator(setup.processor, setup.most_tokens),
        processing_class=setup.processor,
        callbacks=list(setup.callbacks),
    )
