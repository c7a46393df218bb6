"""The site of the documentation in a browser: no barriers, a phone, the search, and from a disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from docs.site import __main__ as site
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
# One of lists, one of code, one of tables and pictures. axe takes long for a long page.
LOOKED_AT = ["index.html", "how-to/retry-after.html", "how-to/use-the-page.html"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert site.main([str(folder / "docs" / "anew")]) == 0
    return folder


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    """Of the site, which does not know under which path it is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/docs/anew"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_of_the_site_has_no_barriers(look: Look, address: str, name: str) -> None:
    for screen in ({"scheme": "light"}, {"scheme": "dark", **PHONE}):
        sight = look(f"{address}/{name}", **screen)
        assert sight.barriers() == []
        assert sight.overflow() == 0


@pytest.mark.daily
def test_a_word_is_found_by_keyboard(look: Look, address: str) -> None:
    page = look(f"{address}/how-to/run.html").page
    page.keyboard.press("/")
    page.keyboard.type("retry-after honour")
    found = page.get_by_role("region", name="Search results")
    expect(found.get_by_role("listitem").first).to_have_text("Honour Retry-After")
    page.keyboard.press("Escape")
    expect(found).to_be_hidden()
    page.keyboard.type("<img src=x onerror=alert(1)>")
    expect(found).to_have_text("Nothing has all these words.")
    page.get_by_role("searchbox").fill("retry-after honour")
    expect(found.get_by_role("link").first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}/how-to/retry-after.html")


def test_the_site_works_from_a_disk(look: Look, built: Path) -> None:
    sight = look((built / "docs/anew/how-to/use-the-page.html").as_uri())
    sight.expected.append("asked another host: file:///")
    page = sight.page
    assert page.evaluate("[...document.images].every(one => one.naturalWidth > 0)")
    page.keyboard.press("/")
    page.keyboard.type("glossary")
    page.get_by_role("region", name="Search results").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Glossary")
    assert page.evaluate("getComputedStyle(document.querySelector('header')).position") == "sticky"
