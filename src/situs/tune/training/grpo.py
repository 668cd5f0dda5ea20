"""Training by rewards with TRL's GRPO: the rewards are the scorers themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from situs.errors import SitusError
from situs.items import Item
from situs.run import Viewing
from situs.tune.consistency import consistency
from situs.tune.record import bench_of
from situs.tune.rewards import Reward, answer_reward, format_reward, grounding_reward
from situs.tune.training.config import Config
from situs.tune.training.examples import chat_row
from situs.tune.training.plan import Plan
from situs.tune.training.setup import Setup, TrainerMaker

__all__ = ["method", "reward_functions"]

_PARTS: dict[str, Reward] = {
    "format": format_reward,
    "answer": answer_reward,
    "grounding": grounding_reward,
    "consistency": consistency,
}


def method(config: Config, plan: Plan) -> TrainerMaker:
    """Replies are sampled and paid; strong supervised training should come first.

    Refused where the bench that the rewards are scored against is not here.
    """
    functions, weights = reward_functions(plan, config)

    def trainer(setup: Setup) -> Any:
        from trl import GRPOConfig, GRPOTrainer

        return GRPOTrainer(
            model=setup.model,
            args=GRPOConfig(
                **setup.settings,
                num_generations=config.grpo.generations,
                temperature=config.grpo.temperature,
                max_completion_length=config.grpo.max_new_tokens,
                beta=config.grpo.beta,
                reward_weights=weights,
                shuffle_dataset=False,
            ),
            reward_funcs=functions,
            train_dataset=_prompts(setup.plan),
            processing_class=setup.processor,
            callbacks=list(setup.callbacks),
        )

    return trainer


def _prompts(plan: Plan) -> Any:
    """Prompts and pictures; the item's id travels beside them to the rewards."""
    from datasets import Dataset

    def rows(batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        made = [plan.example(draw) for draw in batch["draw"]]
        chats = [chat_row(example, data.folder) for data, example in made]
        return {
            "prompt": [chat["prompt"] for chat in chats],
            "images": [chat["images"] for chat in chats],
            "item_id": [example.item_id for _, example in made],
        }

    return Dataset.from_dict({"draw": list(range(len(plan)))}).with_transform(rows)


def reward_functions(
    plan: Plan, config: Config
) -> tuple[list[Callable[..., list[float | None]]], list[float]]:
    """One function for each part with a weight, as TRL calls them: None where it does not apply."""
    items: dict[str, tuple[Item, Viewing]] = {}
    wanted = {plan.example(draw)[1].item_id for draw in range(len(plan))}
    for data in plan.data:
        bench = bench_of(data, None)
        if bench is None:
            raise SitusError(
                "rewards are scored against the bench, which is not where it was",
                where=data.folder,
                fix="put the bench back, or build the data again",
            )
        viewing = Viewing(bench, data.profile)
        for item in bench.items(steps=False):
            if item.item_id in wanted:
                items[item.item_id] = (item, viewing)

    def function(name: str, reward: Reward) -> Callable[..., list[float | None]]:
        def pay(completions: Sequence[Any], item_id: Sequence[str], **_: Any) -> list[float | None]:
            return [
                reward(_text(completion), *items[key])
                for completion, key in zip(completions, item_id, strict=True)
            ]

        pay.__name__ = f"{name}_reward"
        return pay

    chosen = {name: getattr(config.grpo, name) for name in _PARTS if getattr(config.grpo, name) > 0}
    functions = [function(name, _PARTS[name]) for name in chosen]
    return functions, list(chosen.values())


def _text(completion: Any) -> str:
    """The words of a completion: a string, or the turns of a conversation."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)
