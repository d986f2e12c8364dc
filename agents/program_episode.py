"""Play one episode whose operator is an agent program inside the sandbox.

    play_program(AGENTS["plain"], endpoint, Episode(scenario), operator=info, limits=limits, pool=sandboxes)

The program runs as the operator's user, in its own image, without a network; a relay leads to the endpoint. It is told
what the record says of the machine and the login, and no task. The session ends at the terminal: a call of the shell
tool, or a last answer without a call, whose whole text is `exit`, `exit N`, `panic` or `panic <reason>`. Nothing is
asked of the model after it. A program that ends by itself without one has outcome `ended`.
Graded as every episode: from the final state, in the second container.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.app import EndpointServer
from agents.backend import Backend
from agents.canonical import ChatMessage, ToolCall, call_id, key
from agents.endpoint_session import EndpointSession, SessionLimits
from agents.known import AgentProgram
from agents.provenance import AgentSession, Request
from agents.relay import PORT, Relay
from agents.seccomp import agent_seccomp
from model.render import login, session_messages
from operators.episode import Episode, graded
from pipeline.verdicts import terminal_of, verdict_of
from sandbox.checker import KILLED
from sandbox.containers import OPERATOR_UID, Process, SandboxError, SandboxOptions, docker_call
from sandbox.session import OPERATOR, LockedOutError, Session, SessionSource, end_of, is_running, session
from sandbox.wrapper import LOGIN, CappedOutput
from schema import HOME, VOIDED, AgentRun, Message, OperatorInfo, Outcome, Scenario, Step, Trajectory

READY = 'until [ -e /run/op/ready ]; do :; done; exec "$@"'
OUTPUT_BYTES = 1 << 16  # of the program's own output that are kept
SPARE_SECONDS = 600.0  # of a sandbox's lifetime beside the program's: start, checker, a slow Docker
ENDING_SECONDS = 10.0  # between the end of a container's processes and its own
RECORD_SECONDS = 30.0  # for a reply that is being recorded when its session is closed
FACTS = (
    "This is a Linux machine with a busybox userland, dash as its shell, and no network. "
    f"The user is operator, uid {OPERATOR_UID}, and the home directory is {HOME}."
)


@dataclass(frozen=True)
class ProgramLimits:
    """The budgets of one episode: replies of the model, wall-clock, sampled tokens, and the checker's seconds."""

    max_steps: int = 30
    max_seconds: float = 900.0
    max_tokens: int = 32_768
    timeout_seconds: float = 30.0


@dataclass
class ProgramWatch:
    """Sees each reply and says when the session is over. Called from the endpoint's threads, several at once.

    A request without tools, or one that the session's rule names, is a side call (a title, a summary): its tokens
    count, and it is no turn. Once the session is over, replies to requests that were under way are no turns either.

    A program whose context is full may shorten it and go on. The session is over where the program ends, or sends
    another request that is too long, before a request with tools was answered.
    """

    program: AgentProgram
    limits: ProgramLimits
    told: Callable[[str], None] | None = None
    relay: Relay | None = None
    session: EndpointSession | None = None
    replies: list[tuple[Request, ChatMessage]] = field(default_factory=list)
    sampled_tokens: int = 0
    side_calls: int = 0
    over: Outcome | None = None
    error: str | None = None
    overflow: str | None = None  # what is wrong with a request that was too long, until a later one is answered
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __call__(self, request: Request, message: ChatMessage, token_ids: Sequence[int]) -> bool:
        """Take a reply; at the terminal or a limit the session is over, and nothing more is asked of the model."""
        with self._lock:
            self.sampled_tokens += len(token_ids)
            if request.side_call or not request.tools:
                self.side_calls += 1
            elif self.over is None:
                self._turn(request, message)
            if self.sampled_tokens >= self.limits.max_tokens:
                self._end("max_tokens")
            return self.over is not None

    def _turn(self, request: Request, message: ChatMessage) -> None:
        self.replies.append((request, message))
        self.overflow = None
        commands = typed_in(self.program, message)
        if self.told:
            for command in commands:
                self.told(command)
        ending = terminal_of(commands[-1]) if commands else None
        if ending:
            self._end(ending.kind)
        elif len(self.replies) >= self.limits.max_steps:
            self._end("max_steps")

    def failed(self, outcome: Outcome, error: str) -> None:
        """Take the reason why a request had no answer. The session is over, but for the first context that is full."""
        with self._lock:
            if outcome == "context_full" and self.overflow is None:
                self.overflow = error
            else:
                self._end(outcome, error)

    def see_tokens(self) -> None:
        """End where the session's tokens are used up. It counts those of replies that the program never got, too."""
        if self.session and self.session.tokens_used_up():
            self._end("max_tokens", "all tokens are used, some of them by replies that the program never got")

    def _end(self, outcome: Outcome, error: str | None = None) -> None:
        """The session is over for the first reason that is given."""
        with self._lock:
            if self.over is None:
                self.over, self.error = outcome, error
        if self.relay:
            self.relay.shut.set()

    def at_once(self) -> bool:
        """True where the program has nothing left to run: its last reply calls the terminal, or the model failed."""
        calls = self.replies[-1][1].tool_calls if self.replies else ()
        return self.over in VOIDED or (self.over in ("exit", "panic") and len(calls) == 1)


def typed_in(program: AgentProgram, message: ChatMessage) -> list[str]:
    """What a reply types: the shell's commands, other calls as JSON; without a call, its text."""
    if not message.tool_calls:
        return [message.content]
    return [_typed(program, call) for call in message.tool_calls]


def _typed(program: AgentProgram, call: ToolCall) -> str:
    command = (call.arguments or {}).get("command")
    if call.name == program.shell_tool and isinstance(command, str):
        return command
    return json.dumps({"tool": call.name, "arguments": call.arguments or call.raw}, sort_keys=True, ensure_ascii=False)


def turns_in(program: AgentProgram, watch: ProgramWatch) -> list[tuple[str, str | None, int | None]]:
    """All (command, output, exit code) in the order of the replies; no output where the model was never shown one.

    A reply's outputs are in the first later request that has the reply and all messages before it unchanged.
    """
    turns = []
    for index, (request, message) in enumerate(watch.replies):
        at, history = len(request.messages), [*request.keys, key(message)]
        going_on = (later for later, _ in watch.replies[index + 1 :] if later.keys[: at + 1] == history)
        shown = next((later.messages for later in going_on), [])
        outputs = {one.tool_call_id: one.content for one in shown if one.role == "tool"}
        for place, command in enumerate(typed_in(program, message)):
            output = outputs.get(call_id(at, place))
            turns.append((command, *(program.read_result(output) if output is not None else (None, None))))
    return turns


def program_options(program: AgentProgram, limits: ProgramLimits, world: str) -> SandboxOptions:
    """Of the sandboxes of a program; `world` is the image that the scenarios know."""
    return SandboxOptions(
        image=program.image(world), lifetime_seconds=limits.max_seconds + SPARE_SECONDS,
        memory_bytes=program.memory_bytes, seccomp=agent_seccomp(),
    )  # fmt: skip


def play_program(
    program: AgentProgram,
    endpoint: EndpointServer,
    episode: Episode,
    *,
    operator: OperatorInfo,
    limits: ProgramLimits,
    pool: SessionSource,
    backend: Backend | None = None,
    cancelled: threading.Event | None = None,
    told: Callable[[str], None] | None = None,
) -> Trajectory:
    """Play an episode in a fresh container and record it; a broken sandbox or endpoint becomes the outcome.

    `operator` is recorded, and its seed is that of the samples; `pool` has the sandboxes, with `program_options`;
    `backend` answers instead of the endpoint's own; `told` takes each command.
    """
    scenario, cancelled, secret = episode.scenario, cancelled or threading.Event(), secrets.token_hex(16)
    watch, run, shell = ProgramWatch(program, limits, told), ProgramRun(), None
    caps = SessionLimits(limits.max_steps, limits.max_tokens, side_calls_are_turns=False)
    recorded = endpoint.open_session(secret, caps, watch, backend, seed=operator.seed)
    outcome: Outcome = "sandbox_failed"
    error, verified, changes = None, False, None
    watch.session = recorded
    try:
        with session(
            scenario.world_fixtures(), provider=(scenario.provider.path, scenario.provider.source),
            environment=scenario.environment(), options=pool.options, pool=pool,
        ) as shell:  # fmt: skip
            doing = docker_call(f"run {program.name} in {shell.container}")
            with doing, Relay(shell.container, endpoint.address) as relay:
                watch.relay = relay
                outcome, error = run.follow(shell, scenario, secret, watch, cancelled)
            endpoint.close_session(secret)
            if outcome not in VOIDED:
                verified, changes, failed = graded(scenario, shell, limits.timeout_seconds)
                if failed is not None:
                    outcome, error = "checker_failed", failed
    except LockedOutError as locked_out:
        outcome, error, verified = "locked_out", str(locked_out), False
    except SandboxError as failure:
        outcome = "cancelled" if cancelled.is_set() else "sandbox_failed"
        error, verified = str(failure), False
    finally:
        endpoint.close_session(secret)
    await_records(recorded)
    turns = turns_in(program, watch)
    verdict = verdict_of(
        expected=scenario.terminal, commands=[command for command, _, _ in turns], outcome=outcome, verified=verified
    )
    return Trajectory(
        id=episode.id, scenario_id=scenario.id, scenario_hash=scenario.content_hash, axes=scenario.axes(),
        taxonomy=scenario.taxonomy, operator=operator, messages=program_messages(scenario, turns),
        steps=program_steps(turns), terminal=verdict.terminal, verified=verdict.verified,
        command_only=verdict.command_only, outcome=outcome, attempt=episode.attempt, kept=verdict.kept,
        reasons=list(verdict.reasons), error=error, changes=changes,
        image_digest=shell.image_digest if shell else None, transport="agent",
        segments=None if outcome in VOIDED else recorded.segments(), agent_run=run.record(recorded.counts()),
    )  # fmt: skip


def await_records(recorded: AgentSession) -> None:
    """Wait until the calls of a closed session are recorded or discarded, RECORD_SECONDS at most."""
    deadline = time.monotonic() + RECORD_SECONDS
    while recorded.counts()["unfinished_requests"] and time.monotonic() < deadline:
        time.sleep(0.01)


def require_running(container: str) -> None:
    """Raise what `end_of` says where a container has ended, or ends within ENDING_SECONDS.

    Its processes are killed first, and Docker removes it at once.
    """
    deadline = time.monotonic() + ENDING_SECONDS
    while time.monotonic() < deadline:
        if not is_running(container):
            raise end_of(container)
        time.sleep(0.1)


@dataclass
class ProgramRun:
    """The program's process: its output and how it ended."""

    output: CappedOutput = field(default_factory=lambda: CappedOutput(OUTPUT_BYTES))
    exit_code: int | None = None
    seconds: float = 0.0

    def follow(
        self, shell: Session, scenario: Scenario, secret: str, watch: ProgramWatch, cancelled: threading.Event
    ) -> tuple[Outcome, str | None]:
        """Start the program and read its output until it ends or the session is over. Raises SandboxError."""
        variables = {**LOGIN, **scenario.environment()}
        prompt = f"{FACTS}\n\n{login(scenario)}"
        command = [
            "/usr/bin/env", "-i", *(f"{key}={value}" for key, value in variables.items()), "/usr/bin/dash", "-c", READY,
            "agent", "/usr/bin/env", *watch.program.command(prompt, f"http://127.0.0.1:{PORT}", secret),
        ]  # fmt: skip
        process = Process(shell.container, command, user=OPERATOR, workdir=HOME)
        began = time.monotonic()
        try:
            why = self._wait(process, shell, watch, began, cancelled)
            if why is None:
                if watch.session is not None:
                    watch.session.close()  # its last reply may still be on its way into the record, and decides
                self.exit_code = process.exit_code()
                if self.exit_code in (None, KILLED):
                    require_running(shell.container)
        finally:
            self.seconds = round(time.monotonic() - began, 3)
            process.close()
        return self._outcome(why, watch)

    def _wait(
        self, process: Process, shell: Session, watch: ProgramWatch, began: float, cancelled: threading.Event
    ) -> Outcome | None:
        """Why the program is to be stopped, or None where it has ended by itself."""
        over_since: float | None = None
        while process.pump(self.output.feed, time.monotonic() + 0.05) is None:
            watch.see_tokens()
            now = time.monotonic()
            if cancelled.is_set():
                return "cancelled"
            if now - began > watch.limits.max_seconds:
                return watch.over or "max_seconds"
            if watch.relay and watch.relay.error:
                if watch.relay.lost:
                    raise SandboxError(watch.relay.error)
                require_running(shell.container)
                raise LockedOutError(watch.relay.error)  # the program's doing: its memory is the relay's too
            if watch.over:
                over_since = over_since or now
                asked = watch.relay is not None and watch.relay.asked_again.is_set()
                if watch.at_once() or asked or now - over_since > watch.limits.timeout_seconds:
                    return watch.over
        watch.see_tokens()
        return None

    def _outcome(self, why: Outcome | None, watch: ProgramWatch) -> tuple[Outcome, str | None]:
        if why == "cancelled" or watch.error:
            return why or watch.over or "ended", watch.error
        if why is None and watch.over is None and watch.overflow:
            return "context_full", watch.overflow
        if not watch.replies:
            said = self.output.text().strip()[-300:]
            ended = "was stopped at its time limit" if why else f"ended with {self.exit_code}"
            had = "never had an answer"
            if watch.side_calls:
                had = f"had {watch.side_calls} answers, none to a request with tools that is no title or summary"
            return "operator_failed", f"the agent program {ended} and {had}: {said!r}"
        if watch.over or why:
            return watch.over or why or "ended", None
        return "ended", f"the agent program ended with {self.exit_code} and typed no terminal"

    def record(self, counts: dict[str, int]) -> AgentRun:
        """What the trajectory keeps of it; `counts` are the endpoint's."""
        return AgentRun(
            exit_code=self.exit_code, seconds=self.seconds, output=self.output.text(),
            output_bytes=self.output.total, counts=counts,
        )  # fmt: skip


def program_messages(scenario: Scenario, turns: Sequence[tuple[str, str | None, int | None]]) -> list[Message]:
    """The session as a record keeps it: the facts, the login, then prompt, command and output in turn."""
    last = len(turns) - 1
    shown = [(command, output if at == last else output or "") for at, (command, output, _) in enumerate(turns)]
    return [Message(role="system", content=FACTS), *session_messages(scenario, shown)[1:]]


def program_steps(turns: Sequence[tuple[str, str | None, int | None]]) -> list[Step]:
    """The commands whose output the model was shown."""
    return [
        Step(
            command=command, output=output, output_bytes=len(output.encode()), exit_code=code, cwd="",
            duration_seconds=0.0,
        )
        for command, output, code in turns
        if output is not None
    ]  # fmt: skip
