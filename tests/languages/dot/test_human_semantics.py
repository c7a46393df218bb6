"""Human gates and tool nodes, sentence by sentence (graphs.md#people)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anew.surfaces.cli.main import main
from tests.languages.dot.scenario import (
    DOCS_ENDS,
    FAIL,
    OK,
    PARTIAL,
    SPEC_ENDS,
    Played,
    play_docs,
    play_spec,
)

CHOICES = (
    's->h; h->a [label="[Y] Yes, deploy"]; h->b [label="N) No"]; h->c [label="L - Later"];'
    'h->d [label="Rewrite"]; a; b; c; d; a->x; b->x; c->x; d->x;'
)


def asked(attributes: str = "", *answers: str, **script: Any) -> Played:
    entries = [{"answer": answer} for answer in answers]
    tapes = {"h": entries} if entries else {}
    return play_docs(f"h [shape=house {attributes}]; {CHOICES}", **tapes, **script)


def late(attributes: str, *, more: str = "", takes: float = 60, then: str = "y") -> Played:
    entries = [{"answer": "n", "takes": takes}, {"answer": then}]
    return play_docs(f"h [shape=house {attributes}]; {CHOICES} {more}", h=entries)


# graphs.md#people "Match order: accelerator, full label, label without accelerator, prefix, 1-based
# index;
# case-insensitive"
@pytest.mark.parametrize(
    ("answer", "node"),
    [
        ("y", "a"),
        ("N", "b"),
        ("l", "c"),
        ("[Y] Yes, deploy", "a"),
        ("n) no", "b"),
        ("yes, deploy", "a"),
        ("LATER", "c"),
        ("rew", "d"),
        ("Yes", "a"),
        ("1", "a"),
        ("4", "d"),
        ("  rewrite ", "d"),
    ],
)
def test_an_answer_finds_its_choice(answer: str, node: str):
    assert asked("", answer).way == f"s h {node} x"


# graphs.md#people "accelerator" comes before "full label"
def test_an_accelerator_beats_a_label():
    run = play_docs(
        'h [shape=house]; a; b; s->h; h->a [label="B"]; h->b [label="[B] Other"]; a->x; b->x;',
        h=[{"answer": "b"}],
    )
    assert run.way == "s h b x"


# graphs.md#people "prefix" comes before "1-based index"
def test_a_prefix_beats_a_number():
    run = play_docs(
        'h [shape=house]; a; b; s->h; h->a [label="Two"]; h->b [label="1st"]; a->x; b->x;',
        h=[{"answer": "1"}],
    )
    assert run.way == "s h b x"


# graphs.md#people "otherwise reject and ask again, never choose the first"
def test_an_answer_that_fits_nothing_is_asked_for_again():
    assert asked("", "perhaps", "0", "5", "n").way == "s h b x"


def test_without_a_fitting_answer_the_run_waits():
    assert asked("", "perhaps").status == "waiting"


# graphs.md#people "choices = out-edges in declaration order, label or target id"
def test_an_edge_without_a_label_is_called_by_its_target():
    run = play_docs("h [shape=house]; a; b; s->h; h->a; h->b; a->x; b->x;", h=[{"answer": "b"}])
    assert run.way == "s h b x"


# graphs.md#people "Outcome SUCCESS, preferred_label = label, `_human_response` raw"
def test_the_raw_answer_and_the_label_are_kept():
    run = play_docs(
        'h [shape=house]; k [shape=diamond]; y; n; s->h; h->k [label="[Y] Yes"];'
        "k->y [condition=\"status == 'SUCCESS' AND preferred_label == '[Y] Yes'\"]; k->n; y->x; n->x;",
        h=[{"answer": "y"}],
    )
    assert run.way == "s h k y x"
    assert run.ctx["_human_response"] == "y"


# graphs.md#people "timeout_action first"
def test_a_timeout_can_take_the_first_choice():
    run = late("timeout=10 timeout_action=first")
    assert (run.way, run.elapsed) == ("s h a x", 10)


# graphs.md#people "fail (FAILURE, type TIMEOUT)"; graphs.md#node-attributes "none given -> fail"
@pytest.mark.parametrize("action", ["timeout_action=fail", ""])
def test_a_timeout_fails_unless_it_says_otherwise(action: str):
    edge = "t; t->x; h->t [condition=\"status == 'FAILURE' AND error.type == 'TIMEOUT'\"];"
    run = late(f"timeout=10 {action}", more=edge)
    assert (run.way, run.elapsed) == ("s h t x", 10)


# graphs.md#retries TIMEOUT is retryable by default: the question is asked again
def test_a_timeout_is_retried_like_any_failure():
    run = late("timeout=10 max_retries=1 retry_jitter=0")
    assert (run.way, run.delays, run.elapsed) == ("s h h a x", [1], 11)


# graphs.md#retries `retry_on_timeout`
def test_a_timeout_is_not_retried_where_the_node_says_so():
    run = late("timeout=10 max_retries=1 retry_on_timeout=false")
    assert (run.way, run.status) == ("s h", "failed")


# graphs.md#people "skip (SKIPPED, then steps 4-5)"
def test_a_skipped_question_goes_by_weight():
    run = play_docs(
        'h [shape=house timeout=10 timeout_action=skip]; a; b; s->h; h->a [label="A"];'
        'h->b [label="B" weight=2]; a->x; b->x;',
        h=[{"answer": "a", "takes": 60}],
    )
    assert (run.way, run.elapsed) == ("s h b x", 10)


# 1.1 durations: `15m`, quoted values "must behave as the typed value"
@pytest.mark.parametrize(("timeout", "seconds"), [("15m", 900), ('"10"', 10), ('"250ms"', 0.25)])
def test_a_timeout_may_be_a_duration(timeout: str, seconds: float):
    run = late(f"timeout={timeout} timeout_action=first", takes=5000)
    assert run.elapsed == seconds


# graphs.md#people an answer in time is an answer
def test_an_answer_in_time_beats_the_deadline():
    run = late("timeout=10 timeout_action=first", takes=9)
    assert (run.way, run.elapsed) == ("s h b x", 9)


# graphs.md#people "SPEC keys too": `human.gate.selected/label` (graphs.md#people)
def test_spec_keeps_the_chosen_label():
    run = play_spec(
        'h [shape=hexagon]; a; b; s->h; h->a [label="[A] Approve"]; h->b [label="[F] Fix"];'
        "a->x; b->x;",
        h=[{"answer": "f"}],
    )
    assert run.way == "s h b x"
    assert run.ctx["human.gate.label"] == "[F] Fix"
    assert run.ctx["human.gate.selected"] == "F"


# graphs.md#people "human.default_choice, else RETRY"
def test_spec_takes_the_default_choice_on_a_timeout():
    run = play_spec(
        'h [shape=hexagon timeout=10 human.default_choice=b]; a; b; s->h; h->a [label="A"];'
        'h->b [label="B"]; a->x; b->x;',
        h=[{"answer": "a", "takes": 60}],
    )
    assert run.way == "s h b x"


def test_spec_retries_a_question_without_a_default_choice():
    run = play_spec(
        'h [shape=hexagon timeout=10 max_retries=1]; a; s->h; h->a [label="A"]; a->x;',
        h=[{"answer": "a", "takes": 60}, {"answer": "a"}],
        random=0.5,
    )
    assert (run.way, run.delays) == ("s h h a x", [0.2])


# graphs.md#people Tool: "exit 0 SUCCESS with `tool.output` = stdout", "De facto keys"
def test_a_tool_leaves_its_output_in_the_context():
    run = play_docs(
        't [shape=component tool_command="make"]; s->t->x;',
        t=[{"result": {"exit_code": 0, "stdout": " one\ntwo \n", "stderr": ""}}],
    )
    assert run.ctx["tool.output"] == " one\ntwo \n"
    assert run.ctx["tool.exit_code"] == 0
    assert run.ctx["tool.last_line"] == "two"
    assert run.ctx["tool_stdout"] == "one\ntwo"


# graphs.md#people "non-zero FAILURE (type UNKNOWN, so retryable)"
def test_a_command_that_fails_is_retried():
    bad = {"error": {"kind": "exit_code"}, "result": {"exit_code": 2, "stdout": "", "stderr": ""}}
    good = {"result": {"exit_code": 0, "stdout": "", "stderr": ""}}
    run = play_docs(
        't [shape=component tool_command="make" max_retries=1 retry_jitter=0]; s->t->x;',
        t=[bad, good],
    )
    assert (run.way, run.delays) == ("s t t x", [1])


def test_a_command_that_fails_is_of_unknown_type():
    bad = {"error": {"kind": "exit_code"}, "result": {"exit_code": 2, "stdout": "", "stderr": ""}}
    run = play_docs(
        't [shape=component tool_command="make"]; u; s->t->x; u->x;'
        "t->u [condition=\"error.type == 'UNKNOWN' AND tool.exit_code == 2\"];",
        t=[bad],
    )
    assert run.way == "s t u x"


# graphs.md#people "timeout TIMEOUT"
def test_a_command_that_takes_too_long_is_a_timeout():
    run = play_docs(
        't [shape=component tool_command="make" timeout=10]; u; s->t->x; u->x;'
        "t->u [condition=\"error.type == 'TIMEOUT'\"];",
        t=[{"takes": 60}],
    )
    assert (run.way, run.elapsed) == ("s t u x", 10)


# graphs.md#people "Clear them before each run of the node"
def test_the_keys_of_an_earlier_command_do_not_match_a_later_edge():
    done = {"result": {"exit_code": 0, "stdout": "pass\n", "stderr": ""}}
    run = play_docs(
        't [shape=component tool_command="make"]; a; s->t; a->t; t->x [condition="NOT tool.last_line"];'
        "t->a [condition=\"tool.last_line == 'pass'\"];",
        t=[done, {"error": {"kind": "timeout"}}],
    )
    assert run.way == "s t a t x"


# graphs.md#people routing on the last line of the output
def test_a_spec_file_routes_on_the_last_line():
    run = play_spec(
        't [shape=parallelogram tool_command="make"]; a; b; s->t; a->x; b->x;'
        't->a [condition="context.tool.last_line=pass"]; t->b [condition="context.tool.last_line=flaky"];',
        t=[{"result": {"exit_code": 0, "stdout": "log\nflaky\n", "stderr": ""}}],
    )
    assert run.way == "s t b x"


# graphs.md#where-the-texts-are-silent 15 "accept tool_command, command, then goal"
@pytest.mark.parametrize(
    ("attributes", "command"),
    [
        ('tool_command="one" command="two" goal="three"', "one"),
        ('command="two" goal="three"', "two"),
        ('goal="three"', "three"),
    ],
)
def test_amb_15_where_a_docs_tool_has_its_command(attributes: str, command: str):
    run = play_docs(f"t [shape=component {attributes}]; s->t->x;", t=[OK])
    assert run.inputs("t")[0]["command"] == command


def really_run(text: str, folder: Path, capsys: Any, *options: str) -> dict[str, Any]:
    """A run with real commands; a simulation calls none."""
    (folder / "g.dot").write_text(text)
    database = str(folder / "anew.db")
    main(["run", str(folder / "g.dot"), "--db", database, "--json", "--quiet", *options])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


# graphs.md#people "missing command TERMINAL"; graphs.md#node-attributes SPEC `tool_command` "" ->
# FAIL
def test_a_spec_tool_without_a_command_fails_for_good(tmp_path: Path, capsys: Any):
    body = (
        't [shape=parallelogram max_retries=2]; a; s->t->x; a->x; t->a [condition="outcome=fail"];'
    )
    run = really_run(f"digraph p {{ {SPEC_ENDS} {body} }}", tmp_path, capsys)
    assert run["steps"]["t"]["attempts"] == 1
    assert run["steps"]["a"]["visits"] == 1


# graphs.md#variables "In tool commands pass values as environment variables or shell-quoted, never
# spliced raw"
def test_a_value_is_never_spliced_into_a_command(tmp_path: Path, capsys: Any):
    body = 't [shape=component tool_command="echo got $name"]; s->t->x;'
    text = f"digraph p {{ {DOCS_ENDS} {body} }}"
    run = really_run(text, tmp_path, capsys, "--set", "name=a; echo $(echo b)")
    assert run["ctx"]["tool_stdout"] == "got a; echo $(echo b)"


# graphs.md#people "non-zero FAILURE", "`tool.exit_code`, `tool.last_line`", for real
def test_a_real_command_leaves_its_keys(tmp_path: Path, capsys: Any):
    body = (
        "t [shape=component tool_command=\"printf 'one\\\\ntwo\\\\n'; exit 3\"]; u; s->t->x; u->x;"
        "t->u [condition=\"error.type == 'UNKNOWN' AND tool.last_line == 'two'\"];"
    )
    run = really_run(f"digraph p {{ {DOCS_ENDS} {body} }}", tmp_path, capsys)
    assert run["steps"]["u"]["visits"] == 1
    assert run["ctx"]["tool.exit_code"] == 3


# graphs.md#people a failed attempt keeps nothing from being asked again later by a normal edge
def test_a_person_can_send_the_work_back():
    run = play_docs(
        'a; h [shape=house]; s->a->h; h->x [label="[Y] Yes"]; h->a [label="[N] No"];',
        h=[{"answer": "n"}, {"answer": "y"}],
    )
    assert run.way == "s a h a h x"


# graphs.md#people the label of a person's answer is matched against plain edges of that node only
def test_a_failed_question_takes_no_plain_edge():
    run = play_docs(
        'h [shape=house timeout=10]; s->h; h->x [label="[Y] Yes"];',
        h=[{"answer": "y", "takes": 60}],
    )
    assert (run.way, run.status) == ("s h", "failed")


# Outcomes can be scripted for a person, too: the retry rules are the same
def test_a_scripted_failure_of_a_person_is_a_failure():
    run = play_docs('h [shape=house]; s->h; h->x [label="[Y] Yes"];', h=[FAIL])
    assert (run.way, run.status) == ("s h", "failed")


# 3.7 "last outcome must be SUCCESS": a run that waits reports its gates as they are now
def test_a_gate_that_was_met_since_is_not_reported_while_the_run_waits():
    run = play_docs(
        'g [goal_gate=true max_retries=1]; h [shape=house]; s->g->h; h->x [label="A"];',
        g=[PARTIAL, OK],
        h=[{"answer": "a"}, {"answer": "nonsense"}],
    )
    assert (run.way, run.status, run.unsatisfied) == ("s g h x g h", "waiting", [])


@pytest.mark.parametrize("choice", ["N", "n", "[N] No", "b"])
def test_the_default_choice_is_a_target_a_label_or_a_key(choice: str):
    person = f'h [shape=house timeout="5s" human.default_choice="{choice}"]; s->h; a; b;'
    edges = 'h->a [label="[Y] Yes"]; h->b [label="[N] No"]; a->x; b->x;'
    assert play_docs(f"{person} {edges}").way == "s h b x"
