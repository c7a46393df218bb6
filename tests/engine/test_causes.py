"""The cause of a failed run: what an alert was about, not the alert."""

from __future__ import annotations

from anew.engine.fold import fold
from anew.stores.packing import Failure, failure_of
from tests.play import simulated
from tests.views.recorded import told

DOWN = {"error": {"kind": "server_error", "message": "HTTP 503 Service Unavailable"}}
BROKEN = {"error": {"kind": "exit_code", "message": "exit status 2"}}
ALERT = """
  - step: alert
    tool:
      kind: noop
      spec: {policy: {rules: [{else: {then: {do: fail, message: "the load failed"}}}]}}
"""
LOOP = """
workflow:
  - step: load
    loop: {in: [a, b, c], iterator: x}
    tool: {kind: noop}
    next: [{step: alert, when: "{{ event.name == 'loop.done' and event.failed > 0 }}"}]
"""
STEP = """
workflow:
  - step: load
    tool: {kind: noop}
    next: [{step: %s, when: "{{ event.name == 'step.failed' }}"}]
"""
THEN = """
  - step: repair
    tool: {kind: noop}
    next: [{step: alert}]
"""
PLAIN = """
  - step: alert
    tool: {kind: noop}
"""


def cause_of(document: str, **outcomes: object) -> tuple[str, int | None, str] | None:
    run = simulated(document, outcomes=outcomes)
    cause = fold(run.log).cause
    return None if cause is None else (cause.step, cause.iteration, cause.error["kind"])


def test_an_alert_after_a_failed_loop_names_the_first_failed_iteration() -> None:
    run = simulated(LOOP + ALERT, outcomes={"load": [{}, DOWN, BROKEN]})
    state = fold(run.log)
    assert state.failure is not None
    assert state.failure["message"] == "the load failed"
    lines = told(run, run.log)
    assert lines[0] == "Failed in step load[1]: server_error: HTTP 503 Service Unavailable"
    assert "alert dealt with that, then failed the run: failed: the load failed." in lines
    assert "What to do: fix the cause, then `anew retry 1 --from load`." in lines


def test_an_alert_that_breaks_itself_names_what_it_was_about() -> None:
    outcomes = {"load": [DOWN], "alert": [BROKEN]}
    assert cause_of(STEP % "alert" + PLAIN, **outcomes) == ("load", None, "server_error")


def test_a_failure_on_purpose_is_about_the_one_before_the_steps_that_ended_well() -> None:
    document = STEP % "repair" + THEN + ALERT
    assert cause_of(document, load=[DOWN]) == ("load", None, "server_error")


def test_what_fails_by_itself_after_a_repair_is_its_own_cause() -> None:
    assert cause_of(STEP % "repair" + THEN + PLAIN, load=[DOWN], alert=[BROKEN]) is None


def test_the_first_of_several_messengers_is_not_the_cause_either() -> None:
    document = (
        STEP % "tell"
        + """
  - step: tell
    tool: {kind: noop}
    next: [{step: alert, when: "{{ event.name == 'step.failed' }}"}]
"""
        + ALERT
    )
    assert cause_of(document, load=[DOWN], tell=[BROKEN]) == ("load", None, "server_error")


def test_a_failure_that_nothing_handled_is_its_own_cause() -> None:
    assert cause_of(STEP % "alert" + PLAIN, load=[DOWN]) is None
    assert cause_of("workflow: [{step: load, tool: {kind: noop}}]", load=[DOWN]) is None


def test_a_step_that_is_tried_again_has_no_cause_before_itself() -> None:
    again = STEP % "load"
    document = again.replace("step.failed'", "step.failed' and event.visit < 2")
    assert cause_of(document, load=[DOWN]) is None


def test_runs_with_one_cause_are_one_problem_whatever_the_alert_says() -> None:
    def failure(message: str) -> Failure:
        document = (LOOP + ALERT).replace("the load failed", message)
        state = fold(simulated(document, outcomes={"load": [DOWN]}).log)
        return failure_of(state.failure, state.cause)

    one, other = failure("the load failed"), failure("please look")
    assert one.fingerprint == other.fingerprint == failure_of(DOWN["error"]).fingerprint
    assert one.kind == "failed"
    assert one.message == "load: HTTP 503 Service Unavailable (then: the load failed)"
