"""Make Harbor tasks that were not written here: one that fits, and what each rule refuses."""

import shutil
from collections.abc import Callable
from pathlib import Path

TASK_TOML = """\
schema_version = "1.4"
[task]
name = "elsewhere/sort-fruit"
description = "Sort a list."
[metadata]
archetype = "sort_unique"
[verifier]
timeout_sec = 60.0
[environment]
network_mode = "no-network"
"""
DOCKERFILE = """\
FROM alpine:3.20
# the list
WORKDIR /home/operator
COPY fruit.txt ./
COPY lists /home/operator/lists/
"""
TEST = """\
#!/bin/sh
mkdir -p /logs/verifier
if [ "$(cat /home/operator/sorted.txt)" = "$(printf 'apple\\nmelon\\nplum')" ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
"""
SOLVE = "#!/bin/sh\nsort -u fruit.txt > sorted.txt\n"
FILES = {
    "task.toml": TASK_TOML,
    "instruction.md": "Save the different lines of fruit.txt, in order, as sorted.txt, in /home/operator.\n",
    "environment/Dockerfile": DOCKERFILE,
    "environment/fruit.txt": "plum\napple\nmelon\nplum\n",
    "environment/lists/old.txt": "cherry\n",
    "tests/test.sh": TEST,
    "solution/solve.sh": SOLVE,
}


def foreign_task(directory: Path, **changed: str | None) -> Path:
    """A task that fits, with some files replaced (`tests__test_sh="..."`) or, with None, left out."""
    named = {name.replace("/", "__").replace(".", "_"): name for name in FILES}
    texts: dict[str, str | None] = {**FILES, **{named[key]: text for key, text in changed.items()}}
    for name, text in texts.items():
        if text is not None:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
    return directory


def _config(before: str, after: str) -> Callable[[Path], object]:
    return lambda task: (task / "task.toml").write_text(TASK_TOML.replace(before, after, 1))


def _text(name: str, text: str) -> Callable[[Path], object]:
    return lambda task: (task / name).write_text(text)


def _link(task: Path) -> None:
    (task / "tests" / "test.sh").unlink()
    (task / "tests" / "test.sh").symlink_to("/etc/passwd")


# What spoils the task that fits, and the rule that refuses it.
SPOILT: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no TOML": ("toml", _text("task.toml", "schema_version =")),
    "a table that is none": ("toml", _text("task.toml", "metadata = 3\n")),
    "two steps": ("steps", _config("[task]", '[[steps]]\nname = "one"\n[task]')),
    "a number for steps": ("steps", _config("[task]", "steps = 3\n[task]")),
    "a list for the archetype": ("archetype", _config('archetype = "sort_unique"', 'archetype = ["sort_unique"]')),
    "TOML that is nested too deeply": ("toml", _text("task.toml", "a = " + "[" * 5000 + "]" * 5000)),
    "Windows": ("os", _config("network_mode", 'os = "windows"\nnetwork_mode')),
    "a prebuilt image": ("services", _config("network_mode", 'docker_image = "python:3.12"\nnetwork_mode')),
    "a second service": ("services", _text("environment/docker-compose.yaml", "services: {}\n")),
    "a network": ("network", _config("no-network", "public")),
    "RUN": ("dockerfile", _text("environment/Dockerfile", DOCKERFILE + "RUN apk add git\n")),
    "COPY with a flag": ("dockerfile", _text("environment/Dockerfile", DOCKERFILE + "COPY --chmod=700 a b\n")),
    "COPY out of the context": ("dockerfile", _text("environment/Dockerfile", "FROM x\nCOPY ../tests ./\n")),
    "ADD, which unpacks archives": ("dockerfile", _text("environment/Dockerfile", "FROM x\nADD fruit.txt ./\n")),
    "ENV": ("dockerfile", _text("environment/Dockerfile", "FROM x\nENV LIST=fruit.txt\nCOPY fruit.txt ./\n")),
    "COPY of a name that is too long": ("dockerfile", _text("environment/Dockerfile", f"COPY {'a' * 5000} ./\n")),
    "COPY of a name with a NUL": ("dockerfile", _text("environment/Dockerfile", "COPY a\0b ./\n")),
    "COPY to another place": ("world", _text("environment/Dockerfile", "FROM x\nCOPY fruit.txt /app/\n")),
    "another WORKDIR": ("world", _text("environment/Dockerfile", "FROM x\nWORKDIR /app\n")),
    "a WORKDIR where no session begins": (
        "world",
        _text("environment/Dockerfile", "FROM x\nWORKDIR /home/operator/app\nCOPY fruit.txt ./\n"),
    ),
    "an instruction about another place": ("world", _text("instruction.md", "Sort /app/fruit.txt.\n")),
    "an instruction that leads out of the world": ("world", _text("instruction.md", "Sort /home/operator/../x.txt.\n")),
    "a verifier in bash": ("verifier", _text("tests/test.sh", TEST.replace("/bin/sh", "/bin/bash"))),
    "a verifier in Python": ("verifier", _text("tests/test.sh", TEST + "uvx pytest\n")),
    "a second file of the verifier": ("verifier", _text("tests/test_outputs.py", "")),
    "no reward": ("verifier", _text("tests/test.sh", "#!/bin/sh\nexit 0\n")),
    "no solution": ("solution", lambda task: shutil.rmtree(task / "solution")),
    "a solution in Python": ("solution", _text("solution/solve.sh", "python3 -c 'print(1)'\n")),
    "an empty instruction": ("instruction", _text("instruction.md", "\n")),
    "no archetype": ("archetype", _config('archetype = "sort_unique"', "")),
    "a blocked archetype": ("archetype", _config("sort_unique", "broken_archive")),
    "a link": ("link", _link),
    "no Dockerfile": ("missing", lambda task: (task / "environment" / "Dockerfile").unlink()),
    "a large file": ("size", lambda task: (task / "environment" / "fruit.txt").write_bytes(bytes(9 << 20))),
    "no UTF-8": ("text", lambda task: (task / "instruction.md").write_bytes(b"\xff\xfe")),
    "a fixture that is too large": (
        "world",
        lambda task: (task / "environment" / "fruit.txt").write_text("x" * 300_000),
    ),
}
