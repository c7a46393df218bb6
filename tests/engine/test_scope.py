"""What templates read, and how values render (playbook.md#names-a-template-reads)."""

import pytest

from tests.play import BOOM, DOWN, play


def evaluated(expression, *, head="", extra="", outcome=None, **script):
    """The value `expression` has in a rule of the second step's task."""
    document = f"""
{head}
workflow:
- step: first
  tool:
  - one: {{kind: noop}}
  - two: {{kind: noop}}
  next: second
- step: second
  tool:
  - before: {{kind: noop}}
  - probe:
      kind: noop
      {extra}
      spec: {{policy: {{rules: [{{else: {{then: {{do: continue, set_ctx: {{seen: "{expression}"}}}}}}}}]}}}}
"""
    outcomes = {
        "one": [{"result": {"n": 1}}],
        "two": [{"result": {"n": 2, "data": {"deep": 3}}}],
        "before": [{"result": "earlier"}],
        "probe": [outcome or {"result": {"x": 5, "items": [1]}}],
    }
    report = play(document, outcomes=outcomes, **script)
    assert report["status"] == "done", report["error"]
    return report["ctx"]["seen"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{{ first.n }}", 2),
        ("{{ first.data.deep }}", 3),
        ("{{ first.results.one.n }}", 1),
        ("{{ first.two.n }}", 2),
        ("{{ first }}", {"n": 2, "data": {"deep": 3}}),
        ("{{ before }}", "earlier"),
        ("{{ before.data }}", "earlier"),
        ("{{ _prev }}", "earlier"),
        ("{{ _task }}", "probe"),
        ("{{ _attempt }}", 1),
        ("{{ outcome.status }}", "ok"),
        ("{{ outcome.result.x }}", 5),
        ("{{ outcome.result.items }}", [1]),
        ("{{ outcome.meta.attempt }}", 1),
        ("{{ outcome.error }}", None),
        ("{{ probe.x }}", 5),
        ("{{ second }}", None),
        ("{{ iter }}", {}),
        ("{{ args }}", {}),
        ("{{ run_id == execution_id }}", True),
        ("{{ job.uuid == run_id }}", True),
        ("{{ workload.a }}", 1),
        ("{{ a }}", 1),
        ("{{ now() }}", "2000-01-01T00:00:00Z"),
        ("{{ rand() }}", 0.5),
        ("{{ nothing.at.all }}", None),
        ("<{{ nothing }}>", "<>"),
        ("<{{ none }}>", "<null>"),
        ("<{{ [1, 'ä', true] }}>", '<[1, "ä", true]>'),
    ],
)
def test_names(expression, expected):
    assert evaluated(expression, head="workload: {a: 1}") == expected


def test_a_label_hides_a_step_which_hides_ctx_which_hides_workload():
    head = "workload: {before: w, first: w, seen: w, free: w}"
    assert evaluated("{{ before }}", head=head) == "earlier"
    assert evaluated("{{ first.n }}", head=head) == 2
    assert evaluated("{{ free }}", head=head) == "w"


def test_a_failed_visit_is_not_what_the_step_reads():
    document = """
workflow:
- step: a
  tool: {kind: noop}
  next: [{step: b, when: "true"}]
- step: b
  tool:
  - t: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {a: "{{ a is defined }}"}}}}]}}}
"""
    assert play(document, outcomes={"a": [BOOM]})["ctx"] == {"a": False}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("outcome.http.status >= 500", False),
        ("outcome.http.status < 500", False),
        ("outcome.http.status == 503", False),
        ("outcome.http.status != 503", True),
        ("outcome.http.status in [503]", False),
        ("outcome.http.status not in [503]", True),
    ],
)
def test_a_missing_helper_is_undefined(condition, holds):
    assert evaluated(f"{{{{ {condition} }}}}") is holds


def test_header_names_are_lower_case():
    answer = {"result": 1, "http": {"status": 200, "headers": {"X-Total": "9"}}}
    assert evaluated("{{ outcome.http.headers['x-total'] }}", outcome=answer) == "9"


def test_only_the_runs_own_constants_are_rendered_in_workload_defaults():
    head = "workload: {mine: 'run {{ run_id }}', other: '{{ ctx.x }}', nested: {deep: '{{ execution_id }}'}}"
    assert evaluated("{{ workload.mine }}", head=head) == "run 1"
    assert evaluated("{{ workload.nested.deep }}", head=head) == "1"
    assert evaluated("{{ workload.other }}", head=head) == "{{ ctx.x }}"


def test_values_of_the_request_are_never_rendered():
    got = evaluated(
        "{{ workload.mine }}", head="workload: {mine: x}", workload={"mine": "{{ run_id }}"}
    )
    assert got == "{{ run_id }}"


def test_the_request_is_merged_deep_into_the_defaults():
    head = "workload: {db: {host: a, port: 1}}"
    assert evaluated("{{ workload.db }}", head=head, workload={"db": {"host": "b"}}) == {
        "host": "b",
        "port": 1,
    }


OUTPUT = """
workload: {limit: 9}
workflow:
- step: a
  tool:
  - name: call
    kind: http
    url: http://x
    spec:
      policy:
        rules:
        - when: "{{ output.status == 'error' }}"
          then: {do: fail}
        - else:
            then: {do: continue, set: {ctx.total: "{{ output.data.data.total }}", iter.page: 2, ctx.deep.er: 1, ctx.limit2: "{{ ctx.limit }}"}}
"""


def test_the_output_dialect_reads_and_sets_in_its_own_words():
    answer = {"result": {"status_code": 200, "data": {"total": 4}}, "http": {"status": 200}}
    ctx = play(OUTPUT, outcomes={"call": [answer]})["ctx"]
    assert ctx == {"total": 4, "deep": {"er": 1}, "limit2": 9}


RETRY = """
workflow:
- step: a
  tool: http
  url: http://x
  retry: {max_attempts: 3, jitter: false, retry_when: "CONDITION"}
"""


@pytest.mark.parametrize(
    ("condition", "outcome", "attempts"),
    [
        ("{{ success == False }}", DOWN, 3),
        ("{{ status_code >= 500 }}", DOWN, 3),
        ("{{ status_code == 500 }}", DOWN, 1),
        ("{{ error != None }}", DOWN, 3),
        ("{{ error != None }}", {"result": {}}, 1),
        ("{{ attempt < 2 }}", DOWN, 2),
        ("{{ 'text' }}", DOWN, 1),
        ("{{ 'YES' }}", DOWN, 3),
        ("{{ 1 }}", DOWN, 3),
        ("{{ data.state == 'no' }}", {"result": {"data": {"state": "no"}}}, 3),
        ("{{ data.state == 'no' }}", {"result": {"state": "no"}}, 3),
        ("{{ result.data.state == 'no' }}", {"result": {"data": {"state": "no"}}}, 3),
        ("{{ node_id == 'a' }}", DOWN, 3),
    ],
)
def test_the_words_of_the_retry_dialect(condition, outcome, attempts):
    report = play(RETRY.replace("CONDITION", condition), outcomes={"a": [outcome]})
    assert report["attempts"]["a"] == attempts


def test_an_ok_result_that_kept_matching_retry_when_is_returned():
    document = RETRY.replace("CONDITION", "{{ data.state == 'no' }}")
    report = play(document, outcomes={"a": [{"result": {"state": "no"}}]})
    assert (report["status"], report["result"]) == ("done", {"state": "no"})
    assert any(event["name"] == "task.retry_exhausted" for event in report["events"])


def test_the_words_of_a_retry_block_exist_in_its_conditions_only():
    document = """
workload: {data: mine}
workflow:
- step: a
  tool: {kind: noop, retry: {max_attempts: 2, jitter: false, retry_when: "{{ data == 1 }}"}, set: {ctx.seen: "{{ data }}"}}
"""
    report = play(document, outcomes={"a": [{"result": 1}]})
    assert (report["attempts"]["a"], report["ctx"]) == (2, {"seen": "mine"})


def test_the_error_of_an_ok_outcome_is_null():
    assert evaluated("{{ outcome.error == none }}") is True
    assert evaluated("{{ outcome.error.kind != 'x' }}") is True
