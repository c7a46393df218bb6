"""Tokens, arcs, gates and joins (playbook.md#tokens-and-joins)."""

import pytest

from tests.play import BOOM, play, rows


def steps(*lines):
    return "workflow:\n" + "\n".join(f"- {line}" for line in lines) + "\n"


def noop(name, *, then=None, spec=None):
    next_part = f", next: {then}" if then else ""
    spec_part = f", spec: {spec}" if spec else ""
    return f"{{step: {name}, tool: {{kind: noop}}{spec_part}{next_part}}}"


def test_the_entry_is_a_step_named_start_even_when_it_is_not_the_first():
    report = play(steps(noop("other"), noop("start")))
    assert report["visits"] == ["start"]


def test_the_entry_can_be_named():
    document = "executor: {spec: {entry_step: b}}\n" + steps(noop("start"), noop("b"))
    assert play(document)["visits"] == ["b"]


def test_without_a_step_named_start_the_first_step_is_the_entry():
    assert play(steps(noop("a"), noop("b")))["visits"] == ["a"]


def test_exclusive_takes_the_first_arc_that_holds_and_asks_no_more():
    arcs = "[{step: b, when: 'false'}, {step: c, when: 'true'}, {step: b, when: '1 / 0'}]"
    report = play(steps(noop("a", then=arcs), noop("b"), noop("c")))
    assert report["visits"] == ["a", "c"]
    verdicts = rows(report, "next.evaluated")[0]["data"]["arcs"]
    assert [arc["verdict"] for arc in verdicts] == [False, True]


def test_inclusive_takes_every_arc_that_holds():
    router = "{spec: {mode: inclusive}, arcs: [{step: b}, {step: c, when: 'false'}, {step: d}]}"
    report = play(steps(noop("a", then=router), noop("b"), noop("c"), noop("d")))
    assert report["visits"] == ["a", "b", "d"]


def test_a_list_with_a_condition_in_it_is_exclusive():
    arcs = "[{step: b, when: 'true'}, {step: c}]"
    assert play(steps(noop("a", then=arcs), noop("b"), noop("c")))["visits"] == ["a", "b"]


def test_an_arc_without_a_condition_does_not_answer_a_failure():
    report = play(steps(noop("a", then="b"), noop("b")), outcomes={"a": [BOOM]})
    assert (report["status"], report["visits"]) == ("failed", ["a"])
    assert report["error"]["kind"] == "python_error"


@pytest.mark.parametrize("word", ["step.failed", "call.error", "step.exit"])
def test_a_failure_answers_to_each_of_its_words(word):
    arcs = f"[{{step: b, when: \"event.name == '{word}'\"}}]"
    report = play(steps(noop("a", then=arcs), noop("b")), outcomes={"a": [BOOM]})
    assert (report["status"], report["handled"]) == ("done", ["a"])


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("event.name == 'call.done'", True),
        ("event.name in ['x', 'step.exit']", True),
        ("event.name != 'step.exit'", False),
        ("event.name not in ['call.done']", False),
        ("event.name == 'step.failed'", False),
        ("event.name != 'loop.done'", True),
    ],
)
def test_comparisons_with_an_event_name_ask_all_its_words(condition, holds):
    report = play(steps(noop("a", then=f'[{{step: b, when: "{condition}"}}]'), noop("b")))
    assert ("b" in report["visits"]) is holds


def test_outside_conditions_an_event_name_is_its_first_word():
    keep = "{step: b, tool: [{t: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue,"
    keep += ' set_ctx: {seen: "{{ args.name }}"}}}}]}}}}]}'
    arcs = '[{step: b, when: "true", args: {name: "{{ event.name }}"}}]'
    assert play(steps(noop("a", then=arcs), keep))["ctx"] == {"seen": "step.done"}


@pytest.mark.parametrize("arc", ["{step: b, when: '1 / 0'}", "{step: b, args: {x: '{{ 1 / 0 }}'}}"])
def test_an_arc_that_raises_fails_the_step_and_no_arc_handles_it(arc):
    arcs = f"[{arc}, {{step: c, when: \"event.name == 'step.failed'\"}}]"
    report = play(steps(noop("a", then=arcs), noop("b"), noop("c")))
    assert (report["status"], report["visits"]) == ("failed", ["a"])
    assert report["error"]["kind"] == "expression"


def test_a_join_starts_once_when_no_other_token_can_reach_it():
    document = steps(
        noop("start", then="[a, b]"), noop("a", then="j"), noop("b", then="j"), noop("j")
    )
    report = play(document, outcomes={"a": [{"takes": 3}], "b": [{"takes": 1}]})
    assert report["visits"] == ["start", "a", "b", "j"]
    assert report["elapsed"] == 3


def test_joining_tokens_merge_their_args_in_arrival_order():
    arcs = '[{step: j, when: "true", args: {who: %s, %s: 1}}]'
    show = "{step: j, tool: [{t: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue,"
    show += ' set_ctx: {args: "{{ args }}"}}}}]}}}}]}'
    document = steps(
        noop("start", then="[a, b]"),
        noop("a", then=arcs % ("a", "x")),
        noop("b", then=arcs % ("b", "y")),
        show,
    )
    report = play(document, outcomes={"a": [{"takes": 2}], "b": [{"takes": 1}]})
    assert report["ctx"]["args"] == {"who": "a", "x": 1, "y": 1}


def test_two_arcs_from_one_step_to_another_make_one_visit():
    document = steps(noop("start", then="[j, j]"), noop("j"))
    assert play(document)["visits"] == ["start", "j"]


def test_join_each_starts_a_visit_for_every_token():
    document = steps(
        noop("start", then="[a, b]"),
        noop("a", then="j"),
        noop("b", then="j"),
        noop("j", spec="{join: each}"),
    )
    report = play(document, outcomes={"a": [{"takes": 3}], "j": [{"takes": 5}]})
    assert report["visits"].count("j") == 2
    assert report["elapsed"] == 8


def test_a_loop_back_is_not_held_up_by_itself():
    back = "[{step: a, when: 'event.visit < 3'}, {step: b, when: 'true'}]"
    document = steps(noop("start", then="a"), noop("a", then=back), noop("b"))
    assert play(document)["visits"] == ["start", "a", "a", "a", "b"]


def test_a_loop_back_does_not_wait_for_a_branch_that_cannot_reach_it():
    back = "[{step: a, when: 'event.visit < 3'}]"
    document = steps(noop("start", then="[a, slow]"), noop("a", then=back), noop("slow"))
    report = play(document, outcomes={"slow": [{"takes": 10}]})
    started = [row["at"] for row in rows(report, "step.started") if row["step"] == "a"]
    assert started == ["2000-01-01T00:00:00.000000Z"] * 3


def test_a_token_waits_for_the_visit_of_its_step_to_end():
    arcs = "[{step: a}, {step: start, when: 'event.visit < 2'}]"
    router = f"{{spec: {{mode: inclusive}}, arcs: {arcs}}}"
    document = steps(noop("start", then=router), noop("a"))
    report = play(document, outcomes={"a": [{"takes": 5}]})
    assert report["visits"] == ["start", "a", "start", "a"]
    assert report["elapsed"] == 10


def test_two_joins_that_wait_for_each_other_start_with_the_older_token():
    document = steps(
        noop("start", then="[a, b]"),
        noop("a", then="x"),
        noop("b", then="y"),
        noop("x", then="[{step: y, when: 'event.visit < 2'}]"),
        noop("y", then="[{step: x, when: 'event.visit < 2'}]"),
    )
    report = play(document, outcomes={"a": [{"takes": 2}], "b": [{"takes": 1}]})
    assert report["status"] == "done"
    assert report["visits"][3] == "y"


def gated(condition):
    return f"{{policy: {{admit: {{rules: [{{when: {condition}, then: {{allow: true}}}}, {{else: {{then: {{allow: false}}}}}}]}}}}}}"


def test_a_token_nobody_lets_in_is_dropped_and_the_run_is_done():
    report = play(steps(noop("start", then="a"), noop("a", spec=gated("ctx.never"))))
    assert (report["status"], report["visits"]) == ("done", ["start"])
    assert rows(report, "step.refused")[0]["step"] == "a"


def test_a_refused_token_holds_up_a_join_until_it_is_dropped():
    document = steps(
        noop("start", then="[a, b]"),
        noop("a", then="j", spec=gated("ctx.never")),
        noop("b", then="j"),
        noop("j"),
    )
    report = play(document)
    assert report["visits"] == ["start", "b", "j"]
    order = [e["name"] for e in report["events"] if e["name"] in ("step.refused", "step.started")]
    assert order[-2:] == ["step.refused", "step.started"]


def test_a_gate_that_raises_fails_the_run():
    report = play(steps(noop("start", then="a"), noop("a", spec=gated("1 / 0"))))
    assert (report["status"], report["error"]["kind"]) == ("failed", "expression")


def test_a_gate_sees_the_args_of_its_token():
    arcs = "[{step: a, when: 'true', args: {go: true}}]"
    document = steps(noop("start", then=arcs), noop("a", spec=gated("args.go")))
    assert play(document)["visits"] == ["start", "a"]


FORK = (
    noop("start", then="[bad, slow]"),
    noop("bad"),
    noop("slow", then="later"),
)


def test_an_unhandled_failure_lets_started_work_end_and_starts_nothing_new():
    report = play(steps(*FORK, noop("later")), outcomes={"bad": [BOOM], "slow": [{"takes": 4}]})
    assert (report["status"], report["elapsed"]) == ("failed", 4)
    assert report["visits"] == ["start", "bad", "slow"]
    assert rows(report, "step.skipped")[0]["step"] == "later"


def test_started_work_keeps_its_retries_while_the_run_fails():
    slow = '{step: slow, tool: [{s: {kind: noop, spec: {policy: {rules: [{when: "outcome.status =='
    slow += " 'error'\", then: {do: retry, attempts: 3, delay: 5}}]}}}}]}"
    document = steps(noop("start", then="[bad, slow]"), noop("bad"), slow)
    report = play(document, outcomes={"bad": [BOOM], "s": [BOOM, BOOM, {}]})
    assert (report["status"], report["elapsed"], report["attempts"]["s"]) == ("failed", 10, 3)


def test_best_effort_lets_the_other_branches_go_to_their_end():
    document = "executor: {spec: {policy: {failure: {mode: best_effort}}}}\n"
    report = play(document + steps(*FORK, noop("later")), outcomes={"bad": [BOOM]})
    assert report["status"] == "failed"
    assert "later" in report["visits"]


def test_a_steps_own_failure_mode_wins():
    fork = (FORK[0], noop("bad", spec="{policy: {failure: {mode: best_effort}}}"), FORK[2])
    report = play(steps(*fork, noop("later")), outcomes={"bad": [BOOM]})
    assert "later" in report["visits"]


def test_a_finished_step_with_no_matching_arc_ends_its_token():
    report = play(steps(noop("a", then="[{step: b, when: 'false'}]"), noop("b")))
    assert (report["status"], report["visits"]) == ("done", ["a"])
