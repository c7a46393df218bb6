"""The page of a run over HTTP: its picture as of now and of the past, its attempts, its texts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlencode

import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict

from anew.surfaces.api import traces
from anew.surfaces.api.traces import Traces
from anew.views.picture.tracing import Trace
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.api.served import ASKS, CHAIN, GRAPH, SLEEPS, WAITS, Site, play

TRIES = """\
metadata: {name: tries}
workflow:
  - step: fetch
    tool:
      - page:
          kind: shell
          command: "echo $ANEW_IDEMPOTENCY_KEY; exit 3"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, backoff: fixed, delay: 0.01, set_ctx: {tried: 1}}
"""
PATIENT = TRIES.replace("delay: 0.01", "delay: 3600")
PARENT = """\
metadata: {name: parent}
workflow:
  - step: ship
    tool: {kind: playbook, path: ask}
"""


def path_of(run: str, *rest: str) -> str:
    return "/".join(("/api/v1/runs", run, *rest))


async def waiting_to_retry(site: Site) -> str:
    run = await site.started(PATIENT)
    async for event in site.stream(run):
        if event["name"] == "task.retry_scheduled":
            return run
    raise AssertionError("it never waited")


# --- the picture ---------------------------------------------------------------------------------


def test_a_picture_tells_what_a_run_waits_for(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await waiting_to_retry(site)
        picture = await site.get(path_of(run, "picture"))
        assert (picture["run"], picture["state"], picture["language"]) == (
            run,
            "retrying",
            "playbook",
        )
        assert picture["verdict"]["headline"] == "Waiting to retry fetch (attempt 2 of 3)"
        [wait] = picture["waits"]
        assert wait["until"] == picture["verdict"]["until"] > picture["now"]
        assert wait["can_skip"]
        assert wait["rule"] == {"number": 1, "name": None, "line": 11, "column": 17}
        [node] = picture["graph"]["nodes"]
        assert (node["attempt"], node["attempts_max"], node["status"]) == (2, 3, "retrying")
        assert picture["rules"][0]["hits"] == 1

    play(tmp_path, act)


def test_a_picture_follows_the_run(tmp_path: Path) -> None:
    """Only what is new is read: the trace of the first look is the one of the second."""

    async def act(site: Site) -> None:
        run = await site.started(ASKS)
        await site.reached(run, "waiting")
        before = await site.get(path_of(run, "picture"))
        [question] = before["questions"]
        assert (before["state"], question["question"]) == ("person", "Ship it?")
        kept = site.service.traces._kept[int(run), False].trace
        await site.post(path_of(run, "answer"), {"answer": "Y"})
        await site.ended(run)
        after = await site.get(path_of(run, "picture"))
        assert (after["state"], after["questions"], after["waits"]) == ("done", [], [])
        assert after["at"] == after["events"] > before["at"]
        assert [edge["taken"] for edge in after["graph"]["edges"]] == [1]
        assert site.service.traces._kept[int(run), False].trace is kept

    play(tmp_path, act)


@pytest.mark.parametrize("document", [CHAIN, GRAPH, TRIES], ids=["playbook", "graph", "retries"])
def test_every_event_has_a_picture_of_its_moment(tmp_path: Path, document: str) -> None:
    async def act(site: Site) -> None:
        run = await site.started(document)
        await site.ended(run)
        log = (await site.get(path_of(run, "events")))["events"]
        # Back and forth, as a slider goes.
        for seq in (*range(1, len(log) + 1), 3, len(log) - 1, 2):
            picture = await site.get(path_of(run, "picture"), params={"at": seq})
            assert (picture["at"], picture["events"]) == (seq, len(log))
            assert picture["now"] == picture["updated_at"] == log[seq - 1]["at"]
            assert not any(wait["can_skip"] for wait in picture["waits"])
            started = [x["step"] for x in log[:seq] if x["name"] == "task.started"]
            known = {node["name"]: node["attempts"] for node in picture["graph"]["nodes"]}
            assert known == {name: started.count(name) for name in known}
        now = await site.get(path_of(run, "picture"))
        then = await site.get(path_of(run, "picture"), params={"at": len(log)})
        assert then | {"now": now["now"]} == now

    play(tmp_path, act)


def test_ctx_is_told_as_of_the_event(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        log = (await site.get(path_of(run, "events")))["events"]
        written = next(x["seq"] for x in log if x["name"] == "task.processed")
        before = await site.get(path_of(run, "picture"), params={"at": written - 1})
        after = await site.get(path_of(run, "picture"), params={"at": written})
        assert (before["ctx"], after["ctx"]) == ({}, {"tried": 1})

    play(tmp_path, act)


@pytest.mark.parametrize(("said", "status"), [("0", 400), ("x", 400), ("-1", 400), ("999", 404)])
def test_an_event_that_cannot_be_is_refused(tmp_path: Path, said: str, status: int) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        await site.ended(run)
        problem = await site.get(path_of(run, "picture"), status, params={"at": said})
        assert "15 events" in problem["detail"] or status == 400

    play(tmp_path, act)


@pytest.mark.parametrize(
    "rest", ["picture", "attempts", "attempts/5", "explanation", "document", "scenario"]
)
def test_a_run_that_is_not_there_has_no_page(tmp_path: Path, rest: str) -> None:
    async def act(site: Site) -> None:
        await site.get(path_of("12", rest), 404)

    play(tmp_path, act)


def test_a_picture_names_the_newest_version_of_its_document(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        assert (await site.get(path_of(run, "picture")))["version"] is None
        for document in (CHAIN, CHAIN.replace("{x: 1}", "{x: 2}"), CHAIN):
            await site.post("/api/v1/programs", {"document": document}, 201)
        assert (await site.get(path_of(run, "picture")))["version"] == 3
        shown = await site.get(path_of(run, "document"))
        assert (shown["version"], shown["newest"], shown["document"]) == (3, 3, CHAIN)
        await site.post("/api/v1/programs", {"document": CHAIN.replace("{x: 1}", "{x: 9}")}, 201)
        shown = await site.get(path_of(run, "document"))
        assert (shown["version"], shown["newest"]) == (3, 4)

    play(tmp_path, act)


async def _waiting_child(site: Site, run: str) -> str:
    """The child of a run, once it waits; looked for whenever something has changed."""
    changed = asyncio.Event()
    stop = site.engine.database.notices.listen(lambda _: changed.set())
    try:
        while True:
            changed.clear()
            for child in (await site.get("/api/v1/runs", params={"parent": run}))["runs"]:
                if child["status"] == "waiting":
                    return str(child["run"])
            await changed.wait()
    finally:
        stop()


def test_a_parent_shows_its_child_and_what_the_child_asks(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": ASKS}, 201)
        run = await site.started(PARENT)
        asked = await _waiting_child(site, run)
        picture = await site.get(path_of(run, "picture"))
        [child] = picture["children"]
        assert (child["run"], child["step"], child["status"]) == (asked, "ship", "waiting")
        assert [one["run"] for one in picture["questions"]] == [asked]
        assert picture["state"] == "parked"
        own = await site.get(path_of(asked, "picture"))
        assert (own["parent"], own["parent_step"]) == (run, "ship")
        first = await site.get(path_of(run, "picture"), params={"at": 1})
        assert first["questions"] == []

    play(tmp_path, act)


def test_a_signal_that_is_waited_for_is_in_the_picture(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        await site.reached(run, "waiting")
        picture = await site.get(path_of(run, "picture"))
        assert [one["signal"] for one in picture["signals"]] == ["paid"]
        assert picture["state"] == "signal"

    play(tmp_path, act)


def test_many_look_at_one_run_at_once(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        paths = [path_of(run, "picture"), f"{path_of(run, 'picture')}?at=4"] * 8
        paths += [f"{path_of(run, 'picture')}?at={seq}" for seq in range(1, 12)]
        found = await asyncio.gather(*(site.get(path) for path in paths))
        assert {one["at"] for one in found[:16:2]} == {found[0]["events"]}
        assert {one["at"] for one in found[1:16:2]} == {4}
        assert [one["at"] for one in found[16:]] == list(range(1, 12))

    play(tmp_path, act)


def test_postgresql_shows_the_same(tmp_path: Path, database: Database) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        picture = await site.get(path_of(run, "picture"))
        assert (picture["state"], picture["failed_step"]) == ("failed", "fetch")
        past = await site.get(path_of(run, "picture"), params={"at": 5})
        assert past["waits"][0]["doing"] == "working"
        assert len((await site.get(path_of(run, "attempts")))["attempts"]) == 3

    url = f"postgresql:///?{urlencode(conninfo_to_dict(database.dsn))}"
    play(tmp_path, act, url=url)


# --- traces --------------------------------------------------------------------------------------


def test_few_traces_are_kept_and_the_newest_always(tmp_path: Path, monkeypatch) -> None:
    async def act(site: Site) -> None:
        runs = [await site.started(CHAIN) for _ in range(3)]
        for run in runs:
            await site.ended(run)
        monkeypatch.setattr(traces, "TRACED_EVENTS_MAX", 30)
        for run in runs:
            await site.get(path_of(run, "picture"))
        kept = site.service.traces._kept
        assert list(kept) == [(int(run), False) for run in runs[1:]]
        monkeypatch.setattr(traces, "TRACED_EVENTS_MAX", 1)
        await site.get(path_of(runs[0], "picture"))
        assert list(kept) == [(int(runs[0]), False)]

    play(tmp_path, act)


def test_a_trace_that_was_left_halfway_is_not_used_again(tmp_path: Path, monkeypatch) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        await site.ended(run)
        feed = Trace.feed

        def broken(self: Trace, events) -> None:
            feed(self, events[:3])
            raise RuntimeError("in the middle")

        with monkeypatch.context() as patched:
            patched.setattr(Trace, "feed", broken)
            await site.get(path_of(run, "picture"), 500)
        assert site.service.traces._kept == {}
        assert (await site.get(path_of(run, "picture")))["at"] == 15

    play(tmp_path, act)


def test_whoever_waits_for_a_trace_that_broke_makes_a_new_one(tmp_path: Path, monkeypatch) -> None:
    """The first to ask is cancelled while it reads; the second had the same trace in view."""

    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        await site.ended(run)
        row = await site.engine.database.archive.run(int(run))
        assert row is not None
        kept: Traces = site.service.traces
        reads, go_on = asyncio.Event(), asyncio.Event()
        given: list[Trace] = []
        catch_up = Traces._feed_page

        async def slow(self: Traces, trace: Trace, *rest) -> bool:
            given.append(trace)
            reads.set()
            await go_on.wait()
            return await catch_up(self, trace, *rest)

        async def look() -> int:
            async with kept.following(row, None) as trace:
                return trace.version

        monkeypatch.setattr(Traces, "_feed_page", slow)
        first = asyncio.create_task(look())
        await reads.wait()
        second = asyncio.create_task(look())
        await asyncio.sleep(0)
        first.cancel()
        go_on.set()
        assert await second == 15
        assert given[0] not in given[1:]
        assert first.cancelled() or isinstance(first.exception(), asyncio.CancelledError)

    play(tmp_path, act)


# --- attempts ------------------------------------------------------------------------------------


def test_an_attempt_tells_who_did_not_wait_for_the_next(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(PATIENT)
        async for event in site.stream(run):
            if event["name"] == "task.retry_scheduled":
                break
        await site.post(f"/api/v1/runs/{run}/skip", {"by": "ann"})
        [first, *_] = (await site.get(path_of(run, "attempts")))["attempts"]
        assert first["skipped"]["by"] == "ann"
        assert 3_000 < first["skipped"]["early_seconds"] <= 3_600
        whole = await site.get(path_of(run, "attempts", str(first["seq"])))
        assert whole["skipped"] == first["skipped"]

    play(tmp_path, act)


def test_attempts_come_in_pages_and_can_be_filtered(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        whole = await site.get(path_of(run, "attempts"))
        assert [row["attempt"] for row in whole["attempts"]] == [1, 2, 3]
        assert whole["next"] is None
        page = await site.get(path_of(run, "attempts"), params={"limit": 2})
        rest = await site.get(path_of(run, "attempts"), params={"after": page["next"]})
        assert page["attempts"] + rest["attempts"] == whole["attempts"]
        for asked, many in (
            ({"status": "ok"}, 0),
            ({"status": ["ok", "error"]}, 3),
            ({"step": "fetch", "task": "page"}, 3),
            ({"step": "nix"}, 0),
        ):
            found = await site.get(path_of(run, "attempts"), params=asked)
            assert len(found["attempts"]) == many, asked
        told = await site.get(path_of(run, "attempts"), 400, params={"status": "odd"})
        assert told["detail"].endswith("choose from ok, error, working, lost, cancelled")

    play(tmp_path, act)


def test_one_attempt_has_its_data_and_the_key_its_tool_was_given(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        rows = (await site.get(path_of(run, "attempts")))["attempts"]
        whole = await site.get(path_of(run, "attempts", str(rows[1]["seq"])))
        assert whole | rows[1] == whole
        assert whole["inputs"]["command"].startswith("echo")
        assert whole["result"]["stdout"] == f"{rows[1]['idempotency_key']}\n"
        assert whole["helpers"] == {"shell": {"exit_code": 3}}
        assert whole["patches"] == {"ctx": {"tried": 1}}
        assert rows[1]["delay"]["delay_seconds"] == 0.01
        await site.get(path_of(run, "attempts", "1"), 404)
        await site.get(path_of(run, "attempts", "x"), 400)

    play(tmp_path, act)


# --- texts ---------------------------------------------------------------------------------------


def test_an_explanation_is_made_of_the_sentences_of_the_command(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        told = (await site.get(path_of(run, "explanation")))["paragraphs"]
        retried = next(row for row in told if row["head"].startswith("fetch.page, attempt 2"))
        assert "it allows 3 attempts, 1 was made" in retried["text"]
        assert retried["step"] == "fetch"
        of_step = (await site.get(path_of(run, "explanation"), params={"step": "fetch"}))[
            "paragraphs"
        ]
        assert 0 < len(of_step) <= len(told)
        problem = await site.get(path_of(run, "explanation"), 404, params={"step": "fetsch"})
        assert "Did you mean 'fetch'?" in problem["detail"]

    play(tmp_path, act)


def test_a_scenario_of_a_run_that_has_ended_can_be_had(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(TRIES)
        await site.ended(run)
        answer = await site.client.get(path_of(run, "scenario"))
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/yaml; charset=utf-8"
        scenario = yaml.safe_load(answer.text)
        assert scenario["expect"]["attempts"] == {"page": 3}
        open_run = await site.started(SLEEPS)
        problem = await site.get(path_of(open_run, "scenario"), 409)
        assert "has not ended" in problem["detail"]

    play(tmp_path, act)
