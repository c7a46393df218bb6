"""Graphs as files: the words of their dialect, their branches, gates and agents."""

from __future__ import annotations

from anew.engine.events import HumanWaiting
from anew.engine.moments import NANOSECONDS
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.store import StoredProgram
from tests.views.test_export import Exported, exported

GATED = """\
digraph Ship {
  dialect="docs"
  start [type="start"]; done [type="exit"]
  plan [shape=box, prompt="Plan it", goal_gate=true, max_retries=2]
  build [shape=box, prompt="Build it"]
  start -> plan -> build -> done
  plan -> build [condition="status == 'FAILURE'"]
}
"""
BRANCHES = """\
digraph Both {
  start [shape=Mdiamond]; done [shape=Msquare]
  fan [shape=component]; join [shape=tripleoctagon]
  a [shape=box, prompt="do a", thread_id="ta"]
  b [shape=box, prompt="do b", thread_id="tb"]
  start -> fan; fan -> a; fan -> b; a -> join; b -> join; join -> done
}
"""
BAD = {"error": {"type": "TERMINAL", "message": "no"}}


def graph(text: str, **outcomes: list[object]) -> Exported:
    loaded = load_text(text, "flow.dot")
    assert loaded.program is not None, loaded.findings
    simulation = simulate(loaded.program, script_of({"outcomes": outcomes}))
    document = StoredProgram("d", "flow", 0, text, "flow", 0)
    return exported(simulation.log, simulation.program, document)


def test_a_graph_is_told_in_the_words_of_its_dialect() -> None:
    told = graph(GATED, plan=[BAD, {}])
    assert told.files["pipeline.dot"].decode() == GATED
    history = told.json("checkpoint.json")["node_history"]
    assert history[:3] == [["start", "SUCCESS"], ["plan", "FAILURE"], ["build", "SUCCESS"]]
    assert told.json("nodes/plan/v1.a1/outcome.json")["outcome"] == "FAILURE"
    assert told.json("nodes/plan/outcome.json")["outcome"] == "SUCCESS"
    assert graph(BRANCHES).json("nodes/b/outcome.json")["outcome"] == "success"


def test_the_context_of_a_graph_has_the_keys_that_are_always_there() -> None:
    told = graph(GATED, plan=[BAD, {}])
    context = next(p["context"] for p in told.checkpoints if p["current_node"] == "build")
    assert context["_current_node"] == "build"
    assert context["_previous_node"] == "plan"
    assert context["_goal_gates"] == {"plan": "FAILURE"}


def test_a_gate_that_sends_the_run_back_is_the_way_that_was_chosen() -> None:
    told = graph(GATED, plan=[BAD, {}])
    first, second = (p for p in told.checkpoints[:-1] if p["current_node"] == "done")
    assert first["selected_edges"] == [{"from": "done", "to": "plan", "reason": "gate"}]
    assert first["goal_gate_status"] == {"plan": "failure"}
    assert second["selected_edges"] == []
    assert second["goal_gate_status"] == {"plan": "success"}
    assert second["node_retries"] == {"plan": 1}


def test_each_visit_of_a_node_keeps_its_prompt() -> None:
    told = graph(GATED, plan=[BAD, {}])
    first, second = (told.files[f"nodes/plan/v{n}.a1/prompt.md"].decode() for n in (1, 2))
    assert first == "Stages so far:\n- start: success\n\nPlan it"
    assert second.startswith("Stages so far:\n- start: success\n- plan: failure\n")
    assert second.endswith("\n\nPlan it")


def test_branches_have_their_own_context_and_their_own_thread() -> None:
    told = graph(BRANCHES, a=[{"result": {"text": "A"}}], b=[{"result": {"text": "B"}}])
    points = {p["current_node"]: p for p in told.checkpoints}
    for node, text in (("a", "A"), ("b", "B")):
        assert points[node]["branch"] == node
        assert points[node]["context"]["current_node"] == node
        assert points[node]["context"]["last_response"] == text
        assert points[node]["fidelity_state"]["thread"] == f"t{node}"
    assert points["fan"]["branch"] is None
    assert [edge["to"] for edge in points["fan"]["selected_edges"]] == ["a", "b"]
    assert told.files["nodes/a/response.md"] == b"A"


ASKED = """\
digraph Ask {
  start [shape=Mdiamond]; done [shape=Msquare]
  ok [shape=hexagon, label="Ship it?"]
  start -> ok; ok -> done [label="[Y] Yes"]; ok -> start2 [label="[N] No"]
  start2 [shape=box, prompt="again"]; start2 -> done
}
"""


def test_a_run_that_waits_for_a_person_says_what_for() -> None:
    loaded = load_text(ASKED, "flow.dot")
    assert loaded.program is not None, loaded.findings
    log = simulate(loaded.program, script_of({})).log
    asked = next(i for i, event in enumerate(log, 1) if isinstance(event, HumanWaiting))
    told = exported(log[:asked], loaded.program)
    status = told.json("status.json")
    assert status["status"] == "waiting"
    assert status["current_nodes"] == ["ok"]
    [question] = status["waiting_for"]
    assert (question["node"], question["question"]) == ("ok", "Ship it?")
    assert question["choices"] == ["[Y] Yes", "[N] No"]
    assert told.files["nodes/ok/prompt.md"] == b"Ship it?"


def test_an_agent_that_has_the_conversation_is_shown_with_its_prompt_alone() -> None:
    full = GATED.replace("digraph Ship {", "digraph Ship { default_fidelity=full")
    told = graph(full, plan=[{"result": {"text": "A plan"}}])
    assert told.json("nodes/build/inputs.json")["history"]
    assert told.files["nodes/build/prompt.md"] == b"Build it"


def test_what_a_graph_wrote_is_told_under_its_own_keys() -> None:
    command = GATED.replace('shape=box, prompt="Build it"', 'shape=component, tool_command="ls"')
    patches = graph(command).json("nodes/build/outcome.json")["patches"]["ctx"]
    assert "tool.output" in patches
    assert not any("\\" in key for key in patches)


def test_a_run_that_has_not_ended_lasts_until_the_export() -> None:
    loaded = load_text(GATED, "flow.dot")
    assert loaded.program is not None
    log = simulate(loaded.program, script_of({})).log
    later = log[0].at + 90 * NANOSECONDS
    half = exported(log[: len(log) // 2], loaded.program, now=later)
    assert half.json("status.json")["seconds"] == 90.0
    whole = exported(log, loaded.program, now=later)
    assert whole.json("status.json")["seconds"] == (log[-1].at - log[0].at) / NANOSECONDS
