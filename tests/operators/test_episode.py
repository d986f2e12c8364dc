"""An episode's record holds what was shown, typed and sampled, and its outcome says how the session ended."""

from pathlib import Path

import pytest

from model.decoder import Decoder
from model.loading import load_model
from model.render import ORIENTATION, PROMPT, Renderer
from operators.local import LocalOperator
from operators.protocol import ContextFullError, OperatorError
from pipeline.verdicts import events_of
from sandbox import containers
from schema import Trajectory, Usage
from tests.helpers import tiny
from tests.helpers.hand_scenarios import hand
from tests.helpers.rollouts import Scripted, episode, play

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("episode") / "base")


def test_record_fields() -> None:
    scenario = hand()
    operator = Scripted("cd /tmp; pwd", "cat nothing", "true", "exit")
    trajectory = play(operator, scenario, sample=2, seed=0, max_steps=9, timeout_seconds=10)
    assert trajectory.id == f"{scenario.id}-s2"
    assert (trajectory.scenario_id, trajectory.scenario_hash) == (scenario.id, scenario.content_hash)
    assert "".join(turn.role[0] for turn in trajectory.messages) == "suuauuauuaua"
    assert trajectory.messages[0].content == ORIENTATION
    assert scenario.announcement.text in trajectory.messages[1].content
    assert trajectory.messages[4].content == "/tmp\n"
    assert trajectory.messages[-2].content == PROMPT
    assert [step.exit_code for step in trajectory.steps] == [0, 1, 0]
    assert [step.cwd for step in trajectory.steps] == ["/tmp"] * 3
    assert trajectory.terminal == "exit"
    assert trajectory.image_digest == containers.require_image()
    assert trajectory.wrapper_hash
    assert trajectory.transport == "channel"


SOLUTION = hand().reference_solution


@pytest.mark.parametrize(
    ("commands", "outcome", "kept", "reason"),
    [
        ([*SOLUTION, "exit"], "exit", True, ""),
        ([*SOLUTION, "exit 0"], "exit", True, ""),
        ([*SOLUTION, "exit 3"], "exit", False, "wrong terminal"),
        ([*SOLUTION, "panic nothing left"], "panic", False, "wrong terminal"),
        (["ls", "exit"], "exit", False, "not verified"),
        ([*SOLUTION, "Everything is done now.", "exit"], "exit", False, "prose"),
        (["```sh\nls\n```", *SOLUTION, "exit"], "exit", False, "prose"),
        ([*SOLUTION, "exit; true", *["true"] * 20], "max_steps", False, "not terminated"),
        ([*SOLUTION, ContextFullError("4096")], "context_full", False, "not terminated"),
        (["ls", OperatorError("503")], "operator_failed", False, "voided"),
    ],
)
def test_outcomes_and_reasons(commands: list[str | Exception], outcome: str, kept: bool, reason: str) -> None:
    trajectory = episode(hand(), *commands, max_steps=12)
    assert (trajectory.outcome, trajectory.kept) == (outcome, kept)
    assert any(reason in given for given in trajectory.reasons) or kept
    solved = outcome != "operator_failed" and commands[0] != "ls"
    assert trajectory.verified == solved


@pytest.mark.parametrize("usage", [Usage(), Usage(calls=1, input_tokens=4096)])
def test_a_call_that_fills_the_context_is_counted_and_one_that_was_not_made_costs_nothing(usage: Usage) -> None:
    full = ContextFullError("4096", usage if usage.calls else None)
    counted = episode(hand(), full).usage
    assert counted is not None
    assert counted.model_copy(update={"seconds": 0.0}) == usage


def test_crashed_checker_is_not_verified() -> None:
    trajectory = episode(hand(checker="kill -9 $$"), *SOLUTION, "exit")
    assert trajectory.outcome == "checker_failed"
    assert not trajectory.verified
    assert not trajectory.kept
    assert trajectory.error
    assert events_of(trajectory, hand().directives).terminate


def test_dead_sandbox_voids_the_attempt() -> None:
    def break_it() -> str:
        containers.remove_all()
        return "ls"

    operator = Scripted("pwd", break_it, "exit")
    trajectory = play(operator, hand(), seed=0, max_steps=9, timeout_seconds=10)
    assert trajectory.outcome == "sandbox_failed"
    assert trajectory.error
    assert not trajectory.verified
    assert len(operator.seen) == 2
    assert trajectory.commands == ["pwd", "ls"]
    assert len(trajectory.steps) == 1


def test_a_turn_is_run_and_recorded_verbatim() -> None:
    typed = ["  printf '[%s]' a\\ ", "```\necho fenced\n```", "\n\necho on\n\n"]
    trajectory = episode(hand(), *typed, "exit")
    assert trajectory.commands == [*typed, "exit"]
    assert [step.command for step in trajectory.steps] == typed
    assert trajectory.steps[0].output == "[a ]"
    assert trajectory.steps[2].output == "on\n"


def test_session_continues_after_a_timeout() -> None:
    operator = Scripted("sleep 30", *SOLUTION, "exit")
    trajectory = play(operator, hand(), seed=0, max_steps=9, timeout_seconds=2)
    assert trajectory.steps[0].timed_out
    assert trajectory.kept


def test_every_token_is_recorded(base: Path) -> None:
    model, tokenizer = load_model(base, device="cpu")
    renderer = Renderer.for_base(tokenizer)

    def sampled() -> Trajectory:
        operator = LocalOperator(Decoder(model), renderer, temperature=1.0, max_new_tokens=16, name="tiny")
        return play(operator, hand(), seed=6, max_steps=4, timeout_seconds=10)

    trajectory = sampled()
    assert trajectory.outcome == "max_steps"
    assert trajectory.operator.kind == "local"
    assert trajectory.token_ids is not None
    encoded = renderer.encode(trajectory.messages, recorded_turns(trajectory))
    assert encoded.token_ids == trajectory.token_ids
    assert encoded.mask == trajectory.assistant_mask
    again = sampled()
    assert again.token_ids == trajectory.token_ids
    assert again.log_probs == pytest.approx(trajectory.log_probs)


def recorded_turns(trajectory: Trajectory) -> list[list[int]]:
    """The ids of each operator turn, cut out of the session by its mask."""
    turns: list[list[int]] = []
    before = 0
    for id_, mask in zip(trajectory.token_ids or [], trajectory.assistant_mask or [], strict=True):
        if mask and not before:
            turns.append([])
        if mask:
            turns[-1].append(id_)
        before = mask
    return turns
