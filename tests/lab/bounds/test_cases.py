"""Documents with one difficulty each, compared with everything that can happen in them."""

from __future__ import annotations

import pytest

from anew.lab.bounds import bounds_of
from anew.lab.outcome_sources import ExecutionStart
from tests.lab.bounds.exploring import explore
from tests.lab.bounds.making import TIMEOUT, answers, program_of, statuses
from tests.lab.bounds.test_exhaustive import assert_reached, assert_sound

CALL = "tool: {kind: http, url: http://x, spec: {timeout: 2}}"
RETRIED = """tool:
      - a:
          kind: http
          url: http://x
          spec:
            timeout: 2
            policy:
              rules:
                - {when: "{{ outcome.result.pick == 1 }}", then: {do: retry, attempts: 2, delay: 3}}"""

EACH = f"""
workflow:
  - step: one
    next: [{{step: two}}, {{step: three}}]
  - step: two
    {RETRIED}
    next: {{arcs: [{{step: four}}]}}
  - step: three
    {CALL}
    next: {{arcs: [{{step: four}}]}}
  - step: four
    spec: {{join: each}}
    {CALL}
    next: {{arcs: [{{step: five}}]}}
  - step: five
    {RETRIED}
"""
# `four` waits for `two`, which may end without leading there.
AWAITED = f"""
workflow:
  - step: one
    next: [{{step: two}}, {{step: four}}]
  - step: two
    {RETRIED}
    next: {{arcs: [{{step: four, when: "{{{{ event.result.way in [1, 3] }}}}"}}]}}
  - step: four
    {CALL}
"""
# `four` waits for `two`, whose longest visits do not lead there.
AWAITED_IN_VAIN = f"""
workflow:
  - step: one
    next: [{{step: two}}, {{step: four}}]
  - step: two
    tool:
      - a: {{kind: http, url: http://x, spec: {{timeout: 2}}}}
      - b:
          kind: http
          url: http://x
          spec: {{timeout: 2, policy: {{rules: [{{else: {{then: {{do: continue}}}}}}]}}}}
    next: {{arcs: [{{step: four, when: "{{{{ event.name == 'step.failed' }}}}"}}]}}
  - step: four
    {CALL}
"""
# One of two ways, which meet again where each token counts.
EITHER = f"""
workflow:
  - step: one
    {CALL}
    next:
      arcs: [{{step: two, when: "{{{{ event.result.way in [1, 3] }}}}"}}, {{step: three}}]
  - step: two
    {RETRIED}
    next: [{{step: four}}, {{step: five}}]
  - step: three
    {CALL}
    next: [{{step: four}}, {{step: five}}]
  - step: four
    spec: {{join: each}}
    {CALL}
  - step: five
    spec: {{join: each}}
    {RETRIED}
"""
BACK = f"""
executor: {{spec: {{limits: {{visits_per_step: 3}}}}}}
workflow:
  - step: one
    {RETRIED}
    next: {{arcs: [{{step: two}}]}}
  - step: two
    {CALL}
    next: {{arcs: [{{step: one, when: "{{{{ event.result.way in [1, 3] }}}}"}}]}}
"""
GATED = """
workflow:
  - step: build
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: test}]}
  - step: test
    spec: {gate: {to: build, most: 2}}
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: end}, {step: end, when: "{{ event.name == 'step.failed' }}"}]}
  - step: end
    spec: {exit: true}
"""
SPEC = """
digraph made {
  start [shape=Mdiamond] exit [shape=Msquare]
  test [shape=parallelogram tool_command="x" timeout=2s max_retries=1]
  mend [shape=parallelogram tool_command="x" timeout=2s]
  is_good [shape=diamond]
  start -> test -> is_good
  is_good -> exit [condition="outcome=success"]
  is_good -> mend [condition="outcome!=success"]
  mend -> test [max_retries=1]
}
"""
RESTARTED = """
digraph made {
  max_restarts=1
  start [shape=ellipse] done [shape=ellipse]
  fetch [shape=component tool_command="x" timeout=2s max_retries=1 retry_backoff=none]
  start -> fetch
  fetch -> done
  fetch -> fetch [loop_restart=true condition="status == 'PARTIAL'"]
}
"""
# A way back that is no arc leaves the retries of `a` as they are.
SHARED = """
digraph made {
  max_visits=2
  start [shape=ellipse] done [shape=ellipse]
  a [shape=component tool_command="x" timeout=2s max_retries=1 retry_backoff=linear]
  b [shape=component tool_command="x" timeout=2s retry_target=a]
  start -> a -> b -> done
}
"""
ROUND = """
executor: {spec: {limits: {tasks_per_step_run: 4}}}
workflow:
  - step: one
    tool:
      - a:
          kind: http
          url: http://x
          spec:
            timeout: 2
            policy:
              rules:
                - {when: "{{ outcome.result.pick == 1 }}", then: {do: jump, to: a, delay: 5}}
"""
ADMITTED = f"""
workflow:
  - step: one
    next: [{{step: two}}, {{step: three}}]
  - step: two
    tool:
      - a:
          kind: http
          url: http://x
          spec:
            timeout: 2
            policy: {{rules: [{{else: {{then: {{do: continue, set_ctx: {{open: true}}}}}}}}]}}
  - step: three
    spec: {{policy: {{admit: {{rules: [{{when: "{{{{ ctx.open }}}}", then: {{allow: true}}}}, {{else: {{then: {{allow: false}}}}}}]}}}}}}
    {CALL}
"""

# A branch may wait for what another one writes.
REFUSED = """
workflow:
  - step: split
    next: {spec: {mode: fork}, arcs: [{step: left}, {step: right}]}
  - step: left
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: more}]}
  - step: right
    spec: {policy: {admit: {rules: [{when: "{{ left }}", then: {allow: true}}, {else: {then: {allow: false}}}]}}}
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: meet}]}
  - step: more
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: meet}]}
  - step: meet
    spec: {join: {policy: wait_all}}
"""

# A cap that only a run knows lets attempts be made that the delay alone would leave no time for.
CAPPED = """
workflow:
  - step: one
    spec: {policy: {lifecycle: {timeout_s: 60}}}
    tool:
      - a:
          kind: http
          url: http://x
          spec:
            timeout: 2
            policy:
              rules:
                - when: "{{ outcome.result.pick == 1 }}"
                  then: {do: retry, attempts: 4, delay: 100, max_delay: "{{ outcome.result.pick }}"}
"""
CAPPED_IN_ALL = CAPPED.replace("timeout_s: 60", "timeout_s: 600").replace(
    "attempts: 4,", "attempts: 4, max_elapsed: 50,"
)
# `four` is begun before `two` and `three`, which wait for each other.
TURNING = """
executor: {spec: {entry_step: one, limits: {visits_per_step: 4}}}
workflow:
  - step: four
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
  - step: one
    next: [{step: four}, {step: two}, {step: three}]
  - step: two
    next: {spec: {mode: inclusive}, arcs: [{step: four}, {step: three, when: "{{ ctx.never }}"}]}
  - step: three
    next: {spec: {mode: inclusive}, arcs: [{step: four}, {step: two, when: "{{ ctx.never }}"}]}
"""
LOOPED = """
executor: {spec: {limits: {loop_iterations: 2}}}
workflow:
  - step: one
    loop: {in: [1, 2], iterator: it, spec: {mode: parallel, max_in_flight: 2}}
    tool:
      - a:
          kind: http
          url: http://x
          spec: {timeout: 2, policy: {rules: [{else: {then: {do: continue}}}]}}
    next: {arcs: [{step: two, when: "{{ event.name == 'step.failed' }}"}]}
  - step: two
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
"""
TOO_LONG = LOOPED.replace("[1, 2]", "[1, 2, 3]")
NO_WIDTH = LOOPED.replace("max_in_flight: 2", 'max_in_flight: "{{ ctx.none }}"')
RAISING = """
workflow:
  - step: one
    tool:
      - a:
          kind: http
          url: http://x
          spec:
            timeout: 2
            policy:
              rules:
                - {when: "{{ outcome.result.pick in [ctx.none + 1] }}", then: {do: break}}
                - else: {then: {do: continue}}
    next: {arcs: [{step: two, when: "{{ event.name == 'step.failed' }}"}]}
  - step: two
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
"""
RETURNING = """
executor: {spec: {limits: {visits_per_step: 2}}}
workflow:
  - step: split
    next: {spec: {mode: fork}, arcs: [{step: left}, {step: right}]}
  - step: left
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: meet}]}
  - step: right
    tool: {kind: http, url: http://x, spec: {timeout: 2}}
    next: {arcs: [{step: split, when: "{{ event.name == 'step.failed' }}"}, {step: meet}]}
  - step: meet
    spec: {join: {policy: wait_all}}
"""
RETURNING_GRAPH = """
digraph made {
  max_visits=2
  start [shape=ellipse] done [shape=ellipse]
  split [shape=hexagon] meet [shape=invhouse]
  a [shape=component tool_command="x" timeout=2s]
  b [shape=component tool_command="x" timeout=2s]
  start -> split -> a -> meet -> done
  split -> b -> meet
  b -> split [condition="status == 'FAILURE'"]
}
"""
RESTARTED_TWICE = """
digraph made {
  max_restarts=2
  start [shape=ellipse] done [shape=ellipse]
  a [shape=component tool_command="x" timeout=2s]
  b [shape=component tool_command="x" timeout=2s]
  c [shape=component tool_command="x" timeout=2s]
  start -> a -> done
  a -> b [loop_restart=true condition="status == 'PARTIAL'"]
  b -> done
  b -> c [loop_restart=true condition="status == 'PARTIAL'"]
  c -> done
}
"""


def compared(document: str, name: str, *, is_reached: bool) -> None:
    program = program_of(document, name)
    bounds = bounds_of(program)
    judge = assert_reached if is_reached else assert_sound
    for takes, seconds in ((0.0, bounds.waits), (TIMEOUT, bounds.time)):
        options = (
            statuses((takes,), "needs_work")
            if name.endswith("dot")
            else answers(document, (takes,))
        )
        worst = explore(program, options, runs_max=1_500)
        assert worst.is_whole
        judge(bounds, worst, seconds.at_most)


@pytest.mark.parametrize("document", [AWAITED, AWAITED_IN_VAIN, EITHER, BACK, GATED, ADMITTED])
def test_the_worst_run_of_a_playbook_is_its_bound(document: str) -> None:
    compared(document, "flow.yaml", is_reached=True)


@pytest.mark.parametrize("document", [SPEC, RESTARTED, SHARED])
def test_the_worst_run_of_a_graph_is_its_bound(document: str) -> None:
    compared(document, "flow.dot", is_reached=True)


@pytest.mark.parametrize(
    "document",
    [CAPPED, CAPPED_IN_ALL, TURNING, LOOPED, TOO_LONG, NO_WIDTH, RAISING, RETURNING],
    ids="capped capped-in-all turning looped too-long no-width raising returning".split(),
)
def test_no_run_of_a_playbook_exceeds_its_bounds(document: str) -> None:
    compared(document, "flow.yaml", is_reached=False)


@pytest.mark.parametrize("document", [RETURNING_GRAPH, RESTARTED_TWICE])
def test_no_run_of_a_graph_exceeds_its_bounds(document: str) -> None:
    compared(document, "flow.dot", is_reached=False)


def test_what_begins_anew_is_counted_again_and_again() -> None:
    once = {row.task: row.in_run.at_most for row in bounds_of(program_of(RESTARTED, "f.dot")).tasks}
    assert once == {"fetch": 4, "fetch (restart)": 2}
    twice = bounds_of(program_of(RESTARTED_TWICE, "f.dot"))
    assert {row.task: row.in_run.at_most for row in twice.tasks}["c"] >= 1


def test_tokens_that_wait_for_each_other_stay_below_the_bound() -> None:
    # The first token has been through `five` before the second one comes.
    compared(EACH, "flow.yaml", is_reached=False)


def test_branches_that_wait_for_each_other_stay_below_the_bound() -> None:
    compared(REFUSED, "flow.yaml", is_reached=False)


def test_jumps_go_round_as_often_as_the_author_lets_them() -> None:
    compared(ROUND, "flow.yaml", is_reached=False)
    assert bounds_of(program_of(ROUND)).executions.at_most == 4


def test_attempts_count_among_the_tasks_of_a_pipeline_that_goes_round() -> None:
    retry = """
                - {when: "{{ outcome.result.pick == 2 }}", then: {do: retry, attempts: 3, delay: 1}}"""
    document = ROUND.rstrip("\n") + retry
    compared(document, "flow.yaml", is_reached=False)
    # What goes round, four times a call and the waits behind it, and a visit that leads on.
    assert bounds_of(program_of(document)).time.at_most == 4 * (2 + 1 + 5) + (3 * 2 + 2 * 1)


def test_a_pipeline_without_a_way_out_ends_with_the_limit() -> None:
    document = ROUND.replace(
        'when: "{{ outcome.result.pick == 1 }}", then: {do', "else: {then: {do"
    )
    document = document.replace("delay: 5}}", "delay: 5}}}")
    compared(document, "flow.yaml", is_reached=False)
    assert bounds_of(program_of(document)).executions.at_most == 4
    unlimited = bounds_of(program_of(document.replace("tasks_per_step_run: 4", "deliveries: 3")))
    assert [reason.rule for reason in unlimited.unbounded] == ["jump-cycle"]
    assert unlimited.executions.at_most == 100_000


def test_a_person_may_answer_late_or_never() -> None:
    document = {
        "workflow": [
            {
                "step": "ask",
                "tool": {"kind": "human", "question": "?", "choices": ["yes"], "timeout": 60},
                "next": {"arcs": [{"step": "no", "when": "{{ event.name == 'step.failed' }}"}]},
            },
            {"step": "no", "tool": {"kind": "noop"}},
        ]
    }
    program = program_of(document)

    def people(asking: ExecutionStart) -> list[tuple[dict[str, object], float]]:
        if asking.kind == "noop":
            return [({"result": 1}, 0.0)]
        return [({}, 0.0), ({"answer": "yes"}, 0.0), ({"answer": "yes"}, 60.0)]

    bounds = bounds_of(program)
    assert_reached(bounds, explore(program, people), bounds.waits.at_most)
    assert bounds.waits.at_most == 60
