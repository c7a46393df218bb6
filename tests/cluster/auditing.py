"""Says which guarantees a cluster broke: those of one process, and what many have beside them.

Reads what `tests.crash.auditor` reads, the log as it is shown and the ledger of effects, and uses
nothing of the engine either.

Log moments are of the database's clock as each process knows it, those of the ledger of the world's:
where one is held against the other, a process may be off by what it takes to ask for the time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.crash import auditor
from tests.crash.auditor import Row, Story

# Half of a round trip on a busy machine, in microseconds.
CLOCK_MICROSECONDS_MAX = 50_000


class Account(NamedTuple):
    """A story, and what its clients know of it.

    `acknowledged` is the run each start key was answered with. `has_stalled`: a worker was stopped,
    or cut off, and went on later; what it had begun may then reach the world late. `said` is what
    each process wrote where people look for errors.
    """

    story: Story
    acknowledged: Mapping[str, str]
    has_stalled: bool = False
    said: Mapping[str, str] = {}


def complaints(account: Account) -> list[str]:
    """All that is wrong; empty when every guarantee was kept."""
    shared = [f"{check.__name__}: {found}" for check in SHARED for found in check(account.story)]
    return shared + [f"{check.__name__}: {found}" for check in CHECKS for found in check(account)]


# What is the same for one process and for many.
SHARED: tuple[Callable[[Story], Iterator[str]], ...] = (
    auditor.no_gaps,
    auditor.one_ending,
    auditor.time_goes_on,
    auditor.the_engine_agrees,
    auditor.attempts_in_order,
    auditor.attempts_within_limits,
    auditor.iterations_end_once,
    auditor.losses_are_kills,
    auditor.no_more_is_repeated_than_was_lost,
    auditor.one_child_per_attempt,
)


def retries_wait_in_the_log(account: Account) -> Iterator[str]:
    """By the database's clock nothing is early, not by a microsecond."""
    yield from auditor.delays_kept(account.story._replace(effects=[]))


def retries_wait_in_the_world(account: Account) -> Iterator[str]:
    due = {}
    for _, row, key in keyed(account.story):
        if row["name"] == "task.retry_scheduled":
            due[key, row["attempt"] + 1] = microseconds(row["data"]["not_before"])
    for effect in account.story.effects:
        early = due.get((effect["key"], effect["attempt"]), 0) - effect["at"] // 1000
        if early > CLOCK_MICROSECONDS_MAX:
            yield f"{effect['key']}: attempt {effect['attempt']} was seen {early} µs early"


def sleeps_last(account: Account) -> Iterator[str]:
    """A `sleep` ends no sooner than it says, whoever called it and whoever went on."""
    began: dict[str, int] = {}
    for run, row, key in keyed(account.story):
        if row["name"] == "task.started" and key not in began:
            began[key] = microseconds(row["at"])
        result = (row["data"].get("outcome") or {}).get("result")
        if row["name"] != "task.processed" or not isinstance(result, dict) or "slept" not in result:
            continue
        lasted = microseconds(row["at"]) - began[key]
        # Moments are told in whole microseconds.
        if lasted + 1 < result["slept"] * 1_000_000:
            yield f"run {run}: {key} slept {lasted} µs and says {result['slept']} s"


def effects_are_on_record(account: Account) -> Iterator[str]:
    """Each execution was on record before it began, as often as it happened, under that key."""
    started, ended = spans(account.story)
    seen = Counter((effect["key"], effect["attempt"]) for effect in account.story.effects)
    for attempt, times in seen.items():
        if times > len(started[attempt]):
            yield f"{attempt} was executed {times} times and started {len(started[attempt])} times"
    for effect in account.story.effects:
        attempt, at = (effect["key"], effect["attempt"]), effect["at"] // 1000
        if started[attempt] and at < started[attempt][0] - CLOCK_MICROSECONDS_MAX:
            yield f"{attempt} was executed before the log knew"
        is_late = attempt in ended and at > ended[attempt] + CLOCK_MICROSECONDS_MAX
        if is_late and not account.has_stalled:
            yield f"{attempt} was executed after its outcome was on record"


def one_effect_unless_a_worker_was_lost(account: Account) -> Iterator[str]:
    """An attempt is executed once, and once more for each time its step-run was handed out again."""
    again: Counter[tuple[Any, ...]] = Counter()
    for run, row in account.story.rows():
        if row["name"] == "step.redelivered":
            again[run, row["step"], row["iteration"] or 0] += 1
    seen = Counter(
        (
            str(effect["run"]),
            effect["step"],
            effect["iteration"] or 0,
            effect["key"],
            effect["attempt"],
        )
        for effect in account.story.effects
    )
    for place, times in seen.items():
        if times > 1 + again[place[:3]]:
            yield f"{place} was executed {times} times and handed out again {again[place[:3]]} times"


def one_key_for_all_executions(account: Account) -> Iterator[str]:
    """What is executed again has the idempotency key it had."""
    visits: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for run, row, key in keyed(account.story):
        if row["name"] == "task.started":
            visits[run, row["step"], row["iteration"] or 0, row["task"]].add(key)
    for effect in account.story.effects:
        place = (str(effect["run"]), effect["step"], effect["iteration"] or 0, effect["task"])
        if effect["key"] not in visits[place]:
            yield f"{place} was executed with the key {effect['key']}, not of {visits[place]}"


def acknowledged_starts_exist(account: Account) -> Iterator[str]:
    """What was answered to a start is true, and each key is one run."""
    of_key: dict[str, list[str]] = defaultdict(list)
    for row in account.story.runs:
        of_key[row["key"]].append(row["run"])
    for key, run in account.acknowledged.items():
        if of_key[key] != [run]:
            yield f"the start {key} was answered with run {run}, and there is {of_key[key]}"


def no_traceback_reaches_anyone(account: Account) -> Iterator[str]:
    for name, text in account.said.items():
        for shameful in ("Traceback", "never retrieved", "never awaited", "bug in Anew"):
            if shameful in text:
                yield f"{name} said: {text[-2000:]}"
                break


CHECKS: tuple[Callable[[Account], Iterator[str]], ...] = (
    retries_wait_in_the_log,
    retries_wait_in_the_world,
    sleeps_last,
    effects_are_on_record,
    one_effect_unless_a_worker_was_lost,
    one_key_for_all_executions,
    acknowledged_starts_exist,
    no_traceback_reaches_anyone,
)


# --- reading rows ----------------------------------------------------------------------------

keyed = auditor._with_keys
spans = auditor._spans
microseconds = auditor._moment


def outcomes(log: list[Row], step: str) -> list[Any]:
    """The results a step's tasks ended with, in order."""
    return [
        (row["data"].get("outcome") or {}).get("result")
        for row in log
        if row["name"] == "task.processed" and row["step"] == step
    ]
