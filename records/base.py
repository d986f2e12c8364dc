"""What records share: the model they are made of, errors, outcomes, who acted and what it took, sessions, hashes."""

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Outcome = Literal[
    "exit", "panic", "max_steps", "context_full", "locked_out", "operator_failed", "sandbox_failed", "checker_failed",
    "cancelled", "ended", "max_seconds", "max_tokens",
]  # fmt: skip
Subject = Literal["base", "clean_up", "adapter"]  # of an eval
VOIDED: frozenset[str] = frozenset({"operator_failed", "sandbox_failed", "cancelled"})


class BadInputError(ValueError):
    """The user's mistake or bad data: one line that names the file, the field and the remedy; exit code 2."""


class WorldError(RuntimeError):
    """Something outside this project failed, e.g. Docker: one line; exit code 1; a rerun may succeed."""


class Record(BaseModel):
    """What all records share: immutable, and no field that the schema does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Usage(Record):
    """What an episode's calls of the operator took; input counts at each call all that the operator reads."""

    calls: int = 0
    input_tokens: int = Field(default=0, description="read at the calls, without cached ones")
    cached_input_tokens: int = Field(default=0, description="read at the calls, and held from an earlier call")
    output_tokens: int = 0
    seconds: float = Field(default=0.0, description="from call to answer; calls at once share them")
    estimated: bool = Field(default=False, description="tokens are characters / 4, of an operator that has none")


class OperatorInfo(Record):
    """Who drove the shell, exactly enough to do it again."""

    kind: Literal["endpoint", "local", "reference", "stub", "agent"]
    agent: str | None = Field(default=None, description="the agent program; the model answers it")
    model: str | None = Field(default=None, description="name at the endpoint, or the base that was loaded")
    adapter_hash: str | None = Field(default=None, description="SHA-256 of the adapter's weights")
    sampling: dict[str, Any] = Field(default={}, description="temperature, max_new_tokens and so on")
    seed: int | None = None


class TrainedSession(Record):
    """A session that an adapter was trained on."""

    scenario_id: str
    content_hash: str = Field(description="of the scenario")
    archetype: str
    trajectory_id: str


def canonical(value: Any) -> bytes:
    """Sorted, compact JSON bytes: the form that hashes are taken of."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def sha256(content: bytes) -> str:
    """The hex SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()
