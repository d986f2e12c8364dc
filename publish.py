"""Prepare a folder with a data set or an adapter and its card, as `hf upload` takes it.

    python publish.py --scenarios scenarios --data trajectories --out published/data
    python publish.py --adapter ckpt-run1 --runs eval/ckpt-run1 --out published/adapter
    hf upload NAME/REPOSITORY published/data --repo-type dataset

Reads   <scenarios>/*.json (schema.Scenario), <data>/*.json (schema.Trajectory), overlap.json (contamination.py); or an
        adapter's directory and the directories of its evals, with their overlap.json where there is one
Writes  <out>/README.md (the card) and scenarios.jsonl, trajectories.jsonl; or the adapter's files and
        evals/<run>.json; manifest.json
Needs   nothing; nothing is uploaded

What a card cannot tell, because the manifest, the eval or the counts are not there, it says is missing.
"""

import argparse
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import stage
from formats.cards import AdapterParts, DatasetParts, adapter_card, dataset_card
from model.loading import adapter_argument
from pipeline.files import (
    read_identity,
    read_json,
    read_manifest,
    read_report,
    read_scenarios,
    read_trajectories,
    write_json,
)
from schema import BadInputError, Scenario, Trajectory

CONFIG = "adapter_config.json"
ADAPTER_FILES = ("adapter_model.safetensors", CONFIG, "sekft.json", "render.json")
OVERLAP = "overlap.json"


@dataclass(frozen=True)
class PublishSettings:
    """The flags."""

    scenarios: Path | None
    data: Path | None
    overlap: Path | None
    adapter: Path | None
    runs: list[Path]
    base_model: str | None
    licence: str | None
    out: Path
    partial: bool
    redo: bool


def main(settings: PublishSettings) -> int:
    """Write one folder."""
    if (settings.scenarios is None) == (settings.adapter is None):
        raise BadInputError("--scenarios, --adapter: name exactly one of them")
    if settings.scenarios is not None:
        return publish_dataset(settings, settings.scenarios)
    assert settings.adapter is not None
    return publish_adapter(settings, settings.adapter)


def publish_dataset(settings: PublishSettings, scenarios: Path) -> int:
    """Write scenarios, sessions and their card."""
    records = read_scenarios(scenarios, partial=settings.partial)
    sessions = read_trajectories(settings.data, partial=settings.partial) if settings.data else []
    if settings.licence is None and any(one.provenance.author == "teacher" for one in records):
        raise BadInputError("--licence: a teacher wrote some of it, whose terms decide; name the licence")
    parts = DatasetParts(
        scenarios=records,
        sessions=sessions,
        manifest=read_manifest(scenarios),
        sessions_manifest=read_manifest(settings.data) if settings.data else None,
        overlap=read_json(settings.overlap) if settings.overlap else None,
    )
    card = dataset_card(parts, licence=settings.licence or "apache-2.0")
    inputs = [one for one in (scenarios, settings.data, settings.overlap) if one is not None]
    manifest = stage.begin(settings.out, stage="publish", flags=_flags(settings), inputs=inputs, redo=settings.redo)
    if not manifest.finished:
        write_lines(settings.out / "scenarios.jsonl", records)
        if sessions:
            write_lines(settings.out / "trajectories.jsonl", sessions)
        card.save(settings.out / "README.md")
        counts = {"scenarios": len(records), "trajectories": len(sessions)}
        stage.finish(settings.out, manifest, ids=[], counts=counts)
    stage.print_summary({"out": str(settings.out), "scenarios": len(records), "trajectories": len(sessions)})
    return stage.DONE


def publish_adapter(settings: PublishSettings, adapter: Path) -> int:
    """Write an adapter's files, its evals and its card."""
    if absent := [name for name in ADAPTER_FILES if not (adapter / name).exists()]:
        raise BadInputError(f"{adapter}: no {absent[0]}; name an adapter directory that sft.py wrote")
    names = [run.resolve().name for run in settings.runs]
    if len(set(names)) < len(names):
        raise BadInputError(f"--runs: two directories are called {names[0]!r}; rename one")
    runs = dict(zip(names, settings.runs, strict=True))
    reports = {name: read_report(run) for name, run in runs.items()}
    overlaps = {name: read_json(run / OVERLAP) for name, run in runs.items() if (run / OVERLAP).exists()}
    if settings.overlap:
        overlaps["all"] = read_json(settings.overlap)
    parts = AdapterParts(adapter.resolve().name, read_identity(adapter), reports, overlaps)
    card = adapter_card(parts, licence=settings.licence or "apache-2.0", base_model=settings.base_model)
    inputs = [adapter, *settings.runs, *([settings.overlap] if settings.overlap else [])]
    manifest = stage.begin(settings.out, stage="publish", flags=_flags(settings), inputs=inputs, redo=settings.redo)
    if not manifest.finished:
        for name in ADAPTER_FILES:
            shutil.copyfile(adapter / name, settings.out / name)
        if settings.base_model is not None:  # peft loads the base by this name
            config = read_json(settings.out / CONFIG)
            write_json(settings.out / CONFIG, {**config, "base_model_name_or_path": settings.base_model})
        (settings.out / "evals").mkdir(exist_ok=True)
        for name, run in runs.items():
            shutil.copyfile(run / "report.json", settings.out / "evals" / f"{name}.json")
        card.save(settings.out / "README.md")
        stage.finish(settings.out, manifest, ids=[], counts={"evals": len(reports)})
    stage.print_summary({"out": str(settings.out), "adapter": str(adapter), "evals": len(reports)})
    return stage.DONE


def write_lines(path: Path, records: list[Scenario] | list[Trajectory]) -> None:
    """Write records as JSON Lines, one a line."""
    with path.open("w", encoding="utf-8", errors="surrogatepass") as stream:
        for record in records:
            stream.write(json.dumps(record.model_dump(mode="json"), sort_keys=True, ensure_ascii=False) + "\n")


def _flags(settings: PublishSettings) -> dict[str, Any]:
    """The flags that decide what is written."""
    return {"licence": settings.licence, "base_model": settings.base_model}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    add = parser.add_argument
    add("--scenarios", type=Path, default=None, help="scenarios to publish as a data set")
    add("--data", type=Path, default=None, help="sessions to publish with them (rollout.py --out)")
    add("--overlap", type=Path, default=None, help="counts of contamination.py --out, for the card")
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
