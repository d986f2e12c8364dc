"""Rollouts of an agent program: verified, one segment per session, its tokens those that were sampled, on disk."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from agents.app import EndpointServer
from agents.known import PLAIN
from agents.policy import PolicyBackend
from agents.program_episode import ProgramLimits
from agents.program_rollouts import ProgramPlayer, no_backend, reference_backends, require_program_image
from agents.templates import ChatTemplate
from model.loading import load_model
from operators.episode import Episode, EpisodeLimits
from operators.reference import ReferenceOperator
from operators.rollouts import RolloutPlan, run_episodes
from pipeline.files import read_json, read_trajectories
from pipeline.rates import agent_counts
from sandbox.containers import IMAGE
from schema import BadInputError, OperatorInfo, Scenario
from tests.helpers import ROOT, tiny
from tests.helpers.agent_image import build_agent_image
from tests.helpers.processes import heed_signals, sandboxes_of
from tests.helpers.real_base import real_base
from tests.helpers.rollouts import clean_environment, command_line, made, script, write_scenarios

pytestmark = pytest.mark.docker
AGENT = ("--operator", "agent", "--agent", "plain")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_agent_image("plain")
    return real_base(tmp_path_factory)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios of the offline author, one of them blocked."""
    scenarios = [one for one in made() if one.task in ("set_config", "missing_source")]
    return write_scenarios(tmp_path_factory.mktemp("agents") / "scenarios", scenarios)


def scenarios_in(directory: Path) -> list[Scenario]:
    return [Scenario.model_validate(read_json(path)) for path in sorted(directory.glob("*-0*.json"))]


def test_template_authored_scenarios_through_the_plain_program(base: Path, two: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    template, backends = ChatTemplate.of(AutoTokenizer.from_pretrained(base)), dict[str, PolicyBackend]()

    def backend(episode: Episode, seed: int) -> PolicyBackend:
        backends[episode.id] = reference_backends(template, PLAIN)(episode, seed)
        return backends[episode.id]

    cancelled, episodes = threading.Event(), [Episode(one) for one in scenarios_in(two)]
    info = OperatorInfo(kind="agent", agent="plain", model="reference")
    with EndpointServer(template, no_backend(template)) as server:
        play = ProgramPlayer(PLAIN, ProgramLimits(max_steps=60), IMAGE, info, server, 1, cancelled, backend)
        limits = EpisodeLimits(60, 30.0)
        plan = RolloutPlan(ReferenceOperator, 1, limits, 2, cancelled, IMAGE, play=play, options=play.options)
        run_episodes(plan, episodes, tmp_path, label="rollout")
    found = read_trajectories(tmp_path, partial=True)
    assert sorted((one.axes["task"], one.outcome, one.kept) for one in found) == [
        ("missing_source", "panic", True), ("set_config", "exit", True)
    ]  # fmt: skip
    assert [one.operator.seed for one in found] == [one.seed_in(1) for one in episodes]
    assert agent_counts(found) == {"forks": 0}
    for one in found:
        (row,) = one.segments or []
        trained = [id_ for id_, on in zip(row.token_ids, row.assistant_mask, strict=True) if on]
        assert trained == [id_ for ids in backends[one.id].sampled for id_ in ids]
        assert one.steps


def test_an_interrupt_leaves_nothing_behind_and_the_next_run_resumes(base: Path, two: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = [*AGENT, "--answers", "reference", "--base", str(base), "--samples", "2", "--workers", "1"]
    process = subprocess.Popen(
        command_line(two, out, *flags), cwd=ROOT, env=clean_environment(), preexec_fn=heed_signals,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while not list(out.glob("*-s?.json")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    assert not sandboxes_of(process.pid)
    done = {path: path.stat().st_mtime_ns for path in out.glob("*-s?.json")}
    assert all(read_json(path)["outcome"] in ("exit", "panic") for path in done)
    assert not read_json(out / "manifest.json")["finished"]
    code, summary, said = script(two, out, *flags)
    assert (code, summary["kept"], summary["resumed"], 0 < len(done) < 4) == (0, 4, len(done), True), said
    assert {path: path.stat().st_mtime_ns for path in done} == done
    manifest = read_json(out / "manifest.json")
    assert (manifest["finished"], manifest["flags"]["agent"], manifest["flags"]["max_tokens"]) == (True, "plain", 32768)


def test_a_model_answers_and_what_it_sampled_is_recorded(base: Path, two: Path, tmp_path: Path) -> None:
    """A model with random weights types no terminal; its every token is in the one segment, with its log-prob."""
    tiny.base(tmp_path / "tiny")
    flags = ["--base", str(tmp_path / "tiny"), "--dtype", "fp32"]
    flags += ["--limit", "1", "--max-new-tokens", "8", "--temperature", "1"]
    code, summary, said = script(two, tmp_path / "out", *AGENT, *flags)
    assert (code, summary["rollouts"], summary["voided"]) == (0, 1, 0), said
    (found,) = read_trajectories(tmp_path / "out")
    (row,) = found.segments or []
    assert found.agent_run
    assert (found.outcome, found.kept, sum(row.assistant_mask)) == (
        "ended", False, found.agent_run.counts["sampled_tokens"]
    )  # fmt: skip
    assert all((one is not None) == bool(on) for one, on in zip(row.log_probs, row.assistant_mask, strict=True))
    assert found.operator.sampling == {"temperature": 1.0, "max_new_tokens": 8}
    model, _ = load_model(tmp_path / "tiny", dtype="fp32", device="cpu")
    with torch.inference_mode():
        logits = model(torch.tensor([row.token_ids])).logits[0].log_softmax(-1)
    for place, log_prob in enumerate(row.log_probs):  # what a trainer computes is what the endpoint recorded
        if log_prob is not None:
            assert float(logits[place - 1, row.token_ids[place]]) == pytest.approx(log_prob, abs=1e-4)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--operator", "agent"), "--agent NAME and --operator agent belong together"),
        (("--agent", "plain", "--operator", "reference"), "--agent NAME and --operator agent belong together"),
        ((*AGENT, "--max-seconds", "0"), "--max-seconds 0.0: must be more than 0"),
        ((*AGENT, "--max-tokens", "0"), "--max-tokens 0: must be at least 1"),
        ((*AGENT, "--render", "chat"), "--render: an agent program's messages are read by the base's chat template"),
        ((*AGENT, "--base", "tiny-spaced"), "no known form of tool calls in it"),
        (("--operator", "agent", "--agent", "nobody"), "argument --agent: invalid choice: 'nobody'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    flags: tuple[str, ...], words: str, two: Path, base: Path, tmp_path: Path
) -> None:
    if "tiny-spaced" in flags:
        tiny.tokenizer("byte_level", "spaced").save_pretrained(tiny.base(tmp_path / "tiny-spaced"))
    given = [str(tmp_path / one) if one == "tiny-spaced" else one for one in flags]
    given += ["--base", str(base)] if "--base" not in given and "reference" not in given else []
    code, summary, said = script(two, tmp_path / "out", *given)
    assert (code, summary, len(said.splitlines())) == (2, {}, 1), said
    assert words in said
    assert not (tmp_path / "out").exists()


@pytest.fixture
def world() -> Iterator[str]:
    """Another image of the world: the same files, another id."""
    name = f"sekft-world-{os.getpid()}"
    build = f"FROM {IMAGE}\nLABEL sekft.other=1\n"
    subprocess.run(["docker", "build", "--quiet", "--tag", name, "-"], input=build.encode(), check=True, timeout=300)
    yield name
    for one in (f"{name}-plain", name):
        subprocess.run(["docker", "rmi", "--force", one], check=True, timeout=300)


def test_an_image_that_is_missing_or_built_on_another_world_is_refused(base: Path, world: str) -> None:
    remedy = f"run `WORLD={world} sh runs/agent_image.sh plain`"
    with pytest.raises(BadInputError) as missing:
        require_program_image(PLAIN, world)
    assert str(missing.value) == f"--agent plain: image '{world}-plain' is missing or unfit; {remedy}"
    subprocess.run(["docker", "tag", f"{IMAGE}-plain", f"{world}-plain"], check=True, timeout=300)
    with pytest.raises(BadInputError) as other:
        require_program_image(PLAIN, world)
    assert str(other.value) == f"--agent plain: image '{world}-plain' was built on another '{world}'; {remedy}"
