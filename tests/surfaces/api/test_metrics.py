"""What a server counts."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.api.served import FAILS, NOOP, Site, play


def test_requests_commits_and_runs_are_counted(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for document in (NOOP, FAILS):
            await site.ended(await site.started(document))
        await site.get("/no/such/path/7", 404)
        answer = await site.client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        lines = set(answer.text.splitlines())
        for line in (
            'anew_http_requests_total{method="POST",path="/api/v1/runs",status="201"} 2.0',
            'anew_http_requests_total{method="GET",path="-",status="404"} 1.0',
            "anew_runs_started_total 2.0",
            'anew_runs_ended_total{status="done"} 1.0',
            'anew_runs_ended_total{status="failed"} 1.0',
            "anew_attempts_total 2.0",
            "anew_streams 0.0",
        ):
            assert line in lines
        assert "anew_commits_total 4.0" in lines

    play(tmp_path, act)


def test_strangers_cannot_make_up_series(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for number in range(5):
            await site.client.get(f"/made/up/{number}", headers={"Authorization": ""})
            await site.client.request(f"MADE{number}", "/healthz")
        text = (await site.client.get("/metrics")).text
        assert "/made/up" not in text
        assert "MADE" not in text

    play(tmp_path, act)
