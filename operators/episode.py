"""Play one episode: the operator acts, the checker verifies, the trajectory is recorded."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from model.render import opening, session_messages, start_prompt
from operators.protocol import CancelledError, ContextFullError, Operator, OperatorError, UnusableAnswerError
from pipeline.costs import total_usage
from pipeline.verdicts import terminal_of, verdict_of
from sandbox.containers import LIFETIME_SECONDS, SandboxError, SandboxOptions, image_tools
from sandbox.session import TRANSPORT, LockedOutError, Session, SessionSource, session
from sandbox.tree import changes_between, tree_of
from sandbox.wrapper import WRAPPER_HASH
from schema import VOIDED, Changes, Outcome, Scenario, Step, Trajectory, Usage


class SharedTime:
    """Divides the time among the calls under way: n of them for a second took 1 / n seconds each.

    calls = SharedTime()
    with calls.one() as seconds:
        ...
        seconds()       # this call's share so far
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._active, self._share, self._at = 0, 0.0, clock()

    def _advance(self) -> float:
        """What a call that was under way since the beginning would have taken by now. The caller holds the lock."""
        now = self._clock()
        self._share += (now - self._at) / max(1, self._active)
        self._at = now
        return self._share

    @contextmanager
    def one(self) -> Iterator[Callable[[], float]]:
        """A call; gives a function that returns its share in seconds."""
        with self._lock:
            began = self._advance()
            self._active += 1

        def seconds() -> float:
            with self._lock:
                return self._advance() - began

        try:
            yield seconds
        finally:
            with self._lock:
                self._advance()
                self._active -= 1


CALLS = SharedTime()  # of every operator in this process
TURN_SECONDS = 900.0  # for an operator's turn, retries at a slow endpoint included, and for a slow Docker


@dataclass(frozen=True)
class EpisodeLimits:
    """What bounds an episode: operator turns, and the seconds of each command and of the checker."""

    max_steps: int
    timeout_seconds: float

    def lifetime_seconds(self) -> float:
        """How long a sandbox must live, so that no session is cut off for being slow."""
        return max(LIFETIME_SECONDS, (self.max_steps + 1) * (self.timeout_seconds + TURN_SECONDS))


@dataclass(frozen=True)
class Episode:
    """One planned episode: a sample of a scenario, for the first time or again."""

    scenario: Scenario
    sample: int = 0
    attempt: int = 1  # more where the sandbox broke before

    @property
    def id(self) -> str:
        """The id of its trajectory."""
        return f"{self.scenario.id}-s{self.sample}"

    def seed_in(self, run_seed: int) -> int:
        """The seed of this episode; nothing but the run's seed, the scenario and the sample decides it."""
        return random.Random(f"{run_seed}/{self.scenario.id}/{self.sample}").getrandbits(63)


@dataclass
class EpisodeSoFar:
    """What an episode has come to so far: the image's tools, (command, output) turns, and the steps that ran."""

    tools: tuple[str, ...] = ()
    turns: list[tuple[str, str | None]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    told: Callable[[str], None] | None = None
    usage: list[Usage | None] = field(default_factory=list)  # of each call
    unusable_answer: bool = False

    def begin_turn(self, command: str) -> None:
        """Add a command that has no output yet, and tell whoever watches."""
        self.turns.append((command, None))
        if self.told:
            self.told(command)

    def add_usage(self, usage: Usage | None, seconds: float) -> None:
        """Enter what a call took, and its seconds; None where it does not tell."""
        self.usage.append(usage and usage.model_copy(update={"seconds": round(seconds, 3)}))

    def total_usage(self) -> Usage | None:
        """What all calls took, nothing without one; None where one does not tell."""
        told = [one for one in self.usage if one is not None]
        return total_usage(told) if len(told) == len(self.usage) else None


def run_episode(
    operator: Operator,
    episode: Episode,
    *,
    seed: int,
    limits: EpisodeLimits,
    cancelled: threading.Event | None = None,
    pool: SessionSource | None = None,
    told: Callable[[str], None] | None = None,
    checked: Callable[[float], None] | None = None,
) -> Trajectory:
    """Play an episode in a fresh container and record it.

    A broken sandbox or operator becomes the outcome; nothing of it is raised. The checker runs once the session is
    over, whatever ended it, unless the attempt is void or the operator has locked itself out.

    Args:
        operator: picks the commands.
        episode: the scenario and the number of the sample.
        seed: with the scenario and the sample it decides the seed of the record, and nothing else does.
        limits: of steps and seconds.
        cancelled: once set, the session ends before its next command, with outcome `cancelled`.
        pool: sandboxes that were started ahead of time, on their own image; else one is started on the default image.
        told: takes each command before it runs.
        checked: takes the seconds that the grading took.
    """
    scenario, cancelled = episode.scenario, cancelled or threading.Event()
    progress, shell, verified = EpisodeSoFar(told=told), None, False
    changes: Changes | None = None
    error: str | None = None
    options = pool.options if pool else SandboxOptions(lifetime_seconds=limits.lifetime_seconds())
    operator.begin(scenario, episode.seed_in(seed))
    try:
        progress.tools = image_tools(options.image)
        with session(
            scenario.world_fixtures(),
            provider=(scenario.provider.path, scenario.provider.source),
            environment=scenario.environment(),
            options=options,
            pool=pool,
        ) as shell:
            outcome, error = act(operator, scenario, shell, limits, progress, cancelled)
            if outcome not in VOIDED:
                began = time.monotonic()
                verified, changes, failed = graded(scenario, shell, limits.timeout_seconds)
                if checked:
                    checked(time.monotonic() - began)
                if failed is not None:
                    outcome, error = "checker_failed", failed
    except LockedOutError as locked_out:
        outcome, error, verified = "locked_out", str(locked_out), False
    except SandboxError as failure:
        outcome = "cancelled" if cancelled.is_set() else "sandbox_failed"
        error, verified = str(failure), False
    return record(operator, episode, progress, outcome, error, verified=verified, shell=shell, changes=changes)


def graded(scenario: Scenario, shell: Session, timeout_seconds: float) -> tuple[bool, Changes | None, str | None]:
    """Check the final state in the clean container: verified, what the session changed, why the checker failed."""
    check = shell.verify(scenario.checker, timeout_seconds=timeout_seconds)
    failed = (check.error or check.output) if check.passed is None else None
    return check.passed is True, changes_of(scenario, shell), failed


def changes_of(scenario: Scenario, shell: Session) -> Changes | None:
    """What a verified session changed below the home; None where its files cannot be read, which voids nothing."""
    try:
        return changes_between(tree_of(scenario.world_fixtures()), shell.final_tree())
    except SandboxError:
        return None


def act(
    operator: Operator,
    scenario: Scenario,
    shell: Session,
    limits: EpisodeLimits,
    progress: EpisodeSoFar,
    cancelled: threading.Event,
) -> tuple[Outcome, str | None]:
    """Let the operator act until a terminal, a limit or a failure; returns the outcome and an error's message.

    `progress` is filled step by step, so that it is right whatever is raised. The terminal is not run in the shell.
    Raises SandboxError.
    """
    messages = [*opening(scenario, progress.tools), *start_prompt()]
    for _ in range(limits.max_steps):
        if cancelled.is_set():
            return "cancelled", None
        with CALLS.one() as seconds:
            try:
                move = operator.command(messages)
            except OperatorError as failure:
                progress.unusable_answer = isinstance(failure, UnusableAnswerError)
                return "operator_failed", str(failure)
            except CancelledError:
                return "cancelled", None
            except ContextFullError as full:
                if full.usage:
                    progress.add_usage(full.usage, seconds())
                return "context_full", str(full)
            command = move.text
            progress.add_usage(move.usage, seconds())
        progress.begin_turn(command)
        if ending := terminal_of(command):
            return ending.kind, None
        step = shell.step(command, timeout_seconds=limits.timeout_seconds)
        progress.steps.append(step)
        progress.turns[-1] = (command, step.output)
        messages = session_messages(scenario, progress.turns, progress.tools)
    return "max_steps", None


def record(
    operator: Operator,
    episode: Episode,
    progress: EpisodeSoFar,
    outcome: Outcome,
    error: str | None,
    *,
    verified: bool,
    shell: Session | None,
    changes: Changes | None = None,
) -> Trajectory:
    """The trajectory of an episode that ended with `outcome`."""
    scenario, tokens = episode.scenario, operator.tokens()
    commands: Sequence[str] = [command for command, _ in progress.turns]
    verdict = verdict_of(expected=scenario.terminal, commands=commands, outcome=outcome, verified=verified)
    return Trajectory(
        id=episode.id,
        scenario_id=scenario.id,
        scenario_hash=scenario.content_hash,
        axes=scenario.axes(),
        taxonomy=scenario.taxonomy,
        operator=operator.info(),
        messages=session_messages(scenario, progress.turns, progress.tools),
        steps=progress.steps,
        terminal=verdict.terminal,
        verified=verdict.verified,
        command_only=verdict.command_only,
        outcome=outcome,
        attempt=episode.attempt,
        unusable_answer=progress.unusable_answer,
        kept=verdict.kept,
        reasons=list(verdict.reasons),
        error=error,
        changes=changes,
        usage=progress.total_usage(),
        image_digest=shell.image_digest if shell else None,
        wrapper_hash=WRAPPER_HASH,
        transport=TRANSPORT,
        token_ids=tokens.token_ids if tokens else None,
        assistant_mask=tokens.assistant_mask if tokens else None,
        log_probs=tokens.log_probs if tokens else None,
    )
