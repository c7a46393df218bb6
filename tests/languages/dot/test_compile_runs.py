"""What a compiled graph does when it runs, in simulation: retries, routes, gates and branches."""

from __future__ import annotations

import pytest

from anew.values import Object
from tests.languages.dot.graphs import delays, docs, played, spec

FAILS: Object = {"status": "fail"}
RETRIES: Object = {"status": "retry"}


def error(**about: object) -> Object:
    return {"status": "FAILURE", "error": about}


# --- which errors are retried --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "attributes", "attempts"),
    [
        (error(type="TRANSIENT"), "", 2),
        (error(type="UNKNOWN"), "", 2),
        (error(type="ODD"), "", 2),
        (error(type="TIMEOUT"), "", 2),
        (error(type="TIMEOUT"), "retry_on_timeout=false", 1),
        (error(type="TIMEOUT", retryable=True), "retry_on_timeout=false", 2),
        (error(type="TERMINAL"), "", 1),
        (error(type="TERMINAL", retryable=True), "", 2),
        (error(type="TRANSIENT", retryable=False), "", 1),
        ({"error": {"kind": "exit_code"}}, "", 2),
        ({"error": {"kind": "config"}}, "", 1),
        ({"error": {"kind": "server_error"}}, "", 2),
        ({"error": {"kind": "timeout"}}, "", 2),
        ({"error": {"kind": "timeout"}}, "retry_on_timeout=false", 1),
        ({"status": "FAILURE"}, "", 2),
        ({"status": "PARTIAL"}, "", 1),
        ({"status": "SKIPPED"}, "", 1),
    ],
)
def test_which_failures_are_retried(failure: Object, attributes: str, attempts: int) -> None:
    report = played(docs(f"a [goal=g max_retries=1 {attributes}]; s->a->x"), a=[failure])
    assert report["attempts"]["a"] == attempts


def test_the_graph_says_whether_timeouts_are_retried_and_a_node_otherwise() -> None:
    program = docs(
        "retry_on_timeout=false; a [goal=g max_retries=1];"
        "b [goal=g max_retries=1 retry_on_timeout=true]; s->a; a->b"
        " [condition=\"status == 'FAILURE'\"]; a->x; b->x"
    )
    late = error(type="TIMEOUT")
    attempts = played(program, a=[late], b=[late])["attempts"]
    assert (attempts["a"], attempts["b"]) == (1, 2)


def test_spec_retries_failures_and_always_what_asks_for_it() -> None:
    program = spec("a [prompt=p, max_retries=2]; s->a->x")
    asked: Object = {**RETRIES, "error": {"type": "TERMINAL"}}
    assert delays(played(program, a=[asked, FAILS, {"status": "success"}])) == [0.2, 0.4]
    assert played(program, a=[error(type="TERMINAL")])["attempts"]["a"] == 1


@pytest.mark.parametrize("retries", [0, 1])
def test_a_spent_retry_may_be_a_partial_success(retries: int) -> None:
    program = spec(f"a [prompt=p, max_retries={retries}, allow_partial=true]; s->a->x")
    assert played(program, a=[RETRIES])["status"] == "done"
    assert played(program, a=[FAILS])["status"] == "failed"


def test_chance_spreads_a_delay_that_has_reached_its_cap() -> None:
    program = docs("a [goal=g max_retries=8 retry_jitter=0.1]; s->a->x")
    assert delays(played(program, random=1.0, a=[{"status": "FAILURE"}]))[-2:] == pytest.approx(
        [66.0, 66.0]
    )


# --- what failures lead to -----------------------------------------------------------------------


def test_a_failure_never_takes_a_plain_edge_unless_the_graph_says_so() -> None:
    text = "a [prompt=p]; s->a->x"
    assert played(spec(text), a=[FAILS])["status"] == "failed"
    routed = played(spec(f"on_failure=route; {text}"), a=[FAILS])
    assert (routed["status"], routed["handled"]) == ("done", ["a"])
    forgiven = played(spec(f"on_failure=succeed; {text}"), a=[FAILS])
    assert (forgiven["status"], forgiven["handled"]) == ("done", [])


def test_on_failure_succeed_comes_after_the_retries() -> None:
    program = spec("a [prompt=p, max_retries=1, on_failure=succeed]; s->a->x")
    report = played(program, a=[FAILS])
    assert (report["status"], report["attempts"]["a"]) == ("done", 2)


def test_the_plain_edge_of_a_diamond_takes_failures() -> None:
    program = spec(
        'a [prompt=p]; c [shape=diamond]; f [prompt=p]; s->a->c; c->x [condition="outcome=success"];'
        "c->f; f->x"
    )
    assert played(program, a=[FAILS])["visits"] == ["s", "a", "c", "f", "x"]
    assert played(program)["visits"] == ["s", "a", "c", "x"]


def test_an_edge_is_taken_only_as_often_as_it_says() -> None:
    program = docs(
        "a [goal=g]; b [goal=g]; s->a->x; b->a;"
        "a->b [condition=\"status == 'FAILURE'\" max_retries=2]"
    )
    report = played(program, a=[{"status": "FAILURE"}])
    assert (report["status"], report["visits"].count("b")) == ("failed", 2)


def test_edges_that_do_not_fit_are_a_failure_of_the_node() -> None:
    text = 'a [prompt=p]; s->a; a->x [condition="outcome=yes"]'
    assert played(spec(text), a=[{"status": "no"}])["error"]["kind"] == "no_route"
    target = f"{text}; a [retry_target=b]; b [prompt=p]; b->x"
    assert played(spec(target), a=[{"status": "no"}])["visits"] == ["s", "a"]
    text = "a [goal=g retry_target=b]; b [goal=g]; s->a; b->x; a->x [condition=\"status == 'PARTIAL'\"]"
    assert played(docs(text))["visits"] == ["s", "a", "b", "x"]


def test_a_word_of_the_handlers_own_is_a_success_that_edges_know() -> None:
    program = spec(
        'a [prompt=p]; b [prompt=p]; s->a->x; a->b [condition="outcome=needs_dod"]; b->x'
    )
    assert played(program, a=[{"status": "needs_dod"}])["visits"] == ["s", "a", "b", "x"]


def test_a_spec_gate_sends_the_run_back_before_it_may_end() -> None:
    program = spec(
        "on_failure=route; b [prompt=p]; a [prompt=p, goal_gate=true, retry_target=b]; s->b->a->x"
    )
    satisfied = played(program, a=[FAILS, {"status": "partial_success"}])
    assert satisfied["visits"] == ["s", "b", "a", "x", "b", "a", "x"]
    spent = played(program, a=[FAILS])
    assert (spent["status"], spent["unsatisfied"]) == ("failed", ["a"])


# --- branches ------------------------------------------------------------------------------------

DOCS_FORK = "f [shape=hexagon] a [goal=g] b [goal=g] j [shape=invhouse] s->f f->a->j f->b->j j->x"
SPEC_FORK = (
    "f [shape=component]; a [prompt=p]; b [prompt=p]; j [shape=tripleoctagon{}];"
    "s->f; f->a->j; f->b->j; j->x"
)


def test_a_docs_fan_in_merges_what_branches_wrote_and_tells_each() -> None:
    report = played(
        docs(DOCS_FORK),
        a=[{"status": "SUCCESS", "context": {"one": 1, "both": "a"}}],
        b=[{"status": "SUCCESS", "context": {"two": 2, "both": "b"}, "takes": 1}],
    )
    ctx, results = report["ctx"], report["ctx"]["_branch_results"]
    assert (ctx["one"], ctx["two"], ctx["both"]) == (1, 2, "b")
    assert (results["a"]["status"], results["a"]["both"]) == ("SUCCESS", "a")


def test_a_docs_fan_in_with_a_partial_branch_is_partial() -> None:
    text = DOCS_FORK.replace(
        "j->x", "j->p [condition=\"status == 'PARTIAL'\"] p [goal=g] p->x j->x"
    )
    report = played(docs(text), b=[{"status": "PARTIAL"}])
    assert report["visits"][-2:] == ["p", "x"]


def test_a_docs_fan_in_tells_the_error_of_a_branch() -> None:
    report = played(docs(DOCS_FORK), b=[error(type="TERMINAL", message="no disk")])
    assert report["status"] == "failed"
    assert report["ctx"]["_branch_results"]["b"]["error"]["message"] == "no disk"


def test_a_spec_fan_in_keeps_results_apart_and_picks_the_best() -> None:
    report = played(
        spec(SPEC_FORK.format("")), a=[FAILS], b=[{"status": "success", "context": {"k": 2}}]
    )
    ctx = report["ctx"]
    results = {one["id"]: one for one in ctx["parallel.results"]}
    assert report["status"] == "done"
    assert "k" not in ctx
    assert (results["a"]["status"], results["b"]["context_updates"]["k"]) == ("fail", 2)
    assert (ctx["parallel.fan_in.best_id"], ctx["parallel.fan_in.best_outcome"]) == ("b", "success")


@pytest.mark.parametrize("prompt", ["", ', prompt="Pick one"'])
def test_a_spec_fan_in_fails_when_every_branch_has(prompt: str) -> None:
    report = played(spec(SPEC_FORK.format(prompt)), a=[FAILS], b=[FAILS])
    assert (report["status"], report["visits"][-1]) == ("failed", "j")


def test_an_agent_judges_where_a_spec_fan_in_has_a_prompt() -> None:
    program = spec(SPEC_FORK.format(', prompt="Pick one"'))
    assert program.steps["j"].tasks[0].kind == "agent"
    assert played(program, a=[FAILS])["status"] == "done"


IMPLIED = (
    "f [shape=component]; a [prompt=p]; b [prompt=p]; z [prompt=p]; s->f; f->a->z; f->b->z; z->x"
)


def test_branches_without_a_fan_in_meet_before_their_first_common_node() -> None:
    report = played(spec(IMPLIED), a=[FAILS])
    assert report["visits"] == ["s", "f", "a", "b", "z (join)", "z", "x"]
    assert [one["id"] for one in report["ctx"]["parallel.results"]] == ["a", "b"]
    assert played(spec(IMPLIED), a=[FAILS], b=[FAILS])["status"] == "failed"


def test_nested_branches_meet_inside_out() -> None:
    program = docs(
        "f [shape=hexagon] g [shape=hexagon] k [shape=invhouse] j [shape=invhouse]"
        "a [goal=g] b [goal=g] c [goal=g] s->f f->g g->a->k g->b->k k->j f->c->j j->x"
    )
    report = played(program, a=[{"status": "SUCCESS", "context": {"deep": 1}}])
    assert report["ctx"]["deep"] == 1
    assert report["ctx"]["_branch_results"]["g"]["deep"] == 1


def test_an_edge_that_restarts_begins_again_at_its_target() -> None:
    program = spec(
        'a [prompt=p]; b [prompt=p]; s->a->b->x; b->a [condition="outcome=again", loop_restart=true]'
    )
    report = played(program, b=[{"status": "again"}, {"status": "success"}])
    assert (report["status"], report["visits"]) == ("done", ["s", "a", "b", "a", "b", "x"])
