"""Play one episode: act, verify, record."""

import random
import threading
from dataclasses import dataclass, field

from model.render import opening, session_messages, start_prompt
from operators.protocol import CancelledError, ContextFullError, Operator, OperatorError
from pipeline.verdicts import judge, terminal_of
from sandbox.containers import SandboxError
from sandbox.session import TRANSPORT, Session, SessionSource, session
from sandbox.wrapper import WRAPPER_HASH
from schema import VOIDED, Outcome, Scenario, Step, Trajectory


def run_episode(
    operator: Operator,
    scenario: Scenario,
    *,
    sample: int = 0,
    seed: int,
    max_steps: int,
    timeout_seconds: float,
    cancelled: threading.Event | None = None,
    pool: SessionSource | None = None,
) -> Trajectory:
    """One session in a fresh container: act, verify, record.

    The record's seed depends on `seed`, the scenario and the sample alone. Nothing of the world's is raised: a broken
    sandbox or operator becomes the outcome. The checker runs once the session is over, whatever ended it, unless the
    attempt is void. Once `cancelled` is set the session ends before its next command, as `cancelled`.
    """
    record_seed = random.Random(f"{seed}/{scenario.id}/{sample}").getrandbits(63)
    played = Played(cancelled or threading.Event())
    error: str | None = None
    verified = False
    shell: Session | None = None
    operator.begin(scenario, record_seed)
    try:
        with session(
            scenario.world_fixtures(),
            provider=(scenario.provider.path, scenario.provider.source),
            environment=scenario.environment(),
            pool=pool,
        ) as shell:
            outcome, error = act(operator, scenario, shell, played, max_steps, timeout_seconds)
            if outcome not in VOIDED:
                check = shell.verify(scenario.checker, timeout_seconds=timeout_seconds)
                verified = check.passed is True
                if check.passed is None:
                    outcome, error = "checker_failed", check.error or check.output
    except SandboxError as failure:
        outcome = "cancelled" if played.cancelled.is_set() else "sandbox_failed"
        error, verified = str(failure), False
    verdict = judge(
        expected=scenario.terminal,
        commands=[command for command, _ in played.turns],
        outcome=outcome,
        verified=verified,
    )
    tokens = operator.tokens()
    return Trajectory(
        id=trajectory_id(scenario, sample),
        scenario_id=scenario.id,
        scenario_hash=scenario.content_hash,
        axes=scenario.axes(),
        operator=operator.info(),
        messages=session_messages(scenario, played.turns),
        steps=played.steps,
        terminal=verdict.terminal,
        verified=verdict.verified,
        command_only=verdict.command_only,
        outcome=outcome,
        kept=verdict.kept,
        reasons=list(verdict.reasons),
        error=error,
        image_digest=shell.image_digest if shell else None,
        wrapper_hash=WRAPPER_HASH,
        transport=TRANSPORT,
        token_ids=tokens.token_ids if tokens else None,
        assistant_mask=tokens.assistant_mask if tokens else None,
        log_probs=tokens.log_probs if tokens else None,
    )


@dataclass
class Played:
    """What a session has come to so far: (command, output) turns, and the steps that ran."""

    cancelled: threading.Event
    turns: list[tuple[str, str | None]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


def act(
    operator: Operator,
    scenario: Scenario,
    shell: Session,
    played: Played,
    max_steps: int,
    timeout_seconds: float,
) -> tuple[Outcome, str | None]:
    """Let the operator act until a terminal, a limit or a failure; returns the outcome and an error's words.

    Fills `played` as it goes, so that it is true whatever is raised. The terminal is not run: it is said to whoever
    watches, not to the shell. Raises SandboxError.
    """
    messages = [*opening(scenario), *start_prompt()]
    for _ in range(max_steps):
        if played.cancelled.is_set():
            return "cancelled", None
        try:
            command = operator.command(messages).text
        except OperatorError as failure:
            return "operator_failed", str(failure)
        except CancelledError:
            return "cancelled", None
        except ContextFullError as full:
            return "context_full", str(full)
        played.turns.append((command, None))
        if ending := terminal_of(command):
            return ending.kind, None
        step = shell.step(command, timeout_seconds=timeout_seconds)
        played.steps.append(step)
        played.turns[-1] = (command, step.output)
        messages = session_messages(scenario, played.turns)
    return "max_steps", None


def trajectory_id(scenario: Scenario, sample: int) -> str:
    """The id of the trajectory that a sample of a scenario becomes."""
    return f"{scenario.id}-s{sample}"
