"""How a playbook spells people, preferences, forks, gates and ways for failures."""

from __future__ import annotations

import pytest

from anew.expressions import MappingScope
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.findings import Finding
from anew.program.policy import Budget, Continue, Exhausted, Fail, Retry, Verdict
from anew.program.program import (
    Arc,
    Gate,
    Gather,
    Join,
    JoinPolicy,
    Program,
    RouteMode,
    Router,
)
from tests.languages.spanless import spanless

NOTHING = MappingScope({})
OTHERS = "- step: b\n- step: c\n- step: d\n"


def load(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    assert loaded.strict == [] or all(f.rule == "strict.tool-missing" for f in loaded.strict)
    return loaded.program


def found_in(text: str) -> list[Finding]:
    return [f for f in load_playbook(text, "f.yaml").findings if f.rule != "step.unreachable"]


def step_of(body: str, others: str = OTHERS) -> str:
    return f"workflow:\n- step: a\n  {body}\n{others}"


def router_of(spec: str, arcs: str) -> Router:
    program = load(step_of(f"next: {{spec: {spec}, arcs: {arcs}}}"))
    return spanless(program.steps["a"].router)


def then_of(then: str) -> object:
    rules = f"{{policy: {{rules: [{{else: {{then: {then}}}}}]}}}}"
    program = load(step_of(f"tool: {{kind: noop, spec: {rules}}}"))
    return spanless(program.steps["a"].tasks[0].policy.rules[0].then)


# --- routing -------------------------------------------------------------------------------------


def test_a_preferred_router_ranks_arcs_by_weight_and_then_by_their_order() -> None:
    arcs = "[{step: b, label: '[B] Back'}, {step: c, weight: 5}, {step: d, when: ctx.x, weight: 5}]"
    router = router_of("{mode: preferred, must_choose: true}", arcs)
    assert (router.mode, router.must_choose) == (RouteMode.PREFERRED, True)
    assert [(arc.to, arc.label, arc.weight, arc.rank) for arc in router.arcs] == [
        ("b", "[B] Back", 0, 2),
        ("c", None, 5, 0),
        ("d", None, 5, 1),
    ]
    assert [arc.to for _, arc in router.ranked] == ["c", "d", "b"]


def test_a_choice_that_fails_may_be_final() -> None:
    router = router_of("{must_choose: true, gives_up: true}", "[{step: b}]")
    assert (router.must_choose, router.gives_up) == (True, True)


def test_a_step_may_bound_its_own_visits() -> None:
    assert load(step_of("spec: {visits_max: 3}")).steps["a"].visits_max == 3


def test_an_arc_may_take_failures_and_be_taken_only_so_often() -> None:
    router = router_of("{mode: exclusive}", "[{step: b, on_failure: true, most: 3}]")
    assert router.arcs == (Arc("b", answers_failure=True, most=3),)


def test_a_fork_finds_the_join_that_all_its_branches_reach() -> None:
    others = (
        "- step: b\n  next: {arcs: [{step: d}]}\n"
        "- step: c\n  next: {arcs: [{step: d}]}\n"
        "- step: d\n  spec: {join: first_success}\n"
    )
    fork = "next: {spec: {mode: fork, max_in_flight: 2}, arcs: [{step: b}, {step: c}]}"
    program = load(step_of(fork, others))
    router = program.steps["a"].router
    assert (router.mode, router.join, router.width) == (RouteMode.FORK, "d", 2)
    assert spanless(program.steps["d"].gather) == Gather(JoinPolicy.FIRST_SUCCESS)


def test_a_join_that_a_fork_names_waits_for_all_unless_it_says_otherwise() -> None:
    fork = "next: {spec: {mode: fork, join: d}, arcs: [{step: b}, {step: c}]}"
    program = load(step_of(fork))
    assert program.steps["a"].router.join == "d"
    assert spanless(program.steps["d"].gather) == Gather()
    assert program.steps["d"].join is Join.EACH


@pytest.mark.parametrize(
    ("join", "gather"),
    [
        ("wait_all", Gather()),
        ("quorum", Gather(JoinPolicy.QUORUM)),
        ("{policy: k_of_n, k: 2}", Gather(JoinPolicy.K_OF_N, 2)),
        ("{merge: false, lenient: true}", Gather(merges=False, lenient=True)),
        ("all", None),
        ("each", None),
    ],
)
def test_a_join_is_a_word_or_a_policy(join: str, gather: Gather | None) -> None:
    loaded = load_playbook(step_of(f"spec: {{join: {join}}}"), "f.yaml")
    assert loaded.program is not None
    step = loaded.program.steps["a"]
    assert spanless(step.gather) == gather
    assert step.join is (Join.ALL if join == "all" else Join.EACH)


# --- rules ---------------------------------------------------------------------------------------


def test_a_retry_may_count_for_the_step_and_go_by_way_of_another() -> None:
    assert then_of("{do: retry, attempts: 2, budget: step, to: b}") == Retry(
        attempts=2, budget=Budget.STEP, to="b"
    )
    assert then_of("{do: retry, budget: visit}") == Retry()


def test_an_outcome_may_count_as_less_than_a_success() -> None:
    assert then_of("{do: continue, verdict: partial}") == Continue(Verdict.PARTIAL)
    exhausted = "{do: retry, on_exhausted: {do: continue, verdict: skipped}}"
    assert then_of(exhausted) == Retry(on_exhausted=Exhausted(Continue(Verdict.SKIPPED)))
    assert then_of("{do: fail}") == Fail()


# --- ends of a run -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("true", Gate(shares_budget=False)),
        ("false", None),
        ("{accepts: partial}", Gate((Verdict.PARTIAL,), shares_budget=False)),
        ("{most: 2}", Gate(to="a", most=2, shares_budget=False)),
        ("{to: b}", Gate(to="b", most=1, shares_budget=False)),
        (
            "{accepts: [success, partial], to: b, most: 3, visited_only: true, budget: step}",
            Gate((Verdict.SUCCESS, Verdict.PARTIAL), is_owed=False, to="b", most=3),
        ),
    ],
)
def test_a_gate_says_what_it_accepts_and_where_it_sends_the_run(
    gate: str, expected: Gate | None
) -> None:
    program = load(step_of(f"spec: {{gate: {gate}, exit: true}}"))
    assert spanless(program.steps["a"].gate) == expected
    assert program.steps["a"].is_exit


def test_failures_have_a_way_of_the_step_and_one_of_the_run() -> None:
    executor = "executor: {spec: {policy: {failure: {mode: best_effort, fallback: c}}}}\n"
    program = load(executor + step_of("spec: {policy: {failure: {goto: b}}}"))
    assert (program.steps["a"].rescue, program.fallback) == ("b", "c")


def test_a_run_may_bound_its_steps_visits_failures_and_restarts() -> None:
    limits = "{steps_per_run: 10, visits_per_step: 4, same_failures: 3, restarts: 2}"
    program = load(f"executor: {{spec: {{limits: {limits}, ctx: workload}}}}\n" + step_of(""))
    found = program.limits
    assert (found.steps_per_run, found.visits_per_step) == (10, 4)
    assert (found.same_failures, found.restarts) == (3, 2)
    assert program.workload_is_ctx


# --- people --------------------------------------------------------------------------------------


def test_a_question_has_choices_and_a_deadline() -> None:
    inputs = "question: 'Ship it?', choices: ['[Y] Yes', '[N] No'], timeout: 30m"
    body = f"tool: {{kind: human, {inputs}, timeout_action: first, default: '[N] No'}}"
    (task,) = load(step_of(body)).steps["a"].tasks
    assert task.inputs.value(NOTHING) == {
        "question": "Ship it?",
        "choices": ["[Y] Yes", "[N] No"],
        "timeout": "30m",
        "timeout_action": "first",
        "default": "[N] No",
    }


@pytest.mark.parametrize(
    "inputs",
    [
        "question: q",
        "question: q, choices: '{{ ctx.choices }}'",
        "question: q, choices: ['{{ ctx.one }}', Two], timeout: 1h, default: Three",
        "question: q, timeout: '{{ ctx.wait }}', timeout_action: '{{ ctx.action }}'",
    ],
)
def test_what_a_template_gives_is_not_judged_before_the_run(inputs: str) -> None:
    assert found_in(step_of(f"tool: {{kind: human, {inputs}}}")) == []


def test_agents_and_relays_are_known_kinds() -> None:
    agent = "tool: {kind: agent, prompt: p, backend: simulate, temperature: 0}"
    relay = "tool: {kind: relay, outcome: {verdict: partial, label: later}}"
    assert found_in(step_of(agent)) == found_in(step_of(relay)) == []


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "rule", "remedy"),
    [
        ("next: {spec: {mode: forked}, arcs: []}", "next.mode", "Did you mean 'fork'?"),
        ("next: {arcs: [{step: b, weight: 3}]}", "key.unused", "preferred"),
        ("next: {arcs: [{step: b, label: L}]}", "key.unused", "preferred"),
        ("next: {arcs: [{step: b, when: ctx.x, on_failure: true}]}", "key.unused", "Remove"),
        ("next: {spec: {mode: inclusive, join: c}, arcs: []}", "key.unused", "mode: fork"),
        ("next: {spec: {gives_up: true}, arcs: []}", "key.unused", "must_choose"),
        ("spec: {visits_max: 0}", "limit.value", "visits_max: 3"),
        (
            "next: {spec: {mode: fork, join: d, must_choose: true}, arcs: [{step: b}]}",
            "key.unused",
            "all its arcs",
        ),
        (
            "next: {spec: {mode: fork, join: d}, arcs: [{step: b, when: ctx.x}]}",
            "key.unused",
            "Remove it.",
        ),
        ("spec: {join: wait_al}", "step.join", "Did you mean 'wait_all'?"),
        ("spec: {join: {policy: quorum, k: 2}}", "key.unused", "k_of_n"),
        ("spec: {gate: 3}", "value.type", "gate: true"),
        ("spec: {gate: {acepts: success}}", "key.unknown", "Did you mean 'accepts'?"),
        ("spec: {policy: {failure: {goto: bb}}}", "target.unknown", "Did you mean 'b'?"),
        ("gate: true", "key.unknown", "Move `gate` to `spec: {gate: true}` of the step."),
        ("spec: {policy: {failure: {fallback: b}}}", "key.unknown", "executor"),
        ("tool: {kind: human, question: q, default: A}", "key.unused", "timeout"),
        ("tool: {kind: human, question: q, timeout: soon}", "tool.timeout", "30m"),
    ],
)
def test_a_mistake_is_reported_with_what_was_meant(body: str, rule: str, remedy: str) -> None:
    found = next(f for f in found_in(step_of(body)) if f.rule == rule)
    assert found.suggestion is not None
    assert remedy in found.suggestion


def test_a_fork_that_meets_a_step_for_each_token_is_reported() -> None:
    others = "- step: b\n- step: c\n- step: d\n  spec: {join: each}\n"
    fork = "next: {spec: {mode: fork, join: d}, arcs: [{step: b}, {step: c}]}"
    assert [f.rule for f in found_in(step_of(fork, others))] == ["step.join"]


def test_a_verdict_belongs_to_a_rule_that_goes_on() -> None:
    rules = "{policy: {rules: [{else: {then: {do: fail, verdict: partial}}}]}}"
    (found,) = found_in(step_of(f"tool: {{kind: noop, spec: {rules}}}"))
    assert (found.rule, found.suggestion) == (
        "key.unused",
        "Remove it; `do: continue` knows it.",
    )


@pytest.mark.parametrize(
    "body",
    [
        "spec: {policy: {failure: {goto: b}}}",
        "spec: {exit: true, gate: {to: b}}",
        "tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: retry, to: b}}}]}}}",
    ],
)
def test_a_step_that_only_a_failure_or_gate_leads_to_is_reachable(body: str) -> None:
    loaded = load_playbook(step_of(body, "- step: b\n"), "f.yaml")
    assert "step.unreachable" not in [f.rule for f in loaded.findings]


def test_the_fallback_is_reachable_from_everywhere() -> None:
    executor = "executor: {spec: {policy: {failure: {fallback: b}}}}\n"
    loaded = load_playbook(executor + step_of("", "- step: b\n"), "f.yaml")
    assert loaded.findings == []
    assert loaded.program is not None
    assert loaded.program.sources("b") == {"a"}
    assert loaded.program.incoming == {"a": 0, "b": 1}


# --- rewriting -----------------------------------------------------------------------------------

OLDER = """\
workflow:
- step: a
  tool: {kind: noop, eval: [{expr: "outcome.status == 'error'", do: retry, budget: step, to: b}]}
  spec: {gate: {to: b, most: 2}, policy: {failure: {goto: b}}}
  next: [{step: c, on_failure: true, most: 2}]
- step: b
  next: [{step: c, when: ctx.x}]
- step: c
  tool: {kind: noop}
  spec: {join: {policy: k_of_n, k: 1}, exit: true}
"""


def test_an_older_dialect_keeps_them_when_it_is_rewritten() -> None:
    migrated = migrate(OLDER, "f.yaml")
    assert migrated.findings == []
    assert migrated.text is not None
    again = load_playbook(migrated.text, "f.yaml")
    before = load_playbook(OLDER, "f.yaml").program
    assert before is not None
    assert again.program is not None
    assert again.strict == []
    for name, step in before.steps.items():
        rewritten = again.program.steps[name]
        assert [arc.to for arc in step.router.arcs] == [arc.to for arc in rewritten.router.arcs]
        for part in ("gate", "gather", "rescue", "is_exit", "join"):
            assert spanless(getattr(step, part)) == spanless(getattr(rewritten, part)), part
    (arc,) = again.program.steps["a"].router.arcs
    assert (arc.answers_failure, arc.most) == (True, 2)
    then = again.program.steps["a"].tasks[0].policy.rules[0].then
    assert isinstance(then, Retry)
    assert (then.budget, then.to) == (Budget.STEP, "b")
