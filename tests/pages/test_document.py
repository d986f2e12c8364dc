"""The page in a real Chromium shows everything, loads and runs nothing else, and reads sessions on demand."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from examples.git_repositories.author import write_drafts
from pages.document import page_of, write_page
from pages.gather import page_contents
from pipeline.hidden import HIDDEN, as_text
from schema import OperatorInfo, Scenario, Segment
from tests.helpers import run_directories as made, tiny
from tests.helpers.browser import (
    assert_fits_a_phone,
    logs,
    open_list,
    open_page,
    open_session,
    press,
    text_of,
    wait_for,
)


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
def shaded(place: Path) -> Path:
    """A page of two rollouts with log-probs; two scenarios have the id of the second session."""
    base = tiny.base(place / "shaded" / "base")
    one, two = made.scenarios(2)
    other = Scenario.model_validate({**two.model_dump(exclude={"content_hash"}), "checker": "test -f other"})
    first = [made.sampled(base, one, "cat part-1"), made.sampled(base, two, "cat part-1", "wc -l < part-2")]
    second = [made.sampled(base, one, "ls -la", "cat part-1", "cat part-2"), made.sampled(base, other, "ls")]
    runs = {name: made.write_rollout(place / "shaded" / name, rows) for name, rows in (("a", first), ("b", second))}
    sources = {
        name: made.write_scenarios(place / "shaded" / name, [row]) for name, row in (("s", two), ("other", other))
    }
    write_page(place / "shaded.html", page_contents({**runs, **sources}))
    return place / "shaded.html"


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


def test_overview_shows_every_part(runs: Path, driver: Any) -> None:
    open_page(driver, runs)
    text = text_of(driver, "#overview")
    for part in (
        "Rates", "eval: base", "eval: adapter", "4/8 50%", "adapter - base",
        "+50 [", "Rates by", "copy_files", "Outcomes", "max_steps", "Why sessions are not kept", "not terminated",
        "Training", "loss", "reward", "steps, rollout", "Scenarios: scenarios", "admitted of 10 attempts", "task0.09",
        "2 of them are blocked", "solution", "loss_last0.07662steps40tokens284,895",
    ):  # fmt: skip
        assert part in text, part
    heads = driver.execute_script("return [...document.querySelectorAll('summary')].map((e) => e.textContent)")
    assert "adapter (training) " in heads
    assert driver.execute_script("return document.querySelectorAll('#overview path.curve').length") == 2
    assert logs(driver) == []
    assert text_of(driver, "#fault") == ""


def test_each_histogram_counts_every_session_once(runs: Path, driver: Any) -> None:
    open_page(driver, runs)
    found = driver.execute_script(
        "return [...document.querySelectorAll('#overview svg')]"
        ".filter((one) => (one.getAttribute('aria-label') || '').endsWith(': histogram'))"
        ".map((one) => [one.getAttribute('aria-label').split(',')[0],"
        " [...one.querySelectorAll('rect title')].map((bar) => Number(bar.textContent.split(': ')[1]))])"
    )
    groups = driver.execute_script("return DATA.groups.map((_, n) => ROWS.filter((row) => row.group === n).length)")
    assert [kind for kind, _ in found] == ["steps", "characters"] * len(groups)
    assert [sum(bars) for _, bars in found] == [count for count in groups for _ in range(2)]


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


def test_an_own_taxonomy_is_filtered_and_counted_by_its_values(place: Path, driver: Any) -> None:
    records = write_drafts(16, seed=1)
    sessions = [made.session(one, "x\n", taxonomy=one.taxonomy) for one in records]
    write_page(place / "git.html", page_contents({
        "git": made.write_rollout(place / "git" / "r", sessions),
        "scenarios": made.write_scenarios(place / "git" / "s", records),
    }))  # fmt: skip
    open_page(driver, place / "git.html")
    text = text_of(driver, "#overview")
    for task in {one.task for one in records}:
        assert f"{task} git2/2 100% [34-100]" in text, task
        assert f"{task} 2" in text, task
    driver.execute_script(
        "[...document.querySelectorAll('#overview a')].find((one) => one.textContent === 'git_who').click()"
    )
    wait_for(driver, "document.querySelector('#count').textContent === '2 of 16 sessions'")
    tasks = driver.execute_script("return listed.map((row) => row.axes[0])")
    assert tasks == ["git_who", "git_who"]
    options = driver.execute_script(
        "return [...document.querySelectorAll('select[name=task] option')].map((o) => o.value)"
    )
    assert set(options) == {"", *(one.task for one in records)}


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
    heads = driver.execute_script("return [...document.querySelectorAll('.columns h2')].map((e) => e.textContent)")
    assert heads == [f"{of} · sum_column-1-s0" for of in ("eval: base", "eval: adapter", "rollout")]


def columns_of(driver: Any) -> list[str]:
    """The run of each column, side by side."""
    found = driver.execute_script(
        "return [...document.querySelectorAll('.columns > section h2')].map((one) => one.textContent[0])"
    )
    return [str(one) for one in found]


def test_scenarios_of_one_id_and_two_contents_are_not_put_side_by_side(shaded: Path, driver: Any) -> None:
    open_page(driver, shaded, "#view=compare&scenario=copy_files-0")
    wait_for(driver, "document.querySelectorAll('.columns > section').length === 2")
    assert columns_of(driver) == ["a", "b"]
    assert "Another scenario" not in text_of(driver, "#session")
    for run, other in ("ab", "ba"):
        open_session(driver, shaded, f"#view=session&run={run}&id=sum_column-1-s0")
        assert driver.execute_script("return document.querySelector('#session a.compare')") is None
        press(driver, "c")
        wait_for(driver, "document.querySelectorAll('.columns > section').length === 1")
        assert columns_of(driver) == [run]
        link = driver.execute_script("return location.hash")
        open_page(driver, shaded, link)  # the link alone, in a page opened anew
        wait_for(driver, "document.querySelectorAll('.columns > section').length === 1")
        assert columns_of(driver) == [run]
        assert "Another scenario has this id" in text_of(driver, "#session")
        driver.execute_script("document.querySelector('#session p.warn a').click()")
        wait_for(driver, f"document.querySelector('.columns h2').textContent.startsWith('{other}')")
    open_page(driver, shaded, "#view=list&from=0&group=1")  # nothing changed: the scenarios differ, or kept did not
    wait_for(driver, "document.querySelector('#count').textContent === '0 of 4 sessions'")
    open_page(driver, shaded, "#view=compare&scenario=sum_column-1&hash=%3Cb%3E")
    wait_for(driver, "document.querySelector('#session').textContent.includes('with content hash <b> is on this page')")


def test_j_and_k_move_through_steps_side_by_side(shaded: Path, driver: Any) -> None:
    open_page(driver, shaded, "#view=compare&scenario=copy_files-0")
    wait_for(driver, "document.querySelectorAll('.columns > section').length === 2")
    driver.execute_script("window.drawn = document.querySelector('.columns')")
    picked = (
        "[...document.querySelectorAll('.step.picked .command')].map((one) => one.textContent.split('<')[0]).join()"
    )
    for key, commands in (("j", "cat part-1,ls -la"), ("j", "exit,cat part-1"), ("j", "cat part-2"), ("j", "exit"),
                          ("j", "exit"), ("k", "cat part-2"), ("k", "exit,cat part-1")):  # fmt: skip
        press(driver, key)
        wait_for(driver, f"{picked} === '{commands}'")
    assert driver.execute_script("return drawn.isConnected && here().step === '2'")
    open_page(driver, shaded, driver.execute_script("return location.hash"))
    wait_for(driver, f"{picked} === 'exit,cat part-1'")
    press(driver, "n")
    wait_for(driver, "shownRow && shownRow.id === 'sum_column-1-s0'")
    press(driver, "?")
    assert "side by side" in driver.execute_script(
        "return [...document.querySelectorAll('#help tr')].find((row) => row.textContent.startsWith('j')).textContent"
    )


def test_a_view_that_is_unpacked_late_does_not_replace_the_one_that_is_asked_for(shaded: Path, driver: Any) -> None:
    for first, other in (
        ("#view=compare&scenario=copy_files-0", "#view=session&run=a&id=sum_column-1-s0"),
        ("#view=session&run=a&id=copy_files-0-s0", "#view=session&run=a&id=sum_column-1-s0"),
    ):
        open_page(driver, shaded, first)
        wait_for(driver, "document.querySelector('#session .terminal')")
        text = text_of(driver, "#session")
        driver.execute_async_script(
            """
            const [first, other, done] = arguments;
            history.replaceState(null, "", other); route();
            history.replaceState(null, "", first); route();
            setTimeout(done, 500);
            """,
            first, other,
        )  # fmt: skip
        assert text_of(driver, "#session") == text


def test_tokens_are_shaded_by_how_unlikely_they_were(shaded: Path, driver: Any) -> None:
    open_session(driver, shaded, "#view=session&run=a&id=copy_files-0-s0")
    tokens = driver.execute_script(
        "return [...document.querySelectorAll(\"[data-step='1'] .tok\")].map((one) => [one.textContent, one.title,"
        " Number(one.style.getPropertyValue('--p')), getComputedStyle(one).backgroundColor,"
        " one.classList.contains('end-marker')])"
    )
    texts, titles, shades, colours, ends = zip(*tokens, strict=True)
    assert "".join(texts).startswith("cat part-1")
    assert "".join(text for text, end in zip(texts, ends, strict=True) if not end) == "cat part-1"
    assert any(ends)
    probabilities = [math.exp(-0.5 * at) for at in range(1, len(tokens) + 1)]
    assert list(titles) == [f"log-prob {-0.5 * at:.3f}, p {p:.3f}" for at, p in enumerate(probabilities, 1)]
    assert list(shades) == [pytest.approx(50 * (1 - p), abs=0.51) for p in probabilities]
    assert len(set(colours)) == len(set(shades))
    assert colours[0] != colours[-1]
    assert "the less likely a token was to the model, the stronger its colour" in text_of(driver, "#session .terminal")


def test_an_agent_programs_replies_are_shaded_below_its_session(place: Path, driver: Any) -> None:
    base = tiny.base(place / "agent-base")
    ids = tiny.tokenizer("byte_level").encode('{"command": "ls"}\x1b', add_special_tokens=False)
    segment = Segment(token_ids=ids, assistant_mask=[1] * len(ids), log_probs=[-0.5] * len(ids))
    record = made.scenarios(1)[0]
    operator = OperatorInfo(kind="agent", agent="plain", model=str(base))
    session = made.session(record, "a\n", operator=operator, segments=[segment, segment])
    made.write_rollout(place / "agent", [session])
    write_page(place / "agent.html", page_contents({"agent": place / "agent"}))
    open_session(driver, place / "agent.html", f"#view=session&run=agent&id={session.id}")
    driver.execute_script("document.querySelector('#session .replies').open = true")
    assert "what the model sampled: 2 replies" in text_of(driver, "#session .replies summary")
    texts = driver.execute_script(
        "return [...document.querySelectorAll('#session .replies .command')].map((one) => one.textContent.trim())"
    )
    assert texts == [as_text('{"command": "ls"}\x1b')] * 2
    shades = driver.execute_script(
        "return [...document.querySelectorAll('#session .replies .tok')]"
        ".map((one) => Number(one.style.getPropertyValue('--p')))"
    )
    assert set(shades) == {round(50 * (1 - math.exp(-0.5)))}


def test_what_json_does_not_have_is_null_on_the_page(place: Path, driver: Any) -> None:
    """Python's json writes NaN and Infinity bare, which a browser refuses."""
    directory = place / "numbers" / "rollout"
    record = made.scenarios(1)[0]
    nan, infinite = float("nan"), float("inf")
    one = made.session(record, "x\n")
    steps = [one.steps[0].model_copy(update={"duration_seconds": nan})]
    operator = OperatorInfo(kind="endpoint", sampling={"top_p": infinite})
    made.write_rollout(directory, [one.model_copy(update={"steps": steps, "operator": operator})])
    manifest = json.loads((directory / "manifest.json").read_text())
    flags = {"temperature": nan, "parts": [-infinite, {"x": infinite}]}
    (directory / "manifest.json").write_text(json.dumps({**manifest, "flags": flags}))
    adapter = made.write_training(place / "numbers" / "adapter")
    rows = [{"step": step, "loss": loss} for step, loss in enumerate((2.0, nan, -infinite, 1.0), 1)]
    (adapter / "log_history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_page(place / "numbers.html", page_contents({"r": directory, "t": adapter}))
    open_page(driver, place / "numbers.html")
    text = text_of(driver, "#overview")
    assert "temperatureNaN" in text
    assert '["-Infinity",{"x":"Infinity"}]' in text
    assert "loss, NaN or infinite in 2 steps, left out" in text
    open_session(driver, place / "numbers.html", f"#view=session&run=r&id={one.id}")
    assert "? s" in text_of(driver, "#session .step-facts")
    assert logs(driver) == []


def test_a_page_whose_index_is_broken_says_so(runs: Path, place: Path, driver: Any) -> None:
    broken = place / "broken.html"
    broken.write_text(runs.read_text().replace('id="index">{', 'id="index">{"x": NaN,', 1))
    driver.get("about:blank")
    driver.get(broken.resolve().as_uri())
    wait_for(driver, "!document.querySelector('#fault').hidden")
    assert "The page failed: " in text_of(driver, "#fault")
    assert "JSON" in text_of(driver, "#fault")
    logs(driver)


def test_keys_reach_everything(runs: Path, driver: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    open_list(driver, runs)
    press(driver, "jjk")
    wait_for(driver, "picked === 1")
    press(driver, Keys.ENTER)
    wait_for(driver, "document.querySelector('#session .terminal') && shownRow === listed[1]")
    press(driver, "j")
    wait_for(driver, "document.querySelector('.step.picked')?.dataset.step === '1'")
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


@pytest.mark.parametrize("page", ["runs", "shaded"])
def test_a_phone_needs_no_sideways_scrolling(page: str, request: pytest.FixtureRequest, driver: Any) -> None:
    assert_fits_a_phone(driver, request.getfixturevalue(page))


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
