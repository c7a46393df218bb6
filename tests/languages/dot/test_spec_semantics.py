"""What the spec dialect does differently, sentence by sentence (graphs.md)."""

from __future__ import annotations

import pytest

from tests.languages.dot.scenario import (
    FAIL,
    OK,
    RETRY,
    SPEC_ENDS,
    TERMINAL,
    findings,
    play,
    play_spec,
)

# At one half, U(0.5, 1.5) leaves a delay as it is.
EVEN = 0.5


# graphs.md#where-the-texts-are-silent 19 "RETRY always"
def test_amb_19_retry_is_retried_whatever_the_error():
    run = play_spec("a [max_retries=1]; s->a->x;", a=[{**RETRY, "error": {"type": "TERMINAL"}}, OK])
    assert (run.way, run.status) == ("s a a x", "done")


# graphs.md#where-the-texts-are-silent 19 "FAIL retried by max_retries? yes unless terminal"
def test_amb_19_fail_is_retried_unless_it_is_terminal():
    assert play_spec("a [max_retries=1]; s->a->x;", a=[FAIL, OK]).way == "s a a x"
    assert play_spec("a [max_retries=1]; s->a->x;", a=[TERMINAL, OK]).way == "s a"


# 1.2 "default_max_retries (alias default_max_retry): for nodes without max_retries"
@pytest.mark.parametrize("key", ["default_max_retries", "default_max_retry"])
def test_the_graph_gives_nodes_their_retries(key: str):
    run = play_spec(f"graph [{key}=2]; a; s->a->x;", a=[FAIL, FAIL, OK])
    assert run.way == "s a a a x"


def test_a_node_beats_the_default_of_the_graph():
    run = play_spec("graph [default_max_retries=5]; a [max_retries=0]; s->a->x;", a=[FAIL])
    assert run.way == "s a"


# 1.2 default 0
def test_nothing_is_retried_by_default():
    assert play_spec("a; s->a->x;", a=[RETRY]).way == "s a"


# graphs.md#retries spec backoff
@pytest.mark.parametrize(
    ("preset", "delays"),
    [
        ("", [0.2, 0.4, 0.8, 1.6]),
        ("retry_policy=standard", [0.2, 0.4, 0.8, 1.6]),
        ("retry_policy=aggressive", [0.5, 1, 2, 4]),
        ("retry_preset=aggressive", [0.5, 1, 2, 4]),
        ("retry_policy=linear", [0.5, 0.5, 0.5, 0.5]),
        ("retry_policy=patient", [2, 6, 18, 54]),
    ],
)
def test_the_presets_have_their_delays(preset: str, delays: list[float]):
    run = play_spec(f"a [max_retries=4 {preset}]; s->a->x;", a=[RETRY], random=EVEN)
    assert run.delays == pytest.approx(delays)


# graphs.md#retries cap 60, then ×U(0.5, 1.5)
def test_a_delay_is_capped_before_chance_spreads_it():
    run = play_spec("a [max_retries=5 retry_policy=patient]; s->a->x;", a=[RETRY], random=1.0)
    assert run.delays == pytest.approx([3, 9, 27, 81, 90])


# graphs.md#where-the-texts-are-silent 20 "attempts count executions, so one delay fewer is used";
# graphs.md#retries
@pytest.mark.parametrize(
    ("preset", "executions"), [("standard", 5), ("aggressive", 5), ("linear", 3), ("patient", 3)]
)
def test_amb_20_a_preset_brings_its_own_attempts(preset: str, executions: int):
    run = play_spec(f"a [retry_policy={preset}]; s->a->x;", a=[RETRY])
    assert run.way.split().count("a") == executions
    assert len(run.delays) == executions - 1


# graphs.md#retries "none: max attempts 1, no retries"
def test_the_preset_none_retries_nothing():
    assert play_spec("a [retry_policy=none]; s->a->x;", a=[RETRY]).way == "s a"


# graphs.md#retries "max_retries wins"
def test_max_retries_beats_the_attempts_of_a_preset():
    run = play_spec("a [max_retries=1 retry_policy=aggressive]; s->a->x;", a=[RETRY])
    assert run.way == "s a a"


# graphs.md#node-attributes allow_partial "exhausted RETRY becomes partial_success"
def test_allow_partial_turns_a_spent_retry_into_a_partial_success():
    run = play_spec(
        'a [max_retries=1 allow_partial=true]; p; s->a; a->p [condition="outcome=partial_success"];'
        "p->x;",
        a=[RETRY],
    )
    assert run.way == "s a a p x"


# 1.1 'a quoted `allow_partial="true"` was inert in one engine'
def test_a_quoted_true_is_true():
    run = play_spec('a [allow_partial="true"]; s->a->x;', a=[RETRY])
    assert (run.way, run.status) == ("s a x", "done")


def test_allow_partial_does_not_excuse_a_failure():
    run = play_spec("a [max_retries=1 allow_partial=true]; s->a->x;", a=[FAIL])
    assert (run.way, run.status) == ("s a a", "failed")


# graphs.md#branches "compare `outcome` with the raw word the handler gave"
def test_a_custom_word_is_routed_on():
    run = play_spec(
        'a; y; n; s->a; y->x; n->x; a->y [condition="outcome=needs_dod"]; a->n;',
        a=[{"status": "needs_dod"}],
    )
    assert run.way == "s a y x"


# graphs.md#branches "treat an unknown word as success for retry and gates"
def test_a_custom_word_satisfies_a_gate_and_is_not_retried():
    run = play_spec("a [goal_gate=true max_retries=3]; s->a->x;", a=[{"status": "yes"}])
    assert (run.way, run.status) == ("s a x", "done")


# 1.4 loop_restart "end this run, start a fresh one at the edge target"
def test_a_restart_begins_a_fresh_run_at_the_target():
    run = play_spec(
        'a; b; s->a->b; b->x [condition="outcome=success"];'
        'b->a [condition="outcome=fail" loop_restart=true];',
        a=[{"context": {"k": 1}}, {}],
        b=[FAIL, OK],
    )
    assert run.status == "done"
    assert "k" not in run.ctx
    assert [way for way in run.way.split() if way in "sabx"] == "s a b a b x".split()


# graphs.md#keys: a missing key is empty; everything is compared as text
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("missing!=x", True),
        ("missing=x", False),
        ("context.missing!=x", True),
        ("missing", False),
        ("n=1", True),
        ("context.n=1", True),
        ("n!=01", True),
        ("flag=true", True),
        ("flag", True),
        ("empty", False),
        ("outcome=success && n=1", True),
        ("outcome=success && n=2", False),
        ("outcome!=fail", True),
        ("preferred_label=Go", True),
    ],
)
def test_what_a_condition_is_worth(condition: str, holds: bool):
    run = play_spec(
        f'a; y; n; s->a; y->x; n->x; a->y [condition="{condition}"]; a->n;',
        a=[{"label": "Go", "context": {"n": 1, "flag": True, "empty": ""}}],
    )
    assert run.way == f"s a {'y' if holds else 'n'} x"


# graphs.md#edge-selection "weight, then target id order"
@pytest.mark.parametrize(("weight", "node"), [(0, "m"), (1, "z")])
def test_several_true_conditions_go_by_weight_then_name(weight: int, node: str):
    run = play_spec(
        f'a; z; m; s->a; z->x; m->x; a->z [condition="outcome=success" weight={weight}];'
        'a->m [condition="n=1 && outcome=success"];',
        a=[{"context": {"n": 1}}],
    )
    assert run.way == f"s a {node} x"


# graphs.md#edge-selection "label and suggestion only among unconditional edges"
def test_a_label_does_not_reach_an_edge_with_a_condition():
    run = play_spec(
        'a; y; n; s->a; y->x; n->x; a->y [label="Go" condition="outcome=fail"]; a->n;',
        a=[{"label": "Go", "suggested": ["y"]}],
    )
    assert run.way == "s a n x"


# 3.7 spec: "SUCCESS or PARTIAL_SUCCESS"
def test_a_partial_success_satisfies_a_gate():
    run = play_spec("a [goal_gate=true]; s->a->x;", a=[{"status": "partial_success"}])
    assert run.status == "done"


# 3.7 spec: "visited gates only"
def test_a_gate_that_was_never_visited_does_not_block():
    run = play_spec('a; g [goal_gate=true]; s->a->x; a->g [condition="outcome=fail"]; g->x;')
    assert (run.way, run.status) == ("s a x", "done")


# graphs.md#goal-gates "gate retry_target, gate fallback, graph retry_target, graph fallback"
@pytest.mark.parametrize(
    ("gate", "graph", "target"),
    [
        ("retry_target=p fallback_retry_target=q", "retry_target=r fallback_retry_target=t", "p"),
        ("fallback_retry_target=q", "retry_target=r fallback_retry_target=t", "q"),
        ("", "retry_target=r fallback_retry_target=t", "r"),
        ("", "fallback_retry_target=t", "t"),
    ],
)
def test_an_unsatisfied_gate_has_four_targets(gate: str, graph: str, target: str):
    run = play_spec(
        f"graph [{graph}]; g [goal_gate=true {gate}]; p; q; r; t; s->g; p->g; q->g; r->g; t->g;"
        'g->x [condition="outcome!=retry"]; s->p; s->q; s->r; s->t; s->g [weight=9];',
        g=[{"status": "skipped"}, OK],
    )
    assert run.way == f"s g x {target} g x"


# graphs.md#goal-gates "none = FAIL"
def test_an_unsatisfied_gate_without_a_target_ends_the_run():
    run = play_spec("g [goal_gate=true max_retries=3]; s->g->x;", g=[{"status": "skipped"}])
    assert (run.way, run.status, run.unsatisfied) == ("s g x", "failed", ["g"])


# 3.7 spec: "add a bound (default: gate's max_retries, at least 1)"
@pytest.mark.parametrize(("retries", "rounds"), [(0, 1), (1, 1), (3, 3)])
def test_a_gate_sends_back_at_most_as_often_as_its_retries(retries: int, rounds: int):
    run = play_spec(
        f"g [goal_gate=true max_retries={retries} retry_target=p]; p; s->p->g->x;",
        g=[{"status": "skipped"}],
    )
    assert run.way == "s p g x" + " p g x" * rounds
    assert (run.status, run.unsatisfied) == ("failed", ["g"])


# 3.6 "One durable counter per node. In-place retry, redirect to retry_target and gate re-route
# all use it."
def test_a_gate_and_its_retries_share_one_counter():
    run = play_spec(
        'g [goal_gate=true max_retries=2 retry_target=p]; p; s->p->g; g->x [condition="outcome=fail"];'
        'g->x [condition="outcome=success"];',
        g=[FAIL],
    )
    assert run.way == "s p g g g x"
    assert run.status == "failed"


# graphs.md#failure spec: node retry_target after in-place retries (graphs.md#failure), then
# fallback_retry_target
def test_a_retry_target_is_for_when_the_retries_are_spent():
    run = play_spec("a [max_retries=1 retry_target=r]; r; s->a->x; r->a;", a=[FAIL, FAIL, OK])
    assert run.way == "s a a r a x"


# graphs.md#where-the-texts-are-silent 2 "Switch `retry_target_mode=redirect|after`"
def test_amb_2_the_mode_redirect_sends_each_retry_to_the_target():
    run = play_spec(
        "graph [retry_target_mode=redirect]; a [max_retries=1 retry_target=r]; r; s->a->x; r->a;",
        a=[FAIL, OK],
        random=EVEN,
    )
    assert (run.way, run.delays) == ("s a r a x", [0.2])


def test_a_fallback_retry_target_comes_after_the_retry_target():
    run = play_spec("a [fallback_retry_target=q]; q; s->a->x; q->x;", a=[FAIL])
    assert run.way == "s a q x"
    run = play_spec(
        "a [retry_target=r fallback_retry_target=q]; r; q; s->a->x; r->x; q->x;", a=[FAIL]
    )
    assert run.way == "s a r x"


# graphs.md#failure spec step 1: a conditional edge true for the failure
def test_a_fail_edge_beats_the_targets():
    run = play_spec(
        'a [retry_target=r]; r; f; s->a->x; r->x; f->x; a->f [condition="outcome=fail"];', a=[FAIL]
    )
    assert run.way == "s a f x"


# graphs.md#graph-attributes: the graph's targets are "only for gates"
def test_the_targets_of_the_graph_are_for_gates_only():
    run = play_spec("graph [retry_target=r]; a; r; s->a->x; r->x;", a=[FAIL])
    assert (run.way, run.status) == ("s a", "failed")


# graphs.md#grammar chained attributes "every hop"
def test_the_attributes_of_a_chain_are_those_of_every_hop():
    run = play_spec('a; b; c; s->a; a->b->c [condition="outcome=success"]; a->c [weight=5]; c->x;')
    assert run.way == "s a b c x"


# graphs.md#where-the-texts-are-silent 12 spec: "end FAIL if edges exist and none matched, success
# only with no out-edges"
def test_amb_12_no_edge_that_fits_ends_the_run():
    run = play_spec('a; s->a; a->x [condition="outcome=never"];')
    assert (run.way, run.status) == ("s a", "failed")


def test_amb_12_no_edge_that_fits_is_not_a_failure_to_be_rescued():
    run = play_spec('a [retry_target=r]; r; s->a; a->x [condition="outcome=never"]; r->x;')
    assert (run.way, run.status) == ("s a", "failed")


def test_amb_12_a_node_without_edges_ends_the_run_well():
    run = play_spec("a; b; s->a; a->b [weight=1]; a->x;")
    assert (run.way, run.status) == ("s a b", "done")


# 3.4 "passes the previous node's outcome through"
def test_a_diamond_tells_what_came_before_it():
    run = play_spec(
        'a; d [shape=diamond]; y; n; s->a->d; y->x; n->x; d->y [condition="outcome=success"];'
        'd->n [condition="outcome=fail"];',
        a=[FAIL],
    )
    assert run.way == "s a d n x"


# 3.4 on_failure=route
def test_a_graph_may_let_failures_take_plain_edges():
    run = play_spec("graph [on_failure=route]; a; s->a->x;", a=[FAIL])
    assert (run.way, run.status) == ("s a x", "done")


# 3.4 default on_failure=exit
def test_a_failure_takes_no_plain_edge():
    run = play_spec('a; s->a; a->x [label="Go"];', a=[{**FAIL, "label": "Go", "suggested": ["x"]}])
    assert (run.way, run.status) == ("s a", "failed")


# graphs.md#variables "`$goal`: graph goal"; graphs.md#node-attributes prompt "falls back to label"
def test_goal_is_the_goal_of_the_graph():
    run = play_spec(
        'graph [goal="Ship it"]; a [prompt="Now: $goal"]; b [label="Then $goal"]; s->a->b->x;'
    )
    assert run.inputs("a")[0]["prompt"] == "Now: Ship it"
    assert run.inputs("b")[0]["prompt"] == "Then Ship it"
    assert run.ctx["graph.goal"] == "Ship it"


# graphs.md#keys: `outcome`, `last_stage`, `last_response`, `internal.retry_count.<id>`
def test_the_reserved_keys_of_the_dialect_are_kept():
    run = play_spec("a [max_retries=1]; s->a->x;", a=[FAIL, OK])
    assert run.ctx["last_stage"] == "a"
    assert run.ctx["outcome"] == "success"
    assert run.ctx["internal.retry_count.a"] == 1


# graphs.md#detection: "or ids start/Start and exit/end"
def test_start_and_exit_may_be_told_by_their_names():
    assert play("digraph p { start; a; exit; start->a->exit }").way == "start a exit"


# 2.2 rule 6: the other dialect's condition "is a lint ERROR"
def test_a_condition_of_the_other_dialect_is_an_error():
    text = f"digraph p {{ {SPEC_ENDS} a; s->a; a->x [condition=\"status == 'SUCCESS'\"] }}"
    assert "error" in findings(text).values()
