"""A graph becomes a program: its ends, types, arcs, limits and names."""

from __future__ import annotations

import pytest

from anew.errors import ConfigError
from anew.languages import load_text
from anew.program.policy import Budget, Retry, Verdict
from anew.program.program import Join, JoinPolicy, RouteMode, Step
from anew.program.retry import BackoffKind, JitterKind
from tests.languages.dot.documents import DOCS
from tests.languages.dot.graphs import docs, program_of, spec


def retry_of(step: Step) -> Retry:
    (retry,) = {rule.then for rule in step.tasks[0].policy.rules if isinstance(rule.then, Retry)}
    return retry


def test_a_node_is_a_step_with_one_task_of_its_name() -> None:
    program = docs("a [goal=g]; s->a->x")
    step = program.steps["a"]
    assert (program.language, program.dialect, program.name) == ("dot", "docs", "p")
    assert [(task.label, task.kind) for task in step.tasks] == [("a", "agent")]
    assert (step.join, step.router.mode) == (Join.EACH, RouteMode.PREFERRED)
    assert str(step.span) == "p.dot:2:1"


def test_a_graph_without_a_name_is_called_after_its_file() -> None:
    assert program_of("digraph { start -> exit }").name == "p"


def test_the_dialect_that_was_chosen_is_part_of_the_digest() -> None:
    text = "digraph p { start -> exit }"
    digests = {program_of(text, dialect=word).digest for word in (None, "docs", "spec")}
    assert len(digests) == 3
    assert program_of(text).digest == program_of(text).digest


def test_a_dialect_nobody_knows_is_the_operators_mistake() -> None:
    with pytest.raises(ConfigError, match="docs or spec"):
        load_text("digraph p { start -> exit }", "p.dot", dialect="doc")


def test_graph_attributes_are_where_the_context_starts() -> None:
    program = spec('goal="Ship it"; max_steps=7; rankdir=LR; a [prompt=p]; s->a->x')
    assert program.workload_is_ctx
    assert program.workload == {"graph.goal": "Ship it", "graph.max_steps": 7}


# --- the ends of the graph -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "entry", "exits"),
    [
        (DOCS + "a [goal=g]; s->a->x }", "s", ["x"]),
        ("digraph p { dialect=docs; start; a [goal=g]; done; start->a->done }", "start", ["done"]),
        ("digraph p { start -> a -> exit }", "start", ["exit"]),
        ("digraph p { Start -> a -> end }", "Start", ["end"]),
        (
            "digraph p { s [shape=Mdiamond]; x [shape=Msquare]; y [shape=Msquare]; s->x; s->y }",
            "s",
            ["x", "y"],
        ),
        (
            "digraph p { b [node_type=start, shape=circle]; e [node_type=exit]; b->e }",
            "b",
            ["e"],
        ),
    ],
)
def test_the_ends_of_a_graph_are_found(text: str, entry: str, exits: list[str]) -> None:
    program = program_of(text)
    assert program.entry == entry
    assert [step.name for step in program.steps.values() if step.is_exit] == exits


def test_a_node_named_end_is_no_exit_where_a_shape_says_which_one_is() -> None:
    program = spec("end [prompt=p]; s->end->x")
    assert (program.steps["end"].tasks[0].kind, program.steps["end"].is_exit) == ("agent", False)


# --- types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "docs_kind", "spec_kind"),
    [
        ("shape=box", "agent", "agent"),
        ("shape=diamond", "relay", "relay"),
        ("shape=house, stack.child_dotfile=c", "human", "playbook"),
        ("shape=hexagon, type=tool, tool_command=ls", "shell", "shell"),
        ("handler=human", "human", "human"),
        ("shape=folder, stack.child_dotfile=c", "playbook", "playbook"),
    ],
)
def test_shapes_mean_what_the_dialect_says_and_types_win(
    attributes: str, docs_kind: str, spec_kind: str
) -> None:
    text = f"a [{attributes}, goal=g, prompt=p]; s->a->x"
    assert docs(text).steps["a"].tasks[0].kind == docs_kind
    assert spec(text).steps["a"].tasks[0].kind == spec_kind


def test_a_shape_map_says_what_shapes_mean() -> None:
    program = spec('shape_map="house:wait.human, star:tool"; a [shape=house]; s->a->x')
    assert program.steps["a"].tasks[0].kind == "human"


# --- retries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "attempts", "kind", "first", "factor"),
    [
        ("max_retries=3", 4, BackoffKind.EXPONENTIAL, 1.0, 2.0),
        ("max_retries=2 retry_backoff=none", 3, BackoffKind.NONE, 0.0, 1.0),
        ("max_retries=2 retry_backoff=linear", 3, BackoffKind.FIXED, 5.0, 1.0),
        ('max_retries="2" retry_backoff=aggressive', 3, BackoffKind.EXPONENTIAL, 0.5, 3.0),
    ],
)
def test_docs_backoff(
    attributes: str, attempts: int, kind: BackoffKind, first: float, factor: float
) -> None:
    retry = retry_of(docs(f"a [goal=g {attributes}]; s->a->x").steps["a"])
    backoff = retry.backoff
    assert (retry.attempts, retry.budget) == (attempts, Budget.STEP)
    assert (backoff.kind, backoff.first, backoff.factor, backoff.cap) == (kind, first, factor, 60)


@pytest.mark.parametrize(
    ("attributes", "jitter"),
    [
        ("", (JitterKind.ADDED, 0.1)),
        ("retry_jitter=0.5", (JitterKind.ADDED, 0.5)),
        ("retry_backoff=linear", (JitterKind.NONE, 0.0)),
        ("retry_backoff=linear retry_jitter=0.2", (JitterKind.ADDED, 0.2)),
    ],
)
def test_docs_jitter_is_added_and_linear_has_none_unless_it_is_set(
    attributes: str, jitter: tuple[JitterKind, float]
) -> None:
    found = retry_of(docs(f"a [goal=g max_retries=1 {attributes}]; s->a->x").steps["a"])
    assert (found.backoff.jitter.kind, found.backoff.jitter.fraction) == jitter


@pytest.mark.parametrize(
    ("attributes", "attempts", "first"),
    [
        ("max_retries=2", 3, 0.2),
        ("retry_policy=patient", 3, 2.0),
        ("retry_preset=aggressive", 5, 0.5),
        ("retry_policy=linear, max_retries=1", 2, 0.5),
        ("retry_policy=none, max_retries=1", 2, 0.0),
    ],
)
def test_spec_presets_bring_their_attempts_and_max_retries_wins(
    attributes: str, attempts: int, first: float
) -> None:
    rules = spec(f"a [prompt=p, {attributes}]; s->a->x").steps["a"].tasks[0].policy.rules
    retries = [rule.then for rule in rules if isinstance(rule.then, Retry)]
    assert {(retry.attempts, retry.backoff.first) for retry in retries} == {(attempts, first)}
    assert {retry.backoff.jitter.kind for retry in retries} == {JitterKind.PLUS_MINUS_HALF}


@pytest.mark.parametrize("attributes", ["", ", retry_policy=none", ", max_retries=0"])
def test_without_retries_there_is_no_retry_rule(attributes: str) -> None:
    rules = spec(f"a [prompt=p{attributes}]; s->a->x").steps["a"].tasks[0].policy.rules
    assert not any(isinstance(rule.then, Retry) for rule in rules)


def test_the_graph_says_how_often_nodes_are_retried_that_do_not() -> None:
    program = spec("default_max_retry=2; a [prompt=p]; b [prompt=p, max_retries=0]; s->a->b->x")
    kinds = {
        name: {rule.then.attempts for rule in step.tasks[0].policy.rules
               if isinstance(rule.then, Retry)}
        for name, step in program.steps.items()
    }  # fmt: skip
    assert (kinds["a"], kinds["b"]) == ({3}, set())


def test_docs_retries_go_to_the_retry_target_and_spec_retries_stay() -> None:
    text = "a [goal=g, prompt=p, max_retries=1, retry_target=b]; b [goal=g, prompt=p]; s->b->a->x"
    docs_step, spec_step = docs(text).steps["a"], spec(text).steps["a"]
    assert (retry_of(docs_step).to, docs_step.rescue) == ("b", "b")
    rules = [r.then for r in spec_step.tasks[0].policy.rules if isinstance(r.then, Retry)]
    assert ({retry.to for retry in rules}, spec_step.rescue) == ({None}, "b")


def test_retry_target_mode_turns_it_round() -> None:
    text = "a [goal=g max_retries=1 retry_target=b retry_target_mode=after]; b [goal=g]; s->b->a->x"
    assert retry_of(docs(text).steps["a"]).to is None


def test_a_node_that_is_its_own_retry_target_is_retried_in_place() -> None:
    step = docs("a [goal=g max_retries=1 retry_target=a]; s->a->x").steps["a"]
    assert (retry_of(step).to, step.rescue) == (None, None)


# --- arcs ----------------------------------------------------------------------------------------


def ranked(step: Step) -> list[str]:
    return [arc.to for _, arc in step.router.ranked]


def test_docs_conditions_are_asked_by_specificity_then_weight_then_order() -> None:
    text = """
      a [goal=g]; b [goal=g]; c [goal=g]; d [goal=g]; e [goal=g]; s->a; b->x; c->x; d->x; e->x
      a->b [condition="status == 'SUCCESS'"]
      a->c [condition="status == 'SUCCESS'" weight=5]
      a->d [condition="status == 'SUCCESS' AND k == 1"]
      a->x [weight=9]; a->e [weight=9]
    """
    assert ranked(docs(text).steps["a"]) == ["d", "c", "b", "e", "x"]


def test_spec_conditions_are_asked_by_weight_then_target() -> None:
    text = """
      a [prompt=p]; b [prompt=p]; c [prompt=p]; s->a; b->x; c->x;
      a->c [condition="outcome=success"]; a->b [condition="outcome=success && k=1"];
      a->x [condition="outcome=success", weight=1]
    """
    assert ranked(spec(text).steps["a"]) == ["x", "b", "c"]


def test_a_plain_edge_answers_failures_at_diamonds_only() -> None:
    text = "a [goal=g]; c [shape=diamond]; b [goal=g]; s->a->c->b->x; a->x"
    program = docs(text)
    arcs = {
        (step.name, arc.to): arc.answers_failure
        for step in program.steps.values()
        for arc in step.router.arcs
    }
    assert [way for way, answers in arcs.items() if answers] == [("a", "c"), ("c", "b")]


def test_on_failure_route_lets_plain_edges_answer_failures() -> None:
    program = spec("on_failure=route; a [prompt=p]; b [prompt=p, on_failure=exit]; s->a->b->x")
    assert program.steps["a"].router.arcs[0].answers_failure
    assert not program.steps["b"].router.arcs[0].answers_failure


def test_an_edge_says_how_often_it_may_be_taken() -> None:
    arcs = docs("a [goal=g]; s->a->x; a->a [max_retries=3]").steps["a"].router.arcs
    assert [(arc.to, arc.most) for arc in arcs] == [("x", None), ("a", 3)]


def test_docs_asks_for_a_way_on_everywhere_and_spec_only_where_there_are_edges() -> None:
    text = "fallback=f; f [goal=g]; a [goal=g]; s->a->x"
    chooses = {name: step.router.must_choose for name, step in docs(text).steps.items()}
    assert chooses == {"s": True, "x": False, "f": False, "a": True}
    other = spec("a [prompt=p]; b [prompt=p]; s->a->x; a->b")
    chooses = {name: step.router.must_choose for name, step in other.steps.items()}
    assert chooses == {"s": True, "x": False, "a": True, "b": False}


# --- gates, limits, branches ---------------------------------------------------------------------


def test_gates_of_both_dialects() -> None:
    gate = docs("a [goal=g goal_gate=true max_retries=2]; s->a->x").steps["a"].gate
    assert gate is not None
    assert (gate.accepts, gate.is_owed, gate.to, gate.most, gate.shares_budget) == (
        (Verdict.SUCCESS,), True, "a", 2, True,
    )  # fmt: skip
    text = "retry_target=b; a [prompt=p, goal_gate=true]; b [prompt=p]; s->b->a->x"
    gate = spec(text).steps["a"].gate
    assert gate is not None
    assert (gate.accepts, gate.is_owed, gate.to, gate.most, gate.shares_budget) == (
        (Verdict.SUCCESS, Verdict.PARTIAL), False, "b", 1, True,
    )  # fmt: skip


def test_a_run_is_bounded_by_default_and_the_graph_may_say_how() -> None:
    limits = docs("a [goal=g]; s->a->x").limits
    assert (limits.steps_per_run, limits.visits_per_step, limits.same_failures) == (1000, 100, 3)
    text = "max_steps=5; max_visits=2; max_restarts=0; max_same_failures=9; a [prompt=p]; s->a->x"
    limits = spec(text).limits
    assert (limits.steps_per_run, limits.visits_per_step) == (5, 2)
    assert (limits.restarts, limits.same_failures) == (0, 9)


def test_a_large_graph_may_take_ten_steps_for_each_node() -> None:
    chain = "->".join(f"n{number}" for number in range(200))
    assert spec(f"s->{chain}->x").limits.steps_per_run == 2020


def test_a_fork_knows_its_fan_in_and_the_fan_in_its_policy() -> None:
    text = "f [shape=hexagon]; a [goal=g]; b [goal=g]; j [shape=invhouse join_policy=k_of_n k=2]"
    program = docs(f"{text}; s->f; f->a->j; f->b->j; j->x")
    fork, gather = program.steps["f"].router, program.steps["j"].gather
    assert (fork.mode, fork.join, fork.width) == (RouteMode.FORK, "j", None)
    assert gather is not None
    assert (gather.policy, gather.k, gather.merges, gather.lenient) == (
        JoinPolicy.K_OF_N, 2, True, False,
    )  # fmt: skip


def test_a_spec_fork_carries_the_policy_and_a_width() -> None:
    text = "f [shape=component, join_policy=first_success]; a [prompt=p]; j [shape=tripleoctagon]"
    program = spec(f"{text}; s->f->a->j->x")
    gather = program.steps["j"].gather
    assert (program.steps["f"].router.width, program.steps["f"].router.join) == (4, "j")
    assert gather is not None
    assert (gather.policy, gather.merges, gather.lenient) == (
        JoinPolicy.FIRST_SUCCESS, False, True,
    )  # fmt: skip


def test_nested_forks_meet_at_their_own_fan_ins() -> None:
    program = docs(
        "f [shape=hexagon] g [shape=hexagon] k [shape=invhouse] j [shape=invhouse]"
        "a [goal=g] b [goal=g] c [goal=g] s->f f->g g->a->k g->b->k k->j f->c->j j->x"
    )
    assert (program.steps["f"].router.join, program.steps["g"].router.join) == ("j", "k")


def test_an_edge_that_restarts_leads_to_a_step_that_begins_a_new_run() -> None:
    program = spec("a [prompt=p]; b [prompt=p]; s->a->b->x; b->a [loop_restart=true]")
    arc = program.steps["b"].router.arcs[1]
    (task,) = program.steps[arc.to].tasks
    assert (arc.to, arc.label, task.kind, task.inputs.source) == (
        "a (restart)", "a", "restart", {"entry": "a"},
    )  # fmt: skip
