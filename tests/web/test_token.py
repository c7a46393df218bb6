"""A server with a token: who may look, and where the token goes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.web.serving import a_server
from tests.web.sight import Sight

Look = Callable[..., Sight]
TOKEN = "tide+and/odd&signs=%41"
HOLDS = """
metadata: {name: holds}
workflow:
  - step: hold
    tool: [{go: {kind: wait, signal: go}}]
"""
# What a browser says of an answer that refuses; the page says it to the person.
REFUSED = "status of 401"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("token")
    file = folder / "token"
    file.touch(mode=0o600)
    file.write_text(TOKEN, encoding="ascii")
    with a_server(folder, "--token-file", str(file)) as server:
        yield server.scene.url


@pytest.fixture(scope="module")
def run(url: str) -> str:
    return str(ask(url, "/api/v1/runs", {"document": HOLDS})["run"])


def ask(url: str, path: str, body: dict[str, str]) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    with urlopen(Request(f"{url}{path}", json.dumps(body).encode(), headers)) as answer:
        found: dict[str, str] = json.load(answer)
        return found


def asked_of(page: Page) -> list[str]:
    """Every address that the page asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def kept_by(page: Page) -> str:
    """Everything the browser would still have tomorrow."""
    return str(page.evaluate("JSON.stringify([{...localStorage}, document.cookie])"))


@pytest.mark.daily
def test_the_page_asks_for_the_token_and_tells_a_wrong_one(look: Look, url: str, run: str) -> None:
    sight = look(f"{url}/runs/{run}?tab=events")
    sight.expected.append(REFUSED)
    page = sight.page
    asked = asked_of(page)
    heading = page.get_by_role("heading", name="This server asks for its token")
    expect(heading).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("holds")
    sight.picture("token")
    assert sight.barriers() == []
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type("a wrong one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("not the token")
    expect(heading).to_be_visible()
    expect(page.get_by_label("Token")).to_be_focused()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("table", name="Events")).to_contain_text("signal.waiting")
    assert page.url == f"{url}/runs/{run}?tab=events"
    assert not any("wrong" in one or "signs" in one for one in asked)


def test_an_address_with_the_token_lets_in_and_loses_it(look: Look, url: str, run: str) -> None:
    sight = look("about:blank")
    page = sight.page
    asked = asked_of(page)
    page.goto(f"{url}/?state=signal#token={quote(TOKEN, safe='')}")
    expect(page.get_by_role("link", name=run)).to_be_visible()
    expect(page).to_have_url(f"{url}/?state=signal")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    page.get_by_role("link", name=run).click()
    expect(page.get_by_role("heading", name="holds")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="holds")).to_be_visible()
    # What happens is told as it happens, by a stream that shows the token too.
    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_role("table", name="Events")).to_contain_text("signal.waiting")
    ask(url, f"/api/v1/runs/{run}/signals/go", {})
    expect(page.get_by_role("table", name="Events")).to_contain_text("run.done")
    expect(page.locator(".run-head .state")).to_have_text("done")
    assert asked
    assert not any("token" in one or "signs" in one for one in asked)
    assert "signs" not in kept_by(page)
    # Another tab of the same browser has to show it again.
    other = page.context.new_page()
    other.goto(f"{url}/runs/{run}")
    expect(other.get_by_role("heading", name=re.compile("asks for its token"))).to_be_visible()


def test_an_address_pasted_into_an_open_page_lets_in_and_loses_it(
    look: Look, url: str, run: str
) -> None:
    sight = look(f"{url}/runs/{run}")
    sight.expected.append(REFUSED)
    page = sight.page
    heading = page.get_by_role("heading", name="This server asks for its token")
    expect(heading).to_be_visible()
    page.goto(f"{url}/runs/{run}#token={quote(TOKEN, safe='')}")
    expect(page.get_by_role("heading", name="holds")).to_be_visible()
    expect(page).to_have_url(f"{url}/runs/{run}")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server that was given no token, and the one it made."""
    folder = tmp_path_factory.mktemp("own")
    with a_server(folder) as server:
        yield server.scene.url, (folder / "anew.db.token").read_text(encoding="ascii").strip()


def test_a_server_that_made_its_token_lets_in_with_it(look: Look, own: tuple[str, str]) -> None:
    url, token = own
    page = look(f"{url}/", token=token).page
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page).to_have_url(f"{url}/")
