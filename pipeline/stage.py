"""Do what every stage does: manifest and resume, progress, the one JSON line, exit codes.

    manifest = stage.begin(out, stage="split", flags={"seed": 1}, inputs=[scenarios])
    ...
    stage.finish(out, manifest, ids=ids, counts={"scenarios": len(ids)})

A rerun goes on with the run in `--out`. A rerun whose flags, inputs or image differ is refused, and the difference is
named. While a stage lives, a second one in the same directory is refused, and the first is named.
"""

import argparse
import dataclasses
import errno
import hashlib
import json
import math
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

from tqdm import tqdm

from pipeline import interrupts, locks
from pipeline.files import LIVE, read_manifest, write_manifest
from pipeline.hidden import as_escapes, as_text
from schema import BadInputError, Manifest, WorldError, sha256

DONE, WORLD_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
DEFAULT_BASE = "base/smollm2"  # what get_base.py writes, and every --base reads where none is given
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
MAY_GROW = frozenset({"n", "samples", "panic_samples", "limit", "workers", "epochs", "updates"})
_words: ContextVar[Sequence[str]] = ContextVar("_words", default=())  # of the command line that runs


def command_line(doc: str | None) -> argparse.ArgumentParser:
    """An argument parser that prints the file's docstring as its help, and a mistake in one line."""
    return _OneLineParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)


def add_base_flag(parser: argparse.ArgumentParser, what: str = "base model") -> None:
    """Give a parser the flag --base, whose default is the directory that get_base.py writes."""
    told = f"{what}: a directory, or a hub name where a hub is reachable (default %(default)s, which get_base.py makes)"
    parser.add_argument("--base", default=DEFAULT_BASE, help=told)


def add_render_flag(parser: argparse.ArgumentParser, where: str = "") -> None:
    """Give a parser the flag --render; `where` begins its help, and says when the flag is read."""
    told = f"{where}render format (default: chat where the base's template can carry a session, else markers)"
    parser.add_argument("--render", choices=("markers", "chat"), default=None, help=told)


class _OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:  # argparse's own prints the usage too
        self.exit(BAD_INPUT, f"{self.prog}: error: {message}; see --help\n")


def run_script(
    main: Callable[..., int], parser: argparse.ArgumentParser, argv: Sequence[str] | None = None
) -> NoReturn:
    """Parse the flags, call `main`, and turn the expected ends into exit codes.

    Exit codes: 2 for the user's mistake, 1 for a full disk or a broken Docker, with one line each; 130 for Ctrl-C
    (SIGINT), 143 for SIGTERM, 129 for SIGHUP, after the clean-up and with one line. A script that was started with one
    of these signals ignored (`nohup`, `&` in a shell script) keeps ignoring it.

    Args:
        main: takes one keyword per flag, or a record `settings` whose fields are the flags.
        parser: the command line.
        argv: the arguments (default: those of the process).
    """
    words = sys.argv[1:] if argv is None else argv
    arguments = vars(parser.parse_args(words))
    settings = settings_of(main)
    nested = interrupts.nested()
    before = _words.set(words)
    try:
        with interrupts.raised():
            code = main(settings(**arguments)) if settings else main(**arguments)
        sys.exit(code)
    except BadInputError as error:
        print(as_text(f"{parser.prog}: error: {error}"), file=sys.stderr)
        sys.exit(BAD_INPUT)
    except WorldError as error:
        print(as_text(f"{parser.prog}: error: {error}; rerun the same command"), file=sys.stderr)
        sys.exit(WORLD_FAILED)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        where = f"{error.filename}: " if error.filename else ""
        told = f"{where}{error.strerror}; make room and rerun the same command"
        print(as_text(f"{parser.prog}: error: {told}"), file=sys.stderr)
        sys.exit(WORLD_FAILED)
    except KeyboardInterrupt as error:
        if nested:  # a job of a server, which ends too
            raise
        print(f"{parser.prog}: interrupted; finished results are on disk, rerun the same command", file=sys.stderr)
        sys.exit(error.code if isinstance(error, interrupts.Ended) else INTERRUPTED)
    finally:
        _words.reset(before)
        locks.release()


def require_seconds(seconds: float, flag: str = "--timeout-seconds") -> None:
    """Raise BadInputError unless a flag's seconds are a number above 0; `nan` and `inf` are none."""
    if not 0 < seconds < math.inf:
        raise BadInputError(f"{flag} {seconds}: must be more than 0, and finite")


def require_at_least_one(**values: int | None) -> None:
    """Raise BadInputError for the first of these flags that is set and below 1."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise BadInputError(f"--{name.replace('_', '-')} {value}: must be at least 1")


def refuse_unread(settings: Any, flags: argparse.ArgumentParser, read: Collection[str], beside: str) -> None:
    """Raise BadInputError for a flag that was set, to its default too, and that nothing reads beside another.

    Args:
        settings: a record whose fields are the flags.
        flags: the parser, which knows their defaults.
        read: fields of `settings` that are read.
        beside: the other flag, for the message.
    """
    written = {word.partition("=")[0] for word in _words.get()}
    for one in dataclasses.fields(settings):
        flag = "--" + one.name.strip("_").replace("_", "-")
        changed = getattr(settings, one.name) != flags.get_default(one.name)
        if one.name not in read and (changed or flag in written):
            raise BadInputError(f"{flag}: {beside} does not read it; leave the flag out")


def require_temperature(temperature: float | None) -> None:
    """Raise BadInputError unless --temperature is left out or lies between 0 and 10; `nan` does not."""
    if temperature is not None and not 0 <= temperature <= 10:
        raise BadInputError(f"--temperature {temperature}: must lie between 0 and 10")


def settings_of(main: Callable[..., int]) -> type | None:
    """The class of `main`'s one argument `settings`; None where main takes one keyword per flag."""
    found = get_type_hints(main).get("settings")
    return found if isinstance(found, type) else None


def hash_directory(directory: Path) -> str:
    """SHA-256 over the names and contents of the regular files directly in `directory`, manifest left out."""
    rows = sorted(
        f"{path.name} {sha256(path.read_bytes())}"
        for path in directory.iterdir()
        if path.is_file() and path.name != "manifest.json" and not path.name.startswith(".")
    )
    return sha256("\n".join(rows).encode())


def hash_file(path: Path) -> str:
    """SHA-256 of a file of any size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def split_kind(directory: Path) -> str | None:
    """How a scenario directory was split (`archetype` or `scenario`), None where it is not a split."""
    manifest = read_manifest(directory)
    return manifest.flags.get("by") if manifest else None


def begin(
    out: Path,
    *,
    stage: str,
    flags: dict[str, Any],
    inputs: Iterable[Path] = (),
    image_digest: str | None = None,
    redo: bool = False,
) -> Manifest:
    """Open `out` for a stage, lock it until `finish` or the end of the script, and return its manifest.

    The manifest of a stage that finished with the same flags, inputs and image comes back as it is, with `finished`
    true, and nothing on disk changes. Any other is written anew with `finished: false`.

    Args:
        out: the directory.
        stage: the script's name.
        flags: everything that decides the records. Paths of inputs and outputs do not: inputs count by hash.
        inputs: files and directories that the stage reads.
        image_digest: id of the sandbox's image, for stages that use it.
        redo: empty the directory first.

    Raises:
        BadInputError: `out` cannot be written, belongs to another stage or to a living process, or was begun with other
            flags, inputs or image. Flags in MAY_GROW may be larger than before.
    """
    hashes: dict[str, str] = {}
    for number, path in enumerate(inputs, 1):
        name = f"{path.name} ({number})" if path.name in hashes else path.name  # two may have the same name
        hashes[name] = hash_directory(path) if path.is_dir() else hash_file(path)
    manifest = Manifest(
        stage=stage,
        flags=json.loads(json.dumps(flags, default=str)),
        inputs=hashes,
        image_digest=image_digest,
        git_commit=git_commit(),
    )
    try:
        locks.hold(out)
        return _opened(out, manifest, redo)
    except OSError as error:
        locks.release(out)
        raise BadInputError(f"{out}: cannot be written ({error.strerror}); name another --out") from error
    except BadInputError:
        locks.release(out)
        raise


def _opened(out: Path, manifest: Manifest, redo: bool) -> Manifest:
    """The manifest of the finished run in `out`; or else `manifest`, which is written there."""
    halves = {*out.glob("**/.*.json.*.tmp"), *out.glob(f"**/{LIVE}")}
    before = read_manifest(out)
    if before is not None:
        if before.stage != manifest.stage:
            raise BadInputError(f"{out}: holds the output of stage {before.stage!r}; name another --out")
        if redo:
            _empty(out)
        elif difference := _difference(before, manifest):
            raise BadInputError(
                f"{out / 'manifest.json'}: this run differs from the one begun there: {difference}; "
                f"repeat that run's flags, name another --out, or pass --redo to start over"
            )
        elif before.finished and before.flags == manifest.flags:
            return before
    elif set(out.iterdir()) - halves - {out / locks.LOCK}:
        raise BadInputError(f"{out}: is not empty and holds no manifest; name another --out")
    for half in halves:
        half.unlink(missing_ok=True)
    write_manifest(out, manifest)
    return manifest


def _empty(out: Path) -> None:
    """Remove everything in a directory but its lock."""
    for path in out.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != locks.LOCK:
            path.unlink()


def _difference(before: Manifest, now: Manifest) -> str:
    """The first thing in which a rerun differs from the manifest, or an empty string."""
    for name in sorted({*before.flags, *now.flags}):
        old, new = before.flags.get(name), now.flags.get(name)
        grown = name in MAY_GROW and (name == "workers" or new is None or (old is not None and new >= old))
        if old != new and not grown:
            return f"--{name.replace('_', '-')} was {old!r}, is {new!r}"
    for name in sorted({*before.inputs, *now.inputs}):
        if before.inputs.get(name) != now.inputs.get(name):
            return f"input {name!r} has other content (or another name) than before"
    if before.image_digest != now.image_digest:
        return f"image was {before.image_digest}, is {now.image_digest}"
    return ""


def finish(out: Path, manifest: Manifest, *, ids: Iterable[str], counts: dict[str, Any]) -> None:
    """Write the manifest for the last time: finished, with the ids and counts. The directory's lock is released.

    Weights get the manifest's mode: safetensors writes them with 0600, whatever the umask is.
    """
    for path in out.glob("**/*.safetensors"):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE((out / "manifest.json").stat().st_mode))
    write_manifest(out, manifest.model_copy(update={"finished": True, "ids": sorted(ids), "counts": counts}))
    locks.release(out)


def git_commit() -> str | None:
    """The commit of the code that runs, with `+` when the tree has changes; None outside a checkout."""
    here = Path(__file__).parent
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
            cwd=here, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


class Progress:
    """A bar on a terminal, one greppable line for each record or each `every`th and the last otherwise; on stderr."""

    def __init__(self, total: int | None, label: str, *, every: int = 1) -> None:
        self.label, self.total, self.done, self.every = label, total, 0, every
        self.bar = tqdm(total=total, desc=label, disable=not sys.stderr.isatty(), dynamic_ncols=True)

    def record(self, name: str, result: str) -> None:
        """Count one record and say what became of it."""
        self.done += 1
        if self.bar.disable and self.done % self.every and self.done != self.total:
            return
        if self.bar.disable:
            line = f"{self.label} {self.done}/{self.total or '?'} {name} {result}".replace("\n", " ")
            print(as_text(line) + "\n", end="", file=sys.stderr, flush=True)  # one write: an interrupt cuts no line
        else:
            self.bar.set_postfix_str(as_text(result[:40]))
            self.bar.update()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()


def print_summary(summary: dict[str, Any]) -> None:
    """Print the stage's one JSON line on stdout."""
    print(as_escapes(json.dumps(summary, sort_keys=True, ensure_ascii=False)), flush=True)


def env(name: str, *fallbacks: str) -> str | None:
    """The first non-empty environment variable of those named, or None."""
    return next((value for key in (name, *fallbacks) if (value := os.environ.get(key))), None)
