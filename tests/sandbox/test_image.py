"""The image has the layout that the wrapper needs, and every tool that wrapper, templates and checkers call."""

import re
import subprocess

import pytest

from authoring import templates
from sandbox.containers import OPERATOR_UID
from sandbox.oneshot import run
from sandbox.session import session
from sandbox.wrapper import WRAPPER
from taxonomy import Combination, combinations
from tests.helpers import ROOT

CHECKERS = """
[ cat cd cmp cut echo exit find grep head printf readlink sha256sum sort stat tail tar test wc zcat
"""
SOLUTIONS = """
awk base64 basename bunzip2 bzcat bzip2 cat cd chmod cmp cp cut diff dirname echo expr find fold grep gunzip gzip
head id ln ls md5sum mkdir mv nl od paste printf pwd read readlink rev rm rmdir sed seq set sha1sum sha256sum sort stat
tac tail tar tee touch tr true uniq unxz unzip wc xargs xz xzcat zcat
"""
AROUND = "env id kill pgrep pkill ps setsid sleep timeout"
KEYWORDS = "if then elif else while until do"


def heads(command: str) -> set[str]:
    """The words of a command that a shell would look up as commands; quoted text is left out."""
    bare = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", "Q", command)
    keywords = KEYWORDS.replace(" ", "|")
    first = rf"(?:^|[|&;(`\n])\s*(?:(?:{keywords}|!|\{{)\s+)*(?:[A-Za-z_]+=\S*\s+)*([^\s;|&()<>`]+)"
    behind = r"(?:\bxargs(?:\s-\S+)*|-exec)\s+([^\s;|&()<>`]+)"
    found = [*re.findall(first, bare), *re.findall(behind, bare)]
    ends = {*KEYWORDS.split(), "for", "case", "done", "fi", "esac", "in"}
    return {word for word in found if re.fullmatch(r"[a-z\[][a-z0-9_.-]*", word)} - ends


def template_heads() -> set[str]:
    """The command words in the reference solutions of several scenarios of every archetype."""
    first: dict[str, Combination] = {}
    for combination in combinations():
        first.setdefault(combination.task, combination)
    scenarios = [
        templates.author(combination, seed=f"tools-{seed}", id="tools")
        for combination in first.values()
        for seed in range(12)
    ]
    return {word for scenario in scenarios for command in scenario.reference_solution for word in heads(command)}


def test_template_commands_are_listed() -> None:
    unknown = template_heads() - set(SOLUTIONS.split())
    assert not unknown, f"add to SOLUTIONS, if both bases have it: {unknown}"


def test_command_words_are_found_after_pipes_and_loops() -> None:
    assert heads("for f in *; do nosuch \"$f\"; done | tee 'x | y' && X=1 other $(third a)") >= {
        "nosuch",
        "tee",
        "other",
        "third",
    }


def test_wrapper_names_programs_by_path() -> None:
    """Otherwise a PATH, an alias or a function of the operator could replace one."""
    programs = set(re.findall(r"(?:/usr/bin/|/bin/|/usr/libexec/)(?:busybox )?(\w+)", WRAPPER))
    assert programs == {"dash", "cat", "dd", "readlink", "sed", "setsid", "tar"}


@pytest.mark.docker
def test_image_has_every_tool() -> None:
    tools = sorted({*CHECKERS.split(), *SOLUTIONS.split(), *AROUND.split()})
    script = 'for tool; do command -v "$tool" >/dev/null || echo "$tool"; done'
    done = run([], f"set -- {' '.join(tools)}\n{script}")
    assert (done.stdout.split(), done.exit_code) == ([], 0)
    applets = run([], "/bin/busybox --list").stdout.split()
    assert {b"cat", b"sed", b"mv", b"readlink", b"sleep", b"grep"} <= set(applets)


@pytest.mark.docker
def test_missing_tool_is_noticed() -> None:
    assert run([], "command -v nosuchtool >/dev/null || echo missing").stdout == b"missing\n"


@pytest.mark.docker
def test_sh_is_dash() -> None:
    done = run([], "ls /usr/bin/dash; readlink -f /bin/sh; ls /bin/dash 2>&1; sh -c 'a=(1)' 2>&1; echo $?")
    assert done.stdout.decode().splitlines() == [
        "/usr/bin/dash",
        "/usr/bin/dash",
        "ls: /bin/dash: No such file or directory",
        'sh: 1: Syntax error: "(" unexpected',
        "2",
    ]


@pytest.mark.docker
def test_groups_and_trailing_semicolons_run() -> None:
    with session([]) as shell:
        for text, output in {
            "{ echo a\necho b\n}": "a\nb\n",
            "{ echo a; }": "a\n",
            "echo a;": "a\n",
            "{ echo a\n};": "a\n",
        }.items():
            step = shell.step(text)
            assert (step.output, step.exit_code) == (output, 0), text
        assert shell.step("{ echo a\n;}").exit_code == 2, "dash refuses it, and the session goes on"
        assert shell.step("echo on").output == "on\n"


@pytest.mark.docker
def test_failing_dot_or_cd_keeps_the_next_step() -> None:
    with session([]) as shell:
        assert shell.step("echo first").output == "first\n", "there is no saved state yet"
        shell.step("mkdir here; cd here; X=kept")
        assert shell.step(". ./missing").exit_code == 2
        assert shell.step("cd missing").exit_code == 2
        assert shell.step("pwd; echo $X").output == "/home/operator/here\nkept\n"
        shell.step("rmdir ../here")
        step = shell.step("pwd; echo $X")
        assert step.output == "sh: 12: cd: can't cd to /home/operator/here (deleted)\n/home/operator\nkept\n" or (
            "can't cd to" in step.output and step.output.endswith("/home/operator\nkept\n")
        )


@pytest.mark.docker
def test_operator_is_unprivileged() -> None:
    done = run([], "id; stat -c %a /tmp; stat -c '%U %a' /home/operator; find / -xdev -perm -4000 2>/dev/null | wc -l")
    identity, *rest = done.stdout.decode().splitlines()
    assert identity == f"uid={OPERATOR_UID}(operator) gid={OPERATOR_UID}(operator) groups={OPERATOR_UID}(operator)"
    assert rest[:2] == ["1777", "operator 755"]


def test_substitute_base_is_never_called_alpine() -> None:
    done = subprocess.run([ROOT / "runs" / "base_image.sh", "alpine:3.20"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "choose another name" in done.stderr
