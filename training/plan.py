"""Say what a training run would do and cost, and refuse one that this machine cannot do; reads no weight.

    plan = plan_of("sft", settings, costs, steps=30, rows=120)
    plan.refuse()     # raises BadInputError where this machine cannot do the run
    print_plan(plan)  # --plan

Hours and memory are the estimates of model/hardware.py; hours are of the training loop alone.
"""

import dataclasses
import shlex
import sys
from dataclasses import dataclass
from typing import Any

from pipeline import stage
from model import hardware
from model.hardware import Machine
from schema import BadInputError
from training.settings import CommonSettings

FLAGS = {"inspect_only": "--inspect", "show_rows": "--show", "plan_only": "--plan", "reload_after": "--reload"}
# Flags that are not part of the command.
OF_THE_PLAN = ("inspect_only", "show_rows", "plan_only", "usd_per_hour", "assumed_tokens", "episodes_per_hour")


@dataclass(frozen=True)
class Plan:
    """A run before it begins."""

    stage: str
    command: str
    settings: CommonSettings
    machine: Machine
    figures: dict[str, Any]
    refused: str | None  # why this machine cannot do it

    def refuse(self) -> None:
        """Raise BadInputError where this machine cannot do the run."""
        if self.refused:
            raise BadInputError(f"{self.settings.base}: {self.refused}")


def plan_of(
    stage_name: str, settings: CommonSettings, costs: dict[str, Any], *, play_hours: float = 0.0, **counts: Any
) -> Plan:
    """The plan of a run with these costs (`hardware.costs`) on the machine here; `counts` are printed with it.

    `play_hours`, of the episodes that the run plays, are part of its hours here.
    """
    machine = hardware.machine_here()
    hours = hardware.hours_on(costs["flops"], machine.flops) + play_hours if machine.flops else None
    usd = None if hours is None or settings.usd_per_hour is None else round(hours * settings.usd_per_hour, 4)
    return Plan(
        stage=stage_name,
        command=command_of(f"{stage_name}.py", settings),
        settings=settings,
        machine=machine,
        figures={
            **counts,
            "hours": hours if hours is None else float(f"{hours:.2g}"),
            **({"play_hours": float(f"{play_hours:.2g}")} if play_hours else {}),
            "hours_elsewhere": costs["hours"],
            "memory_bytes": costs["memory_bytes"],
            "usd": usd,
        },
        refused=hardware.cannot_run(machine, costs["memory_bytes"], hours, allow_slow=settings.allow_slow),
    )


def command_of(script: str, settings: CommonSettings) -> str:
    """The command line that makes these settings, with every flag that differs from its default."""
    words = ["python", script]
    for one in dataclasses.fields(settings):
        value, flag = getattr(settings, one.name), FLAGS.get(one.name, f"--{one.name.replace('_', '-')}")
        if one.name in OF_THE_PLAN or value == one.default:
            continue
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag.removeprefix('--')}")
        else:
            words += [flag, str(value)]
    words += ["--out", "OUT"] if settings.out is None else []  # for the reader to name
    return shlex.join(words)


def print_plan(plan: Plan) -> int:
    """Print a plan: text on stderr, the JSON line on stdout. Returns 2 where this machine cannot do the run."""
    figures, machine = plan.figures, plan.machine
    free = "unknown" if machine.free_bytes is None else f"{machine.free_bytes / 2**30:.1f} GiB"
    usd = "no price (--usd-per-hour)" if figures["usd"] is None else f"{figures['usd']:.2f} USD"
    hours = "unknown hours" if figures["hours"] is None else f"{figures['hours']:g} hours"
    elsewhere = ", ".join(f"{name} {value:g}" for name, value in figures["hours_elsewhere"].items())
    lines = [
        plan.command,
        *(f"{name}: {value}" for name, value in figures.items() if isinstance(value, int)),
        f"machine: {machine.name}, {free} free",
        f"time: {hours} here ({usd}); elsewhere, in hours: {elsewhere}",
        f"hours assume {hardware.UTILISATION:.0%} of the peak; measured on GPUs: 18% with a 7B, 1% with base/smollm2",
        f"memory: {figures['memory_bytes']['total'] / 2**30:.1f} GiB",
    ]
    print("\n".join(lines), file=sys.stderr)
    if warning := hardware.too_small(figures["memory_bytes"]["total"], machine.free_bytes):
        print(warning, file=sys.stderr)
    if plan.refused:
        print(f"cannot run here: {plan.settings.base}: {plan.refused}", file=sys.stderr)
    settings = {name: str(value) if hasattr(value, "parts") else value for name, value in vars(plan.settings).items()}
    stage.print_summary(
        {
            "stage": plan.stage,
            "command": plan.command,
            "settings": settings,
            "machine": vars(machine),
            "runs_here": plan.refused is None,
            "why_not": plan.refused,
            **figures,
        }
    )
    return stage.BAD_INPUT if plan.refused else stage.DONE
