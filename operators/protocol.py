"""State what an operator is: whatever picks the next command."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schema import Message, OperatorInfo, Scenario


class OperatorError(Exception):
    """The operator's world failed (endpoint dead, refused, unintelligible): voids the attempt."""


class ContextFullError(Exception):
    """The next command does not fit into the model's context."""


class CancelledError(Exception):
    """The run was interrupted while the operator was thinking."""


@dataclass(frozen=True)
class Move:
    """One operator turn: its text, and the sampled ids with their log-probs where the operator is local."""

    text: str
    token_ids: list[int] | None = None
    log_probs: list[float] | None = None


@dataclass(frozen=True)
class Tokens:
    """A session as the model really read and wrote it; one entry per token up to the last operator turn's end."""

    token_ids: list[int]
    assistant_mask: list[int]
    log_probs: list[float | None]


class Operator(Protocol):
    """Whatever picks the next command. One instance plays one session at a time."""

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session. Only the reference operator may look into the scenario."""

    def command(self, messages: Sequence[Message]) -> Move:
        """The next command after `messages`, which end in a prompt. Raises OperatorError, ContextFullError."""

    def info(self) -> OperatorInfo:
        """Who this is, exactly enough to do it again."""

    def tokens(self) -> Tokens | None:
        """The session's tokens where the operator is local, else None."""
