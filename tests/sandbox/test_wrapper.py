"""The channel's stream is read the same however it is cut, and the wrapper is byte for byte what it was."""

import re
import subprocess
from pathlib import Path

import pytest

from sandbox import programs
from sandbox.programs import PROGRAMS, read_program
from sandbox.session import session
from sandbox.wrapper import CHANNEL, SEEN_BYTES, WRAPPER_HASH, CappedOutput, StepReader
from schema import sha256

docker_needed = pytest.mark.docker


# What runs, without comments. A trajectory's `wrapper_hash` says under which programs it was recorded, and trajectories
# under other programs are not comparable: these values change only where a program is meant to run differently.
HASHES = {
    "aliases.sed": "87b01832f65b605a",
    "channel.sh": "60f08697d1f9db82",
    "checker.sh": "c80c04cd36b4266a",
    "checker_pid1.sh": "f493c9ab10c90ab9",
    "enter.sh": "75491ee008dd690c",
    "kill.sh": "0e437c7badcf6428",
    "oom_kills.sh": "2e0a902fd2d234aa",
    "pid1.sh": "6afc2ae3c683c8b0",
    "pid1_setup.sh": "fb84ef4ede302d1a",
    "quotes.sed": "d3622125409d84bb",
    "run_script.sh": "cde329b3c13408cc",
    "save.sh": "475448ef7553ab70",
    "start_channel.sh": "3ddc1ca635f5124e",
    "write_file.sh": "8727efedbb40ca38",
}


def test_wrapper_hash_is_pinned() -> None:
    assert WRAPPER_HASH == "5f991bf7591a283e2ad8dca300825a5b0022f426072054170c317e9aa68e213d"


def test_programs_run_as_pinned() -> None:
    names = sorted(path.name for path in PROGRAMS.iterdir())
    assert {name: sha256(read_program(name).encode())[:16] for name in names} == HASHES


def test_loader_drops_only_comments_and_blank_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# head\n\n  # indented\necho '# quoted' # behind\n\t\nprintf '#\\n'  \nx=$#\n"
    (tmp_path / "some.sh").write_text(text)
    monkeypatch.setattr(programs, "PROGRAMS", tmp_path)
    assert read_program("some.sh") == "echo '# quoted' # behind\nprintf '#\\n'  \nx=$#\n"


def test_loaded_programs_are_their_files_without_comments() -> None:
    for path in PROGRAMS.iterdir():
        dropped = [line for line in path.read_text().splitlines() if line not in read_program(path.name).splitlines()]
        assert dropped, f"{path.name} has no comment"
        assert all(not line.strip() or line.strip().startswith("#") for line in dropped), path.name
        subprocess.run(["dash", "-n"], input=read_program(path.name), text=True, check=path.suffix == ".sh")


def test_channel_descriptors_go_to_unreadable_programs_only() -> None:
    """Only the step's own shell, which has no such descriptor, comes from a program file that may be read."""
    readable = re.findall(r"(?<!libexec)(?:/usr)?/bin/\S+.*", CHANNEL)
    assert len(readable) == 1
    assert readable[0].endswith("setsid /usr/bin/dash sh 3<&0 </dev/null 2>&1 4>&- 6>&-")


HEREDOCS = {
    "cat <<E\nx": True, "cat <<E\nx\\": True, "cat <<E\nx\n)": True, "cat <<A <<B\nx\nA\ny": True, "(a <<E": True,
    "cat <<-E\nx\n E": True, "if true; then cat <<E\nx\n": True, "{ cat <<E\nx\n}": True, "echo $(cat <<E\nx\n)": True,
    "cat <<-E\nx\n\tE": False, "if true; then cat <<E\nx\nE\nfi": False, "echo '<<' \\": False,
    "echo $((1 << 2))": False, "if true; then (echo '<<'": False, "echo '<<": False, "case '<<' in a) echo;;": False,
    "echo $((1 <<": False, "for i in '<<'; do": False, ")\ncat <<E\nx": False, "echo '<<' |": False, "cat <<": False,
    "eval 'cat <<E\nx'": False, "echo `cat <<E\nx`": False,  # each of these is parsed as a text of its own
}  # fmt: skip


@docker_needed
def test_open_heredocs_are_flagged() -> None:
    with session([]) as shell:
        assert {text: shell.step(text).open_heredoc for text in HEREDOCS} == HEREDOCS


# Reading the stream


@pytest.mark.parametrize("at", [0, 7, 11, 12])
def test_step_is_read_however_the_stream_is_cut(at: int) -> None:
    printed, closing, mark = b"out\0put \0ab", b"\0abc 3 1 0 0 12.50 /a b\0abc\0", b"\0xyz\0"
    marked = printed + mark if at < 12 else printed  # the closing message may come first, in the middle, or last
    rest = marked[:at] + closing + marked[at:] if at < 12 else printed + mark + b"late" + closing
    stream = b"of an earlier step \0abc\0" + b"\0abc 7 5 10.25\0" + rest
    for size in range(1, len(stream) + 1):
        reader = StepReader("abc", "xyz")
        done = [reader.feed(1, stream[at : at + size]) for at in range(0, len(stream), size)]
        assert done[-1]
        assert not any(done[:-1])
        assert (reader.opening, reader.closing) == (
            [b"7", b"5", b"10.25"],
            [b"3", b"1", b"0", b"0", b"12.50", b"/a b"],
        )
        assert reader.seconds() == 2.25
        assert reader.output.kept() == printed


@pytest.mark.parametrize(
    "words",
    [
        "x 2 0 0 1 /",
        "0 9 0 0 1 /",
        "0 2 2 0 1 /",
        "0 2 0 y 1 /",
        "0 2 0 0 y /",
        "0 2 0",
        "0 2 0 " + "9" * 5000 + " 1 /",
    ],
)
def test_malformed_closing_message_is_ignored(words: str) -> None:
    reader = StepReader("abc", "xyz")
    assert not reader.feed(1, f"\0abc 7 5 1\0out\0xyz\0\0abc {words}\0abc\0".encode())
    assert (reader.closing, reader.output.kept()) == (None, b"out")


@pytest.mark.parametrize("size", [0, 1, SEEN_BYTES, SEEN_BYTES + 1, SEEN_BYTES * 3, 100_000])
def test_output_keeps_both_ends_and_counts_exactly(size: int) -> None:
    data = bytes(65 + number % 26 for number in range(size))
    output = CappedOutput(SEEN_BYTES * 4)
    for at in range(0, size, 777):
        output.add(data[at : at + 777])
    assert output.total == size
    kept = output.kept()
    assert len(kept) == min(size, SEEN_BYTES * 4)
    half = SEEN_BYTES // 2
    if size <= SEEN_BYTES:
        assert output.text() == data.decode()
    else:
        left_out = size - 2 * half
        assert output.text() == f"{data[:half].decode()}\n[... {left_out} bytes left out ...]\n{data[-half:].decode()}"


def test_a_whole_line_is_left_out_and_nothing_else() -> None:
    output = CappedOutput(100)
    output.add(b"own\nown\n mine: own\nlast own\nown")
    assert output.without(b"own\n").kept() == b" mine: own\nlast own\nown"
    assert output.without(b"own\n").total == 23
    output.add(b"\n" + b"." * 100)
    assert output.without(b"own\n") is output  # its middle is cut out
