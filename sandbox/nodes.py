"""Hold a node's engine to the image of the run: what every task on a Ray node starts from (pipeline/ray_workers.py)."""

import threading

from sandbox.containers import reap, remove_all, require_image
from schema import BadInputError


class SandboxNode:
    """An actor's own engine, checked: the same image as where the run was started, and nothing left of dead runs.

    Raises BadInputError where the image is missing or another one.
    """

    def __init__(self, image: str, image_digest: str) -> None:
        if (found := require_image(image)) != image_digest:
            raise BadInputError(
                f"image {image!r} is {found}, this run is on {image_digest}; copy it there: docker save | docker load"
            )
        reap()
        self.image, self.cancelled = image, threading.Event()

    def release(self) -> None:
        """Remove every sandbox of the actor; no task may go on after this."""
        self.cancelled.set()
        remove_all()

    def close(self) -> None:
        """Remove what the tasks left."""
        self.release()
