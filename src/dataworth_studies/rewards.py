"""Reward models: Bradley–Terry on a scalar head of a language model.

The lower blocks are frozen and run once; the upper ones, all of them or low-rank changes of them (LoRA), are
trained on what the lower ones gave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from dataworth import DataworthError
from dataworth.arrays import Array, Rows
from dataworth.data.io.preferences import Preferences
from dataworth.embed.language_model import LanguageModel, Reader

CHUNK = 50
"""Pairs whose states are kept together."""
HELD_OUT = 0.2
"""Proportion of the prompts on which training is stopped."""


@dataclass(frozen=True)
class Training:
    """How a reward model is trained. blocks: the upper ones that are trained, all if None. lora: its rank."""

    blocks: int | None = 2
    lora: int | None = None
    epochs: int = 6
    patience: int = 2
    batch: int = 8
    rate: float = 1e-4


class Activations:
    """What the frozen lower blocks make of responses: places of tokens × hidden size, in half precision.

    With a directory to keep them in, a killed run goes on with the chunk in flight.
    """

    def __init__(
        self,
        lm: LanguageModel,
        pairs: Preferences,
        training: Training,
        max_tokens: int,
        told: Callable[[int, int], None] | None = None,
        keep: Path | None = None,
    ) -> None:
        self._torch, read = lm.torch, Reader(lm.tokenizer, max_tokens)
        body = lm.model.base_model
        every = len(body.layers)
        lower = 0 if training.blocks is None else max(0, every - training.blocks)
        top, body.layers = body.layers, body.layers[:lower]
        norm, body.norm = body.norm, self._torch.nn.Identity()
        try:
            self.states = []
            every_pair = pairs.pairs
            for start in range(0, len(every_pair), CHUNK):
                some = every_pair[start : start + CHUNK]
                said = repr((lm.name, lower, max_tokens, some))
                path = None if keep is None else keep / f"{sha256(said.encode()).hexdigest()[:24]}.npz"
                self.states += self._kept(path, partial(self._run, body, read, some))
                if told is not None:
                    told(start + len(some), len(every_pair))
        finally:
            body.layers, body.norm = top, norm
        self.prompts = pairs.prompts

    def _run(self, body: Any, read: Reader, pairs: Sequence[tuple[str, str, str]]) -> list[Any]:
        """The states of both responses of some pairs."""
        found = []
        with self._torch.inference_mode():
            for prompt, *both in pairs:
                for response in both:
                    ids = self._torch.tensor([read(prompt, response).ids], device=body.device)
                    found.append(body(input_ids=ids, use_cache=False).last_hidden_state[0].half().cpu())
        return found

    def _kept(self, path: Path | None, compute: Callable[[], list[Any]]) -> list[Any]:
        if path is None:
            return compute()
        if not path.exists():
            made = compute()
            path.parent.mkdir(parents=True, exist_ok=True)
            lengths = np.array([len(one) for one in made])
            with path.with_suffix(".part").open("wb") as file:
                np.savez(file, states=self._torch.cat(made).numpy(), lengths=lengths)
            path.with_suffix(".part").replace(path)  # whole or not at all
        with np.load(path) as found:
            states = self._torch.from_numpy(found["states"])
            return list(states.split(found["lengths"].tolist()))

    def batch(self, places: Sequence[int]) -> tuple[Any, Any]:
        """Hidden states, padded behind, and the place of each response's last token."""
        states = [self.states[i].float() for i in places]
        padded = self._torch.nn.utils.rnn.pad_sequence(states, batch_first=True)
        return padded, self._torch.tensor([len(one) - 1 for one in states])


class RewardModel:
    """The upper blocks with a scalar head."""

    def __init__(self, lm: LanguageModel, training: Training, seed: int) -> None:
        self._torch, self._training, self._seed = lm.torch, training, seed
        self._torch.manual_seed(seed)
        body = lm.model.base_model
        kept = len(body.layers) if training.blocks is None else training.blocks
        every, body.layers = body.layers, body.layers[-kept:]
        try:
            self._body = deepcopy(body)  # the upper blocks alone: the lower ones are not copied
        finally:
            body.layers = every
        self._body.requires_grad_(True)
        if training.lora is not None:
            self._body = _with_lora(self._body, training.lora)
        self._head = self._torch.nn.Linear(lm.model.config.hidden_size, 1, bias=False).to(body.device)
        self._torch.nn.init.zeros_(self._head.weight)

    def _rewards(self, states: Any, last: Any) -> Any:
        device = self._head.weight.device
        hidden = self._body(inputs_embeds=states.to(device), use_cache=False).last_hidden_state
        rows = self._torch.arange(len(last), device=device)
        return self._head(hidden[rows, last.to(device)])[:, 0]

    def margins(self, data: Activations, rows: Sequence[int] | Rows) -> Array:
        """Reward of the chosen less that of the rejected response."""
        self._body.eval()
        found = []
        with self._torch.inference_mode():
            for start in range(0, len(rows), self._training.batch):
                some = rows[start : start + self._training.batch]
                both = self._rewards(*data.batch([2 * i + half for i in some for half in (0, 1)]))
                found.append((both[::2] - both[1::2]).double().cpu().numpy())
        return np.concatenate(found)

    def train(self, data: Activations, rows: Rows) -> RewardModel:
        """On pairs, until the loss on a fifth of their prompts stops falling; the best state is kept."""
        rng = np.random.default_rng([self._seed, 0x2E3A])
        prompts = sorted({data.prompts[i] for i in rows})
        held = {prompts[i] for i in rng.permutation(len(prompts))[: max(1, int(HELD_OUT * len(prompts)))]}
        judges = np.array([i for i in rows if data.prompts[i] in held], dtype=int)
        learns = np.array([i for i in rows if data.prompts[i] not in held], dtype=int)
        if not len(learns):
            raise DataworthError("a reward model needs pairs of two prompts or more: give some.")
        trained = [p for p in (*self._body.parameters(), *self._head.parameters()) if p.requires_grad]
        optimiser = self._torch.optim.AdamW(trained, lr=self._training.rate)
        best, kept, waited = np.inf, None, 0
        for _ in range(self._training.epochs):
            self._body.train()
            order = rng.permutation(learns)
            for start in range(0, len(order), self._training.batch):
                some = order[start : start + self._training.batch]
                both = self._rewards(*data.batch([2 * i + half for i in some for half in (0, 1)]))
                loss = -self._torch.nn.functional.logsigmoid(both[::2] - both[1::2]).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            found = float(np.logaddexp(0.0, -self.margins(data, judges)).mean())
            waited = 0 if found < best else waited + 1
            if found < best:
                best, kept = found, [deepcopy(part.state_dict()) for part in (self._body, self._head)]
            if waited >= self._training.patience:
                break
        for part, state in zip((self._body, self._head), kept or [], strict=False):
            part.load_state_dict(state)
        return self

    def accuracy(self, data: Activations, rows: Sequence[int] | Rows) -> float:
        """How often the chosen response has the higher reward; a tie is half."""
        margins = self.margins(data, rows)
        return float((margins > 0).mean() + 0.5 * (margins == 0).mean())


def _with_lora(body: Any, rank: int) -> Any:
    from peft import LoraConfig, get_peft_model

    return get_peft_model(body, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear"))
