"""Hold the policy that is trained, and make one optimizer step on the episodes it sampled.

    policy = Policy(settings)
    figures = policy.update(data)
    policy.save(directory)

The base is loaded once. The model samples, is trained and computes the start adapter's log-probs (for --kl): for these
the start's weights, which are kept aside, are put into the adapter for one pass. Where no episode of a step has an
advantage and there is no KL, no optimizer step is made: the optimizer's momentum would move the weights without any
evidence. In fp16 none is made either where the gradients overflow; `updated` is False then.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from model.loading import load_model
from pipeline.files import read_json, write_json
from schema import BadInputError
from training.loop import MIN_SCALE, Objective, add_gradients, head_is_plain, unpack_4bit
from training.policy_gradient import PolicyData, PolicyRow, SftRow, surrogate, token_log_probs
from training.preference_run import unfreeze
from training.rl_settings import RlSettings

MAX_GRAD_NORM = 1.0
SAME_WEIGHTS = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-2}  # mean |train - sample log-prob| allowed
OPTIMIZER, SCALER = "optimizer.safetensors", "scaler.json"


class Policy:
    """The model with its trainable adapter, the optimizer, and the weights of the start adapter."""

    def __init__(self, settings: RlSettings) -> None:
        import torch

        self.settings = settings
        self.model, self.tokenizer = load_model(
            settings.base, settings.adapter, dtype=settings.dtype, load_4bit=settings.load_4bit
        )
        unpack_4bit(self.model)
        unfreeze(self.model)
        self.named = {name: weight for name, weight in self.model.named_parameters() if weight.requires_grad}
        self.start = {name: weight.detach().clone() for name, weight in self.named.items()}
        self.optimizer = torch.optim.AdamW(self.named.values(), lr=settings.lr or 0.0, weight_decay=0.0)
        fp16 = self.model.dtype == torch.float16
        self.scaler = torch.amp.GradScaler(self.model.device.type, enabled=fp16)
        self.on_cpu = self.model.device.type == "cpu"
        self.compact: bool | None = None
        if settings.gradient_checkpointing or (settings.gradient_checkpointing is None and not self.on_cpu):
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
            self.model.enable_input_require_grads()

    @property
    def dtype(self) -> str:
        """The dtype of the base, as in `float32`."""
        return str(self.model.dtype).removeprefix("torch.")

    def autocast(self) -> Any:
        """The context of a pass in half precision, as in the other trainers."""
        import torch

        half = self.model.dtype in (torch.float16, torch.bfloat16)
        return torch.autocast(self.model.device.type, dtype=self.model.dtype) if half else nullcontext()

    def update(self, data: PolicyData, *, lr: float | None = None) -> dict[str, Any]:
        """Make --epochs optimizer steps on the rows, and measure them; returns the figures of the step.

        `lr` is the rate of this step (default: --lr).

        The differences to the recorded log-probs, and the entropy, are those before the first optimizer step.
        """
        from model.layers import fast_layers  # needs torch

        if not data.rows:
            return _figures({}, updated=False)
        self.optimizer.param_groups[0]["lr"] = self.settings.lr if lr is None else lr
        self.model.train()  # never eval() before a backward pass: on CPU it repacks 4-bit weights
        with fast_layers(self.model):
            if self.compact is None:
                self.compact = self._head_is_plain(data.rows[0])
            reference: list[Any] = [None] * len(data.rows)
            if self.settings.kl:  # once for all epochs of the step
                with self.start_weights():
                    reference = self.log_probs(data.rows)
            pieces = [
                {"input_ids": self._ids(row), "row": row, "reference": known, "index": index}
                for index, (row, known) in enumerate(zip(data.rows, reference, strict=True))
            ]
            taught = [piece for piece in pieces if piece["row"].teaches or self.settings.kl]
            learnt: list[dict[str, Any]] = []
            if taught:
                share = self.settings.sft_weight * data.episodes / max(1, len(data.sft))  # the sum is over the episodes
                learnt = [{"input_ids": self._ids(row), "sft": row, "share": share} for row in data.sft]
                taught += learnt
            seen = self._measure([] if self.settings.kl else [one for one in pieces if not one["row"].teaches])
            loss = norm = 0.0
            updated = False
            clipped: list[float] = []
            for epoch in range(self.settings.epochs if taught else 0):
                found: dict[int, dict[str, float]] = {}
                loss, norm, made = self._optimizer_step(taught, data.episodes, found)
                updated = updated or made
                if taught_alone := {at: one for at, one in found.items() if data.rows[at].teaches}:
                    clipped.append(_share(taught_alone, "clipped"))  # with --kl, `found` has all rows
                seen |= {} if epoch else found
        self.model.eval()
        sft_loss = {"sft_loss": sum(one["loss"] for one in learnt) / len(learnt)} if learnt else {}
        return _figures(seen, updated=updated, loss=loss, grad_norm=norm, clip_shares=clipped) | sft_loss

    def _sft_loss(self, piece: dict[str, Any]) -> Any:
        """The SFT loss per token of a session of --sft-data, with its share of the step's loss."""
        import torch

        places = torch.tensor(piece["sft"].places, device=self.model.device)
        found = token_log_probs(self.model, piece["input_ids"][0], places, 1.0, compact=bool(self.compact))
        piece["loss"] = -float(found[0].detach().mean())
        return -found[0].mean() * piece["share"]

    def _ids(self, row: PolicyRow | SftRow) -> Any:
        import torch

        return torch.tensor([list(row.token_ids)], device=self.model.device)

    def _head_is_plain(self, row: PolicyRow) -> bool:
        ids = list(row.token_ids)
        return head_is_plain(self.model, {"input_ids": ids, "labels": ids})

    def _log_probs(self, piece: dict[str, Any], *, with_entropy: bool = True) -> tuple[Any, Any]:
        import torch

        row: PolicyRow = piece["row"]
        places = torch.tensor(row.places, device=self.model.device)
        return token_log_probs(
            self.model, piece["input_ids"][0], places, row.temperature, compact=bool(self.compact),
            with_entropy=with_entropy,
        )  # fmt: skip

    @contextmanager
    def start_weights(self) -> Iterator[None]:
        """Inside the block the adapter has the weights of the start adapter."""
        import torch

        now = {name: weight.detach().clone() for name, weight in self.named.items()}
        with torch.no_grad():
            for name, weight in self.named.items():
                weight.copy_(self.start[name])
        try:
            yield
        finally:
            with torch.no_grad():
                for name, weight in self.named.items():
                    weight.copy_(now[name])

    def log_probs(self, rows: Sequence[PolicyRow]) -> list[Any]:
        """The log-probs of each row's sampled tokens, (T,), with the weights as they are now."""
        import torch

        with torch.no_grad(), self.autocast():
            return [self._log_probs({"row": row, "input_ids": self._ids(row)}, with_entropy=False)[0] for row in rows]

    def _measure(self, pieces: Sequence[dict[str, Any]]) -> dict[int, dict[str, float]]:
        """The figures of rows without an advantage, which need no gradient."""
        import torch

        seen: dict[int, dict[str, float]] = {}
        with torch.no_grad(), self.autocast():
            for piece in pieces:
                self._loss(piece, seen)
        return seen

    def _loss(self, piece: dict[str, Any], seen: dict[int, dict[str, float]]) -> Any:
        """The loss of one row; its figures are entered in `seen`, which several threads may share."""
        if "sft" in piece:
            return self._sft_loss(piece)
        row: PolicyRow = piece["row"]
        log_probs, entropies = self._log_probs(piece)
        loss, clipped, kl = surrogate(log_probs, row, self.settings, piece["reference"])
        apart = (log_probs.detach().cpu() - log_probs.new_tensor(row.old).cpu()).abs()
        seen[piece["index"]] = {
            "tokens": len(row.places),
            "difference": float(apart.sum()),
            "largest": float(apart.max()),
            "entropy": float(entropies.sum()),
            "clipped": float(clipped.sum()),
            "kl": 0.0 if kl is None else float(kl.detach().sum()),
        }
        return loss

    def _optimizer_step(
        self, pieces: Sequence[dict[str, Any]], episodes: int, seen: dict[int, dict[str, float]]
    ) -> tuple[float, float, bool]:
        """One optimizer step on the rows; returns the loss and the norm of the gradients before they are clipped.

        The third value is False where fp16 overflowed: then the scaler halves its scale and no weight changes.
        """
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        objective = Objective(
            collate=lambda rows: {"rows": rows},
            pieces=lambda batch: iter(batch["rows"]),
            loss=lambda model, piece: self.scaler.scale(self._loss(piece, seen)),
        )
        if self.on_cpu:
            total = add_gradients(self.model, {"rows": pieces}, episodes, self.autocast, objective)
        else:
            total = torch.zeros((), device=self.model.device)
            for piece in pieces:
                with self.autocast():
                    loss = objective.loss(self.model, piece) / episodes
                loss.backward()
                total += loss.detach()
        scale = self.scaler.get_scale()
        loss = float(total) / scale
        self.scaler.unscale_(self.optimizer)
        norm = float(torch.nn.utils.clip_grad_norm_(self.named.values(), MAX_GRAD_NORM))
        if not math.isfinite(loss):
            raise BadInputError(f"--lr: the loss is {loss}; lower --lr, or compute in --dtype fp32")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        made = self.scaler.get_scale() >= scale
        if not made and self.scaler.get_scale() < MIN_SCALE:
            raise BadInputError(
                f"--lr: fp16 overflows at every scale down to {scale:g}; lower --lr, or use --dtype fp32"
            )
        return loss, norm, made

    def save(self, directory: Path) -> None:
        """Write adapter, optimizer and gradient scaler to a directory."""
        from safetensors.torch import save_file

        self.model.save_pretrained(directory)
        tensors = {
            f"{index}.{name}": value.contiguous()
            for index, entry in self.optimizer.state_dict()["state"].items()
            for name, value in entry.items()
        }
        save_file(tensors, directory / OPTIMIZER)
        write_json(directory / SCALER, self.scaler.state_dict())

    def load(self, directory: Path) -> None:
        """Go on from what `save` wrote."""
        from peft import load_peft_weights, set_peft_model_state_dict
        from safetensors.torch import load_file

        set_peft_model_state_dict(self.model, load_peft_weights(str(directory), device="cpu"))
        entries: dict[int, dict[str, Any]] = {}
        for key, value in load_file(directory / OPTIMIZER).items():
            index, _, name = key.partition(".")
            entries.setdefault(int(index), {})[name] = value
        if entries:
            self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": entries})
        self.scaler.load_state_dict(read_json(directory / SCALER))


def _share(found: dict[int, dict[str, float]], name: str) -> float:
    """The sum of a figure over the tokens of all rows, in the order of the rows."""
    return sum(found[index][name] for index in sorted(found)) / sum(one["tokens"] for one in found.values())


def _figures(
    seen: dict[int, dict[str, float]],
    *,
    updated: bool,
    loss: float = 0.0,
    grad_norm: float = 0.0,
    clip_shares: Sequence[float] = (),
) -> dict[str, Any]:
    """The figures of a step; None where there was no token."""
    return {
        "loss": loss,
        "grad_norm": grad_norm,
        "updated": updated,
        "trained_tokens": round(sum(one["tokens"] for one in seen.values())),
        "log_prob_difference_mean": _share(seen, "difference") if seen else None,
        "log_prob_difference_max": max(one["largest"] for one in seen.values()) if seen else None,
        "entropy": _share(seen, "entropy") if seen else None,
        "clip_share": sum(clip_shares) / len(clip_shares) if clip_shares else None,
        "kl": _share(seen, "kl") if seen else None,
    }
