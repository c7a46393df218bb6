"""What the bounds of a document say: numbers, what is open and why, calls, warnings."""

from __future__ import annotations

from math import isinf

import pytest

from anew.engine.events import TaskStarted
from anew.lab.bounds import Bounds, Child, bounds_of
from anew.lab.script import read_script
from anew.lab.simulate import simulate
from anew.program.program import Program
from anew.values import Object
from tests.lab.bounds.making import program_of


def of(document: str, *, name: str = "flow.yaml", **more: object) -> Bounds:
    return bounds_of(program_of(document, name), **more)  # type: ignore[arg-type]


def task(bounds: Bounds, label: str):  # type: ignore[no-untyped-def]
    return next(row for row in bounds.tasks if row.task == label)


def call(then: str, *, spec: str = "timeout: 2", task: str = "") -> str:
    return f"""
workflow:
  - step: fetch
    tool:
      - get:
          kind: http
          url: http://api.example/things
          {task or "method: GET"}
          spec:
            {spec}
            policy:
              on_unmatched: fail
              rules: [{{when: "{{{{ outcome.error.retryable }}}}", then: {then}}}]
"""


# --- waits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "waits"),
    [
        ("{do: retry, attempts: 4, delay: 2}", 6),
        ("{do: retry, attempts: 4, backoff: none}", 0),
        ("{do: retry, attempts: 4, backoff: linear, delay: 2}", 12),
        ("{do: retry, attempts: 4, backoff: exponential, delay: 2}", 14),
        ("{do: retry, attempts: 4, backoff: exponential, delay: 2, max_delay: 5}", 11),
        ("{do: retry, attempts: 4, delay: 2, jitter: true}", 9),
        ("{do: retry, attempts: 4, delay: 2, jitter: 0.25}", 7.5),
        ("{do: retry, attempts: 4, delay: 2, jitter: full}", 6),
        ("{do: retry, attempts: 4, delay: 2, jitter: equal}", 6),
        ("{do: retry, attempts: 4, delay: 2, jitter: decorrelated}", 6 + 18 + 54),
        ("{do: retry, attempts: 4, delay: 2, jitter: decorrelated, max_delay: 10}", 6 + 10 + 10),
        ("{do: retry, attempts: 4, delay: 2, max_elapsed: 5}", 4),
        ("{do: retry, attempts: 4, delay: 2, honor_retry_after: true, max_delay: 60}", 180),
        ("{do: retry, attempts: 1, delay: 2}", 0),
    ],
)
def test_the_waits_between_attempts_are_the_longest_that_chance_allows(
    then: str, waits: float
) -> None:
    assert of(call(then)).waits.at_most == pytest.approx(waits)


def test_a_call_takes_its_timeout_and_the_tools_own_where_none_is_given() -> None:
    given, default = (
        of(call("{do: retry, attempts: 3, backoff: none}")),
        of(call("{do: retry, attempts: 3, backoff: none}", spec="pool: default")),
    )
    assert given.time.at_most == 6
    assert not task(given, "get").timeout_is_default
    assert default.time.at_most == 90
    assert task(default, "get").timeout_is_default


def test_a_wish_of_the_server_is_open_unless_it_is_capped() -> None:
    bounds = of(call("{do: retry, attempts: 3, delay: 1, honor_retry_after: true}"))
    assert [reason.rule for reason in bounds.unbounded] == ["retry-after"]
    assert bounds.executions.is_bounded
    assert not bounds.waits.is_bounded


def test_max_elapsed_bounds_what_an_expression_leaves_open() -> None:
    then = '{do: retry, attempts: 3, delay: "{{ ctx.pause }}", max_elapsed: 30}'
    assert of(call(then)).waits.at_most == 30
    bounds = of(call(then.replace(", max_elapsed: 30", "")))
    assert [(reason.rule, reason.place.line) for reason in bounds.unbounded] == [("delay", 13)]


def test_attempts_that_are_an_expression_end_with_a_limit_of_the_engine() -> None:
    bounds = of(call('{do: retry, attempts: "{{ ctx.tries }}", delay: 1}'))
    assert [reason.rule for reason in bounds.unbounded] == ["attempts"]
    assert bounds.unbounded[0].ends == "limits.tasks_per_step_run, 100,000"
    assert bounds.executions.at_most == 100_000


def test_attempts_of_the_workload_are_known_and_may_be_given() -> None:
    document = call('{do: retry, attempts: "{{ workload.tries }}", delay: 1}')
    document = "workload: {tries: 4}\n" + document
    assert of(document).executions.at_most == 4
    assert of(document, workload={"tries": 7}).executions.at_most == 7


def test_very_many_attempts_are_not_added_one_by_one() -> None:
    bounds = of(
        call("{do: retry, attempts: 1000000, backoff: exponential, delay: 1, max_delay: 9}")
    )
    assert bounds.executions.at_most == 100_000  # the limit of a step-run
    assert 9 * 990_000 <= bounds.waits.at_most < 9 * 1_010_000


# --- loops ----------------------------------------------------------------------------------------

LOOP = """
workload: {names: [a, b, c, d, e]}
workflow:
  - step: each
    loop: {in: "{{ %s }}", iterator: it, spec: {mode: %s, max_in_flight: 2}}
    tool: {kind: sleep, seconds: 10}
"""


def test_a_sequential_loop_multiplies_and_a_parallel_one_goes_in_rounds() -> None:
    one_by_one = of(LOOP % ("workload.names", "sequential"))
    assert (one_by_one.executions.at_most, one_by_one.waits.at_most) == (5, 50)
    in_rounds = of(LOOP % ("workload.names", "parallel"))
    assert (in_rounds.executions.at_most, in_rounds.waits.at_most) == (5, 30)
    fewer = of(LOOP % ("workload.names", "sequential"), workload={"names": []})
    assert fewer.waits.at_most == 0


def test_a_loop_over_data_is_open_or_assumed() -> None:
    document = LOOP % ("ctx.names", "sequential")
    bounds = of(document)
    assert [(one.rule, one.place.line, one.place.column) for one in bounds.unbounded] == [
        ("loop", 5, 5)
    ]
    assert not bounds.is_bounded
    assumed = of(document, items=7)
    assert assumed.waits.at_most == 70
    assert assumed.is_bounded
    assert [one.place.line for one in assumed.assumed] == [5]


CALL_AND_SLEEP = """
workflow:
  - step: each
    loop: {in: [1, 2, 3, 4, 5, 6, 7, 8], iterator: it, spec: {mode: parallel, max_in_flight: 2}}
    tool:
      - call: {kind: http, url: http://x, spec: {timeout: %s}}
      - nap: {kind: sleep, seconds: 10}
"""


def test_waits_follow_each_other_while_a_long_call_goes_on_beside_them() -> None:
    bounds, program = of(CALL_AND_SLEEP % 600), program_of(CALL_AND_SLEEP % 600)
    script = b"outcomes: {'each#1[0].call': {result: {}, takes: 70}}"
    played = simulate(program, read_script(script, "script.yaml"))
    naps = [
        event.at / 10**9
        for event in played.runs[0]
        if isinstance(event, TaskStarted) and event.task == "nap"
    ]
    assert [at - naps[0] for at in naps[:7]] == [0, 10, 20, 30, 40, 50, 60]
    assert bounds.waits.at_most == 70
    assert of(CALL_AND_SLEEP % 0.5).waits.at_most == 42  # no longer than it takes in all


def test_branches_that_wait_for_room_wait_in_turn() -> None:
    branch = """
  - step: %s
    tool:
      - call: {kind: http, url: http://x, spec: {timeout: 600}}
      - nap: {kind: sleep, seconds: %d}
    next: {arcs: [{step: meet}]}"""
    document = (
        "workflow:\n  - step: split\n    next: {spec: {mode: fork, max_in_flight: 2}, "
        "arcs: [{step: a}, {step: b}, {step: c}, {step: d}]}"
        + "".join(branch % (name, at + 1) for at, name in enumerate("abcd"))
        + "\n  - step: meet\n    spec: {join: {policy: wait_all}}\n"
    )
    assert of(document).waits.at_most == 4 + 3 + 2


def test_a_list_that_the_workload_does_not_give_is_open_or_assumed() -> None:
    document = LOOP % ("workload.orders", "sequential")
    [reason] = of(document).unbounded
    assert reason.rule == "loop"
    assert "the input does not give the list" in reason.what
    assert of(document, items=7).waits.at_most == 70
    assert of(document, workload={"orders": [1]}).waits.at_most == 10


def test_a_sleep_that_the_workload_does_not_give_is_open() -> None:
    bounds = of('workflow: [{step: a, tool: {kind: sleep, seconds: "{{ workload.pause }}"}}]')
    assert [reason.rule for reason in bounds.unbounded] == ["wait"]


def test_an_authors_own_limit_bounds_a_loop_over_data() -> None:
    limits = "executor: {spec: {limits: {loop_iterations: 100}}}\n"
    bounds = of(limits + LOOP % ("ctx.names", "sequential"))
    assert bounds.is_bounded
    assert bounds.executions.at_most == 100


def test_the_items_of_a_written_list_are_counted_whatever_they_are() -> None:
    document = (LOOP % ("ctx", "sequential")).replace('"{{ ctx }}"', '[1, "{{ ctx.x }}"]')
    assert of(document).executions.at_most == 2


def test_a_deadline_bounds_the_whole_visit_of_a_loop() -> None:
    document = (LOOP % ("ctx.names", "sequential")).replace(
        "    tool:", "    spec: {policy: {lifecycle: {timeout_s: 25}}}\n    tool:"
    )
    bounds = of(document)
    assert bounds.waits.at_most == 25
    assert bounds.waits.is_bounded
    assert not bounds.executions.is_bounded


def test_a_deadline_leaves_no_time_for_attempts_after_it() -> None:
    document = call("{do: retry, attempts: 5, delay: 5, backoff: exponential}").replace(
        "    tool:", "    spec: {policy: {lifecycle: {timeout_s: 60}}}\n    tool:"
    )
    bounds = of(document)
    assert bounds.executions.at_most == 4  # the fifth would start after 75 s
    assert bounds.waits.at_most == 60  # the wait for it is begun
    assert [visit.ends for visit in bounds.path] == ["failed"]
    assert (task(bounds, "get").waits.at_most, task(bounds, "get").time.at_most) == (60, 60)


# --- cycles ---------------------------------------------------------------------------------------


def test_a_jump_cycle_is_named_with_the_limit_that_ends_it() -> None:
    bounds = of(call("{do: jump, to: get, delay: 5}"))
    [reason] = bounds.unbounded
    assert (reason.rule, reason.place.line) == ("jump-cycle", 5)
    assert "get -> get" in reason.what
    assert reason.ends == "limits.tasks_per_step_run, 100,000"


def test_steps_that_lead_back_have_no_end_in_a_playbook() -> None:
    bounds = of(
        """
workflow:
  - step: one
    tool: {kind: noop}
    next: {arcs: [{step: two}]}
  - step: two
    tool: {kind: noop}
    next: {arcs: [{step: one, when: "{{ ctx.again }}"}]}
"""
    )
    [reason] = bounds.unbounded
    assert (reason.rule, reason.place.line, reason.ends) == ("arc-cycle", 8, None)
    assert isinf(bounds.executions.at_most)
    assert bounds.time.at_most == 0


def test_a_way_back_of_a_graph_ends_with_the_limit_of_its_visits() -> None:
    graph = """digraph g {
  start [shape=ellipse] done [shape=ellipse]
  a [shape=component tool_command="make" timeout=2s retry_target=start]
  start -> a -> done
}"""
    bounds = of(graph, name="g.dot")
    assert [reason.ends for reason in bounds.unbounded] == ["limits.visits_per_step, 100"]
    assert bounds.time.at_most == 200
    limited = of(graph.replace("digraph g {", "digraph g { max_visits=4"), name="g.dot")
    assert limited.is_bounded
    assert limited.time.at_most == 8


def test_the_headline_is_the_sum_of_the_rows() -> None:
    graph = """digraph g {
  max_visits=2
  start [shape=ellipse] done [shape=ellipse]
  a [shape=component tool_command="make" timeout=2s retry_target=start]
  start -> a -> done
}"""
    bounds = of(graph, name="g.dot")
    assert {row.task: row.in_run.at_most for row in bounds.tasks} == {"a": 2}
    assert bounds.executions.at_most == 2
    assert [step.executions.at_most for step in bounds.steps] == [0, 0, 2]
    assert {name for visit in bounds.path for name, _ in visit.tasks} == {"a"}


# --- children and calls ---------------------------------------------------------------------------

PARENT = """
workload: {host: bank.example}
workflow:
  - step: pay
    loop: {in: [1, 2], iterator: it}
    tool:
      - each:
          kind: playbook
          file: child.yaml
          args: {order: "{{ iter.it }}"}
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 3, delay: 1}
    next: {arcs: [{step: tell}]}
  - step: tell
    tool: {kind: http, url: "https://{{ workload.host }}/done", spec: {timeout: 2}}
"""
CHILD = call("{do: retry, attempts: 5, delay: 2}", task="method: POST").replace(
    "http://api.example/things", "https://user:pass@bank.example/pay"
)


def child_of(document: str):  # type: ignore[no-untyped-def]
    def resolve(_program: Program, inputs: Object) -> Child:
        assert inputs["file"] == "child.yaml"
        return Child(program_of(document, "child.yaml"))

    return resolve


def test_the_executions_of_children_count() -> None:
    bounds = of(PARENT, child=child_of(CHILD))
    assert [(row.program, row.in_run.at_most) for row in bounds.nested] == [("child", 30)]
    assert bounds.executions.at_most == 6 + 30 + 1
    assert bounds.waits.at_most == 2 * (3 * 8 + 2)
    named = {(one.kind, one.name): one.executions.at_most for one in bounds.dependencies}
    assert named == {("http", "bank.example"): 31, ("playbook", "child.yaml"): 6}


def test_what_a_call_gives_its_child_is_not_the_childs_default() -> None:
    child = LOOP % ("workload.order", "sequential")
    known = of(PARENT.replace("{{ iter.it }}", "{{ [1, 2, 3] }}"), child=child_of(child))
    assert known.nested[0].in_run.at_most == 6 * 3
    unknown = of(PARENT, child=child_of(child))
    assert [reason.rule for reason in unknown.unbounded] == ["loop"]
    not_given = of(PARENT.replace("iter.it", "workload.nothing"), child=child_of(child))
    assert [reason.rule for reason in not_given.unbounded] == ["loop"]


def test_a_child_that_is_not_found_is_named() -> None:
    bounds = of(PARENT)
    assert [reason.rule for reason in bounds.unbounded] == ["child"]
    assert bounds.unbounded[0].place.line == 7


def test_children_in_many_places_are_looked_at_once_and_told_of_once() -> None:
    asked: list[object] = []

    def layer(number: int) -> Program:
        called = f"{{kind: playbook, file: {number + 1}}}" if number < 14 else "{kind: noop}"
        return program_of(
            f"metadata: {{name: c{number}}}\nworkflow: [{{step: a, tool: {called}, next: "
            f"[{{step: b}}]}}, {{step: b, tool: {called}}}]",
            f"{number}.yaml",
        )

    def resolve(_program: Program, inputs: Object) -> Child:
        asked.append(inputs["file"])
        return Child(layer(int(inputs["file"])))

    bounds = bounds_of(layer(0), child=resolve)
    assert len(asked) == 2 * 14
    assert len(bounds.nested) == 2 * 14
    assert max(row.in_run.at_most for row in bounds.nested) == 2**14
    assert bounds.executions.at_most == 2**16 - 2


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ('{kind: postgres, auth: "postgres://u:hunter2@h:5432/db"}', "postgres://h:5432/db"),
        ('{kind: postgres, auth: "postgres://u:hun?ter2@h/db"}', "unknown"),
        ("{kind: postgres, auth: \"host=h user=u password='hunter2 x' dbname=db\"}", "h/db"),
        ("{kind: postgres, auth: bank}", "bank"),
        ('{kind: sqlite, database: "file:x.db?key=hunter2"}', "file:x.db"),
        ('{kind: http, url: "https://u:hunter2@h/x?y"}', "h"),
        ('{kind: http, url: "https://u:hunt/er2@h/x"}', "unknown host"),
    ],
)
def test_what_is_called_is_named_without_what_opens_it(tool: str, name: str) -> None:
    tool = tool if "http" in tool else tool.replace("}", ", command: select 1}")
    bounds = of(f"workflow: [{{step: a, tool: {tool}}}]")
    assert [one.name for one in bounds.dependencies] == [name]


def test_a_child_that_calls_itself_is_open() -> None:
    bounds = of(PARENT, child=child_of(PARENT))
    assert "calls itself" in bounds.unbounded[0].what


# --- warnings -------------------------------------------------------------------------------------


def rules(bounds: Bounds) -> list[tuple[str, int]]:
    return [(found.rule, found.place.line) for found in bounds.warnings]


def test_retries_around_retries_are_shown_with_their_product() -> None:
    bounds = of(PARENT, child=child_of(CHILD))
    [found] = [one for one in bounds.warnings if one.rule == "bounds.retry-amplification"]
    assert "2 × 3 × 5 = 30 times" in found.message
    assert found.place.line == 7


def test_a_write_that_is_sent_again_is_warned_of_unless_it_has_a_key() -> None:
    then = "{do: retry, attempts: 2, delay: 1}"
    assert rules(of(call(then, task="method: POST"))) == [("bounds.retried-write", 5)]
    assert rules(of(call(then))) == []
    keyed = "method: POST\n          idempotency_key: true"
    assert rules(of(call(then, task=keyed))) == []


def test_a_key_does_not_help_when_each_attempt_is_another_run() -> None:
    keyed = CHILD.replace("method: POST", "method: POST\n          idempotency_key: true")
    found = [
        one for one in of(PARENT, child=child_of(keyed)).warnings if "another key" in one.message
    ]
    assert [one.place.line for one in found] == [7]


@pytest.mark.parametrize(
    ("then", "spec"),
    [
        ("{do: retry, attempts: 2, delay: 11}", "timeout: 2"),
        ("{do: retry, attempts: 4, delay: 4}", "timeout: 2"),
        ("{do: fail}", "timeout: 11"),
    ],
)
def test_what_outlives_the_deadline_is_warned_of(then: str, spec: str) -> None:
    document = call(then, spec=spec).replace(
        "    tool:", "    spec: {policy: {lifecycle: {timeout_s: 10}}}\n    tool:"
    )
    assert [rule for rule, _ in rules(of(document))] == ["bounds.outlives-deadline"]


def test_a_question_that_outlives_the_deadline_is_warned_of() -> None:
    document = """
workflow:
  - step: ask
    spec: {policy: {lifecycle: {timeout_s: 10}}}
    tool: {kind: human, question: now?, timeout: 1m}
"""
    assert rules(of(document)) == [("bounds.outlives-deadline", 5)]


TIMED = """
workflow:
  - step: both
    spec: {policy: {lifecycle: {timeout_s: 60}}}
    %s
"""


@pytest.mark.parametrize(
    ("work", "warned"),
    [
        ("tool: [{a: {kind: sleep, seconds: 40}}, {b: {kind: sleep, seconds: 40}}]", True),
        ("tool: [{a: {kind: sleep, seconds: 40}}, {b: {kind: sleep, seconds: 20}}]", False),
        (
            "loop: {in: [1, 2, 3, 4, 5, 6, 7], iterator: it}\n    tool: {kind: sleep, seconds: 10}",
            True,
        ),
        (
            "loop: {in: [1, 2, 3, 4, 5, 6], iterator: it}\n    tool: {kind: sleep, seconds: 10}",
            False,
        ),
    ],
)
def test_waits_that_only_together_outlive_the_deadline_are_warned_of(
    work: str, warned: bool
) -> None:
    assert rules(of(TIMED % work)) == ([("bounds.outlives-deadline", 3)] if warned else [])


LED_BACK = """
executor: {spec: {limits: {visits_per_step: 3}}}
workflow:
  - step: send
    tool:
      - post:
          kind: http
          url: http://x
          method: POST
          idempotency_key: true
          spec:
            timeout: 2
            policy:
              on_unmatched: fail
              rules: [{when: "{{ outcome.error.retryable }}", then: {do: retry, attempts: 5, delay: 1}}]
    next: {arcs: [{step: send, when: "{{ event.name == 'step.%s' }}"}]}
"""


def test_a_failure_that_leads_back_multiplies_attempts_and_sends_anew() -> None:
    assert rules(of(LED_BACK % "failed")) == [
        ("bounds.retry-amplification", 4),
        ("bounds.retried-write", 6),
    ]
    assert rules(of(LED_BACK % "done")) == []


# --- the path -------------------------------------------------------------------------------------


def test_the_path_is_that_of_the_longest_time() -> None:
    bounds = of(
        """
workflow:
  - step: one
    tool: {kind: sleep, seconds: 5}
    next:
      arcs: [{step: quick, when: "{{ ctx.hurry }}"}, {step: slow}]
  - step: quick
    tool: {kind: sleep, seconds: 1}
  - step: slow
    tool: {kind: sleep, seconds: 9}
"""
    )
    assert [(one.step, one.ends, one.time.at_most) for one in bounds.path] == [
        ("one", "done", 5),
        ("slow", "done", 9),
    ]
    assert bounds.executions.at_most == 2


def shown(bounds: Bounds) -> list[tuple[str, str]]:
    return [(visit.step, visit.again) for visit in bounds.path]


def test_the_path_has_the_cycle_that_makes_it_endless_once() -> None:
    bounds = of(
        """
workflow:
  - step: submit
    tool: {kind: noop}
    next: [{step: check}]
  - step: check
    tool: {kind: noop}
    next: {arcs: [{step: pause, when: "{{ event.result.runs }}"}, {step: tell}]}
  - step: pause
    tool: {kind: sleep, seconds: 30}
    next: [{step: check}]
  - step: tell
    tool: {kind: noop}
"""
    )
    assert isinf(bounds.waits.at_most)
    again = [("check", "cycle"), ("pause", "cycle")]
    assert shown(bounds) == [("submit", ""), *again, ("check", ""), ("tell", "")]


def test_the_path_has_no_visit_that_a_limit_refuses() -> None:
    bounds = of(LED_BACK % "failed")
    assert shown(bounds) == 3 * [("send", "")]
    assert sum(visit.time.at_most for visit in bounds.path) == bounds.time.at_most


def test_the_path_goes_on_in_the_run_that_takes_its_place() -> None:
    graph = """digraph g {
  max_restarts=1
  start [shape=ellipse] done [shape=ellipse]
  a [shape=component tool_command="x" timeout=2s]
  b [shape=component tool_command="x" timeout=9s]
  start -> a -> done
  a -> b [loop_restart=true condition="status == 'PARTIAL'"]
  b -> done
}"""
    bounds = of(graph, name="g.dot")
    assert ("b", "restart") in shown(bounds)
    assert sum(visit.time.at_most for visit in bounds.path) == bounds.time.at_most == 11
