"""Answer an agent program's requests by a rule instead of a model, as a model would: in token ids.

    policy = ReferencePolicy(ReferenceOperator(), scenario, AGENTS["plain"], seed=1)
    server.open_session(secret, backend=PolicyBackend("reference", template, policy))

With the reference operator as the policy every scenario can be solved, so what fails then is the fault of what lies
between program and grade. Log-probabilities are 0.0: what a rule says is certain.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Sequence

from agents.backend import Sampled, Sampling
from agents.canonical import ChatMessage, ToolCall
from agents.known import AgentProgram
from agents.provenance import Request
from agents.templates import ChatTemplate
from model.render import start_prompt
from operators.protocol import Operator
from pipeline.verdicts import terminal_of
from schema import Message, Scenario

# Programs that run each command in a shell of its own forget these; the policy repeats them before the next command.
KEPT_BY_A_SHELL = re.compile(r"(?:cd|export|umask|[A-Za-z_]\w*=\S*)(?: [^;&|<>\n]*)?")
CONTEXT_TOKENS = 1 << 20  # a rule reads contexts of any length
AnswerPolicy = Callable[[Request], ChatMessage]


class PolicyBackend:
    """A policy in the place of a model, for one session. Keeps what it sampled, reply by reply."""

    def __init__(
        self, name: str, template: ChatTemplate, policy: AnswerPolicy, context_tokens: int = CONTEXT_TOKENS
    ) -> None:
        self.context_tokens = context_tokens
        self.name, self.template, self.policy = name, template, policy
        self.sampled: list[list[int]] = []

    async def sample(
        self, context_ids: list[int], sampling: Sampling, cancelled: threading.Event, *, request: Request
    ) -> Sampled:
        """The policy's answer, cut to the most new tokens. Raises BackendError, as the policy may."""
        whole = await asyncio.to_thread(lambda: self.template.write(self.policy(request)))
        ids = whole[: sampling.max_new_tokens]
        self.sampled.append(ids)
        return Sampled(ids, [0.0] * len(ids), "stop" if len(ids) == len(whole) else "length")

    def state(self) -> dict[str, int]:
        """Nothing takes long here."""
        return {"sampling": 0, "waiting": 0}


class ReferencePolicy:
    """The reference operator in the words of one agent program. One instance serves one episode."""

    def __init__(self, operator: Operator, scenario: Scenario, program: AgentProgram, *, seed: int) -> None:
        self.operator, self.program = operator, program
        self.kept: list[str] = []  # what a single shell would remember
        operator.begin(scenario, seed)

    def __call__(self, request: Request) -> ChatMessage:
        """The next answer: one call of the shell, or the terminal as the last words. Side calls have no tools."""
        if not request.tools:
            return ChatMessage("assistant", "A session in a shell")
        command = self.operator.command(self._seen(request.messages)).text
        if terminal_of(command) and self.program.ends_with == "text":
            return ChatMessage("assistant", command)
        typed = command if terminal_of(command) else "\n".join([*self.kept, command])
        if KEPT_BY_A_SHELL.fullmatch(command):
            self.kept.append(command)
        call = ToolCall("", self.program.shell_tool, {"command": typed})
        return ChatMessage("assistant", tool_calls=(call,))

    def _seen(self, messages: Sequence[ChatMessage]) -> list[Message]:
        """The conversation as the operator knows it: user turns are what the screen shows."""
        seen = []
        for message in messages:
            if message.role == "assistant":
                commands = [str((call.arguments or {}).get("command", "")) for call in message.tool_calls]
                seen.append(Message(role="assistant", content="\n".join(commands)))
            elif message.role == "tool":
                if output := self.program.read_result(message.content)[0]:
                    seen.append(Message(role="user", content=output))
            else:
                seen.append(Message(role=message.role, content=message.content))
        return [*seen, *start_prompt()]
