"""Sample scripted replies instead of a model's: a stand-in that answers at once, or when it is told to."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

from agents.backend import BackendError, Sampled, Sampling
from agents.canonical import ChatMessage
from agents.templates import ChatTemplate


class ScriptedBackend:
    """Writes the given messages one after the other, the last one for ever; each id has log-probability -0.5.

    While `held` is set, nothing is sampled. While it is `deaf`, it samples to the end
    what was cancelled. An error in the script is raised as the backend's.
    """

    name = "scripted"

    def __init__(self, template: ChatTemplate, script: Sequence[ChatMessage | str], context_tokens: int = 4096) -> None:
        self.template, self.script, self.context_tokens = template, list(script), context_tokens
        self.held = threading.Event()
        self.asked: list[tuple[list[int], Sampling]] = []
        self.deaf = False
        self.cancelled = 0
        self.under_way = 0

    async def sample(
        self, context_ids: list[int], sampling: Sampling, cancelled: threading.Event, *, request: Any = None
    ) -> Sampled:
        """The next message of the script, cut to the most new tokens."""
        self.asked.append((context_ids, sampling))
        message = self.script[min(len(self.asked), len(self.script)) - 1]
        self.under_way += 1
        try:
            while self.held.is_set() and (self.deaf or not cancelled.is_set()):
                await asyncio.sleep(0.01)
        finally:
            self.under_way -= 1
        if cancelled.is_set() and not self.deaf:
            self.cancelled += 1
            return Sampled([], [], "cancelled")
        if isinstance(message, str):
            raise BackendError(message)
        ids = self.template.write(message)
        kept = ids[: sampling.max_new_tokens]
        return Sampled(kept, [-0.5] * len(kept), "stop" if len(kept) == len(ids) else "length")

    def state(self) -> dict[str, int]:
        """Samples under way; none wait."""
        return {"sampling": self.under_way, "waiting": 0}
