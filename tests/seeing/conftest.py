"""A headless Chromium for these tests. Where none is found they are skipped, and the summary says so in red."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NO_CHROMIUM = "no Chromium was found: install Debian's package `chromium`, or name the program in CHROMIUM"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

Opener = Callable[..., Any]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say loudly that pages were not tested."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_CHROMIUM in str(report.longrepr)]
    if skipped:
        terminalreporter.section("THE PAGES WERE NOT TESTED", sep="!", red=True, bold=True)
        terminalreporter.line(f"{len(skipped)} browser tests were skipped: {NO_CHROMIUM}", red=True)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, tmp_path: Path) -> Opener:
    """Open HTML from disk, as a user would, in a fresh browser profile: `with open_page(html, **settings) as page`.

    On leaving, the page has said nothing on the console, raised no error, and asked for nothing but itself.
    """

    @contextmanager
    def opened(html: str, *, address: str = "", init_script: str = "", **settings: Any) -> Iterator[Page]:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        wanted = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"} | settings
        context = chromium.new_context(**wanted)
        context.set_default_timeout(10_000)
        context.add_init_script(init_script)
        said: list[str] = []
        try:
            page = context.new_page()
            page.on("console", lambda message: said.append(f"console {message.type}: {message.text}"))
            page.on("pageerror", lambda error: said.append(f"error: {error}"))
            page.on("request", lambda request: said.append(f"request: {request.url}"))
            page.goto(path.as_uri() + address)
            yield page
            # what the page made itself (the blob of a download) did not come from anywhere
            heard = [line for line in said if not line.startswith(("request: blob:", "request: data:"))]
            assert all(line.startswith(f"request: {path.as_uri()}") for line in heard), heard
        finally:
            context.close()

    return opened
