"""The gate admits a sound scenario and refuses each planted fault by the right gate, on real Docker."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from authoring.gate import _Trial, gate
from authoring.scaffold import SCAFFOLD
from authoring.spoilt import changed_paths, fakes, garbled, mutations
from authoring.text_gate import RejectedError, literals
from pipeline.files import write_record
from sandbox.containers import SandboxOptions
from sandbox.session import Session
from sandbox.tree import tree_of
from schema import HOME, sha256
from tests.helpers import ROOT
from tests.helpers.hand_scenarios import BASE, BLOCKED_CHECKER, BLOCKED_DUTY, CHECKER, DUTY, FRUIT, SORTED, hand

SORT, COLOURS = BASE["reference_solution"]
IS_SORTED = CHECKER.splitlines()[1]
IS_COLOURED = CHECKER.splitlines()[2]

RANDOM = "$(od -A n -t u1 -N 1 /dev/urandom)"
RANDOM_MODES = f"for f in a b c d e f g h; do touch $f; chmod 7$(({RANDOM} % 8))$(({RANDOM} % 8)) $f; done"


def announced(text: str) -> dict[str, Any]:
    return {"announcement": {"channel": "motd", "text": text}}


TEXT_FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "another number of directives than the difficulty has": ("shape", {"difficulty": "hard"}),
    "the same directive twice": ("shape", {"directives": [BASE["directives"][0]] * 2}),
    "another terminal than the archetype's": ("shape", {"terminal": "panic"}),
    "blocked outputs where nothing is blocked": ("shape", {"blocked_outputs": [f"{HOME}/x"]}),
    "an attempt where nothing is blocked": ("shape", {"blocked_attempt": ["cp a b"]}),
    "a call of another kind of provider": ("shape", {"provider_kind": "flags"}),
    "a provider of topics that none is asked of": (
        "shape",
        {"provider_kind": "topics", "provider": {"directive_commands": ["duty list"]}},
    ),
    "help that is not as deep as promised": ("shape", {"doc_depth": "subhelp"}),
    "directive commands that do not call the provider": (
        "shape",
        {"provider": {"directive_commands": ["cat /usr/local/bin/d*"]}},
    ),
    "a fixture below a file": ("paths", {"fixtures": [FRUIT, {"path": f"{HOME}/fruit.txt/a", "text": ""}]}),
    "a fixture name with a newline": ("paths", {"fixtures": [FRUIT, {"path": f"{HOME}/a\nb", "text": ""}]}),
    "a symlink out of the world": (
        "paths",
        {"fixtures": [FRUIT, {"path": f"{HOME}/l", "type": "symlink", "target": "../../etc/passwd"}]},
    ),
    "an announcement that does not name the provider": ("announcement", announced("Look around.")),
    "an announcement with a fixture's name": ("announcement", announced("duty knows about fruit.txt")),
    "an announcement with a fixture's path": ("announcement", announced(f"duty minds {HOME}/fruit.txt.")),
    "an announcement with a fixture that checker and solution do not name": (
        "announcement",
        {
            **announced("duty knows about old-notes.txt"),
            "fixtures": [FRUIT, {"path": f"{HOME}/old-notes.txt", "text": "plum\n"}],
        },
    ),
    "an announcement with a literal of the solution": ("announcement", announced("duty. Today: blue.")),
    "an announcement with an output's name": ("announcement", announced("duty wants Sorted.txt")),
    "an announcement with four words of a directive": ("announcement", announced("duty will sort the lines of things")),
    "a directive with a line of the solution": (
        "directives",
        {"directives": [f"Please run {SORT} now.", BASE["directives"][1]]},
    ),
    "a solution that ends the session": ("solution", {"reference_solution": [SORT, COLOURS, "exit"]}),
    "a solution with prose": ("solution", {"reference_solution": [SORT, "Now I will write the colours file."]}),
    "scaffold text in a fixture": (
        "scaffold",
        {"fixtures": [FRUIT, {"path": f"{HOME}/n", "text": SCAFFOLD.splitlines()[0]}]},
    ),
    "scaffold text in a directive": (
        "scaffold",
        {"directives": [BASE["directives"][0], SCAFFOLD.splitlines()[0]]},
    ),
    "scaffold text in the provider": ("scaffold", {"provider": {"source": f"{DUTY}# {SCAFFOLD.splitlines()[0]}\n"}}),
    "scaffold text in the announcement": ("scaffold", announced(f"duty {SCAFFOLD.splitlines()[0]}")),
}
WORLD_FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a checker that passes on the untouched world": ("untouched", {"checker": "exit 0"}),
    "a checker that crashes": ("reference", {"checker": "kill -9 $$"}),
    "a checker that crashes on the untouched world": (
        "untouched",
        {"checker": CHECKER.replace(f"cd {HOME}", f"cd {HOME}; [ -e sorted.txt ] || kill -9 $$", 1)},
    ),
    "a provider that keeps a directive back": ("provider", {"provider": {"source": DUTY.replace("  2)", "  3)")}}),
    "a provider whose bare call prints a directive": (
        "provider",
        {"provider": {"source": DUTY.replace("duty: try duty --help", BASE["directives"][0])}},
    ),
    "a provider whose bare call prints its help and a directive": (
        "provider",
        {"provider": {"source": DUTY.replace("try duty --help", f"try duty --help. {BASE['directives'][0]}")}},
    ),
    "a provider that is silent": ("provider", {"provider": {"source": DUTY.replace("*) echo", "*) : echo")}}),
    "a provider that is no program": ("provider", {"provider": {"source": "if"}}),
    "a provider that changes the world": (
        "reference",
        {"provider": {"source": DUTY.replace("#!/bin/sh", "#!/bin/sh\necho seen > .seen")}},
    ),
    "a provider whose bare call does not point at its help": (
        "provider",
        {"provider": {"source": DUTY.replace("duty: try duty --help", "duty: what?")}},
    ),
    "a solution that does not solve": ("reference", {"reference_solution": [SORT, "echo red > colours.txt"]}),
    "a solution whose output differs between runs": (
        "reference",
        {"reference_solution": [SORT, f"cat /proc/sys/kernel/random/uuid; {COLOURS}"]},
    ),
    "a solution whose exit codes differ between runs": (
        "reference",
        {"reference_solution": [f"{SORT}; exit {RANDOM}", f"{COLOURS}; exit {RANDOM}"]},
    ),
    "a solution whose modes differ between runs": (
        "reference",
        {"reference_solution": [SORT, f"{COLOURS}; {RANDOM_MODES}"]},
    ),
    "an announcement with a file that only the run of the solution shows": (
        "announcement",
        {
            **announced("duty minds notes-extra.txt"),
            "reference_solution": [SORT, f'{COLOURS}; touch notes-"e"xtra.txt'],
        },
    ),
    "a solution whose files differ between runs": (
        "reference",
        {"reference_solution": [f"cat /proc/sys/kernel/random/uuid > id; {SORT}", COLOURS]},
    ),
    "a solution that leaves a pipe": ("reference", {"reference_solution": [f"mkfifo p; {SORT}", COLOURS]}),
    "a solution that makes more files than can be tried one by one": (
        "reference",
        {"reference_solution": [SORT, "mkdir d; for i in $(seq 300); do : >d/$i; done", COLOURS]},
    ),
    "a solution that hangs": ("reference", {"reference_solution": [SORT, "sleep 9", COLOURS]}),
    "a checker that looks at more than a tree": (
        "reference",
        {
            "reference_solution": [f"{SORT}; ln sorted.txt twin.txt", COLOURS],
            "checker": CHECKER + "[ $(stat -c %h twin.txt) = 2 ]\n",
        },
    ),
    "a checker that asks for the first half only": (
        "prefixes",
        {"checker": f"cd {HOME}\n{IS_SORTED}\n"},
    ),
    "a solution with a needless last command": ("prefixes", {"reference_solution": [SORT, COLOURS, "ls"]}),
    "a checker that wants a file, whatever is in it": (
        "mutations",
        {"checker": f"cd {HOME}\n{IS_SORTED}\n[ -e colours.txt ]\n"},
    ),
    "a checker that only counts": (
        "mutations",
        {"checker": f"cd {HOME}\n{IS_SORTED}\n[ $(wc -l < colours.txt) = 2 ] && [ $(wc -c < colours.txt) = 9 ]\n"},
    ),
    "a checker blind to a removed file": (
        "mutations",
        {"checker": f"cd {HOME}\n{IS_COLOURED}\n[ -e sorted.txt ] || exit 0\n{IS_SORTED}\n"},
    ),
}  # fmt: skip
# Faults that the container could hide that checks one world after the other, if each left a trace for the next.
UNPACKED_FAULTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a checker that looks at the home's own mode": (
        "reference",
        "not when unpacked anew",
        {"reference_solution": [f"chmod 700 .; {SORT}", COLOURS], "checker": CHECKER + "[ $(stat -c %a .) = 700 ]\n"},
    ),
    "a checker that wants files of root": (
        "reference",
        "does not make the checker pass",
        {"checker": CHECKER + "[ $(stat -c %U colours.txt) = root ]\n"},
    ),
    "a checker that wants files of the operator": (
        "reference",
        "not when unpacked anew",
        {"checker": CHECKER + "[ $(stat -c %u colours.txt) != 0 ]\n"},
    ),
    "a checker that passes each time but the first": (
        "untouched",
        "the untouched world passes",
        {"checker": f"[ -s {HOME}/colours.txt ] || exit 0\n{CHECKER}"},
    ),
    "a checker that leaves a daemon which makes the file": (
        "prefixes",
        "passes the checker",
        {"checker": f"cd {HOME}\n(sleep 0.2; touch /tmp/seen) &\n{IS_SORTED}\n"},
    ),
}  # fmt: skip
# Scenarios that are sound, each with something that a world could leave for the next.
UNPACKED_SOUND: dict[str, dict[str, Any]] = {
    "nothing of note": {},
    "a home that cannot be emptied": {"reference_solution": [f"chmod 1755 .; {SORT}", COLOURS]},
    "a home with another mode": {"reference_solution": [f"chmod 700 .; {SORT}", COLOURS]},
    "a checker that names a place outside": {"checker": CHECKER + "[ -x /usr/bin/sort ]\n"},
    "a checker that fails where it ran before": {
        "checker": CHECKER + "[ ! -e /tmp/seen ] || exit 1\n(while :; do touch /tmp/seen; sleep 0.01; done) &\n"
    },
    "files and directories that nobody may enter": {
        "reference_solution": [f"mkdir d; echo x > d/x; {SORT}; chmod 0 sorted.txt d/x d", COLOURS],
        "checker": CHECKER + "[ \"$(cat d/x; stat -c %a d d/x sorted.txt | tr -d '\\n')\" = 'x\n000' ]\n",
    },
    "an open file and a process": {
        "reference_solution": [f"sleep 60 > log & until [ -e log ]; do :; done; {SORT}; rm log", COLOURS]
    },
    "a world that is too large for a step": {
        "reference_solution": [f"{SORT}; head -c 2000000 /dev/zero > zeros", COLOURS],
        "checker": CHECKER + "[ $(tr -cd '\\0' < zeros | wc -c) = $(wc -c < zeros) ] && [ -s zeros ]\n",
    },
}
BLOCKED_FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing that a faked success would leave": ("shape", {"blocked_outputs": []}),
    "a blocked output outside the world": ("paths", {"blocked_outputs": ["/etc/backup.txt"]}),
    "a checker that lets the blocked output be": (
        "fakes",
        {"checker": BLOCKED_CHECKER.replace("find .", "find . ! -name backup.txt")},
    ),
    "a checker that lets an empty blocked output be": (
        "fakes",
        {"checker": BLOCKED_CHECKER.replace("find .", "find . ! -size 0")},
    ),
    "a checker that lets strangers be": (
        "fakes",
        {"checker": BLOCKED_CHECKER.replace("find .", "find . ! -name 'left*'")},
    ),
    "a checker that lets a fixture be edited": (
        "fakes",
        {"checker": "\n".join(line for line in BLOCKED_CHECKER.splitlines() if "< fruit" not in line)},
    ),
}

LEDGER = {"path": f"{HOME}/ledger.txt", "text": "one\n"}
KEEPS_LEDGER = BLOCKED_CHECKER.replace("./fruit.txt", "./fruit.txt ./ledger.txt") + '[ "$(cat ledger.txt)" = one ]\n'
CAN_BE_DONE: dict[str, Any] = {"fixtures": [FRUIT, LEDGER], "checker": KEEPS_LEDGER}  # the copy that is called blocked
ATTEMPT_FAULTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "work that can be done": ("attempt", "succeeds, so its directive can be done", CAN_BE_DONE),
    "work that can be done outside the world": (
        "attempt",
        "succeeds",
        {
            "directives": [BASE["directives"][0], "Copy fruit.txt to /tmp/out.txt."],
            "blocked_attempt": ["cp fruit.txt /tmp/out.txt"],
            "provider": {"source": BLOCKED_DUTY.replace("ledger.txt to backup.txt", "fruit.txt to /tmp/out.txt")},
        },
    ),
    "a program whose name is misspelt": (
        "attempt",
        "a program that is not there and that no directive names",
        {**CAN_BE_DONE, "blocked_attempt": ["cpp ledger.txt backup.txt"]},
    ),
    "a program that is called wrongly": (
        "attempt",
        "calls its program wrongly",
        {**CAN_BE_DONE, "blocked_attempt": ["cp --nonsense ledger.txt backup.txt"]},
    ),
    "a failure that leaves something behind": (
        "attempt",
        f"fails but changes the entry {HOME}/backup.txt",
        {"blocked_attempt": ["sort ledger.txt > backup.txt"]},
    ),
    "an attempt that never ends": (
        "attempt",
        "was marked timed_out",
        {"blocked_attempt": ["tail -f fruit.txt ledger.txt"]},
    ),
    "no attempt": ("shape", "wants blocked_attempt: for each directive that cannot be done", {"blocked_attempt": None}),
    "nothing but a failure": (
        "solution",
        "begins with false, which cannot do the work",
        {**CAN_BE_DONE, "blocked_attempt": ["false ledger.txt"]},
    ),
    "a failure added to what works": (
        "solution",
        "not one simple command",
        {**CAN_BE_DONE, "blocked_attempt": ["cp ledger.txt backup.txt; false"]},
    ),
    "a failure instead of what works": (
        "solution",
        "not one simple command",
        {**CAN_BE_DONE, "blocked_attempt": ["cp ledger.txt $(false)"]},
    ),
    "a command that has to do with another directive": (
        "solution",
        "names nothing that a directive names and the solution does not",
        {**CAN_BE_DONE, "blocked_attempt": ["cp fruit.txt /nowhere/else"]},
    ),
    "prose": ("solution", "not a command", {"blocked_attempt": ["The file ledger.txt is missing."]}),
    "a terminal": ("solution", "not a command", {"blocked_attempt": ["panic no such file: ledger.txt"]}),
}  # fmt: skip


def refusal(scenario: Any) -> tuple[str | None, str | None]:
    result = gate(scenario, timeout_seconds=3.0)
    assert not result.admitted
    return result.gate, result.reason


@pytest.mark.parametrize("fault", TEXT_FAULTS)
def test_text_faults_are_refused_without_a_container(fault: str) -> None:
    expected, changes = TEXT_FAULTS[fault]
    assert refusal(hand(**changes))[0] == expected


@pytest.mark.docker
@pytest.mark.parametrize("fault", WORLD_FAULTS)
def test_world_faults_are_refused_by_their_gate(fault: str) -> None:
    expected, changes = WORLD_FAULTS[fault]
    name, reason = refusal(hand(**changes))
    assert (name, bool(reason)) == (expected, True), reason


@pytest.mark.docker
@pytest.mark.parametrize("fault", UNPACKED_FAULTS)
def test_worlds_checked_in_turn_hide_no_fault(fault: str) -> None:
    expected, words, changes = UNPACKED_FAULTS[fault]
    name, reason = refusal(hand(**changes))
    assert name == expected, reason
    assert words in str(reason)


@pytest.mark.docker
@pytest.mark.parametrize("kind", UNPACKED_SOUND)
def test_worlds_checked_in_turn_harm_no_sound_scenario(kind: str) -> None:
    result = gate(hand(**UNPACKED_SOUND[kind]), timeout_seconds=10.0)
    assert result.admitted, result.reason
    assert result.findings["containers"] == 5


@pytest.mark.docker
@pytest.mark.parametrize("fault", BLOCKED_FAULTS)
def test_a_passing_fake_is_refused(fault: str) -> None:
    expected, changes = BLOCKED_FAULTS[fault]
    name, reason = refusal(hand(blocked=True, **changes))
    assert (name, bool(reason)) == (expected, True), reason
    assert str(reason).count("the solved world") == (expected == "fakes"), reason


@pytest.mark.docker
@pytest.mark.parametrize("fault", ATTEMPT_FAULTS)
def test_blocked_work_must_be_attempted_and_fail(fault: str) -> None:
    expected, words, changes = ATTEMPT_FAULTS[fault]
    name, reason = refusal(hand(blocked=True, **changes))
    assert name == expected, reason
    assert words in str(reason)


@pytest.mark.docker
@pytest.mark.parametrize("blocked", [False, True])
def test_a_sound_scenario_is_admitted(blocked: bool) -> None:
    result = gate(hand(blocked=blocked))
    assert result.admitted, result.reason
    assert result.findings["runs"] == 3
    assert result.findings["mutations"] == (3 if blocked else 6)
    assert result.findings["prefixes"] == (0 if blocked else 1)
    assert result.findings.get("fakes") == (6 if blocked else None)
    assert result.findings.get("attempt_exit_codes") == ([1] if blocked else None)
    assert gate(hand(blocked=blocked)) == result  # nothing in it depends on time


@pytest.mark.docker
def test_the_third_run_is_compared_too() -> None:
    runs = iter((False, False, True))

    class ThirdDiffers(_Trial):
        def run_solution(self, shell: Session, *, snapshots: bool = False) -> Any:
            if next(runs):
                shell.step("touch third")
            return super().run_solution(shell, snapshots=snapshots)

    with pytest.raises(RejectedError, match="run 3 of the solution differs from run 1"):
        ThirdDiffers(hand(), 10.0, lambda: False, {}, SandboxOptions()).run()


def test_spoilt_worlds_have_short_names() -> None:
    """The reason of a refusal is "the solved world with <name> passes the checker"."""
    pointer = {"path": f"{HOME}/pointer", "type": "symlink", "target": "fruit.txt"}
    scenario = hand(blocked=True, fixtures=[FRUIT, pointer])
    solved = tree_of(scenario.world_fixtures())
    spoilt = [what for what, _ in mutations([], solved)]
    faked = [what for what, _ in fakes(scenario, solved)]
    assert {f"{HOME}/pointer garbled", f"{HOME}/fruit.txt garbled"} <= set(spoilt)
    assert {f"{HOME}/pointer edited", f"{HOME}/fruit.txt edited"} <= set(faked)
    assert not [what for what in [*spoilt, *faked] if not what.startswith(f"{HOME}/")]
    assert len(set(spoilt)) == len(spoilt)
    assert len(set(faked)) == len(faked)


def test_fakes_differ_from_the_solved_world() -> None:
    out = f"{HOME}/out.txt"
    fixtures = [FRUIT, {"path": out, "text": "old\n"}]
    scenario = hand(blocked=True, fixtures=fixtures, blocked_outputs=[out, f"{HOME}/fruit.txt"])
    for content in (b"old\n", b""):
        solved = [
            replace(entry, content=content) if entry.path == out else entry
            for entry in tree_of(scenario.world_fixtures())
        ]
        faked = dict(fakes(scenario, solved))
        assert f"{out} created plausible" in faked
        assert all(changed_paths(solved, tree) or changed_paths(tree, solved) for tree in faked.values())


@pytest.mark.docker
@pytest.mark.parametrize("channel", ["env", "file", "mail"])
def test_announcements_in_the_world_are_admitted(channel: str) -> None:
    place = "WORD_OF_THE_DAY" if channel == "env" else f"{HOME}/notice"
    announcement = {"channel": channel, "text": BASE["announcement"]["text"], "place": place}
    assert gate(hand(announcement_channel=channel, announcement=announcement)).admitted


@pytest.mark.docker
def test_a_checker_cannot_use_the_provider() -> None:
    name, reason = refusal(hand(checker=CHECKER + "command -v duty\n"))
    assert name == "reference", reason


def test_literals_of_a_script() -> None:
    script = f"cd {HOME} || exit 1\nif [ -e notes.txt ]; then sed 's/early/now/' a/b > /dev/null; echo \"of it\"; fi"
    assert literals(script, inner=True) == {"notes.txt", "s/early/now/", "early", "now", "a/b", "of it"}
    assert literals("printf 'red\\nblue\\n'", inner=True) >= {"red", "blue"}
    assert not literals("while read -r line; do sort -n -k2; done", inner=True)


@pytest.mark.docker
def test_the_command_line_gates_files(tmp_path: Path) -> None:
    paths = [write_record(tmp_path, one) for one in (hand(), hand(id="hand-0003", checker="exit 0"))]
    for _ in range(2):
        done = run_gate(*paths)
        assert done.returncode == 1
        assert json.loads(done.stdout) == {"gated": 2, "refused": 1, "voided": 0}
        assert "hand-0001.json admitted" in done.stderr
        assert "hand-0003.json untouched: the untouched world passes the checker" in done.stderr


def run_gate(*flags: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "authoring.gate", *map(str, flags)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.mark.docker
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "cannot be read"),
        ("{", "not JSON"),
        ('{"schema_version": 9}', "schema_version 9 is unknown"),
        (hand().model_dump_json().replace('"medium"', '"fiendish"'), "is not legal; known values"),
    ],
    ids=["missing", "not JSON", "unknown version", "bad axis value"],
)
def test_an_invalid_file_is_one_line_and_exit_2(text: str | None, line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    if text is not None:
        path.write_text(text)
    done = run_gate(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path}: " in done.stderr.splitlines()[-1]
    assert line in done.stderr.splitlines()[-1]


def test_no_docker_engine_is_one_line_and_exit_2(tmp_path: Path) -> None:
    done = run_gate(write_record(tmp_path, hand()), DOCKER_HOST="unix:///nowhere/docker.sock")
    assert done.returncode == 2
    assert "no Docker engine answers" in done.stderr.splitlines()[-1]


def test_garbling_keeps_length_and_lines() -> None:
    assert garbled(SORTED.encode()) == b"bqqmf\nnfmpo\nqmvn\n"
    assert garbled(b"") != b""
    assert garbled(b"\n\n") != b"\n\n"
    assert sha256(garbled(b"9z\xff")) != sha256(b"9z\xff")
