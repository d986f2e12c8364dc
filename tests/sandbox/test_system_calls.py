"""System calls that no tool of the image makes are refused, with the errors that docs/sandbox.md names."""

import platform
import struct

import pytest

from sandbox.session import session
from schema import HOME, Fixture

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the programs are x86-64 machine code"),
]


def program(number: int, *arguments: int | bytes) -> bytes:
    """An x86-64 program that makes one system call; it exits with the error number, or 0 where there was none."""
    registers = (b"\x48\xbf", b"\x48\xbe", b"\x48\xba", b"\x49\xba", b"\x49\xb8")  # mov rdi/rsi/rdx/r10/r8, imm64
    code_bytes = 10 * (1 + len(arguments)) + 2 + 6 + 2 + 7
    base, data = 0x400000, b""
    code = b"\x48\xb8" + struct.pack("<q", number)
    for register, argument in zip(registers, arguments, strict=False):
        value = argument if isinstance(argument, int) else base + 120 + code_bytes + len(data)
        data += b"" if isinstance(argument, int) else argument + b"\0"
        code += register + struct.pack("<q", value)
    code += b"\x0f\x05" + b"\x89\xc7\xf7\xdf\x79\x02" + b"\x31\xff" + b"\xb8\x3c\x00\x00\x00\x0f\x05"
    assert len(code) == code_bytes
    size = 120 + len(code) + len(data)
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    return header + struct.pack("<IIQQQQQQ", 1, 7, 0, base, base, size, size, 4096) + code + data


NEW_USER, ENOLCK, ENOSYS, ENOTSOCK, ENOTSUP, EAFNOSUPPORT = 0x10000000, 37, 38, 88, 95, 97
CALLS: dict[str, tuple[bytes, int]] = {
    "getpid, which is allowed": (program(39), 0),
    "a socket in the file system, which is allowed": (program(41, 1, 1, 0), 0),
    "a lock of a whole file, which is allowed": (program(73, 1, 8), 0),
    "its own limits, which is allowed": (program(302, 0, 7, 0, 0), 0),
    "a name of its own, which is allowed": (program(157, 15, b"x"), 0),
    "an option of a socket, which is allowed": (program(54, 0, 1, 2, bytes(4), 4), ENOTSOCK),
    "a datagram socket": (program(41, 2, 2, 0), EAFNOSUPPORT),
    "a datagram socket of IPv6": (program(41, 10, 2, 0), EAFNOSUPPORT),
    "a raw socket": (program(41, 2, 3, 1), EAFNOSUPPORT),
    "a packet socket": (program(41, 17, 3, 0x0300), EAFNOSUPPORT),
    "a netlink socket": (program(41, 16, 3, 0), EAFNOSUPPORT),
    "a socket to the hypervisor": (program(41, 40, 1, 0), EAFNOSUPPORT),
    "a socket to the kernel's ciphers": (program(41, 38, 5, 0), EAFNOSUPPORT),
    "a family with high bits set": (program(41, 1 << 32 | 2, 2, 0), EAFNOSUPPORT),
    "io_uring": (program(425, 1, b"\0" * 120), ENOSYS),
    "asynchronous input and output": (program(206, 1, bytes(8)), ENOSYS),
    "a message queue": (program(68, 0, 0o1600), ENOSYS),
    "shared memory": (program(29, 0, 4096, 0o1600), ENOSYS),
    "semaphores": (program(64, 0, 1, 0o1600), ENOSYS),
    "a POSIX message queue": (program(240, b"x", 0o102, 0o600, 0), ENOSYS),
    "inotify": (program(294, 0), ENOSYS),
    "inotify, the old call": (program(253), ENOSYS),
    "fanotify": (program(300, 0x200, 0), ENOSYS),
    "a timer with a signal": (program(222, 0, 0, bytes(8)), ENOSYS),
    "a file in memory": (program(319, b"x", 0), ENOSYS),
    "a timer in a descriptor": (program(283, 1, 0), ENOSYS),
    "signals in a descriptor": (program(289, -1, bytes(8), 8, 0), ENOSYS),
    "signals in a descriptor, the old call": (program(282, -1, bytes(8), 8), ENOSYS),
    "an access control list": (program(188, b"/tmp", b"system.posix_acl_access", bytes(4), 4, 0), ENOTSUP),
    "an attribute of a link": (program(189, b"/tmp", b"user.x", b"x", 1, 0), ENOTSUP),
    "an attribute of an open file": (program(190, 1, b"user.x", b"x", 1, 0), ENOTSUP),
    "a filter of a socket": (program(54, 0, 1, 26, bytes(16), 16), 1),
    "a filter of a socket, with high bits set": (program(54, 0, 1, 1 << 32 | 26, bytes(16), 16), 1),
    "a loaded filter of a socket": (program(54, 0, 1, 50, bytes(4), 4), 1),
    "a lock on a filter": (program(54, 0, 1, 44, bytes(4), 4), 1),
    "a filter of several sockets": (program(54, 0, 1, 51, bytes(16), 16), 1),
    "a filter of system calls": (program(157, 22, 2, 0), 1),
    "a filter of system calls, with high bits set": (program(157, 1 << 32 | 22, 2, 0), 1),
    "a filter of system calls, the new call": (program(317, 1, 0, 0), 1),
    "pages from the pool of huge ones": (program(9, 0, 2 << 20, 3, 0x40022, -1), 1),
    "a clone whose flags are in memory": (program(435, bytes(64), 64), ENOSYS),
    "a record lock": (program(72, 1, 6, bytes(32)), ENOLCK),
    "a record lock, waiting": (program(72, 1, 7, bytes(32)), ENOLCK),
    "a record lock of an open file": (program(72, 1, 37, bytes(32)), ENOLCK),
    "a record lock with high bits set": (program(72, 1, 1 << 32 | 6, bytes(32)), 1),
    "a lease": (program(72, 1, 1024, 0), 1),
    "a larger pipe": (program(72, 1, 1031, 1 << 20), 1),
    "being traced": (program(101, 0, 0, 0, 0), 1),
    "reading another's memory": (program(310, 999999, 0, 0, 0, 0), 1),
    "writing another's memory": (program(311, 999999, 0, 0, 0, 0), 1),
    "another's descriptor": (program(438, -1, 0, 0), 1),
    "another's resources": (program(312, 999999, 999999, 0, 0, 0), 1),
    "another's limits": (program(302, 999999, 7, 0, 0), 1),
    "a queued signal": (program(129, 999999, 10, bytes(8) + b"\xff" * 4 + bytes(116)), 1),
    "a queued signal by descriptor": (program(424, -1, 0, 0, 0), 1),
    "memory faults": (program(323, 1), 1),
    "memory that cannot be moved": (program(149, 0, 0), 1),
    "ptrace attach of PID 1": (program(101, 16, 1, 0, 0), 1),
    "ptrace seize of PID 1": (program(101, 0x4206, 1, 0, 0), 1),
    "reading PID 1's memory": (program(310, 1, 0, 0, 0, 0), 1),
    "mount": (program(165, b"none", b"/tmp", b"tmpfs", 0, 0), 1),
    "umount": (program(166, b"/proc", 0), 1),
    "pivot_root": (program(155, b"/tmp", b"/tmp"), 1),
    "mknod of a disk": (program(133, b"disk", 0o60666, 0x800), 1),
    "a user namespace": (program(272, NEW_USER), 1),
    "a clone in a user namespace": (program(56, NEW_USER | 17, 0, 0, 0, 0), 1),
    "another's namespace": (program(308, 0, 0), 1),
    "bpf": (program(321, 0, 0, 0), 1),
    "a key": (program(250, 0, -3, 0), 1),
    "a kernel module": (program(175, 0, 0, b""), 1),
    "another kernel": (program(246, 0, 0, 0, 0), 1),
    "reboot": (program(169, 0), 1),
    "perf events": (program(298, 0, 0, -1, -1, 0), 1),
    "a file by its handle": (program(304, -100, 0, 0), 1),
    "swap": (program(167, b"/tmp/x", 0), 1),
    "the clock": (program(227, 0, 0), 1),
    "the host's name": (program(170, b"x", 1), 1),
    "root's id": (program(105, 0), 1),
    "root's group": (program(106, 0), 1),
    "chroot": (program(161, b"/tmp"), 1),
    "the kernel's log": (program(103, 3, 0, 0), 1),
    "input and output ports": (program(172, 3), 1),
    "a signal to PID 1": (program(62, 1, 9), 1),
}


def test_escaping_system_calls_are_refused() -> None:
    world = [Fixture.of(f"{HOME}/{name}", code, 0o755) for name, (code, _) in CALLS.items()]
    with session(world) as shell:
        step = shell.step('for call in *; do "./$call"; echo "$call: $?"; done', timeout_seconds=60)
    found = dict(line.rsplit(": ", 1) for line in step.output.splitlines())
    assert found == {name: str(code) for name, (_, code) in CALLS.items()}


def test_system_call_of_32_bits_is_killed() -> None:
    """The filter does not know their numbers and arguments: getpid here, by `int 0x80` in place of `syscall`."""
    with session([Fixture.of(f"{HOME}/old", program(20).replace(b"\x0f\x05", b"\xcd\x80", 1), 0o755)]) as shell:
        assert shell.step("./old").exit_code in (128 + 31, 128 + 11)  # SIGSYS; SIGSEGV where the kernel has none


def test_channel_cannot_be_traced_or_read() -> None:
    with session([]) as shell:
        holder = int(shell.step("pgrep -f 'dash channel' | head -n 1").output)
        for name, code in {"trace": program(101, 16, holder, 0, 0), "read": program(310, holder, 0, 0, 0, 0)}.items():
            shell.write_file(name, code)
            assert shell.step(f"chmod +x {name}; ./{name}").exit_code == 1
        kept = shell.step(
            f"cd /proc/{holder}; for f in mem environ fd/0 fd/1 fd/6 maps; do cat $f >/dev/null && echo done; done"
        )
    assert "done" not in kept.output
    assert kept.output.count("Permission denied") + kept.output.count("can't open") >= 6
