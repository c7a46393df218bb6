"""Branches in unusual places: dead ends, ways back to the fork, ways out, secrets, limits."""

from collections import deque

from msgspec.structs import replace

from anew.engine.boundaries import Answered, Due, Reported, Requested, Taken
from anew.engine.decide import decide
from anew.engine.events import to_row
from anew.engine.next_actions import Invoke, Wait
from anew.engine.outcome import Advice, outcome_of
from anew.engine.record import Moment
from anew.engine.secret_texts import SecretForm
from anew.engine.secrets import KnownSecrets, Secrets
from anew.engine.state import RunState, RunStatus
from anew.expressions import compile_template
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.program.program import Arc, Gather, JoinPolicy, RouteMode, Router
from tests.play import play

FORK = "s [shape=ellipse] x [shape=ellipse] f [shape=hexagon] j [shape=invhouse] s -> f "
BROKEN = {"error": {"message": "broken", "type": "TERMINAL"}}
BUSY = {"error": {"message": "busy", "type": "TRANSIENT"}}
SECRET = "hunter2-is-long-enough"


def program_of(text):
    loaded = load_text(f"digraph g {{ {text} }}", "g.dot")
    assert loaded.program is not None, [finding.message for finding in loaded.findings]
    return loaded.program


def played(text, **outcomes):
    return simulate(program_of(text), script_of({"outcomes": outcomes}))


def writes(**context):
    return {"context": context}


def test_what_comes_after_a_join_happens_once_when_a_branch_goes_back_to_its_fork():
    text = "f -> a f -> b a [retry_target=f] a -> j b -> j j -> deploy -> x"
    run = played(FORK + text, a=[BROKEN, {"result": 1, "times": 9}])
    assert run.state.visits["deploy"] == 1


def test_what_comes_after_a_join_happens_once_when_a_branch_within_leads_to_it():
    inner = "f2 [shape=hexagon] j2 [shape=invhouse] f2 -> c f2 -> d c -> j2 d -> j2 j2 -> j "
    text = inner + 'f -> f2 f -> b b -> j c -> j [condition="k == 1"] j -> deploy -> x'
    run = played(FORK + text, c=[writes(k=1)])
    assert run.state.visits["deploy"] == 1


def test_a_gate_is_met_by_a_branch_that_ends_before_the_join():
    text = 'f -> a f -> b a [goal_gate=true] a -> x [condition="k == 1"] a -> j b -> j j -> x'
    run = played(FORK + text, a=[writes(k=1)])
    assert run.state.verdicts["a"] == "success"
    assert run.status is RunStatus.DONE


def test_a_branch_that_ends_before_the_join_counts_when_it_ended():
    text = 'f -> a f -> b a -> x [condition="k == 1"] a -> j b -> j j -> x'
    run = played(FORK + text, a=[writes(k=1, who="a")], b=[{**writes(who="b"), "takes": 10}])
    assert run.state.ctx["who"] == "b"


def test_the_same_failure_in_three_branches_is_not_a_failure_that_comes_back():
    shared = "a -> check b -> check c -> check check -> j fix -> j j -> x "
    text = "f -> a f -> b f -> c " + shared + "check -> fix [condition=\"status == 'FAILURE'\"]"
    run = played(FORK + text, check=[{**BROKEN, "times": 3}])
    assert run.state.visits["fix"] == 3
    assert run.status is RunStatus.DONE


def test_a_branch_within_a_branch_knows_how_the_steps_before_it_went():
    inner = "f2 [shape=hexagon] j2 [shape=invhouse] f2 -> c f2 -> d d -> j2 j2 -> j "
    choice = "c -> good [condition=\"_goal_gates.g == 'SUCCESS'\"] c -> bad good -> j2 bad -> j2 "
    text = inner + choice + "f -> g f -> b g [goal_gate=true] g -> f2 b -> j j -> x"
    run = played(FORK + text)
    assert "good" in run.state.visits
    assert "bad" not in run.state.visits


def test_a_run_that_failed_has_no_open_fork():
    text = "graph [max_visits=2] a -> a [condition=\"status == 'FAILURE'\"] a -> j b -> j j -> x"
    run = played(FORK + "f -> a f -> b " + text, a=[{**BROKEN, "times": 9}])
    assert run.status is RunStatus.FAILED
    assert not run.state.branch_groups
    assert not run.state.branches


def test_a_join_that_succeeded_has_its_retries_back_when_branches_meet_again():
    shapes = "s [shape=Mdiamond] x [shape=Msquare] f [shape=component] "
    join = "j [shape=tripleoctagon, prompt=judge, max_retries=1] s -> f f -> a f -> b a -> j b -> j"
    text = shapes + join + ' j -> f [condition="context.again=1"] j -> x'
    run = played(text, j=[BUSY, writes(again=1), BUSY, writes(again=0)])
    assert "task.retry_exhausted" not in [event.name for event in run.log]


def test_a_fallback_that_is_retried_elsewhere_still_ends_the_run_with_the_failure():
    text = "graph [fallback=fb] s [shape=ellipse] x [shape=ellipse] s -> a -> x fix -> fb "
    text += "fb [max_retries=1 retry_target=fix retry_backoff=none]"
    run = played(text, a=[BROKEN], fb=[BUSY, {"result": 1}])
    assert run.status is RunStatus.FAILED
    assert run.state.failure["message"] == "broken"


def test_a_branch_that_comes_to_the_join_by_a_failure_tells_its_error():
    text = "f -> a f -> b a -> j [condition=\"status == 'FAILURE'\"] a -> x b -> j j -> x"
    run = played(FORK + text, a=[BROKEN])
    assert run.state.ctx["_branch_results"]["a"]["error"]["message"] == "broken"


def test_branches_may_write_secrets():
    text = FORK + "f -> a f -> b a -> j b -> j j -> x"
    reference = {"$secret": "api.token"}
    told = outcome_of({}, advice=Advice(updates={"token": reference}), is_sealed=True)
    state, _ = with_secrets(program_of(text), a=told)
    assert state.status is RunStatus.DONE
    assert state.ctx["token"] == reference


def test_a_secret_in_an_answer_stays_out_of_the_log():
    text = """{apiVersion: noetl.io/v2, kind: Playbook, metadata: {name: t}, workflow:
      [{step: ask, tool: {kind: human, question: which}}]}"""
    program = load_text(text, "t.yaml").program
    state, log = with_secrets(program, answer=f"it is {SECRET}")
    assert state.status is RunStatus.DONE
    assert SECRET not in str([to_row(event) for event in log])


def with_secrets(program, *, answer=None, **outcomes):
    known = KnownSecrets(
        keychain={"api": {"token": SECRET}},
        values={"api": {"token": SECRET}, "api.token": SECRET},
        forms={SecretForm("api.token"): SECRET},
    )
    moment = Moment(0, lambda: 0.5, Secrets(known))
    state, log, todo = RunState(), [], deque([Requested("1", {})])
    while todo:
        transition = decide(program, state, todo.popleft(), moment)
        log += transition.events
        ask = transition.ask
        if isinstance(ask, Invoke):
            outcome = outcomes.get(ask.key.step, outcome_of({}))
            todo.append(Reported(ask.key, outcome, ask.started))
        elif isinstance(ask, Wait):
            todo.append(Answered(ask.key, answer, "me"))
        else:
            todo += [turn_of(state, key) for key in transition.jobs]
    return state, log


def turn_of(state, key):
    return Taken(key) if state.step_run(key).status == "scheduled" else Due(key)


def forked(text, *arcs, gate="", **changes):
    """A playbook whose step `start` forks along these arcs; its branches meet at `join`."""
    program = load_text(text.replace("SPEC", gate), "t.yaml").program
    steps = dict(program.steps)
    router = Router(RouteMode.FORK, arcs, join="join")
    steps["start"] = replace(steps["start"], router=router)
    steps["join"] = replace(steps["join"], **changes)
    return replace(program, steps=steps)


PLAIN = """
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: t}
workflow:
  - {step: start, tool: {kind: noop}}
  - step: a
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {k: 1}}}}]}}}
    next: {spec: {mode: inclusive}, arcs: [{step: c}, {step: d}]}
  - {step: b, tool: {kind: noop}, next: {arcs: [{step: join}]}}
  - {step: c, SPEC tool: {kind: noop}, next: {arcs: [{step: join}]}}
  - {step: d, tool: {kind: noop}, next: {arcs: [{step: join}]}}
  - {step: e, tool: {kind: noop}, next: {arcs: [{step: join}]}}
  - {step: join, tool: {kind: noop}}
"""
GATE = "spec: {policy: {admit: {rules: [{when: ctx.k != 1, then: {allow: false}}]}}},"


def test_a_branch_with_several_tokens_counts_once():
    two_of_three = Gather(JoinPolicy.K_OF_N, k=2)
    program = forked(PLAIN, Arc("a"), Arc("b"), Arc("e"), gather=two_of_three)
    slow = {"takes": 10, "result": 1}
    run = simulate(program, script_of({"outcomes": {"b": [slow], "e": [slow]}}))
    joined = next(event for event in run.log if event.name == "branch.joined" and event.fork)
    assert len(joined.cancelled) == 1


def test_the_admission_gate_of_a_step_in_a_branch_reads_that_branch():
    run = simulate(forked(PLAIN, Arc("a"), Arc("b"), gate=GATE), script_of({}))
    asked = [event.allow for event in run.log if event.name == "gate.checked"]
    assert asked == [True]


def test_a_fork_whose_arcs_cannot_be_rendered_fails_the_step():
    args = compile_template("{{ 1 / 0 }}")
    run = simulate(forked(PLAIN, Arc("a", args=args), Arc("b")), script_of({}))
    assert run.status is RunStatus.FAILED
    assert run.state.failure["kind"] == "expression"


def test_a_loop_may_be_the_exit_that_asks_the_gates():
    text = """
workflow:
  - step: judge
    spec: {gate: {to: judge, most: 1}}
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, verdict: partial}}}]}}}
    next: [{step: end}]
  - step: end
    spec: {exit: true}
    loop: {in: [1, 2], iterator: n}
    tool: {kind: noop}
"""
    report = play(text)
    assert report["visits"] == ["judge", "end", "judge", "end"]
    assert (report["status"], report["unsatisfied"]) == ("failed", ["judge"])
