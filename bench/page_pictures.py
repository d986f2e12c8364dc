"""Take pictures of a page of report.py in a real Chromium, to be looked at by eye.

    python report.py --html report.html --runs eval/ckpt-run1 trajectories
    python -m bench.page_pictures --page report.html --out pictures

Reads   a page
Writes  <out>/<view>-<light|dark>.png and <out>/<view>-phone.png for the views overview, list, session and beside
Needs   Chromium and its driver (make chromium), and the packages of requirements-dev.txt

`beside` is the first session side by side with its counterpart, where the page has one.
"""

import argparse
from pathlib import Path
from typing import Any

from pipeline import stage
from tests.helpers.browser import browser, logs, open_page, press, wait_for

WINDOW, PHONE = (1200, 900), (390, 844)  # CSS pixels


def main(*, page: Path, out: Path) -> int:
    """Write the pictures."""
    out.mkdir(parents=True, exist_ok=True)
    with browser() as driver:
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            take_all(driver, page, out, scheme, WINDOW)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        take_all(driver, page, out, "phone", PHONE)
        said = logs(driver)
    stage.print_summary({"out": str(out), "pictures": len(list(out.glob("*.png"))), "console": said})
    return stage.DONE


def take_all(driver: Any, page: Path, out: Path, name: str, size: tuple[int, int]) -> None:
    """A picture of each view, in a window of this size."""
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    open_page(driver, page)
    driver.save_screenshot(str(out / f"overview-{name}.png"))
    open_page(driver, page, "#view=list")
    driver.save_screenshot(str(out / f"list-{name}.png"))
    if not driver.execute_script("return listed.length"):
        return
    press(driver, "j\n")
    wait_for(driver, "document.querySelector('#session .terminal') !== null")
    driver.save_screenshot(str(out / f"session-{name}.png"))
    press(driver, "c")
    driver.save_screenshot(str(out / f"beside-{name}.png"))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = stage.command_line(__doc__)
    parser.add_argument("--page", type=Path, required=True, help="page that report.py --html wrote")
    parser.add_argument("--out", type=Path, required=True, help="directory for the pictures")
    return parser


if __name__ == "__main__":
    stage.run_script(main, parser())
