"""Coverage by real runs, and another policy on past runs, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anew.lab.cancellation import AnalysisCancelled
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.surfaces.api import analyses, background_analyses, past_runs
from tests.surfaces.api.served import SLEEPS, Site, play

FLAKY = """\
metadata: {name: team/flaky}
workload: {code: 0}
workflow:
  - step: try
    tool:
      kind: shell
      command: "exit {{ workload.code }}"
      spec:
        policy:
          rules:
            - when: "{{ outcome.status == 'error' }}"
              then: {do: retry, attempts: 2, backoff: fixed, delay: 0.01}
    next: {arcs: [{step: good, when: "{{ event.name == 'step.done' }}"}]}
  - step: good
    tool: {kind: noop}
"""
MORE = FLAKY.replace("attempts: 2", "attempts: 4")
ONCE = FLAKY.replace("attempts: 2", "attempts: 1")
COVERAGE = "/api/v1/programs/team/flaky/coverage"


async def ran(site: Site, code: int, status: str) -> str:
    body = {"program": "team/flaky", "workload": {"code": code}}
    run = str((await site.post("/api/v1/runs", body, 201))["run"])
    assert (await site.ended(run))["status"] == status
    return run


def hits(told: dict[str, Any]) -> dict[str, int]:
    return {point["kind"]: point["hits"] for point in told["points"]}


def test_coverage_counts_what_the_newest_runs_of_a_version_have_done(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        told = await site.get(COVERAGE)
        assert (told["name"], told["version"], told["runs"]) == ("team/flaky", 1, 0)
        assert (told["percent"], hits(told)) == (0.0, {"rule": 0, "arc": 0})
        await ran(site, 0, "done")
        told = await site.get(COVERAGE)
        assert (told["runs"], told["percent"], hits(told)) == (1, 50.0, {"rule": 0, "arc": 1})
        arc = next(point for point in told["points"] if point["kind"] == "arc")
        assert (arc["line"], arc["what"]) == (13, "arc try -> good")
        await ran(site, 1, "failed")
        assert hits(await site.get(COVERAGE)) == {"rule": 2, "arc": 1}
        assert hits(await site.get(f"{COVERAGE}?runs=1")) == {"rule": 2, "arc": 0}

    play(tmp_path, act)


def test_coverage_is_of_one_version(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        await ran(site, 0, "done")
        await site.post("/api/v1/programs", {"document": MORE}, 201)
        assert (await site.get(COVERAGE))["runs"] == 0
        assert (await site.get(f"{COVERAGE}?version=1"))["runs"] == 1
        await site.get(f"{COVERAGE}?version=3", 404)
        await site.get("/api/v1/programs/none/coverage", 404)
        await site.get(f"{COVERAGE}?runs=0", 400)
        await site.get(f"{COVERAGE}?runs=201", 400)

    play(tmp_path, act)


def test_coverage_reads_no_more_events_than_fit(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(analyses, "ANALYSED_EVENTS_MAX", 12)

    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        for _ in range(3):
            await ran(site, 0, "done")
        assert (await site.get(COVERAGE))["runs"] == 1

    play(tmp_path, act)


def test_another_policy_is_tried_on_past_runs(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        run = await ran(site, 1, "failed")
        body = {"runs": [run, run], "document": ONCE, "file": "once.yaml", "samples": 20}
        told = await site.post("/api/v1/whatif", body)
        assert told["report"]["runs"] == 1
        assert told["report"]["calls"]["before"] == 2
        assert told["report"]["calls"]["extra"]["mean"] == -1.0
        assert told["lines"][0] == "1 run (1 failed, 0 done), with once.yaml:"
        assert (await site.post("/api/v1/whatif", body)) == told

    play(tmp_path, act)


def test_the_model_counts_other_runs_of_the_program(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        await ran(site, 0, "done")
        run = await ran(site, 1, "failed")
        told = await site.post("/api/v1/whatif", {"runs": [run], "document": MORE})
        assert (told["report"]["runs"], told["report"]["counted"]) == (1, 2)

    play(tmp_path, act)


def test_what_cannot_be_tried_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        run = await ran(site, 1, "failed")
        bad = await site.post("/api/v1/whatif", {"runs": [run], "document": "workflow: ["}, 422)
        assert bad["findings"][0]["rule"] == "yaml.syntax"
        await site.post("/api/v1/whatif", {"runs": ["17"], "document": ONCE}, 404)
        await site.post("/api/v1/whatif", {"runs": [], "document": ONCE}, 400)
        await site.post("/api/v1/whatif", {"runs": [run] * 51, "document": ONCE}, 400)
        asleep = await site.started(SLEEPS)
        told = await site.post("/api/v1/whatif", {"runs": [asleep], "document": ONCE}, 409)
        assert told["detail"].endswith(f"{asleep}: it has not ended")
        both = await site.post("/api/v1/whatif", {"runs": [asleep, run], "document": ONCE})
        assert both["report"]["left_out"] == [{"run": asleep, "why": "it has not ended"}]

    play(tmp_path, act)


def test_logs_that_do_not_fit_into_memory_are_left_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(past_runs, "ANALYSED_EVENTS_MAX", 3)

    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        run = await ran(site, 1, "failed")
        told = await site.post("/api/v1/whatif", {"runs": [run], "document": ONCE}, 409)
        assert "all logs together have more than 3 events" in told["detail"]

    play(tmp_path, act)


def test_playing_that_takes_too_long_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch
) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        run = await ran(site, 1, "failed")
        monkeypatch.setattr(analyses, "STUDY_SECONDS_MAX", 0.0)
        told = await site.post("/api/v1/whatif", {"runs": [run], "document": ONCE}, 503)
        assert "Name fewer runs" in told["detail"]

    play(tmp_path, act)


def test_playing_asks_after_each_play_whether_to_go_on(tmp_path: Path, monkeypatch) -> None:
    left: list[int] = [1]

    def cancel_check() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise AnalysisCancelled

    def impatient(past: Any, program: Any, _: Any, **more: Any) -> Any:
        return real(past, program, cancel_check, **more)

    real = analyses._played
    monkeypatch.setattr(analyses, "_played", impatient)

    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        run = await ran(site, 1, "failed")
        await site.post("/api/v1/whatif", {"runs": [run], "document": ONCE})
        await site.post("/api/v1/whatif", {"runs": [run], "document": ONCE}, 503)

    play(tmp_path, act)


def test_all_runs_of_a_coverage_share_one_time(tmp_path: Path, monkeypatch) -> None:
    made: list[float] = []

    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        for _ in range(3):
            await ran(site, 0, "done")
        real = site.service.analyses.run

        async def counted(study: Any, *, seconds: float) -> Any:
            made.append(seconds)
            return await real(study, seconds=seconds)

        monkeypatch.setattr(site.service.analyses, "run", counted)
        assert (await site.get(COVERAGE))["runs"] == 3
        assert made == [analyses.STUDY_SECONDS_MAX]
        monkeypatch.setattr(analyses, "STUDY_SECONDS_MAX", 0.0)
        assert "Ask for fewer runs" in (await site.get(COVERAGE, 503))["detail"]

    play(tmp_path, act)


def test_counting_asks_before_each_event_whether_to_go_on() -> None:
    program = load_text(FLAKY, "flaky.yaml").program
    assert program is not None
    log = simulate(program, script_of({})).log
    asked: list[None] = []
    analyses._exercised(program, [log, log], lambda: asked.append(None))
    assert len(asked) == 2 * len(log)


def test_where_all_places_are_taken_it_is_no_fault_of_the_runs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(background_analyses, "PLACE_SECONDS_MAX", 0.02)

    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": FLAKY}, 201)
        run = await ran(site, 0, "done")
        for _ in range(background_analyses.STUDIES_AT_ONCE_MAX):
            await site.service.analyses._places.acquire()
        for path in (COVERAGE, f"/api/v1/runs/{run}/scenario"):
            answer = await site.client.get(path)
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == str(background_analyses.AGAIN_SECONDS)
            assert "other analyses" in answer.json()["detail"]
        told = await site.post("/api/v1/inspect", {"document": FLAKY})
        assert (told["name"], told["bounds"]) == ("team/flaky", None)
        assert any("was not computed" in row["message"] for row in told["findings"])

    play(tmp_path, act)
