"""Print one recorded session on a terminal, as text: nothing in it reaches the terminal as a control character."""

from pathlib import Path
from typing import Any

from model.render import Wire
from pipeline.files import read_record
from pipeline.hidden import as_text
from schema import VOIDED, BadInputError, Step, Trajectory
from training.dataset import build
from training.inspection import show

FLAGS = ("timed_out", "oom", "open_heredoc", "state_stale")
NAMED = 3  # ids that a refusal names


def find_sessions(id_: str, directory: Path) -> dict[str, Trajectory]:
    """The sessions with this id, by directory below `directory` (an eval's subject), or "" for one in itself.

    Raises BadInputError.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: no such directory; name one that rollout.py or eval.py wrote")
    named = (path for pattern in ("*.json", "*/*.json") for path in directory.glob(pattern))
    paths = sorted(path for path in named if path.name[0] != "." and path.name not in ("manifest.json", "report.json"))
    found = [path for path in paths if path.stem == id_]
    if not found:
        known = [path.stem for path in paths]
        there = f"there are {len(known)}, such as {as_text(', '.join(known[:NAMED]))}" if known else "there is none"
        raise BadInputError(f"{directory}: no session {as_text(id_)!r}; {there}")
    return {"" if path.parent == directory else path.parent.name: read_record(path, Trajectory) for path in found}


def print_session(session: Trajectory, console: Any, subject: str = "") -> None:
    """Print a session as it went on its terminal, with what was noted of each step.

    `console`: of rich. `subject`: who acted, where there are several.
    """

    def line(text: str, style: str = "") -> None:
        console.print(as_text(text), style=style, markup=False, highlight=False, soft_wrap=True)

    about = [session.operator.kind, session.operator.model or "", *session.axes.values()]
    name = f"{subject}: {session.id}" if subject else session.id
    line(f"--- {name}: {'kept' if session.kept else 'not kept'}, outcome {session.outcome}, {verdict(session)}",
         "bold green" if session.kept else "bold red")  # fmt: skip
    line(" · ".join(part for part in about if part), "dim")
    for reason in session.reasons:
        line(f"not kept: {reason}", "red")
    if session.error:
        line(f"error: {session.error}", "yellow")
    for message in session.messages[:2]:
        if message.role == "user":
            line(message.content)
    for step in session.steps:
        line(f"$ {step.command}", "bold")
        if step.output:
            line(step.output.removesuffix("\n"))
        line(facts(step), "red" if step.exit_code else "dim")
    for command in session.commands_without_step():
        line(f"$ {command}", "bold")
    changes = session.model_dump(mode="json").get("changes") or {}
    for name, entries in changes.items():
        for entry in entries if isinstance(entries, list) else []:
            line(f"{name}: {entry if isinstance(entry, str) else entry['path']}", "cyan")
    if more := changes.get("more"):
        line(f"and {more} more changes", "cyan")


def verdict(session: Trajectory) -> str:
    """What the checker said."""
    if session.outcome == "checker_failed":
        return "checker failed"
    if session.outcome in VOIDED:
        return "not checked"
    return "checker passed" if session.verified else "checker did not pass"


def facts(step: Step) -> str:
    """Exit code, seconds, flags and directory of a step; of an agent program's step only the code, where it is told."""
    flags = [flag for flag in FLAGS if getattr(step, flag)]
    code = "exit not told" if step.exit_code is None else f"exit {step.exit_code}"
    return "[" + ", ".join([code, *([f"{step.duration_seconds:.2f} s", *flags, step.cwd] if step.cwd else [])]) + "]"


def with_mask(session: Trajectory, base: str, wire: Wire | None = None, *, colour: bool) -> str:
    """The session as a trainer reads it in this format, trained tokens in colour or brackets. Raises BadInputError."""
    from model.render import Renderer
    from training.run import check_tokenizer, load_tokenizer

    check_tokenizer(base)
    renderer = Renderer.for_base(load_tokenizer(base), wire)
    dataset = build([session], renderer, max_length_tokens=2**62, include_not_kept=True)
    if not dataset.examples:
        why = dataset.malformed[0] if dataset.malformed else "it holds no operator turn"
        raise BadInputError(f"--mask: {session.id} cannot be rendered ({why}); show it without --mask")
    return show(dataset.examples[0], colour=colour)
