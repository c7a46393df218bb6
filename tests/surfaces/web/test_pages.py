"""The page over HTTP: who gets it, in which form, and what a browser is told about it."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from anew.surfaces.api.settings import ApiSettings
from anew.surfaces.web.files import built_files
from anew.surfaces.web.pages import POLICY, Pages
from tests.surfaces.api.served import NOOP, Site, play

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ADDRESSES = ["/", "/runs", "/runs/7", "/programs", "/programs/a/b", "/failures", "/people"]


def stranger(site: Site) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=site.url)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_browser_gets_the_page_at_each_of_its_addresses(tmp_path: Path, address: str) -> None:
    async def act(site: Site) -> None:
        async with stranger(site) as client:
            answer = await client.get(address, headers=BROWSER)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        assert '<div id="root">' in answer.text

    play(tmp_path, act)


def test_the_page_may_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with stranger(site) as client:
            answer = await client.get("/", headers=BROWSER)
            assert answer.headers["content-security-policy"] == POLICY
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"
            named = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
            assert any(name.endswith(".js") for name in named)
            assert "<style" not in answer.text
            for name in named:
                assert name.startswith("/")
                assert (await client.get(name)).status_code == 200

    play(tmp_path, act)


def test_programs_still_get_json_where_the_page_has_the_same_address(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(NOOP, workload={"word": "x"})
        await site.ended(run)
        shown = await site.client.get(f"/runs/{run}", headers={"Accept": "application/json"})
        assert shown.headers["content-type"] == "application/json"
        any_form = await site.client.get(f"/runs/{run}", headers={"Accept": "*/*"})
        assert any_form.headers["content-type"] == "application/json"
        assert "Accept" in (await site.client.get("/runs/7", headers=BROWSER)).headers["vary"]

    play(tmp_path, act)


def test_whoever_asks_at_the_root_gets_the_page(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with stranger(site) as client:
            for accept in ("*/*", "application/json"):
                answer = await client.get("/", headers={"Accept": accept})
                assert answer.status_code == 200
                assert '<div id="root">' in answer.text

    play(tmp_path, act)


@pytest.mark.parametrize("path", ["/nowhere", "/people/7", "/workers/", "/a/b/c"])
def test_a_browser_at_no_address_gets_the_page_that_says_so(tmp_path: Path, path: str) -> None:
    async def act(site: Site) -> None:
        async with stranger(site) as client:
            answer = await client.get(path, headers=BROWSER)
            assert answer.status_code == 404
            assert '<div id="root">' in answer.text
            seen = BROWSER | {"If-None-Match": answer.headers["etag"]}
            assert (await client.get(path, headers=seen)).status_code == 404
        program = await site.client.get(path, headers={"Accept": "*/*"})
        assert program.status_code == 404
        assert program.headers["content-type"] == "application/problem+json"

    play(tmp_path, act)


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/nowhere", "/api/v1/runs/7", "/health"])
def test_the_api_answers_a_browser_at_its_own_addresses(tmp_path: Path, path: str) -> None:
    async def act(site: Site) -> None:
        answer = await site.client.get(path, headers=BROWSER)
        assert '<div id="root">' not in answer.text

    play(tmp_path, act)


def test_the_page_needs_no_token_and_what_it_shows_does(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with stranger(site) as client:
            assert (await client.get("/", headers=BROWSER)).status_code == 200
            assert (await client.get("/api/v1/runs", headers=BROWSER)).status_code == 401
            assert (await client.get("/runs")).status_code == 401
            assert (await client.post("/", headers=BROWSER)).status_code == 401

    play(tmp_path, act)


def test_without_a_token_the_page_is_for_this_machine_only(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        headers = BROWSER | {"Host": "evil.example"}
        answer = await site.client.get("/", headers=headers)
        assert answer.status_code == 421

    settings = ApiSettings(hosts=frozenset({"127.0.0.1"}))
    play(tmp_path, act, settings=settings)


def test_files_are_packed_and_kept_by_the_browser(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with stranger(site) as client:
            page = await client.get("/", headers=BROWSER)
            [script] = re.findall(r'src="(/assets/[^"]+\.js)"', page.text)
            packed = await client.get(script, headers={"Accept-Encoding": "gzip"})
            plain = await client.get(script, headers={"Accept-Encoding": "identity"})
            assert packed.headers["content-encoding"] == "gzip"
            assert "content-encoding" not in plain.headers
            assert packed.text == plain.text
            assert "immutable" in plain.headers["cache-control"]
            assert plain.headers["content-type"].startswith("text/javascript")
            assert page.headers["cache-control"] == "no-cache"
            seen = BROWSER | {"If-None-Match": page.headers["etag"]}
            assert (await client.get("/", headers=seen)).status_code == 304

    play(tmp_path, act)


@pytest.mark.parametrize(
    "path", ["/assets/../pages.py", "/assets/%2e%2e/pages.py", "/index.html/..", "/../files.py"]
)
def test_no_path_leads_out_of_the_page(path: str) -> None:
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    assert not Pages().is_for(scope)


def test_an_installation_without_the_page_says_so(tmp_path: Path) -> None:
    said: list[bytes] = []

    async def send(message: dict[str, object]) -> None:
        said.append(bytes(message.get("body", b"")))  # type: ignore[call-overload]
        assert message.get("status", 503) == 503

    async def ask() -> None:
        headers = [(b"accept", b"text/html")]
        scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
        pages = Pages(built_files(tmp_path))
        assert pages.is_for(scope)
        await pages.handle(scope, None, send)  # type: ignore[arg-type]

    import asyncio

    asyncio.run(ask())
    assert b"make web" in b"".join(said)
