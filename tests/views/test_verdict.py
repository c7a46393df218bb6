"""The verdict: what a run does or waits for, in words a person would use."""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.state import RunStatus, StepRunKey
from anew.store import JobRef, JobRow, RunId, RunRow, WaitReason
from anew.views.interruptions import InterruptedRun
from anew.views.lost import LostWorker
from anew.views.progress import progress_of
from anew.views.verdict import verdict
from tests.play import simulated
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY, SECOND, told, upto


def job(step: str, due_at: int | None, *, leased_until: int | None = None, reason="ready"):
    ref = JobRef(RunId(1), StepRunKey(step, 1))
    return JobRow(ref, WaitReason(reason), due_at, 1, "default", leased_until, 1)


def test_a_retry_says_which_attempt_when_and_why() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    log = upto(run, e.TaskRetryScheduled)
    assert told(run, log, after=0.5) == [
        "Waiting to retry fetch (attempt 2 of 4) in 1.5 s: HTTP 503 (rule 1, line 11)"
    ]


def test_the_moment_it_is_due_is_data_for_a_countdown() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    log = upto(run, e.TaskRetryScheduled)
    said = verdict(progress_of(log, run.program), fold(log), now=log[-1].at)
    assert said.until == log[-1].at + 2 * SECOND
    assert said.sentence(said.until).startswith("Waiting to retry fetch (attempt 2 of 4), due now")


def test_the_wish_of_the_server_is_named_when_it_decides() -> None:
    run = simulated(RETRY, outcomes={"page": [BUSY, {"result": 1}]})
    (line,) = told(run, upto(run, e.TaskRetryScheduled), after=19)
    assert " in 41 s: HTTP 429: slow down, Retry-After 1 min (rule 1, line 11)" in line


def test_work_says_the_task_and_for_how_long() -> None:
    run = simulated(RETRY)
    log = upto(run, e.TaskStarted)
    assert told(run, log, after=12) == ["Running fetch (task page, attempt 1) for 12 s"]


def test_a_done_run_counts_its_steps_and_retries() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1, "takes": 1.2}]})
    assert told(run, run.log) == ["Done in 3.2 s: 2 steps, 1 retry"]


def test_a_failed_run_says_where_why_and_what_to_do() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    first, *details = told(run, run.log)
    assert first == "Failed in step fetch after 4 attempts: server_error: 503"
    assert "What to do: fix the cause, then `anew retry 1 --from fetch`." in details


def test_a_handled_failure_is_a_detail_of_a_done_run() -> None:
    document = """
workflow:
  - step: load
    tool: {kind: noop}
    next: [{step: clean, when: "{{ event.name == 'step.failed' }}"}]
  - step: clean
    tool: {kind: noop}
"""
    run = simulated(document, outcomes={"load": [DOWN]})
    assert told(run, run.log) == [
        "Done in 0 s: 2 steps",
        "load failed, and that was handled: server_error: 503",
    ]


def test_a_loop_is_counted_not_listed() -> None:
    run = simulated(LOOP % 500, outcomes={"one": [{"result": 1, "takes": 1}]})
    (line,) = told(run, upto(run, e.LoopIterationDone, 312))
    assert line == "Loop each over 500 items: 312 done, 3 running"


def test_a_loop_that_only_waits_says_until_when() -> None:
    run = simulated(LOOP % 4, outcomes={"one": [{**DOWN, "takes": 1}]})
    (line,) = told(run, upto(run, e.TaskRetryScheduled, 4), after=2)
    assert line == (
        "Loop each over 4 items waits to retry in 3 s: 0 done, 4 waiting to retry; HTTP 503"
    )


def test_several_branches_are_told_a_few_at_a_time() -> None:
    names = [f"b{n}" for n in range(6)]
    steps = "".join(f"\n  - step: {name}\n    tool: {{kind: noop}}" for name in names)
    document = f"workflow:\n  - step: start\n    next: [{', '.join(names)}]{steps}\n"
    run = simulated(document, outcomes={name: [{"result": 1, "takes": 9}] for name in names})
    lines = told(run, upto(run, e.TaskStarted, 7))
    assert len(lines) == 4
    assert lines[-1] == "And 3 more."


def test_a_paused_run_says_how_many_are_held_and_how_to_go_on() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskRetryScheduled)
    log = [*log, e.RunPaused(seq=len(log) + 1, at=log[-1].at, reason="maintenance")]
    assert told(run, log, jobs=[job("fetch", None, reason="held")]) == [
        "Paused: maintenance",
        "1 step-run held.",
        "`anew resume 1` resumes it.",
    ]


POLL = """
workflow:
  - step: watch
    tool:
      - ask:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ not outcome.result.ready }}"
                  then: {do: %s, delay: 9}
                - else: {then: {do: continue}}
"""
READY = [{"result": {"ready": False}}, {"result": {"ready": True}}]


def test_a_retry_of_what_went_well_is_polling() -> None:
    run = simulated(POLL % "retry, attempts: 20", outcomes={"ask": READY})
    log = upto(run, e.TaskRetryScheduled)
    assert told(run, log, after=1) == [
        "Polling in watch (attempt 2 of 20), next look in 8 s: "
        "its result asks for another look (rule 1, line 10)"
    ]
    assert progress_of(log, run.program).steps["watch"].status == "polling"


def test_a_delayed_jump_back_is_polling_and_one_forward_is_not() -> None:
    run = simulated(POLL % "jump, to: ask", outcomes={"ask": READY})
    (line,) = told(run, upto(run, e.TaskProcessed), after=1)
    assert line.startswith("Polling in watch, next look in 8 s: its result asks for another look")
    forward = (POLL % "jump, to: end") + "      - end: {kind: noop}\n"
    run = simulated(forward, outcomes={"ask": READY})
    (line,) = told(run, upto(run, e.TaskProcessed), after=1)
    assert line.startswith("Waiting to continue in watch with task end in 8 s")


def test_a_loop_that_polls_says_so() -> None:
    document = (POLL % "retry, attempts: 20").replace(
        "    tool:", "    loop: {in: [1, 2], iterator: n, spec: {mode: parallel}}\n    tool:"
    )
    run = simulated(document, outcomes={"ask": [READY[0]]})
    (line,) = told(run, upto(run, e.TaskRetryScheduled, 2), after=1)
    assert line == "Loop watch over 2 items is polling, next look in 8 s: 0 done, 2 polling"


def test_nobody_works_on_a_run_is_told_first_and_what_it_was_at() -> None:
    run = simulated(RETRY)
    log = upto(run, e.TaskStarted)
    overdue = [job("fetch", 0)]
    told_of = told(run, log, after=62, jobs=overdue, interrupted=InterruptedRun(4711))
    assert told_of == [
        "Interrupted: process 4711 died, and no other has worked on it for 1 min 2 s: "
        "it was at this: Running fetch (task page, attempt 1)"
    ]
    (line,) = told(run, log, after=62, interrupted=InterruptedRun())
    assert line.startswith("Interrupted: no process has worked on it for 1 min 2 s: ")


def test_a_cancelled_run_says_why() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskRetryScheduled)
    log = [*log, e.RunCancelled(seq=len(log) + 1, at=log[-1].at + SECOND, reason="wrong data")]
    assert told(run, log) == ["Cancelled after 1 s: wrong data"]


def test_a_child_run_is_named() -> None:
    document = "workflow: [{step: sub, tool: {kind: playbook, path: other}}]"
    run = simulated(document, outcomes={"sub": [{"result": 1, "takes": 9}]})
    log = upto(run, e.TaskStarted)
    child = RunRow(
        run=RunId(123),
        program="other",
        digest="d",
        status=RunStatus.RUNNING,
        version=3,
        created_at=0,
        updated_at=0,
        ended_at=None,
        error=None,
        key=None,
        labels={},
        parent=JobRef(RunId(1), StepRunKey("sub", 1)),
        depth=1,
    )
    assert told(run, log, after=3, children=[child]) == [
        "Waiting in sub for child run 123 (running) for 3 s"
    ]


def test_a_sleep_says_when_it_goes_on() -> None:
    document = "workflow: [{step: nap, tool: {kind: sleep, seconds: 90}}]"
    run = simulated(document, outcomes={"nap": [{"result": 1, "takes": 90}]})
    assert told(run, upto(run, e.TaskStarted), after=10) == [
        "Sleeping in nap, continues in 1 min 20 s: task nap"
    ]


def test_a_job_nobody_takes_is_noticed() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskRetryScheduled)
    due = log[-1].at + 2 * SECOND
    lines = told(run, log, after=62, jobs=[job("fetch", due)])
    assert lines == [
        "No worker has taken fetch, which has been due for 1 min",
        "If nothing works on this run, `anew resume 1` resumes it.",
    ]


def test_what_a_lost_worker_has_is_not_called_free() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskStarted)
    ran_out = job("fetch", 0, leased_until=log[-1].at + 30 * SECOND)
    lost = LostWorker("w", "example", 7, log[-1].at, ["fetch"], log[-1].at + 40 * SECOND)
    lines = told(run, log, after=62, jobs=[ran_out], lost=[lost])
    assert not [line for line in lines if "No worker" in line or "anew resume" in line]
    assert lines[0] == (
        "Worker w (host example, process 7) has not reported for 1 min 2 s; "
        "fetch is queued again as soon as another worker looks"
    )
    assert lines[1] == "Before that: Running fetch (task page, attempt 1) for 1 min 2 s."
    # What nobody has is as free as ever.
    headline, *_ = told(run, log, after=62, jobs=[ran_out, job("store", 0)], lost=[lost])
    assert headline.startswith("No worker has taken store, which has been due")


def test_a_lease_that_is_kept_shows_that_someone_is_there() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskRetryScheduled)
    kept = job("store", 0, leased_until=log[-1].at + 100 * SECOND)
    (line,) = told(run, log, after=62, jobs=[job("fetch", 0), kept])
    assert line.startswith("Waiting to retry fetch")


def test_a_closed_gate_is_what_a_run_can_wait_for() -> None:
    document = """
workflow:
  - step: start
    next: [{step: a}, {step: b}]
  - step: a
    tool: {kind: noop}
  - step: b
    tool: {kind: noop}
    spec: {policy: {admit: {rules: [{when: "{{ ctx.open }}", then: {allow: true}}, {else: {then: {allow: false}}}]}}}
"""
    run = simulated(document)
    log = upto(run, e.StepDone, 2)
    assert told(run, log) == ["Waiting for the gate of b to open"]


def test_without_the_program_the_rule_has_no_line() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskRetryScheduled)
    said = verdict(progress_of(log), fold(log), now=log[-1].at)
    assert said.reason == "HTTP 503 (rule 1)"


ASKING = """
workflow:
  - step: start
    next: [a, b, c, ask]
  - step: a
    tool: {kind: noop}
  - step: b
    tool: {kind: noop}
  - step: c
    tool: {kind: noop}
  - step: ask
    tool: {kind: human, question: "Ship it?"%s}
"""


def asking(choices: str = "") -> list[str]:
    busy = {name: [{"result": 1, "takes": 9}] for name in "abc"}
    run = simulated(ASKING % choices, outcomes=busy)
    return told(run, upto(run, e.HumanWaiting))


def test_what_a_person_is_asked_comes_before_what_is_at_work() -> None:
    first, *_, more, how = asking(", choices: [Yes, No]")
    assert first.startswith("Waiting for a person in ask")
    assert "Ship it? · choices: Yes, No" in first
    assert more == "And 1 more."
    assert how.endswith(" CHOICE` answers.")


def test_a_question_without_choices_wants_a_text() -> None:
    assert asking()[-1].endswith(" TEXT` answers.")


def test_a_question_whose_time_is_over_is_not_answered_any_more() -> None:
    document = "workflow: [{step: ask, tool: {kind: human, question: 'Now?', timeout: 5}}]"
    run = simulated(document)
    log = upto(run, e.HumanWaiting)
    assert told(run, log, after=4)[-1].endswith("TEXT` answers.")
    (line,) = told(run, log, after=6)
    assert "due now" in line


def test_several_questions_are_answered_by_their_steps() -> None:
    document = """
workflow:
  - step: start
    next: [one, two]
  - step: one
    tool: {kind: human, question: "One?", choices: [Yes, No]}
  - step: two
    tool: {kind: human, question: "Two?"}
"""
    run = simulated(document)
    assert told(run, upto(run, e.HumanWaiting, 2))[-1].endswith(" CHOICE --step STEP` answers.")


def test_a_question_of_an_iteration_is_told_beside_its_loop() -> None:
    document = """
workflow:
  - step: each
    loop: {in: [1, 2], iterator: n, mode: parallel}
    tool: {kind: human, question: "Take {{ iter.n }}?", choices: [Yes, No]}
"""
    run = simulated(document)
    first, *others = told(run, upto(run, e.HumanWaiting, 2))
    assert "Take 1?" in first
    assert any("Loop each over 2 items" in line for line in others)


def test_more_handled_failures_than_are_told_are_counted() -> None:
    names = [f"b{n}" for n in range(5)]
    failing = "{kind: noop}\n    next: [{step: clean, when: \"{{ event.name == 'step.failed' }}\"}]"
    steps = "".join(f"\n  - step: {name}\n    tool: {failing}" for name in names)
    clean = "\n  - step: clean\n    tool: {kind: noop}\n"
    document = f"workflow:\n  - step: start\n    next: [{', '.join(names)}]{steps}{clean}"
    run = simulated(document, outcomes={name: [DOWN] for name in names})
    lines = told(run, run.log)
    assert len(lines) == 4
    assert lines[-1] == "And 3 more."
