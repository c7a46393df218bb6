"""What a worker sends is looked at before it is kept: no log, no list and no program breaks."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from anew.engine.boundaries import ORDERED
from anew.engine.events import EVENTS
from anew.store import Lease, LeaseResult, PackedCommit, RunId, StoredProgram
from anew.stores.remote import wire
from tests.abuse.commits import (
    WRONG,
    beginning,
    right,
    under_way,
    unleased,
    unreadable,
    wrong_beginnings,
)
from tests.abuse.one_server import Target, one_server
from tests.surfaces.api.served import CHAIN, GRAPH

PROTOCOL = {wire.PROTOCOL_HEADER: str(wire.PROTOCOL)}
NOW = 1_700_000_000_000_000_000
ORDERS = sorted(kind.name for kind in ORDERED)
OUTCOMES = sorted(set(EVENTS) - set(ORDERS))


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with one_server(tmp_path_factory.mktemp("server"), works=False) as target:
        yield target


@pytest.fixture(scope="module")
def lease(target: Target) -> Lease:
    """That of the first job of a run, which no wrong commit may change."""
    run = target.client.post("/api/v1/runs", json={"document": CHAIN}).json()["run"]
    return leased(target, run)


def leased(target: Target, run: str) -> Lease:
    until = NOW * 2
    asked = wire.LeaseRequest(until, until, 1, f"ticket {run}", runs=[RunId(int(run))])
    answer = told(target, "store.lease", asked)
    batch = msgspec.msgpack.decode(answer.content, type=LeaseResult)
    return batch.leases[0]


def told(target: Target, operation: str, asked: object) -> Any:
    body = msgspec.msgpack.encode(asked)
    return target.client.post(f"{wire.PATH}{operation}", content=body, headers=PROTOCOL)


def committed(target: Target, commit: PackedCommit) -> int:
    return int(told(target, "store.commit", [commit]).status_code)


def is_untouched(target: Target, lease: Lease) -> bool:
    shown = target.client.get(f"/api/v1/runs/{lease.job.run}").json()
    listed = target.client.get("/api/v1/runs").json()["runs"]
    statuses = {row["status"] for row in listed if row["run"] == str(lease.job.run)}
    jobs = target.do(target.site.engine.database.archive.jobs(lease.job.run))
    held = [(job.job, job.token) for job in jobs] == [(lease.job, lease.token)]
    return (shown["events"], shown["status"], statuses, held) == (3, "running", {"running"}, True)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_commit_is_refused_and_changes_nothing(
    target: Target, lease: Lease, name: str
) -> None:
    assert committed(target, WRONG[name](right(lease, NOW))) in (400, 409)
    assert is_untouched(target, lease)


@pytest.mark.parametrize("name", OUTCOMES)
def test_nobody_without_a_lease_says_what_became_of_a_run(
    target: Target, lease: Lease, name: str
) -> None:
    assert committed(target, unleased(name)(right(lease, NOW))) == 400
    assert is_untouched(target, lease)


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_no_event_is_kept_that_cannot_be_read(target: Target, lease: Lease, name: str) -> None:
    assert committed(target, unreadable(name)(right(lease, NOW))) == 400
    assert is_untouched(target, lease)


@pytest.mark.parametrize("name", [name for name, _ in wrong_beginnings(NOW)])
def test_no_run_begins_with_a_lie(target: Target, name: str) -> None:
    commit = dict(wrong_beginnings(NOW))[name]
    assert committed(target, commit) == 400
    assert target.client.get("/api/v1/runs/4000").status_code == 404
    run = RunId(min(commit.run, wire.NUMBER_MAX))
    assert target.do(target.site.engine.database.archive.run(run)) is None
    assert target.client.get("/api/v1/runs").status_code == 200


def test_a_run_begins_with_what_is_true(target: Target) -> None:
    """What is refused above is not refused because everything is."""
    assert committed(target, under_way(RunId(6_000), NOW)) == 200
    assert target.client.get("/api/v1/runs/6000").json()["events"] == 3
    jobs = target.do(target.site.engine.database.archive.jobs(RunId(6_000)))
    assert [job.job.key.step for job in jobs] == ["first"]


def test_one_bad_commit_does_not_spoil_those_beside_it(target: Target, lease: Lease) -> None:
    bad, good = WRONG["no JSON"](right(lease, NOW)), beginning(RunId(5_000), NOW)
    answer = told(target, "store.commit", [bad, good])
    refusal, done = msgspec.msgpack.decode(answer.content, type=wire.COMMIT_ANSWERS)
    assert isinstance(refusal, wire.ErrorReply)
    assert "event 5" in refusal.message
    assert done is None
    assert target.client.get("/api/v1/runs/5000").json()["events"] == 1
    assert is_untouched(target, lease)


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_needs_no_lease(target: Target, name: str) -> None:
    """What is refused above is not refused because everything is."""
    run = target.client.post("/api/v1/runs", json={"document": CHAIN}).json()["run"]
    commit = unleased(name)(right(leased(target, run), NOW))
    if name == "run.cancelled":
        commit = msgspec.structs.replace(commit, status="cancelled")
    assert committed(target, commit) == 200


def test_a_right_commit_is_kept(target: Target) -> None:
    run = target.client.post("/api/v1/runs", json={"document": CHAIN}).json()["run"]
    assert committed(target, right(leased(target, run), NOW)) == 200
    assert target.client.get(f"/api/v1/runs/{run}").json()["events"] == 5


# --- programs ------------------------------------------------------------------------------------


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


OTHERS = {
    "that of another document": digest("another"),
    "that of the document with one space more": digest(CHAIN + " "),
    "that of nothing": digest(""),
    "its own in capitals": digest(CHAIN).upper(),
    "its own with a name before it": f"sha256:{digest(CHAIN)}",
    "half of its own": digest(CHAIN)[:32],
    "no digest": "",
    "a NUL": "\0",
    "a long one": "a" * 100_000,
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("operation", ["catalog.keep", "catalog.register"])
def test_a_program_has_its_own_digest(target: Target, operation: str, name: str) -> None:
    program = StoredProgram(OTHERS[name], "stolen", 0, CHAIN, "flow.yaml", NOW)
    assert told(target, operation, program).status_code == 400
    assert told(target, "catalog.get", wire.TextRequest(OTHERS[name])).content == b"\xc0"
    assert target.client.get("/api/v1/programs/stolen").status_code == 404


@pytest.mark.parametrize(
    "changes",
    [
        {"dialect": "spec"},
        {"dialect": "docs"},
        {"files": {"style.css": "* { model: m }"}},
        {"source": f"{GRAPH}\n"},
    ],
)
def test_a_graph_has_the_digest_of_all_it_is_made_of(target: Target, changes: Any) -> None:
    graph = StoredProgram(digest(GRAPH), "tiny", 0, GRAPH, "tiny.dot", NOW)
    assert told(target, "catalog.keep", graph).status_code == 200
    changed = msgspec.structs.replace(graph, **changes)
    assert told(target, "catalog.keep", changed).status_code == 400


def test_a_worker_does_not_say_by_which_path_a_program_is_found(target: Target) -> None:
    text = f"{CHAIN}# mine\n"
    program = StoredProgram(digest(text), "mine", 0, text, "f.yaml", NOW, path="of/others")
    assert told(target, "catalog.register", program).status_code == 200
    entries = target.client.post("/api/catalog/list").json()["entries"]
    assert "of/others" not in {entry["path"] for entry in entries}


def test_a_program_under_its_own_digest_is_kept(target: Target) -> None:
    program = StoredProgram(digest(CHAIN), "chain", 0, CHAIN, "flow.yaml", NOW)
    assert told(target, "catalog.register", program).status_code == 200
    assert target.client.get("/api/v1/programs/chain").status_code == 200
