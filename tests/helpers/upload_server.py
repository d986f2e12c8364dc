"""A loopback server that takes an upload of `hf upload` as the Hugging Face hub does, and keeps the files.

    with upload_server() as hub:
        subprocess.run(["hf", "upload", "me/data", folder], env={"HF_ENDPOINT": hub.url, "HF_TOKEN": "any", ...})
    hub.files["README.md"]

It knows the calls of huggingface_hub 2.4: create the repository, check the card's YAML head, ask how each file is to be
sent (here all inside the commit), commit.
"""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0" * 40


@dataclass
class Upload:
    """What has been uploaded: the repository as it was asked for, the text of its card, every file."""

    url: str
    repository: dict[str, Any] = field(default_factory=dict)
    card: str = ""
    files: dict[str, bytes] = field(default_factory=dict)

    def name(self) -> str:
        """The repository's name on the hub."""
        return f"{self.repository['organization']}/{self.repository['name']}"


@contextmanager
def upload_server() -> Iterator[Upload]:
    """The server, on a free port, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.upload = Upload(f"http://127.0.0.1:{server.server_address[1]}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.upload  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Hub(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body, upload = self._body(), self.server.upload  # type: ignore[attr-defined]
        if self.path == "/api/repos/create":
            upload.repository = json.loads(body)
            self._answer({"id": upload.name(), "url": f"{upload.url}/{upload.name()}"})
        elif self.path == "/api/validate-yaml":
            upload.card = json.loads(body)["content"]
            self._answer({"errors": [], "warnings": []})
        elif "/preupload/" in self.path:
            files = [{"path": one["path"], "uploadMode": "regular"} for one in json.loads(body)["files"]]
            self._answer({"files": [{**one, "shouldIgnore": False} for one in files]})
        elif "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    upload.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            self._answer(
                {"commitUrl": f"{upload.url}/{upload.name()}/commit/{COMMIT}", "commitOid": COMMIT, "success": True}
            )
        else:
            self.send_error(404)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, found: dict[str, Any]) -> None:
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
