"""`anew attempts`: what a person reads about every execution of a run."""

from __future__ import annotations

import json

from anew.engine import events as e
from anew.engine.events.words import SkippedWait
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, SECOND, hostile, played

BUSY = {
    "error": {"kind": "rate_limit", "message": "slow down"},
    "http": {"status": 429, "headers": {"retry-after": "60"}},
}
HONOURS = RETRIES.replace(
    "backoff: fixed, delay: 2.0", "backoff: fixed, delay: 2.0, honor_retry_after: true"
)


def twice():
    return played(RETRIES, outcomes={"page": [{**DOWN, "times": 2}, {"result": {"n": 1}}]})


def words(line: str) -> list[str]:
    """Without the moment, which is in the reader's own time."""
    return [word for word in line.split() if word.count(":") != 2 and word[:4] != "2000"]


def test_each_attempt_has_a_line_and_each_decision_one_below(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("attempts", "last")
    assert told.status == 0
    decision = "rule 1, line 11: retry in 2.0 s (fixed 2.0 s)"
    assert [words(line) for line in told.lines] == [
        ["5", "fetch.page", "1/3", "0.4", "s", "error", "HTTP", "503", "·", "server_error:", "503"],
        decision.split(),
        ["8", "fetch.page", "2/3", "0.4", "s", "error", "HTTP", "503", "·", "server_error:", "503"],
        decision.split(),
        ["11", "fetch.page", "3/3", "0", "s", "ok"],
        ["17", "store", "1", "0", "s", "ok"],
    ]


def test_attempts_of_another_day_have_its_date(shelf, anew) -> None:
    shelf.put(twice())
    assert all("2000-01-01 00:00:0" in line for line in anew("attempts", "last").lines[::2][:2])


def test_an_attempt_says_who_did_not_wait(shelf, anew) -> None:
    simulation = twice()
    at = next(n for n, x in enumerate(simulation.log, 1) if isinstance(x, e.TaskRetryScheduled))
    shelf.put(simulation, upto=at)
    scheduled = simulation.log[at - 1]
    skip = e.WaitSkipped(
        waited_for=SkippedWait.RETRY, not_before=scheduled.not_before, by="an\x1b[2Jn"
    )
    skip.step, skip.visit, skip.task, skip.attempt = "fetch", 1, "page", 1
    skip.seq, skip.at = at + 1, scheduled.at + SECOND // 2
    shelf.add(RUN, [skip])
    told = anew("attempts", "last")
    assert (
        told.lines[1].strip().startswith("rule 1, line 11: retry in 2.0 s (fixed 2.0 s); skipped")
    )
    assert told.lines[1].endswith("n, 1.5 s early")
    assert "\x1b" not in told.out
    row = json.loads(anew("attempts", "last", "--json").lines[0])
    assert row["skipped"]["by"] == "an\x1b[2Jn"
    assert row["skipped"]["early_seconds"] == 1.5


def test_the_last_attempt_says_why_there_is_no_other(shelf, anew) -> None:
    shelf.put(played(RETRIES, outcomes={"page": [DOWN]}))
    told = anew("attempts", "last", "--status", "error")
    assert told.lines[-1].strip() == "rule 1, line 11: fail; no further attempt: attempts"


def test_what_the_other_side_asked_for_is_told(shelf, anew) -> None:
    simulation = played(HONOURS, outcomes={"page": [BUSY, {}]})
    shelf.put(simulation, document=HONOURS)
    told = anew("attempts", "last", "--limit", "1")
    assert "retry in 60.0 s (fixed 2.0 s · Retry-After 60.0 s)" in told.lines[1]
    assert told.err.strip() == "and 2 more"


def test_attempts_can_be_chosen_by_step_and_status(shelf, anew) -> None:
    shelf.put(twice())
    assert len(anew("attempts", "last", "--step", "store").lines) == 1
    assert len(anew("attempts", "last", "--status", "ok").lines) == 2
    none = anew("attempts", "last", "--status", "lost")
    assert (none.status, none.out, none.err.strip()) == (0, "", "no attempt fits")


def test_json_has_one_object_for_each(shelf, anew) -> None:
    shelf.put(twice())
    rows = [json.loads(line) for line in anew("attempts", "last", "--json").lines]
    assert [(row["step"], row["attempt"], row["status"]) for row in rows] == [
        ("fetch", 1, "error"),
        ("fetch", 2, "error"),
        ("fetch", 3, "ok"),
        ("store", 1, "ok"),
    ]
    assert rows[0]["idempotency_key"] == f"{RUN}:fetch:1:0:1"
    assert rows[0]["delay"]["delay_seconds"] == 2.0


def test_a_step_the_run_cannot_have_is_refused_with_a_hint(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("attempts", "last", "--step", "fetsch")
    assert told.status == 2
    assert "Did you mean 'fetch'?" in told.err


def test_hostile_names_do_not_reach_the_terminal(shelf, anew) -> None:
    simulation = hostile()
    shelf.put(simulation, document=simulation.program.name)
    told = anew("attempts", "last")
    assert "\x1b" not in told.out
    assert len(told.lines) == 1
