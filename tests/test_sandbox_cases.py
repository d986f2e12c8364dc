"""The sandbox's conformance cases under their own names: each states an input and what real Docker must give back."""

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashdocker import SandboxError, Session, run, session
from schema import HOME, Fixture, Step

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def shared() -> Iterator[Session]:
    """One world for the cases that leave nothing which another one could notice."""
    with session([]) as shell:
        yield shell


@pytest.fixture
def shell() -> Iterator[Session]:
    """A world of the case's own."""
    with session([]) as fresh:
        yield fresh


def came_back(step: Step, output: str, exit_code: int = 0) -> None:
    assert (step.output, step.exit_code) == (output, exit_code)
    assert (step.timed_out, step.oom, step.open_heredoc) == (False, False, False)


# Exec basics


def test_A01_echo(shared: Session) -> None:
    came_back(shared.step("echo 'hello world'"), "hello world\n")
    assert run([], "echo 'hello world'").stdout == b"hello world\n"


def test_A02_echo_of_nothing_and_without_newline(shared: Session) -> None:
    came_back(shared.step("echo ''"), "\n")
    came_back(shared.step("echo -n x"), "x")


def test_A03_newlines_are_byte_exact(shared: Session) -> None:
    came_back(shared.step(r"printf '\n\nx\n\n\n'"), "\n\nx\n\n\n")


def test_A04_leading_blanks_are_kept(shared: Session) -> None:
    came_back(shared.step("printf '  x'"), "  x")


def test_A05_streams_apart_in_run_and_merged_in_order_in_a_step(shared: Session) -> None:
    done = run([], "echo lost >&2")
    assert (done.stdout, done.stderr) == (b"", b"lost\n")
    text = "for i in 1 2 3; do echo out$i; echo err$i >&2; done"
    came_back(shared.step(text), "out1\nerr1\nout2\nerr2\nout3\nerr3\n")


@pytest.mark.parametrize("code", [70, 42, 1])
def test_A06_exit_codes(shared: Session, code: int) -> None:
    came_back(shared.step(f"exit {code}"), "", code)


def test_A07_unknown_program_and_file_that_is_not_executable(shared: Session) -> None:
    came_back(shared.step("doesntexit"), "sh: 1: doesntexit: not found\n", 127)
    came_back(shared.step("echo x >plain; ./plain"), "sh: 1: ./plain: Permission denied\n", 126)


def test_A08_and_or_and_semicolon_chains(shared: Session) -> None:
    came_back(shared.step("false && true"), "", 1)
    came_back(shared.step("false || true"), "", 0)
    came_back(shared.step("echo a; echo b && echo c"), "a\nb\nc\n")
    came_back(shared.step("; echo a"), 'sh: 1: Syntax error: ";" unexpected\n', 2)


def test_A09_nothing_to_run_changes_nothing(shell: Session) -> None:
    shell.step("cd /usr; X=1")
    for text in ("", "\n", "# a comment", "   ", "\n\n# two\n"):
        step = shell.step(text)
        came_back(step, "")
        assert step.cwd == "/usr"
        assert not step.state_stale
    came_back(shell.step('echo "$X"'), "1\n")


def test_A10_syntax_error_is_the_shells_own(shared: Session) -> None:
    came_back(shared.step("(a"), 'sh: 1: Syntax error: end of file unexpected (expecting ")")\n', 2)


def test_A11_several_lines(shared: Session) -> None:
    came_back(shared.step("for i in 1 2\ndo\n  if [ $i = 2 ]\n  then\n    echo two\n  fi\ndone"), "two\n")
    came_back(shared.step("echo a\n\n\necho b"), "a\nb\n")
    came_back(shared.step("echo a \\\n  b"), "a b\n")
    came_back(shared.step("mkdir -p t/u; touch t/u/f; find t -type f -exec echo {} \\;"), "t/u/f\n")
    came_back(shared.step("echo one\nnosuch\n"), "one\nsh: 2: nosuch: not found\n", 127)


def test_A12_pipes_substitutions_quotes(shared: Session) -> None:
    came_back(shared.step("printf 'b\\na\\n' | sort | head -n 1"), "a\n")
    came_back(shared.step("echo $(echo in $(echo side))"), "in side\n")
    came_back(shared.step("""echo "it's" 'a "b"' \\$x `echo tick`"""), """it's a "b" $x tick\n""")


def test_A12b_groups_over_several_lines_and_text_ending_in_an_operator(shared: Session) -> None:
    came_back(shared.step("{ echo a\n echo b\n}"), "a\nb\n")
    came_back(shared.step("{ echo a; echo b; }"), "a\nb\n")
    came_back(shared.step("echo a;"), "a\n")
    came_back(shared.step("echo a &"), "a\n")


def test_A12c_failing_special_builtins_do_not_break_the_next_step(shell: Session) -> None:
    shell.step("cd /usr; export KEEP=1")
    step = shell.step(". /missing; echo not reached")
    came_back(step, "sh: 1: .: cannot open /missing: No such file\n", 2)
    assert step.cwd == "/usr"
    came_back(shell.step("cd /nope; echo rc $?"), "sh: 1: cd: can't cd to /nope\nrc 2\n")
    came_back(shell.step('pwd; echo "$KEEP"'), "/usr\n1\n")


def test_A13_heredocs(shared: Session) -> None:
    shared.step("V=seen")
    came_back(shared.step("cat >h <<EOF\n a $V\n\nEOF"), "")
    assert shared.read_file("h") == b" a seen\n\n"
    came_back(shared.step("cat <<A; cat <<'B'\n$V\nA\n$V\nB\n"), "seen\n$V\n")
    came_back(shared.step("cat <<-X\n\ttabs\n\tX\necho after"), "tabs\nafter\n")
    came_back(shared.step("echo $((1 << 2))"), "4\n")


def test_A14_utf8_on_both_streams(shared: Session) -> None:
    octal = r"caf\303\251 \342\202\254100 \344\270\255\346\226\207 \360\237\230\200"
    came_back(shared.step(f"printf '{octal}\\n'; printf '{octal}\\n' >&2"), "café €100 中文 😀\n" * 2)
    came_back(shared.step("echo 'café 😀'"), "café 😀\n")


def test_A15_invalid_utf8_is_replaced_in_what_is_seen_and_kept_raw(shared: Session) -> None:
    came_back(shared.step(r"printf '\303\050'"), "�(")
    assert shared.raw == b"\xc3("


def test_A16_stdin_is_at_its_end(shared: Session) -> None:
    came_back(shared.step('read a; echo "[$a]"', timeout_seconds=5), "[]\n")
    came_back(shared.step("cat; wc -c", timeout_seconds=5), "0\n")


def test_A18_a_long_text_runs(shared: Session) -> None:
    came_back(shared.step(f"x='{'y' * 300_000}'; echo ${{#x}}"), "300000\n")


# State


def test_B01_cwd_survives(shell: Session) -> None:
    assert shell.step("cd /usr").cwd == "/usr"
    came_back(shell.step("pwd"), "/usr\n")


def test_B01b_odd_directory_names_survive(shell: Session) -> None:
    for name in ("it's", "-dash", "two\nlines", 'q"uote', " space ", "$HOME", "end\n"):
        shell.step(f"cd; mkdir -- {shlex.quote(name)}; cd ./{shlex.quote(name)}")
        came_back(shell.step('printf "[%s]" "$PWD"'), f"[{HOME}/{name}]")


def test_B02_exported_values_are_exact(shell: Session) -> None:
    shell.step('export X="a b\'c\nd"; Y=\'plain "two"\n\n\'')
    came_back(shell.step('printf %s "$X"; printf "[%s]" "$Y"; env | grep -c ^Y='), 'a b\'c\nd[plain "two"\n\n]0\n', 1)


def test_B03_unset_survives(shell: Session) -> None:
    shell.step("export X=1; unset HOME PATH")
    shell.step("unset X")
    came_back(shell.step('echo "[${X-gone}] [${HOME-gone}] [${PATH-gone}]"'), "[gone] [gone] [gone]\n")


def test_B04_state_survives_exit(shell: Session) -> None:
    came_back(shell.step("cd /usr; X=7; exit 6"), "", 6)
    came_back(shell.step('pwd; echo "$X"'), "/usr\n7\n")


def test_B05_state_survives_set_e_which_itself_does_not(shell: Session) -> None:
    came_back(shell.step("set -e; cd /tmp; false; echo no"), "", 1)
    came_back(shell.step("false; pwd"), "/tmp\n")


def test_B06_an_open_heredoc_is_flagged_and_swallows_nothing_of_ours(shell: Session) -> None:
    step = shell.step("cat >f <<EOF\nline\n\n")
    assert step.open_heredoc
    assert (step.output, step.exit_code) == ("", 0)
    assert shell.read_file("f") == b"line\n\n"
    step = shell.step("cat <<EOF\n)")
    assert step.open_heredoc
    assert step.output == ")"
    for closed in ("cat <<EOF\nx\nEOF", "cat <<EOF\nx\nEOF\n", "echo '<<EOF'", "(a <<EOF", "echo x # <<EOF"):
        assert not shell.step(closed).open_heredoc, closed


@pytest.mark.parametrize("text", ["cd /tmp; (", "cd /tmp\n(a"])
def test_B07_syntax_error_keeps_the_state(shell: Session, text: str) -> None:
    shell.step("cd /usr; X=1")
    assert shell.step(text).exit_code == 2
    first_line_ran = "\n" in text
    came_back(shell.step('pwd; echo "$X"'), f"{'/tmp' if first_line_ran else '/usr'}\n1\n")


def test_B10_redefined_builtins_do_not_bend_the_state(shell: Session) -> None:
    evil = "pwd() { echo evil; }; printf() { :; }; umask() { :; }; alias() { :; }; command() { :; }; mv() { :; }"
    step = shell.step(f"{evil}; PATH=/nope; IFS=/; readonly S=1; PWD=/evil; unset OLDPWD; cd /usr/bin; PWD=/evil")
    assert not step.state_stale
    assert step.cwd == "/usr/bin"
    came_back(shell.step("pwd; echo $PATH"), "/usr/bin\n nope\n")
    shell.step("IFS=' '; PATH=/bin:/usr/bin; alias cd=false set=false printf=false export=false case=false exec=false")
    step = shell.step("\\cd /tmp")
    assert (step.cwd, step.state_stale) == ("/tmp", False)


def test_B12_what_cannot_save_keeps_the_state_before(shell: Session) -> None:
    shell.step("cd /usr")
    for text in ("cd /tmp; exec true", "cd /tmp; kill -9 $$", "cd /tmp; trap : EXIT", "cd /tmp; sleep 9"):
        step = shell.step(text, timeout_seconds=1)
        assert step.state_stale, text
        assert step.cwd == "/usr"
    came_back(shell.step("pwd"), "/usr\n")


def test_B14_umask_aliases_and_options_survive_functions_do_not(shell: Session) -> None:
    shell.step("umask 027; alias ll='ls -d'; alias two='echo 1\necho 2'; set -a -f -u -C; f() { echo f; }")
    came_back(shell.step("umask; ll /usr; two; echo *"), "0027\n/usr\n1\n2\n*\n")
    assert shell.step("f").exit_code == 127
    assert shell.step("echo $nothing").exit_code == 2
    shell.step("set -v -x -e")
    came_back(shell.step("false; echo on"), "on\n")
    shell.step("unalias -a; set +a +f +u +C; umask 777; X=5")
    came_back(shell.step("echo $X $(umask); nosuch"), "5 0777\nsh: 1: nosuch: not found\n", 127)


def test_B15_a_marker_in_the_text_is_in_no_argv(shell: Session) -> None:
    came_back(shell.step("pkill -f MARKER_IN_TEXT; echo alive"), "alive\n")


# Time limits, background, signals


def test_C01_the_limit_holds(shell: Session) -> None:
    began = time.monotonic()
    step = shell.step("sleep 10", timeout_seconds=0.5)
    assert time.monotonic() - began < 2.5
    assert (step.exit_code, step.timed_out, step.state_stale) == (124, True, True)


def test_C02_output_before_the_limit_is_kept(shell: Session) -> None:
    assert shell.step("echo a; sleep 9", timeout_seconds=0.5).output == "a\n"


def test_C03_nothing_of_a_timed_out_step_lives_on(shell: Session) -> None:
    shell.step("sleep 501 & setsid sleep 502 & (sleep 503; sleep 504) & sleep 505", timeout_seconds=0.5)
    came_back(shell.step("ps | grep 'slee[p] 5'"), "", 1)


def test_C03b_a_job_of_an_earlier_step_outlives_a_later_steps_limit(shell: Session) -> None:
    shell.step("sleep 601 &")
    assert shell.step("sleep 602", timeout_seconds=0.5).timed_out
    assert "sleep 601" in shell.step("ps | grep 'slee[p] 60'").output


def test_C04_a_child_that_ignores_TERM_is_killed(shell: Session) -> None:
    text = "trap '' TERM INT HUP; sh -c 'trap \"\" TERM; while :; do sleep 701; done'"
    assert shell.step(text, timeout_seconds=0.5).timed_out
    came_back(shell.step("ps | grep '70[1]'"), "", 1)


def test_C05_a_step_after_a_limit_has_the_state_before_it(shell: Session) -> None:
    shell.step("cd /usr; X=1")
    shell.step("cd /tmp; X=2; sleep 9", timeout_seconds=0.5)
    came_back(shell.step("pwd; echo $X"), "/usr\n1\n")


def test_C06_the_step_after_a_limit_shows_only_its_own(shell: Session) -> None:
    shell.step("echo before; sleep 10; echo late", timeout_seconds=0.5)
    came_back(shell.step("echo asdf"), "asdf\n")


def test_C07_background_jobs_return_at_once_and_live_on(shell: Session) -> None:
    shell.step("true")
    began = time.monotonic()
    came_back(shell.step("(sleep 10) &"), "")
    came_back(shell.step("sleep 60 & echo hi"), "hi\n")
    assert time.monotonic() - began < 2
    assert "sleep 60" in shell.step("ps").output


def test_C09_endless_output_costs_no_memory(shell: Session) -> None:
    step = shell.step("yes", timeout_seconds=1)
    assert step.timed_out
    assert step.output_bytes > 1 << 20
    assert len(shell.raw) <= 1 << 20
    assert len(step.output) < 5000


# Output


def test_D01_long_output_is_cut_with_the_exact_count(shared: Session) -> None:
    whole = "".join(f"{number}\n" for number in range(1, 5001))
    step = shared.step("seq 5000")
    assert step.output_bytes == len(whole)
    assert shared.raw == whole.encode()
    head, note, tail = step.output.partition("\n[... ")[0], *step.output.partition("\n[... ")[2].split(" ...]\n")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert note == f"{len(whole) - len(head) - len(tail)} bytes left out"


def test_D01b_a_cut_never_splits_a_character(shared: Session) -> None:
    for lead in range(4):
        step = shared.step(f"printf '%{lead}s' ''; i=0; while [ $i -lt 3000 ]; do printf '€'; i=$((i + 1)); done")
        assert "�" not in step.output


def test_D02_one_line_of_a_mebibyte(shared: Session) -> None:
    step = shared.step("head -c 1048576 /dev/zero | tr '\\0' x")
    assert (step.output_bytes, step.exit_code) == (1 << 20, 0)


def test_D06_no_output_is_the_empty_string(shared: Session) -> None:
    """The operator sees no output turn then, as in a real shell; nothing stands in for it."""
    step = shared.step("true")
    assert (step.output, step.output_bytes) == ("", 0)


# Life cycle and isolation


def test_F01_use_before_start_and_after_the_end_says_so() -> None:
    with session([]) as shell:
        assert shell.step("echo alive").output == "alive\n"
        assert shell.verify("true").passed
        with pytest.raises(SandboxError, match="session is over"):
            shell.step("echo again")
        assert shell.verify("true").passed, "the same state may be checked again"
    with pytest.raises(SandboxError):
        shell.step("echo gone")


def test_F08_no_network(shared: Session) -> None:
    began = time.monotonic()
    assert shared.step("nc -w 3 1.1.1.1 80 </dev/null").exit_code != 0
    assert shared.step("wget -T 3 -O - http://example.com").exit_code != 0
    assert shared.step("nslookup -timeout=3 example.com 1.1.1.1").exit_code != 0
    assert time.monotonic() - began < 4
    came_back(shared.step("ls /sys/class/net; tail -n +2 /proc/net/route"), "lo\n")
    assert shared.step("readlink /proc/self/ns/net").output.strip() != str(Path("/proc/self/ns/net").readlink())


def test_F09_no_way_up(shared: Session) -> None:
    status = shared.step("cat /proc/self/status; id -u; ls /var/run/docker.sock /run/docker.sock 2>&1").output
    for line in ("CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000"):
        assert line in status
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert "\n1000\n" in status
    assert status.count("No such file") == 2
    mounts = shared.step("grep -v -e ' /proc' -e ' /sys' -e ' /dev' /proc/mounts | cut -d' ' -f2,3").output.split("\n")
    assert {line.split()[1] for line in mounts if line} - {"overlay", "tmpfs"} <= {"ext4", "xfs", "btrfs"}
    assert shared.step("echo x >/proc/sys/kernel/hostname").exit_code == 2
    assert "sleep" in shared.step("kill -9 1 2>&1; pkill -9 -u root; ps").output


def test_F10_read_only_root_and_bounded_disk(shell: Session) -> None:
    for place in ("/", "/etc", "/usr/bin", "/usr/local/bin", "/run", "/run/op", "/var/tmp"):
        assert shell.step(f": >{place}/x").exit_code == 2, place
    for place in (HOME, "/tmp"):
        fill = f"head -c 16777216 /dev/zero >{place}/b$i 2>/dev/null"
        assert int(shell.step(f"i=0; while {fill} && [ $i -lt 9 ]; do i=$((i + 1)); done; echo $i").output) < 5
        assert "No space left" in shell.step(f"cat /etc/passwd >{place}/more").output
        shell.step(f"rm {place}/b*")
    assert "File too large" in shell.step("head -c 70000000 /dev/zero >big; :").output or (
        int(shell.step("stat -c %s big").output) <= 64 << 20
    )


def test_F10b_inodes_are_bounded(shell: Session) -> None:
    step = shell.step("mkdir i && cd i && i=0; while : >$i; do i=$((i + 1)); done; echo $i", timeout_seconds=60)
    assert "No space left" in step.output
    came_back(shell.step("cd; rm -r i; echo ok >ok; cat ok"), "ok\n")


def test_F11_memory_is_bounded_and_flagged(shell: Session) -> None:
    step = shell.step("x=$(head -c 1000000000 /dev/zero | tr '\\0' x); echo no", timeout_seconds=60)
    assert step.oom
    assert step.exit_code != 0
    step = shell.step("echo fine")
    assert (step.output, step.oom) == ("fine\n", False)


# Verification


def test_G01_the_checker_is_never_where_the_operator_acts() -> None:
    with session([]) as shell:
        shell.step("(while :; do ps >>ps.txt; ls -a / /tmp /run /run/* >>ls.txt 2>&1; sleep 0.05; done) &")
        time.sleep(0.3)
        assert shell.verify("test -s ps.txt && : CHECKER_MARKER").passed
        seen = b"".join(entry.content or b"" for entry in shell.final_tree())
        assert b"CHECKER_MARKER" not in seen
        assert b"sleep" in seen


def test_G02_a_daemon_left_behind_cannot_rewrite_the_answer() -> None:
    with session([]) as shell:
        shell.step("echo wrong >answer; (while :; do echo right >answer; echo wrong >answer; done) & ")
        shell.step("setsid sh -c 'while :; do date >>beat; sleep 0.02; done' &")
        time.sleep(0.3)
        first = shell.verify("cat answer; cksum beat").output
        assert first
        assert [shell.verify("cat answer; cksum beat").output for _ in range(3)] == [first] * 3
        assert not shell.verify("echo x >answer").passed


def test_G03_planted_tools_profiles_and_variables_have_no_effect() -> None:
    fake = "#!/bin/sh\nexit 0\n"
    planted = [
        Fixture(path=f"{HOME}/{name}", text=fake, mode=0o755) for name in ("cat", "grep", "test", "dash", ".profile")
    ]
    with session(planted) as shell:
        shell.step("echo 'exit 0' >.shrc; export ENV=$HOME/.shrc PATH=$HOME:$PATH LD_PRELOAD=$HOME/cat CDPATH=/tmp")
        shell.step("cp cat /usr/local/bin/cat; alias grep=true; echo wrong >answer; mkdir /tmp/bin; cp cat /tmp/bin")
        assert shell.verify("cat answer | grep -q right").passed is False
        said = shell.verify("echo $PATH; env | grep -c LD_PRELOAD; ls /usr/local/bin /tmp | grep -c cat").output
        assert said == "/usr/sbin:/usr/bin:/sbin:/bin\n0\n0\n"


@pytest.mark.parametrize(
    ("checker", "code"), [("kill -9 $$", 137), ("nosuchtool", 127), ("sleep 9", None), ("exit 200", 200)]
)
def test_G05_a_broken_checker_is_neither_pass_nor_fail(checker: str, code: int | None) -> None:
    with session([]) as shell:
        check = shell.verify(checker, timeout_seconds=1)
    assert check.passed is None
    assert check.exit_code == code
    assert check.error


def test_G07_doing_nothing_fails() -> None:
    with session([Fixture(path=f"{HOME}/in", text="x\n")]) as shell:
        check = shell.verify("test -f out")
    assert (check.passed, check.exit_code) == (False, 1)


def test_G08_checks_repeat_identically() -> None:
    with session([Fixture(path=f"{HOME}/in", text="x\n")]) as shell:
        shell.step("tr x y <in >out")
        assert len({shell.verify("sha256sum in out; stat -c '%a %n' *; test -s out") for _ in range(3)}) == 1
