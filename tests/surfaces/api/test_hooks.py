"""Webhooks are for strangers: they make nothing, learn nothing, and send no more than a payload."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.surfaces.api.served import NOOP, WAITS, Site, answered, play

NAME = '"document"'
BARE = {"Authorization": ""}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without a key."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("ANEW_KEY", raising=False)
    return folder


def test_a_stranger_makes_no_key_and_whoever_has_the_token_does(home: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        await site.post(f"/hooks/{run}/paid/none", {}, 404, headers=BARE)
        assert not list(home.iterdir())
        path = (await site.get(f"/api/v1/runs/{run}/signals/paid/url"))["path"]
        await site.post(path + "x", {}, 404, headers=BARE)
        await site.post(path, {"sum": 7}, 202, headers=BARE)
        assert (await site.ended(run))["status"] == "done"

    play(home.parent, act)


def test_a_key_that_cannot_be_used_is_told_to_the_log_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = home / ".config" / "anew" / "key"
    key.parent.mkdir(parents=True)
    key.write_text("no key at all")
    key.chmod(0o600)

    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        stranger = await site.post(f"/hooks/{run}/paid/none", {}, 404, headers=BARE)
        asked = await site.get(f"/api/v1/runs/{run}/signals/paid/url", 503)
        sealing = {"name": "x", "type": "bearer", "data": {"token": "secret-secret"}}
        sealed = await site.post("/api/v1/credentials", sealing, 503)
        for problem in (stranger, asked, sealed):
            assert str(home) not in str(problem)
        assert str(key) in caplog.text

    play(home.parent, act)


def test_more_than_a_payload_is_refused_before_it_is_decoded(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PAYLOAD_BYTES_MAX", "1000")

    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        path = (await site.get(f"/api/v1/runs/{run}/signals/paid/url"))["path"]
        for where in (path, f"/api/v1/runs/{run}/signals/paid"):
            # Were it decoded, it would be told that it is no JSON.
            answer = await site.client.post(where, content=b"[" * 2000)
            assert answered(answer, 413)["name"] == "ANEW_PAYLOAD_BYTES_MAX"
            chunked = await site.client.post(where, content=_pieces())
            assert answered(chunked, 413)["limit"] == 1000

    play(home.parent, act)


async def _pieces() -> AsyncIterator[bytes]:
    for _ in range(20):
        yield b"[" * 100


def test_documents_do_not_tell_where_the_server_was_started(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": NOOP}, 201)
        await tells_nothing(site, await site.started(NOOP))

    async def later(site: Site) -> None:
        for path, wanted, name in (
            ("/api/v1/runs", {"program": "quick"}, "run"),
            ("/api/execute", {"path": "quick"}, "execution_id"),
        ):
            answer = await site.client.post(path, json=wanted)
            await tells_nothing(site, answer.json()[name])

    async def tells_nothing(site: Site, run: str) -> None:
        for path in ("/api/v1/programs", f"/api/v1/runs/{run}/events"):
            told = await site.client.get(path)
            assert NAME in told.text
            assert os.getcwd() not in told.text

    play(tmp_path, act)
    play(tmp_path, later)  # a server that knows the document from the database only
