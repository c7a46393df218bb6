"""Says which guarantees a story breaks. Knows the log as it is shown, and what the world saw.

Uses nothing of the engine: a mistake there must not hide itself here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = dict[str, Any]
Attempt: TypeAlias = tuple[str, int]

# Of scenarios that say so: calls at the same time, and calls that start within so many seconds.
GUARDS = {"api": (2, 5, 0.5)}
ENDINGS = ("run.done", "run.failed", "run.cancelled")


class Story(NamedTuple):
    """What is known of a database after its processes were killed `kills` times.

    `attempts` is how often each task may be executed by its author's will; 1 unless named.
    """

    runs: list[Row]
    logs: dict[str, list[Row]]
    replays: dict[str, str]
    effects: list[Row]
    kills: int
    attempts: dict[str, int]

    def rows(self) -> Iterator[tuple[str, Row]]:
        for run, log in self.logs.items():
            for row in log:
                yield run, row


def complaints(story: Story) -> list[str]:
    """All that is wrong; empty when every guarantee was kept."""
    return [f"{check.__name__}: {found}" for check in CHECKS for found in check(story)]


# --- the log ---------------------------------------------------------------------------------


def no_gaps(story: Story) -> Iterator[str]:
    for run, log in story.logs.items():
        found = [row["seq"] for row in log]
        if found != list(range(1, len(log) + 1)):
            yield f"run {run} has the sequence {found}"


def one_ending(story: Story) -> Iterator[str]:
    for run, log in story.logs.items():
        endings = [row["seq"] for row in log if row["name"] in ENDINGS]
        if endings != [len(log)]:
            yield f"run {run} has {len(log)} events and ends at {endings}"


def time_goes_on(story: Story) -> Iterator[str]:
    for run, log in story.logs.items():
        moments = [row["at"] for row in log]
        if moments != sorted(moments):
            yield f"run {run} goes back in time"


def the_engine_agrees(story: Story) -> Iterator[str]:
    for run, difference in story.replays.items():
        if difference:
            yield f"run {run}: {difference}"


def attempts_in_order(story: Story) -> Iterator[str]:
    """started 1, outcome 1, retry, started 2, …; what was lost is started again, outcomes are not."""
    ended: dict[str, int] = defaultdict(int)
    may_start: dict[tuple[Any, ...], bool] = defaultdict(lambda: True)
    for run, row, key in _with_keys(story):
        place = (run, row["step"], row["visit"], row["iteration"])
        if row["name"] == "step.redelivered":
            may_start[place] = True
        elif row["name"] == "task.started":
            if row["attempt"] != ended[key] + 1:
                yield f"{key} starts attempt {row['attempt']} after {ended[key]} outcomes"
            if not may_start[place]:
                yield f"{key} starts attempt {row['attempt']} while its worker is running"
            may_start[place] = False
        elif row["name"] == "task.processed":
            ended[key] += 1
            may_start[place] = True
            if row["attempt"] != ended[key]:
                yield f"{key} ends attempt {row['attempt']} as outcome {ended[key]}"


def attempts_within_limits(story: Story) -> Iterator[str]:
    for run, row in story.rows():
        limit = story.attempts.get(row["task"], 1)
        if row["name"] == "task.started" and row["attempt"] > limit:
            yield f"run {run}: {row['task']} has attempt {row['attempt']} of {limit}"


def delays_kept(story: Story) -> Iterator[str]:
    not_before: dict[Attempt, int] = {}
    for _, row, key in _with_keys(story):
        if row["name"] == "task.retry_scheduled":
            following = (key, row["attempt"] + 1)
            if following in not_before:
                yield f"{key}: the retry after attempt {row['attempt']} was decided twice"
            not_before[following] = _moment(row["data"]["not_before"])
        elif row["name"] == "wait.skipped":
            not_before[key, row["attempt"] + 1] = 0
        elif row["name"] == "task.started":
            due = not_before.get((key, row["attempt"]), 0)
            if _moment(row["at"]) < due:
                yield f"{key}: attempt {row['attempt']} starts {due - _moment(row['at'])} µs early"
    for effect in story.effects:
        if effect["at"] // 1000 < not_before.get((effect["key"], effect["attempt"]), 0):
            yield f"{effect['key']}: the world saw attempt {effect['attempt']} too early"


def iterations_end_once(story: Story) -> Iterator[str]:
    loops: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for run, row in story.rows():
        place = (run, row["step"], row["visit"])
        if row["name"] in ("loop.iteration.done", "loop.iteration.failed"):
            loops[place].append(row["iteration"])
        if row["name"] != "loop.done":
            continue
        if sorted(loops[place]) != list(range(row["data"]["total"])):
            yield f"{place} ended the iterations {sorted(loops[place])}"


def losses_are_kills(story: Story) -> Iterator[str]:
    """No step-run loses its worker more often than there were kills; handed back is not lost."""
    lost = Counter(place for place, is_handed_back in _redeliveries(story) if not is_handed_back)
    for place, times in lost.items():
        if times > story.kills:
            yield f"{place} lost its worker {times} times in {story.kills} kills"


# --- the world -------------------------------------------------------------------------------


def effects_are_in_the_log(story: Story) -> Iterator[str]:
    """Each execution was on record before it began, and none came after its outcome."""
    started, ended = _spans(story)
    seen = Counter((effect["key"], effect["attempt"]) for effect in story.effects)
    for attempt, times in seen.items():
        if times > len(started[attempt]):
            yield f"{attempt} was executed {times} times and started {len(started[attempt])} times"
    for effect in story.effects:
        attempt, at = (effect["key"], effect["attempt"]), effect["at"] // 1000
        if started[attempt] and at < started[attempt][0]:
            yield f"{attempt} was executed before the log knew"
        if attempt in ended and at > ended[attempt]:
            yield f"{attempt} was executed again after its outcome was on record"


def no_more_is_repeated_than_was_lost(story: Story) -> Iterator[str]:
    """Executions without an outcome are those whose worker died or stopped, or was cancelled."""
    started, ended = _spans(story)
    seen = Counter((effect["key"], effect["attempt"]) for effect in story.effects)
    cancelled = {row["run"] for row in story.runs if row["status"] == "cancelled"}
    cut_off = {a for a in started if a not in ended and a[0].partition(":")[0] in cancelled}
    cut_off |= {a for a in started if a not in ended and a[0] in _in_closed_branches(story)}
    stops = story.kills + sum(is_handed_back for _, is_handed_back in _redeliveries(story))
    for attempt, times in seen.items():
        if times > stops + (attempt in ended) + (attempt in cut_off):
            yield f"{attempt} was executed {times} times in {stops} kills and stops"
    lost = sum(_is_loss(row) for _, row in story.rows()) + len(cut_off)
    extra = sum(seen.values()) - sum(attempt in ended for attempt in seen)
    if extra > lost:
        yield f"{extra} executions have no outcome, and {lost} step-runs lost their worker"


def one_child_per_attempt(story: Story) -> Iterator[str]:
    keys = [row["key"] for row in story.runs if row["key"] is not None]
    for key, times in Counter(keys).items():
        if times > 1:
            yield f"{times} runs have the key {key}"
    started, _ = _spans(story)
    for row in story.runs:
        if row["parent"] is None or row["key"].startswith("restart:"):
            continue
        _, _, attempt_key = row["key"].partition(":")
        key, _, attempt = attempt_key.rpartition(":")
        if (key, int(attempt)) not in started:
            yield f"run {row['run']} is the child of an attempt that is not on record"


def guards_let_no_more_start(story: Story) -> Iterator[str]:
    """Calls to a dependency from their start to their outcome, or to the loss of their worker."""
    for name, (at_once, count, seconds) in GUARDS.items():
        changes, starts = _calls(story, name)
        running = 0
        for at, change in sorted(changes):
            running += change
            if running > at_once:
                yield f"{running} calls to {name} at {at}"
        for first, later in zip(starts, starts[count:], strict=False):
            if later - first < seconds:
                yield f"more than {count} calls to {name} start within {later - first} s"


def _calls(story: Story, name: str) -> tuple[list[tuple[float, int]], list[float]]:
    changes: list[tuple[float, int]] = []
    open_: set[tuple[Any, ...]] = set()
    for run, row in story.rows():
        place = (run, row["step"], row["visit"], row["iteration"])
        at = datetime.fromisoformat(row["at"]).timestamp()
        if row["name"] == "task.started" and row["data"].get("dependency") == name:
            open_.add(place)
            changes.append((at, 1))
        elif row["name"] in ("task.processed", "step.redelivered") and place in open_:
            open_.remove(place)
            changes.append((at, -1))
    return changes, sorted(at for at, change in changes if change > 0)


CHECKS: tuple[Callable[[Story], Iterator[str]], ...] = (
    no_gaps,
    one_ending,
    time_goes_on,
    the_engine_agrees,
    attempts_in_order,
    attempts_within_limits,
    delays_kept,
    iterations_end_once,
    losses_are_kills,
    effects_are_in_the_log,
    no_more_is_repeated_than_was_lost,
    one_child_per_attempt,
    guards_let_no_more_start,
)


# --- reading rows ----------------------------------------------------------------------------


def _with_keys(story: Story) -> Iterator[tuple[str, Row, str]]:
    """Every row with the idempotency key of the task visit its step-run is at."""
    visits: dict[tuple[Any, ...], int] = {}
    for run, row in story.rows():
        place = (run, row["step"], row["visit"], row["iteration"] or 0)
        if row["name"] == "task.started":
            visits[place] = row["data"]["task_visit"]
        yield run, row, ":".join(map(str, (*place, visits.get(place, 0))))


def _spans(story: Story) -> tuple[dict[Attempt, list[int]], dict[Attempt, int]]:
    """When each attempt was started, each time, and when it had its outcome."""
    started: dict[Attempt, list[int]] = defaultdict(list)
    ended: dict[Attempt, int] = {}
    for _, row, key in _with_keys(story):
        if row["name"] == "task.started":
            started[key, row["attempt"]].append(_moment(row["at"]))
        elif row["name"] == "task.processed":
            ended[key, row["attempt"]] = _moment(row["at"])
    return started, ended


def _redeliveries(story: Story) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Where a step-run was handed out again, and whether its worker had handed it back."""
    deliveries: dict[tuple[Any, ...], int] = defaultdict(lambda: 1)
    for run, row in story.rows():
        place = (run, row["step"], row["visit"], row["iteration"])
        if row["name"] == "task.processed":
            deliveries[place] = 1
        elif row["name"] == "step.redelivered":
            yield place, row["data"]["delivery"] == deliveries[place]
            deliveries[place] = row["data"]["delivery"]


def _is_loss(row: Row) -> bool:
    """Whether a step-run lost its worker here, the last time included."""
    error = row["data"].get("error") or {}
    is_failure = row["name"] in ("step.failed", "loop.iteration.failed")
    return row["name"] == "step.redelivered" or (is_failure and error["kind"] == "worker_lost")


def _in_closed_branches(story: Story) -> set[str]:
    """Keys of task visits in branches that were not needed any more when their fork was joined."""
    forks: dict[tuple[str, int], int] = {}
    scheduled: dict[tuple[str, str, int], tuple[str, int]] = {}
    for run, row in story.rows():
        if row["name"] == "branch.forked" and row["data"].get("fork") is not None:
            for branch in row["data"]["branches"]:
                forks[run, branch["id"]] = row["data"]["fork"]
        elif row["name"] == "step.scheduled" and row["data"].get("branch") is not None:
            scheduled[run, row["step"], row["visit"]] = (run, row["data"]["branch"])
    joined = {
        (run, row["data"]["fork"])
        for run, row in story.rows()
        if row["name"] == "branch.joined" and row["data"].get("cancelled")
    }
    found = set()
    for run, row, key in _with_keys(story):
        branch = scheduled.get((run, row["step"], row["visit"]))
        if branch is not None and (run, forks.get(branch)) in joined:
            found.add(key)
    return found


def _moment(text: str) -> int:
    """Microseconds since 1970."""
    found = datetime.fromisoformat(text)
    return int(found.timestamp()) * 1_000_000 + found.microsecond
