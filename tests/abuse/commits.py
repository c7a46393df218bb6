"""Commits as a worker sends them, right ones and wrong ones, in the words of the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.moments import LAST_MOMENT
from anew.engine.state import RunState, RunStatus, StepRunKey
from anew.store import (
    Blob,
    JobRef,
    Lease,
    NewJob,
    NewRun,
    PackedCommit,
    Park,
    RunId,
    Snapshot,
    StoredEvent,
    WaitReason,
)
from anew.stores.codec import encode_snapshot, snapshot_format

Change: TypeAlias = Callable[[PackedCommit], PackedCommit]
DEEP_WITHIN = '{"step":"first","visit":1,"task_visit":1,"inputs":' + "[" * 300 + "]" * 300 + "}"
DEEP_BEYOND = "[" * 60_000
LAST = 5  # the number of the last event of the right commit
FUTURE = 2**62


def right(lease: Lease, at: int) -> PackedCommit:
    """What a worker says that begins the first task of a run, and goes on with it."""
    started = '{"step":"first","visit":1}'
    task = '{"step":"first","visit":1,"task":"first","attempt":1,"task_visit":1,"inputs":{}}'
    rows = [StoredEvent(4, at, "step.started", started), StoredEvent(5, at, "task.started", task)]
    return PackedCommit(
        lease.job.run, 3, at, rows, RunStatus.RUNNING, lease=lease, keeps_lease=True
    )


def beginning(run: RunId, at: int, *, of: str | None = None, digest: str = "d") -> PackedCommit:
    """The first commit of a run; its request may be `of` another."""
    said = {"run": of or str(run), "program": "p", "digest": digest, "workload": {}}
    row = StoredEvent(1, at, "run.requested", msgspec.json.encode(said).decode())
    return PackedCommit(run, 0, at, [row], RunStatus.QUEUED, new=NewRun("p", "d"))


def _last(**changes: Any) -> Change:
    def change(commit: PackedCommit) -> PackedCommit:
        return replace(commit, rows=[*commit.rows[:-1], replace(commit.rows[-1], **changes)])

    return change


def _whole(**changes: Any) -> Change:
    return lambda commit: replace(commit, **changes)


def _apart(blob: Blob, *, path: list[str], checksum: str | None = None) -> Change:
    said = msgspec.json.encode([[path, checksum or blob.checksum]]).decode()

    def change(commit: PackedCommit) -> PackedCommit:
        return replace(_last(replaced=said)(commit), blobs=[blob])

    return change


def _blob(data: bytes) -> Blob:
    return Blob(sha256(data).hexdigest(), data)


def _rows(*names: str) -> Change:
    """Other events in the place of the right ones, with nothing in them."""

    def change(commit: PackedCommit) -> PackedCommit:
        rows = [StoredEvent(4 + n, commit.at, name, DATA[name]) for n, name in enumerate(names)]
        return replace(commit, rows=rows)

    return change


def _then(*changes: Change) -> Change:
    def change(commit: PackedCommit) -> PackedCommit:
        for one in changes:
            commit = one(commit)
        return commit

    return change


def _other_lease(**changes: Any) -> Change:
    def change(commit: PackedCommit) -> PackedCommit:
        assert commit.lease is not None
        return replace(commit, lease=replace(commit.lease, **changes))

    return change


def _job(step: str, run: int | None = None) -> Change:
    def change(commit: PackedCommit) -> PackedCommit:
        job = JobRef(RunId(run or commit.run), StepRunKey(step, 1))
        return _other_lease(job=job)(commit)

    return change


ENDED = {
    "run.done": RunStatus.DONE,
    "run.failed": RunStatus.FAILED,
    "run.cancelled": RunStatus.CANCELLED,
}
_NO_LEASE = _whole(lease=None, keeps_lease=False)
_OUTCOME = '{"status":"ok","result":1}'
# The least that each event can say.
DATA: dict[str, str] = dict.fromkeys(e.EVENTS, '{"step":"first","visit":1}') | {
    "run.requested": '{"run":"1","program":"p","digest":"d","workload":{}}',
    "run.started": '{"entry":"first"}',
    "run.failed": '{"error":{"kind":"x","message":"y"}}',
    "run.compensating": '{"count":1}',
    "step.scheduled": '{"tokens":[1],"args":{}}',
    "step.refused": '{"token":1}',
    "step.failed": '{"error":{},"handled":false}',
    "step.skipped": '{"reason":"x"}',
    "step.redelivered": '{"delivery":2}',
    "task.started": '{"task_visit":1}',
    "task.held": '{"guard":"rate","dependency":"api","reason":"x","scope":"api"}',
    "task.processed": f'{{"outcome":{_OUTCOME},"directive":"continue"}}',
    "task.retry_scheduled": (
        '{"rule":1,"backoff":"none","base_seconds":1,"jitter":"none","draw":null,'
        '"cap_seconds":null,"retry_after_seconds":null,"spread_seconds":0,"delay_seconds":1,'
        '"not_before":1,"attempts":2}'
    ),
    "task.retry_exhausted": '{"rule":1,"attempts":2,"reason":"x","directive":"fail"}',
    "loop.started": '{"items":[],"iterator":"i","mode":"sequential","max_in_flight":1}',
    "loop.iteration.failed": '{"error":{}}',
    "loop.done": '{"total":1,"done":1,"failed":0}',
    "next.evaluated": '{"event":"step.done","mode":"exclusive","arcs":[],"tokens":[]}',
    "gate.checked": '{"tokens":[1],"allow":true}',
    "branch.forked": '{"tokens":[1]}',
    "branch.joined": '{"tokens":[1]}',
    "human.waiting": '{"question":"?"}',
    "human.answered": '{"answer":"y"}',
    "human.timed_out": '{"action":"fail"}',
    "signal.waiting": '{"signal":"s"}',
    "signal.received": '{"signal":"s"}',
    "signal.timed_out": '{"signal":"s"}',
    "wait.skipped": '{"waited_for":"retry"}',
}

WRONG: dict[str, Change] = {
    "an event nobody knows": _last(name="task.vanished"),
    "an event without a name": _last(name=""),
    "a name with a NUL": _last(name="task.started\0"),
    "a name in capitals": _last(name="Task.Started"),
    "no JSON": _last(data="{"),
    "no data": _last(data=""),
    "a list": _last(data="[]"),
    "nothing": _last(data="null"),
    "a number": _last(data="1"),
    "a text": _last(data='"x"'),
    "two objects": _last(data="{}{}"),
    "half of a pair": _last(data='{"task":"\\ud800"}'),
    "not a number": _last(data='{"visit":NaN}'),
    "a number past all bounds": _last(data='{"task_visit":1e999}'),
    "a word for a number": _last(data='{"task_visit":"one"}'),
    "a field that is missing": _last(data='{"step":"first"}'),
    "values too deep": _last(data=DEEP_WITHIN),
    "brackets without end": _last(data=DEEP_BEYOND),
    "values apart that are no JSON": _last(replaced="{"),
    "values apart that are a number": _last(replaced="1"),
    "values apart too deep": _last(replaced=DEEP_BEYOND),
    "a value apart that is missing": _last(replaced='[[["inputs"],"abc"]]'),
    "a value apart with no path": _apart(_blob(b"1"), path=[]),
    "a value apart in a place that is none": _apart(_blob(b"1"), path=["a", "b"]),
    "a value apart that is not valid JSON": _apart(_blob(b"{"), path=["inputs"]),
    "a value apart that is not text": _apart(_blob(b"\xff\xfe"), path=["inputs"]),
    "a value apart too deep": _apart(_blob(b"[" * 300 + b"]" * 300), path=["inputs"]),
    "a value apart that was changed": _apart(
        Blob(_blob(b"1").checksum, b"2"), path=["inputs"], checksum=_blob(b"1").checksum
    ),
    "a gap": _last(seq=6),
    "the same number twice": _last(seq=4),
    "numbers that go back": _last(seq=3),
    "the number 0": _last(seq=0),
    "a number below 0": _last(seq=-1),
    "events from the start": _whole(expected=0),
    "events from long before": _whole(expected=-5),
    "events from far ahead": _then(
        _whole(expected=FUTURE), _last(seq=FUTURE + 2), lambda one: replace(one, rows=one.rows[1:])
    ),
    "a visit below 1": _last(data='{"step":"first","visit":0,"task_visit":1}'),
    "a visit past all bounds": _last(data=f'{{"step":"first","visit":{2**63},"task_visit":1}}'),
    "an iteration below 0": _last(data='{"step":"first","iteration":-1,"task_visit":1}'),
    "an attempt below 0": _last(data='{"step":"first","attempt":-1,"task_visit":1}'),
    "an attempt past all bounds": _last(data='{"attempt":4294967296,"task_visit":1}'),
    "a job of a visit below 1": _whole(jobs=[NewJob(StepRunKey("first", -1))]),
    "a job of an attempt past all bounds": _whole(
        jobs=[NewJob(StepRunKey("a", 1), attempt=2**63 - 1)]
    ),
    "a job due before all": _whole(jobs=[NewJob(StepRunKey("a", 1), due_at=-1)]),
    "a call aside until after all": _whole(park=Park(2**63 - 1, WaitReason.CHILD)),
    "a call aside at an attempt below 0": _whole(park=Park(None, WaitReason.CHILD, -1)),
    "a moment before all": _last(at=-1),
    "a moment after all": _last(at=LAST_MOMENT + 1),
    "a commit before all": _whole(at=-1),
    "a commit after all": _whole(at=LAST_MOMENT + 1),
    "an end after all": _whole(ended_at=LAST_MOMENT + 1),
    "no lease": _NO_LEASE,
    "no lease and no events": _then(_NO_LEASE, _whole(rows=[])),
    "no lease and only jobs": _then(
        _NO_LEASE, _whole(rows=[], jobs=[NewJob(StepRunKey("second", 1), due_at=0)])
    ),
    "no lease and jobs that go": _then(_NO_LEASE, _whole(rows=[], drops=[StepRunKey("first", 1)])),
    "no lease and a call aside": _then(_NO_LEASE, _whole(park=Park(None, WaitReason.CHILD))),
    "an older lease": _other_lease(token=0),
    "a lease to come": _other_lease(token=99),
    "a lease of a job that is not there": _job("second"),
    "a lease of another run": _job("first", run=1),
    "an outcome behind an order": _then(_NO_LEASE, _rows("run.paused", "task.processed")),
    "an end behind an order": _then(
        _NO_LEASE, _rows("run.paused", "step.done", "run.done"), _whole(status=RunStatus.DONE)
    ),
    "a job that is taken with an order": _then(
        _NO_LEASE,
        _rows("run.paused"),
        _whole(jobs=[NewJob(StepRunKey("first", 1), taken_until=FUTURE)]),
    ),
    "a second start": _rows("run.requested"),
    "a second start behind others": _rows("step.started", "run.requested"),
    "a head that has ended": _whole(status=RunStatus.DONE, ended_at=1),
    "a head that has failed": _whole(status=RunStatus.FAILED, ended_at=1),
    "a head that was cancelled": _whole(status=RunStatus.CANCELLED, ended_at=1),
    "an end that the head does not know": _rows("run.done"),
    "events after the end": _then(_rows("run.done", "step.done"), _whole(status=RunStatus.DONE)),
    "two ends": _then(_rows("run.done", "run.failed"), _whole(status=RunStatus.FAILED)),
    "the jobs of a run that continues": _whole(drop_all=True),
    "an error that is not valid JSON": _whole(error="{"),
    "an error that is a list": _whole(error="[]"),
    "an error that is a text": _whole(error='"x"'),
    "an error too deep": _whole(error='{"x":' + "[" * 300 + "]" * 300 + "}"),
    "an error without end": _whole(error=DEEP_BEYOND),
    "a snapshot of another version": _whole(
        snapshot=Snapshot(4, snapshot_format(), encode_snapshot(RunState(version=4)))
    ),
    "a snapshot of no version": _whole(
        snapshot=Snapshot(LAST, snapshot_format(), encode_snapshot(RunState()))
    ),
    "a snapshot of the future": _whole(
        snapshot=Snapshot(FUTURE, snapshot_format(), encode_snapshot(RunState(version=FUTURE)))
    ),
    "a snapshot that cannot be read": _whole(snapshot=Snapshot(LAST, snapshot_format(), b"\xc1")),
    "a snapshot that is empty": _whole(snapshot=Snapshot(LAST, snapshot_format(), b"")),
}


def unleased(name: str) -> Change:
    """One event of this name, from someone who holds no lease."""
    status = {"run.done": RunStatus.DONE, "run.failed": RunStatus.FAILED}
    return _then(_NO_LEASE, _rows(name), _whole(status=status.get(name, RunStatus.RUNNING)))


def unreadable(name: str) -> Change:
    """An event of this name, of which nobody can read what it says."""
    return _last(name=name, data='{"step":1}')


def under_way(run: RunId, at: int, *, visit: int = 1) -> PackedCommit:
    """The first commit of a run that hands out its first step."""
    rows = [
        *beginning(run, at).rows,
        StoredEvent(2, at, "run.started", '{"entry":"first"}'),
        StoredEvent(
            3, at, "step.scheduled", f'{{"step":"first","visit":{visit},"tokens":[1],"args":{{}}}}'
        ),
    ]
    jobs = [NewJob(StepRunKey("first", visit), due_at=at)]
    return PackedCommit(run, 0, at, rows, RunStatus.RUNNING, jobs=jobs, new=NewRun("p", "d"))


def wrong_beginnings(at: int) -> Iterator[tuple[str, PackedCommit]]:
    """First commits of runs that must not begin."""
    run = RunId(4_000)
    one = beginning(run, at)
    yield "the request of another run", beginning(run, at, of="7")
    yield "another program", beginning(run, at, digest="another")
    yield "no request", replace(one, rows=[replace(one.rows[0], name="run.done", data="{}")])
    yield "no JSON", replace(one, rows=[replace(one.rows[0], data="{")])
    yield "a request that comes second", replace(one, rows=[replace(one.rows[0], seq=2)])
    yield "an end that did not come", replace(one, status=RunStatus.DONE)
    yield "no start", replace(one, new=None)
    yield "an id past all bounds", replace(one, run=RunId(2**63))
    yield "no event", replace(one, rows=[])
    yield "no event and an end", replace(one, rows=[], status=RunStatus.DONE)
    yield "another status", replace(one, status=RunStatus.RUNNING)
    yield "a status of one that is paused", replace(one, status=RunStatus.PAUSED)
    late = StoredEvent(6, at, "run.paused", "{}")
    yield "a log from its middle on", replace(one, expected=5, rows=[late], status=RunStatus.PAUSED)
    yield "a log from the far end on", replace(one, expected=2**62, rows=[])
    yield "a log from before its first event", replace(one, expected=-1, rows=[])
    for name in sorted(set(e.EVENTS) - {"run.started", "run.cancelled"}):
        rows = [*one.rows, StoredEvent(2, at, name, DATA[name])]
        status = ENDED.get(name, RunStatus.QUEUED)
        yield f"{name} after the request", replace(one, rows=rows, status=status)
    yield from _wrong_jobs(run, at)
    yield from _wrong_names(run, at)


def _wrong_jobs(run: RunId, at: int) -> Iterator[tuple[str, PackedCommit]]:
    one, key = under_way(run, at), StepRunKey("first", 1)
    jobs = {
        "a step nobody knows": NewJob(StepRunKey("other", 1)),
        "a step without a name": NewJob(StepRunKey("", 1)),
        "a visit to come": NewJob(StepRunKey("first", 2)),
        "the visit 0": NewJob(StepRunKey("first", 0)),
        "a visit below 0": NewJob(StepRunKey("first", -1)),
        "the last visit of all": NewJob(StepRunKey("first", 2**63 - 1)),
        "an iteration below 0": NewJob(StepRunKey("first", 1, -1)),
        "an iteration past all bounds": NewJob(StepRunKey("first", 1, 2**63 - 1)),
        "an attempt past all bounds": NewJob(key, attempt=2**63 - 1),
        "an attempt below 0": NewJob(key, attempt=-1),
        "a due time before all": NewJob(key, due_at=-(2**63)),
        "a due time after all": NewJob(key, due_at=LAST_MOMENT + 1),
        "a lease before all": NewJob(key, taken_until=-1),
        "a lease after all": NewJob(key, taken_until=2**63 - 1),
        "a pool with a NUL": NewJob(key, pool="\0"),
    }
    for name, job in jobs.items():
        yield f"a job: {name}", replace(one, jobs=[job])
    hidden = NewJob(StepRunKey("other", 1))
    yield "a job nobody knows that goes at once", replace(one, jobs=[hidden], drops=[hidden.key])
    yield "a job before anything is under way", replace(beginning(run, at), jobs=one.jobs)
    lease = Lease(JobRef(run, key), 1, LAST_MOMENT)
    yield "a lease of its own", replace(one, lease=lease, keeps_lease=True)
    for visit in (0, -1, 2**31, 2**63 - 1):
        yield f"the visit {visit} by its events", under_way(run, at, visit=visit)


def _wrong_names(run: RunId, at: int) -> Iterator[tuple[str, PackedCommit]]:
    one, parent = beginning(run, at), StepRunKey("first", 1)
    said: dict[str, dict[str, Any]] = {
        "a program with a NUL": {"program": "p\0"},
        "a key with a NUL": {"key": "\0"},
        "a label with a NUL": {"labels": {"\0": ""}},
        "the value of a label with a NUL": {"labels": {"a": "b\0"}},
        "a depth below 0": {"depth": -1},
        "a depth past all bounds": {"depth": 2**63 - 1},
        "a depth past the limit": {"depth": 17},
        "a parent below 0": {"parent": JobRef(RunId(-1), parent)},
        "a parent that is no run": {"parent": JobRef(RunId(0), parent)},
        "the retry of a run below 0": {"retry_of": RunId(-(2**63))},
        "the retry of no run": {"retry_of": RunId(0)},
    }
    for name, changes in said.items():
        assert one.new is not None
        yield name, replace(one, new=replace(one.new, **changes))
    for number in (0, -1, -(2**63)):
        yield f"the id {number}", beginning(RunId(number), at)
