"""Why a commit was refused, in the same words from every store."""

from __future__ import annotations

from anew.store import Lease, PackedCommit, StaleLease, StaleVersion


def lost_lease(lease: Lease) -> StaleLease:
    key = lease.job.key
    iteration = "" if key.iteration is None else f", iteration {key.iteration}"
    return StaleLease(
        f"the lease of step {key.step!r} (visit {key.visit}{iteration}) in run {lease.job.run} is "
        "lost: another worker has taken it over, or the run continued without it."
    )


def stale_guard(scope: str) -> StaleVersion:
    return StaleVersion(f"the guards of {scope or 'all dependencies'} have changed meanwhile.")


def unexpected_version(commit: PackedCommit, found: int | None) -> StaleVersion:
    """`found` is the version of the run in the store, None when it is not there."""
    if found is None:
        return StaleVersion(f"run {commit.run} is not in this database, or was pruned.")
    return StaleVersion(
        f"run {commit.run} is at version {found} and not at {commit.expected} any more."
        if commit.new is None
        else f"run {commit.run} exists already, at version {found}."
    )
