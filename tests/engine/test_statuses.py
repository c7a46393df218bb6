"""How a run stands, by its status and by the job that says most."""

from pathlib import Path

import pytest

from anew.engine.state import RunStatus
from anew.engine.statuses import (
    ACTIVITIES,
    RUNS,
    ActivityKind,
    DetailedStatus,
    WaitReason,
    rank_of,
    state_of,
)

PAGE = [
    line
    for line in Path("docs/reference/statuses.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|")
]


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


def test_each_thing_a_step_run_can_be_at_has_a_row():
    assert set(ACTIVITIES) == set(ActivityKind)
    assert set(RUNS) == set(RunStatus)
    jobs = {row.job for row in ACTIVITIES.values()} - {None}
    assert jobs == set(WaitReason)


def test_the_documentation_shows_the_tables_row_by_row():
    shown = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in PAGE]
    for kind, row in ACTIVITIES.items():
        assert [kind, row.job or "-", row.step, row.run, row.bar] in shown
    for status, words in RUNS.items():
        assert [
            status,
            words.detailed or "by its jobs, as above",
            words.noetl,
            words.graphs,
        ] in shown
    rows = [cells for cells in shown if cells[0] != "---"]
    assert len(rows) == len(ACTIVITIES) + len(RUNS) + 2
