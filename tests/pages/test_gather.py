"""What a page holds is what the directories hold: kinds, rates, differences, curves, tokens."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.git_repositories.author import write_drafts
from model.render import Renderer
from pages.document import Contents
from pages.gather import kind_of, page_contents
from pipeline.files import write_json, write_record
from pipeline.rates import RATES
from schema import BadInputError, OperatorInfo, Segment
from taxonomy import AXES, balance
from tests.helpers import run_directories as made, tiny
from tests.helpers.sessions import SESSIONS


def test_kinds_are_read_off_the_files(tmp_path: Path) -> None:
    records = made.scenarios(2)
    source = made.write_scenarios(tmp_path / "scenarios", records)
    adapter = made.write_training(tmp_path / "adapter")
    made.write_eval(tmp_path / "eval", records, adapter, source)
    made.write_rollout(tmp_path / "rollout", [made.session(records[0], "words\n")])
    kinds = {path.name: kind_of(path, None) for path in tmp_path.iterdir()}
    assert kinds == {"scenarios": "scenarios", "adapter": "training", "eval": "eval", "rollout": "rollout"}
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match=r"holds no report\.json, no records and no log_history\.jsonl"):
        kind_of(tmp_path / "empty", None)


def test_rates_of_a_rollout_need_its_scenarios_for_discovery(tmp_path: Path) -> None:
    records = made.scenarios(4)
    told = [made.session(one, "\n".join(one.directives)) for one in records[:3]]
    told.append(made.session(records[3], "nothing\n", outcome="max_steps"))
    rollout = made.write_rollout(tmp_path / "rollout", told)
    (alone,) = page_contents({"rollout": rollout}).index["groups"]
    assert alone["rates"]["discover_rate"] is None
    assert alone["rates"]["clean_rate"][0].startswith("3/4 75% [")
    source = made.write_scenarios(tmp_path / "scenarios", records)
    (group,) = page_contents({"rollout": rollout, "scenarios": source}).index["groups"]
    assert group["rates"]["discover_rate"][0].startswith("3/4 75% [")
    assert {name: group["rates"][name] for name in RATES if name != "discover_rate"} == {
        name: alone["rates"][name] for name in RATES if name != "discover_rate"
    }
    assert group["per_axis"]["task"]["missing_source"]["clean_rate"][0].startswith("0/1 0%")
    assert alone["per_axis"]["task"]["missing_source"]["clean_rate"][0].startswith("0/1 0%")


def test_runs_are_compared_on_the_first_sample_of_scenarios_of_both(tmp_path: Path) -> None:
    records = made.scenarios(6)
    source = made.write_scenarios(tmp_path / "scenarios", records)
    one = [
        made.session(record, "x\n", sample=sample, outcome="exit" if sample else "max_steps")
        for record in records
        for sample in (0, 1)
    ]
    two = [made.session(record, "x\n") for record in records[:5]]
    runs = {"a": made.write_rollout(tmp_path / "a", one), "b": made.write_rollout(tmp_path / "b", two)}
    (difference,) = page_contents({**runs, "scenarios": source}).index["differences"]
    assert (difference["label"], difference["n"]) == ("b - a", 5)
    assert difference["rates"]["clean_rate"] == ["+100 [+100,+100]", 1.0, 1.0, 1.0]
    apart = [made.session(record, "x\n") for record in made.scenarios(6)[5:]]
    others = {"of other scenarios": made.write_rollout(tmp_path / "other", apart), "again": runs["b"]}
    found = page_contents({**others, **runs, "scenarios": source}).index["differences"]
    assert [one["label"] for one in found] == ["a - of other scenarios", "b - again"]


def test_curves_keep_every_figure_and_few_points(tmp_path: Path) -> None:
    curves = page_contents({"t": made.write_training(tmp_path / "adapter", steps=1000)}).index["curves"]
    assert {curve["name"] for curve in curves} == {"loss", "reward"}
    reward = next(curve for curve in curves if curve["name"] == "reward")
    assert (len(reward["points"]), reward["steps_per_point"]) == (250, 4)
    assert reward["points"][0] == (4, pytest.approx(0.0025))
    assert reward["points"][-1][0] == 1000


def test_curves_of_one_training_are_drawn_once(tmp_path: Path) -> None:
    records = made.scenarios(4)
    adapter = made.write_training(tmp_path / "adapter")
    runs = {name: made.write_eval(tmp_path / name, records, adapter, tmp_path / "scenarios") for name in ("one", "two")}
    drawn = [(curve["run"], curve["name"]) for curve in page_contents(runs).index["curves"]]
    assert drawn == [("one: training of adapter", "loss"), ("one: training of adapter", "reward")]
    (tmp_path / "link").symlink_to(adapter)
    for training in (adapter, tmp_path / "link"):
        for both in ({**runs, "trained": training}, {"trained": training, **runs}):
            drawn = [(curve["run"], curve["name"]) for curve in page_contents(both).index["curves"]]
            assert drawn == [("trained", "loss"), ("trained", "reward")]


@pytest.mark.parametrize("family", ["byte_level", "metaspace"])
def test_tokens_are_shaded_where_the_tokenizer_is_there(family: str, tmp_path: Path) -> None:
    base = tiny.base(tmp_path / "base", family=family)
    session = tiny.trajectory()
    renderer = Renderer.for_base(tiny.tokenizer(family))
    encoded = renderer.encode(session.messages)
    log_probs = [-0.5 if on else None for on in encoded.mask]
    recorded = {
        "operator": OperatorInfo(kind="local", model=str(base)), "token_ids": encoded.token_ids,
        "assistant_mask": encoded.mask, "log_probs": log_probs,
    }  # fmt: skip
    write_record(tmp_path / "out", session.model_copy(update=recorded))
    turns = block(page_contents({"out": tmp_path / "out"}))["tokens"]
    for turn, command in zip(turns, session.commands, strict=True):
        assert "".join(text for text, _ in turn).startswith(command)
    assert all(-0.5 in (log_prob for _, log_prob in turn) for turn in turns)
    elsewhere = {**recorded, "operator": OperatorInfo(kind="local", model="nowhere")}
    write_record(tmp_path / "out", session.model_copy(update=elsewhere))
    contents = page_contents({"out": tmp_path / "out"})
    assert block(contents)["tokens"] is None
    assert "'nowhere' is no directory here: no shade" in " ".join(contents.index["runs"][0]["notes"])


def test_an_agent_programs_replies_are_shaded(tmp_path: Path) -> None:
    base = tiny.base(tmp_path / "base")
    session = SESSIONS["an agent program's"]
    ids = tiny.tokenizer("byte_level").encode('{"command": "ls"}', add_special_tokens=False)
    segments = [
        Segment(token_ids=[5, *ids], assistant_mask=[0, *[1] * len(ids)], log_probs=[None, *[-0.5] * len(ids)]),
        Segment(token_ids=ids, assistant_mask=[1] * len(ids), log_probs=[-1.0] * len(ids)),
    ]
    for model, count in ((str(base), 2), ("nowhere", 0)):
        operator = session.operator.model_copy(update={"model": model})
        write_record(tmp_path / "out", session.model_copy(update={"operator": operator, "segments": segments}))
        contents = page_contents({"out": tmp_path / "out"})
        found = block(contents)
        assert found["tokens"] is None
        assert ["".join(text for text, _ in reply).strip() for reply in found["replies"] or []] == [
            '{"command": "ls"}'
        ] * count
        assert ("no shade" in " ".join(contents.index["runs"][0]["notes"])) == (count == 0)


def block(contents: Contents) -> dict[str, Any]:
    return dict(contents.blocks)["t0"]  # type: ignore[no-any-return]


def test_progress_has_a_line_for_each_run_and_each_hundredth_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = made.scenarios(3)
    sessions = [made.session(one, "x\n", sample=sample) for one in records for sample in range(35)]
    runs = {"s": made.write_scenarios(tmp_path / "s", records), "r": made.write_rollout(tmp_path / "r", sessions)}
    page_contents(runs)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(maxsplit=2)[0] for line in lines] == ["read 1/2", "read 2/2", "page 100/105", "page 105/105"]
    assert lines[:2] == ["read 1/2 s scenarios", "read 2/2 r rollout"]


def test_balance_is_counted_from_the_records(tmp_path: Path) -> None:
    """The manifests of a split and of hand-written scenarios hold none; the one in the helper's manifest is wrong."""
    directory = made.write_scenarios(tmp_path / "scenarios", made.scenarios(8))
    found = [page_contents({"s": directory}).index["sources"][0]["balance"]]
    write_json(directory / "manifest.json", {"stage": "split", "finished": True, "flags": {"by": "archetype"}})
    found.append(page_contents({"s": directory}).index["sources"][0]["balance"])
    (directory / "manifest.json").unlink()
    found.append(page_contents({"s": directory}).index["sources"][0]["balance"])
    one_value = {axis: 1 / len(values) for axis, values in AXES.items()}
    assert found == [pytest.approx({**one_value, "task": 4 / len(AXES["task"])})] * 3


def test_an_own_taxonomy_has_rates_balance_and_values_on_the_page(tmp_path: Path) -> None:
    """The git domain of examples/: its eight archetypes beside the shipped ones."""
    records = write_drafts(16, seed=1)
    tasks = sorted({record.task for record in records})
    assert len(tasks) == 8
    good = tasks[0]
    sessions = [
        made.session(one, "x\n", taxonomy=one.taxonomy, outcome="exit" if one.task == good else "max_steps")
        for one in records
    ]
    runs = {"s": made.write_scenarios(tmp_path / "s", records), "r": made.write_rollout(tmp_path / "r", sessions)}
    for named in (runs, {"r": runs["r"]}):  # with its scenarios, and without
        (group,) = page_contents(named).index["groups"]
        cells = {value: rates["verified_rate"][0] for value, rates in group["per_axis"]["task"].items()}
        assert cells == {one: "2/2 100% [34-100]" if one == good else "0/2 0% [0-66]" for one in tasks}
    (source,) = page_contents(runs).index["sources"]
    assert source["axes"]["task"] == dict.fromkeys(tasks, 2)
    assert source["balance"]["task"] == pytest.approx(8 / (len(AXES["task"]) + 8))
    providers = [one.provider_kind for one in records]
    assert source["balance"]["provider"] == pytest.approx(balance(providers, len(AXES["provider"])))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attempts", "ten"), ("attempts", float("inf")), ("refused", ["solution"]), ("refused", {"solution": None}),
        ("yield", "all"), ("yield", {"solution": None}), ("yield", {"solution": {"reached": 3}}),
        ("yield", {"solution": {"reached": 3, "passed": float("nan")}}),
    ],
)  # fmt: skip
def test_malformed_gate_counts_are_named(name: str, value: Any, tmp_path: Path) -> None:
    directory = made.write_scenarios(tmp_path / "s", made.scenarios(2))
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["counts"][name] = value
    write_json(directory / "manifest.json", manifest)
    with pytest.raises(BadInputError, match=rf"s/manifest\.json: counts\.{name}: is not what generate\.py counts"):
        page_contents({"s": directory})


def test_unfinished_directories_need_partial(tmp_path: Path) -> None:
    directory = made.write_rollout(tmp_path / "out", [made.session(made.scenarios(1)[0], "x\n")])
    write_json(directory / "manifest.json", {"stage": "rollout", "finished": False})
    with pytest.raises(BadInputError, match=r"manifest\.json: finished: false; rerun that stage or pass --partial"):
        page_contents({"out": directory})
    assert page_contents({"out": directory}, partial=True).index["runs"][0]["notes"] == [
        "not finished: what is there so far"
    ]


def test_a_live_training_is_drawn_and_a_live_eval_is_watched(tmp_path: Path) -> None:
    training = made.write_training(tmp_path / "adapter")
    whole = page_contents({"t": training}).index["curves"]
    with (training / "log_history.jsonl").open("a") as log:
        log.write('{"step": 99')
    assert page_contents({"t": training}, partial=True).index["curves"] == whole
    write_json(tmp_path / "eval" / "manifest.json", {"stage": "eval", "finished": False})
    with pytest.raises(BadInputError, match=r"no report\.json, .*--watch"):
        page_contents({"e": tmp_path / "eval"}, partial=True)


def test_every_record_is_on_the_page_once(tmp_path: Path) -> None:
    sessions = [made.session(one, "x\n", sample=sample) for one in made.scenarios(3) for sample in (0, 1)]
    contents = page_contents({"out": made.write_rollout(tmp_path / "out", sessions)})
    assert [row[1] for row in contents.index["rows"]] == sorted(one.id for one in sessions)
    assert [name for name, _ in contents.blocks] == [f"t{n}" for n in range(6)]
    shown = {"scenario_id", "operator", "steps", "terminal", "verified", "command_only", "outcome", "kept", "reasons"}
    assert shown <= set(block(contents))
