"""What the first commit of a run must be: a log that makes sense, and a head and jobs that fit it.

Everything later follows from it, so it is folded once. Looks at one commit alone: whether a key is
free, a parent there and a program known is for others.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import Event, RunRequested
from anew.engine.state import RunState
from anew.errors import ConfigError
from anew.runtime.child_tool import DEPTH_MAX
from anew.runtime.damage import folded
from anew.store import NewJob, NewRun, PackedCommit
from anew.stores.damage import DamagedRun


def check_new_run(commit: PackedCommit, new: NewRun, events: Sequence[Event]) -> None:
    """ConfigError for a commit that no run may begin with."""
    run = commit.run
    if commit.expected != 0:
        raise ConfigError(f"a commit starts run {run} after event {commit.expected}.")
    if not events or type(events[0]) is not RunRequested:
        raise ConfigError(f"run {run} starts without run.requested, which every log starts with.")
    if commit.lease is not None:
        raise ConfigError(f"a commit starts run {run} and answers a lease, which it cannot have.")
    _check_fields(commit, new)
    try:
        state = folded(run, events)
    except DamagedRun as damage:
        raise ConfigError(
            f"run {run} cannot start so: {damage.reason}, which is event {damage.seq}."
        ) from damage
    if commit.status is not state.status:
        raise ConfigError(
            f"a commit starts run {run} as {commit.status.value}, and by its events it is "
            f"{state.status.value}."
        )
    for job in commit.jobs:
        _check_job(commit, job, state)


def _check_fields(commit: PackedCommit, new: NewRun) -> None:
    run = commit.run
    parent_run = None if new.parent is None else new.parent.run
    for number in (run, parent_run, new.retry_of):
        if number is not None and number < 1:
            raise ConfigError(
                f"a commit that starts run {run} names run {number}; ids are above 0."
            )
    if not 0 <= new.depth <= DEPTH_MAX:
        raise ConfigError(
            f"run {run} is nested {new.depth} deep; the limit (child depth) is {DEPTH_MAX}."
        )
    names = [new.program, new.digest, new.key or "", *new.labels, *new.labels.values()]
    for job in commit.jobs:
        names += job.key.step, job.pool
    if "\0" in "".join(names):
        raise ConfigError(
            f"a name in the commit that starts run {run} has the character 0 in it. Not every "
            "database can keep that: leave it out."
        )


def _check_job(commit: PackedCommit, job: NewJob, state: RunState) -> None:
    """One that ends in the very turn that handed it out may still be among the jobs."""
    key = job.key
    if state.step_run(key) is not None:
        return
    is_over = state.is_final or key in commit.drops
    if not (is_over and key.visit <= state.visits.get(key.step, 0)):
        raise ConfigError(
            f"a commit starts run {commit.run} with a job of step {key.step[:80]!r}, visit "
            f"{key.visit}, which is not under way by its events."
        )
