"""An agent program in a real sandbox: graded, every sampled token recorded, no way out but the model's endpoint."""

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.app import EndpointServer
from agents.backend import BackendError
from agents.canonical import ChatMessage, ToolCall
from agents.known import OPT, PLAIN, PYTHON, AgentProgram
from agents.policy import CONTEXT_TOKENS, AnswerPolicy, PolicyBackend, ReferencePolicy
from agents.program_episode import ProgramLimits, play_program, program_options
from agents.relay import PORT
from agents.templates import ChatTemplate
from operators.episode import Episode
from operators.reference import ReferenceOperator
from sandbox import containers
from sandbox.containers import IMAGE
from sandbox.pool import Pool
from schema import OperatorInfo, Scenario, Trajectory
from tests.helpers.agent_image import build_agent_image
from tests.helpers.hand_scenarios import hand
from tests.helpers.processes import containers_of, sandboxes_of
from tests.helpers.real_base import real_base

pytestmark = pytest.mark.docker
LIMITS = ProgramLimits(max_seconds=240.0)
Play = Callable[..., tuple[Trajectory, PolicyBackend]]


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    from transformers import AutoTokenizer

    template = ChatTemplate.of(AutoTokenizer.from_pretrained(real_base(tmp_path_factory)))
    build_agent_image("plain")

    def run(
        policy: AnswerPolicy,
        scenario: Scenario,
        program: AgentProgram = PLAIN,
        limits: ProgramLimits = LIMITS,
        context_tokens: int = CONTEXT_TOKENS,
        told: Callable[[str], None] | None = None,
    ) -> tuple[Trajectory, PolicyBackend]:
        backend = PolicyBackend("policy", template, policy, context_tokens)
        with EndpointServer(template, backend) as server:
            pool = Pool(1, options=program_options(program, limits, IMAGE))
            info = OperatorInfo(kind="agent", agent=program.name)
            episode = Episode(scenario)
            played = play_program(program, server, episode, operator=info, limits=limits, pool=pool, told=told)
        assert not sandboxes_of(os.getpid())
        assert not {"endpoint", "sekft-relay"} & {thread.name for thread in threading.enumerate()}
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))
        return played, backend

    return run


def again(request: Any) -> ChatMessage:
    """A policy that never ends."""
    return ChatMessage("assistant", tool_calls=(ToolCall("", "shell", {"command": "echo again"}),))


def trained(trajectory: Trajectory) -> list[list[int]]:
    return [
        [id_ for id_, on in zip(row.token_ids, row.assistant_mask, strict=True) if on]
        for row in trajectory.segments or []
    ]


@pytest.mark.parametrize("blocked", [False, True])
def test_the_reference_solves_it_through_the_program(play: Play, blocked: bool) -> None:
    scenario = hand(blocked=blocked)
    trajectory, endpoint = play(ReferencePolicy(ReferenceOperator(), scenario, PLAIN, seed=1), scenario)
    assert (trajectory.kept, trajectory.reasons, trajectory.outcome) == (True, [], scenario.terminal)
    assert trained(trajectory) == [
        [id_ for ids in endpoint.sampled for id_ in ids]
    ]  # one segment, all that was sampled
    assert trajectory.changes is not None
    assert {one.path for one in trajectory.changes.created} <= {
        f"/home/operator/{one}" for one in ("sorted.txt", "colours.txt")
    }
    assert trajectory.operator.agent == "plain"
    assert scenario.announcement.text in trajectory.messages[1].content


TRIES = """
import json, os, socket, sys, urllib.request
places = [("127.0.0.1", PORT + 1), ("127.0.0.1", 22), ("1.1.1.1", 53), ("169.254.169.254", 80),
          ("172.17.0.1", HOST_PORT), ("10.0.0.1", 80), ("::1", PORT)]
for place in places:
    try:
        socket.create_connection(place, timeout=3)
        print("reached", place)
    except OSError as error:
        print("refused", place)
for family, kind, protocol in ((socket.AF_INET, socket.SOCK_DGRAM, 0), (socket.AF_INET, socket.SOCK_RAW, 0),
                               (socket.AF_INET, socket.SOCK_STREAM, 132), (socket.AF_INET, socket.SOCK_STREAM, 262),
                               (socket.AF_INET6, socket.SOCK_STREAM, 0), (16, socket.SOCK_RAW, 0),
                               (17, socket.SOCK_RAW, 0)):  # 132 and 262: SCTP, multipath TCP
    try:
        socket.socket(family, kind, protocol)
        print("opened", family, kind, protocol)
    except OSError:
        print("refused", family, kind, protocol)
for option in (26, 44, 50):  # SO_ATTACH_FILTER, SO_LOCK_FILTER, SO_ATTACH_BPF
    try:
        socket.socket().setsockopt(socket.SOL_SOCKET, option, 1)
        print("opened", option)
    except PermissionError:
        print("refused", option)
request = urllib.request.Request(os.environ["BASE_URL"] + "/chat/completions", b'{"messages": []}')
request.add_header("Authorization", "Bearer another")
try:
    urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    print("endpoint says", error.code)
"""


SIDE_CALL = """
import os, runpy, urllib.request
body = b'{"messages": [{"role": "user", "content": "Write a title."}]}'
request = urllib.request.Request(os.environ["BASE_URL"] + "/chat/completions", body)
request.add_header("Authorization", "Bearer " + os.environ["API_KEY"])
urllib.request.urlopen(request).read()
runpy.run_path("PROGRAM")
"""


def test_a_program_reaches_the_endpoint_and_nothing_else(play: Play) -> None:
    listening = socket.create_server(("0.0.0.0", 0))
    script = TRIES.replace("HOST_PORT", str(listening.getsockname()[1])).replace("PORT", str(PORT))
    program = replace(PLAIN, arguments=lambda prompt: [PYTHON, "-I", "-c", script])
    trajectory, _ = play(lambda request: ChatMessage("assistant", "exit"), hand(), program)
    listening.close()
    assert trajectory.agent_run is not None
    said = trajectory.agent_run.output
    assert "reached" not in said
    assert "opened" not in said
    assert said.count("refused") == 17
    assert "endpoint says 401" in said
    # It never had an answer, so it says nothing about the model: void, and no row to train.
    assert (trajectory.outcome, trajectory.kept, trajectory.segments) == ("operator_failed", False, None)


def test_the_budget_of_turns_ends_the_session(play: Play) -> None:
    trajectory, endpoint = play(again, hand(), limits=replace(LIMITS, max_steps=3))
    assert (trajectory.outcome, len(endpoint.sampled), len(trajectory.commands)) == ("max_steps", 3, 3)
    assert not trajectory.verified
    assert trained(trajectory) == [[id_ for ids in endpoint.sampled for id_ in ids]]


def test_the_budget_of_time_and_of_tokens_end_the_session(play: Play) -> None:
    def slow(request: Any) -> ChatMessage:
        return ChatMessage("assistant", tool_calls=(ToolCall("", "shell", {"command": "sleep 100"}),))

    def chatty(request: Any) -> ChatMessage:
        return ChatMessage("assistant", tool_calls=(ToolCall("", "shell", {"command": "echo " + "word " * 200}),))

    timed, _ = play(slow, hand(), limits=replace(LIMITS, max_seconds=20.0))  # Python starts in them
    assert (timed.outcome, len(timed.commands)) == ("max_seconds", 1)
    assert timed.agent_run is not None
    assert 20 <= timed.agent_run.seconds < 60
    counted, endpoint = play(chatty, hand(), limits=replace(LIMITS, max_tokens=500))
    assert counted.outcome == "max_tokens"
    assert sum(map(len, endpoint.sampled)) >= 500 > sum(map(len, endpoint.sampled[:-1]))


def test_the_last_reply_decides_though_it_is_recorded_after_the_program_has_ended(play: Play) -> None:
    trajectory, _ = play(lambda request: ChatMessage("assistant", "exit"), hand(), told=lambda _: time.sleep(3))
    assert (trajectory.outcome, trajectory.commands, trajectory.error) == ("exit", ["exit"], None)
    assert trajectory.agent_run is not None
    assert trajectory.agent_run.exit_code == 0


def test_a_model_that_fails_voids_the_episode(play: Play) -> None:
    asked = []

    def fails(request: Any) -> ChatMessage:
        asked.append(request)
        if len(asked) == 3:
            raise BackendError("the model is gone")
        return again(request)

    trajectory, _ = play(fails, hand())
    assert (trajectory.outcome, trajectory.error) == ("operator_failed", "the model is gone")
    assert (trajectory.segments, trajectory.kept, len(trajectory.commands)) == (None, False, 2)


def test_a_sandbox_that_dies_voids_the_episode(play: Play) -> None:
    def kills(request: Any) -> ChatMessage:
        for one in containers_of(os.getpid()):
            containers.api().kill(one)
        return ChatMessage("assistant", tool_calls=(ToolCall("", "shell", {"command": "echo again"}),))

    trajectory, _ = play(kills, hand())
    found = (trajectory.outcome, trajectory.kept, trajectory.segments)
    assert found == ("sandbox_failed", False, None), (trajectory.error, trajectory.agent_run)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can steer the kernel")
def test_a_program_that_uses_up_the_memory_is_scored(play: Play) -> None:
    """The kernel kills the largest process; with this score it kills PID 1, and the whole container with it."""

    def eats(request: Any) -> ChatMessage:
        for one in containers_of(os.getpid()):
            pid = containers.api().inspect_container(one)["State"]["Pid"]
            Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
        return ChatMessage("assistant", tool_calls=(ToolCall("", "shell", {"command": "tail /dev/zero"}),))

    trajectory, _ = play(eats, hand())
    assert (trajectory.outcome, trajectory.kept) == ("locked_out", False), (trajectory.error, trajectory.agent_run)
    assert "used up its memory" in (trajectory.error or "")


def test_a_full_context_ends_the_session_and_is_scored(play: Play) -> None:
    trajectory, backend = play(again, hand(), context_tokens=700)
    assert (trajectory.outcome, trajectory.kept) == ("context_full", False)
    assert trained(trajectory) == [[id_ for ids in backend.sampled for id_ in ids]]


SENDS = """
import json, os, runpy, time, urllib.request
tool = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}
def send(text, tools, seconds=60):  # what it was refused for
    body = json.dumps({"messages": [{"role": "user", "content": text}], "tools": tools}).encode()
    request = urllib.request.Request(os.environ["BASE_URL"] + "/chat/completions", body)
    request.add_header("Authorization", "Bearer " + os.environ["API_KEY"])
    try:
        urllib.request.urlopen(request, timeout=seconds).read()
    except urllib.error.HTTPError as error:
        return error.read().decode()
    except OSError:
        pass
    return ""
"""


def test_a_program_that_shortens_a_full_context_goes_on(play: Play) -> None:
    """The model reads no title of that length either, which ends nothing."""
    script = (
        SENDS
        + f"""
for tools in ([], [], [tool]):
    send("word " * 5000, tools)
runpy.run_path("{OPT}/plain/plain.py")
"""
    )
    program = replace(PLAIN, arguments=lambda prompt: [PYTHON, "-I", "-c", script, prompt])
    trajectory, _ = play(lambda request: ChatMessage("assistant", "exit"), hand(), program, context_tokens=4000)
    assert (trajectory.outcome, trajectory.commands, trajectory.error) == ("exit", ["exit"], None)


def test_replies_that_the_program_never_got_use_up_the_tokens(play: Play) -> None:
    def slow(request: Any) -> ChatMessage:
        time.sleep(2)
        return ChatMessage("assistant", "word " * 200)

    script = (
        SENDS
        + """
while "had its 300 sampled tokens" not in send("Go.", [tool], seconds=1):
    time.sleep(1)
"""
    )
    program = replace(PLAIN, arguments=lambda prompt: [PYTHON, "-I", "-c", script])
    trajectory, _ = play(slow, hand(), program, limits=replace(LIMITS, max_tokens=300))
    assert (trajectory.outcome, trajectory.commands, trajectory.segments) == ("max_tokens", [], [])


def test_a_side_call_is_no_turn(play: Play) -> None:
    """A request without tools is answered, costs tokens, and is neither a command nor the end."""
    script = SIDE_CALL.replace("PROGRAM", f"{OPT}/plain/plain.py")
    program = replace(PLAIN, arguments=lambda prompt: [PYTHON, "-I", "-c", script, prompt])
    trajectory, endpoint = play(lambda request: ChatMessage("assistant", "exit"), hand(), program)
    assert (len(endpoint.sampled), trajectory.commands, trajectory.outcome) == (2, ["exit"], "exit")
    assert trajectory.agent_run is not None
    assert trajectory.agent_run.counts["side_call_calls"] == 1
    assert trained(trajectory) == [endpoint.sampled[1]]


def test_a_program_that_offers_no_tools_is_void_and_told_why(play: Play) -> None:
    script = SIDE_CALL.replace('runpy.run_path("PROGRAM")', "")
    program = replace(PLAIN, arguments=lambda prompt: [PYTHON, "-I", "-c", script])
    trajectory, _ = play(lambda request: ChatMessage("assistant", "exit"), hand(), program)
    assert (trajectory.outcome, trajectory.segments) == ("operator_failed", None)
    assert "ended with 0 and had 1 answers, none to a request with tools" in str(trajectory.error)


AT_ONCE = """
import json, os, threading, urllib.request
tool = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}
def ask(number):
    body = json.dumps({"messages": [{"role": "user", "content": str(number)}], "tools": [tool]}).encode()
    request = urllib.request.Request(os.environ["BASE_URL"] + "/chat/completions", body)
    request.add_header("Authorization", "Bearer " + os.environ["API_KEY"])
    try:
        urllib.request.urlopen(request).read()
    except OSError:
        pass
threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_requests_at_once_have_no_more_steps_than_the_budget(play: Play) -> None:
    """Each answer takes a second, so that all four requests come before the first is answered."""

    def slow(request: Any) -> ChatMessage:
        time.sleep(1)
        return again(request)

    program = replace(PLAIN, arguments=lambda prompt: [PYTHON, "-I", "-c", AT_ONCE])
    trajectory, endpoint = play(slow, hand(), program, limits=replace(LIMITS, max_steps=2, timeout_seconds=10.0))
    assert (trajectory.outcome, len(trajectory.commands), len(endpoint.sampled)) == ("max_steps", 2, 2)


def test_a_program_that_ends_without_a_terminal_is_scored(play: Play) -> None:
    trajectory, _ = play(lambda request: ChatMessage("assistant", "I am done."), hand())
    assert (trajectory.outcome, trajectory.kept, len(trajectory.segments or [])) == ("ended", False, 1)
    assert trajectory.agent_run is not None
    assert trajectory.agent_run.exit_code == 0
