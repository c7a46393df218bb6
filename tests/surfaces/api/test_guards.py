"""Who is let in: the matrix is made of the route table, so no route can be forgotten."""

from __future__ import annotations

import re
from pathlib import Path

from anew.surfaces.api.access_log import logged_path
from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.endpoint import Endpoint
from anew.surfaces.api.settings import ApiSettings
from tests.http_server.test_connections import connected, told
from tests.surfaces.api.served import NOOP, SLEEPS, TOKEN, Site, answered, play

OPEN = {"/healthz", "/readyz", "/hooks/{run}/{name}/{signature}"}
LOCAL = ApiSettings(hosts=frozenset({"localhost", "127.0.0.1", "::1"}))


def path_of(endpoint: Endpoint) -> str:
    return re.sub(r"\{\w+(:\w+)?\}", "1", endpoint.path)


def test_only_health_and_webhooks_are_open() -> None:
    assert {endpoint.path for endpoint in ENDPOINTS if endpoint.is_open} == OPEN


def test_every_other_route_asks_for_the_token(tmp_path: Path) -> None:
    wrong = [
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer \xfc",
    ]

    async def act(site: Site) -> None:
        for endpoint in ENDPOINTS:
            if endpoint.is_open:
                continue
            path = path_of(endpoint)
            for said in wrong:
                headers = [(b"Authorization", said.encode("latin-1"))]
                answer = await site.client.request(endpoint.method, path, headers=headers)
                problem = answered(answer, 401)
                assert answer.headers["www-authenticate"] == "Bearer"
                assert TOKEN not in str(problem)
        # What is not there is not told apart from what is, without the token.
        answered(await site.client.get("/nowhere", headers={"Authorization": ""}), 401)

    # So many at once would be slowed down; that is for tests/abuse/test_tokens.py.
    play(tmp_path, act, settings=ApiSettings(token=TOKEN, failure_pause_seconds_max=0.0))


def test_what_is_open_is_answered_without_a_token(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        bare = {"Authorization": ""}
        assert await site.get("/healthz", headers=bare) == {"status": "ok"}
        assert await site.get("/readyz", headers=bare) == {"status": "ready"}
        await site.post("/hooks/1/paid/none", {}, 404, headers=bare)

    play(tmp_path, act)


def test_the_token_is_taken_whatever_the_case_of_the_scheme(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.get("/api/v1/runs", headers={"Authorization": f"bearer {TOKEN}"})

    play(tmp_path, act)


def test_without_a_token_other_host_names_are_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
            await site.get("/api/v1/runs", 421, headers={"Host": host})
            await site.get("/healthz", 421, headers={"Host": host})

    play(tmp_path, act, settings=LOCAL)


def test_without_a_token_the_own_names_are_taken(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:8700", "[::1]"):
            await site.get("/api/v1/runs", headers={"Host": host})

    play(tmp_path, act, settings=LOCAL)


def test_without_a_token_a_page_from_elsewhere_changes_nothing(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        foreign = {"Origin": "https://evil.example"}
        await site.post(f"/api/v1/runs/{run}/cancel", None, 403, headers=foreign)
        await site.post("/api/v1/runs", {"document": NOOP}, 403, headers={"Origin": "null"})
        assert (await site.get(f"/api/v1/runs/{run}"))["status"] != "cancelled"
        own = {"Origin": site.url}
        await site.post(f"/api/v1/runs/{run}/cancel", None, 200, headers=own)

    play(tmp_path, act, settings=LOCAL)


def test_without_a_token_a_page_of_another_port_changes_nothing(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        host, _, port = site.url.removeprefix("http://").rpartition(":")
        for origin in (
            f"http://{host}:{int(port) - 1}",
            f"http://{host}",
            f"https://{host}:{port}",
        ):
            await site.post("/api/v1/runs", {"document": NOOP}, 403, headers={"Origin": origin})
        for site_said in ("cross-site", "same-site", "x"):
            headers = {"Origin": site.url, "Sec-Fetch-Site": site_said}
            await site.post("/api/v1/runs", {"document": NOOP}, 403, headers=headers)
            await site.post(
                "/api/v1/runs", {"document": NOOP}, 403, headers={"Sec-Fetch-Site": site_said}
            )
        assert (await site.get("/api/v1/runs"))["runs"] == []
        headers = {"Origin": site.url, "Sec-Fetch-Site": "same-origin"}
        await site.post("/api/v1/runs", {"document": NOOP}, 201, headers=headers)

    play(tmp_path, act, settings=LOCAL)


def test_a_request_names_one_host_and_its_target_no_other(tmp_path: Path) -> None:
    def asking(target: str, *hosts: str, version: str = "1.1") -> bytes:
        lines = [f"GET {target} HTTP/{version}", "Connection: close"]
        return "\r\n".join([*lines, *(f"Host: {host}" for host in hosts), "", ""]).encode()

    async def act(site: Site) -> None:
        for refused in (
            asking("/healthz"),
            asking("/healthz", version="1.0"),
            asking("/healthz", "localhost", "localhost"),
            asking("/healthz", "localhost", "evil.example"),
            asking("http://evil.example/healthz", "localhost"),
            asking("http://evil.example?/healthz", "localhost"),
        ):
            assert (await told(site, refused))["status"] == 400
        evil = asking("http://evil.example/healthz", "evil.example")
        assert (await told(site, evil))["status"] == 421
        async with connected(site) as (reader, writer):
            writer.write(asking("http://localhost/healthz", "localhost"))
            assert b"200 OK" in await reader.read()

    play(tmp_path, act, settings=LOCAL)


def test_the_log_shows_no_address_of_a_webhook() -> None:
    for path in ("/hooks/1/paid/SIGN", "//hooks/1/paid/SIGN", "/x/hooks/1/SIGN", "/Hooks%2F1/SIGN"):
        assert "hooks/…" in logged_path(path).lower()
        assert "SIGN" not in logged_path(path)
    assert logged_path("/api/v1/runs\n") == "/api/v1/runs\\n"


def test_every_answer_has_the_headers_for_browsers_and_allows_no_other_page(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for path in ("/healthz", "/api/v1/runs", "/nowhere"):
            origin = {"Origin": "https://elsewhere.example"}
            answer = await site.client.get(path, headers=origin)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert "access-control-allow-origin" not in answer.headers
            assert "server" not in answer.headers

    play(tmp_path, act)


def test_the_settings_do_not_show_the_token() -> None:
    assert TOKEN not in repr(ApiSettings(token=TOKEN))
