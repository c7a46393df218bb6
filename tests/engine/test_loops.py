"""Loops (playbook.md#loop)."""

import pytest

from tests.play import BOOM, names, play, rows

LOOP = """
workload: {rows: [a, b, c]}
workflow:
- step: each
  loop: {in: "{{ SOURCE }}", iterator: item, spec: {mode: MODE, max_in_flight: 2}}
  tool:
  - call:
      kind: noop
      spec: {policy: {fail: x, on_unmatched: fail, rules: [RULES]}}
  next: [ARCS]
- {step: good, tool: {kind: noop}}
- {step: bad, tool: {kind: noop}}
"""
NOTE = '{when: "outcome.status == \'ok\'", then: {do: continue, set_ctx: {seen: "{{ (ctx.seen | default([])) + [iter.item] }}", last: "{{ iter.index }}"}}}'


def loop(*, source="workload.rows", mode="sequential", rules="", arcs="good"):
    text = LOOP.replace("SOURCE", source).replace("MODE", mode).replace("fail: x, ", "")
    return text.replace("RULES", rules).replace("ARCS", arcs)


def test_iterations_run_in_order_and_see_what_those_before_them_set():
    report = play(loop(rules=NOTE), outcomes={"call": [{"takes": 1}]})
    assert (report["ctx"]["seen"], report["elapsed"]) == (["a", "b", "c"], 3)
    assert report["visits"] == ["each", "good"]


def test_parallel_iterations_overlap_up_to_max_in_flight():
    report = play(loop(mode="parallel"), outcomes={"call": [{"takes": 1}]})
    assert report["elapsed"] == 2


def test_parallel_iterations_do_not_see_each_other_and_merge_in_index_order():
    takes = [{"takes": 3}, {"takes": 1}, {"takes": 1}]
    report = play(loop(mode="parallel", rules=NOTE), outcomes={"call": takes})
    assert report["ctx"] == {"seen": ["c"], "last": 2}


def test_an_empty_list_ends_at_once():
    report = play(loop(source="[]"))
    assert report["visits"] == ["each", "good"]
    assert report["attempts"]["call"] == 0


def test_a_mapping_iterates_as_keys_and_values():
    report = play(loop(source="{'k': 1}", rules=NOTE))
    assert report["ctx"]["seen"] == [{"key": "k", "value": 1}]


@pytest.mark.parametrize("source", ["nothing", "none", "'text'", "3", "1 / 0"])
def test_anything_else_fails_the_step(source):
    report = play(loop(source=source))
    assert report["error"]["kind"] == "expression"


def test_a_loop_source_that_fails_can_be_handled():
    report = play(loop(source="none", arcs="{step: bad, when: \"event.name == 'step.failed'\"}"))
    assert (report["status"], report["visits"]) == ("done", ["each", "bad"])


FAILS_ONCE = {"call": [{}, BOOM, {}]}


def test_one_failed_iteration_stops_no_other_and_fails_the_step():
    report = play(loop(), outcomes=FAILS_ONCE)
    assert (report["status"], report["attempts"]["call"]) == ("failed", 3)
    assert report["error"]["kind"] == "python_error"
    assert report["error"]["loop"] == {"total": 3, "done": 2, "failed": 1}
    assert report["visits"] == ["each"]


def test_the_error_is_that_of_the_first_failed_iteration_by_index_not_by_time():
    late = {"error": {"kind": "timeout", "message": "late"}, "takes": 5}
    report = play(loop(mode="parallel"), outcomes={"call": [late, BOOM, {}]})
    assert report["error"]["kind"] == "timeout"


def test_parallel_iterations_may_write_below_one_key():
    two = [
        '{when: "iter.index == 0", then: {do: continue, set: {ctx.seen.a: 1}}}',
        "{else: {then: {do: continue, set: {ctx.seen.b: 2}}}}",
    ]
    report = play(loop(mode="parallel", rules=", ".join(two)))
    assert report["ctx"] == {"seen": {"a": 1, "b": 2}}


def test_an_arc_that_counts_failures_handles_them():
    arcs = '{step: bad, when: "event.failed > 0"}, {step: good, when: "true"}'
    report = play(loop(arcs=arcs), outcomes=FAILS_ONCE)
    assert (report["status"], report["visits"]) == ("done", ["each", "bad"])
    assert report["handled"] == ["each"]


def test_an_arc_that_does_not_count_failures_is_dropped_and_arcs_are_asked_again():
    arcs = "{step: good, when: \"event.name == 'loop.done'\"}, {step: bad, when: \"event.name == 'step.failed'\"}"
    report = play(loop(arcs=arcs), outcomes=FAILS_ONCE)
    assert (report["status"], report["visits"]) == ("done", ["each", "bad"])
    events = [row["data"]["event"] for row in rows(report, "next.evaluated")]
    assert events[:2] == ["loop.done", "step.failed"]


def test_results_are_in_index_order_with_null_where_failed():
    keep = "{step: good, tool: [{k: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {all: '{{ each.results }}', n: '{{ each.total }}', failed: '{{ each.failed }}', data: '{{ each.data }}'}}}}]}}}}]}"
    text = loop(mode="parallel", arcs='{step: good, when: "event.failed >= 0"}')
    text = text.replace("{step: good, tool: {kind: noop}}", keep)
    said = [{"result": 1, "takes": 3}, {**BOOM, "takes": 1}, {"result": 3, "takes": 1}]
    report = play(text, outcomes={"call": said})
    assert report["ctx"]["all"] == report["ctx"]["data"] == [1, None, 3]
    assert (report["ctx"]["n"], report["ctx"]["failed"]) == (3, 1)


def test_a_visit_of_a_loop_starts_and_ends_once():
    seen = names(play(loop()))
    assert seen.count("step.started") == seen.count("step.done") == 2
    assert seen.count("loop.iteration.done") == 3


def test_iterations_have_scratch_of_their_own():
    rules = '{when: "iter.mark is defined", then: {do: fail}}, {else: {then: {do: continue, set_iter: {mark: 1}}}}'
    assert play(loop(rules=rules))["status"] == "done"


def test_each_iteration_retries_by_itself():
    rules = "{when: \"outcome.status == 'error'\", then: {do: retry, attempts: 2, delay: 1}}"
    report = play(loop(mode="parallel", rules=rules), outcomes={"call": [BOOM, BOOM, {}]})
    assert (report["status"], report["attempts"]["call"]) == ("done", 5)


BARE = """
workload: {rows: [3, 5], EXTRA}
workflow:
- step: each
  loop: {in: "{{ workload.rows }}", iterator: row, spec: {mode: MODE}}
  tool:
  - one: {kind: noop, result: "{{ [row, _index, loop_index, _total] }}"}
  - two:
      kind: noop
      result: "{{ one }}"
      spec: {policy: {rules: [{when: "row > 100", then: {do: fail}}, {else: {then: {do: continue, set_ctx: {at: "{{ (ctx.at or []) + [[row, loop_index]] }}"}}}}]}}
"""


def bare(*, mode="sequential", extra=""):
    return BARE.replace("MODE", mode).replace("EXTRA", extra)


def started(report, task):
    return [
        event["data"]["inputs"] for event in rows(report, "task.started") if event["task"] == task
    ]


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_the_names_of_a_loop_are_bare_names_in_its_tasks(mode):
    report = play(bare(mode=mode))
    assert started(report, "one") == [{"result": [3, 0, 0, 2]}, {"result": [5, 1, 1, 2]}]
    assert report["ctx"]["at"][-1] == [5, 1]


def test_the_names_of_a_loop_win_over_steps_ctx_and_workload_and_labels_over_them():
    report = play(bare(extra="row: hidden, _total: hidden, _index: hidden, loop_index: hidden"))
    assert started(report, "one")[0] == {"result": [3, 0, 0, 2]}
    document = bare().replace("- one:", "- row:").replace("{{ one }}", "{{ row }}")
    report = play(document.replace("row > 100", "false"), outcomes={"row": [{"result": "label"}]})
    assert started(report, "two")[0] == {"result": "label"}


def test_what_a_rule_puts_in_iter_is_what_the_bare_name_reads_and_no_other_key_is():
    rule = '{else: {then: {do: continue, set_iter: {row: 9, mine: 1}, set_ctx: {both: ["{{ row }}"]}}}}'
    document = bare().replace(
        'result: "{{ [row', f'spec: {{policy: {{rules: [{rule}]}}}}, result: "{{{{ [row'
    )
    document = document.replace('"{{ one }}"', '"{{ [row, mine, index] }}"')
    report = play(document)
    assert started(report, "two")[0] == {"result": [9, None, None]}


def test_outside_of_a_loop_its_names_are_not_there():
    document = (
        bare() + "  next: after\n- {step: after, tool: {kind: noop, result: '{{ [row, _index] }}'}}"
    )
    report = play(document)
    assert started(report, "after") == [{"result": [None, None]}]
