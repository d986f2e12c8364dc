"""Advantages, rewards and the clipped loss equal calculations by hand, and TRL's GRPOTrainer on single turns."""

import math
import random
from pathlib import Path
from typing import Any

import pytest

from model.decoder import Decoder
from model.loading import load_model
from model.render import Renderer, opening, session_messages, start_prompt
from operators.local import LocalOperator
from schema import OperatorInfo, Segment, Trajectory
from tests.helpers import tiny
from tests.helpers.preference import start_adapter
from tests.helpers.segments import VOCABULARY, episode, segment
from training import policy_update
from training.policy_gradient import Group, PolicyRow, SftRow, advantages, policy_rows, reward_of, surrogate
from training.policy_update import Policy
from training.rl_settings import RlSettings


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("policy") / "base")


@pytest.fixture(scope="module")
def start(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return start_adapter(base, tmp_path_factory.mktemp("policy") / "sft")


def settings(base: Path, start: Path, **changes: Any) -> RlSettings:
    given: dict[str, Any] = {"base": str(base), "adapter": start, "scenarios": Path("x"), "dtype": "fp32", "lr": 5e-3}
    return RlSettings(**{**given, **changes})


def policy_of(flags: RlSettings) -> Policy:
    import torch

    torch.set_num_threads(1)
    return Policy(flags)


def groups_of(rewards: list[list[float | None]], *, seed: int = 0) -> list[Group]:
    return [
        Group(f"g{at}", [episode(f"g{at}-s{one}", segment((5, 3), (2, 4), seed=seed + 10 * at + one))
                         for one in range(len(found))], found)
        for at, found in enumerate(rewards)
    ]  # fmt: skip


def advantage_of(row: PolicyRow) -> float:
    [one] = set(row.advantages)
    return one


def test_an_uneven_fan_out_changes_no_advantage(base: Path, start: Path) -> None:
    """Two prompts with two rollouts each, of which the first has three segments (agent_rl.md, 1C)."""
    many = [segment((3, 2), seed=one) for one in range(3)]
    first = Group("g0", [episode("g0-s0", *many), episode("g0-s1", segment((3, 2)))], [1.0, 0.0])
    second = Group("g1", [episode("g1-s0", segment((3, 2))), episode("g1-s1", segment((3, 2)))], [1.0, 1.0])
    data = policy_rows([first, second], settings(base, start), vocabulary=VOCABULARY)
    assert [advantage_of(row) for row in data.rows] == [0.5, 0.5, 0.5, -0.5, 0, 0]
    assert [row.divisor for row in data.rows] == [6, 6, 6, 2, 2, 2]  # an episode weighs the same
    assert data.episodes == 4
    data = policy_rows([first, second], settings(base, start, loss_type="dapo"), vocabulary=VOCABULARY)
    assert [row.divisor for row in data.rows] == [12 / 4] * 6  # a token weighs the same


def played(name: str, *turns: tuple[list[int], list[int]]) -> Trajectory:
    """An episode of turns, each what the operator read and what it sampled."""
    ids = [one for read, typed in turns for one in (*read, *typed)]
    mask = [on for read, typed in turns for on in (*[0] * len(read), *[1] * len(typed))]
    return episode(name, Segment(token_ids=ids, assistant_mask=mask, log_probs=[-1.0 if on else None for on in mask]))


def test_the_credit_of_a_command_is_what_it_was_worth_in_its_state(base: Path, start: Path) -> None:
    """Ways of looking around that come to the same, a command that is one token off, an `exit`, and a loop."""
    prompt, motd, usage, empty = [1, 2], [3], [4, 5], [6]
    ls, ls_all, ask, right, wrong, done = [11], [12], [13, 14], [15, 16], [15, 17], [18]
    episodes = [
        played("g-s0", (prompt, ls), (motd, ask), (usage, right), (empty, done)),
        played("g-s1", (prompt, ls_all), (motd, ask), (usage, wrong), (empty, done)),
        played("g-s2", (prompt, ls), (motd, ask), (usage, right), (empty, done)),
        played("g-s3", (prompt, ls), (motd, ask), (usage, wrong), (empty, ask), (empty, ask)),
        played("g-s4", (prompt, ls_all), (motd, wrong)),  # could not be scored
    ]
    group = Group("g", episodes, [1.0, 0.0, 1.0, 0.0, None])
    first, second, third, fourth = policy_rows(
        [group], settings(base, start, credit="command"), vocabulary=VOCABULARY
    ).rows
    assert first.advantages == third.advantages == pytest.approx([2 / 3 - 1 / 2, 0, 0, 1 / 2, 1 / 2, 0])
    assert second.advantages == pytest.approx([-1 / 2, 0, 0, -1 / 2, -1 / 2, 0])
    assert fourth.advantages == pytest.approx([2 / 3 - 1 / 2, 0, 0, -1 / 2, -1 / 2, 0, 0, 0, 0])
    half = settings(base, start, credit="command", negative_weight=0.5)
    row = policy_rows([group], half, vocabulary=VOCABULARY).rows[1]
    assert row.advantages == pytest.approx([-1 / 4, 0, 0, -1 / 4, -1 / 4, 0])


def test_the_credit_of_commands_in_a_segment_of_its_own(base: Path, start: Path) -> None:
    """A second segment reads the first's turns as history; only what it typed itself has credit there."""
    ids, history = [1, 11, 4, 13], segment((3, 2))
    fork = Segment(token_ids=[*ids, 5, 14], assistant_mask=[0, 0, 0, 0, 0, 1], log_probs=[*[None] * 5, -1.0])
    other = Segment(token_ids=[*ids, 5, 15], assistant_mask=[0, 0, 0, 0, 0, 1], log_probs=[*[None] * 5, -1.0])
    group = Group("g", [episode("g-s0", history, fork), episode("g-s1", history, other)], [1.0, 0.0])
    rows = policy_rows([group], settings(base, start, credit="command"), vocabulary=VOCABULARY).rows
    assert [list(row.advantages) for row in rows] == [[0, 0], [0.5], [0, 0], [-0.5]]


@pytest.mark.parametrize(("weight", "expected"), [(1.0, -0.5), (0.25, -0.125), (0.0, 0.0)])
def test_failures_may_weigh_less(base: Path, start: Path, weight: float, expected: float) -> None:
    flags = settings(base, start, negative_weight=weight)
    rows = policy_rows(groups_of([[1.0, 0.0]]), flags, vocabulary=VOCABULARY)
    assert [advantage_of(row) for row in rows.rows] == [0.5, expected]


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({}, [5, 6, 7]),  # the work had failed before: `exit` is not blamed
        ({"verified": True}, [5, 6, 7, 10, 11, 12, 13]),  # only the terminal was wrong
        ({"terminal": None}, [5, 6, 7, 10, 11, 12, 13]),  # the last turn is a command
    ],
)
def test_a_terminal_is_blamed_only_where_it_was_at_fault(
    base: Path, start: Path, changes: dict[str, Any], places: list[int]
) -> None:
    two = segment((5, 3), (2, 4))
    good = episode("g-s0", two, verified=True, terminal="exit")
    bad = episode("g-s1", two, segment((3, 0)), **{"verified": False, "terminal": "exit", **changes})
    alone = episode("g-s2", segment((3, 4)), verified=False, terminal="exit")  # gives up at once
    group = Group("g", [good, bad, alone], [1.0, 0.0, 0.0])
    every = [5, 6, 7, 10, 11, 12, 13]
    rows = policy_rows([group], settings(base, start, terminal_loss="at-fault"), vocabulary=VOCABULARY)
    assert [(row.episode, list(row.places), row.divisor) for row in rows.rows] == [
        ("g-s0", every, 7), ("g-s1", places, len(places)),
    ]  # fmt: skip
    assert rows.episodes == 3
    rows = policy_rows([group], settings(base, start), vocabulary=VOCABULARY)
    assert [list(row.places) for row in rows.rows] == [every, every, [3, 4, 5, 6]]


def test_an_episode_without_a_reward_is_in_no_mean() -> None:
    assert advantages([1.0, 0.0, None]) == [0.5, -0.5, None]
    assert advantages([None, None]) == [None, None]
    assert advantages([1.0]) == [0.0]
    scaled = 0.25 / (0.125**0.5 + 1e-4)
    assert advantages([0.75, 0.25], divide_by_std=True) == pytest.approx([scaled, -scaled])
    assert advantages([1.0, 1.0], divide_by_std=True) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "reward"),
    [
        ({}, 1.0),
        ({"verified": False}, 0.0),
        ({"outcome": "panic"}, 1.0),  # the terminal is what was typed; `panic` would be wrong there
        ({"outcome": "max_steps"}, 0.0),
        ({"outcome": "locked_out"}, 0.0),
        ({"outcome": "sandbox_failed"}, None),
        ({"outcome": "operator_failed"}, None),
        ({"outcome": "checker_failed"}, None),
    ],
)
def test_the_reward_is_a_verified_state_with_the_right_terminal(
    changes: dict[str, Any], reward: float | None, base: Path, start: Path
) -> None:
    row = tiny.trajectory("a-s0").model_copy(update=changes)
    assert reward_of(row, tiny.scenario("a"), settings(base, start)) == reward


def test_a_wrong_terminal_has_no_reward(base: Path, start: Path) -> None:
    blocked = tiny.scenario("a", task="missing_source", terminal="panic")
    assert reward_of(tiny.trajectory("a-s0"), blocked, settings(base, start)) == 0


def test_shares_of_the_reward(base: Path, start: Path) -> None:
    world, row = tiny.scenario("a"), tiny.trajectory("a-s0", kept=False)
    both = settings(base, start, discover_share=0.2, directive_share=0.1)
    assert reward_of(row, world, both) == 0
    told = row.steps[0].model_copy(update={"output": f"1. {world.directives[0]}\n"})
    shown = row.model_copy(update={"steps": [told, *row.steps[1:]]})
    assert reward_of(shown, world, both) == pytest.approx(0.3)
    assert reward_of(shown.model_copy(update={"verified": True}), world, both) == pytest.approx(1)
    assert reward_of(shown, world, settings(base, start)) == 0  # off by default


def test_a_share_of_the_reward_for_ending_the_session(base: Path, start: Path) -> None:
    world, flags = tiny.scenario("a"), settings(base, start, terminate_share=0.2)
    ended = tiny.trajectory("a-s0", kept=False)
    cut = ended.model_copy(update={"terminal": None, "outcome": "max_steps"})
    assert [reward_of(one, world, flags) for one in (ended, cut)] == [0.2, 0]
    assert reward_of(tiny.trajectory("a-s0"), world, flags) == pytest.approx(1)


def test_equal_rewards_have_no_advantage_to_the_last_digit() -> None:
    assert advantages([0.1, 0.1, 0.1, None]) == [0.0, 0.0, 0.0, None]


def test_every_episode_is_a_row_or_has_its_reason(base: Path, start: Path) -> None:
    good = segment((3, 2))
    rows = [
        episode("a-s0", good),
        episode("a-s1", good),
        episode("a-s2", good, temperature=0.0),
        episode("a-s3", segment((500, 2))),
        episode("a-s4", segment((4, 0))),
        episode("a-s5", good.model_copy(update={"token_ids": [VOCABULARY, 1, 2, 3, 4]})),
        tiny.trajectory("a-s6"),
        episode("a-s7", good, operator=OperatorInfo(kind="agent", agent="plain", model="reference")),
    ]
    flags = settings(base, start, max_length_tokens=100)
    data = policy_rows([Group("a", rows, [1.0, None, *[0.0] * 6])], flags, vocabulary=VOCABULARY)
    assert data.left_out == {
        "unscorable": ["a-s1"], "greedy": ["a-s2"], "over_length": ["a-s3"], "no_tokens": ["a-s4"],
        "not_recorded": ["a-s5", "a-s6", "a-s7"],
    }  # fmt: skip
    (row,) = data.rows
    assert row.episode == "a-s0"
    assert advantage_of(row) == pytest.approx(6 / 7)


def test_what_was_not_sampled_is_not_trained(base: Path, start: Path) -> None:
    whole = segment((3, 2), (2, 3))
    cut = whole.model_copy(update={"log_probs": [*whole.log_probs[:-1], None]})  # an end marker that was appended
    (row,) = policy_rows([Group("a", [episode("a-s0", cut)], [1.0])], settings(base, start), vocabulary=VOCABULARY).rows
    assert list(row.places) == [3, 4, 7, 8]
    assert list(row.token_ids) == whole.token_ids[:9]


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "clipped"),
    [(1.1, 1.0, -1.1, False), (1.5, 1.0, -1.28, True), (0.5, 1.0, -0.5, False), (0.5, -1.0, 0.8, True),
     (1.5, -1.0, 1.5, False), (1.5, 0.0, 0.0, False)],
)  # fmt: skip
def test_the_ratio_is_clipped(
    ratio: float, advantage: float, loss: float, clipped: bool, base: Path, start: Path
) -> None:
    import torch

    row = PolicyRow("a", [1, 2], [1], [-2.0], [advantage], divisor=4, temperature=1.0)
    found, beyond, _ = surrogate(torch.tensor([math.log(ratio) - 2.0]), row, settings(base, start))
    assert float(found) * 4 == pytest.approx(loss, abs=1e-6)
    assert bool(beyond) == clipped


def log_probs_of(model: Any, ids: list[int], temperature: float) -> list[float]:
    """The log-prob of each id but the first, from full logits."""
    import torch

    with torch.no_grad():
        table = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0] / temperature, -1)
    return [float(table[at, id_]) for at, id_ in enumerate(ids[1:])]


def by_hand(
    base: Path, start: Path, groups: list[Group], temperature: float, sft: list[SftRow], sft_weight: float
) -> list[Any]:
    """The gradients of REINFORCE with a baseline, written out: no ratio, no clipping, from full logits."""
    import torch

    model, _ = load_model(base, start, dtype="fp32")
    weights = [weight for name, weight in model.named_parameters() if "lora_" in name]
    for weight in weights:
        weight.requires_grad_(True)
    total = torch.zeros(())
    episodes = sum(len(group.episodes) for group in groups)
    for group in groups:
        mean = sum(group.scored) / len(group.scored)
        for one, reward in zip(group.episodes, group.rewards, strict=True):
            assert reward is not None
            (piece,) = one.segments or []
            ids = torch.tensor([piece.token_ids])
            table = torch.log_softmax(model(input_ids=ids).logits[0] / temperature, -1)
            places = [at for at, on in enumerate(piece.assistant_mask) if on]
            logs = torch.stack([table[at - 1, piece.token_ids[at]] for at in places])
            total = total - (reward - mean) * logs.mean() / episodes
    for row in sft:
        table = torch.log_softmax(model(input_ids=torch.tensor([row.token_ids])).logits[0], -1)
        logs = torch.stack([table[at - 1, row.token_ids[at]] for at in row.places])
        total = total - sft_weight * logs.mean() / len(sft)
    return list(torch.autograd.grad(total, weights))


@pytest.mark.parametrize(("cores", "sessions"), [(1, 0), (3, 0), (3, 2)])
def test_gradients_equal_reinforce_by_hand_on_two_scenarios(base: Path, start: Path, cores: int, sessions: int) -> None:
    """A third one without signal teaches nothing, but its episodes count. With --sft-data sessions join."""
    import torch

    sft = {"sft_data": Path("x"), "sft_weight": 0.3} if sessions else {}
    flags = settings(base, start, temperature=0.7, **sft)
    policy = policy_of(flags)
    groups = groups_of([[1.0, 0.0, 0.0], [1.0, 0.25], [1.0, 1.0]])
    for group in groups:  # on-policy: the recorded log-probs are those of the policy
        for at, one in enumerate(group.episodes):
            (piece,) = one.segments or []
            found = [None, *log_probs_of(policy.model, piece.token_ids, 0.7)]
            logs = [log_prob if on else None for log_prob, on in zip(found, piece.assistant_mask, strict=True)]
            operator = OperatorInfo(kind="local", sampling={"temperature": 0.7})
            group.episodes[at] = one.model_copy(  # type: ignore[index]
                update={"segments": [piece.model_copy(update={"log_probs": logs})], "operator": operator}
            )
    data = policy_rows(groups, flags, vocabulary=VOCABULARY)
    data.sft = [SftRow(list(range(10 + at, 24 + 2 * at)), [3, 4, 9, 13]) for at in range(sessions)]
    torch.set_num_threads(cores)
    figures = policy.update(data)
    torch.set_num_threads(1)
    wanted = by_hand(base, start, groups, 0.7, data.sft, 0.3)
    assert ("sft_loss" in figures) == bool(sessions)
    norm = math.sqrt(sum(float((one**2).sum()) for one in wanted))
    assert figures["grad_norm"] == pytest.approx(norm, rel=1e-4)
    assert figures["log_prob_difference_max"] < 1e-4
    shrunk = min(1.0, policy_update.MAX_GRAD_NORM / norm)
    for weight, found in zip(policy.named.values(), wanted, strict=True):
        assert weight.grad is not None
        assert torch.allclose(weight.grad, found * shrunk, rtol=1e-4, atol=1e-6)


def trl_log(base: Path, data: Any, flags: RlSettings, steps: int, out: Path) -> list[dict[str, float]]:
    """The log of TRL's GRPOTrainer on the same single-turn rows, with the same loss settings."""
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rows = data.rows
    first = rows[0].places[0]
    completions = [list(row.token_ids[first:]) for row in rows]
    longest = max(map(len, completions))

    def padded(lists: Any, fill: Any) -> Any:
        return torch.tensor([[*one, *[fill] * (longest - len(one))] for one in lists])

    model, tokenizer = load_model(base, flags.adapter, dtype="fp32")
    for name, weight in model.named_parameters():
        weight.requires_grad_("lora_" in name)
    inputs: dict[str, Any] = {
        "prompt_ids": torch.tensor([list(row.token_ids[:first]) for row in rows]),
        "prompt_mask": torch.ones(len(rows), first, dtype=torch.long),
        "completion_ids": padded(completions, 0),
        "completion_mask": padded([[1] * len(one) for one in completions], 0),
        "advantages": torch.tensor([advantage_of(row) for row in rows]),
        "old_per_token_logps": padded([row.old for row in rows], 0.0),
        "num_items_in_batch": torch.tensor(sum(map(len, completions))),
    }

    class Recorded(GRPOTrainer):  # type: ignore[misc]
        def _prepare_inputs(self, _: Any) -> Any:
            return inputs

    config = GRPOConfig(
        output_dir=str(out), use_cpu=True, report_to=[], save_strategy="no", logging_steps=1, max_steps=steps,
        per_device_train_batch_size=len(rows), num_generations=len(rows), learning_rate=flags.lr, weight_decay=0.0,
        lr_scheduler_type="constant", max_grad_norm=policy_update.MAX_GRAD_NORM, optim="adamw_torch",
        temperature=flags.temperature, epsilon=flags.clip_low, epsilon_high=flags.clip_high, beta=flags.kl,
        loss_type=flags.loss_type, scale_rewards="none", use_bias_correction_kl=False,
        gradient_checkpointing=False, bf16=False, disable_tqdm=True,
    )  # fmt: skip
    trainer = Recorded(
        model=model, args=config, reward_funcs=lambda **_: [0.0], processing_class=tokenizer,
        train_dataset=Dataset.from_list([{"prompt": "a"}] * len(rows) * steps),
    )  # fmt: skip
    if flags.kl:
        with torch.no_grad():
            ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
            mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
            inputs["ref_per_token_logps"] = trainer._get_per_token_logps_and_entropies(
                trainer.model, ids, mask, longest
            )[0]
    trainer.train()
    return [entry for entry in trainer.state.log_history if "loss" in entry]


@pytest.mark.parametrize(
    ("kl", "temperature", "loss_type"), [(0.0, 1.0, "grpo"), (0.05, 0.8, "grpo"), (0.05, 0.8, "dapo")]
)
def test_every_step_equals_trl_on_single_turns(
    base: Path, start: Path, tmp_path: Path, kl: float, temperature: float, loss_type: str
) -> None:
    """The same rows again and again: the policy leaves what was recorded, so that ratios are clipped."""
    flags = settings(base, start, kl=kl, temperature=temperature, loss_type=loss_type, lr=2e-4)
    policy = policy_of(flags)
    draw = random.Random(1)
    opening_ids = [draw.randrange(1, VOCABULARY) for _ in range(6)]
    episodes = []
    for one in range(4):
        ids = [*opening_ids, *(draw.randrange(1, VOCABULARY) for _ in range(3 + one))]
        near = [log_prob + draw.uniform(-0.4, 0.4) for log_prob in log_probs_of(policy.model, ids, temperature)[5:]]
        piece = Segment(
            token_ids=ids, assistant_mask=[0] * 6 + [1] * len(near), log_probs=[None] * 6 + near
        )  # fmt: skip
        episodes.append(episode(f"a-s{one}", piece, temperature=temperature))
    data = policy_rows([Group("a", episodes, [1.0, 0.0, 0.25, 1.0])], flags, vocabulary=VOCABULARY)
    ours = [policy.update(data) for _ in range(5)]
    theirs = trl_log(base, data, flags, 5, tmp_path)
    assert len(theirs) == 5
    assert all(0 < one["clip_share"] < 1 for one in ours)
    for mine, entry in zip(ours, theirs, strict=True):
        assert mine["loss"] == pytest.approx(entry["loss"], abs=1e-5), (ours, theirs)
        assert mine["grad_norm"] == pytest.approx(entry["grad_norm"], rel=1e-5, abs=1e-5)
        assert mine["clip_share"] == pytest.approx(entry["clip_ratio/region_mean"], abs=1e-6)
        assert mine["entropy"] == pytest.approx(entry["entropy"], abs=1e-4)
        if kl:
            assert mine["kl"] == pytest.approx(entry["kl"], abs=1e-5)


def sampled(policy: Policy, base: Path, temperature: float, seed: int, turns: int = 3) -> Trajectory:
    """An episode that the policy samples; the environment answers the same to everything."""
    world = tiny.scenario("a")
    renderer = Renderer.for_base(policy.tokenizer, "markers")
    operator = LocalOperator(
        Decoder(policy.model), renderer, temperature=temperature, max_new_tokens=10, name=str(base)
    )
    operator.begin(world, seed)
    played: list[tuple[str, str | None]] = []
    for _ in range(turns):
        played.append((operator.command(session_messages(world, played)).text, "amber\n"))
    tokens = operator.tokens()
    assert tokens is not None
    update = {"messages": session_messages(world, played), "operator": operator.info(), **vars(tokens)}
    return tiny.trajectory(f"a-s{seed}").model_copy(update=update)


def test_fp16_samples_and_trains_about_the_same_policy(base: Path, start: Path) -> None:
    flags = settings(base, start, dtype="fp16")
    policy = policy_of(flags)
    rows = [sampled(policy, base, 1.0, seed) for seed in range(3)]
    data = policy_rows([Group("a", rows, [1.0, 0.0, 0.0])], flags, vocabulary=VOCABULARY)
    assert 0 < policy.update(data)["log_prob_difference_mean"] <= 1e-2


def test_an_fp16_step_that_overflows_is_no_update(base: Path, start: Path) -> None:
    import torch

    flags = settings(base, start, dtype="fp16")
    policy = policy_of(flags)
    policy.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**60)
    before = [weight.detach().clone() for weight in policy.named.values()]
    data = policy_rows(groups_of([[1.0, 0.0]]), flags, vocabulary=VOCABULARY)
    assert not policy.update(data)["updated"]
    assert all(torch.equal(one, two) for one, two in zip(before, policy.named.values(), strict=True))
    policy.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    assert policy.update(data)["updated"]


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_training_computes_the_log_probs_that_sampling_recorded(base: Path, start: Path, temperature: float) -> None:
    flags = settings(base, start, temperature=temperature)
    policy = policy_of(flags)
    rows = [sampled(policy, base, temperature, seed) for seed in range(3)]
    data = policy_rows([Group("a", rows, [1.0, 0.0, 0.0])], flags, vocabulary=VOCABULARY)
    figures = policy.update(data)
    assert figures["log_prob_difference_mean"] <= 1e-4
    assert figures["clip_share"] == 0
    assert policy.update(data)["log_prob_difference_mean"] > 1e-3  # the weights have moved
    again = sampled(policy, base, temperature, 9)  # and sampling goes on from the new ones, without a reload
    more = policy_rows([Group("a", [again], [1.0])], flags, vocabulary=VOCABULARY)
    assert policy.update(more)["log_prob_difference_mean"] <= 1e-4


def test_a_step_without_signal_moves_no_weight(base: Path, start: Path) -> None:
    import torch

    flags = settings(base, start)
    policy = policy_of(flags)
    policy.update(policy_rows(groups_of([[1.0, 0.0]]), flags, vocabulary=VOCABULARY))  # the optimizer has momentum
    before = [weight.detach().clone() for weight in policy.named.values()]
    figures = policy.update(policy_rows(groups_of([[1.0, 1.0]]), flags, vocabulary=VOCABULARY))
    assert (figures["updated"], figures["loss"], figures["trained_tokens"]) == (False, 0.0, 14)
    assert figures["entropy"] > 0
    assert all(torch.equal(one, two) for one, two in zip(before, policy.named.values(), strict=True))


def test_the_start_adapters_log_probs_stay_those_of_the_start(base: Path, start: Path) -> None:
    flags = settings(base, start, kl=0.1)
    policy = policy_of(flags)
    data = policy_rows(groups_of([[1.0, 0.0]]), flags, vocabulary=VOCABULARY)
    figures = [policy.update(data) for _ in range(3)]
    assert figures[0]["kl"] == pytest.approx(0, abs=1e-9)
    assert figures[2]["kl"] > figures[1]["kl"] > 0


def test_the_clip_share_is_the_same_with_and_without_kl(base: Path, start: Path) -> None:
    """It counts the tokens of the episodes that have an advantage, though --kl trains the others too."""
    plain, with_kl = settings(base, start), settings(base, start, kl=0.1)
    data = policy_rows(groups_of([[1.0, 0.0], [1.0, 1.0]]), plain, vocabulary=VOCABULARY)
    shares = [policy_of(flags).update(data)["clip_share"] for flags in (plain, with_kl)]
    assert shares[0] == shares[1] > 0
    level = policy_rows(groups_of([[1.0, 1.0]]), with_kl, vocabulary=VOCABULARY)
    assert policy_of(with_kl).update(level)["clip_share"] is None


def test_two_epochs_are_two_optimizer_steps(base: Path, start: Path) -> None:
    data = policy_rows(groups_of([[1.0, 0.0]]), settings(base, start), vocabulary=VOCABULARY)
    once, twice = policy_of(settings(base, start)), policy_of(settings(base, start, epochs=2))
    first = once.update(data)
    last = once.update(data)
    both = twice.update(data)
    assert (both["loss"], both["grad_norm"]) == (last["loss"], last["grad_norm"])
    assert both["log_prob_difference_mean"] == first["log_prob_difference_mean"]  # that before the first step


def test_sampling_and_updates_in_one_process_learn_an_easy_reward(base: Path, start: Path) -> None:
    """Reward for a first token among a quarter of the vocabulary: on-policy updates make it usual."""
    flags = settings(base, start, lr=1e-2)
    policy = policy_of(flags)
    world, renderer, decoder = tiny.scenario("a"), Renderer.for_base(policy.tokenizer, "markers"), Decoder(policy.model)
    means = []
    for step in range(12):
        rows = []
        for sample in range(16):
            operator = LocalOperator(decoder, renderer, temperature=1.0, max_new_tokens=1, name=str(base))
            operator.begin(world, 100 * step + sample)
            move = operator.command([*opening(world), *start_prompt()])
            tokens = operator.tokens()
            assert tokens is not None
            assert move.token_ids
            rows.append((tiny.trajectory(f"a-s{sample}").model_copy(
                update={"operator": operator.info(), **vars(tokens)}), float(move.token_ids[0] % 4 == 0)))  # fmt: skip
        group = Group("a", [row for row, _ in rows], [reward for _, reward in rows])
        policy.update(policy_rows([group], flags, vocabulary=VOCABULARY))
        means.append(sum(group.scored) / len(group.scored))
    assert sum(means[-3:]) / 3 > sum(means[:3]) / 3 + 0.3, means


def test_the_rate_grows_over_the_first_steps(base: Path, start: Path) -> None:
    flags = settings(base, start, lr=8e-3, warmup_steps=4)
    assert [flags.rate_at(step) for step in (1, 2, 3, 4, 5)] == pytest.approx([2e-3, 4e-3, 6e-3, 8e-3, 8e-3])
    assert settings(base, start).rate_at(1) == settings(base, start).lr  # off by default
    moved = []
    for step in (1, 4):
        policy = policy_of(flags)
        policy.update(policy_rows(groups_of([[1.0, 0.0]]), flags, vocabulary=VOCABULARY), lr=flags.rate_at(step))
        moved.append(max(float((policy.named[name] - was).abs().max()) for name, was in policy.start.items()))
    assert moved == pytest.approx([2e-3, 8e-3], rel=1e-2)  # Adam's first step is the rate, in every weight
