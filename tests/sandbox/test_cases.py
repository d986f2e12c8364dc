"""Every conformance case holds on real Docker, and the self-check fails where one does not."""

import json
import os
import subprocess
import sys

import pytest

from dashdocker import main
from sandbox import containers, wrapper
from sandbox.cases import CASES
from sandbox.checker import verify
from sandbox.conformance import Case, Testbed, same
from sandbox.containers import SandboxOptions
from sandbox.oneshot import run
from sandbox.pool import Pool
from sandbox.session import session
from schema import BadInputError
from tests.helpers import ROOT

TESTBED = Testbed(parallel=16, commands=5)  # the self-check runs F13 at its full size: minutes on two cores
SPECIFIED = """
A01 A02 A03 A04 A05 A06 A07 A08 A09 A10 A11 A12 A12b A12c A13 A14 A15 A16 A17 A18 A20 A21
B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B12 B13 B14 B15 B16 B18
C01 C02 C03 C04 C06 C07 C09 C10 C11 C12 C13
D01 D02 D03 D06
E01 E02 E03 E04 E05 E06 E07 E08 E09
F01 F02 F03 F04 F05 F06 F08 F09 F10 F11 F13
G01 G02 G03 G05 G06 G07 G08
"""
NAMES = SPECIFIED.split()
RULES = "B05 B06 B08 B13 B14 B16 C07 D03 D06 E05 E06 E09 F01 G05"


SLOW = {"C07", "C12", "F13"}


@pytest.mark.docker
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in NAMES]
)
def test_case_holds(name: str) -> None:
    CASES[name].check(TESTBED)


def test_cases_are_exactly_those_specified() -> None:
    assert list(CASES) == NAMES
    assert all(case.claim.endswith(".") for case in CASES.values())


def test_page_states_every_rule() -> None:
    rules = [case for case in CASES.values() if case.documented]
    assert [case.name for case in rules] == RULES.split()
    page = (ROOT / "docs" / "sandbox.md").read_text()
    assert [case.name for case in rules if f"| {case.name} | {case.claim} (rule) |" not in page] == []


# F12: the self-check


def self_check(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "dashdocker.py", "self-check", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.docker
def test_F12_self_check_prints_a_line_per_case_and_the_counts() -> None:
    for _ in range(2):
        done = self_check("--only", "B05,A01", "--runtime", "runc")
        assert done.returncode == 0, done.stderr
        assert [line.split()[:2] for line in done.stderr.splitlines()] == [["A01", "ok"], ["B05", "documented"]]
        summary = json.loads(done.stdout)
        assert (summary["cases"], summary["ok"], summary["documented"], summary["failed"]) == (2, 1, 1, [])


@pytest.mark.docker
def test_F12_broken_wrapper_fails_the_self_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wrapper, "SAVE", ":")
    assert main(action="self-check", runtime=None, only="A01,B01", image=None) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["failed"] == ["B01"]
    good, bad = said.err.splitlines()
    assert good.startswith("A01 ok ")
    assert bad.startswith("B01 FAILED ")
    assert bad.endswith("AssertionError: saw '/home/operator', not '/usr'")


@pytest.mark.docker
def test_F12_failed_cases_do_not_stop_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def dies(testbed: Testbed) -> None:
        with testbed.session() as shell:
            containers.api().remove_container(shell.container, force=True)
            shell.step("echo on")

    monkeypatch.setitem(CASES, "Z01", Case("Z01", "One is two.", lambda testbed: same(1, 2)))
    monkeypatch.setitem(CASES, "Z02", Case("Z02", "The dead speak.", dies))
    monkeypatch.setitem(CASES, "Z03", Case("Z03", "It says how much.", lambda testbed: "12 s"))
    assert main(action="self-check", runtime=None, only="Z01,Z02,Z03", image=None) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["failed"] == ["Z01", "Z02"]
    first, second, third = said.err.splitlines()
    assert first.endswith("One is two. -- AssertionError: saw 1, not 2")
    assert "The dead speak. -- SandboxError: " in second
    assert third.endswith("It says how much. -- 12 s")


@pytest.mark.docker
def test_F12_runtime_reaches_every_container() -> None:
    options = SandboxOptions(runtime="no-such-runtime")
    with pytest.raises(containers.SandboxError, match="no-such-runtime"), session([], options=options):
        pass
    with pytest.raises(containers.SandboxError, match="no-such-runtime"):
        verify([], "true", options=options)
    with pytest.raises(containers.SandboxError, match="no-such-runtime"):
        run([], "true", options=options)
    with pytest.raises(containers.SandboxError, match="no-such-runtime"), Testbed(options).session():
        pass
    failure = pytest.raises(containers.SandboxError, match="no-such-runtime")
    with Pool(1, options=options) as pool, failure, session([], pool=pool):
        pass


@pytest.mark.docker
def test_F12_other_process_of_a_case_has_the_same_runtime() -> None:
    testbed = Testbed(SandboxOptions(runtime="runc"))
    with testbed.process([60.0]) as (_, label):
        found = containers.api().containers(filters={"label": f"sekft.run={label}"})
        runtimes = [containers.api().inspect_container(one["Id"])["HostConfig"]["Runtime"] for one in found]
    assert runtimes == ["runc"]


@pytest.mark.docker
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--runtime", "no-such-runtime"), "Docker knows no runtime 'no-such-runtime'; known: "),
        (("--only", "A01,X99"), "no case is named X99; known: A01 "),
    ],
)
def test_F12_mistake_is_one_line_and_exit_2(arguments: tuple[str, ...], says: str) -> None:
    done = self_check(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr


def test_F12_no_docker_is_one_line_and_exit_2() -> None:
    done = self_check(DOCKER_HOST="unix:///nonexistent/docker.sock")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no Docker engine answers at unix:///nonexistent/docker.sock" in done.stderr


def test_self_check_flags_are_refused_elsewhere() -> None:
    with pytest.raises(BadInputError, match="belong to self-check"):
        main(action="reap", runtime="runc", only=None, image=None)
