"""Check a directory of scenarios that were written by hand, and say what to mend in each.

    check_directory(Path("scenarios"), image="sekft-dash", workers=4, timeout_seconds=30.0)

`generate.py --check` calls it. Every file is read and counted once. All faults of the record and of its text are named
at once; a scenario without them goes through the gate in containers, which stops at its first fault. Near-duplicates
are looked for among the scenarios that pass, in the order of their file names.
"""

import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from pipeline import stage
from authoring.duplicates import NearDuplicates
from authoring.gate import gate
from authoring.text_gate import CHECKS, RejectedError
from operators.rollouts import refuse_other_image
from pipeline.files import read_json, record_paths, refuse_two_meanings
from pipeline.hidden import as_text
from pipeline.workers import WorkerPool
from sandbox.containers import SandboxError, reap, remove_all, require_image
from schema import SCHEMA_VERSION, BadInputError, OwnValue, Scenario

SHOWN_CHARACTERS = 600  # of one fault
# What helps where the gate's own reason names only what it saw.
REMEDIES = {
    "reference": "run the solution by hand and mend it, or the checker",
    "provider": "mend provider.source, help_commands or directive_commands",
    "attempt": "name commands that fail and change nothing, or make the work one that ends with exit",
    "untouched": "make the checker ask for what the directives ask for",
    "prefixes": "make the checker ask for the effect of every command, or leave the commands out that nothing needs",
    "mutations": "make the checker compare the whole content of every file that the solution makes or changes",
    "fakes": "make the checker compare the whole tree, so that a faked success fails",
}


class Fault(NamedTuple):
    """The gate that a scenario fails, and what is wrong."""

    gate: str
    reason: str


@dataclass(frozen=True)
class Draft:
    """One file: its scenario, where it is one, and the faults that are known without a container."""

    path: Path
    scenario: Scenario | None
    faults: list[Fault]


def check_directory(directory: Path, *, image: str, workers: int, timeout_seconds: float) -> int:
    """Check every scenario; 2 if any fails, 1 if a sandbox broke, else 0. Raises BadInputError for the directory."""
    drafts = read_drafts(record_paths(directory, partial=True))
    refuse_other_image([draft.scenario for draft in drafts if draft.scenario], image)
    require_image(image)
    reap()
    known, cancelled = NearDuplicates(), threading.Event()
    found: dict[str, list[Fault]] = {}
    voided = 0

    def trial(draft: Draft) -> Fault | SandboxError | None:
        return gate_draft(draft, image, timeout_seconds, cancelled.is_set)

    pool = WorkerPool(min(workers, len(drafts)), cancelled=cancelled, release=remove_all)
    with pool, stage.Progress(len(drafts), "check") as bar:
        futures = [(draft, pool.submit(trial, draft)) for draft in drafts]
        for draft, future in futures:
            result = future.result()
            if isinstance(result, SandboxError):
                voided += 1
                bar.record(draft.path.name, f"void: {result}; run it again")
                continue
            faults = [*draft.faults, *([result] if result else [])]
            if not faults and draft.scenario and (repeats := known.reason(draft.scenario)):
                faults = [Fault("duplicate", repeats)]
            elif not faults and draft.scenario:
                known.add(draft.scenario)
            found[draft.path.name] = faults
            bar.record(draft.path.name, "passes" if not faults else f"fails: {', '.join(one.gate for one in faults)}")
            for fault in faults:
                print(as_text(f"  {draft.path}: {fault.gate}: {advice(fault)}"), file=sys.stderr)
    failed = {name: faults for name, faults in found.items() if faults}
    by_gate = Counter(fault.gate for faults in failed.values() for fault in faults)
    stage.print_summary({
        "stage": "check", "scenarios": len(drafts), "passed": len(found) - len(failed), "failed": len(failed),
        "voided": voided, "by_gate": dict(sorted(by_gate.items())),
        "mend": {name: [f"{one.gate}: {advice(one)}" for one in faults] for name, faults in failed.items()},
    })  # fmt: skip
    if failed:
        return stage.BAD_INPUT
    return stage.WORLD_FAILED if voided else stage.DONE


def read_drafts(paths: list[Path]) -> list[Draft]:
    """Every file as a draft. A name of a taxonomy with two meanings counts against the later file, as does an id."""
    own: dict[tuple[str, str], OwnValue] = {}
    ids: dict[str, str] = {}
    drafts = []
    for path in paths:
        draft = read_draft(path)
        if draft.scenario is not None:
            id_ = draft.scenario.id
            if id_ != path.stem:
                draft.faults.append(Fault("schema", f"id: is {id_!r}, but the file is {path.name}; make them equal"))
            if id_ in ids:
                draft.faults.append(Fault("schema", f"id: {id_!r} is also that of {ids[id_]}; change one"))
            ids.setdefault(id_, path.name)
            try:
                refuse_two_meanings(path, draft.scenario.taxonomy, own)
            except BadInputError as error:
                draft.faults.append(Fault("schema", str(error).removeprefix(f"{path}: ")))
        drafts.append(draft)
    return drafts


def read_draft(path: Path) -> Draft:
    """One file, with the faults of its record, or else those of its text."""
    try:
        value = read_json(path)
    except BadInputError as error:
        return Draft(path, None, [Fault("schema", str(error).removeprefix(f"{path}: "))])
    if isinstance(value, dict) and value.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        return Draft(path, None, [Fault("schema", f"schema_version: must be {SCHEMA_VERSION}")])
    try:
        scenario = Scenario.model_validate(value)
    except ValidationError as error:
        return Draft(path, None, [Fault("schema", plain(fault)) for fault in error.errors()])
    return Draft(path, scenario, text_faults(scenario))


def plain(fault: Any) -> str:
    """A validation error as a line: the field, then what is wrong with it."""
    field = ".".join(str(part) for part in fault["loc"])
    what = {
        "missing": "missing; add it",
        "extra_forbidden": "unknown field; drop it",
        "value_error": fault["msg"].removeprefix("Value error, "),  # of schema.py, with the remedy
    }.get(fault["type"], f"{fault['msg']}; correct it")
    return f"{field}: {what}" if field else str(what)


def text_faults(scenario: Scenario) -> list[Fault]:
    """What each check of the text finds."""
    faults = []
    for check in CHECKS:
        try:
            check(scenario)
        except RejectedError as error:
            faults.append(Fault(error.gate, str(error)))
    return faults


def gate_draft(
    draft: Draft, image: str, timeout_seconds: float, cancelled: Callable[[], bool]
) -> Fault | SandboxError | None:
    """What the gate finds in containers, None for nothing or for a draft with faults; an error that voids the trial."""
    if draft.faults or draft.scenario is None:
        return None
    try:
        found = gate(draft.scenario, timeout_seconds=timeout_seconds, cancelled=cancelled, image=image)
    except SandboxError as error:
        return error
    return None if found.admitted else Fault(str(found.gate), str(found.reason))


def advice(fault: Fault) -> str:
    """The fault in one line, cut where it is long, and what to do where its reason does not say so."""
    reason = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in fault.reason)
    if len(reason) > SHOWN_CHARACTERS:
        reason = f"{reason[:SHOWN_CHARACTERS]} …"
    return f"{reason}; {REMEDIES[fault.gate]}" if fault.gate in REMEDIES else reason
