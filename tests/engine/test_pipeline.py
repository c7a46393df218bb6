"""Pipelines, policies and patches (playbook.md#the-pipeline)."""

import pytest

from anew.engine.outcome import outcome_of
from tests.play import BOOM, DOWN, names, play, rows
from tests.suites import mostly_long


def pipeline(*tasks, head=""):
    lines = "\n".join(f"  - {task}" for task in tasks)
    return f"{head}workflow:\n- step: a\n  tool:\n{lines}\n"


def task(label, *rules, policy="", **fields):
    listed = ", ".join(rules)
    more = "".join(f", {key}: {value}" for key, value in fields.items())
    spec = f", spec: {{policy: {{rules: [{listed}]{policy}}}}}" if rules else ""
    return f"{{{label}: {{kind: noop{more}{spec}}}}}"


def when(condition, then):
    return f'{{when: "{condition}", then: {{{then}}}}}'


def otherwise(then):
    return f"{{else: {{then: {{{then}}}}}}}"


def test_without_a_policy_an_error_fails_the_step():
    report = play(pipeline(task("t"), task("u")), outcomes={"t": [BOOM]})
    assert (report["status"], report["attempts"]["u"]) == ("failed", 0)


def test_a_jump_goes_back_and_each_visit_has_a_fresh_budget():
    report = play(
        pipeline(
            task(
                "t",
                when("outcome.status == 'error'", "do: retry, attempts: 2"),
                otherwise("do: continue"),
            ),
            task(
                "u",
                when("ctx.n < 2", "do: jump, to: t, set_ctx: {n: '{{ ctx.n + 1 }}'}"),
                otherwise("do: break"),
            ),
            head="",
        )
        .replace("workflow:", "workload: {n: 0}\nworkflow:")
        .replace("ctx.n", "n"),
        outcomes={"t": [DOWN, {}, DOWN, {}, DOWN, {}]},
    )
    assert (report["status"], report["attempts"]) == ("done", {"t": 6, "u": 3})


def test_a_jump_can_wait():
    report = play(
        pipeline(
            task("poll", when("outcome.result.state != 'ready'", "do: jump, to: poll, delay: 30"))
        ),
        outcomes={
            "poll": [{"result": {"state": "no"}, "times": 2}, {"result": {"state": "ready"}}]
        },
    )
    assert (report["elapsed"], report["delays"], report["attempts"]["poll"]) == (60, [], 3)
    assert rows(report, "task.processed")[0]["data"]["delay_seconds"] == 30


def test_a_step_run_that_goes_in_circles_meets_its_limit_and_names_the_labels():
    limit = "executor: {spec: {limits: {tasks_per_step_run: 20}}}\n"
    report = play(
        pipeline(task("in"), task("x"), task("y", otherwise("do: jump, to: x")), head=limit)
    )
    assert report["error"]["kind"] == "limit_exceeded"
    assert "x, y" in report["error"]["message"]
    assert sum(report["attempts"].values()) == 20


def test_a_rule_that_raises_fails_the_task_and_does_not_match():
    report = play(pipeline(task("t", when("1 / 0", "do: continue"), otherwise("do: continue"))))
    assert report["error"]["kind"] == "expression"


def test_unmatched_errors_continue_unless_the_policy_says_fail():
    rule = when("outcome.http.status == 503", "do: retry")
    unmatched = {"t": [BOOM]}
    assert play(pipeline(task("t", rule)), outcomes=unmatched)["status"] == "done"
    strict = pipeline(task("t", rule, policy=", on_unmatched: fail"))
    assert play(strict, outcomes=unmatched)["status"] == "failed"


def test_unmatched_errors_of_eval_fail():
    document = """
workflow:
- step: a
  tool:
  - t: {kind: noop, eval: [{expr: "{{ outcome.http.status == 503 }}", do: retry}]}
"""
    assert play(document, outcomes={"t": [BOOM]})["status"] == "failed"


@pytest.mark.parametrize("value", ["", "False", "0", "no", "None", "NULL", "off"])
def test_these_words_are_false(value):
    rule = when("workload.word", "do: fail")
    assert play(pipeline(task("t", rule)), workload={"word": value})["status"] == "done"


def test_patches_are_applied_for_every_directive_retry_and_fail_included():
    count = "set_ctx: {n: '{{ (ctx.n | default(0)) + 1 }}'}"
    rules = (when("_attempt < 3", f"do: retry, {count}"), otherwise(f"do: fail, {count}"))
    report = play(pipeline(task("t", *rules)), outcomes={"t": [BOOM]})
    assert (report["status"], report["ctx"]) == ("failed", {"n": 3})


def test_a_spent_retry_applies_its_patches_then_those_of_on_exhausted():
    then = "do: retry, attempts: 2, set_ctx: {n: '{{ _attempt }}'}, on_exhausted: {do: continue, set_ctx: {gave_up: '{{ ctx.n }}'}}"
    report = play(
        pipeline(task("t", when("outcome.status == 'error'", then)), task("u")),
        outcomes={"t": [BOOM]},
    )
    assert (report["status"], report["ctx"]) == ("done", {"n": 2, "gave_up": 2})
    assert report["attempts"] == {"t": 2, "u": 1}


def test_a_spent_retry_may_jump():
    then = "do: retry, attempts: 1, on_exhausted: {do: jump, to: clean}"
    report = play(
        pipeline(
            task("t", when("outcome.status == 'error'", then)), task("skipped"), task("clean")
        ),
        outcomes={"t": [BOOM]},
    )
    assert report["attempts"] == {"t": 1, "skipped": 0, "clean": 1}


def test_polling_that_runs_out_has_an_error_of_its_own():
    rule = when("outcome.result.state != 'ready'", "do: retry, attempts: 3, delay: 1")
    report = play(pipeline(task("t", rule)))
    assert report["error"]["kind"] == "retry_exhausted"
    assert report["error"]["retry"] == {"attempts": 3, "exhausted": True}
    assert "task.retry_exhausted" in names(report)


def test_the_previous_result_stays_the_same_for_all_attempts_of_a_task():
    note = "set_ctx: {seen: '{{ (ctx.seen | default([])) + [_prev] }}'}"
    report = play(
        pipeline(
            task("t"),
            task(
                "u", when("_attempt < 3", f"do: retry, {note}"), otherwise(f"do: continue, {note}")
            ),
        ),
        outcomes={"t": [{"result": 7}], "u": [{"result": 8}]},
    )
    assert report["ctx"]["seen"] == [7, 7, 7]


def test_inputs_read_the_previous_result_at_every_attempt():
    again = when("_attempt < 2", "do: retry")
    report = play(
        pipeline(task("t"), task("u", again, args="{x: '{{ _prev }}'}")),
        outcomes={"t": [{"result": 7}], "u": [{"result": 8}]},
    )
    started = [row["data"]["inputs"] for row in rows(report, "task.started") if row["task"] == "u"]
    assert started == [{"args": {"x": 7}}] * 2


def test_the_first_task_has_no_previous_result():
    rule = otherwise("do: continue, set_ctx: {seen: '{{ _prev }}'}")
    assert play(pipeline(task("t", rule)))["ctx"] == {"seen": None}


def test_inputs_are_rendered_again_before_each_attempt():
    report = play(
        pipeline(task("t", when("_attempt < 2", "do: retry"), args="{n: '{{ _attempt }}'}"))
    )
    seen = [row["data"]["inputs"]["args"]["n"] for row in rows(report, "task.started")]
    assert seen == [1, 2]


def test_an_input_that_raises_is_an_outcome_the_rules_see():
    rule = when("outcome.error.kind == 'expression'", "do: continue, set_ctx: {caught: true}")
    report = play(pipeline(task("t", rule, args="{x: '{{ 1 / 0 }}'}")))
    assert (report["status"], report["ctx"]) == ("done", {"caught": True})


def test_a_result_that_says_error_is_an_error_and_keeps_its_result():
    rule = when(
        "outcome.error.kind == 'tool_error'", "do: continue, set_ctx: {x: '{{ outcome.result.x }}'}"
    )
    said = {"result": {"status": "error", "message": "soft", "x": 5}}
    assert play(pipeline(task("t", rule)), outcomes={"t": [said]})["ctx"] == {"x": 5}


@pytest.mark.parametrize(
    ("kind", "retryable"),
    [("rate_limit", True), ("db_constraint", False), ("python_error", None), ("exit_code", None)],
)
def test_whether_an_error_can_be_retried_is_known_by_its_kind(kind, retryable):
    report = play(pipeline(task("t")), outcomes={"t": [{"error": {"kind": kind, "message": "m"}}]})
    assert report["error"] == {"kind": kind, "retryable": retryable, "message": "m"}


def test_failing_an_ok_outcome_says_which_rule_it_was():
    report = play(
        pipeline(task("t", when("outcome.result.x == 0", "do: fail"))),
        outcomes={"t": [{"result": {"x": 0}}]},
    )
    assert report["error"]["kind"] == "failed"
    assert "outcome.result.x == 0" in report["error"]["message"]


@pytest.mark.parametrize("value", mostly_long(["{{ [ctx.x] }}", "{{ [ctx.x, ctx.x] }}"]))
def test_a_value_that_grows_with_every_jump_meets_a_limit(value):
    grow = otherwise(f"do: jump, to: t, set_ctx: {{x: '{value}'}}")
    report = play(pipeline(task("t", grow)))
    assert report["error"]["kind"] == "expression"


def test_a_result_that_no_log_can_hold_is_an_error():
    outcome = outcome_of(["x" * 900_000] * 60)
    assert (outcome.error["kind"], outcome.result) == ("limit_exceeded", None)


def test_an_endless_wish_of_the_server_is_no_wish():
    wish = {
        "error": {"kind": "rate_limit"},
        "http": {"status": 429, "headers": {"Retry-After": "1e999"}},
    }
    then = "do: retry, attempts: 2, delay: 3, honor_retry_after: true"
    report = play(
        pipeline(task("t", when("outcome.status == 'error'", then))), outcomes={"t": [wish]}
    )
    assert [delay["seconds"] for delay in report["delays"]] == [3]


def test_a_delay_past_the_end_of_time_is_due_at_its_end():
    then = "do: retry, attempts: 200, delay: 36000d"
    report = play(
        pipeline(task("t", when("outcome.status == 'error'", then))), outcomes={"t": [BOOM]}
    )
    assert report["events"][-1]["at"] == "2262-04-11T23:47:16.000000Z"


def test_an_error_message_quotes_only_the_beginning_of_a_long_source():
    long = "'" + "x" * 5000 + "{{ 1 / 0 }}'"
    report = play(pipeline(task("t", args=f"{{a: {long}}}")))
    assert len(report["error"]["message"]) < 500


def test_a_rules_patch_is_written_after_those_of_its_task():
    again = "{t: {kind: noop, set: {ctx.m.a: 1, ctx.m: {x: 0}}, spec: {policy: {rules: [RULE]}}}}"
    rule = otherwise("do: continue, set: {ctx.m.a: 2}")
    assert play(pipeline(again.replace("RULE", rule)))["ctx"] == {"m": {"x": 0, "a": 2}}
