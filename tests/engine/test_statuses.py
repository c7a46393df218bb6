"""How a run stands, by its status and by the job that says most."""

import pytest

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus, rank_of, state_of


def stands(*jobs, status=RunStatus.RUNNING, kind=None):
    ranks = [rank_of(reason, is_leased=is_leased) for reason, is_leased in jobs]
    return state_of(status, error_kind=kind, rank=min(ranks, default=None))


@pytest.mark.parametrize(
    ("jobs", "state"),
    [
        ([("ready", True)], DetailedStatus.RUNNING),
        ([("ready", False)], DetailedStatus.QUEUED),
        ([("ready", False), ("ready", True)], DetailedStatus.RUNNING),
        ([("sleep", False)], DetailedStatus.PARKED),
        ([("sleep", False), ("ready", False)], DetailedStatus.QUEUED),
        ([("sleep", False), ("retry", False), ("ready", True)], DetailedStatus.RETRYING),
        ([("retry", False), ("person", False)], DetailedStatus.PERSON),
        ([("retry", False), ("signal", False)], DetailedStatus.SIGNAL),
        ([], DetailedStatus.RUNNING),
    ],
)
def test_the_job_that_says_most_tells_what_a_run_waits_for(jobs, state):
    assert stands(*jobs) is state


def test_a_run_that_has_ended_or_is_paused_is_told_by_its_status():
    assert stands(("ready", False), status=RunStatus.PAUSED) is DetailedStatus.PAUSED
    assert stands(status=RunStatus.FAILED, kind="server_error") is DetailedStatus.FAILED
    assert stands(status=RunStatus.FAILED, kind="worker_lost") is DetailedStatus.DEAD
    assert stands(status=RunStatus.NEW) is DetailedStatus.QUEUED
