"""What steps, arcs and tasks write, and what they read there (playbook.md#what-is-written-and-when)."""

import pytest

from anew.lab.replay import replay
from tests.play import BOOM, DOWN, play, rows, simulated

NOOP = "{kind: noop}"
HTTP = {
    "status_code": 200,
    "headers": {},
    "url": "u",
    "elapsed": 1,
    "data": {"n": 3, "status": "x"},
}


def flow(a, *others, workload="{}"):
    """A playbook that starts with the step a, which has these keys."""
    rest = "\n".join(f"- {one}" for one in others)
    return f"workload: {workload}\nworkflow:\n- step: a\n{a}\n{rest}\n"


def routed(report, step="a"):
    """What the log says of the end of a step's visits."""
    return [row["data"] for row in rows(report, "next.evaluated") if row["step"] == step]


# --- a step --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "script"),
    [
        ("tool: {kind: noop}", "a"),
        ("tool: [{one: {kind: noop}}, {two: {kind: noop}}]", "two"),
        ("", "a"),
    ],
)
def test_a_step_writes_its_result_however_many_tasks_it_has(tool, script):
    text = flow(f'  {tool}\n  set: {{ctx.n: "{{{{ output.n }}}}", by_name: "{{{{ a.n }}}}"}}')
    report = play(text, outcomes={script: [{"result": {"n": 7}}]})
    assert report["ctx"] == {"n": 7, "by_name": 7}
    (ended,) = routed(report)
    assert ended["patches"] == {"ctx": {"n": 7, "by_name": 7}}


def test_every_key_is_rendered_against_the_same_state():
    text = flow(
        f"  tool: {NOOP}\n  set: {{x: 1}}\n  next: b",
        '{step: b, tool: {kind: noop}, set: {x: 2, y: "{{ ctx.x }}", step.z.k: "{{ x }}"}}',
    )
    assert play(text)["ctx"] == {"x": 2, "y": 1, "z": {"k": 1}}


def test_arcs_see_what_the_step_writes():
    text = flow(
        f"  tool: {NOOP}\n  set: {{n: 1}}\n"
        '  next: {arcs: [{step: b, when: "ctx.n == 1", args: {n: "{{ n }}"}}]}',
        '{step: b, tool: {kind: noop, result: "{{ args.n }}"}}',
    )
    report = play(text)
    assert rows(report, "task.started")[-1]["data"]["inputs"] == {"result": 1}


def test_chosen_arcs_write_in_file_order_what_they_rendered_before_any_of_them_wrote():
    text = flow(
        f"  tool: {NOOP}\n  set: {{n: 1}}\n  next:\n    spec: {{mode: inclusive}}\n    arcs:\n"
        '    - {step: b, set: {n: "{{ n + 1 }}", by: b}, args: {n: "{{ n }}"}}\n'
        '    - {step: c, when: "false", set: {n: 50}}\n'
        '    - {step: c, set: {m: "{{ n + 1 }}", by: c}}',
        '{step: b, tool: {kind: noop, result: "{{ args.n }}"}}',
        "{step: c, tool: {kind: noop}}",
    )
    report = play(text)
    assert report["ctx"] == {"n": 2, "m": 2, "by": "c"}
    (ended,) = routed(report)
    assert ended["patches"] == {"ctx": {"n": 2, "m": 2, "by": "c"}}
    assert [token["args"] for token in ended["tokens"]] == [{"n": 2}, {}]


def test_a_failed_visit_writes_nothing_but_what_the_arc_writes_that_takes_it():
    text = flow(
        f"  tool: {NOOP}\n  set: {{never: 1}}\n"
        "  next: {arcs: [{step: b, when: \"event.name == 'step.failed'\", "
        'set: {why: "{{ output.error.kind }}", kind: "{{ error.kind }}", '
        'status: "{{ output.status }}", code: "{{ output.http.status }}"}}]}',
        "{step: b}",
    )
    failed = {**BOOM, "http": {"status": 503, "headers": {}}}
    report = play(text, outcomes={"a": [failed]})
    kind = BOOM["error"]["kind"]
    assert report["ctx"] == {"why": kind, "kind": kind, "status": "error", "code": 503}


@pytest.mark.parametrize(
    ("step", "arc"), [("{n: '{{ 1 / 0 }}'}", "{}"), ("{n: 1}", "{m: '{{ 1 / 0 }}'}")]
)
def test_a_set_that_cannot_be_rendered_fails_the_step_for_good(step, arc):
    text = flow(
        f"  tool: {NOOP}\n  set: {step}\n  next: {{arcs: [{{step: b, set: {arc}}}, "
        "{step: b, when: \"event.name == 'step.failed'\"}]}",
        "{step: b}",
    )
    report = play(text)
    assert (report["status"], report["error"]["kind"]) == ("failed", "expression")
    assert (report["visits"], report["ctx"]) == (["a"], {})
    assert [data.get("patches") for data in routed(report)] == [None]


# --- a loop --------------------------------------------------------------------------------------

LOOP = """
workflow:
- step: each
  loop: {in: [1, 2], iterator: i, spec: {mode: MODE}}
  tool: {kind: noop, set: {seen: "{{ output.v }}", ctx.last: "{{ iter.i }}"}}
  set: {SET}
  next: {arcs: [ARCS]}
- {step: good, tool: {kind: noop}}
- {step: bad, tool: {kind: noop}}
"""
COUNTED = '{step: bad, when: "event.failed > 0", set: {failed: "{{ event.failed }}"}}'
FAILED = "{step: bad, when: \"event.name == 'step.failed'\", set: {why: '{{ error.kind }}'}}"


def loop(*, mode="sequential", written="ctx.total: '{{ output.total }}'", arcs="{step: good}"):
    return LOOP.replace("MODE", mode).replace("SET", written).replace("ARCS", arcs)


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_a_loop_writes_once_when_all_iterations_have_ended(mode):
    written = "total: '{{ output.total }}', after: '{{ ctx.last }}', list: '{{ each.results }}'"
    report = play(loop(mode=mode, written=written), outcomes={"each": [{"result": {"v": 1}}]})
    results = [{"v": 1}, {"v": 1}]
    assert report["ctx"] == {"last": 2, "total": 2, "after": 2, "list": results}
    assert len([data for data in routed(report, "each") if data.get("patches")]) == 1


def test_a_loop_whose_failures_are_counted_stands_and_writes():
    report = play(loop(arcs=COUNTED), outcomes={"each": [BOOM, {"result": {}}]})
    assert (report["visits"], report["ctx"]) == (
        ["each", "bad"],
        {"last": 2, "total": 2, "failed": 1},
    )


def test_nothing_of_its_set_stays_when_a_loop_fails():
    arcs = f"{{step: good, set: {{no: 1}}}}, {FAILED}"
    report = play(loop(arcs=arcs), outcomes={"each": [BOOM, {"result": {}}]})
    assert report["visits"] == ["each", "bad"]
    assert report["ctx"] == {"last": 2, "why": BOOM["error"]["kind"]}


def test_the_failure_of_a_loop_is_not_hidden_by_a_set_that_cannot_be_rendered():
    text = loop(written="n: '{{ output.results[0].v + 1 }}'", arcs=FAILED)
    report = play(text, outcomes={"each": [BOOM]})
    assert (report["status"], report["ctx"]["why"]) == ("done", BOOM["error"]["kind"])


# --- ways that no arc describes ------------------------------------------------------------------


def test_an_arc_that_a_gate_overrules_does_not_write():
    rule = '{when: "_visit == 1", then: {do: continue, verdict: partial}}'
    text = flow(
        f"  tool: {{kind: noop, spec: {{policy: {{on_unmatched: fail, rules: [{rule}]}}}}}}\n"
        "  spec: {gate: {to: a, most: 1}}\n  next: {arcs: [{step: out}]}",
        '{step: out, spec: {exit: true}, set: {own: "{{ (ctx.own or 0) + 1 }}"}, '
        'next: {arcs: [{step: after, set: {arc: "{{ (ctx.arc or 0) + 1 }}"}}]}}',
        "{step: after}",
    )
    report = play(text)
    assert report["visits"] == ["a", "out", "a", "out", "after"]
    assert report["ctx"] == {"own": 2, "arc": 1}


def test_a_visit_that_finds_no_way_on_fails_and_writes_nothing():
    text = flow(
        '  set: {n: 1}\n  next: {spec: {must_choose: true}, arcs: [{step: b, when: "n == 2"}]}',
        "{step: b}",
    )
    report = play(text)
    assert (report["error"]["kind"], report["ctx"]) == ("no_route", {})


# --- branches and refused tokens -----------------------------------------------------------------


def test_a_step_in_a_branch_writes_to_the_context_of_that_branch():
    text = flow(
        "  set: {at: a}\n  next: {spec: {mode: fork}, arcs: [{step: b}, {step: c, set: {to: c}}]}",
        '{step: b, set: {b: "{{ ctx.at }}{{ ctx.to }}"}, next: {arcs: [{step: j}]}}',
        '{step: c, tool: {kind: sleep, seconds: 5}, set: {c: "{{ ctx.b }}"}, '
        "next: {arcs: [{step: j}]}}",
        "{step: j, tool: {kind: noop}, spec: {join: wait_all}}",
    )
    report = play(text)
    assert report["ctx"] == {"at": "a", "to": "c", "b": "ac", "c": None}


def test_a_refused_token_is_asked_again_when_a_step_has_written():
    gate = '{policy: {admit: {rules: [{when: "ctx.open", then: {allow: true}}, ' + (
        "{else: {then: {allow: false}}}]}}}"
    )
    text = flow(
        "  next: [b, c]",
        f"{{step: b, spec: {gate}}}",
        "{step: c, tool: {kind: sleep, seconds: 1}, set: {ctx.open: true}}",
    )
    assert play(text)["visits"] == ["a", "c", "b"]


# --- a task --------------------------------------------------------------------------------------


def test_what_a_task_sets_lasts_for_its_step_run():
    rule = '{else: {then: {do: continue, set_ctx: {KEY: "{{ [n, m] }}"}}}}'
    text = flow(
        '  tool:\n  - one: {kind: noop, set: {n: "{{ output.v }}", m: "{{ output.data.v }}"}, '
        f"spec: {{policy: {{rules: [{rule.replace('KEY', 'own')}]}}}}}}\n"
        f"  - two: {{kind: noop, spec: {{policy: {{rules: [{rule.replace('KEY', 'later')}]}}}}}}\n"
        "  next: b",
        f"{{step: b, tool: {{kind: noop, spec: {{policy: {{rules: [{rule.replace('KEY', 'gone')}]}}}}}}}}",
    )
    report = play(text, outcomes={"one": [{"result": {"v": 4}}]})
    assert report["ctx"] == {"own": [4, 4], "later": [4, 4], "gone": [None, None]}
    first = rows(report, "task.processed")[0]
    assert first["data"]["patches"]["local"] == {"n": 4, "m": 4}


def test_a_task_sets_after_failed_attempts_too_and_later_attempts_read_it():
    text = flow(
        '  tool:\n    kind: noop\n    result: "{{ tries }}"\n'
        '    set: {tries: "{{ (tries or 0) + 1 }}", ctx.last: "{{ output.status }}"}\n'
        '    spec: {policy: {rules: [{when: "tries < 3", then: {do: retry, attempts: 9}}]}}'
    )
    report = play(text, outcomes={"a": [BOOM, BOOM, {"result": 3}]})
    assert (report["attempts"]["a"], report["ctx"]["last"]) == (3, "ok")
    started = [row["data"]["inputs"] for row in rows(report, "task.started")]
    assert started == [{"result": None}, {"result": 1}, {"result": 2}]


def test_a_rule_writes_after_its_task_and_its_bare_keys_go_to_ctx():
    text = flow(
        "  tool: {kind: noop, set: {n: 1, ctx.x: 1}, spec: {policy: {rules: "
        '[{else: {then: {do: continue, set: {n: "{{ ctx.x + 1 }}", ctx.x: 5}}}}]}}}'
    )
    report = play(text)
    assert report["ctx"] == {"x": 5, "n": 2}
    (processed,) = rows(report, "task.processed")
    assert processed["data"]["patches"] == {"local": {"n": 1}, "ctx": {"x": 5, "n": 2}}


def test_beside_a_tool_that_is_a_word_set_is_of_the_task():
    text = flow('  tool: noop\n  set: {ctx.n: "{{ output.v }}", m: 1}\n  retry: 2')
    report = play(text, outcomes={"a": [BOOM]})
    assert (report["status"], report["ctx"]) == ("failed", {"n": None})
    assert [row["data"]["patches"]["local"] for row in rows(report, "task.processed")] == [
        {"m": 1},
        {"m": 1},
    ]


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_iterations_do_not_see_what_others_set_for_themselves(mode):
    text = (
        "workflow:\n- step: each\n"
        f"  loop: {{in: [1, 2], iterator: i, spec: {{mode: {mode}}}}}\n"
        '  tool:\n  - one: {kind: noop, result: "{{ n }}", set: {n: "{{ iter.i }}"}}\n'
        '  - two: {kind: noop, result: "{{ n }}"}\n'
    )
    report = play(text)
    inputs = {
        (r["task"], r["iteration"]): r["data"]["inputs"] for r in rows(report, "task.started")
    }
    assert inputs == {
        ("one", 0): {"result": None},
        ("one", 1): {"result": None},
        ("two", 0): {"result": 1},
        ("two", 1): {"result": 2},
    }


def test_a_call_of_the_workbook_may_set_and_still_follow_its_rules():
    text = (
        "workbook: [{name: w, tool: {kind: noop, set: {ctx.x: 1, ctx.y: 1}, "
        "eval: [{expr: \"outcome.status == 'error'\", do: retry, attempts: 3}]}}]\n"
        + flow("  tool: {kind: workbook, name: w, set: {ctx.x: 2}}")
    )
    report = play(text, outcomes={"a": [BOOM, {"result": 1}]})
    assert (report["attempts"]["a"], report["ctx"]) == (2, {"x": 2, "y": 1})


# --- names ---------------------------------------------------------------------------------------


def test_a_label_comes_before_what_a_task_set_and_that_before_a_step():
    text = flow(
        "  next: b",
        "{step: b, tool: [{one: {kind: noop, set: {a: 1, one: 2}}}, "
        '{two: {kind: noop, result: "{{ [a, one] }}"}}]}',
    )
    outcomes = {"a": [{"result": "step"}], "one": [{"result": "label"}]}
    last = rows(play(text, outcomes=outcomes), "task.started")[-1]
    assert last["data"]["inputs"] == {"result": [1, "label"]}


@pytest.mark.parametrize(
    ("result", "expression", "value"),
    [
        ({"n": 1}, "output.n", 1),
        ({"n": 1}, "output.data.n", 1),
        ({"data": 2}, "output.data", 2),
        ({"n": 1}, "output.status", "ok"),
        ({"status": "open"}, "output.status", "open"),
        ([5], "output.data[0]", 5),
        ([5], "output[0]", 5),
        (HTTP, "output.data.n", 3),
        (HTTP, "output.n", 3),
        (HTTP, "output.status", "ok"),
        ({"n": 1}, "output.error", None),
    ],
)
def test_output_is_the_result_and_answers_for_the_outcome_where_that_has_no_such_key(
    result, expression, value
):
    text = flow(
        f'  tool: {{kind: noop, set: {{ctx.task: "{{{{ {expression} }}}}"}}}}\n'
        f'  set: {{ctx.step: "{{{{ {expression} }}}}"}}\n'
        + f'  next: {{arcs: [{{step: b, set: {{ctx.arc: "{{{{ {expression} }}}}"}}}}]}}',
        "{step: b}",
    )
    report = play(text, outcomes={"a": [{"result": result}]})
    assert report["ctx"] == {"task": value, "step": value, "arc": value}


def test_a_step_reads_the_error_of_its_last_outcome_and_its_arcs_that_of_the_visit():
    text = flow(
        "  tool: [{one: {kind: http, url: u, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}}]\n"
        '  set: {s: "{{ output.status }}", k: "{{ output.error.kind }}"}\n'
        '  next: [{step: b, set: {t: "{{ output.status }}", l: "{{ output.error }}"}}]',
        "{step: b}",
    )
    passed = play(text, outcomes={"one": [DOWN]})
    assert passed["ctx"] == {"s": "error", "k": "server_error", "t": "ok", "l": None}
    well = play(text, outcomes={"one": [{"result": 1}]})
    assert well["ctx"] == {"s": "ok", "k": None, "t": "ok", "l": None}


def test_in_rules_output_is_the_outcome_and_its_response_the_result():
    text = flow(
        "  tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, "
        'set_ctx: {r: "{{ output.response.n }}", d: "{{ output.data.n }}"}}}}]}}}'
    )
    assert play(text, outcomes={"a": [{"result": {"n": 3}}]})["ctx"] == {"r": 3, "d": 3}


@pytest.mark.parametrize(
    ("step", "attempts"),
    [
        ('retry: {max_attempts: 4, stop_when: "{{ output.http.status == 503 }}"}', 1),
        ('retry: {max_attempts: 4, retry_when: "{{ output.http.status == 503 }}"}', 4),
        ("retry: {max_attempts: 4, retry_when: \"{{ output.status == 'error' }}\"}", 4),
        ("retry: {max_attempts: 4, retry_when: \"{{ output.response.why == 'busy' }}\"}", 4),
        ("eval: [{expr: \"{{ output.data.why == 'busy' }}\", do: retry, attempts: 4}]", 4),
        (
            "case: [{when: \"{{ event.name == 'call.error' and output.http.status == 503 }}\", "
            "then: {retry: {max_attempts: 4}}}]",
            4,
        ),
    ],
)
def test_the_conditions_of_every_dialect_read_output(step, attempts):
    inner = f", {step}" if step.startswith("eval") else ""
    beside = "" if inner else f"  {step}"
    text = flow(f'  tool: {{kind: http, url: "http://x"{inner}}}\n{beside}')
    busy = {**DOWN, "result": {"status_code": 503, "why": "busy"}}
    assert play(text, outcomes={"a": [busy]})["attempts"] == {"a": attempts}


@pytest.mark.parametrize(("outcome", "status"), [({"result": 1}, "ok"), (DOWN, "error")])
def test_the_status_of_output_has_the_same_words_in_an_eval_task(outcome, status):
    text = flow(
        "  tool: {kind: noop, eval: [{else: {do: continue, set_ctx: {"
        's: "{{ output.status }}", o: "{{ outcome.status }}"}}}]}'
    )
    said = {"ok": "success"}.get(status, status)
    assert play(text, outcomes={"a": [outcome]})["ctx"] == {"s": status, "o": said}


def test_result_and_response_are_the_lowest_names_where_a_visit_ends():
    text = flow(
        '  set: {r: "{{ result.n }}", e: "{{ error }}"}\n'
        '  next: {arcs: [{step: b, when: "response == 5 and result.n == 3"}]}',
        "{step: b}",
        workload="{response: 5}",
    )
    report = play(text, outcomes={"a": [{"result": {"n": 3}}]})
    assert (report["visits"], report["ctx"]) == (["a", "b"], {"r": 3, "e": None})


# --- older state ---------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["ctx", "vars"])
def test_a_document_says_what_ctx_starts_with(root):
    text = flow(
        f'  tool: {NOOP}\n  vars: {{y: "{{{{ vars.x + 1 }}}}"}}\n'
        '  next: [{step: b, when: "vars.y == 4 and x == 3"}]',
        '{step: b, set_ctx: {z: "{{ vars.y }}"}}',
        workload="{n: 3}",
    )
    report = play(f'{root}: {{x: "{{{{ workload.n }}}}", id: "{{{{ run_id }}}}"}}\n{text}')
    run = rows(report, "run.requested")[0]["data"]["run"]
    assert rows(report, "run.started")[0]["data"]["ctx"] == {"x": 3, "id": run}
    assert report["ctx"] == {"x": 3, "id": run, "y": 4, "z": 4}


def test_a_run_fails_whose_ctx_cannot_be_rendered():
    report = play('ctx: {x: "{{ 1 / 0 }}"}\n' + flow(f"  tool: {NOOP}"))
    assert (report["status"], report["error"]["kind"]) == ("failed", "expression")
    assert report["visits"] == []


def test_ctx_may_start_as_the_input_and_more():
    text = "executor: {spec: {ctx: workload}}\nctx: {b: 2, c: 3}\n"
    assert play(text + flow("", workload="{a: 1, b: 1}"))["ctx"] == {"a": 1, "b": 2, "c": 3}


def test_elsewhere_vars_is_a_name_like_any_other():
    text = flow('  set: {x: "{{ vars.x }}", y: 1}', workload="{vars: {x: 1}}")
    assert play(text)["ctx"] == {"x": 1, "y": 1}
    assert play(flow('  set: {x: "{{ vars.y }}", y: 1}'))["ctx"] == {"x": None, "y": 1}


# --- the log -------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcomes", [[BOOM, {"result": {"v": 1}}], [{"result": {"v": 1}}]])
def test_everything_that_is_written_can_be_derived_again(outcomes):
    run = simulated(
        loop(mode="parallel", arcs=f"{COUNTED}, {{step: good}}"), outcomes={"each": outcomes}
    )
    assert [replay(run.program, log) for log in run.runs] == [None]
