"""What goes wrong is told as problem details, and nothing of the inside with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anew.errors import ConfigError, EngineBug, ProgramError
from anew.store import KeyTaken, RunId, StaleLease, StaleVersion, StoreError
from anew.surfaces.api.problems import api_error_of
from tests.surfaces.api.served import NOOP, Site, answered, play


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigError("no"), 400),
        (ProgramError([]), 422),
        (KeyTaken(RunId(7)), 409),
        (StaleVersion("moved"), 409),
        (StaleLease("moved"), 409),
        (StoreError("the disk is full"), 503),
        (EngineBug("inside"), 500),
    ],
)
def test_each_error_has_its_status(error: Any, status: int) -> None:
    assert api_error_of(error).status == status


def test_the_inside_of_a_bug_stays_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(site: Site) -> None:
        for error in (EngineBug("the inside"), RuntimeError("the inside")):

            async def breaks(*_: Any, error: Exception = error, **__: Any) -> Any:
                raise error

            monkeypatch.setattr(site.engine, "start", breaks)
            problem = await site.post("/api/v1/runs", {"document": NOOP}, 500)
            assert "inside" not in str(problem)
        assert caplog.text.count("the inside") >= 2

    play(tmp_path, act)


def test_a_store_that_fails_is_no_answer_and_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(site: Site) -> None:
        async def fails(*_: Any, **__: Any) -> Any:
            raise StoreError("db.example:5432 cannot be reached")

        monkeypatch.setattr(site.engine.database.archive, "runs", fails)
        problem = await site.get("/api/v1/runs", 503)
        assert "db.example" not in str(problem)  # whoever asks need not know where it is
        assert "GET /api/v1/runs: db.example:5432 cannot be reached" in caplog.text
        unready = await site.get("/readyz", 503)
        assert "cannot be reached" not in unready["detail"]  # a stranger may have asked
        await site.get("/healthz")

    play(tmp_path, act)


def test_a_wrong_path_or_method_is_a_problem_too(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.get("/nowhere", 404)
        await site.get("/api/v1/runs/", 404)
        answer = await site.client.delete("/api/v1/runs")
        answered(answer, 405)
        assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"GET", "HEAD", "POST"}

    play(tmp_path, act)


def test_what_only_programs_can_read_is_not_sent_to_people(tmp_path: Path) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

    async def act(site: Site) -> None:
        run = await site.started(NOOP)
        await site.get(f"/pipelines/{run}", 406, headers=browser)
        await site.get("/pipelines", 406, headers=browser)
        await site.get(f"/pipelines/{run}", headers={"Accept": "application/json"})
        await site.get(f"/pipelines/{run}", headers={"Accept": "*/*"})

    play(tmp_path, act)
