"""Which runs the words of a filter mean: those of a query, and those of options at a terminal.

The words are read here, once for all surfaces. What fits them is the store's to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

from anew.engine.state import FINAL, RunStatus
from anew.engine.statuses import DetailedStatus
from anew.errors import ConfigError
from anew.runtime.run_search import digests_of
from anew.store import Database, RunFilter
from anew.surfaces.labels import labels_of
from anew.surfaces.moments import moment_ahead, moment_passed, parsed_moment


async def run_filter_of(
    words: Mapping[str, Any],
    database: Database,
    *,
    label_option: str,
    zone: tzinfo | None = UTC,
) -> RunFilter:
    """What the words mean now, by their names in a query; ConfigError when one cannot be used.

    A date without a zone is in `zone` (None: local). `label_option` starts a label in a message.
    """
    now = database.clock.now()
    since, until, due = words["since"], words["until"], words["due_within"]
    began_before = None if until is None else parsed_moment(until, now=now, zone=zone)
    statuses = tuple(RunStatus(word) for word in words["status"])
    if (longer := words["running_longer_than"]) is not None:
        passed = moment_passed(longer, now=now)
        began_before = passed if began_before is None else min(began_before, passed)
        statuses = _unfinished(statuses)
    program, version, digest = words["program"], words["version"], words.get("digest")
    return RunFilter(
        # Tuples, as in a filter without words: then they are the same.
        statuses=statuses,
        states=tuple(DetailedStatus(word) for word in words["state"]),
        program=program,
        digests=await digests_of(database.catalog, program, version, digest),
        retrying=words["retrying"],
        since=None if since is None else parsed_moment(since, now=now, zone=zone),
        until=began_before,
        attempt_min=words["attempt"],
        due_before=None if due is None else moment_ahead(due, now=now),
        error_kind=words["error_kind"],
        fingerprint=words["fingerprint"],
        text=words["text"] or None,
        labels=labels_of(words["label"], option=label_option),
        is_retried=words["retried"],
    )


def _unfinished(statuses: tuple[RunStatus, ...]) -> tuple[RunStatus, ...]:
    """Those of the statuses in which a run has not ended; of all of them, where none is named."""
    found = tuple(status for status in statuses or RunStatus if status not in FINAL)
    if not found:
        raise ConfigError(
            f"a run that is {' or '.join(statuses)} runs no longer: leave out the status, or "
            "ask when it started (until)"
        )
    return found
