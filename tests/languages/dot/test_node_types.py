"""What each type of node asks of its tool, and what it leaves in the context."""

from __future__ import annotations

from pathlib import Path

import pytest

from anew.languages import load
from anew.languages.dot import fidelity
from anew.values import Object
from tests.languages.dot.graphs import docs, inputs, played, spec
from tests.languages.dot.scenario import SPEC_ENDS, findings, play_spec

# --- agents --------------------------------------------------------------------------------------


def test_an_agent_is_told_its_task_with_variables_put_in() -> None:
    program = spec(
        'goal="a robot"; a [prompt="Build $goal for ${ctx.last_stage}."]; b [prompt=p]; s->b->a->x'
    )
    (told,) = inputs(played(program), "a")
    assert (told["prompt"], told["goal"], told["node"]) == ("Build a robot for b.", "a robot", "a")


@pytest.mark.parametrize(
    ("attributes", "docs_task", "spec_task"),
    [
        ("goal=g, prompt=p, label=l", "g", "p"),
        ("label=l, llm_prompt=p", "p", "p"),
        ("label=l", "l", "l"),
        ("", "a", "a"),
    ],
)
def test_where_an_agents_task_is_written(attributes: str, docs_task: str, spec_task: str) -> None:
    text = f"a [{attributes}]; s->a->x"
    assert inputs(played(docs(text)), "a")[0]["prompt"] == docs_task
    assert inputs(played(spec(text)), "a")[0]["prompt"] == spec_task


def test_the_stylesheet_and_the_nodes_own_settings_reach_the_agent() -> None:
    program = spec(
        'model_stylesheet="* { llm_model: small; } .hard { llm_model: large; }";'
        "a [prompt=p, class=hard, llm_provider=anthropic, reasoning_effort=low, timeout=15m];"
        "b [prompt=p]; s->a->b->x"
    )
    report = played(program)
    (first,), (second,) = inputs(report, "a"), inputs(report, "b")
    assert (first["model"], first["provider"], first["reasoning_effort"]) == (
        "large", "anthropic", "low",
    )  # fmt: skip
    assert (second["model"], program.steps["a"].tasks[0].timeout) == ("small", 900.0)


def test_an_agents_answer_is_kept_in_short() -> None:
    report = played(spec("a [prompt=p]; s->a->x"), a=[{"result": {"text": "long " * 100}}])
    assert report["ctx"]["last_stage"] == "a"
    assert report["ctx"]["last_response"] == ("long " * 100)[:200]


def test_a_failed_agent_leaves_the_last_response_alone() -> None:
    program = spec('a [prompt=p]; b [prompt=p]; s->a->b; b->x [condition="outcome=fail"]; b->x')
    report = played(program, a=[{"result": {"text": "yes"}}], b=[{"status": "fail"}])
    assert (report["ctx"]["last_stage"], report["ctx"]["last_response"]) == ("a", "yes")


@pytest.mark.parametrize(
    ("graph", "node", "edge", "mode"),
    [
        ("", "", "", "compact"),
        ("default_fidelity=truncate;", "", "", "truncate"),
        ("default_fidelity=truncate;", ", fidelity=full", "", "full"),
        ("", ", fidelity=full", '[fidelity="summary:low"]', "summary:low"),
        ("default_fidelity=everything;", "", "", "compact"),
    ],
)
def test_the_edge_then_the_node_then_the_graph_says_how_much_is_told(
    graph: str, node: str, edge: str, mode: str
) -> None:
    program = spec(f"{graph} a [prompt=p]; b [prompt=q{node}]; s->a; a->b {edge}; b->x")
    assert inputs(played(program), "b")[0]["fidelity"] == mode


def test_a_preamble_tells_the_goal_the_stages_and_the_context() -> None:
    program = spec('goal="a robot"; a [prompt=p]; b [prompt=q]; s->a->b->x')
    report = played(program, a=[{"status": "success", "context": {"plan": "small"}}])
    lines = inputs(report, "b")[0]["preamble"].splitlines()
    assert {"Goal: a robot", "- a: success", "- plan: small"} <= set(lines)


def test_a_truncated_preamble_tells_the_goal_and_the_run() -> None:
    program = spec('goal="a robot"; a [prompt=p, fidelity=truncate]; s->a->x')
    assert inputs(played(program), "a")[0]["preamble"] == "Goal: a robot\nRun: 1"


def test_a_preamble_has_a_bounded_length() -> None:
    program = spec("a [prompt=p]; b [prompt=q]; s->a->b->x")
    report = played(program, a=[{"context": {f"key{n}": "v" * 5000 for n in range(50)}}])
    assert len(inputs(report, "b")[0]["preamble"]) <= 4000


@pytest.mark.parametrize(
    ("graph", "node", "edge", "thread"),
    [
        ("", "", "", "a"),
        ("", ", thread_id=mine", "[thread_id=its]", "mine"),
        ("thread_id=all;", "", "[thread_id=its]", "its"),
        ("thread_id=all;", "", "", "all"),
    ],
)
def test_which_thread_an_agent_goes_on_with(graph: str, node: str, edge: str, thread: str) -> None:
    program = spec(f"{graph} a [prompt=p]; b [prompt=q{node}]; s->a; a->b {edge}; b->x")
    assert inputs(played(program), "b")[0]["thread"] == thread


def test_nodes_of_a_subgraph_share_a_thread() -> None:
    program = spec('subgraph c { label="Main Loop"; a [prompt=p]; b [prompt=q]; } s->a->b->x')
    assert inputs(played(program), "b")[0]["thread"] == "main-loop"


def test_full_fidelity_brings_the_conversation_so_far() -> None:
    program = spec(
        "default_fidelity=full; a [prompt=one]; b [prompt=two]; c [prompt=three, thread_id=new];"
        "s->a->b->c->x"
    )
    report = played(program, a=[{"result": {"text": "first"}}], b=[{"result": {"text": "second"}}])
    assert inputs(report, "a")[0]["history"] == []
    assert [said["text"] for said in inputs(report, "b")[0]["history"]] == ["one", "first"]
    assert inputs(report, "c")[0]["history"] == []


def test_conversations_are_not_kept_where_nobody_asks_for_them() -> None:
    report = played(spec("a [prompt=p]; s->a->x"), a=[{"result": {"text": "t"}}])
    assert "_threads" not in report["ctx"]


def test_a_conversation_has_a_bounded_length() -> None:
    program = spec("max_visits=30; thread_id=t; default_fidelity=full; a [prompt=p]; s->a->x; a->a")
    text = "w" * 10_000
    again: Object = {"result": {"text": text}, "label": "a", "times": 20}
    report = played(program, a=[again, {"result": {"text": text}, "label": "x"}])
    said = inputs(report, "a")[-1]["history"]
    assert len(said) > 2
    assert sum(len(one["text"]) for one in said) <= fidelity.THREAD_CHARS_MAX


# --- tools ---------------------------------------------------------------------------------------


def test_a_tool_leaves_its_output_for_conditions() -> None:
    program = spec(
        't [shape=parallelogram, tool_command="./check", timeout="90s"]; a [prompt=p]; s->t;'
        't->x [condition="context.tool.last_line=ship"]; t->a; a->x'
    )
    report = played(program, t=[{"result": {"stdout": "checked\nship\n", "exit_code": 0}}])
    ctx = report["ctx"]
    assert report["visits"] == ["s", "t", "x"]
    assert (ctx["tool.output"], ctx["tool.exit_code"]) == ("checked\nship\n", 0)
    assert (ctx["tool.last_line"], ctx["tool_stdout"]) == ("ship", "checked\nship")
    assert inputs(report, "t")[0]["command"] == "./check"
    assert program.steps["t"].tasks[0].timeout == 90.0


def test_a_tool_that_fails_without_output_clears_what_an_earlier_one_left() -> None:
    program = spec(
        "t [shape=parallelogram, tool_command=a]; u [shape=parallelogram, tool_command=b];"
        's->t->u; u->x [condition="outcome=fail"]; u->x'
    )
    report = played(
        program,
        t=[{"result": {"stdout": "old", "exit_code": 0}}],
        u=[{"error": {"kind": "timeout", "message": "late"}}],
    )
    assert (report["ctx"]["tool.output"], report["ctx"]["tool.exit_code"]) == ("", None)


def test_a_command_runs_in_the_folder_its_node_names() -> None:
    program = spec("t [shape=parallelogram, tool_command=ls, cwd=sub]; s->t->x")
    assert inputs(played(program), "t")[0] == {"command": "ls", "cwd": "sub"}


def test_variables_of_a_command_go_through_its_environment() -> None:
    program = spec(
        't [shape=parallelogram, tool_command="echo ${ctx.name}"]; a [prompt=p]; s->a->t->x'
    )
    report = played(program, a=[{"context": {"name": "$(rm -rf /)"}}])
    (told,) = inputs(report, "t")
    assert "rm -rf" not in told["command"]
    assert list(told["env"].values()) == ["$(rm -rf /)"]


@pytest.mark.parametrize("key", ["tool_command", "command", "goal"])
def test_a_docs_tool_may_name_its_command_in_three_ways(key: str) -> None:
    program = docs(f"t [shape=component {key}=ls]; s->t->x")
    assert inputs(played(program), "t")[0] == {"command": "ls"}


# --- people --------------------------------------------------------------------------------------

ASKS = 'h [{}]; d [prompt=p, goal=g]; r [prompt=p, goal=g]; s->h; h->d [label="[Y] Yes"]; h->r; d->x; r->x'


def test_a_person_is_asked_with_the_edges_as_choices() -> None:
    program = spec(ASKS.format('shape=hexagon, label="Ship it?"'))
    report = played(program, h=[{"answer": "y"}])
    (told,) = inputs(report, "h")
    assert told == {"question": "Ship it?", "choices": ["[Y] Yes", "r"]}
    ctx = report["ctx"]
    assert (ctx["_human_response"], ctx["human.gate.selected"]) == ("y", "Y")
    assert ctx["human.gate.label"] == "[Y] Yes"


def test_an_edge_for_other_ends_than_an_answer_is_no_choice() -> None:
    program = docs(
        "h [shape=house timeout=5 timeout_action=skip]; s->h; h->x [label=Go]"
        "h->x [condition=\"status == 'SKIPPED'\"]"
    )
    report = played(program)
    assert inputs(report, "h")[0]["choices"] == ["Go"]
    assert report["status"] == "done"


@pytest.mark.parametrize(
    ("attributes", "status", "visits"),
    [
        ("timeout_action=first", "done", ["s", "h", "d", "x"]),
        ("timeout_action=fail", "failed", ["s", "h"]),
        ("", "failed", ["s", "h"]),
        ("timeout_action=skip", "done", ["s", "h", "d", "x"]),
    ],
)
def test_nobody_answers_a_docs_question(attributes: str, status: str, visits: list[str]) -> None:
    report = played(docs(ASKS.format(f"shape=house timeout=5 {attributes}")))
    assert (report["status"], report["visits"]) == (status, visits)


def test_nobody_answers_a_spec_question() -> None:
    default = ASKS.format("shape=hexagon, timeout=5, human.default_choice=r")
    assert played(spec(default))["visits"] == ["s", "h", "r", "x"]
    by_label = ASKS.format('shape=hexagon, timeout=5, human.default_choice="[y] yes"')
    assert played(spec(by_label))["visits"] == ["s", "h", "d", "x"]
    again = ASKS.format("shape=hexagon, timeout=5, max_retries=1")
    assert played(spec(again))["visits"] == ["s", "h", "h"]


# --- children ------------------------------------------------------------------------------------


def test_a_manager_runs_its_child_with_what_the_context_holds() -> None:
    program = spec(
        'stack.child_dotfile="c.dot"; stack.child_workdir=sub; m [shape=house, manager.max_cycles=10,'
        "manager.poll_interval=2s]; a [prompt=p]; s->a->m->x"
    )
    report = played(program, a=[{"context": {"topic": "bees", "_own": 1}}])
    (told,) = inputs(report, "m")
    assert told["file"] == "sub/c.dot"
    assert told["args"] == {"topic": "bees", "last_stage": "a", "last_response": ""}
    assert report["ctx"]["stack.child.status"] == "completed"
    assert program.steps["m"].tasks[0].timeout == 20.0


# --- prompts in files ----------------------------------------------------------------------------


@pytest.mark.parametrize("named", ['prompt_file="ask.md"', 'prompt="@ask.md"'])
def test_a_prompt_may_lie_in_a_file_beside_the_graph(tmp_path: Path, named: str) -> None:
    (tmp_path / "ask.md").write_text("Build $goal", encoding="utf-8")
    path = tmp_path / "p.dot"
    path.write_text(f"digraph p {{ goal=g; start -> a -> exit; a [{named}] }}", encoding="utf-8")
    program = load(path).program
    assert program is not None
    assert inputs(played(program), "a")[0]["prompt"] == "Build g"


def test_a_prompt_outside_the_documents_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ask.md").write_text("secret", encoding="utf-8")
    path = tmp_path / "sub" / "p.dot"
    path.parent.mkdir()
    path.write_text('digraph p { start -> a -> exit; a [prompt="@../ask.md"] }', encoding="utf-8")
    rules = [found.rule for found in load(path).findings]
    assert "prompt-file" in rules


def test_a_manager_without_a_child_fails_for_good_unless_the_script_says_otherwise():
    body = "m [shape=house max_retries=2]; s->m->x"
    found = play_spec(body)
    assert (found.status, found.error["type"]) == ("failed", "TERMINAL")
    assert found.report["attempts"]["m"] == 1
    assert findings(f"digraph p {{ {SPEC_ENDS} {body} }}")["child-missing"] == "warning"
    assert play_spec(body, m=[{}]).status == "done"


def test_a_tool_node_without_a_command_gives_what_the_script_says():
    body = "t [handler=tool]; s->t->x"
    assert play_spec(body).error["kind"] == "config"
    assert play_spec(body, t=[{"result": {"stdout": "7"}}]).ctx["tool.output"] == "7"
