"""Keep a small file beside the records that says which episodes are under way, for whoever watches the run.

    with UnderWay(out, total=30) as under_way, under_way.episode("sum_column-0001-s0") as told:
        told("ls -la")

The file is `<out>/.live.json` (schema.LiveRun). It is renamed into place at each command and removed at the end. A
killed run leaves it behind, and the next one removes it. No stage reads it, and a run goes on where it cannot be
written.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from pipeline.files import LIVE, write_json
from schema import LiveEpisode, LiveRun

COMMAND_CHARACTERS = 200


class UnderWay:
    """The episodes under way in one directory. `total`: the records that it will hold in the end."""

    def __init__(self, out: Path, *, total: int) -> None:
        self.path, self.total, self.started = out / LIVE, total, time.time()
        self._episodes: dict[str, LiveEpisode] = {}
        self._lock, self._closed = threading.Lock(), False

    def __enter__(self) -> Self:
        self._put("", None)
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._closed = True  # a dropped episode that is still being played writes nothing any more
            self.path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def episode(self, id_: str) -> Iterator[Callable[[str], None]]:
        """An episode is under way inside; what is yielded takes each command before it runs."""
        steps = 0

        def told(command: str | None) -> None:
            nonlocal steps
            steps += command is not None
            cut = command if command is None else command[:COMMAND_CHARACTERS]
            self._put(id_, LiveEpisode(id=id_, steps=steps, command=cut, since=time.time()))

        told(None)
        try:
            yield told
        finally:
            self._put(id_, None)

    def _put(self, id_: str, episode: LiveEpisode | None) -> None:
        """Write the file with the episode in it, or without."""
        with self._lock:
            if episode is None:
                self._episodes.pop(id_, None)
            else:
                self._episodes[id_] = episode
            if not self._closed:
                run = LiveRun(total=self.total, started=self.started, episodes=list(self._episodes.values()))
                with contextlib.suppress(OSError):  # a full disk: the records say so themselves
                    write_json(self.path, run.model_dump(mode="json", exclude_none=True), durable=False)
