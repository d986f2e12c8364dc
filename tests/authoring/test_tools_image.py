"""An image with commands of one's own, made by runs/tools_image.sh, and a scenario whose solution needs them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.files import write_json
from sandbox.containers import image_tools
from schema import HOME, sha256
from tests.helpers import ROOT
from tests.helpers.hand_scenarios import hand

IMAGE = "sekft-test-tools"
FRUIT = '[{"name": "plum", "price": 3}, {"name": "apple", "price": 5}, {"name": "melon", "price": 9}]\n'
DEAR = "apple\nmelon\n"
DUTY = """\
#!/bin/sh
case "$1" in
--help) echo 'usage: duty all' ;;
all) echo 'Write the names of the fruit in fruit.json that cost more than 4 into dear.txt, one a line.' ;;
*) echo 'duty: try duty --help' ;;
esac
"""


def scenario(solution: str, number: int) -> dict[str, Any]:
    made = hand(
        id=f"dear-{number:04}", task="filter_rows", provider_kind="bulletin",
        provider={"source": DUTY, "directive_commands": ["duty all"]}, difficulty="easy",
        directives=["Write the names of the fruit in fruit.json that cost more than 4 into dear.txt, one a line."],
        fixtures=[{"path": f"{HOME}/fruit.json", "text": FRUIT}], reference_solution=[solution],
        checker=f'cd {HOME} || exit 1\n[ "$(sha256sum < dear.txt)" = "{sha256(DEAR.encode())}  -" ]\n',
    )  # fmt: skip
    return made.model_dump(mode="json", exclude_none=True, exclude={"content_hash"})


def run(*command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.docker
def test_scenarios_that_need_other_commands_are_checked_and_played_on_their_image(image: str, tmp_path: Path) -> None:
    made = run("sh", "runs/tools_image.sh", IMAGE, "jq", "python3")
    assert f"built {IMAGE} with jq python3" in made.stderr
    try:
        assert image_tools(IMAGE) == ("jq", "python3")
        write_json(
            tmp_path / "own" / "dear-0001.json",
            scenario("jq -r '.[] | select(.price > 4).name' fruit.json > dear.txt", 1),
        )
        python = 'import json; [print(one["name"]) for one in json.load(open("fruit.json")) if one["price"] > 4]'
        write_json(tmp_path / "python" / "dear-0002.json", scenario(f"python3 -c '{python}' > dear.txt", 2))
        for place in ("own", "python"):
            check = [sys.executable, "generate.py", "--check", str(tmp_path / place)]
            assert json.loads(run(*check, "--image", IMAGE).stdout)["passed"] == 1
            assert "reference" in run(*check, code=2).stdout  # the shipped image has neither command
            out = tmp_path / f"{place}-sessions"
            played = run(
                sys.executable, "rollout.py", "--operator", "reference", "--image", IMAGE, "--scenarios",
                str(tmp_path / place), "--out", str(out),
            )  # fmt: skip
            assert json.loads(played.stdout)["kept"] == 1
    finally:
        run("docker", "image", "rm", "--force", IMAGE)


def test_names_that_are_no_packages_are_told_in_one_line(image: str) -> None:
    for words, arguments in {
        "name a package": ["my-tools"],
        "is another image's name": ["sekft-dash", "jq"],
        "no packages: no-such-package": ["my-tools", "no-such-package"],
    }.items():
        (line,) = run("sh", "runs/tools_image.sh", *arguments, code=2).stderr.splitlines()
        assert words in line
