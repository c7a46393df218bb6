"""Values of any size: small ones in the log, large ones beside it, all read back as they were."""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.outcome import Outcome
from anew.program.policy import DirectiveKind, OutcomeStatus
from anew.program.program import LoopMode, RouteMode
from anew.store import NewRun
from anew.stores.codec import INLINE_BYTES_MAX
from anew.stores.contract.making import (
    NOW,
    RUN,
    Factory,
    first,
    follows,
    log_of,
    opened,
    processed,
    requested,
)

REFERENCE = {"$ref": {"ref": "blob:0", "size": 1, "checksum": "sha256:0"}}


async def case_values_around_the_boundary_are_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        await db.store.commit(first())
        sizes = range(INLINE_BYTES_MAX - 400, INLINE_BYTES_MAX + 10, 41)
        events = [processed(n, "x" * size) for n, size in enumerate(sizes, 2)]
        await db.store.commit(follows(1, *events))
        assert (await log_of(db))[1:] == events


async def case_large_values_of_every_event_are_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        large = {"rows": ["ä" * 100] * 1000}
        await db.store.commit(first())
        events: list[e.Event] = [
            processed(2, large, rows=large, small=1),
            e.TaskStarted(seq=3, at=NOW, task_visit=1, inputs=large),
            e.LoopStarted(
                seq=4, items=[large, 1], iterator="x", mode=LoopMode.PARALLEL, max_in_flight=2
            ),
            e.StepScheduled(seq=5, tokens=[1], args=large),
            e.RunDone(seq=6, result=large),
            e.StepFailed(seq=7, error=large, handled=False),
            e.NextEvaluated(seq=8, event="x", mode=RouteMode.INCLUSIVE, arcs=[large], tokens=[]),
        ]
        await db.store.commit(follows(1, *events))
        assert (await log_of(db))[1:] == events
        assert await db.archive.events(RUN, after=3, limit=1) == [events[2]]


async def case_a_value_of_megabytes_is_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        event = processed(2, {"data": "é" * 3_000_000}, more=list(range(100_000)))
        await db.store.commit(first())
        await db.store.commit(follows(1, event))
        assert (await log_of(db))[1:] == [event]


async def case_the_same_large_value_can_come_again(factory: Factory) -> None:
    async with opened(factory) as db:
        large = ["x" * 100_000]
        await db.store.commit(first())
        await db.store.commit(follows(1, processed(2, large, a=large), processed(3, large)))
        await db.store.commit(follows(3, processed(4, large)))
        assert (await log_of(db))[1:] == [
            processed(2, large, a=large),
            processed(3, large),
            processed(4, large),
        ]


async def case_data_that_looks_like_a_reference_is_data(factory: Factory) -> None:
    async with opened(factory) as db:
        events = [
            processed(2, REFERENCE, x=REFERENCE),
            processed(3, [REFERENCE] * 3000, x=REFERENCE, y="x" * 100_000),
        ]
        await db.store.commit(first())
        await db.store.commit(follows(1, *events))
        assert (await log_of(db))[1:] == events


async def case_large_values_in_every_part_of_an_outcome_are_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        large = "x" * 50_000
        outcome = Outcome(
            OutcomeStatus.ERROR,
            {"data": large},
            {"kind": "server_error", "message": large},
            {"http": {"status": 503, "body": large}},
            {"stdout": large},
        )
        event = e.TaskProcessed(
            seq=2, outcome=outcome, directive=DirectiveKind.FAIL, error={"m": large}
        )
        await db.store.commit(first())
        await db.store.commit(follows(1, event))
        assert (await log_of(db))[1:] == [event]


async def case_a_large_workload_is_kept(factory: Factory) -> None:
    async with opened(factory) as db:
        event = requested(workload={"text": "x" * 2_000_000, "n": 2**63})
        await db.store.commit(follows(0, event, new=NewRun("p", "d")))
        assert await log_of(db) == [event]
