"""Say which licence a base has, as far as its own files tell.

    base_licence(Path("base/smollm2"))      # ("apache-2.0", "README.md")

The `license` in the YAML head of its README.md counts first (the Hub's form), then the words "licence NAME" in it, as
get_base.py writes them. The text of a LICENSE file is not interpreted.
"""

import re
from pathlib import Path

import yaml  # type: ignore[import-untyped]
from huggingface_hub.repocard import metadata_load

CARD = "README.md"
# What a licence's name begins with; other words after "licence" are prose.
NAMED = re.compile(
    r"\blicen[cs]e:? +((?:apache|mit|bsd|cc|l?gpl|agpl|mpl|openrail|bigscience|llama|gemma)\b[\w.-]*)", re.I
)


def base_licence(directory: Path) -> str | None:
    """The licence that the README.md of a base's directory names, or None where it names none."""
    card = directory / CARD
    try:
        text = card.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    try:
        head = metadata_load(card) or {}
    except (yaml.YAMLError, ValueError):  # no head that the Hub would read
        head = {}
    for name in ("license_name", "license"):  # the first is there where the second is `other`
        if isinstance(head.get(name), str) and head[name]:
            return str(head[name])
    found = NAMED.search(text)
    return found.group(1).rstrip(".-").lower() if found else None
