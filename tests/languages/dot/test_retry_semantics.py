"""Retry and failure in the docs dialect, sentence by sentence (graphs.md#retries)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.languages.dot.scenario import (
    DOCS_ENDS,
    FAIL,
    OK,
    PARTIAL,
    SKIPPED,
    TERMINAL,
    findings,
    play_docs,
)

FAIL_EDGE = "f; a->f [condition=\"status == 'FAILURE'\"];"


# graphs.md#where-the-texts-are-silent 1 "retries first"
def test_amb_1_retries_come_before_the_fail_edge():
    run = play_docs(f"a [max_retries=2 retry_jitter=0]; s->a->x; {FAIL_EDGE} f->x;", a=[FAIL])
    assert (run.way, run.delays) == ("s a a a f x", [1, 2])


# graphs.md#where-the-texts-are-silent 2 "every counted retry goes to the target with backoff; after
# exhaustion fail edge"
def test_amb_2_counted_retries_go_to_the_target_then_the_fail_edge():
    run = play_docs(
        f"a [max_retries=1 retry_target=r retry_jitter=0]; r; s->a->x; r->a; {FAIL_EDGE} f->x;",
        a=[FAIL],
    )
    assert (run.way, run.delays) == ("s a r a f x", [1])


# graphs.md#where-the-texts-are-silent 2 "then target again uncounted, bounded"
def test_amb_2_a_spent_target_is_gone_to_again_uncounted():
    run = play_docs(
        "a [max_retries=1 retry_target=r retry_jitter=0]; r; s->a->x; r->a;",
        a=[FAIL, FAIL, FAIL, OK],
    )
    assert (run.way, run.delays) == ("s a r a r a r a x", [1])


# graphs.md#where-the-texts-are-silent 2 "Switch `retry_target_mode=redirect|after`"
def test_amb_2_the_mode_after_retries_in_place_first():
    body = "a [max_retries=1 retry_target=r retry_jitter=0]; r; s->a->x; r->a;"
    run = play_docs(f"graph [retry_target_mode=after]; {body}", a=[FAIL, FAIL, OK])
    assert (run.way, run.delays) == ("s a a r a x", [1])


# graphs.md#where-the-texts-are-silent 3 "additive; linear stays fixed unless set";
# graphs.md#retries docs backoff
@pytest.mark.parametrize(
    ("attributes", "delays"),
    [
        ("", [1.1, 2.2, 4.4]),
        ("retry_backoff=exponential retry_jitter=0.5", [1.5, 3, 6]),
        ("retry_backoff=aggressive", [0.55, 1.65, 4.95]),
        ("retry_backoff=linear", [5, 5, 5]),
        ("retry_backoff=linear retry_jitter=0.1", [5.5, 5.5, 5.5]),
        ("retry_backoff=none", [0, 0, 0]),
        ("retry_backoff=none retry_jitter=0.5", [0, 0, 0]),
    ],
)
def test_amb_3_chance_only_lengthens_a_delay(attributes: str, delays: list[float]):
    run = play_docs(f"a [max_retries=3 {attributes}]; s->a->x;", a=[FAIL], random=1.0)
    assert run.delays == pytest.approx(delays)


# graphs.md#retries cap 60, "at most 10 % longer"
def test_a_delay_is_capped_before_chance_lengthens_it():
    run = play_docs("a [max_retries=8]; s->a->x;", a=[FAIL], random=1.0)
    assert run.delays == pytest.approx([1.1, 2.2, 4.4, 8.8, 17.6, 35.2, 66, 66])


# graphs.md#where-the-texts-are-silent 4 "`retry_on_timeout`, default true"; graphs.md#retries "on
# node, then graph"
@pytest.mark.parametrize(
    ("graph", "node", "is_retried"),
    [("", "", True), ("", "false", False), ("false", "", False), ("false", "true", True)],
)
def test_amb_4_whether_a_timeout_is_retried_can_be_told(graph: str, node: str, is_retried: bool):
    on_graph = f"graph [retry_on_timeout={graph}];" if graph else ""
    on_node = f"retry_on_timeout={node}" if node else ""
    run = play_docs(
        f"{on_graph} a [max_retries=1 {on_node}]; s->a->x;",
        a=[{**FAIL, "error": {"type": "TIMEOUT"}}, OK],
    )
    assert run.way == ("s a a x" if is_retried else "s a")


# graphs.md#retries "as stated" beats the type
@pytest.mark.parametrize(
    ("error", "is_retried"),
    [
        ({"type": "TRANSIENT"}, True),
        ({"type": "UNKNOWN"}, True),
        ({"type": "SOMETHING_ELSE"}, True),
        ({"type": "TERMINAL"}, False),
        ({"type": "TERMINAL", "retryable": True}, True),
        ({"type": "TRANSIENT", "retryable": False}, False),
        ({"retryable": False}, False),
        ({}, True),
        ({"message": "no type is given"}, True),
    ],
)
def test_what_is_retried(error: dict[str, Any], is_retried: bool):
    run = play_docs("a [max_retries=1]; s->a->x;", a=[{**FAIL, "error": error}, OK])
    assert run.way == ("s a a x" if is_retried else "s a")


# graphs.md#retries "Only FAILURE is retried; PARTIAL and SKIPPED never"
@pytest.mark.parametrize("outcome", [PARTIAL, SKIPPED])
def test_only_a_failure_is_retried(outcome: dict[str, Any]):
    assert play_docs("a [max_retries=3]; s->a->x;", a=[outcome]).way == "s a x"


# graphs.md#where-the-texts-are-silent 5 "number of retries, 0 first"
@pytest.mark.parametrize(("failures", "node"), [(0, "n0"), (1, "n1"), (2, "n2")])
def test_amb_5_the_retry_count_is_the_number_of_retries(failures: int, node: str):
    edges = "".join(f'n{n}; a->n{n} [condition="_retry_count == {n}"]; n{n}->x;' for n in range(3))
    run = play_docs(f"a [max_retries=2]; s->a; {edges}", a=[FAIL] * failures + [OK])
    assert run.way.split()[-2] == node


# graphs.md#where-the-texts-are-silent 6 "if not in context, alias to `_retry_count` / error.*"
@pytest.mark.parametrize(
    "condition",
    [
        "retry_count == 1",
        "error_type == 'TRANSIENT'",
        "error_message == 'down'",
        "retryable == true",
    ],
)
def test_amb_6_the_short_names_of_the_examples_work(condition: str):
    error = {"type": "TRANSIENT", "message": "down", "retryable": True}
    run = play_docs(
        f'a [max_retries=1]; y; s->a->x; y->x; a->y [condition="{condition}"];',
        a=[{**FAIL, "error": error}],
    )
    assert run.way == "s a a y x"


def test_amb_6_a_key_of_the_context_beats_the_short_name():
    run = play_docs(
        'a; y; s->a->x; y->x; a->y [condition="retry_count == 7"];',
        a=[{"context": {"retry_count": 7}}],
    )
    assert run.way == "s a y x"


# graphs.md#where-the-texts-are-silent 7 "any later entry by a normal edge after SUCCESS; not gate
# or retry jumps"
def test_amb_7_a_retry_jump_does_not_give_retries_back():
    run = play_docs(
        "a [max_retries=1 retry_jitter=0]; b [retry_target=a]; s->a->b->x;",
        a=[FAIL, OK, FAIL],
        b=[FAIL],
    )
    assert (run.way, run.delays) == ("s a a b a", [1])


# graphs.md#where-the-texts-are-silent 8 "ellipse with no incoming = start, no outgoing = exit"
def test_amb_8_the_ends_are_told_by_their_edges():
    from_name = "digraph p { first [shape=ellipse] a last [shape=ellipse] first->a->last }"
    assert "error" not in findings(from_name).values()
    lonely = "digraph p { first [shape=ellipse] a last [shape=ellipse] first->a->last->first }"
    assert findings(lonely)["single-start"] == "error"


# graphs.md#where-the-texts-are-silent 12 docs: "failure routing steps 2-4"
def test_amb_12_a_success_without_an_edge_goes_the_way_of_failures():
    edge = "a->x [condition=\"status == 'SKIPPED'\"];"
    assert play_docs(f"a [retry_target=r]; r; s->a; r->x; {edge}").way == "s a r x"
    assert play_docs(f"graph [fallback=fb]; a; fb; s->a; fb->x; {edge}").way == "s a fb x"
    assert play_docs(f"a; s->a; {edge}").status == "failed"


# 3.7 "last outcome must be SUCCESS": the node did succeed, it only had no edge
def test_amb_12_a_success_without_an_edge_still_satisfies_its_gate():
    run = play_docs(
        'graph [fallback=fb]; a [goal_gate=true]; fb; s->a; fb->x; a->x [condition="never"];'
    )
    assert (run.way, run.status) == ("s a fb x", "done")


# graphs.md#where-the-texts-are-silent 13 "cap on how often that edge may be taken"
def test_amb_13_an_edge_can_be_taken_a_limited_number_of_times():
    run = play_docs(
        "a; s->a; a->a [condition=\"status == 'PARTIAL'\" max_retries=3]; a->x;", a=[PARTIAL]
    )
    assert run.way == "s a a a a x"
    text = f"digraph p {{ {DOCS_ENDS} a; s->a->x; a->a [max_retries=3] }}"
    assert "info" in findings(text).values()


# graphs.md#where-the-texts-are-silent 14 "grammar reading NOT (a == 1)"
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("NOT k == 1", False),
        ("NOT k == 2", True),
        ("NOT (k == 2)", True),
        ("NOT missing", True),
        ("NOT missing == 1", True),
        ("missing != 1", False),
        ("k != 2", True),
        ("k == '1'", False),
        ("flag == 'true'", True),
        ("k < 2 AND NOT k < 1", True),
        ("word CONTAINS 'ell' AND word STARTS_WITH 'h' AND word ENDS_WITH 'o'", True),
        ("k IN [1, 2]", True),
        ("context.k == 1.0", True),
        ("k == 2 OR k == 1 AND word == 'hello'", True),
        ("(k == 2 OR k == 1) AND word == 'bye'", False),
    ],
)
def test_amb_14_what_a_condition_is_worth(condition: str, holds: bool):
    run = play_docs(
        f'a; y; n; s->a; y->x; n->x; a->y [condition="{condition}"]; a->n;',
        a=[{"context": {"k": 1, "word": "hello", "flag": True}}],
    )
    assert run.way == f"s a {'y' if holds else 'n'} x"


# graphs.md#where-the-texts-are-silent 16 "Do failed attempts' updates survive: yes"
def test_amb_16_what_a_failed_attempt_wrote_is_kept():
    run = play_docs("a [max_retries=1]; s->a->x;", a=[{**FAIL, "context": {"p": 1}}, OK])
    assert run.ctx["p"] == 1


# graphs.md#where-the-texts-are-silent 17 "SUCCESS if exit reached and gates hold; report handled
# failures"
def test_amb_17_a_handled_failure_does_not_fail_the_run_but_is_reported():
    run = play_docs(f"a; s->a->x; {FAIL_EDGE} f->x;", a=[FAIL])
    assert run.status == "done"
    assert "a" in str(run.report["handled"])


# graphs.md#where-the-texts-are-silent 18 "null literal: lint error with `use NOT key`"
def test_amb_18_null_is_an_error_that_names_the_remedy():
    text = f'digraph p {{ {DOCS_ENDS} a; s->a; a->x [condition="k == null"] }}'
    assert findings(text)["valid-conditions"] == "error"


# graphs.md#failure, in this order
@pytest.mark.parametrize(
    ("graph", "node", "edge", "way"),
    [
        ("fallback=fb", "retry_target=r", True, "s a f x"),
        ("fallback=fb", "retry_target=r", False, "s a r x"),
        ("fallback=fb", "", False, "s a fb x"),
        ("", "", False, "s a"),
    ],
)
def test_a_failure_has_four_ways(graph: str, node: str, edge: bool, way: str):
    on_graph = f"graph [{graph}]; fb; fb->x;" if graph else ""
    target = "r; r->x;" if node else ""
    fail_edge = f"{FAIL_EDGE} f->x;" if edge else ""
    run = play_docs(f"{on_graph} a [{node}]; {target} s->a->x; {fail_edge}", a=[FAIL])
    assert run.way == way


# graphs.md#failure step 1 "a conditional edge true for FAILURE (not only the literal text)"
def test_any_true_condition_is_a_fail_edge():
    run = play_docs(
        'a; f; s->a->x; f->x; a->f [condition="k == 1"];', a=[{**FAIL, "context": {"k": 1}}]
    )
    assert run.way == "s a f x"


# graphs.md#failure "unsatisfied gates are reported in the terminal status"; graphs.md#goal-gates
# PENDING blocks
def test_a_run_that_terminates_reports_its_gates():
    run = play_docs("a; g [goal_gate=true]; s->a->g->x;", a=[FAIL])
    assert (run.status, run.unsatisfied) == ("failed", ["g"])


# graphs.md#failure guards "fallback not taken from the fallback node itself"
def test_a_fallback_that_fails_is_not_rescued_by_itself():
    run = play_docs("graph [fallback=fb]; a; fb; s->a->x; fb->x;", a=[FAIL], fb=[FAIL])
    assert (run.way, run.status) == ("s a fb", "failed")


# graphs.md#failure guards "fallback without out-edges ends the run FAILURE with the original error"
def test_a_fallback_without_edges_ends_the_run_with_the_first_error():
    original = {**FAIL, "error": {"type": "TERMINAL", "message": "the first"}}
    run = play_docs("graph [fallback=fb]; a; fb; s->a->x;", a=[original])
    assert (run.way, run.status, run.error["message"]) == ("s a fb", "failed", "the first")


# graphs.md#failure guards "A target that does not exist is a lint ERROR in docs"
@pytest.mark.parametrize("body", ["a [retry_target=zz];", "graph [fallback=zz]; a;"])
def test_a_target_that_does_not_exist_is_an_error(body: str):
    assert "error" in findings(f"digraph p {{ {DOCS_ENDS} {body} s->a->x }}").values()


# graphs.md#failure guards "error signature repeated at the same node N times (default 3) with a
# deterministic
# type stops the run even if an edge exists"
def test_the_same_deterministic_failure_stops_the_run():
    run = play_docs(f"a; s->a->x; {FAIL_EDGE} f->a;", a=[TERMINAL])
    assert (run.way, run.status) == ("s a f a f a", "failed")


def test_another_failure_each_time_does_not_stop_the_run():
    different = [{**FAIL, "error": {"type": "TERMINAL", "message": text}} for text in "pqrt"]
    run = play_docs(f"a; s->a->x; {FAIL_EDGE} f->a;", a=[*different, OK])
    assert run.way == "s" + " a f" * 4 + " a x"


def test_a_failure_that_may_pass_does_not_stop_the_run():
    run = play_docs(f"a; s->a->x; {FAIL_EDGE} f->a;", a=[FAIL, FAIL, FAIL, FAIL, OK])
    assert run.way == "s" + " a f" * 4 + " a x"


# 3.4 a diamond does "no work": what passes through it did not fail at it
def test_a_diamond_that_is_passed_by_several_failures_does_not_stop_the_run():
    nodes, ways = "", "s->a; d->x;"
    for name, following in ("ab", "bc", "ce"):
        nodes += f"{name};"
        ways += f"{name}->d; d->{following} [condition=\"_previous_node == '{name}'\"];"
    run = play_docs(
        f"{nodes} e; d [shape=diamond]; e->x; {ways}", a=[TERMINAL], b=[TERMINAL], c=[TERMINAL]
    )
    assert run.way == "s a d b d c d e x"


# graphs.md#graph-attributes "`max_visits` 100 per node by default ... ending FAILURE with the cycle
# named"
def test_a_cycle_ends_at_the_visits_of_a_node():
    run = play_docs(f"a; s->a->x; {FAIL_EDGE} f->a;", a=[FAIL])
    assert (run.way.split().count("a"), run.status) == (100, "failed")
    assert "a" in run.error["message"]
    assert "f" in run.error["message"]


def test_the_visits_of_a_node_can_be_set():
    run = play_docs(f"graph [max_visits=3]; a; s->a->x; {FAIL_EDGE} f->a;", a=[FAIL])
    assert (run.way, run.status) == ("s a f a f a f", "failed")


# graphs.md#graph-attributes "`max_steps` max(1000, 10 × nodes) per run"
def test_a_run_ends_at_its_steps():
    run = play_docs(f"graph [max_steps=5]; a; s->a->x; {FAIL_EDGE} f->a;", a=[FAIL])
    assert (run.way, run.status) == ("s a f a f", "failed")


def test_steps_are_a_thousand_unless_it_says_otherwise():
    run = play_docs(f"graph [max_visits=5000]; a; s->a->x; {FAIL_EDGE} f->a;", a=[FAIL])
    assert (len(run.way.split()), run.status) == (1000, "failed")


# 3.7 "in declaration order"; "First unsatisfied gate g: ... go to g.retry_target or g itself"
def test_the_first_gate_in_the_file_is_gone_back_to():
    run = play_docs(
        "g2 [goal_gate=true max_retries=1]; g1 [goal_gate=true max_retries=1]; s->g1->g2->x;",
        g1=[PARTIAL, OK],
        g2=[PARTIAL, OK],
    )
    assert (run.way, run.status) == ("s g1 g2 x g2 x g1 g2 x", "done")


# 3.7 "With max_retries 0 an unsatisfied gate ends the run at once"
def test_a_gate_without_retries_ends_the_run():
    run = play_docs("g [goal_gate=true]; s->g->x;", g=[PARTIAL])
    assert (run.way, run.unsatisfied) == ("s g x", ["g"])


# 3.6 "In-place retry, redirect to retry_target and gate re-route all use it"
def test_a_gate_and_its_retries_share_one_counter():
    run = play_docs(
        "g [goal_gate=true max_retries=1 retry_jitter=0]; s->g->x;", g=[FAIL, PARTIAL, OK]
    )
    assert (run.way, run.status, run.unsatisfied) == ("s g g x", "failed", ["g"])


# 3.7 `_goal_gates` "kept in context for conditions"
def test_a_condition_can_ask_for_a_gate():
    run = play_docs(
        "g [goal_gate=true]; a; h; s->g->a; h->x; a->h [condition=\"_goal_gates.g == 'SUCCESS'\"]; a->x;"
    )
    assert run.way == "s g a h x"


# 3.4 "Do not let a diamond overwrite the stored outcome"; "Its plain edges work as else"
def test_a_plain_edge_of_a_diamond_is_its_else():
    run = play_docs(
        "a; d [shape=diamond]; f; s->a->d; d->x [condition=\"status == 'SUCCESS'\"]; d->f; f->x;",
        a=[FAIL],
    )
    assert run.way == "s a d f x"


# 3.4 diamond "passes the previous node's outcome through (status, label, error)"
def test_a_diamond_passes_label_and_error_through():
    run = play_docs(
        'a; d [shape=diamond]; p; q; s->a->d; d->p [label="P"]; d->q [label="Q"]; p->x; q->x;',
        a=[{"label": "q"}],
    )
    assert run.way == "s a d q x"
    run = play_docs(
        "a; d [shape=diamond]; f; s->a->d; d->x; f->x; d->f [condition=\"error.type == 'TERMINAL'\"];",
        a=[TERMINAL],
    )
    assert run.way == "s a d f x"


# 3.4 the same, where `on_failure=succeed` "keeps the error" of what counts as a success
def test_a_diamond_passes_the_error_through_that_a_success_has_kept():
    run = play_docs(
        "graph [on_failure=succeed]; a; d [shape=diamond]; f; s->a->d; d->x; f->x;"
        "d->f [condition=\"error.type == 'TERMINAL' AND status == 'SUCCESS'\"];",
        a=[TERMINAL],
    )
    assert run.way == "s a d f x"


# 3.4 the same, where a jump of the failure routing leads into the diamond
@pytest.mark.parametrize("jump", ["graph [fallback=d]; a;", "a [retry_target=d];"])
def test_a_diamond_passes_the_label_through_after_a_jump(jump: str):
    run = play_docs(
        f'{jump} d [shape=diamond]; p; q; s->a->x; d->p [label="P"]; d->q [label="Q"]; p->x; q->x;',
        a=[{**FAIL, "label": "q"}],
    )
    assert run.way == "s a d q x"


# 3.4 1: "specificity (operator count, then total key-path segments), weight, declaration order"
@pytest.mark.parametrize(
    ("first", "second", "node"),
    [
        ('condition="k == 1"', "condition=\"k == 1 AND status == 'SUCCESS'\"", "q"),
        ('condition="k == 1" weight=9', "condition=\"k == 1 AND status == 'SUCCESS'\"", "q"),
        ('condition="k == 1"', 'condition="k < 2" weight=1', "q"),
        ('condition="k == 1"', 'condition="k < 2"', "p"),
    ],
)
def test_the_more_specific_condition_wins(first: str, second: str, node: str):
    run = play_docs(
        f"a; p; q; s->a; a->p [{first}]; a->q [{second}]; p->x; q->x;", a=[{"context": {"k": 1}}]
    )
    assert run.way == f"s a {node} x"


# 3.4 2 to 5: label, suggested ids "in the handler's order", weight, "smallest target id"
@pytest.mark.parametrize(
    ("outcome", "node", "reason"),
    [
        ({"label": "  GO "}, "q", "label"),
        ({"label": "nowhere", "suggested": ["zz", "r", "q"]}, "r", "suggested"),
        ({}, "p", "weight"),
        ({"context": {"k": 1}, "label": "go"}, "r", "condition"),
    ],
)
def test_the_five_levels_of_edge_selection(outcome: dict[str, Any], node: str, reason: str):
    run = play_docs(
        'a; p; q; r; s->a; a->r; a->q [label="[G] Go"]; a->p [weight=1]; a->r [condition="k == 1"];'
        "p->x; q->x; r->x;",
        a=[outcome],
    )
    assert run.way == f"s a {node} x"
    assert run.reasons()[1] == reason


def test_the_smallest_target_is_the_last_resort():
    run = play_docs("a; q; p; s->a; a->q; a->p; p->x; q->x;")
    assert (run.way, run.reasons()[1]) == ("s a p x", "lexical")


# graphs.md#grammar chained attributes "last hop"
def test_the_attributes_of_a_chain_are_those_of_its_last_hop():
    run = play_docs("a; b; s->a; a->b->x [condition=\"status == 'PARTIAL'\"]; b->x;")
    assert run.way == "s a b x"


# 3.4 on_failure=succeed "rewrites the outcome to success but keeps the error"
def test_a_graph_may_take_failures_for_successes():
    run = play_docs(
        "graph [on_failure=succeed]; a [goal_gate=true]; y; s->a->x; y->x;"
        "a->y [condition=\"status == 'SUCCESS' AND error.type == 'TERMINAL'\"];",
        a=[TERMINAL],
    )
    assert (run.way, run.status) == ("s a y x", "done")


# graphs.md#variables "one pass", "longest identifier match", "`$$` = `$`", "unknown left as is";
# graphs.md#variables
@pytest.mark.parametrize(
    ("goal", "prompt"),
    [
        ("Make $feature", "Make a $name"),
        ("Make $feature_name", "Make $feature_name"),
        ("Cost $$5 $feature", "Cost $5 a $name"),
        ("$name!", "Ann!"),
        ("$unknown", "$unknown"),
    ],
)
def test_variables_are_expanded_once(goal: str, prompt: str):
    run = play_docs(f'a [goal="{goal}"]; s->a->x;', workload={"feature": "a $name", "name": "Ann"})
    assert run.inputs("a")[0]["prompt"] == prompt


# graphs.md#variables "Source: context at execution time"; graphs.md#where-the-texts-are-silent 5 in
# a text
def test_variables_are_those_of_the_moment():
    run = play_docs(
        'a; b [goal="$k try $_retry_count" max_retries=1]; s->a->b->x;',
        a=[{"context": {"k": "late"}}],
        b=[FAIL, OK],
    )
    assert [given["prompt"] for given in run.inputs("b")] == ["late try 0", "late try 1"]


# graphs.md#keys: the reserved keys, at the time a condition asks
def test_a_condition_knows_where_it_is():
    run = play_docs(
        "a; b; y; s->a->b; b->x; y->x;"
        "b->y [condition=\"_current_node == 'b' AND _previous_node == 'a' AND _pipeline_name == 'p'\"];"
    )
    assert run.way == "s a b y x"


# graphs.md#retries "Checkpoints are saved before each retry attempt": the attempt is in the log
# before the wait
def test_a_retry_is_recorded_with_its_due_time():
    run = play_docs("a [max_retries=1]; s->a->x;", a=[FAIL, OK])
    (row,) = run.rows("task.retry_scheduled")
    assert row["data"]["not_before"] > row["at"]


# graphs.md#branches text of a backend: `last_stage`, `last_response`
def test_an_agent_leaves_its_last_stage():
    assert play_docs("a; s->a->x;").ctx["last_stage"] == "a"
