"""Cut an operator's commands into the tokens that it sampled, each with its log-probability.

The texts of tokens need the base's tokenizer; its weights are never read. A session gets no shade where the tokenizer
is not there, or where its tokens do not add up to the commands that the record holds. An agent program's commands lie
in calls, so the whole replies of the model are cut instead.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from model.render import Renderer
from schema import BadInputError, Trajectory

Piece = tuple[str, float | None]  # text, log-probability


class Shader:
    """Decodes recorded tokens; loads each base's tokenizer once."""

    def __init__(self) -> None:
        self._renderers: dict[str, Renderer | None] = {}
        self.without: dict[str, str] = {}  # base -> why its sessions have no shade

    def tokens(self, episode: Trajectory) -> list[list[Piece]] | None:
        """The pieces of each turn; None where nothing was recorded or nothing can be decoded."""
        if episode.token_ids is None or episode.assistant_mask is None or episode.log_probs is None:
            return None
        renderer = self._renderer(episode.operator.model or "")
        if renderer is None:
            return None
        turns = sampled_turns(episode.token_ids, episode.assistant_mask, episode.log_probs, renderer)
        commands = episode.commands[: len(turns)]
        texts = ["".join(text for text, _ in turn) for turn in turns]
        whole = [text.startswith(command) for text, command in zip(texts, commands, strict=False)]
        return turns if whole and all(whole) else None

    def replies(self, episode: Trajectory) -> list[list[Piece]] | None:
        """The pieces of each reply in an agent program's segments; None without records or tokenizer."""
        if not episode.segments or (renderer := self._renderer(episode.operator.model or "")) is None:
            return None
        return [
            turn
            for one in episode.segments
            for turn in sampled_turns(one.token_ids, one.assistant_mask, one.log_probs, renderer)
        ]

    def _renderer(self, base: str) -> Renderer | None:
        """What decodes this base's tokens; None where it is no directory here or holds no tokenizer."""
        if base not in self._renderers:
            self._renderers[base] = None
            if not Path(base).is_dir():
                self.without[base] = f"log-probs are recorded, but {base!r} is no directory here: no shade"
                return None
            from training.run import load_tokenizer

            try:
                self._renderers[base] = Renderer.for_base(load_tokenizer(base))
            except BadInputError as error:
                self.without[base] = f"log-probs are recorded, but {error}: no shade"
        return self._renderers[base]


def sampled_turns(
    token_ids: Sequence[int], mask: Sequence[int], log_probs: Sequence[float | None], renderer: Renderer
) -> list[list[Piece]]:
    """The pieces of each run of sampled tokens; the three lists are equally long."""
    return [
        pieces_of([(token_ids[at], log_probs[at]) for _, at in group], renderer)
        for on, group in groupby(zip(mask, range(len(token_ids)), strict=True), _is_on)
        if on
    ]


def _is_on(pair: tuple[int, int]) -> bool:
    return pair[0] == 1


def pieces_of(sampled: Sequence[tuple[int, float | None]], renderer: Renderer) -> list[Piece]:
    """The text and log-probability of each token; tokens that only together are a character become one piece."""
    pieces: list[Piece] = []
    ids: list[int] = []
    total: float | None = None
    for id_, log_prob in sampled:
        ids.append(id_)
        if log_prob is not None:
            total = (total or 0.0) + log_prob
        text = renderer.decode(ids)
        if not text.endswith("\N{REPLACEMENT CHARACTER}"):
            pieces.append((text, total))
            ids, total = [], None
    return [*pieces, (renderer.decode(ids), total)] if ids else pieces
