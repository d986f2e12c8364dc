"""Put everything that a page shows into one HTML file that loads nothing and runs nothing but its own script.

    write_page(Path("out/report.html"), contents)

Each session lies compressed in an element of its own and is unpacked when somebody opens it. The policy in the head
allows one script and one style sheet, each by its hash, and no script may turn text into markup.
"""

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPTS = ("elements", "overview", "sessions")  # joined in this order


@dataclass(frozen=True)
class Contents:
    """What a page holds: the index, read when the page opens, and the blocks, each read when it is needed."""

    index: dict[str, Any]
    blocks: Sequence[tuple[str, Any]]  # (id of the element, JSON value)


def write_page(path: Path, contents: Contents) -> None:
    """Write the page. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page_of(contents), encoding="utf-8")


def page_of(contents: Contents) -> str:
    """The page as text, the same for the same contents."""
    css = (HERE / "page.css").read_text(encoding="utf-8")
    js = "\n".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    parts = {
        "policy": policy_of(css, js),
        "css": css,
        "index": escaped_json(contents.index),
        "blocks": "\n".join(
            f'<script type="text/plain" id="{name}">{compressed(value)}</script>' for name, value in contents.blocks
        ),
        "js": js,
    }
    template = (HERE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)  # one pass: data may hold {{js}}


def policy_of(css: str, js: str) -> str:
    """The content security policy: this script, this style sheet, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(js)}'; style-src '{_hash(css)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def escaped_json(value: Any) -> str:
    """JSON that can stand in a script element: ASCII, and no `<` that could end the element."""
    return json_text(value).replace("<", "\\u003c")


def compressed(value: Any) -> str:
    """The value as JSON, gzip and base64; the same for the same value."""
    return base64.b64encode(gzip.compress(json_text(value).encode(), 6, mtime=0)).decode()


def json_text(value: Any) -> str:
    """JSON as a browser reads it: null stands for NaN and the infinities, which Python's would write bare."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(finite(value), separators=(",", ":"), allow_nan=False)


def finite(value: Any, instead: Callable[[float], Any] = lambda _: None) -> Any:
    """The value with `instead` of each number in it that is NaN or infinite, None by default."""
    if isinstance(value, dict):
        return {name: finite(one, instead) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one, instead) for one in value]
    return instead(value) if isinstance(value, float) and not math.isfinite(value) else value
