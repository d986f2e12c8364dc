"""The preference loss equals TRL's where the masks agree, and a hand-made calculation where they do not."""

import json
import math
import random
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from pipeline import stage
from model.decoder import Decoder
from model.loading import adapter_hash, load_model
from model.render import Renderer, session_messages
from operators.local import LocalOperator
from schema import BadInputError, Trajectory
from tests.helpers import tiny
from tests.helpers.preference import recorded, start_adapter
from training import loop, preference
from training.preference import DpoSettings, PreferenceData, preference_data, token_rows, token_weights, turn_weight
from training.preference_run import unfreeze

COMMANDS = ["ls -la", "cat notes/amber.txt | sort | uniq > out.txt", "exit", "panic the archive is damaged", "cp a b",
            "find . -name '*.csv'", "wc -l < lines.txt > count.txt", "tidebook show 2"]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.base(tmp_path_factory.mktemp("preference") / "base")


@pytest.fixture(scope="module")
def start(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return start_adapter(base, tmp_path_factory.mktemp("preference") / "sft")


def settings(start: Path, **changes: Any) -> DpoSettings:
    given: dict[str, Any] = {
        "data": Path("x"),
        "base": "y",
        "adapter": start,
        "dtype": "fp32",
        "lr": 5e-3,
        "epochs": 2,
        "terminal_loss": "all",
    }
    return DpoSettings(**{**given, **changes})


def session(id_: str, start: Path, turns: list[tuple[str, str | None]], *, kept: bool) -> Trajectory:
    row = tiny.trajectory(id_, kept=kept)
    messages = session_messages(tiny.scenario(row.scenario_id), turns)
    return recorded(row.model_copy(update={"messages": messages}), adapter_hash(start))


def data_of(rows: list[Trajectory], flags: DpoSettings) -> PreferenceData:
    found = preference_data(
        flags, rows, Renderer.for_base(tiny.tokenizer("byte_level"), "markers"), adapter_hash(flags.adapter)
    )
    assert found.pairs, found.counts()
    return found


def loaded(base: Path, start: Path) -> Any:
    import torch

    torch.set_num_threads(1)
    model, _ = load_model(base, start, dtype="fp32")
    unfreeze(model)
    return model


def our_log(base: Path, data: PreferenceData, out: Path, flags: DpoSettings) -> list[dict[str, float]]:
    """The entries of log_history.jsonl that our loop writes, with the pairs in order."""
    model = loaded(base, flags.adapter)
    out.mkdir(parents=True, exist_ok=True)
    reference = preference.reference_log_probs(model, data, flags, out / preference.REFERENCE)
    rows = preference.pair_rows(data, flags, reference)
    with stage.Progress(None, "train") as progress:
        trainer, log = loop.make_trainer(
            model, rows, out, flags, data_hash="", progress=progress, compact=True,
            objective=preference.preference_objective(flags),
        )  # fmt: skip
        trainer.args.train_sampling_strategy = "sequential"
        trainer.train()
    assert [json.loads(line) for line in (out / "log_history.jsonl").read_text().splitlines()] == log.entries
    entries: list[dict[str, float]] = log.entries
    return entries


def trl_log(base: Path, data: PreferenceData, out: Path, flags: DpoSettings, **config: Any) -> list[dict[str, float]]:
    """The entries of TRL's log for the same pairs; everything after the common opening is the completion."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    class Prepared(DPOTrainer):  # type: ignore[misc]
        def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
            return dataset

    rows = []
    for pair in data.pairs:
        ids = [example.encoded.token_ids for example in pair]
        first = pair[0].encoded.mask.index(1)
        assert ids[0][:first] == ids[1][:first]
        rows.append({"prompt_ids": ids[0][:first], "chosen_ids": ids[0][first:], "rejected_ids": ids[1][first:]})
    steps = math.ceil(len(rows) / flags.batch / flags.accum) * flags.epochs
    arguments = loop.training_arguments(flags, steps, out, on_cpu=True)
    arguments |= {"save_strategy": "no", "report_to": []}
    trainer = Prepared(
        model=loaded(base, flags.adapter),
        args=DPOConfig(**arguments, beta=flags.beta, max_length=None, **config),
        train_dataset=Dataset.from_list(rows),
        processing_class=tiny.tokenizer("byte_level"),
    )
    trainer.args.train_sampling_strategy = "sequential"
    trainer.train()
    return [entry for entry in trainer.state.log_history if "loss" in entry]


def assert_equal(ours: list[dict[str, float]], theirs: list[dict[str, float]], rel: float = 0.0) -> None:
    names = {"loss": "loss", "grad_norm": "grad_norm", "rewards/chosen": "rewards_chosen",
             "rewards/rejected": "rewards_rejected", "rewards/margins": "margin",
             "rewards/accuracies": "accuracy"}  # fmt: skip
    assert len(ours) == len(theirs)
    for mine, entry in zip(ours, theirs, strict=True):
        for their_name, name in names.items():
            assert mine[name] == pytest.approx(entry[their_name], abs=1e-5, rel=rel), (name, mine, entry)


def single_turns(start: Path, count: int = 8) -> list[Trajectory]:
    """A kept and a rejected session of one command in each of `count` scenarios."""
    draw, rows = random.Random(0), []
    for index in range(count):
        good, bad = draw.sample(COMMANDS, 2)
        rows += [session(f"a{index}-s0", start, [(good, None)], kept=True)]
        rows += [session(f"a{index}-s1", start, [(bad, None)], kept=False)]
    return rows


@pytest.mark.parametrize(("batch", "accum"), [(1, 4), (2, 2)])
def test_every_step_equals_trl_on_single_turns(base: Path, start: Path, tmp_path: Path, batch: int, accum: int) -> None:
    flags = settings(start, batch=batch, accum=accum)
    data = data_of(single_turns(start), flags)
    ours = our_log(base, data, tmp_path / "ours", flags)
    assert len(ours) == 4
    assert ours[-1]["margin"] > 0.01  # the rewards that are compared have moved
    assert_equal(ours, trl_log(base, data, tmp_path / "theirs", flags))


def test_the_sft_term_equals_trl(base: Path, start: Path, tmp_path: Path) -> None:
    flags = settings(start, batch=1, accum=2, sft_weight=0.2)
    data = data_of(single_turns(start, 4), flags)
    ours = our_log(base, data, tmp_path / "ours", flags)
    theirs = trl_log(
        base, data, tmp_path / "theirs", flags, loss_type=["sigmoid", "sft"], loss_weights=[1.0, flags.sft_weight]
    )
    assert_equal(ours, theirs, rel=2e-6)  # norms of 8: some units in the last place of fp32


def two_turns(start: Path) -> list[Trajectory]:
    """Sessions of two and three commands whose outputs differ between the sides."""
    good = [("ls -la", "total 12\n"), ("exit", None)]
    bad = [("cat notes", "no such file\n"), ("cat a b", "again nothing\n"), ("panic lost", None)]
    return [session("a-s0", start, good, kept=True), session("a-s1", start, bad, kept=False)]


def by_hand(base: Path, adapter: Path, data: PreferenceData, weigh: Any) -> list[float]:
    """For each side the sum of `weigh(turn, turns)` times the log-prob of each id of the operator, from full logits."""
    import torch

    model, _ = load_model(base, adapter, dtype="fp32")
    sums = []
    for example in data.pairs[0]:
        row, renderer = example.trajectory, Renderer.for_base(tiny.tokenizer("byte_level"), "markers")
        ids = row.token_ids or []
        with torch.no_grad():
            table = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0].double(), -1)
        turns = [at for at, message in enumerate(row.messages) if message.role == "assistant"]
        total, at = 0.0, 0
        for turn, message in enumerate(turns):
            before = turns[turn - 1] + 1 if turn else 0
            environment = row.messages[before:message]
            at += len(renderer.environment_ids(environment) if turn else renderer.context(environment))
            end = at
            while not renderer.decode_turn(ids[at:end])[1]:  # the command and its end marker
                total += weigh(turn, len(turns)) * float(table[end - 1, ids[end]])
                end += 1
            assert renderer.decode_turn(ids[at:end])[0] == row.commands[turn]
            at = end
        assert at == len(ids)
        sums.append(total)
    return sums


@pytest.mark.parametrize("loss", ["sigmoid", "dmpo"])
def test_two_turns_equal_a_calculation_by_hand(base: Path, start: Path, tmp_path: Path, loss: str) -> None:
    """In the second step the policy has left its reference; its log-probs are those of the adapter after one step."""
    flags = settings(start, accum=1, epochs=2, loss=loss, gamma=0.5 if loss == "dmpo" else 0.9, beta=0.3)
    data = data_of(two_turns(start), flags)
    weigh = {
        "sigmoid": lambda turn, turns: 1.0,
        "dmpo": lambda turn, turns: {2: [1, 1 / 3], 3: [1, 3 / 7, 1 / 7]}[turns][turn],
    }[loss]
    moved = tmp_path / "moved"
    entries = our_log(base, data, tmp_path / "out", flags)
    (tmp_path / "out" / "checkpoints" / "checkpoint-1").rename(moved)
    (moved / "sekft.json").write_bytes((start / "sekft.json").read_bytes())
    reference = by_hand(base, start, data, weigh)
    policy = by_hand(base, moved, data, weigh)
    rewards = [flags.beta * (now - then) for now, then in zip(policy, reference, strict=True)]
    first, second = entries
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-6)
    assert abs(rewards[0]) > 1e-3
    assert (second["rewards_chosen"], second["rewards_rejected"]) == pytest.approx(rewards, abs=1e-5)
    assert second["loss"] == pytest.approx(math.log(1 + math.exp(rewards[1] - rewards[0])), abs=1e-5)


def test_trl_counts_the_environment_and_so_does_the_ablation(base: Path, start: Path, tmp_path: Path) -> None:
    flags = settings(start, accum=1, epochs=3, lr=3e-4)
    ablation = settings(start, accum=1, epochs=3, lr=3e-4, loss_on_environment=True)
    data = data_of(two_turns(start), flags)
    theirs = trl_log(base, data, tmp_path / "theirs", flags)
    assert_equal(our_log(base, data, tmp_path / "ablation", ablation), theirs, rel=2e-5)  # norms of 20 and more
    masked = our_log(base, data, tmp_path / "ours", flags)[-1]
    assert abs(masked["rewards_rejected"] - theirs[-1]["rewards/rejected"]) > 1e-3


def test_weights_follow_the_turns(start: Path) -> None:
    flags = settings(start)
    chosen, rejected = data_of(two_turns(start), flags).pairs[0]
    assert token_weights(rejected, flags) == [float(on) for on in rejected.encoded.mask]
    dmpo = settings(start, loss="dmpo", gamma=0.5)
    weights = token_weights(rejected, dmpo)
    assert [bool(weight) for weight in weights] == [bool(on) for on in rejected.encoded.mask]
    assert sorted(set(weights), reverse=True) == pytest.approx([1, 3 / 7, 1 / 7, 0])
    assert weights == sorted(weights, reverse=True) or weights[0] == 0
    everything = token_weights(chosen, settings(start, loss_on_environment=True))
    assert everything.index(1.0) == chosen.encoded.mask.index(1)
    assert 0.0 not in everything[everything.index(1.0) :]
    assert [turn_weight(0, turns, 0.9) for turns in (1, 2, 20)] == pytest.approx([1, 1, 1])
    assert turn_weight(3, 10, 0.999999) == pytest.approx(0.7, abs=1e-4)  # the share of turns from it on
    assert turn_weight(1, 10, 1e-9) == pytest.approx(0, abs=1e-8)  # the first turn alone


@pytest.mark.parametrize(("changes", "spared"), [({}, True), ({"verified": True}, False), ({"terminal": None}, False)])
def test_a_rejected_terminal_counts_only_where_it_was_at_fault(
    start: Path, changes: dict[str, Any], spared: bool
) -> None:
    chosen, rejected = two_turns(start)
    rejected = rejected.model_copy(update={"verified": False, "terminal": "exit", **changes})
    flags = settings(start, terminal_loss="at-fault")
    won, lost = data_of([chosen, rejected], flags).pairs[0]
    assert (won.trajectory.kept, lost.trajectory.kept) == (True, False)
    whole = [float(on) for on in won.encoded.mask]
    assert token_weights(won, flags) == whole
    mask = [float(on) for on in lost.encoded.mask]
    turn = token_rows(lost, flags)["ending"]
    assert sum(turn) < sum(mask)  # there is a turn before the last one
    expected = [on - last for on, last in zip(mask, turn, strict=True)] if spared else mask
    assert token_weights(lost, flags) == expected
    assert token_weights(lost, settings(start, terminal_loss="all")) == mask


def test_pairs_side_by_side_sum_to_the_gradients_of_the_batch(base: Path, start: Path) -> None:
    import torch

    flags = settings(start, loss="dmpo", sft_weight=0.1)
    data = data_of([*single_turns(start, 3), *two_turns(start)], flags)
    reference = {example.id: [-3.0, -5.0, -1.0] for example in data.dataset.examples}
    objective = preference.preference_objective(flags)
    batch = objective.collate(preference.pair_rows(data, flags, reference))
    count = (objective.count or len)(batch)
    assert count == len(data.pairs) == 4
    found = []
    for cores in (0, 1, 3):
        model = loaded(base, start)
        if cores:
            torch.set_num_threads(cores)
            loss = loop.add_gradients(model, batch, count, nullcontext, objective)
        else:
            loss = objective.loss(model, batch) / count
            torch.autograd.backward(loss)
        norm = math.sqrt(sum(float((p.grad**2).sum()) for p in model.parameters() if p.grad is not None))
        found.append([float(loss.detach()), norm, *objective.figures().values()])
        assert objective.figures() == {}
    torch.set_num_threads(1)
    assert found[1] == pytest.approx(found[0], rel=1e-5)
    assert found[2] == pytest.approx(found[0], rel=1e-5)


def test_full_logits_give_the_same_log_probs(base: Path, start: Path) -> None:
    flags = settings(start)
    data, model = data_of(two_turns(start), flags), loaded(base, start)
    for example in data.pairs[0]:
        row = preference._tensors(example, flags, model.device)
        sums = [preference.log_prob_sums(model, **row, compact=compact).tolist() for compact in (False, True)]
        assert sums[0] == pytest.approx(sums[1], rel=1e-5)


def test_sessions_of_a_local_operator_are_taken_as_sampled(base: Path, start: Path, tmp_path: Path) -> None:
    """A pair that the start adapter really sampled: its ids are trained, its recorded log-probs are the reference's."""
    import torch

    model, tokenizer = load_model(base, start, dtype="fp32")
    world = tiny.scenario("a")
    operator = LocalOperator(
        Decoder(model), Renderer.for_adapter(start, tokenizer), temperature=1.0, max_new_tokens=12, name=str(base),
        adapter=start,
    )  # fmt: skip
    rows = []
    for sample in range(2):
        operator.begin(world, seed=sample)
        turns: list[tuple[str, str | None]] = []
        for _ in range(3 + sample):
            turns.append((operator.command(session_messages(world, turns)).text, "amber\n"))
        tokens = operator.tokens()
        assert tokens is not None
        update = {"messages": session_messages(world, turns), "operator": operator.info(), **vars(tokens)}
        rows.append(tiny.trajectory(f"a-s{sample}", kept=not sample).model_copy(update=update))
    flags = settings(start)
    ((chosen, rejected),) = data_of(rows, flags).pairs
    assert [chosen.encoded.token_ids, rejected.encoded.token_ids] == [row.token_ids for row in rows]
    for row in rows:
        sampled = [value is not None for value in row.log_probs or []]
        assert sum(sampled) > 20
        with torch.no_grad():
            (found,) = preference.log_prob_sums(
                model, torch.tensor(row.token_ids), torch.tensor([sampled]).float()
            ).tolist()
        assert found == pytest.approx(sum(value or 0.0 for value in row.log_probs or []), rel=1e-5)


def test_the_reference_is_computed_once(base: Path, start: Path, tmp_path: Path) -> None:
    flags, path = settings(start), tmp_path / preference.REFERENCE
    data, model = data_of(single_turns(start, 3), flags), loaded(base, start)
    first = preference.reference_log_probs(model, data, flags, path)
    lines = path.read_text().splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(first)
    changed = json.loads(lines[0]) | {"weights": 7.0}
    path.write_text("\n".join([json.dumps(changed), *lines[1:4], '{"id": "a2-s']))
    again = preference.reference_log_probs(model, data, flags, path)
    assert again.pop(changed["id"])[0] == 7.0  # what is there is taken as it is
    first.pop(changed["id"])
    assert again == first
    assert len(path.read_text().splitlines()) == 6


def test_dropout_of_the_base_makes_no_noise(base: Path, start: Path, tmp_path: Path) -> None:
    flags, model = settings(start), loaded(base, start)
    data = data_of(single_turns(start, 3), flags)
    quiet = preference.reference_log_probs(model, data, flags, tmp_path / "quiet")
    for layer in model.get_base_model().model.layers:
        layer.self_attn.attention_dropout = 0.5
    assert preference.reference_log_probs(model, data, flags, tmp_path / "again") == quiet


def test_a_selection_of_the_bare_base_is_no_start(start: Path) -> None:
    with pytest.raises(BadInputError, match="no adapter is selected, the base won"):
        settings(start, adapter=None)


@pytest.mark.parametrize(
    ("ratios", "stops"),
    [
        ([-0.6] * 10, True), ([-0.6] * 3, True), ([-0.6] * 2, False), ([-0.4] * 30, False),
        ([0.0] * 10 + [-0.51] * 10, True),
        ([-9.0, *[0.0] * 10], False),
    ],
)  # fmt: skip
def test_collapse_is_a_fall_over_ten_steps_or_all_of_a_short_run(ratios: list[float], stops: bool) -> None:
    for name, other, limit in (
        ("chosen_log_ratio", "chosen_ending_log_ratio", preference.COLLAPSE_NATS),
        ("chosen_ending_log_ratio", "chosen_log_ratio", preference.ENDING_NATS),
    ):
        entries = [{"step": at, name: 2 * limit * ratio, other: 0.0} for at, ratio in enumerate(ratios, 1)]
        line = preference.why_collapsed(entries)
        assert bool(line) == stops
        assert line is None or f"up to {len(ratios)}, {limit} is the limit" in line
        assert line is None or ("end its sessions" in line) == (name == "chosen_ending_log_ratio")


def test_the_ending_is_the_last_turn_with_its_end_marker(start: Path) -> None:
    (pair,) = data_of(two_turns(start), settings(start)).pairs
    for example in pair:
        rows = preference.token_rows(example, settings(start))
        taken = [at for at, on in enumerate(rows["ending"]) if on]
        before = [at for at, on in enumerate(rows["mask"]) if on and at < taken[0]]
        assert taken == list(range(taken[0], taken[-1] + 1))  # one turn
        assert len(before) + len(taken) == sum(example.encoded.mask)
        assert before[-1] < taken[0] - 1  # a prompt lies between
