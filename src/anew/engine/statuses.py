"""How a run stands, in one word: what lists of runs are told apart and counted by.

Finer than its status, because a status does not say what a run waits for. Databases say the same in
SQL; `anew.stores.contract.standing` compares them with what is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from anew.engine.state import RunStatus

# A failure of this kind is nobody's answer: workers died over the run until it was given up.
GIVEN_UP_KIND = "worker_lost"


class DetailedStatus(StrEnum):
    """One per run."""

    QUEUED = "queued"  # nobody works on it, and somebody could
    RUNNING = "running"
    RETRYING = "retrying"  # a step-run waits for its next attempt
    PERSON = "person"  # a step-run waits for an answer
    SIGNAL = "signal"
    PARKED = "parked"  # all there is to do is put aside: a sleep, a child run
    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"
    CANCELLED = "cancelled"


# Of the open jobs of a run the one with the lowest rank says most. What somebody works on comes
# before what waits for a worker, and that before what is put aside.
RANKS: Mapping[str, int] = {"person": 1, "signal": 2, "retry": 3, "ready": 5}
WORKING_RANK = 4
ASIDE_RANK = 6
_BY_RANK = {
    1: DetailedStatus.PERSON,
    2: DetailedStatus.SIGNAL,
    3: DetailedStatus.RETRYING,
    5: DetailedStatus.QUEUED,
    ASIDE_RANK: DetailedStatus.PARKED,
}
_BY_STATUS = {
    RunStatus.NEW: DetailedStatus.QUEUED,
    RunStatus.QUEUED: DetailedStatus.QUEUED,
    RunStatus.PAUSED: DetailedStatus.PAUSED,
    RunStatus.DONE: DetailedStatus.DONE,
    RunStatus.FAILED: DetailedStatus.FAILED,
    RunStatus.CANCELLED: DetailedStatus.CANCELLED,
}


def rank_of(reason: str, *, is_leased: bool) -> int:
    """How much a job says about its run: 1 says most."""
    return WORKING_RANK if is_leased else RANKS.get(reason, ASIDE_RANK)


def state_of(status: RunStatus, *, error_kind: str | None, rank: int | None) -> DetailedStatus:
    """How a run stands whose job that says most has this rank; None: it has no open job."""
    if status is RunStatus.FAILED and error_kind == GIVEN_UP_KIND:
        return DetailedStatus.DEAD
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    usual = DetailedStatus.WAITING if status is RunStatus.WAITING else DetailedStatus.RUNNING
    return usual if rank is None else _BY_RANK.get(rank, usual)
