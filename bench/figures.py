"""Keep the figures of a benchmark in one JSON file that grows part by part; measure memory and shares of a GPU's peak.

    from bench.figures import add, open_figures

    figures = open_figures(out, {"device": "H200"})
    add(out, figures, "cache", {"seconds": 1.5}, rounds=5)

A file takes parts from several commands as long as they measured on the same device, base and torch.
"""

import time
from pathlib import Path
from typing import Any

from model import hardware
from pipeline.files import read_json, write_json
from schema import BadInputError

Table = dict[str, Any]


def open_figures(out: Path, about: Table) -> Table:
    """The figures at `out`, or new ones. Raises BadInputError where `out` was measured under other conditions."""
    if not out.exists():
        return {**about, "measured": {}}
    before: Table = read_json(out)
    for name, value in about.items():
        if before.get(name) != value:
            raise BadInputError(f"{out}: its {name} is {before.get(name)!r}, this one {value!r}; name another --out")
    return before


def add(out: Path, figures: Table, part: str, table: Table, rounds: int) -> None:
    """Set one part, replacing an earlier one, and write the file."""
    figures[part] = table
    figures["measured"][part] = {"date": time.strftime("%Y-%m-%d"), "rounds": rounds}
    write_json(out, figures)


def failures(table: Any) -> list[str]:
    """Every value under a key "failed", at any depth."""
    if not isinstance(table, dict):
        return []
    return [
        reason
        for key, value in table.items()
        for reason in ([str(value)] if key == "failed" else failures(value))
    ]  # fmt: skip


def utilisation(needed: float, done: float, seconds: float, device: str) -> Table:
    """Shares of a GPU's peak: needed operations (MFU) and executed operations (HFU).

    Repeated operations (checkpointing's second forward pass, a context that is read again) count as executed, not as
    needed. Empty where the peak of the device is not known.
    """
    peak = next((value for name, value in hardware.PEAK_FLOPS.items() if name in device), None)
    if peak is None:
        return {}
    return {"mfu": float(f"{needed / seconds / peak:.3g}"), "hfu": float(f"{done / seconds / peak:.3g}")}


def device_name() -> str:
    """The CUDA device's name, or `CPU`."""
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "CPU"


def resident(row: str) -> int:
    """Bytes in one row of this process's /proc status."""
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith(row))
