"""What a run's pixel limits and length mean for its data, known before anything is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from situs.errors import SitusError
from situs.tune.exports.rows import chat_messages
from situs.tune.forms import BOX_FORMS, smart_resize
from situs.tune.lengths import FAMILIES, Family, picture_family
from situs.tune.record import Example, Lengths, Manifest
from situs.tune.training.config import Config
from situs.tune.training.plan import Plan

__all__ = ["lengths_of", "refuse_resized", "refuse_too_long"]

_CHAT_TOKENS = 64
"""More than the marks of turns and roles of any conversation of one question."""


def lengths_of(config: Config, manifest: Manifest) -> Lengths | None:
    """The lengths of the data for the model's family; where that is not known, the longest."""
    factors = {family.name: family.factor for family in FAMILIES}
    family = _family(config)
    fitting = [
        one
        for one in manifest.lengths
        if family is None or factors.get(one.family, family.factor) == family.factor
    ]
    return max(fitting or manifest.lengths, key=lambda one: one.longest, default=None)


def refuse_resized(config: Config, plan: Plan) -> None:
    """Boxes in pixels of the resized picture are wrong if the run resizes pictures once more."""
    family = _family(config)
    for data in plan.data:
        form = BOX_FORMS.get(data.manifest.box_form)
        if (
            family is None
            or form is None
            or not form.resized_to
            or data.manifest.target == "answer"
        ):
            continue
        for width, height in data.manifest.sizes:
            seen = smart_resize(width, height, family.factor, family.least, family.most)
            if seen != (width, height):
                raise SitusError(
                    f"boxes are in pixels of {width} × {height}, and under the run's limits the "
                    f"model sees {seen[0]} × {seen[1]}",
                    where=data.folder,
                    fix="change min_pixels and max_pixels, or build with another --size",
                )


def refuse_too_long(config: Config, plan: Plan, processor: Any, most: int) -> None:
    """An example with more than `most` tokens is told before the first step, not when it comes up.

    Tokens are counted only where they may be too many: a text has no more than bytes.
    """
    family = _family(config)
    if not most or family is None:
        return  # the collator still looks at every batch
    picture_tokens = _PictureTokens(family)
    lengths = []
    for draw in _first_draws(plan):
        data, example = plan.example(draw)
        pictures = [picture_tokens.of(data.folder / name) for name in example.pictures]
        texts = (*example.words(), example.completion)
        bound = sum(len(text.encode()) + _CHAT_TOKENS for text in texts) + sum(pictures)
        if bound + 2 * len(pictures) > most:
            lengths.append(_counted(example, processor) + sum(pictures) - len(pictures))
    too_long = [length for length in lengths if length > most]
    if too_long:
        raise SitusError(
            f"{len(too_long):,} examples have more than {most:,} tokens, which the run takes "
            f"(the longest has {max(too_long):,})",
            where="max_length",
            fix=f"build the data with --model {config.model} --max-length {most}, or with fewer or"
            " smaller pictures",
        )


def _first_draws(plan: Plan) -> list[int]:
    """The first draw of every example that is drawn."""
    first: dict[tuple[int, int], int] = {}
    for draw, key in enumerate(zip(*plan.order)):
        first.setdefault(key, draw)
    return list(first.values())


def _counted(example: Example, processor: Any) -> int:
    """Tokens of a conversation with its reply, a picture as one."""
    reply = {"role": "assistant", "content": [{"type": "text", "text": example.completion}]}
    text = processor.apply_chat_template([*chat_messages(example), reply], tokenize=False)
    return len(processor.tokenizer(text, add_special_tokens=False)["input_ids"])


class _PictureTokens:
    """Tokens of stored pictures; pictures of one size have as many."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._of_path: dict[Path, int] = {}

    def of(self, path: Path) -> int:
        """Tokens of one picture; one that cannot be opened is refused when it is trained on."""
        if path not in self._of_path:
            self._of_path[path] = self._count(path)
        return self._of_path[path]

    def _count(self, path: Path) -> int:
        from PIL import Image

        try:
            with Image.open(path, formats=("PNG", "JPEG")) as picture:
                size = picture.size
        except (OSError, SyntaxError, ValueError):
            return 0
        family = self._family
        width, height = smart_resize(*size, family.factor, family.least, family.most)
        return (width // family.factor) * (height // family.factor)


def _family(config: Config) -> Family | None:
    """How the run cuts pictures; None where the model's folder is not here."""
    folder = Path(config.model)
    if not (folder / "preprocessor_config.json").is_file():
        return None
    family = picture_family(folder)
    return msgspec.structs.replace(
        family,
        least=config.min_pixels or family.least,
        most=config.max_pixels or family.most,
    )
