"""Which rules, arcs, gates and ways out of failures logs have exercised."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import assume, given, settings

from anew.errors import ConfigError
from anew.lab.coverage import Coverage, PointKind, coverage_of, percent_of
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.program.program import Program
from tests.generated import playbooks, scripts

EVENTS_MAX = 400
FEW = max(1, settings().max_examples // 4)
DOWN = {"error": {"kind": "server_error", "message": "down"}}

RULES = """\
workflow:
  - step: fetch
    tool:
      - page:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.error.retryable }}"
                  then: {do: retry, attempts: 2, on_exhausted: {do: break}}
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: fail}
                - else: {then: {do: continue}}
    next:
      arcs:
        - {step: sorry, when: "{{ event.name == 'step.failed' }}"}
        - {step: store}
  - step: store
    spec:
      policy:
        admit:
          rules:
            - {when: "{{ workload.open }}", then: {allow: true}}
            - {else: {then: {allow: false}}}
    tool: {kind: noop}
  - step: sorry
    tool: {kind: noop}
"""


def program(text: str, name: str = "f.yaml") -> Program:
    loaded = load_text(text, name)
    assert loaded.program is not None, [f"{f.place} {f.message}" for f in loaded.findings]
    return loaded.program


def covered(compiled: Program, *played: dict[str, object]) -> Coverage:
    logs = [simulate(compiled, script_of(one)).log for one in played]
    return coverage_of(compiled, logs)


def hit(coverage: Coverage) -> set[str]:
    return {point.what for point, count in coverage.hits.items() if count}


def missed(coverage: Coverage) -> list[str]:
    return [f"{p.place.line}:{p.place.column} {p.what} {p.lack}" for p in coverage.uncovered]


def test_without_a_log_nothing_is_covered_and_everything_named_by_its_place() -> None:
    assert missed(covered(program(RULES))) == [
        "9:17 rule 1 of page never matched",
        "10:69 on_exhausted of rule 1 of page was never reached",
        "11:17 rule 2 of page never matched",
        "13:17 rule 3 of page never matched",
        "16:18 arc fetch -> sorry was never taken",
        "17:18 arc fetch -> store was never taken",
        "23:13 admission rule 1 of store never decided",
        "24:13 admission rule 2 of store never decided",
    ]


@pytest.mark.parametrize(
    ("script", "exercised"),
    [
        ({"workload": {"open": True}}, {"rule 3 of page", "arc fetch -> store", "admission rule 1 of store"}),
        ({}, {"rule 3 of page", "arc fetch -> store", "admission rule 2 of store"}),
        (
            {"outcomes": {"page": [DOWN, {}]}},
            {"rule 1 of page", "rule 3 of page", "arc fetch -> store", "admission rule 2 of store"},
        ),
        (
            {"outcomes": {"page": DOWN}},
            {"rule 1 of page", "on_exhausted of rule 1 of page", "arc fetch -> store", "admission rule 2 of store"},
        ),
        (
            {"outcomes": {"page": {"error": {"kind": "auth", "message": "no"}}}},
            {"rule 2 of page", "arc fetch -> sorry"},
        ),
    ],
)  # fmt: skip
def test_a_log_exercises_what_matched_and_what_was_taken(
    script: dict[str, object], exercised: set[str]
) -> None:
    assert hit(covered(program(RULES), script)) == exercised


def test_logs_add_up() -> None:
    compiled = program(RULES)
    one, other = {"outcomes": {"page": [DOWN, {}]}}, {"workload": {"open": True}}
    together = covered(compiled, one, other)
    assert together == covered(compiled, one).plus(covered(compiled, other))
    assert together.percent == percent_of(5, 8) == 62.5
    counts = {point.what: count for point, count in together.hits.items()}
    assert counts["rule 3 of page"] == 2


def test_only_what_is_whole_is_a_hundred_percent() -> None:
    assert percent_of(1999, 2000) == 99.9
    assert percent_of(2, 2) == 100
    assert percent_of(0, 0) == 100


def test_the_rules_of_the_workbook_are_one_however_many_call_them() -> None:
    compiled = program("""\
workflow:
  - step: a
    tool: {kind: workbook, name: ask}
    next: b
  - step: b
    tool: {kind: workbook, name: ask}
workbook:
  - name: ask
    tool:
      kind: noop
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: fail}}, {else: {then: {do: continue}}}]}}
  - name: unused
    tool:
      kind: noop
      spec: {policy: {rules: [{else: {then: {do: continue}}}]}}
""")
    assert [p.what for p in covered(compiled).hits] == [
        "arc a -> b",
        "rule 1 of the workbook's ask",
        "rule 2 of the workbook's ask",
        "rule 1 of the workbook's unused",
    ]
    failing_second = {"outcomes": {"b": DOWN}}
    assert hit(covered(compiled, failing_second)) == {
        "arc a -> b",
        "rule 1 of the workbook's ask",
        "rule 2 of the workbook's ask",
    }


def test_both_halves_of_a_retry_block_are_one_thing_the_author_wrote() -> None:
    compiled = program("""\
workflow:
  - step: a
    type: http
    url: http://x
    retry: {max_attempts: 2, retry_when: "{{ status_code == 503 }}", stop_when: "{{ status_code == 404 }}"}
""")
    assert [p.what for p in covered(compiled).hits] == ["retry_when of a", "stop_when of a"]
    polled = {"outcomes": {"a": [{"result": {}, "http": {"status": 503}}, {}]}}
    assert hit(covered(compiled, polled)) == {"retry_when of a"}
    stopped = {"outcomes": {"a": {"error": {"kind": "not_found"}, "http": {"status": 404}}}}
    assert hit(covered(compiled, stopped)) == {"stop_when of a"}


def test_a_rule_that_an_alias_repeats_is_one() -> None:
    compiled = program("""\
workflow:
  - step: a
    tool: {kind: noop, spec: {policy: &p {rules: [{else: {then: {do: continue}}}]}}}
    next: b
  - step: b
    tool: {kind: noop, spec: {policy: *p}}
""")
    assert [p.kind for p in covered(compiled).hits] == [PointKind.RULE, PointKind.ARC]


LOOP = """\
workflow:
  - step: each
    loop: {in: "{{ [1, 2] }}", iterator: n}
    tool: [{task: {kind: noop}}]
    next:
      arcs:
        - {step: after, when: "{{ event.name == 'loop.done' }}"}
        - {step: rescue, when: "{{ event.name == 'step.failed' }}"}
  - step: after
    tool: {kind: noop}
  - step: rescue
    tool: {kind: noop}
"""


def test_an_arc_that_was_chosen_and_dropped_was_not_taken() -> None:
    failing = {"outcomes": {"task": [DOWN, {}]}}
    assert hit(covered(program(LOOP), failing)) == {"arc each -> rescue"}
    assert hit(covered(program(LOOP), {})) == {"arc each -> after"}


def test_an_arc_of_an_exit_whose_gate_sends_the_run_back_was_not_taken() -> None:
    compiled = program("""\
workflow:
  - step: work
    spec: {gate: {to: work, most: 1, accepts: [success]}}
    tool: {kind: noop, spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: continue, verdict: partial}}, {else: {then: {do: continue}}}]}}}
    next: end
  - step: end
    spec: {exit: true}
    tool: {kind: noop}
    next: after
  - step: after
    tool: {kind: noop}
""")
    back = covered(compiled, {"outcomes": {"work": DOWN}})
    counts = {point.what: count for point, count in back.hits.items()}
    assert counts["arc work -> end"] == 2
    assert counts["arc end -> after"] == 1  # the second time, when the gate has no way left
    assert "gate work was never satisfied" in " ".join(missed(back))
    well = covered(compiled, {})
    assert "gate work was never left unsatisfied" in " ".join(missed(well))
    assert {p.what for p in well.hits if p.kind is PointKind.ARC} <= hit(well)


GRAPH = """\
digraph g {
    graph [fallback=clean default_max_retries=1]
    start [shape=ellipse]
    a     [goal="x"]
    b     [goal="x" max_retries=2 retry_target=a goal_gate=true]
    clean [goal="x"]
    done  [shape=ellipse]
    start -> a -> b
    b -> done [condition="status == 'SUCCESS'"]
}
"""


def test_a_graph_has_its_edges_retries_gates_and_rescues_and_nothing_else() -> None:
    compiled = program(GRAPH, "g.dot")
    assert missed(covered(compiled)) == [
        "2:21 the fallback to clean was never taken",
        "2:47 the retries of nodes by default never matched",
        "5:33 the retries of b never matched",
        "5:48 the way from a failed b to a was never taken",
        "5:60 gate b was never satisfied",
        "5:60 gate b was never left unsatisfied",
        "8:5 edge start -> a was never taken",
        "8:14 edge a -> b was never taken",
        "9:5 edge b -> done was never taken",
    ]


def test_a_run_of_a_graph_exercises_the_ways_it_went() -> None:
    compiled = program(GRAPH, "g.dot")
    well = covered(compiled, {})
    assert hit(well) == {"edge start -> a", "edge a -> b", "edge b -> done", "gate b"}
    again = covered(compiled, {"outcomes": {"b": [{"status": "failure"}, {"status": "success"}]}})
    assert "the retries of b" in hit(again)
    assert "the way from a failed b to a" in hit(again)
    broken = {"outcomes": {"a": {"error": {"type": "TERMINAL", "message": "no"}}}}
    assert hit(covered(compiled, broken)) == {"edge start -> a", "the fallback to clean"}
    retried = {"outcomes": {"a": [{"error": {"type": "TRANSIENT", "message": "no"}}, {}]}}
    assert "the retries of nodes by default" in hit(covered(compiled, retried))
    assert covered(compiled, {}, broken, retried, {"outcomes": {"b": [{"status": "failure"}, {}]}}).percent == 100  # fmt: skip


def test_a_gate_that_nobody_came_to_has_not_been_satisfied() -> None:
    compiled = program(
        "digraph g { s [shape=Mdiamond] c [shape=diamond] gate [goal_gate=true] e [shape=Msquare]"
        ' s -> c c -> gate [condition="context.x=1"] c -> e gate -> e }',
        "g.dot",
    )
    gate = "gate gate was never satisfied"
    assert gate in " ".join(missed(covered(compiled, {})))
    assert gate not in " ".join(missed(covered(compiled, {"workload": {"x": "1"}})))


def test_steps_that_no_author_wrote_are_no_points() -> None:
    compiled = program(
        "digraph g { start [shape=Mdiamond] fork [shape=component] a b meet end [shape=Msquare]"
        " start -> fork -> a -> meet fork -> b -> meet meet -> end"
        ' meet -> start [condition="outcome=fail" loop_restart=true] }',
        "g.dot",
    )
    assert sorted(point.what for point in covered(compiled).hits) == [
        "edge a -> meet",
        "edge b -> meet",
        "edge fork -> a",
        "edge fork -> b",
        "edge meet -> end",
        "edge meet -> start",
        "edge start -> fork",
    ]


# --- ways back -----------------------------------------------------------------------------------

GATE_OF_A_NODE = """\
digraph g {
    start [shape=Mdiamond]
    build
    check [goal_gate=true retry_target=build]
    skip
    exit  [shape=Msquare]
    start -> build -> check -> exit
    check -> skip [condition="outcome=fail"]
    skip -> exit
}
"""
GATES_OF_A_GRAPH = """\
digraph g {
    graph [retry_target=build]
    start [shape=Mdiamond]
    build
    check [goal_gate=true]
    other [goal_gate=true]
    skip
    exit  [shape=Msquare]
    start -> build -> check -> other -> exit
    check -> skip [condition="outcome=fail"]
    other -> skip [condition="outcome=fail"]
    skip -> exit
}
"""
GATE_OF_A_STEP = """\
workflow:
  - step: build
    tool: {kind: noop}
    next: check
  - step: check
    spec:
      gate:
        accepts: [success]
        to: build
      policy: {failure: {mode: best_effort, goto: sorry}}
    tool: {kind: noop}
    next:
      arcs:
        - {step: exit, when: "{{ event.name in ['step.done', 'step.failed'] }}"}
  - step: exit
    spec: {exit: true}
    tool: {kind: noop}
  - step: sorry
    tool: {kind: noop}
"""


@pytest.mark.parametrize(
    ("document", "name", "way"),
    [
        (GATE_OF_A_NODE, "g.dot", "4:40 the way from a failed check to build"),
        (GATES_OF_A_GRAPH, "g.dot", "2:25 the way from an unsatisfied gate to build"),
        (GATE_OF_A_STEP, "f.yaml", "9:9 the way from an unsatisfied gate to build"),
    ],
    ids=["node", "graph", "step"],
)
def test_a_gate_that_sends_the_run_back_takes_the_way_that_was_written(
    document: str, name: str, way: str
) -> None:
    compiled = program(document, name)
    failing = [{"status": "fail"}, {"status": "success"}] if name == "g.dot" else [DOWN, {}]
    back = covered(compiled, {"outcomes": {"check": failing}})
    told = f"{way} was never taken"
    assert missed(covered(compiled, {})).count(told) == 1
    assert told not in missed(back)
    assert "build" in simulate(compiled, script_of({"outcomes": {"check": failing}})).report()["visits"][2:]  # fmt: skip


def test_a_way_that_a_gate_went_is_not_the_one_of_failures_beside_it() -> None:
    back = covered(program(GATE_OF_A_STEP), {"outcomes": {"check": [DOWN, {}]}})
    assert "10:45 the way from a failed check to sorry was never taken" in missed(back)


def test_a_gate_that_comes_back_to_itself_by_default_has_no_way_that_anybody_wrote() -> None:
    compiled = program(GRAPH.replace("retry_target=a", ""), "g.dot")
    gate = compiled.steps["b"].gate
    assert gate is not None
    assert gate.to == "b"
    assert not [point for point in covered(compiled).hits if point.kind is PointKind.RESCUE]


# --- what failures count as ----------------------------------------------------------------------

FORGIVEN = """\
digraph g {
    start [shape=Mdiamond]
    a     [on_failure=succeed max_retries=1]
    b     [allow_partial=true]
    exit  [shape=Msquare]
    start -> a -> b -> exit
}
"""


@pytest.mark.parametrize(
    ("outcomes", "exercised"),
    [
        ({"a": DOWN}, {"what a failure of a counts as", "the retries of a"}),
        ({"a": [DOWN, {}]}, {"the retries of a"}),
        ({"a": {"error": {"type": "TERMINAL", "message": "no"}}}, {"what a failure of a counts as"}),
        ({"b": {"status": "retry"}}, {"what a failure of b counts as"}),
        ({}, set()),
    ],
)  # fmt: skip
def test_what_a_failure_counts_as_is_exercised_with_and_without_retries(
    outcomes: dict[str, object], exercised: set[str]
) -> None:
    compiled = program(FORGIVEN, "g.dot")
    assert {point.what for point in covered(compiled).hits if point.kind is PointKind.RULE} == {
        "what a failure of a counts as",
        "what a failure of b counts as",
        "the retries of a",
    }
    found = hit(covered(compiled, {"outcomes": outcomes}))
    assert {name for name in found if not name.startswith("edge")} == exercised


@pytest.mark.parametrize("said", ["graph [on_failure=succeed]", "on_failure = succeed"])
def test_what_all_failures_count_as_is_one_point_where_it_is_written(said: str) -> None:
    text = FORGIVEN.replace("digraph g {", f"digraph g {{\n    {said}")
    compiled = program(text.replace("on_failure=succeed max", "max").replace("[allow_partial=true]", ""), "g.dot")  # fmt: skip
    (one,) = [point for point in covered(compiled).hits if "counts as" in point.what]
    assert (one.place.line, one.what) == (2, "what a failure of a node counts as")
    assert one.what in hit(covered(compiled, {"outcomes": {"b": DOWN}}))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("fallback = sorry", "2:16 the fallback to sorry was never taken"),
        ("default_max_retries = 2", "2:27 the retries of nodes by default never matched"),
        ("node [retry_target=start]", "2:24 the way from a failed node to start was never taken"),
    ],
)
def test_a_default_of_the_graph_stands_where_it_is_written(said: str, told: str) -> None:
    text = f"digraph g {{\n    {said}\n    start [shape=ellipse] a b sorry done [shape=ellipse]\n start -> a -> b -> sorry -> done }}"  # fmt: skip
    assert told in missed(covered(program(text, "g.dot")))


def test_the_fallback_of_a_playbook_stands_where_it_is_written() -> None:
    compiled = program("""\
executor:
  spec:
    policy:
      failure:
        fallback: sorry
workflow:
  - {step: a, tool: {kind: noop}}
  - {step: sorry, tool: {kind: noop}}
""")
    assert missed(covered(compiled)) == ["5:9 the fallback to sorry was never taken"]


def test_where_something_stands_is_no_part_of_a_programs_identity() -> None:
    """A digest is of the document; a document that only moves keeps its decisions."""
    one, other = program(GATE_OF_A_NODE, "a.dot"), program(GATE_OF_A_NODE, "b.dot")
    assert one.digest == other.digest
    assert one.steps["check"].rescue_span != other.steps["check"].rescue_span


@settings(max_examples=FEW)
@given(playbooks(), scripts())
def test_rules_and_arcs_are_counted_as_the_log_has_them(document: str, script: object) -> None:
    """Beside an account of the printed rows, which knows nothing of points and places."""
    loaded = load_text(document, "generated.yaml")
    assert loaded.program is not None
    try:
        simulation = simulate(loaded.program, script_of(script), events_max=EVENTS_MAX)
    except ConfigError:
        assume(False)  # goes in circles for ever, as the generator may ask
    uses = Counter(label for step in loaded.program.steps.values() for label in step.index_of)
    counted: Counter[str] = Counter()
    for row in simulation.report()["events"]:
        data, label = row["data"], row["task"]
        name = label if uses[label] == 1 else f"{row['step']}.{label}"
        if row["name"] == "task.processed" and data.get("rule"):
            counted[f"rule {data['rule']} of {name}"] += 1
        if row["name"] == "task.retry_exhausted":
            counted[f"on_exhausted of rule {data['rule']} of {name}"] += 1
        if row["name"] == "next.evaluated":
            counted.update(f"arc {row['step']} -> {token['to']}" for token in data["tokens"])
    told: Counter[str] = Counter()
    for point, count in coverage_of(loaded.program, [simulation.log]).hits.items():
        if point.kind in (PointKind.RULE, PointKind.ARC, PointKind.SEQUEL):
            told[point.what] += count
    written = {name: number for name, number in counted.items() if name in told}
    assert written == {name: number for name, number in told.items() if number}
    unwritten = counted.keys() - told.keys()
    assert all(name.startswith("on_exhausted") for name in unwritten), json.dumps(list(unwritten))
