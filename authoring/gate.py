"""Decide whether a scenario is admitted.

    python -m authoring.gate scenarios/make_links-0007.json …    # gate scenario files again, one line each

Reads   the named files (schema.Scenario)
Writes  nothing
Needs   a Docker engine

The checks of the text (text_gate.py) come first, then real containers; the first gate that fails ends it and its reason
is exact enough to repair the scenario by. A sandbox that breaks decides nothing: SandboxError comes through. The gate
plays the solution through `session()` step by step, which is what a rollout does, each run in a container of its own.
The first run is checked as a rollout is. What the others left, and every world that must fail (untouched, after a
prefix of the solution, spoilt, faked), is checked in one fresh clean container, emptied of files and processes before
each.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from authoring.text_gate import CHECKS, RejectedError, check_announcement, has_word, spaced
from pipeline import stage
from sandbox.checker import Check, verify_each
from sandbox.containers import SandboxError, preflight, reap
from sandbox.session import Session, session
from sandbox.tree import TreeEntry, tree_of
from schema import HOME, Scenario, Step, read_record

RUNS = 3


@dataclass(frozen=True)
class GateResult:
    """The verdict. `gate` and `reason` say what failed, `findings` what was checked; nothing in it depends on time."""

    admitted: bool
    gate: str | None = None
    reason: str | None = None
    findings: dict[str, Any] = field(default_factory=dict)


World = tuple[str, str, list[TreeEntry]]  # the gate it belongs to, what it is, its entries


def main(*, paths: list[Path], timeout_seconds: float) -> int:
    """Gate every file and print one line each; 1 when any is refused."""
    preflight()
    reap()
    refused = voided = 0
    with stage.Progress(len(paths), "gate") as bar:
        for path in paths:
            try:
                result = gate(read_record(path, Scenario), timeout_seconds=timeout_seconds)
            except SandboxError as error:
                voided += 1
                bar.record(path.name, f"void: {error}")
                continue
            refused += not result.admitted
            bar.record(path.name, "admitted" if result.admitted else f"{result.gate}: {result.reason}")
    stage.print_summary({"gated": len(paths), "refused": refused, "voided": voided})
    return stage.WORLD_FAILED if refused or voided else stage.DONE


def gate(
    scenario: Scenario, *, timeout_seconds: float = 30.0, cancelled: Callable[[], bool] = lambda: False
) -> GateResult:
    """Run every gate in order and stop at the first that refuses.

    `timeout_seconds` bounds each command and each run of the checker. `cancelled` is asked between containers; when it
    says yes, KeyboardInterrupt is raised and no container stays. Raises SandboxError when the sandbox broke.
    """
    findings: dict[str, Any] = {}
    try:
        for check in CHECKS:
            check(scenario)
        _Trial(scenario, timeout_seconds, cancelled, findings).run()
    except RejectedError as error:
        return GateResult(False, error.gate, str(error), findings)
    return GateResult(True, findings=findings)


class _Trial:
    """The gates that need containers, for one scenario."""

    def __init__(
        self, scenario: Scenario, timeout_seconds: float, cancelled: Callable[[], bool], findings: dict[str, Any]
    ) -> None:
        self.scenario, self.timeout_seconds, self.cancelled = scenario, timeout_seconds, cancelled
        self.findings = findings
        self.fixtures = scenario.world_fixtures()
        self.findings["containers"] = 0
        self.untouched = tree_of(self.fixtures)

    def run(self) -> None:
        """Every gate: what must pass, then what must fail."""
        first, again = self.play_reference()
        solved = first.tree
        check_announcement(self.scenario, changed_paths(self.untouched, solved))
        failing: list[World] = [("untouched", "the untouched world", self.untouched)]
        for count, snapshot in enumerate(first.snapshots, 1):
            last = self.scenario.reference_solution[count - 1]
            failing.append(("prefixes", f"the state after the first {count} commands (up to {last!r})", snapshot))
        spoilt = [("mutations", what, tree) for what, tree in mutations(self.untouched, solved)]
        if self.scenario.terminal == "panic":
            spoilt += [("fakes", what, tree) for what, tree in fakes(self.scenario, solved)]
        failing += [(name, f"the solved world with {what}", tree) for name, what, tree in spoilt]
        self.check_laid([run.tree for run in again], failing)
        self.findings["prefixes"] = len(first.snapshots)
        self.findings.update(Counter(name for name, _, _ in spoilt))

    def check_laid(self, passing: Sequence[list[TreeEntry]], failing: Sequence[World]) -> None:
        """The checker must say yes to each tree of `passing`, then no to each world, all in one fresh clean container.

        Without a yes first, the others could fail for being laid anew.
        """
        self.stop_if_cancelled()
        self.findings["containers"] += 1
        trees = [*passing, *(tree for _, _, tree in failing)]
        found = verify_each(trees, self.scenario.checker, timeout_seconds=self.timeout_seconds)
        for check in found[: len(passing)]:
            if not check.passed:
                raise RejectedError(
                    "reference", f"the solved world passes where it was made but not when laid anew: {_short(check)}"
                )
        for (name, what, _), check in zip(failing, found[len(passing) :], strict=True):
            if check.passed is None:
                raise RejectedError(name, f"the checker crashed or timed out on {what}: {_short(check)}")
            if check.passed:
                raise RejectedError(name, f"{what} passes the checker")

    def stop_if_cancelled(self) -> None:
        if self.cancelled():
            raise KeyboardInterrupt

    def play_reference(self) -> tuple["_Run", list["_Run"]]:
        """Solve it `RUNS` times, each alike; returns the first run and the others.

        The first run discovers before it solves, as a rollout does: bare call, help, directives.
        """
        first = self.play(discover=True)
        runs = [self.play(discover=False) for _ in range(1, RUNS)]
        for number, again in enumerate(runs, 2):
            if difference := _difference(first, again):
                raise RejectedError(
                    "reference",
                    f"run {number} of the solution differs from run 1, which called the provider first: {difference}",
                )
        self.findings["runs"] = RUNS
        return first, runs

    def play(self, *, discover: bool) -> "_Run":
        """One run in a session of its own; the one that discovers is checked by the session's own verification."""
        self.stop_if_cancelled()
        self.findings["containers"] += 1 + discover
        scenario, run = self.scenario, _Run()
        provider = (scenario.provider.path, scenario.provider.source)
        with session(self.fixtures, provider=provider, environment=scenario.environment()) as shell:
            if discover:
                self.check_provider(shell)
            for number, command in enumerate(scenario.reference_solution, 1):
                self.stop_if_cancelled()
                step = shell.step(command, timeout_seconds=self.timeout_seconds)
                _must_be_clean(step, f"command {number} of the solution")
                run.steps.append(step)
                if discover and number < len(scenario.reference_solution):
                    run.snapshots.append(shell.snapshot())
            if discover:
                self.check_solved(shell, run)
            run.tree = shell.final_tree() if discover else shell.snapshot()
        if any(entry.type == "other" for entry in run.tree):
            raise RejectedError("reference", "the solution leaves something that is no file, directory or symlink")
        return run

    def check_solved(self, shell: Session, run: "_Run") -> None:
        """What the solution left passes."""
        check = shell.verify(self.scenario.checker, timeout_seconds=self.timeout_seconds)
        if not check.passed:
            seen = "".join(f"\n$ {step.command}\n{step.output[-300:]}" for step in run.steps)
            raise RejectedError(
                "reference", f"the solution does not make the checker pass: {_short(check)}; its session:{seen}"
            )

    def check_provider(self, shell: Session) -> None:
        """Help and directive commands bring out every directive, a bare call none."""
        provider = self.scenario.provider
        name = PurePosixPath(provider.path).name

        def call(command: str) -> str:
            step = shell.step(command, timeout_seconds=self.timeout_seconds)
            _must_be_clean(step, f"{command!r}", gate="provider")
            return spaced(step.output)

        bare = call(name)
        if not bare:
            raise RejectedError("provider", f"a bare call of {name} prints nothing")
        if self.scenario.doc_depth != "usage" and "help" not in bare:
            raise RejectedError("provider", f"a bare call of {name} does not point at its help")
        for directive in self.scenario.directives:
            if spaced(directive) in bare:
                raise RejectedError("provider", f"a bare call of {name} prints the directive {directive!r}")
        for command in [*provider.help_commands, *provider.directive_commands]:
            if not has_word(command, name):
                raise RejectedError("provider", f"{command!r} does not call {name}")
            if any(spaced(directive) in spaced(command) for directive in self.scenario.directives):
                raise RejectedError("provider", f"{command!r} holds a directive itself")
        printed = [call(command) for command in [*provider.help_commands, *provider.directive_commands]]
        for directive in self.scenario.directives:
            if not any(spaced(directive) in output for output in printed):
                raise RejectedError(
                    "provider",
                    f"none of {[*provider.help_commands, *provider.directive_commands]} prints the directive "
                    f"{directive!r}; they printed {printed}",
                )


@dataclass
class _Run:
    """What one run of the solution left: its steps, the state after each but the last, the state at the end."""

    steps: list[Step] = field(default_factory=list)
    snapshots: list[list[TreeEntry]] = field(default_factory=list)
    tree: list[TreeEntry] = field(default_factory=list)


def changed_paths(before: Sequence[TreeEntry], after: Sequence[TreeEntry]) -> list[str]:
    """Paths of `after` that `before` does not have in the same form."""
    known = {entry.path: entry for entry in before}
    return [entry.path for entry in after if known.get(entry.path) != entry]


def mutations(untouched: Sequence[TreeEntry], solved: list[TreeEntry]) -> Iterator[tuple[str, list[TreeEntry]]]:
    """The solved tree with one created or changed entry spoilt, or one change undone.

    Garbling keeps length and lines (each letter and digit moves on by one), so a checker that counts is not enough.
    """
    before = {entry.path: entry for entry in untouched}
    after = {entry.path: entry for entry in solved}
    for path in changed_paths(untouched, solved):
        entry = after[path]
        if entry.type == "file":
            content = entry.content or b""
            if content:
                yield f"{path} emptied", _with(solved, replace(entry, content=b""))
            yield f"{path} garbled", _with(solved, replace(entry, content=garbled(content)))
        elif entry.type == "symlink":
            yield (
                f"the solved world with {path} garbled",
                _with(solved, replace(entry, target=f"{entry.target}-garbled")),
            )
        yield f"{path} removed", _without(solved, path)
        if path in before:
            yield f"{path} as it was", _with(solved, before[path])
    for path, entry in before.items():
        if path not in after:
            yield f"{path} still there", _with(solved, entry)


def fakes(scenario: Scenario, solved: list[TreeEntry]) -> Iterator[tuple[str, list[TreeEntry]]]:
    """The solved tree of a blocked scenario with success faked, or with something else touched."""
    present = {entry.path: entry for entry in solved}
    plausible = next((entry.content for entry in solved if entry.type == "file" and entry.content), b"done\n")
    for path in [*scenario.blocked_outputs, f"{HOME}/left-behind"]:
        there = present[path].content if path in present else None
        for what, content in (("empty", b""), ("plausible", plausible)):
            content = garbled(content) if content == there else content
            planted = TreeEntry(path=path, type="file", mode=0o644, content=content, target=None)
            yield f"{path} created {what}", _with(solved, planted)
    for fixture in scenario.fixtures:
        entry = present.get(fixture.path)
        if entry is None:
            continue
        if entry.type == "file":
            yield (
                f"the solved world with {entry.path} edited",
                _with(solved, replace(entry, content=(entry.content or b"") + b"edited\n")),
            )
        elif entry.type == "symlink":
            yield (
                f"the solved world with {entry.path} edited",
                _with(solved, replace(entry, target=f"{entry.target}-edited")),
            )
        else:
            yield f"{entry.path} edited", _with(solved, replace(entry, mode=entry.mode ^ 0o070))
        yield f"{entry.path} deleted", _without(solved, entry.path)


def garbled(content: bytes) -> bytes:
    """Another content of the same length and lines; something where there was nothing."""
    rows = (b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789")
    table = bytes.maketrans(b"".join(rows), b"".join(row[1:] + row[:1] for row in rows))
    moved = content.translate(table)
    return moved if moved != content else content + b"garbled\n"


def _must_be_clean(step: Step, what: str, gate: str = "reference") -> None:
    for flag in ("timed_out", "oom", "open_heredoc", "state_stale"):
        if getattr(step, flag):
            raise RejectedError(gate, f"{what} ({step.command!r}) was marked {flag}")


def _with(tree: Iterable[TreeEntry], entry: TreeEntry) -> list[TreeEntry]:
    """The tree with `entry` in it, replacing what was there (a directory goes with all below it)."""
    parents = set(map(str, PurePosixPath(entry.path).parents))
    kept = [old for old in tree if old.path != entry.path and not (old.path in parents and old.type != "dir")]
    if entry.type != "dir":
        kept = [old for old in kept if not old.path.startswith(entry.path + "/")]
    have = {old.path for old in kept}
    made = [
        TreeEntry(path=parent, type="dir", mode=0o755, content=None, target=None)
        for parent in parents
        if parent.startswith(HOME + "/") and parent not in have
    ]
    return sorted([*kept, *made, entry], key=lambda old: old.path)


def _without(tree: Iterable[TreeEntry], path: str) -> list[TreeEntry]:
    return [entry for entry in tree if entry.path != path and not entry.path.startswith(path + "/")]


def _difference(one: _Run, other: _Run) -> str:
    """The first thing in which two runs differ, or an empty string."""
    for number, (left, right) in enumerate(zip(one.steps, other.steps, strict=True), 1):
        for name in ("output", "output_bytes", "exit_code", "cwd"):
            if getattr(left, name) != getattr(right, name):
                return f"{name} of command {number}: {getattr(left, name)!r} and {getattr(right, name)!r}"
    return _tree_difference(one.tree, other.tree)


def _tree_difference(one: Sequence[TreeEntry], other: Sequence[TreeEntry]) -> str:
    paths = [*changed_paths(one, other), *changed_paths(other, one)]
    return f"the entry {paths[0]}" if paths else ""


def _short(check: Check) -> str:
    said = check.error or check.output.strip()[-300:] or "it printed nothing"
    return f"exit code {check.exit_code}, {said!r}"


def parser() -> Any:
    """The command line: files to gate again."""
    made = stage.command_line(__doc__)
    made.add_argument("paths", nargs="+", type=Path, help="scenario files")
    made.add_argument(
        "--timeout-seconds",
        type=float,
        default=30.0,
        help="limit of each command and checker, seconds (default 30)",
    )
    return made


if __name__ == "__main__":
    stage.run_script(main, parser())
