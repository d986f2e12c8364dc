"""The page in a real Chromium shows everything, loads and runs nothing else, and reads sessions on demand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.document import page_of, write_page
from pages.gather import page_contents
from pipeline.hidden import HIDDEN, as_text
from tests.helpers import run_directories as made
from tests.helpers.browser import browser, logs, open_page, press, wait_for

HOSTILE = (
    "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'></pre></script><!-- "
    "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c \u2066x\u2069 \x00 \x9b31m \u200b | &lt; {{js}} ]]>"
)
MILLION = 1_000_000


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def runs(place: Path) -> Path:
    """A page of scenarios, a training, an eval and a rollout."""
    records = made.scenarios(8)
    source = made.write_scenarios(place / "scenarios", records)
    adapter = made.write_training(place / "adapter")
    evaluated = made.write_eval(place / "eval", records, adapter, source)
    flagged = made.session(records[0], "some\n", "other\n")
    steps = [flagged.steps[0], flagged.steps[1].model_copy(update={"exit_code": 124, "timed_out": True, "oom": True})]
    sessions = [flagged.model_copy(update={"steps": steps}), *(made.session(one, "words\n") for one in records[1:])]
    rolled = made.write_rollout(place / "rollout", sessions)
    directories = {"scenarios": source, "adapter": adapter, "eval": evaluated, "rollout": rolled}
    write_page(place / "runs.html", page_contents(directories))
    return place / "runs.html"


@pytest.fixture(scope="module")
def hostile(place: Path) -> Path:
    """A page whose session, label and flags are hostile, with a line of a megabyte."""
    record = made.scenarios(1)[0]
    one = made.session(
        record, HOSTILE, "m" * MILLION, outcome="max_steps", reasons=[f"prose: {HOSTILE}"], error=HOSTILE, kept=False
    )
    directory = made.write_rollout(place / "hostile", [one])
    manifest = json.loads((directory / "manifest.json").read_text())
    (directory / "manifest.json").write_text(json.dumps({**manifest, "flags": {HOSTILE: HOSTILE}}))
    write_page(place / "hostile.html", page_contents({HOSTILE: directory}))
    return place / "hostile.html"


@pytest.fixture(scope="module")
def large(place: Path) -> Path:
    """A page of 2,000 sessions."""
    records = made.scenarios(100)
    directory = made.write_rollout(
        place / "large",
        [made.session(one, "some output\n" * 40, sample=sample) for one in records for sample in range(20)],
    )
    write_page(place / "large.html", page_contents({"large": directory}))
    return place / "large.html"


def text_of(driver: Any, selector: str) -> str:
    return str(driver.execute_script("return document.querySelector(arguments[0]).textContent", selector))


def open_list(driver: Any, page: Path, fields: str = "") -> None:
    """Open the list, and wait for its rows: a key pressed before a link was followed would be undone by it."""
    open_page(driver, page, f"#view=list{fields}")
    wait_for(driver, "!document.querySelector('#list').hidden && listed.length > 0")


def open_session(driver: Any, page: Path, link: str) -> None:
    open_page(driver, page, link)
    wait_for(driver, "document.querySelector('#session .terminal') !== null")


def test_overview_shows_every_part(runs: Path, driver: Any) -> None:
    open_page(driver, runs)
    text = text_of(driver, "#overview")
    for part in (
        "Rates", "eval: base", "eval: adapter", "4/8 50%", "adapter - base",
        "+50 [", "Rates by", "copy_files", "Outcomes", "max_steps", "Why sessions are not kept", "not terminated",
        "Training", "loss", "reward", "steps, rollout", "Scenarios: scenarios", "admitted of 10 attempts", "0.75",
        "2 of them are blocked", "solution",
    ):  # fmt: skip
        assert part in text, part
    assert driver.execute_script("return document.querySelectorAll('#overview path.curve').length") == 2
    assert logs(driver) == []
    assert text_of(driver, "#fault") == ""


def test_filters_leave_the_right_sessions(runs: Path, driver: Any) -> None:
    for fields, count in {
        "": 24, "&outcome=max_steps": 12, "&group=1&kept=1": 4, "&task=sum_column": 6, "&reason=not+verified": 12,
        "&q=sum+rollout": 2, "&from=0&group=1": 4, "&from=0&group=1&how=gained": 4, "&from=1&group=0&how=gained": 0,
        "&from=1&group=0&how=lost": 4, "&difficulty=medium": 24, "&group=1&outcome=exit&task=copy_files": 0,
    }.items():  # fmt: skip
        open_page(driver, runs, f"#view=list{fields}")
        wait_for(driver, f"document.querySelector('#count').textContent === '{count} of 24 sessions'")
    open_list(driver, runs)
    driver.execute_script(
        "const box = document.querySelector('select[name=task]'); box.value = 'sort_unique';"
        "box.dispatchEvent(new Event('change'))"
    )
    wait_for(driver, "listed.length === 6 && location.hash.includes('task=sort_unique')")


def test_a_session_reads_as_a_terminal(runs: Path, driver: Any) -> None:
    open_session(driver, runs, "#view=session&run=rollout&id=copy_files-0-s0&step=2")
    text = text_of(driver, "#session .terminal")
    parts = ["shell login: operator", "cat part-1", "some", "step 1", "exit 0", "0.25 s", "/home/operator"]
    places = [text.index(part) for part in [*parts, "cat part-2", "other", "step 2", "exit 124", "timed_out", "oom"]]
    assert places == sorted(places)
    assert "did not run" not in text
    text = text_of(driver, "#session")
    for part in ("copy_files-0-s0", "checker passed", f"seed {2**62 + 1}", "reference solution"):
        assert part in text, part
    assert text_of(driver, ".step.picked .command") == "cat part-2"


def test_base_and_adapter_stand_side_by_side(runs: Path, driver: Any) -> None:
    open_page(driver, runs, "#view=compare&scenario=sum_column-1")
    wait_for(driver, "document.querySelectorAll('.columns > section').length === 3")
    columns = driver.execute_script(
        "return [...document.querySelectorAll('.columns > section')].map((e) => e.textContent)"
    )
    assert "base output" in columns[0]
    assert "adapter output" in columns[1]
    assert "words" in columns[2]


def test_keys_reach_everything(runs: Path, driver: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    open_list(driver, runs)
    press(driver, "jjk")
    wait_for(driver, "picked === 1")
    press(driver, Keys.ENTER)
    wait_for(driver, "document.querySelector('#session .terminal') && shownRow === listed[1]")
    press(driver, "j")
    wait_for(driver, "document.querySelector('.step.picked').dataset.step === '1'")
    press(driver, "n")
    wait_for(driver, "shownRow === listed[2]")
    press(driver, "c")
    wait_for(driver, "document.querySelectorAll('.columns > section').length === 3")
    press(driver, Keys.ESCAPE)
    wait_for(driver, "!document.querySelector('#list').hidden")
    press(driver, "/")
    wait_for(driver, "document.activeElement.id === 'search'")
    press(driver, "sum_column-1")
    wait_for(driver, "listed.length === 3")
    press(driver, Keys.ENTER)
    wait_for(driver, "document.activeElement.id !== 'search'")
    press(driver, "?")
    wait_for(driver, "document.querySelector('#help').open")
    press(driver, Keys.ESCAPE)
    wait_for(driver, "!document.querySelector('#help').open")
    before = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    press(driver, "t")
    wait_for(driver, f"getComputedStyle(document.body).backgroundColor !== '{before}'")
    press(driver, "o")
    wait_for(driver, "!document.querySelector('#overview').hidden")
    assert logs(driver) == []


def test_hostile_text_is_shown_and_runs_nothing(hostile: Path, driver: Any) -> None:
    open_page(driver, hostile)
    assert as_text(HOSTILE) in text_of(driver, "#overview")
    open_list(driver, hostile)
    assert as_text(HOSTILE) in text_of(driver, ".row .group")
    assert as_text(HOSTILE) in text_of(driver, ".row .why")
    driver.execute_script("location.hash = linkTo(listed[0])")
    wait_for(driver, "document.querySelector('#session .terminal')")
    assert text_of(driver, "#session .step[data-step='1'] pre:not(.command)") == as_text(HOSTILE)
    found = driver.execute_script(
        "return [window.ran, document.title, document.querySelectorAll('img, iframe, object, embed, link').length,"
        " document.scripts.length - 2 - DATA.rows.length, performance.getEntriesByType('resource').length]"
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


def test_2000_sessions_are_listed_and_read_on_demand(large: Path, driver: Any) -> None:
    open_list(driver, large)
    assert text_of(driver, "#count") == "2,000 of 2,000 sessions"
    assert driver.execute_script("return unpacked.size") == 0
    assert driver.execute_script("return document.querySelectorAll('.row').length") < 80
    assert driver.execute_script("return document.querySelectorAll('*').length - DATA.rows.length") < 1000
    driver.execute_script("const box = document.querySelector('#rows'); box.scrollTop = box.scrollHeight")
    wait_for(driver, "[...document.querySelectorAll('.row .id')].some((e) => e.textContent === listed[1999].id)")
    driver.execute_script("location.hash = linkTo(listed[1999])")
    wait_for(driver, "document.querySelector('#session .terminal')")
    assert driver.execute_script("return unpacked.size") == 1
    assert "some output" in text_of(driver, "#session .terminal")


@pytest.mark.parametrize("link", ["", "#view=list", "#view=session&run=rollout&id=copy_files-0-s0"])
def test_a_phone_needs_no_sideways_scrolling(link: str, runs: Path, driver: Any) -> None:
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        open_page(driver, runs, link)
        if "session" in link:
            wait_for(driver, "document.querySelector('#session .terminal')")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_colours_follow_the_system(runs: Path, driver: Any) -> None:
    colours = []
    for scheme in ("light", "dark"):
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        open_page(driver, runs)
        colours.append(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert colours == ["rgb(255, 255, 255)", "rgb(21, 24, 28)"]


def test_hidden_characters_have_one_name_in_both_languages(runs: Path, driver: Any) -> None:
    open_page(driver, runs)
    codes = [code for first, last in HIDDEN for code in range(first, last + 1)]
    codes += [9, 10, 32, 65, 0x20AC, 0x1F600, 0xFFFD]
    named = driver.execute_script(
        "return arguments[0].map((code) => shown(String.fromCodePoint(code)).textContent)",
        [code for code in codes if not 0xD800 <= code <= 0xDFFF],
    )
    assert named == [as_text(chr(code)) for code in codes if not 0xD800 <= code <= 0xDFFF]
    half = driver.execute_script("return shown('a' + String.fromCharCode(0xd800) + 'b').textContent")
    assert half == as_text("a\ud800b") == "a«U+D800»b"


def test_a_link_to_nothing_says_so(runs: Path, driver: Any) -> None:
    open_page(driver, runs, "#view=session&run=rollout&id=%3Cb%3E")
    wait_for(driver, "document.querySelector('#session').textContent.includes('No session <b> of rollout')")


def test_the_same_runs_give_the_same_page(place: Path, large: Path) -> None:
    del large
    again = [page_of(page_contents({"large": place / "large"})) for _ in range(2)]
    assert again[0] == again[1]


def test_changes_of_files_are_shown(runs: Path, driver: Any) -> None:
    open_page(driver, runs)
    changes = {
        "created": [{"path": "/home/operator/a<b>", "type": "file", "mode": 0o644, "size_bytes": 3}],
        "removed": ["/home/operator/c"], "changed": [], "more": 2,
    }  # fmt: skip
    text = driver.execute_script("return changesElement(arguments[0]).textContent", changes)
    assert text == "Filescreated/home/operator/a<b>  file  644  3 bytesremoved/home/operator/cand 2 more"
    assert driver.execute_script("return changesElement({created: [], removed: [], more: 0})") is None
