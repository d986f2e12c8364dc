"""Drive a real headless Chromium: open a page, wait for what it shows, press keys."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
DEADLINE_SECONDS = 120.0
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1200,900",
    "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium with an empty profile of its own. Fails, never skips, where it is missing."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    assert CHROMIUM.exists(), "no Chromium; run runs/chromium.sh"
    assert DRIVER.exists(), "no chromedriver; run runs/chromium.sh"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
        driver.set_page_load_timeout(DEADLINE_SECONDS)
        driver.set_script_timeout(DEADLINE_SECONDS)
        try:
            yield driver
        finally:
            driver.quit()


def wait(driver: Any, condition: Callable[[Any], Any], what: str) -> Any:
    """Wait until the condition holds, and return it. Fails with `what` and what the page said."""
    from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
    from selenium.webdriver.support.ui import WebDriverWait

    try:
        return WebDriverWait(driver, DEADLINE_SECONDS, 0.05, [StaleElementReferenceException]).until(condition)
    except TimeoutException as error:
        raise AssertionError(f"not seen: {what}; {logs(driver)}; {driver.current_url}") from error


def wait_for(driver: Any, expression: str) -> Any:
    """Wait until a JavaScript expression is true, and return its value."""
    return wait(driver, lambda one: one.execute_script(f"return {expression}"), expression)


def open_page(driver: Any, page: Path, link: str = "") -> None:
    """Load a page anew from disk, with a hash, and wait until its script has run."""
    driver.get("about:blank")
    driver.get(page.resolve().as_uri() + link)
    wait_for(driver, "document.documentElement.dataset.ready === 'yes'")


def press(driver: Any, keys: str) -> None:
    """Press keys, wherever the focus is."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).send_keys(keys).perform()


def logs(driver: Any) -> list[str]:
    """What the console said since the last call."""
    return [entry["message"] for entry in driver.get_log("browser")]


def text_of(driver: Any, selector: str) -> str:
    return str(driver.execute_script("return document.querySelector(arguments[0]).textContent", selector))


def open_list(driver: Any, page: Path, fields: str = "") -> None:
    """Open the list, and wait for its rows: a key pressed before a link was followed would be undone by it."""
    open_page(driver, page, f"#view=list{fields}")
    wait_for(driver, "!document.querySelector('#list').hidden && listed.length > 0")


def open_session(driver: Any, page: Path, link: str) -> None:
    open_page(driver, page, link)
    wait_for(driver, "document.querySelector('#session .terminal') !== null")


def assert_fits_a_phone(driver: Any, page: Path) -> None:
    """No view of the page is wider than a phone's 360 pixels, with everything in it unfolded."""
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        open_page(driver, page)
        rows = driver.execute_script("return [linkTo(ROWS[0]), linkTo(ROWS.at(-1)), link(compared(ROWS.at(-1)))]")
        for link in ("", "#view=list", *rows, f"{rows[1]}&id=none"):
            open_page(driver, page, link)
            if link in rows:
                wait_for(driver, "document.querySelector('#session .terminal')")
                driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 360, link
        open_page(driver, page, "#view=list")
        driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 360
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
