"""Go on from an adapter that is already trained: what dpo.py and rl.py share.

    start = start_of(Path("ckpt-sft"))      # its identity; refuses what no trainer has finished
    refuse_held_out(settings, start, to_train, "--data")
    identity_after(settings, start, manifest, data_hash=…, trained_on=to_train)

The adapter keeps the form of its start: render format, rank, scale and target layers. Its identity names every run
behind it, and every session that any of them was trained on.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from model import loading
from model.loading import adapter_hash, fetch, model_hash
from model.render import Renderer
from pipeline.files import read_identity, read_manifest, read_scenarios, sessions_in_base
from pipeline.holdout import each_once, refuse_overlap
from schema import AdapterIdentity, BadInputError, EarlierRun, Manifest, TrainedSession, Trajectory
from training.run import is_finished, load_tokenizer
from training.settings import ContinuedSettings

OF_THE_START = ("render", "lora_r", "lora_alpha", "lora_targets")  # the form that an adapter keeps
C = TypeVar("C", bound=ContinuedSettings)
RATE_SHARE = 0.05  # of SFT's usual rate: 1e-5 for Mistral-7B


def start_of(adapter: Path) -> AdapterIdentity:
    """The identity of the adapter to start from. Raises BadInputError where it is not a finished one."""
    if not (adapter / "adapter_model.safetensors").exists():
        raise BadInputError(f"{adapter}: no adapter_model.safetensors; name a directory that sft.py finished")
    start = read_identity(adapter)
    if missing := [name for name in OF_THE_START if name not in start.flags]:
        raise BadInputError(f"{adapter / 'sekft.json'}: flags: no {missing[0]}; name an adapter of sft.py")
    return start


def checked_start(settings: C, out: Path) -> tuple[C, Renderer, bool]:
    """The settings with their learning rate, the start's renderer, and whether the run in `out` is finished.

    It is not where it has fewer epochs or updates than the settings: then it goes on.

    Checks machine, base and start adapter before any weight is read; a finished run needs no such machine.
    """
    if settings.adapter.resolve() == out.resolve():
        raise BadInputError(f"--out {out}: is the start adapter; name another --out")
    finished = is_finished(None if settings.redo else read_manifest(out), settings)
    if not finished:
        loading.check_machine(settings.base, settings.dtype)
    fetch(settings.base, settings.adapter)
    settings = settings.with_learning_rate(RATE_SHARE)
    return settings, Renderer.for_adapter(settings.adapter, load_tokenizer(settings.base)), finished


def sessions_behind(base: str, start: AdapterIdentity) -> list[TrainedSession]:
    """What the base and the start adapter were trained on."""
    return [*sessions_in_base(base), *start.trained_on]


def refuse_held_out(
    settings: ContinuedSettings, start: AdapterIdentity, to_train: Sequence[TrainedSession], flag: str
) -> None:
    """Raise BadInputError where a session to train on (from `flag`), or one behind the start adapter, is held out."""
    assert settings.holdout is not None
    scenarios = read_scenarios(settings.holdout, partial=settings.partial)
    for sessions, trained in (
        (to_train, f"{flag} holds"),
        (sessions_behind(settings.base, start), f"the adapter {settings.adapter} was trained on"),
    ):
        refuse_overlap(sessions, settings.holdout, scenarios, trained=trained, remedy="train on the other side")


def spares_terminal(session: Trajectory, terminal_loss: str) -> bool:
    """True where the terminal of a session that failed carries no loss: with at-fault, where its work was not done.

    Once the work has failed, it is right to end. Where the final state is verified, the wrong terminal is the fault.
    """
    return terminal_loss == "at-fault" and session.terminal is not None and not session.verified


def flags_of_start(settings: ContinuedSettings, start: AdapterIdentity) -> dict[str, Any]:
    """The flags in the manifest that say which adapter and base a run goes on from, and in which form."""
    return {
        **{name: start.flags[name] for name in OF_THE_START},
        "adapter": adapter_hash(settings.adapter),
        "base": Path(settings.base).name,
        "base_hash": model_hash(settings.base),
    }


def identity_after(
    settings: ContinuedSettings,
    start: AdapterIdentity,
    manifest: Manifest,
    *,
    data_hash: str,
    trained_on: Sequence[TrainedSession],
) -> AdapterIdentity:
    """The identity of the trained adapter: its base, the runs behind it, and what any of them was trained on."""
    before = EarlierRun(
        adapter_hash=manifest.flags["adapter"], flags=start.flags, git_commit=start.git_commit,
        data_hash=start.data_hash,
    )  # fmt: skip
    return AdapterIdentity(
        base=settings.base,
        base_hash=manifest.flags["base_hash"],
        flags=manifest.flags,
        git_commit=manifest.git_commit,
        data_hash=data_hash,
        earlier=[*start.earlier, before],
        trained_on=each_once([*sessions_behind(settings.base, start), *trained_on]),
    )
