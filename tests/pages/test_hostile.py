"""Hostile text in every place of the page is shown as text, runs nothing, and fits the window."""

import json
from pathlib import Path
from typing import Any

import pytest

from pages.document import write_page
from pages.gather import page_contents
from pipeline.hidden import as_text
from schema import OperatorInfo, Scenario, Step
from tests.helpers import run_directories as made, tiny
from tests.helpers.browser import assert_fits_a_phone, logs, open_list, open_page, press, text_of, wait_for

HOSTILE = (
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'></pre></script><!-- "
    "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c \u2066x\u2069 \x00 \x9b31m \u200b | &lt; {{js}} ]]>"
)
MILLION = 1_000_000


def in_path(text: str) -> str:
    """The text without what no file name holds."""
    return "".join(one for one in text if one not in "/\0")


def planted(place: Path, text: str) -> Path:
    """A page that holds `text` in every place whose content is free, each after a word of its own; ids are long."""
    place.mkdir()
    base = tiny.base(place / f"base{in_path(text)[:80]}")
    plain = made.scenarios(1)[0].model_dump(exclude={"content_hash"})
    parts = {
        "id": "i" * 100, "directives": [f"directive{text}"], "checker": f"checker{text}",
        "reference_solution": [f"solution{text}"], "announcement": {"channel": "motd", "text": f"announcement{text}"},
        "provider": {**plain["provider"], "source": f"source{text}", "help_commands": [f"helping{text}"]},
        "fixtures": [{"path": f"/home/operator/path{in_path(text)}", "text": f"fixture{text}"}],
    }  # fmt: skip
    record = Scenario.model_validate({**plain, **parts})
    scenarios = made.write_scenarios(place / "scenarios", [record])
    manifest = json.loads((scenarios / "manifest.json").read_text())
    counts = {f"gate{text}": {"reached": 3, "passed": 2}}, {f"gate{text}": 1}
    manifest["counts"] |= {"yield": counts[0], "refused": counts[1]}
    (scenarios / "manifest.json").write_text(json.dumps(manifest))
    adapter = made.write_training(place / "adapter")
    (adapter / "log_history.jsonl").write_text(json.dumps({"step": 1, f"metric{text}": 2.0}) + "\n")
    steps = [
        Step(command=command, output=output, output_bytes=1, exit_code=0, cwd=f"/cwd{text}", duration_seconds=0.25)
        for command, output in ((f"command{text}", f"output{text}"), ("ls", "m" * MILLION))
    ]
    shaded = made.sampled(base, record, f"command{text}", "ls", steps=steps)
    changes = {"created": [{"path": f"/changed{text}", "type": "file", "mode": 0o644, "size_bytes": 3}]}
    operator = OperatorInfo(kind="endpoint", model=f"model{text}", sampling={f"sampling{text}": text})
    unknown = {"scenario_id": f"scenario{text}", "scenario_hash": f"\x1b{text}"}
    others = [
        made.session(record, "x\n", sample=sample, **unknown, operator=operator, outcome="max_steps",
                     error=f"error{text}", changes=changes, reasons=[f"reason{text}"], kept=False)
        for sample in (1, 2)
    ]  # fmt: skip
    rollout = made.write_rollout(place / "rollout", [shaded, *others])
    manifest = json.loads((rollout / "manifest.json").read_text())
    manifest |= {"flags": {f"flag{text}": [f"value{text}"]}, "git_commit": f"commit{text}"}
    (rollout / "manifest.json").write_text(json.dumps(manifest))
    runs = {f"label{text}": rollout, f"source{text}": scenarios, f"training{text}": adapter}
    write_page(place / "page.html", page_contents(runs))
    return place / "page.html"


@pytest.fixture(scope="module")
def hostile(place: Path) -> Path:
    return planted(place / "hostile", HOSTILE)


@pytest.fixture(scope="module")
def overlong(place: Path) -> Path:
    return planted(place / "overlong", "W" * 1500)


def test_hostile_text_is_shown_and_runs_nothing(hostile: Path, driver: Any) -> None:
    def holds(selector: str, *words: str) -> None:
        text = text_of(driver, selector)
        for word in words:
            assert as_text(word + HOSTILE) in text, word

    open_page(driver, hostile)
    holds("#overview", "label", "source", "training", "flag", "commit", "metric", "gate", "reason")
    assert "value<script>" in text_of(driver, "#overview")
    open_list(driver, hostile)
    holds(".row .group", "label")
    driver.execute_script("pick(1)")
    assert as_text("reason" + HOSTILE) in "".join(
        driver.execute_script("return [...document.querySelectorAll('.row .why')].map((one) => one.textContent)")
    )
    driver.execute_script("location.hash = linkTo(listed[0])")
    wait_for(driver, "document.querySelector('#session .tok')")
    assert text_of(driver, "#session .step[data-step='1'] pre:not(.command)") == as_text("output" + HOSTILE)
    assert text_of(driver, "#session .step[data-step='1'] .command").startswith(as_text("command" + HOSTILE))
    assert driver.execute_script("return document.querySelectorAll(\"[data-step='1'] .tok\").length") > 20
    holds("#session", "label", "/cwd", "directive", "checker", "solution", "announcement", "source", "fixture")
    assert "base<script>window.ran" in text_of(driver, "#session .facts")
    assert as_text("/home/operator/path" + in_path(HOSTILE)) in text_of(driver, "#session .scenario")
    driver.execute_script("location.hash = linkTo(listed[1])")
    wait_for(driver, "shownRow === listed[1] && document.querySelector('#session .terminal')")
    holds("#session", "model", "sampling", "error", "reason", "/changed")
    press(driver, "c")
    wait_for(driver, "document.querySelectorAll('.columns > section').length === 2")
    holds("#session h2", "Side by side: scenario")
    holds("#session", "model", "sampling", "error", "reason", "/changed")
    assert "(content «ESC»<script>win)" in text_of(driver, "#session")
    found = driver.execute_script(
        "return [window.ran, document.title, document.querySelectorAll('img, iframe, object, embed, link').length,"
        " document.scripts.length - 3 - DATA.rows.length, performance.getEntriesByType('resource').length]"
    )
    assert found == [None, "sekft runs", 0, 0, 0]
    assert logs(driver) == []
    raw = hostile.read_text(encoding="utf-8")
    assert "<img" not in raw
    assert "<script>window" not in raw
    assert "\x1b" not in raw
    assert "\u202e" not in raw


def test_policy_refuses_scripts_markup_styles_and_requests(hostile: Path, driver: Any) -> None:
    open_page(driver, hostile)
    refused = driver.execute_async_script(
        """
        const done = arguments[0], seen = [], script = document.createElement("script");
        try { script.textContent = "window.ran = 3"; document.body.append(script); } catch { seen.push("script"); }
        try { document.body.innerHTML += "<b>x</b>"; seen.push("markup was made"); } catch { seen.push("markup"); }
        document.body.setAttribute("style", "color: rgb(1, 2, 3)");
        fetch("data:text/plain,x").then(() => seen.push("fetched"), () => seen.push("fetch")).then(() =>
          setTimeout(() => done([seen, window.ran === undefined, getComputedStyle(document.body).color]), 0));
        """
    )
    seen, nothing_ran, colour = refused
    assert nothing_ran
    assert {"markup", "fetch"} <= set(seen)
    assert not {"markup was made", "fetched"} & set(seen)
    assert colour != "rgb(1, 2, 3)"


def test_a_megabyte_on_one_line_is_cut_and_shown_on_request(hostile: Path, driver: Any) -> None:
    open_list(driver, hostile)
    driver.execute_script("location.hash = linkTo(listed[0])")
    wait_for(driver, "document.querySelector('#session button.more')")
    long = "document.querySelector(\"#session .step[data-step='2'] pre:not(.command)\")"
    assert driver.execute_script(f"return {long}.textContent.length") < 5000
    assert f"{MILLION:,}" in text_of(driver, "#session button.more")
    driver.execute_script("document.querySelector('#session button.more').click()")
    wait_for(driver, f"{long}.textContent.length === {MILLION}")
    assert driver.execute_script(f"return {long}.childNodes.length") > 40  # laid out piece by piece
    assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("page", ["hostile", "overlong"])
def test_a_phone_needs_no_sideways_scrolling(page: str, request: pytest.FixtureRequest, driver: Any) -> None:
    assert_fits_a_phone(driver, request.getfixturevalue(page))
