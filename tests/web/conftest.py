"""A real browser, and a real server with runs in every state, for the tests of the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.web import chromium
from tests.web.scene import Scene, a_scene
from tests.web.sight import PATIENCE_MS, Sight

ROOT = Path(__file__).resolve().parent.parent.parent
SCREENSHOTS = ROOT / "build" / "screenshots"
# As root a browser has no sandbox of its own; the rest keeps it from calling home.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file: while playwright is there it keeps an event loop, beside which there is none."""
    path = chromium.find()
    if path is None:
        pytest.skip(chromium.MISSING)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def scene() -> Iterator[Scene]:
    """Shared by the tests of a process: who changes a run takes one that nobody else looks at."""
    with a_scene() as found:
        yield found


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Sight]]:
    """Open a page of a server, as a person with this screen would; what breaks there fails the test."""
    opened: list[Sight] = []

    def open_one(
        url: str, *, width: int = 1440, height: int = 900, scheme: str = "light", token: str = ""
    ) -> Sight:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
            timezone_id="UTC",
            locale="en-GB",
        )
        page: Page = context.new_page()
        sight = Sight(page, SCREENSHOTS)
        opened.append(sight)
        page.goto(url + (f"#token={token}" if token else ""))
        return sight

    yield open_one
    for sight in opened:
        sight.page.context.close()
    for sight in opened:
        sight.check()


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ANEW_")]:
        if name != chromium.VARIABLE:
            monkeypatch.delenv(name)
