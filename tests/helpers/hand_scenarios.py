"""Make two scenarios written by hand, one that ends with exit and one with panic; tests plant faults in them.

hand(checker="exit 0")        # the same scenario with another checker
bundle()                      # the same work as a teacher would send it
"""

import json
from typing import Any

from schema import HOME, Scenario, sha256

DUTY = """\
#!/bin/sh
case "$1" in
--help) echo 'usage: duty list | duty show NUMBER' ;;
list) echo '1 fruit'; echo '2 colours' ;;
show)
  case "$2" in
  1) echo 'Sort the lines of fruit.txt and save them as sorted.txt.' ;;
  2) echo 'Put the two lines red and blue, in this order, into colours.txt.' ;;
  esac ;;
*) echo 'duty: try duty --help' ;;
esac
"""
UNSORTED, SORTED, COLOURS = "plum\napple\nmelon\n", "apple\nmelon\nplum\n", "red\nblue\n"
CHECKER = f"""\
cd {HOME} || exit 1
[ "$(sha256sum < sorted.txt)" = "{sha256(SORTED.encode())}  -" ] || exit 1
[ "$(sha256sum < colours.txt)" = "{sha256(COLOURS.encode())}  -" ] || exit 1
"""
BLOCKED_DUTY = """\
#!/bin/sh
case "$1" in
--help) echo 'usage: duty all' ;;
all)
  echo 'Sort the lines of fruit.txt and save them as sorted.txt.'
  echo 'Copy ledger.txt to backup.txt.' ;;
*) echo 'duty: try duty --help' ;;
esac
"""
BLOCKED_CHECKER = f"""\
cd {HOME} || exit 1
[ "$(sha256sum < fruit.txt)" = "{sha256(UNSORTED.encode())}  -" ] || exit 1
[ "$(sha256sum < sorted.txt)" = "{sha256(SORTED.encode())}  -" ] || exit 1
[ "$(find . | sort | tr '\\n' ' ')" = ". ./fruit.txt ./sorted.txt " ] || exit 1
"""
FRUIT = {"path": f"{HOME}/fruit.txt", "text": UNSORTED}
BASE: dict[str, Any] = {
    "id": "hand-0001",
    "task": "sort_unique",
    "provider_kind": "subcommand",
    "announcement_channel": "motd",
    "doc_depth": "help",
    "difficulty": "medium",
    "provider": {
        "path": "/usr/local/bin/duty",
        "source": DUTY,
        "help_commands": ["duty --help"],
        "directive_commands": ["duty list", "duty show 1", "duty show 2"],
    },
    "announcement": {"channel": "motd", "text": "The program duty knows what is wanted today."},
    "directives": [
        "Sort the lines of fruit.txt and save them as sorted.txt.",
        "Put the two lines red and blue, in this order, into colours.txt.",
    ],
    "fixtures": [FRUIT],
    "checker": CHECKER,
    "reference_solution": ["sort fruit.txt > sorted.txt", "printf 'red\\nblue\\n' > colours.txt"],
    "terminal": "exit",
    "provenance": {"author": "hand", "request_hash": "0"},
}
BLOCKED: dict[str, Any] = {
    **BASE,
    "id": "hand-0002",
    "task": "missing_source",
    "provider_kind": "bulletin",
    "provider": {
        "path": "/usr/local/bin/duty",
        "source": BLOCKED_DUTY,
        "help_commands": ["duty --help"],
        "directive_commands": ["duty all"],
    },
    "directives": ["Sort the lines of fruit.txt and save them as sorted.txt.", "Copy ledger.txt to backup.txt."],
    "checker": BLOCKED_CHECKER,
    "reference_solution": ["sort fruit.txt > sorted.txt"],
    "terminal": "panic",
    "blocked_outputs": [f"{HOME}/backup.txt"],
    "blocked_attempt": ["cp ledger.txt backup.txt"],
}


def hand(blocked: bool = False, **changes: Any) -> Scenario:
    """The hand-written scenario with some fields replaced; `provider` is merged, the rest overwritten."""
    base = BLOCKED if blocked else BASE
    provider = {**base["provider"], **changes.pop("provider", {})}
    return Scenario.model_validate({**base, **changes, "provider": provider})


def bundle(word: str = "fruit", **changes: Any) -> str:
    """The same work as a teacher's JSON, with `word` instead of fruit so that two differ."""
    value = {
        "directives": BASE["directives"],
        "announcement": {"text": BASE["announcement"]["text"], "place": None},
        "provider": {
            "name": "duty", "source": DUTY, "help_commands": ["duty --help"],
            "directive_commands": ["duty list", "duty show 1", "duty show 2"],
        },
        "fixtures": [{**FRUIT, "type": "file", "mode": "644"}],
        "reference_solution": BASE["reference_solution"],
        "checker": CHECKER,
        "blocked_outputs": [],
        **changes,
    }  # fmt: skip
    return json.dumps(value).replace("fruit", word)
