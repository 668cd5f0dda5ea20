"""Training by rewards with TRL's GRPO: the rewards are the scorers themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from situs.errors import SitusError
from situs.items import Item
from situs.run import Viewing
from situs.tune.consistency import consistency
from situs.tune.record import bench_of
from situs.tune.rewards import Reward, answer_reward, format_reward, grounding_reward
from situs.tune.training.config import Config
from situs.tune.training.examples import chat_row
from situs.tune.training.folder import last_checkpoint, start_training
from situs.tune.training.models import keep_quiet, load_trainable, processor_of
from situs.tune.training.plan import Plan, make_plan
from situs.tune.training.sft import (
    Trained,
    is_first_process,
    last_loss,
    log_callback,
    run_record,
    save_model,
    trainer_settings,
)

__all__ = ["reward_functions", "train_by_reward"]

_PARTS: dict[str, Reward] = {
    "format": format_reward,
    "answer": answer_reward,
    "grounding": grounding_reward,
    "consistency": consistency,
}


def train_by_reward(
    config: Config,
    out: Path,
    *,
    resume: bool = False,
    most_steps: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trained:
    """GRPO from the last checkpoint or the start; strong supervised training should come first."""
    from transformers import PrinterCallback, set_seed
    from trl import GRPOConfig, GRPOTrainer

    plan = make_plan(config, most_steps=most_steps)
    size = config.batch.per_device * config.batch.accumulate
    if size % config.grpo.generations:
        raise SitusError(
            f"a step has {size} replies, which {config.grpo.generations} generations do not divide",
            where="grpo.generations",
            fix="make batch.per_device × batch.accumulate a multiple of it",
        )
    functions, weights = reward_functions(plan, config)
    keep_quiet()
    set_seed(config.seed)
    model = load_trainable(config)
    record = run_record(config, plan, model)
    checkpoint = last_checkpoint(out) if resume else None
    if is_first_process():
        start_training(out, record, plan, resume=resume)
    settings = GRPOConfig(
        **trainer_settings(config, plan, out),
        num_generations=config.grpo.generations,
        temperature=config.grpo.temperature,
        max_completion_length=config.grpo.max_new_tokens,
        beta=config.grpo.beta,
        reward_weights=weights,
        shuffle_dataset=False,
    )
    trainer = GRPOTrainer(
        model=model,
        args=settings,
        reward_funcs=functions,
        train_dataset=_prompts(plan),
        processing_class=processor_of(Path(config.model), config),
        callbacks=[log_callback(out, plan, progress)],
    )
    trainer.remove_callback(PrinterCallback)  # it would print every step to standard output
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    notes = save_model(trainer, config, out)
    return Trained(
        str(out / "model"),
        plan.steps,
        last_loss(out),
        record.frozen,
        record.trained,
        int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0,
        (*record.notes, *notes),
    )


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
        shown = Viewing(bench, data.profile)
        for item in bench.items(steps=False):
            if item.item_id in wanted:
                items[item.item_id] = (item, shown)

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
