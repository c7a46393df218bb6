"""Values that runs keep by name: shared with forks, kept once, and never with a secret in them."""

from __future__ import annotations

import json

import pytest

from anew.engine.events import TaskProcessed
from anew.runtime.forks import ForkPoint, ForkRequest
from anew.runtime.shared_artifacts import SharedArtifacts
from anew.store import KeyTaken, RunId
from anew.store.artifacts import owner_of_program, owner_of_run
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from tests.runtime.test_control import _gate_is_a_kind, in_a_world  # noqa: F401

KEPT = """
metadata: {name: kept}
workflow:
  - step: keep
    tool:
      - one: {kind: artifact, action: put, name: x, value: {n: 1}}
      - two: {kind: artifact, action: put, name: x, value: {n: "{{ workload.n }}"}}
    next: [{step: read}]
  - step: read
    tool: {kind: artifact, action: get, name: x}
    next: [{step: more}]
  - step: more
    tool: {kind: artifact, action: put, name: x, value: 3}
    next: [{step: last}]
  - step: last
    tool: {kind: artifact, action: get, name: x, version: 2}
"""
RETRIED = """
metadata: {name: retried}
workflow:
  - step: keep
    loop: {in: [a, b], iterator: word, spec: {mode: parallel}}
    tool:
      - put:
          kind: artifact
          action: put
          name: "of {{ iter.word }}"
          value: "{{ _attempt }}"
          spec:
            policy:
              rules:
                - {when: "{{ outcome.artifact.version != 1 }}", then: {do: fail}}
                - {when: "{{ _attempt < 3 }}", then: {do: retry, attempts: 3, delay: 0}}
                - {else: {then: {do: continue}}}
    next: [{step: read}]
  - step: read
    tool: {kind: artifact, action: get, name: of b}
"""
SECRET = """
metadata: {name: secretive}
keychain: [{name: gh, provider: file, path: gh.json}]
workflow:
  - step: keep
    tool: {kind: artifact, action: put, name: x, scope: program,
           value: {token: "{{ keychain.gh.token }}", text: "with {{ keychain.gh.token }}"}}
    next: [{step: read}]
  - step: read
    tool: {kind: artifact, action: get, name: x, scope: program}
    next: [{step: use}]
  - step: use
    tool: {kind: noop, result: "{{ read.token == keychain.gh.token and read.text == 'with ' ~ keychain.gh.token }}"}
"""
TWICE = """
metadata: {name: twice}
workflow:
  - step: keep
    tool:
      - one:
          kind: artifact
          action: put
          name: x
          value: "{{ _attempt }}"
          spec:
            policy:
              rules:
                - {when: "{{ _attempt < 2 }}", then: {do: retry, attempts: 2, delay: 0}}
                - {else: {then: {do: continue}}}
      - two: {kind: artifact, action: put, name: x, value: second}
      - read: {kind: artifact, action: get, name: x, value: null}
    next: [{step: last}]
  - step: last
    tool:
      - first: {kind: artifact, action: get, name: x, version: 1}
      - newest: {kind: artifact, action: get, name: x}
      - told: {kind: noop, result: ["{{ first }}", "{{ newest }}"]}
      - more: {kind: artifact, action: put, name: x, value: third}
      - bad: {kind: python, code: "raise ValueError('x')"}
"""
TOKEN = "a-rather-secret-token"


class ProcessDied(Exception):
    pass


def test_a_fork_has_what_the_shared_part_of_its_log_kept_and_nothing_else(tmp_path) -> None:
    async def work(world) -> None:
        run = await world.start(KEPT, {"n": 2})
        assert (await world.ended(run)).last_result == {"n": 2}
        before = ForkPoint(step="more")
        forked = await world.engine.fork(ForkRequest(run, before))
        await world.engine.removal.drop(run)
        state = await world.ended(forked.run)
        assert state.results["more"].result["version"] == 3
        assert state.last_result == {"n": 2}
        again = await world.engine.fork(ForkRequest(forked.run, ForkPoint(step="read")))
        assert (await world.ended(again.run)).results["more"].result["version"] == 3
        await world.log(again.run)

    in_a_world(work, tmp_path)


def _database(kind, folder):
    return MemoryDatabase() if kind == "memory" else SqliteDatabase.open(folder / "anew.db")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_retry_has_every_version_that_was_kept_before(tmp_path, kind) -> None:
    async def work(world) -> None:
        run = await world.start(TWICE)
        await world.ended(run)
        for _ in range(2):
            run = (await world.engine.retry(run, "last")).run
            await world.ended(run)
            results = {
                event.task: event.outcome.result
                for event in await world.log(run)
                if isinstance(event, TaskProcessed) and event.step == "last"
            }
            assert results["told"] == [2, "second"]
            assert results["more"]["version"] == 3

    in_a_world(work, tmp_path, database=_database(kind, tmp_path))


def test_nothing_is_kept_for_a_fork_that_is_not_made(tmp_path, monkeypatch) -> None:
    async def work(world) -> None:
        run = await world.start(TWICE)
        await world.ended(run)

        async def refuse(live, turn) -> None:
            raise KeyTaken(run)

        monkeypatch.setattr(world.engine.ledger, "begin", refuse)
        assert not (await world.engine.fork(ForkRequest(run, ForkPoint(step="last")))).is_new
        assert {owner for owner, _ in world.database.artifacts._kept} == {owner_of_run(run)}

    in_a_world(work, tmp_path)


def test_what_a_process_that_died_has_not_shared_the_next_one_does(tmp_path, monkeypatch) -> None:
    async def work(world) -> None:
        run = await world.start(TWICE)
        await world.ended(run)
        artifacts, shared = MemoryDatabase().artifacts, []
        put = artifacts.put

        async def die(artifact) -> int:
            if artifact.key.startswith("shared:"):
                shared.append(artifact.version)
            if len(shared) == 2:
                raise ProcessDied
            return await put(artifact)

        live = await world.engine.ledger.live.apart(run)
        live.state.shared_until = live.state.version
        with monkeypatch.context() as patched:
            patched.setattr(artifacts, "put", die)
            with pytest.raises(ProcessDied):
                await SharedArtifacts(world.database.archive, artifacts).keep(live)
        assert shared == [1, 2]
        await SharedArtifacts(world.database.archive, artifacts).keep(live)
        found = [await artifacts.get(owner_of_run(run), "x", number) for number in (1, 2, 3)]
        assert [one.data for one in found] == [b"2", b'"second"', b'"third"']

    in_a_world(work, tmp_path)


def test_attempts_of_one_visit_keep_one_version_and_what_the_last_gave(tmp_path) -> None:
    async def work(world) -> None:
        run = await world.start(RETRIED)
        assert (await world.ended(run)).last_result == 3

    in_a_world(work, tmp_path)


def test_a_secret_is_kept_as_a_reference(tmp_path) -> None:
    (tmp_path / "gh.json").write_text(json.dumps({"type": "bearer", "data": {"token": TOKEN}}))

    async def work(world) -> None:
        run = await world.start(SECRET)
        assert (await world.ended(run)).last_result is True
        stored = await world.database.artifacts.get(owner_of_program("secretive"), "x")
        assert TOKEN.encode() not in stored.data
        assert b"$secret" in stored.data

    in_a_world(work, tmp_path)


@pytest.mark.parametrize(
    ("tool", "kind", "words"),
    [
        ("action: get, name: none", "reference", "has no artifact 'none'"),
        ("action: get, name: none, version: 4, scope: program", "reference", "'none' version 4"),
        ("action: '{{ workload.do }}', name: x", "config", "action must be put or get"),
    ],
)
def test_what_is_not_there_and_what_is_not_meant_are_errors(tmp_path, tool, kind, words) -> None:
    text = f"metadata: {{name: wrong}}\nworkflow:\n- step: a\n  tool: {{kind: artifact, {tool}}}\n"

    async def work(world) -> None:
        run = await world.start(text, {"do": "burn"})
        await world.ended(run)
        error = (await world.database.archive.run(run)).error
        assert error["kind"] == kind
        assert words in error["message"]

    in_a_world(work, tmp_path)


def test_what_a_program_kept_outlives_its_run(tmp_path) -> None:
    put = "metadata: {name: p}\nworkflow:\n- step: a\n  tool: {kind: artifact, action: put, name: x, scope: program, value: 7}\n"
    get = put.replace("action: put", "action: get").replace(", value: 7", "")

    async def work(world) -> None:
        for _ in range(2):
            run = await world.start(put)
            await world.ended(run)
            await world.engine.removal.drop(run)
        assert (await world.ended(await world.start(get))).last_result == 7
        assert await world.database.artifacts.get(owner_of_program("p"), "x", 1) is None
        assert await world.database.artifacts.get(owner_of_run(RunId(1)), "x") is None

    in_a_world(work, tmp_path)
