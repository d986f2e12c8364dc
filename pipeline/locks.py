"""Keep a second process out of a stage's directory while the first one writes there.

    hold(out)        # BadInputError names the process that has the directory
    release(out)

The lock is flock(2) on `<out>/.lock`. The kernel drops it when its holder ends, by kill -9 too, so a file that is left
behind locks nothing. It is advisory: only stages look at it. A process may take its own lock again.
"""

import contextlib
import fcntl
import os
import re
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

from schema import BadInputError

LOCK = ".lock"
_held: dict[Path, int] = {}  # resolved path of the lock -> descriptor


def hold(out: Path) -> None:
    """Create `out` and lock it until `release`, or until this process ends.

    A directory that cannot be written is left unlocked: whoever writes there next fails. A file system that knows no
    locks (some NFS mounts) is named on stderr, and the stage goes on.

    Raises:
        BadInputError: another living process has a lock on `out` or on a directory in it.
        OSError: `out` cannot be created.
    """
    out.mkdir(parents=True, exist_ok=True)
    own = out.resolve() / LOCK
    for inner in own.parent.glob(f"**/{LOCK}"):
        if inner != own and inner not in _held:
            with contextlib.suppress(OSError), inner.open() as stream:
                _lock(stream.fileno(), inner)
    if own in _held and not _is_at(own, _held[own]):
        os.close(_held.pop(own))
    while own not in _held:
        try:
            descriptor = _open(own)
        except OSError:
            return
        with contextlib.ExitStack() as failed:
            failed.callback(os.close, descriptor)
            _lock(descriptor, own)
            if _is_at(own, descriptor):  # else its last holder removed it just now
                failed.pop_all()
                _held[own] = descriptor
                with contextlib.suppress(OSError):  # a full disk, or the file of another user, who was killed
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, _about_this_process().encode(), 0)


def release(*outs: Path) -> None:
    """Remove the locks that this process has on `outs`; all of them where none is named."""
    for own in [out.resolve() / LOCK for out in outs] or list(_held):
        if own in _held:
            descriptor = _held.pop(own)
            with contextlib.suppress(OSError):
                if _is_at(own, descriptor):
                    own.unlink()  # before the lock is dropped: afterwards it may be another's
            os.close(descriptor)


def is_held(out: Path) -> bool:
    """True while a stage has the lock on `out`, read without touching it.

    A holder on another machine is believed; one on this machine must be alive.
    """
    try:
        text = (out / LOCK).read_text(errors="replace")
    except OSError:
        return False
    named = re.search(r"\(process (\d+) on (.+), since ", text)
    if named is None or named[2] != socket.gethostname():
        return True
    try:
        os.kill(int(named[1]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _open(path: Path) -> int:
    """A descriptor of the lock file; read-only where it is another user's."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except PermissionError:
        return os.open(path, os.O_RDONLY)


def _lock(descriptor: int, path: Path) -> None:
    """Lock, or raise BadInputError with the holder's name."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "another process"
        raise BadInputError(
            f"{path.parent}: {holder} writes there; wait until it ends, or name another --out"
        ) from error
    except OSError as error:
        print(f"{path.parent}: no lock here ({error.strerror}); run no second stage on it", file=sys.stderr)


def _is_at(path: Path, descriptor: int) -> bool:
    """True when `path` still names the file that `descriptor` has open."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _about_this_process() -> str:
    script, now = Path(sys.argv[0]).name or "python", datetime.now(UTC)
    return f"{script} (process {os.getpid()} on {socket.gethostname()}, since {now:%Y-%m-%d %H:%M:%S} UTC)\n"
