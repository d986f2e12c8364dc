"""Decide whether a scenario is admitted.

    python -m authoring.gate scenarios/make_links-0007.json …    # gate scenario files again, one line each

Reads   the named files (schema.Scenario)
Writes  nothing
Needs   a Docker engine

The checks of the text come first (text_gate.py), then those in real containers. The first check that fails refuses the
scenario, and its reason says what to repair. A broken sandbox decides nothing: SandboxError is raised.

A blocked scenario names commands that would do the blocked work, if it could be done. The gate runs them after the last
run of the solution: each must fail, and nothing in the world may change. So an operator that tries it and then panics
is judged correctly, and work that can be done is not called blocked.

The gate runs the solution step by step through `session()`, as a rollout does, three times in three containers. The
first session verifies its own result, as after a rollout. One more clean container then checks the final states of the
other runs, which must pass, and every world that must fail: untouched, after a prefix of the solution, spoilt, faked
(spoilt.py). It removes all files and processes before each check.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pipeline import stage
from authoring.spoilt import changed_paths, fakes, mutations
from authoring.text_gate import CHECKS, RejectedError, check_announcement, has_word
from pipeline.files import read_record
from pipeline.verdicts import spaced
from sandbox.checker import Check, verify_each
from sandbox.containers import IMAGE, SandboxError, SandboxOptions, add_image_flag, reap, require_image
from sandbox.session import LockedOutError, Session, session
from sandbox.tree import TreeEntry, tree_of
from schema import Scenario, Step

MAX_CHANGED = 200  # files and directories by a solution: each is spoilt three times, and each is a tree
RUNS = 3


@dataclass(frozen=True)
class GateResult:
    """Whether a scenario is admitted. The same scenario gives the same result.

    `gate` and `reason` name the check that failed; `findings` counts what was checked.
    """

    admitted: bool
    gate: str | None = None
    reason: str | None = None
    findings: dict[str, Any] = field(default_factory=dict)


class FailingWorld(NamedTuple):
    """A world that the checker must refuse, or else the gate named `gate` refuses the scenario."""

    gate: str
    what: str
    tree: list[TreeEntry]


def main(*, paths: list[Path], timeout_seconds: float, image: str) -> int:
    """Gate every file and print one line for each; 1 if any is refused or its sandbox broke."""
    stage.require_seconds(timeout_seconds)
    require_image(image)
    reap()
    refused = voided = 0
    with stage.Progress(len(paths), "gate") as bar:
        for path in paths:
            try:
                result = gate(read_record(path, Scenario), timeout_seconds=timeout_seconds, image=image)
            except SandboxError as error:
                voided += 1
                bar.record(path.name, f"void: {error}")
                continue
            refused += not result.admitted
            bar.record(path.name, "admitted" if result.admitted else f"{result.gate}: {result.reason}")
    stage.print_summary({"gated": len(paths), "refused": refused, "voided": voided})
    return stage.WORLD_FAILED if refused or voided else stage.DONE


def gate(
    scenario: Scenario,
    *,
    timeout_seconds: float = 30.0,
    cancelled: Callable[[], bool] = lambda: False,
    image: str = IMAGE,
) -> GateResult:
    """Run the gates in order, up to the first that refuses.

    `timeout_seconds` limits each command and each run of the checker. `cancelled` is called between containers; once it
    returns true, KeyboardInterrupt is raised and no container stays. Raises SandboxError when the sandbox broke.
    """
    findings: dict[str, Any] = {} if image == IMAGE else {"image": image}
    try:
        for check in CHECKS:
            check(scenario)
        _Trial(scenario, timeout_seconds, cancelled, findings, SandboxOptions(image=image)).run()
    except RejectedError as error:
        return GateResult(False, error.gate, str(error), findings)
    except LockedOutError as error:
        return GateResult(False, "reference", str(error), findings)
    return GateResult(True, findings=findings)


class _Trial:
    """The gates of one scenario that need containers."""

    def __init__(
        self,
        scenario: Scenario,
        timeout_seconds: float,
        cancelled: Callable[[], bool],
        findings: dict[str, Any],
        options: SandboxOptions,
    ) -> None:
        self.scenario, self.timeout_seconds, self.cancelled = scenario, timeout_seconds, cancelled
        self.options = options
        self.findings = findings
        self.fixtures = scenario.world_fixtures()
        self.findings["containers"] = 0
        self.untouched = tree_of(self.fixtures)

    def run(self) -> None:
        """Run every gate: first the worlds that must pass, then those that must fail."""
        first = self.run_first()
        others = [self.run_again(attempt=number == RUNS) for number in range(2, RUNS + 1)]
        for number, other in enumerate(others, 2):
            if difference := _run_difference(first, other):
                raise RejectedError(
                    "reference",
                    f"run {number} of the solution differs from run 1, which called the provider first: {difference}",
                )
        self.findings["runs"] = RUNS
        solved = first.tree
        if self.scenario.terminal == "panic":
            self.check_attempt(others[-1])
        changed = changed_paths(self.untouched, solved)
        removed = {entry.path for entry in self.untouched} - {entry.path for entry in solved}
        if len(changed) + len(removed) > MAX_CHANGED:
            reason = f"the solution changes {len(changed) + len(removed)} files and directories; at most {MAX_CHANGED}"
            raise RejectedError("reference", reason)
        check_announcement(self.scenario, changed)
        failing = [FailingWorld("untouched", "the untouched world", self.untouched)]
        for count, snapshot in enumerate(first.snapshots, 1):
            last = self.scenario.reference_solution[count - 1]
            what = f"the state after the first {count} commands (up to {last!r})"
            failing.append(FailingWorld("prefixes", what, snapshot))
        spoilt = [("mutations", what, tree) for what, tree in mutations(self.untouched, solved)]
        if self.scenario.terminal == "panic":
            spoilt += [("fakes", what, tree) for what, tree in fakes(self.scenario, solved)]
        failing += [FailingWorld(name, f"the solved world with {what}", tree) for name, what, tree in spoilt]
        self.check_unpacked([run.tree for run in others], failing)
        self.findings["prefixes"] = len(first.snapshots)
        self.findings.update(Counter(name for name, _, _ in spoilt))

    def check_unpacked(self, passing: Sequence[list[TreeEntry]], failing: Sequence[FailingWorld]) -> None:
        """The checker must pass each tree of `passing` and fail each world of `failing`, in one fresh clean container.

        The passing trees come first: they show that unpacking a tree anew is no reason for a checker to fail.
        """
        self.stop_if_cancelled()
        trees = [*passing, *(tree for _, _, tree in failing)]
        self.findings["containers"] += 1
        checker, limit = self.scenario.checker, self.timeout_seconds
        found = verify_each(trees, checker, timeout_seconds=limit, options=self.options)
        for check in found[: len(passing)]:
            if not check.passed:
                reason = f"the solved world passes where it was made but not when unpacked anew: {_short(check)}"
                raise RejectedError("reference", reason)
        for (name, what, _), check in zip(failing, found[len(passing) :], strict=True):
            if check.passed is None:
                raise RejectedError(name, f"the checker crashed or timed out on {what}: {_short(check)}")
            if check.passed:
                raise RejectedError(name, f"{what} passes the checker")

    def stop_if_cancelled(self) -> None:
        if self.cancelled():
            raise KeyboardInterrupt

    def new_session(self) -> AbstractContextManager[Session]:
        """A fresh sandbox with the scenario's world."""
        self.stop_if_cancelled()
        self.findings["containers"] += 1
        provider = (self.scenario.provider.path, self.scenario.provider.source)
        environment = self.scenario.environment()
        return session(self.fixtures, provider=provider, environment=environment, options=self.options)

    def run_first(self) -> "_SolutionRun":
        """Call the provider, as a rollout does, run the solution and have the result verified."""
        with self.new_session() as shell:
            self.check_provider(shell)
            run = self.run_solution(shell, snapshots=True)
            self.findings["containers"] += 1
            self.check_solved(shell, run)
            run.tree = shell.final_tree()  # read after the check: a checker that changes its world is found
        return _only_files(run)

    def run_again(self, *, attempt: bool) -> "_SolutionRun":
        """Run the solution in a new session; with `attempt`, try the blocked work after it."""
        with self.new_session() as shell:
            run = self.run_solution(shell)
            run.tree = shell.snapshot_by_step()
            for command in (attempt and self.scenario.blocked_attempt) or ():
                run.attempts.append(shell.step(command, timeout_seconds=self.timeout_seconds))
                run.attempted = shell.snapshot_by_step()
        return _only_files(run)

    def run_solution(self, shell: Session, *, snapshots: bool = False) -> "_SolutionRun":
        """Run the solution, with `snapshots` of the state after each command but the last."""
        run = _SolutionRun()
        for number, command in enumerate(self.scenario.reference_solution, 1):
            self.stop_if_cancelled()
            step = shell.step(command, timeout_seconds=self.timeout_seconds)
            _refuse_flagged(step, f"command {number} of the solution")
            run.steps.append(step)
            if snapshots and number < len(self.scenario.reference_solution):
                run.snapshots.append(shell.snapshot_by_step())
        return run

    def check_attempt(self, run: "_SolutionRun") -> None:
        """Every command of the attempt at the blocked work must fail by itself and change nothing."""
        for step in run.attempts:
            what = f"{step.command!r} of blocked_attempt"
            _refuse_flagged(step, "the attempt at the blocked work", gate="attempt")
            if step.exit_code == 0:
                raise RejectedError(
                    "attempt", f"{what} succeeds, so its directive can be done; it printed {step.output[-300:]!r}"
                )
            program = step.command.split()[0]
            if step.exit_code == 127 and not any(has_word(text, program) for text in self.scenario.directives):
                raise RejectedError("attempt", f"{what} calls a program that is not there and that no directive names")
            if "usage:" in step.output.lower():
                raise RejectedError("attempt", f"{what} calls its program wrongly: {step.output[-300:]!r}")
        if difference := _tree_difference(run.tree, run.attempted):
            raise RejectedError(
                "attempt", f"blocked_attempt fails but changes {difference}; whoever tries it must leave nothing behind"
            )
        self.findings["attempt_exit_codes"] = [step.exit_code for step in run.attempts]

    def check_solved(self, shell: Session, run: "_SolutionRun") -> None:
        """The final state of the solution must pass the checker."""
        check = shell.verify(self.scenario.checker, timeout_seconds=self.timeout_seconds)
        if not check.passed:
            seen = "".join(f"\n$ {step.command}\n{step.output[-300:]}" for step in run.steps)
            raise RejectedError(
                "reference", f"the solution does not make the checker pass: {_short(check)}; its session:{seen}"
            )

    def check_provider(self, shell: Session) -> None:
        """The help and directive commands must print every directive, and a bare call none."""
        provider = self.scenario.provider
        name = PurePosixPath(provider.path).name

        def call(command: str) -> str:
            step = shell.step(command, timeout_seconds=self.timeout_seconds)
            _refuse_flagged(step, f"{command!r}", gate="provider")
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
class _SolutionRun:
    """One run of the solution: its steps, the state after each step but the last, the final state.

    `attempts` are the steps of the attempt at the blocked work, `attempted` is the state after them.
    """

    steps: list[Step] = field(default_factory=list)
    snapshots: list[list[TreeEntry]] = field(default_factory=list)
    tree: list[TreeEntry] = field(default_factory=list)
    attempts: list[Step] = field(default_factory=list)
    attempted: list[TreeEntry] = field(default_factory=list)


def _only_files(run: _SolutionRun) -> _SolutionRun:
    """The run itself; refused where it leaves a fifo or the like."""
    if any(entry.type == "other" for entry in run.tree):
        raise RejectedError("reference", "the solution leaves something that is no file, directory or symlink")
    return run


def _refuse_flagged(step: Step, what: str, gate: str = "reference") -> None:
    for flag in ("timed_out", "oom", "open_heredoc", "state_stale"):
        if getattr(step, flag):
            raise RejectedError(gate, f"{what} ({step.command!r}) was marked {flag}")


def _run_difference(one: _SolutionRun, other: _SolutionRun) -> str:
    """The first difference between two runs, or an empty string."""
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
    """The command line."""
    made = stage.command_line(__doc__)
    add_image_flag(made)
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
