"""Parallel and fan-in nodes, sentence by sentence (graphs.md#branches)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.languages.dot.scenario import (
    FAIL,
    OK,
    PARTIAL,
    SKIPPED,
    Played,
    findings,
    play,
    play_docs,
    play_spec,
)

BRANCHES = "f [shape=hexagon]; a; b; c; s->f; f->a; f->b; f->c; a->j; b->j; c->j;"
# Where the join goes tells what it came to.
TOLD = (
    "good; bad; half; good->x; bad->x; half->x; j->good [condition=\"status == 'SUCCESS'\"];"
    "j->bad [condition=\"status == 'FAILURE'\"]; j->half [condition=\"status == 'PARTIAL'\"];"
)
SPEC_BRANCHES = "f [shape=component]; a; b; c; s->f; f->a; f->b; f->c; a->j; b->j; c->j;"
SPEC_TOLD = (
    "good; bad; good->x; bad->x; j [shape=tripleoctagon];"
    'j->good [condition="outcome=success"]; j->bad [condition="outcome=fail"];'
)


def joined(policy: str, **outcomes: Any) -> Played:
    return play_docs(f"{BRANCHES} {TOLD} j [shape=invhouse {policy}];", **outcomes)


def spec_joined(attributes: str = "", **outcomes: Any) -> Played:
    told = SPEC_TOLD.replace("j [shape=tripleoctagon]", f"j [shape=tripleoctagon {attributes}]")
    return play_spec(f"{SPEC_BRANCHES} {told}", **outcomes)


def said(status: str = "SUCCESS", takes: float = 0, **context: Any) -> list[dict[str, Any]]:
    return [{"status": status, "takes": takes, "context": context}]


def verdict(run: Played) -> str:
    """The node the join chose."""
    return run.way.split(" j ")[1].split()[0]


# graphs.md#branches "clone context per out-edge (conditions ignored, all edges taken)"
def test_a_fork_takes_all_its_edges_whatever_their_conditions():
    run = play_docs(
        "f [shape=hexagon]; a; b; j [shape=invhouse]; s->f; f->a [condition=\"status == 'FAILURE'\"];"
        'f->b [condition="never"]; a->j; b->j; j->x;'
    )
    assert sorted(run.way.split()) == ["a", "b", "f", "j", "s", "x"]
    assert run.status == "done"


# graphs.md#branches "clone context per out-edge"
def test_a_branch_does_not_see_what_another_writes():
    run = play_docs(
        "f [shape=hexagon]; a; b; seen; unseen; j [shape=invhouse]; s->f; f->a; f->b; a->j;"
        'b->seen [condition="k == 1"]; b->unseen; seen->j; unseen->j; j->x;',
        a=said(k=1),
        b=said(takes=5),
    )
    assert "unseen" in run.way.split()


# graphs.md#branches "clone context": what was written before the fork is seen in every branch
def test_a_branch_sees_what_was_written_before_the_fork():
    run = play_docs(
        'p; f [shape=hexagon]; a; b; c; j [shape=invhouse]; s->p->f; f->a; f->b; b->c [condition="k == 1"];'
        "a->j; c->j; j->x;",
        p=said(k=1),
    )
    assert "c" in run.way.split()
    assert run.status == "done"


# graphs.md#branches "`_branch_id` = first node id"
def test_the_branch_id_is_the_first_node_of_the_branch():
    run = play_docs(
        "f [shape=hexagon]; a; b; m; yes; no; j [shape=invhouse]; s->f; f->a; f->b; a->m;"
        "m->yes [condition=\"_branch_id == 'a'\"]; m->no; yes->j; no->j; b->j; j->x;"
    )
    assert "yes" in run.way.split()


# graphs.md#branches wait_all "all ended": success "all SUCCESS"
def test_wait_all_waits_for_all_and_succeeds_when_all_did():
    run = joined("join_policy=wait_all", a=said(takes=3), b=said(takes=1))
    assert (verdict(run), run.elapsed) == ("good", 3)


# graphs.md#node-attributes join_policy default wait_all
def test_the_join_policy_is_wait_all_unless_it_says_otherwise():
    run = joined("", a=said(takes=3), b=[FAIL])
    assert (verdict(run), run.elapsed) == ("bad", 3)


# graphs.md#branches wait_all "FAILURE if any failed"; "branch that fails with no route ends as
# FAILURE"
def test_wait_all_fails_when_one_branch_did_and_waits_for_the_rest():
    run = joined("join_policy=wait_all", a=said("FAILURE"), b=said(takes=4))
    assert (verdict(run), run.elapsed) == ("bad", 4)
    assert run.status == "done"


# graphs.md#where-the-texts-are-silent 9 "PARTIAL or SKIPPED branch under wait_all: PARTIAL outcome"
@pytest.mark.parametrize("outcome", [PARTIAL, SKIPPED])
def test_wait_all_is_partial_when_a_branch_is_neither_good_nor_bad(outcome: dict[str, Any]):
    assert verdict(joined("join_policy=wait_all", b=[outcome])) == "half"


# graphs.md#where-the-texts-are-silent 9 and the table: "FAILURE if any failed; else PARTIAL"
def test_wait_all_fails_rather_than_being_partial():
    assert verdict(joined("join_policy=wait_all", a=[PARTIAL], b=[FAIL])) == "bad"


# graphs.md#branches wait_all "completion order, last wins"
def test_wait_all_merges_in_the_order_of_completion():
    run = joined(
        "join_policy=wait_all", a=said(takes=3, k="a"), b=said(takes=1, k="b"), c=said(takes=2)
    )
    assert run.ctx["k"] == "a"


# graphs.md#branches "Only keys the branch changed count as written"
def test_a_key_that_a_branch_only_read_is_not_written_by_it():
    run = joined(
        "join_policy=wait_all", workload={"k": "old"}, a=said(takes=1, k="new"), b=said(takes=5)
    )
    assert run.ctx["k"] == "new"


# graphs.md#branches "Non-conflicting keys merge directly"
def test_keys_without_conflict_all_arrive():
    run = joined("join_policy=wait_all", a=said(p=1), b=said(q=2), c=said(r=3))
    assert (run.ctx["p"], run.ctx["q"], run.ctx["r"]) == (1, 2, 3)


# graphs.md#branches wait_all row has no "successful only"; graphs.md#where-the-texts-are-silent 16
# "Do failed attempts' updates survive: yes"
def test_wait_all_merges_what_a_failed_branch_wrote():
    run = joined("join_policy=wait_all", a=said("FAILURE", p=1), b=said(q=2))
    assert (run.ctx.get("p"), run.ctx["q"]) == (1, 2)


# graphs.md#branches "Built-in `_` keys are dropped"
def test_the_branch_id_does_not_outlive_the_branch():
    run = joined("join_policy=wait_all")
    assert "_branch_id" not in run.ctx


# graphs.md#branches "`_branch_results[id]` = {status, plus written keys or error}"
def test_the_results_of_the_branches_are_kept():
    run = joined("join_policy=wait_all", a=said(p=1), b=said("FAILURE"), c=[SKIPPED])
    results = run.ctx["_branch_results"]
    assert set(results) == {"a", "b", "c"}
    assert results["a"]["status"] == "SUCCESS"
    assert results["a"]["p"] == 1
    assert results["b"]["status"] == "FAILURE"
    assert results["b"]["error"]["type"] == "UNKNOWN"
    assert results["c"]["status"] == "SKIPPED"


# graphs.md#branches `_branch_results` is there for conditions after the join
def test_a_condition_after_the_join_can_ask_for_a_branch():
    run = play_docs(
        f"{BRANCHES} j [shape=invhouse]; y; n; y->x; n->x;"
        "j->y [condition=\"_branch_results.a.status == 'SUCCESS'\"]; j->n;"
    )
    assert "y" in run.way.split()


# graphs.md#branches first_success "first SUCCESS, cancel rest", "winner's values"
def test_first_success_takes_the_winner_and_cancels_the_rest():
    run = joined(
        "join_policy=first_success",
        a=said(takes=9, k="a", late=1),
        b=said(takes=2, k="b"),
        c=said("FAILURE", takes=1, k="c"),
    )
    assert (verdict(run), run.elapsed, run.ctx["k"]) == ("good", 2, "b")
    # "Late or cancelled branches write nothing"
    assert "late" not in run.ctx


# graphs.md#branches first_success "or all ended"
def test_first_success_fails_when_no_branch_succeeds():
    run = joined("join_policy=first_success", a=[FAIL], b=[FAIL], c=said("FAILURE", takes=2))
    assert (verdict(run), run.elapsed) == ("bad", 2)


# graphs.md#where-the-texts-are-silent 9 "not a success for the other policies"
@pytest.mark.parametrize("policy", ["first_success", "quorum", "k_of_n k=1"])
@pytest.mark.parametrize("outcome", [PARTIAL, SKIPPED])
def test_partial_is_no_success_for_the_other_policies(policy: str, outcome: dict[str, Any]):
    run = joined(f"join_policy={policy}", a=[outcome], b=[outcome], c=[FAIL])
    assert verdict(run) == "bad"


# graphs.md#branches quorum "floor(n/2)+1 SUCCESS"; graphs.md#where-the-texts-are-silent 11
# "remaining branches: cancel"
def test_quorum_fires_with_the_majority_and_cancels_the_rest():
    run = joined("join_policy=quorum", a=said(takes=1), b=said(takes=2), c=said(takes=9, late=1))
    assert (verdict(run), run.elapsed) == ("good", 2)
    assert "late" not in run.ctx


# graphs.md#branches quorum "or no longer possible"
def test_quorum_fails_as_soon_as_it_is_out_of_reach():
    run = joined("join_policy=quorum", a=[FAIL], b=said("FAILURE", takes=1), c=said(takes=9))
    assert (verdict(run), run.elapsed) == ("bad", 1)


# graphs.md#branches quorum "an even split is FAILURE"
def test_an_even_split_is_no_quorum():
    run = play_docs(
        f"f [shape=hexagon]; a; b; s->f; f->a; f->b; a->j; b->j; {TOLD}"
        "j [shape=invhouse join_policy=quorum];",
        b=[FAIL],
    )
    assert verdict(run) == "bad"


# graphs.md#branches quorum merge "completion order"
def test_quorum_merges_in_the_order_of_completion():
    run = joined(
        "join_policy=quorum", a=said(takes=2, k="a"), b=said(takes=1, k="b"), c=said(takes=9)
    )
    assert run.ctx["k"] == "a"


# graphs.md#branches k_of_n "k SUCCESS"; "successful branches only, completion order"
def test_k_of_n_merges_its_successful_branches_only():
    run = joined(
        "join_policy=k_of_n k=2",
        a=said(takes=3, k="a"),
        b=said(takes=1, k="b"),
        c=said("FAILURE", takes=2, k="c"),
    )
    assert (verdict(run), run.elapsed, run.ctx["k"]) == ("good", 3, "a")


# graphs.md#branches k_of_n "successful branches only": also where the failed one ended in between
def test_k_of_n_ignores_a_failed_branch_that_ended_last():
    run = joined(
        "join_policy=k_of_n k=1",
        a=said("FAILURE", takes=1, k="a"),
        b=said(takes=2, k="b"),
        c=said("FAILURE", takes=1, k="c"),
    )
    assert (verdict(run), run.ctx["k"]) == ("good", "b")


# graphs.md#branches k_of_n "or no longer possible"
def test_k_of_n_fails_as_soon_as_it_is_out_of_reach():
    run = joined("join_policy=k_of_n k=3", a=said("FAILURE", takes=1), b=said(takes=9))
    assert (verdict(run), run.elapsed) == ("bad", 1)


# graphs.md#node-attributes "k: required for k_of_n", check-rules.md#graphs "k-missing"
def test_k_of_n_without_k_is_an_error():
    ends = "s [shape=ellipse] x [shape=ellipse]"
    text = f"digraph p {{ {ends} {BRANCHES} j [shape=invhouse join_policy=k_of_n]; j->x }}"
    assert findings(text)["k-missing"] == "error"


# graphs.md#branches "lint if none": a fork needs a fan-in
def test_a_fork_without_a_common_fan_in_is_found():
    ends = "s [shape=ellipse] x [shape=ellipse]"
    text = f"digraph p {{ {ends} f [shape=hexagon]; a; b; s->f; f->a; f->b; a->x; b->x }}"
    assert set(findings(text).values()) & {"error", "warning"}


# graphs.md#where-the-texts-are-silent 10 "branch ends FAILURE; fallback only at top level, after
# the fan_in fails"
def test_a_fallback_waits_until_the_join_has_failed():
    run = play_docs(
        f"graph [fallback=fb]; fb; fb->x; {BRANCHES} j [shape=invhouse]; j->x;",
        a=[FAIL],
        b=said(takes=3),
    )
    assert run.way.endswith("j fb x")
    assert (run.status, run.way.split().count("fb")) == ("done", 1)


# graphs.md#where-the-texts-are-silent 10: no fallback at all where the join succeeds
def test_a_fallback_is_not_used_for_a_branch_that_the_join_can_miss():
    run = play_docs(
        f"graph [fallback=fb]; fb; fb->x; {BRANCHES} j [shape=invhouse join_policy=first_success];"
        "j->x;",
        a=[FAIL],
        b=said(takes=1),
        c=said(takes=2),
    )
    assert "fb" not in run.way.split()


# graphs.md#branches "each branch runs its own loop": fail edges, retries and targets work inside
def test_a_branch_handles_its_own_failures():
    run = play_docs(
        "f [shape=hexagon]; a; fix; b [max_retries=1 retry_jitter=0]; c [retry_target=r]; r;"
        "j [shape=invhouse]; s->f; f->a; f->b; f->c; a->j [condition=\"status == 'SUCCESS'\"];"
        "a->fix [condition=\"status == 'FAILURE'\"]; fix->j; b->j; c->j; r->c; j->x;",
        a=[FAIL],
        b=[FAIL, OK],
        c=[FAIL, OK],
    )
    assert (run.status, run.delays) == ("done", [1])
    assert sorted(run.way.split()) == sorted("s f a fix b b c r c j x".split())


# 3.6 "In a parallel branch counters are branch-local"
def test_the_retries_of_a_node_are_counted_in_each_branch_apart():
    run = play_docs(
        "f [shape=hexagon]; a; b; m [max_retries=1 retry_jitter=0]; j [shape=invhouse];"
        "s->f; f->a; f->b; a->m; b->m; m->j; j->x;",
        m=[FAIL, FAIL, OK, OK],
    )
    assert (run.status, run.delays) == ("done", [1, 1])


# graphs.md#branches "Nested allowed"
def test_forks_may_be_nested():
    run = play_docs(
        "f [shape=hexagon]; a; g [shape=hexagon]; p; q; i [shape=invhouse]; j [shape=invhouse];"
        "s->f; f->a; f->g; g->p; g->q; p->i; q->i; i->j; a->j; j->x;",
        p=said(takes=2, p=1),
        q=said(takes=1, q=1),
        a=said(takes=5, a=1),
    )
    assert (run.status, run.elapsed) == ("done", 5)
    assert run.way.index("i") < run.way.index("j")
    assert [run.ctx[key] for key in "apq"] == [1, 1, 1]
    assert set(run.ctx["_branch_results"]) == {"a", "g"}


# graphs.md#branches nested: the inner join's failure is its branch's
def test_a_failed_inner_join_fails_its_branch_only():
    run = play_docs(
        "f [shape=hexagon]; a; g [shape=hexagon]; p; q; i [shape=invhouse];"
        "j [shape=invhouse join_policy=first_success];"
        "s->f; f->a; f->g; g->p; g->q; p->i; q->i; i->j; a->j; j->x;",
        p=[FAIL],
        a=said(takes=5),
    )
    assert (run.status, run.elapsed) == ("done", 5)


# graphs.md#branches a late branch of an inner fork is cancelled with it
def test_an_outer_winner_cancels_the_branches_within():
    run = play_docs(
        "f [shape=hexagon]; a; g [shape=hexagon]; p; q; i [shape=invhouse];"
        "j [shape=invhouse join_policy=first_success];"
        "s->f; f->a; f->g; g->p; g->q; p->i; q->i; i->j; a->j; j->x;",
        p=said(takes=50, p=1),
        q=said(takes=60),
        a=said(takes=1),
    )
    assert (run.status, run.elapsed) == ("done", 1)
    assert "p" not in run.ctx


# 3.7 gates look at the last outcome of a node, in a branch too
def test_a_gate_may_stand_in_a_branch():
    run = play_docs(
        "f [shape=hexagon]; a [goal_gate=true]; b; j [shape=invhouse join_policy=first_success];"
        "s->f; f->a; f->b; a->j; b->j; j->x;",
        a=[FAIL],
        b=said(takes=1),
    )
    assert (run.status, run.unsatisfied) == ("failed", ["a"])


# graphs.md#branches the join's outcome goes on like any other: here it fails and has no route
def test_a_failed_join_without_a_route_ends_the_run():
    run = play_docs(f"{BRANCHES} j [shape=invhouse]; j->x;", b=[FAIL])
    assert run.status == "failed"
    assert run.way.endswith("j")


# 3.1 "failure, retryable, counter < max_retries -> counter+1 ... timer(delay), then retry_target"
def test_a_join_that_failed_is_retried_from_its_target():
    run = play_docs(
        "f [shape=hexagon]; a; b; j [shape=invhouse max_retries=2 retry_target=f retry_jitter=0];"
        "s->f; f->a; f->b; a->j; b->j; j->x;",
        b=[FAIL, FAIL, OK],
    )
    assert (run.status, run.way.split().count("j"), run.delays) == ("done", 3, [1, 2])


# graphs.md#failure guards: only "a deterministic type" stops the run; this branch failed for no
# known reason
def test_a_fork_may_be_tried_again_as_often_as_its_branches_fail():
    run = play_docs(
        "f [shape=hexagon]; a; b; j [shape=invhouse]; s->f; f->a; f->b; a->j; b->j; j->x;"
        "j->f [condition=\"status == 'FAILURE'\"];",
        b=[FAIL, FAIL, FAIL, FAIL, OK],
    )
    assert (run.status, run.way.split().count("j")) == ("done", 5)


# graphs.md#branches a person in one branch does not stop the other
def test_a_question_in_a_branch_stops_that_branch_only():
    run = play_docs(
        "f [shape=hexagon]; a; h [shape=house]; a2; j [shape=invhouse];"
        's->f; f->a; f->h; a->a2->j; h->j [label="[Y] Yes"]; j->x;',
        h=[{"answer": "nonsense"}],
    )
    assert run.status == "waiting"
    assert "a2" in run.way.split()


# spec: graphs.md#branches "max_parallel 4"
@pytest.mark.parametrize(
    ("width", "elapsed"), [("", 2), ("max_parallel=1", 5), ("max_parallel=5", 1)]
)
def test_spec_runs_at_most_max_parallel_branches_at_once(width: str, elapsed: float):
    nodes = "abcde"
    edges = "".join(f"f->{name}; {name}->j;" for name in nodes)
    run = play_spec(
        f"f [shape=component {width}]; j [shape=tripleoctagon]; s->f; j->x; a; b; c; d; e; {edges}",
        **{name: said("success", takes=1) for name in nodes},
    )
    assert (run.status, run.elapsed) == ("done", elapsed)


# spec: graphs.md#branches "results list in `parallel.results`",
# "`parallel.results[i].context_updates`"
def test_spec_lists_the_results_of_all_branches():
    run = spec_joined(a=said("success", k=1), b=said("fail", k=2))
    results = {one["id"]: one for one in run.ctx["parallel.results"]}
    assert set(results) == {"a", "b", "c"}
    assert results["a"]["context_updates"]["k"] == 1
    assert results["b"]["context_updates"]["k"] == 2
    assert (results["a"]["status"], results["b"]["status"]) == ("success", "fail")


# spec: graphs.md#branches "not merged"
def test_spec_merges_no_branch_context():
    assert "k" not in spec_joined(a=said("success", k=1)).ctx


# spec: graphs.md#branches "fan_in ... returns SUCCESS unless all failed"
def test_spec_fan_in_succeeds_while_one_branch_did():
    assert verdict(spec_joined(a=[FAIL], b=[FAIL])) == "good"


def test_spec_fan_in_fails_when_all_branches_did():
    assert verdict(spec_joined(a=[FAIL], b=[FAIL], c=[FAIL])) == "bad"


# spec: graphs.md#branches "picks best by status rank, score, id"
@pytest.mark.parametrize(
    ("outcomes", "best"),
    [
        ({"a": said("fail"), "b": said("partial_success"), "c": said("success")}, "c"),
        ({"a": said("fail"), "b": said("partial_success"), "c": said("fail")}, "b"),
        ({"a": said("success", score=1), "b": said("success", score=3)}, "b"),
        ({"a": said("success", takes=2), "b": said("success")}, "a"),
    ],
)
def test_spec_fan_in_picks_the_best_branch(outcomes: dict[str, Any], best: str):
    ctx = spec_joined(**outcomes).ctx
    assert ctx["parallel.fan_in.best_id"] == best


# spec: graphs.md#branches "parallel node SUCCESS / PARTIAL_SUCCESS / FAIL", as a gate on it sees
@pytest.mark.parametrize(("branch", "unsatisfied"), [(OK, []), (FAIL, ["f"])])
def test_spec_parallel_node_has_the_status_of_its_branches(
    branch: dict[str, Any], unsatisfied: list[str]
):
    branches = SPEC_BRANCHES.replace("[shape=component]", "[shape=component goal_gate=true]")
    run = play_spec(f"{branches} {SPEC_TOLD}", a=[FAIL], b=[FAIL], c=[branch])
    assert run.unsatisfied == unsatisfied


# spec: graphs.md#branches "Join policy place: parallel node", graphs.md#node-attributes "wait_all,
# first_success"
def test_spec_first_success_stands_on_the_parallel_node():
    branches = SPEC_BRANCHES.replace(
        "[shape=component]", "[shape=component join_policy=first_success]"
    )
    run = play_spec(
        f"{branches} {SPEC_TOLD}", a=said("success", takes=9), b=said("success", takes=1), c=[FAIL]
    )
    assert (verdict(run), run.elapsed) == ("good", 1)


# graphs.md#shapes-and-types: `component` and `hexagon` change places between the dialects
def test_the_same_shape_is_another_node_in_the_other_dialect():
    body = 'h [shape=hexagon]; a; b; s->h; h->a [label="A"]; h->b [label="B"]; a->x; b->x;'
    run = play(f"digraph p {{ s [shape=Mdiamond] x [shape=Msquare] {body} }}", h=[{"answer": "B"}])
    assert run.way == "s h b x"
