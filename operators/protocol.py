"""Define what an operator is: whatever picks the next command of a session.

    operator.begin(scenario, seed=1)
    operator.command(messages).text      # messages end in a prompt
    operator.info()

endpoint.py, local.py and reference.py hold the three operators; episode.py plays a session with one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schema import Message, OperatorInfo, Scenario, Usage


class OperatorError(Exception):
    """The operator failed for a reason outside the session, such as a dead endpoint. The attempt is void."""


class UnusableAnswerError(OperatorError):
    """The endpoint answered, and with nothing that can be used. The attempt is void, and it counts as an attempt."""


class ContextFullError(Exception):
    """The next command does not fit into the model's context. `usage` is what the call took that found out, if any."""

    def __init__(self, text: str, usage: Usage | None = None) -> None:
        super().__init__(text)
        self.usage = usage


class CancelledError(Exception):
    """The run was interrupted while the operator picked its command."""


@dataclass(frozen=True)
class Move:
    """One operator turn: its text, what the call took and, of a local operator, the sampled ids with log-probs."""

    text: str
    token_ids: list[int] | None = None
    log_probs: list[float] | None = None
    usage: Usage | None = None  # of this call; the time is added by whoever calls


@dataclass(frozen=True)
class Tokens:
    """The tokens that a local model read and wrote in a session, up to the end of its last turn.

    The three lists have one entry per token; `log_probs` is None where the token was not sampled.
    """

    token_ids: list[int]
    assistant_mask: list[int]
    log_probs: list[float | None]


class Operator(Protocol):
    """Whatever picks the next command. One instance serves one session at a time."""

    def begin(self, scenario: Scenario, seed: int) -> None:
        """Start a session. Only the reference operator may use the scenario."""

    def command(self, messages: Sequence[Message]) -> Move:
        """The next command after `messages`, which end in a prompt.

        Raises OperatorError (UnusableAnswerError too), ContextFullError and CancelledError.
        """

    def info(self) -> OperatorInfo:
        """What the trajectory records of this operator: enough to run it again."""

    def tokens(self) -> Tokens | None:
        """The session's tokens if the operator is local, else None."""
