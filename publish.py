"""Prepare a folder with a data set or an adapter and its card, as `hf upload` takes it.

    python publish.py --scenarios scenarios --holdout split/holdout --data trajectories --out published/data
    python publish.py --adapter ckpt-run1 --runs eval/ckpt-run1 --out published/adapter
    hf upload NAME/REPOSITORY published/data --repo-type dataset

Reads   <scenarios>/*.json and <holdout>/*.json (schema.Scenario), <data>/*.json (schema.Trajectory), overlap.json
        (contamination.py); or an adapter's directory, the directories of its evals, with their overlap.json where there
        is one, and the README.md and LICENSE of the base that it names
Writes  <out>/README.md (the card) and scenarios.jsonl, trajectories.jsonl, or one of each for the splits train and
        holdout; or the adapter's files, evals/<run>.json and base_licence/; manifest.json
Needs   nothing; nothing is uploaded

With --holdout, or where --scenarios is one side of split.py, the splits of the data set say what is held out. What a
card cannot tell, because the manifest, the eval or the counts are not there, it says is missing.
"""

import argparse
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import stage
from exports.holdout import Holdout, read_holdout
from formats.cards import (
    AdapterParts,
    CountedManifest,
    DatasetParts,
    GateCounts,
    adapter_card,
    data_files,
    dataset_card,
)
from formats.licence import base_licence
from model.loading import adapter_argument, adapter_hash, directory_of, model_hash
from pipeline.files import (
    checked,
    read_identity,
    read_json,
    read_manifest,
    read_report,
    read_scenarios,
    read_trajectories,
    write_json,
)
from pipeline.hidden import as_text
from records.overlap import Overlap
from schema import AdapterIdentity, BadInputError, Manifest, Scenario, Trajectory
from serving.conversion import licence_files

CONFIG = "adapter_config.json"
HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")  # as the Hub names them
ADAPTER_FILES = ("adapter_model.safetensors", CONFIG, "sekft.json", "render.json")
OVERLAP = "overlap.json"
BASE_LICENCE = "base_licence"  # the directory of the base's licence files


@dataclass(frozen=True)
class PublishSettings:
    """The flags."""

    scenarios: list[Path]
    holdout: list[Path]
    data: Path | None
    overlap: list[Path]
    adapter: Path | None
    runs: list[Path]
    base_model: str | None
    licence: str | None
    out: Path
    partial: bool
    redo: bool


def main(settings: PublishSettings) -> int:
    """Write one folder."""
    if bool(settings.scenarios) == bool(settings.adapter):
        raise BadInputError("--scenarios, --adapter: name exactly one of them")
    if settings.licence is not None and not LICENCE.fullmatch(settings.licence):
        raise BadInputError("--licence: name it as the Hub does, apache-2.0 or other say")
    if settings.base_model is not None and not HUB_NAME.fullmatch(settings.base_model):
        raise BadInputError("--base-model: is no OWNER/NAME of the Hub; name the base as the Hub does")
    unread: dict[str, Any] = {"--runs": settings.runs, "--base-model": settings.base_model}
    kind = "scenarios"
    if settings.adapter is not None:
        kind, unread = "adapter", {"--data": settings.data, "--holdout": settings.holdout}
    if given := [flag for flag, value in unread.items() if value]:
        raise BadInputError(f"{given[0]}: does not belong to --{kind}; drop it")
    return publish_dataset(settings) if settings.adapter is None else publish_adapter(settings, settings.adapter)


def publish_dataset(settings: PublishSettings) -> int:
    """Write scenarios, sessions and their card."""
    places = {path.resolve() for path in settings.scenarios}
    if same := [path for path in settings.holdout if path.resolve() in places]:
        raise BadInputError(
            f"--holdout {same[0]}: is the directory of --scenarios; name the held-out scenarios among them, or drop it"
        )
    records = [one for path in settings.scenarios for one in read_scenarios(path, partial=settings.partial)]
    ids = Counter(one.id for one in records)
    if twice := sorted(name for name, count in ids.items() if count > 1):
        raise BadInputError(f"--scenarios: two directories hold a scenario {twice[0]!r}; name one of them")
    recorded = read_trajectories(settings.data, partial=settings.partial) if settings.data else []
    published = {one.content_hash for one in records}
    sessions = [one for one in recorded if one.scenario_hash in published]
    if settings.licence is None and any(one.provenance.author == "teacher" for one in records):
        raise BadInputError("--licence: a teacher wrote some of it, whose terms decide; name the licence")
    manifests = {path: made for path in settings.scenarios if (made := read_manifest(path))}
    parts = DatasetParts(
        scenarios=records,
        sessions=sessions,
        manifests=list(manifests.values()),
        sessions_manifest=read_manifest(settings.data) if settings.data else None,
        yields=yields_of(manifests),
        held_out=held_out(settings, records),
        overlaps=[read_overlap(path) for path in settings.overlap],
    )
    card = dataset_card(parts, licence=settings.licence or "apache-2.0")
    inputs = [*settings.scenarios, *([settings.data] if settings.data else [])]
    manifest = stage.begin(settings.out, stage="publish", flags=_flags(settings), inputs=inputs, redo=settings.redo)
    others = len(recorded) - len(sessions)
    counts = {"scenarios": len(records), "trajectories": len(sessions), "left_out": others}
    if not manifest.finished:
        for file in data_files(parts):
            write_lines(settings.out / file.name, file.rows)
        card.save(settings.out / "README.md")
        stage.finish(settings.out, manifest, ids=[], counts=counts)
    if others:
        print(f"{settings.data}: {others} sessions are of scenarios that --scenarios does not hold", file=sys.stderr)
    stage.print_summary({"out": str(settings.out), **counts})
    return stage.DONE


def publish_adapter(settings: PublishSettings, adapter: Path) -> int:
    """Write an adapter's files, its evals and its card."""
    if absent := [name for name in ADAPTER_FILES if not (adapter / name).exists()]:
        raise BadInputError(f"{adapter}: no {absent[0]}; name an adapter directory that sft.py wrote")
    names = [run.resolve().name for run in settings.runs]
    if len(set(names)) < len(names):
        raise BadInputError(
            f"--runs: two directories are called {next(one for one in names if names.count(one) > 1)!r}; rename one"
        )
    if hidden := [as_text(name) for name in names if as_text(name) != name]:
        raise BadInputError(f"--runs: {hidden[0]}: a name with characters that nobody sees; rename the directory")
    runs = dict(zip(names, settings.runs, strict=True))
    reports = {name: read_report(run) for name, run in runs.items()}
    for run in settings.runs:
        refuse_other_adapter(run, adapter, f"--runs {run}")
    overlaps = overlaps_of(settings, adapter)
    config = read_json(adapter / CONFIG)
    if not isinstance(config, dict):
        raise BadInputError(f"{adapter / CONFIG}: is no JSON object; name an adapter directory that sft.py wrote")
    identity = read_identity(adapter)
    base = base_of(identity)
    licence = base_licence(base) if base else None
    texts = licence_files(base) if base else []
    name = adapter.resolve().name
    parts = AdapterParts(name, identity, reports, overlaps, licence, [f"{BASE_LICENCE}/{one.name}" for one in texts])
    card = adapter_card(parts, licence=settings.licence or "apache-2.0", base_model=settings.base_model)
    inputs = [adapter, *settings.runs]
    manifest = stage.begin(settings.out, stage="publish", flags=_flags(settings), inputs=inputs, redo=settings.redo)
    if not manifest.finished:
        for name in ADAPTER_FILES:
            shutil.copyfile(adapter / name, settings.out / name)
        if settings.base_model is not None:  # peft loads the base by this name
            write_json(settings.out / CONFIG, {**config, "base_model_name_or_path": settings.base_model})
        (settings.out / "evals").mkdir(exist_ok=True)
        for name, run in runs.items():
            shutil.copyfile(run / "report.json", settings.out / "evals" / f"{name}.json")
        for path in texts:
            (settings.out / BASE_LICENCE).mkdir(exist_ok=True)
            shutil.copyfile(path, settings.out / BASE_LICENCE / path.name)
        card.save(settings.out / "README.md")
        stage.finish(settings.out, manifest, ids=[], counts={"evals": len(reports)})
    if settings.base_model is None:
        print("the card names no base_model; pass --base-model OWNER/NAME, the base's name on the Hub", file=sys.stderr)
    stage.print_summary({"out": str(settings.out), "adapter": str(adapter), "evals": len(reports)})
    return stage.DONE


def refuse_other_adapter(run: Path, adapter: Path, told: str) -> None:
    """Raise BadInputError where an eval's manifest does not name these weights: its figures are another adapter's."""
    played = read_manifest(run)
    if played is None or adapter_hash(adapter) not in played.inputs.values():
        raise BadInputError(f"{told}: is no eval of the weights in {adapter}; name evals of this adapter")


def overlaps_of(settings: PublishSettings, adapter: Path) -> list[Overlap]:
    """The counts that lie beside the evals, and those of --overlap. Raises BadInputError beside another's eval."""
    for path in settings.overlap:
        beside = read_manifest(path.parent)
        if beside is not None and beside.stage == "eval":
            refuse_other_adapter(path.parent, adapter, f"--overlap {path}: {path.parent}")
    paths = [run / OVERLAP for run in settings.runs if (run / OVERLAP).exists()] + settings.overlap
    found: list[Overlap] = []
    for path in paths:
        if (one := read_overlap(path)) not in found:
            found.append(one)
    return found


def held_out(settings: PublishSettings, records: list[Scenario]) -> Holdout | None:
    """What is held out, as --holdout or the manifest of a side of split.py says; None where neither does.

    Raises BadInputError where a held-out scenario is not among those that are published.
    """
    if settings.holdout:
        held = Holdout()
        for path in settings.holdout:
            found = read_holdout(path, partial=settings.partial)
            if absent := sorted(found.ids - {one.id for one in records} - {one.content_hash for one in records}):
                raise BadInputError(
                    f"--holdout {path}: {absent[0]!r} is not in --scenarios; name the scenarios that were split"
                )
            held = Holdout(held.ids | found.ids, held.hashes | found.hashes, held.archetypes | found.archetypes)
        return held
    if len(settings.scenarios) > 1:
        return None
    (scenarios,) = settings.scenarios
    made = read_manifest(scenarios)
    side = made.flags.get("side") if made else None
    if side == "holdout":
        return read_holdout(scenarios, partial=settings.partial)
    return Holdout() if side == "train" else None


def yields_of(manifests: Mapping[Path, Manifest]) -> dict[str, GateCounts]:
    """The gates' yields of all manifests together. Raises BadInputError where one has another shape."""
    found: dict[str, GateCounts] = {}
    for directory, manifest in manifests.items():
        path = directory / "manifest.json"
        counted = checked(path, manifest.model_dump(), CountedManifest, "restore the file, or drop the field")
        for gate, one in (counted.counts.yields or {}).items():
            before = found.get(gate, GateCounts(reached=0, passed=0))
            found[gate] = GateCounts(reached=before.reached + one.reached, passed=before.passed + one.passed)
    return found


def read_overlap(path: Path) -> Overlap:
    """What contamination.py wrote. Raises BadInputError."""
    return checked(path, read_json(path), Overlap, "name a file of contamination.py --out")


def base_of(identity: AdapterIdentity) -> Path | None:
    """The directory of the base that an adapter names; None where it is not here, or holds another model."""
    if identity.base_hash is None or not (Path(identity.base).is_dir() or HUB_NAME.fullmatch(identity.base)):
        return None
    return directory_of(identity.base) if model_hash(identity.base) == identity.base_hash else None


def write_lines(path: Path, records: Sequence[Scenario | Trajectory]) -> None:
    """Write records as JSON Lines, one a line."""
    with path.open("w", encoding="utf-8", errors="surrogatepass") as stream:
        for record in records:
            stream.write(json.dumps(record.model_dump(mode="json"), sort_keys=True, ensure_ascii=False) + "\n")


def _flags(settings: PublishSettings) -> dict[str, Any]:
    """The flags that decide what is written."""
    named = {"holdout": settings.holdout, "overlap": settings.overlap}
    hashes = {
        name: [stage.hash_directory(path) if path.is_dir() else stage.hash_file(path) for path in paths]
        for name, paths in named.items()
        if paths
    }
    return {"licence": settings.licence, "base_model": settings.base_model, **hashes}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add(
        "--scenarios", type=Path, action="append", default=[],
        help="scenarios to publish as a data set; may be repeated",
    )  # fmt: skip
    add(
        "--holdout", type=Path, action="append", default=[],
        help="held-out scenarios (split.py) among them: they become the split holdout; may be repeated",
    )  # fmt: skip
    add("--data", type=Path, default=None, help="sessions to publish with them (rollout.py --out)")
    add(
        "--overlap", type=Path, action="append", default=[],
        help="counts of contamination.py --out, for the card; may be repeated",
    )  # fmt: skip
    add("--adapter", type=adapter_argument, default=None, help="adapter to publish (sft.py --out, or a selected.json)")
    add("--runs", type=Path, nargs="+", default=[], help="evals of the adapter (eval.py --out), for the card")
    add("--base-model", default=None, help="the base's name on the hub, for the card and peft")
    add("--licence", default=None, help="licence of what is published (default apache-2.0; needed with a teacher)")
    add("--out", type=Path, required=True, help="folder to write")
    add("--partial", action="store_true", help="take an unfinished directory")
    add("--redo", action="store_true", help="start over instead of comparing with the earlier run")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
