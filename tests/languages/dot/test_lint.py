"""One minimal graph per rule: it must be reported, at the right place, with a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from anew.languages import load, load_text
from anew.languages.dot.dot_rules import LINT_RULES
from anew.program.findings import Finding, Severity
from tests.languages.dot.documents import ASKED, DOCS, LINT_CASES, SPEC

# A node before the fork, two branches, and a node behind their join.
FORKED = (
    SPEC + "p [prompt=p]; f [shape=component]; a [prompt=p]; b [prompt=p]; q [prompt=p];\n"
    "j [shape=tripleoctagon]; s->p->f->a->j->q->x; f->b->j;\n%s }"
)


def findings_of(text: str, rule: str) -> list[Finding]:
    return [found for found in load_text(text, "p.dot").findings if found.rule == rule]


@pytest.mark.parametrize(
    ("rule", "text", "line", "column"), LINT_CASES, ids=[case[0] for case in LINT_CASES]
)
def test_what_is_wrong_with_a_graph_is_reported_where_it_is_wrong(
    rule: str, text: str, line: int, column: int, tmp_path: Path
) -> None:
    (tmp_path / "p.dot").write_text(text)
    loaded = load(tmp_path / "p.dot")
    places = [(f.place.line, f.place.column) for f in loaded.findings if f.rule == rule]
    assert (line, column) in places, loaded.findings
    assert (loaded.program is None) is any(f.severity is Severity.ERROR for f in loaded.findings)
    assert [f for f in loaded.findings if not f.suggestion] == []


def test_every_lint_rule_has_a_minimal_graph() -> None:
    assert {case[0] for case in LINT_CASES} == LINT_RULES.keys()
    assert all(summary.endswith(".") for _, summary in LINT_RULES.values())


# --- what is right -------------------------------------------------------------------------------

FAIL_EDGE = """
  generate [goal="Write the module" max_retries=3 retry_backoff=exponential]
  fix_errors [goal="Repair"]
  s -> generate -> x
  generate -> fix_errors [condition="status == 'FAILURE'" label="Fix and retry"]
  fix_errors -> generate [label="Retry"]
"""
RETRY_TARGET = """
  generate [goal="Write module" retry_target=fix_errors max_retries=1]
  fix_errors [goal="Repair"]
  s -> generate -> x; fix_errors -> generate
"""
FALLBACK = """
  graph [fallback=error_handler]
  error_handler [goal="Log error and clean up"]
  generate [goal="Write module"]
  s -> generate -> x
"""


@pytest.mark.parametrize("text", [RETRY_TARGET, FALLBACK])
def test_the_seeds_own_examples_have_no_findings_but_notes(text: str) -> None:
    found = load_text(f"{DOCS}{text}}}", "p.dot").findings
    assert [f for f in found if f.severity is not Severity.INFO] == []


def test_the_seeds_fail_edge_is_a_route_and_its_repair_has_none() -> None:
    (found,) = load_text(f"{DOCS}{FAIL_EDGE}}}", "p.dot").findings
    assert (found.rule, "'fix_errors'" in found.message) == ("fail-edge-missing", True)


def test_nodes_behind_the_fallback_need_not_lead_to_the_exit() -> None:
    text = DOCS + "fallback=f; f [goal=g]; h [goal=g]; a [goal=g]; s->a->x; f->h }"
    assert load_text(text, "p.dot").findings == []


@pytest.mark.parametrize(
    "text",
    [
        "fix [goal=g]; a->fix [condition=\"status != 'SUCCESS'\"]; fix->x",
        "c [shape=diamond]; a->c->x",
        "on_failure=exit",
        "on_failure=route",
    ],
)
def test_a_failure_with_a_route_or_a_word_about_it_is_not_reported(text: str) -> None:
    reported = findings_of(f"{DOCS}a [goal=g]; s->a->x; {text} }}", "fail-edge-missing")
    assert not any("'a'" in found.message for found in reported)


def test_the_failure_of_a_branch_is_for_its_join() -> None:
    text = DOCS + "f [shape=hexagon]; a [goal=g]; j [shape=invhouse]; s->f->a->j->x }"
    (found,) = findings_of(text, "fail-edge-missing")
    assert found.message.startswith("a failure of 'j' has no route")


@pytest.mark.parametrize(
    ("graph", "node", "edge"),
    [
        ("max_visits=3;", "", ""),
        ("", "[prompt=p, max_retries=1]", ""),
        ("", "[prompt=p, goal_gate=true, retry_target=b]", ""),
        ("", "[shape=hexagon]", ""),
        ("", "", "[max_retries=2]"),
        ("", "", "[loop_restart=true]"),
        ("", "", '[condition="context.internal.retry_count.b!=3"]'),
    ],
)
def test_a_cycle_with_a_bound_of_the_authors_is_fine(graph: str, node: str, edge: str) -> None:
    text = f"{SPEC}{graph} a {node}; b [prompt=p]; s->a->x; a->b; b->a {edge} }}"
    assert findings_of(text, "unbounded-cycle") == []


def test_a_cycle_of_retries_is_a_cycle() -> None:
    text = DOCS + "a [goal=g retry_target=b]; b [goal=g]; s->a->x; b->a }"
    (found,) = findings_of(text, "unbounded-cycle")
    assert "a -> b" in found.message


def test_a_condition_of_the_other_dialect_comes_with_its_translation() -> None:
    text = DOCS + 'a [goal=g]; s->a; a->x [condition="outcome=success && k=v"] }'
    (found,) = findings_of(text, "condition-of-other-dialect")
    assert "status == 'SUCCESS' AND " in (found.suggestion or "")


def test_an_unknown_attribute_is_told_once_with_what_was_meant() -> None:
    text = SPEC + "a [prompt=p, promt=q]; b [prompt=p, promt=q]; s->a->b->x }"
    (found,) = findings_of(text, "attribute-unknown")
    assert found.suggestion == "Did you mean 'prompt'?"


def test_an_attribute_of_another_engine_tells_what_to_use_instead() -> None:
    text = SPEC + "a [prompt=p, error_policy=ignore]; s->a->x }"
    (found,) = findings_of(text, "attribute-unknown")
    assert "join_policy" in (found.suggestion or "")


def test_attributes_for_drawing_are_known() -> None:
    text = SPEC + 'rankdir=LR; a [prompt=p, fillcolor="#fff", style=filled]; s->a->x [color=red] }'
    assert findings_of(text, "attribute-unknown") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "$goal",
        "${ctx.last_response}",
        "$$5",
        "$tool_stdout",
        "${graph.goal}",
        "$1 and $",
        "${tool.output}",
    ],
)
def test_variables_the_run_gives_are_known(prompt: str) -> None:
    text = f'{SPEC}goal=g; a [prompt="{prompt}"]; s->a->x }}'
    assert findings_of(text, "unused-variables") == []


def test_a_misspelt_variable_names_the_one_that_was_meant() -> None:
    (found,) = findings_of(SPEC + 'a [prompt="Do $gaol"]; s->a->x }', "unused-variables")
    assert found.suggestion == "Did you mean $goal?"


def test_a_command_may_use_the_shells_variables() -> None:
    text = SPEC + 'a [shape=parallelogram, tool_command="echo $HOME"]; s->a->x }'
    assert findings_of(text, "unused-variables") == []


def test_a_command_whose_variable_has_a_value_is_not_reported() -> None:
    told = "echo ${tool.output} ${graph.goal} ${ctx.goal} '${not.read}'"
    text = f'{SPEC}goal=g; a [shape=parallelogram, tool_command="{told}"]; s->a->x }}'
    assert findings_of(text, "unused-variables") == []


def test_a_run_may_begin_anew_at_its_start() -> None:
    text = SPEC + "a [prompt=p]; s->a->x; a->s [loop_restart=true] }"
    assert findings_of(text, "start_no_incoming") == []


@pytest.mark.parametrize(
    "edge",
    [
        'label=Yes, condition="preferred_label=Yes"',
        'label=Yes, condition="context.human.gate.label=Yes && outcome=success"',
        'condition="outcome=fail"',
        "label=Yes",
    ],
)
def test_a_condition_that_asks_for_the_answer_or_is_no_choice_is_fine(edge: str) -> None:
    text = f"{SPEC}h [shape=hexagon]; a [prompt=p]; s->h->a->x; h->x [{edge}] }}"
    assert findings_of(text, "choice-condition") == []


@pytest.mark.parametrize(
    "inside",
    [
        # A cycle, a dead end, a retry target of the same branch, a fork that meets before the join.
        "c [prompt=p]; a->c->a",
        "c [prompt=p]; a->c",
        "c [prompt=p, retry_target=a]; a->c->j",
        "g [shape=component]; c [prompt=p]; d [prompt=p]; k [shape=tripleoctagon];"
        "a->g->c->k->j; g->d->k",
    ],
)
def test_what_stays_in_a_branch_is_no_escape(inside: str) -> None:
    assert findings_of(FORKED % inside, "branch-escapes") == []


@pytest.mark.parametrize(
    ("way", "named"),
    [
        ("a->f", "the edge from 'a' to 'f'"),
        ("a->p", "the edge from 'a' to 'p'"),
        ("a->q", "the edge from 'a' to 'q'"),
        ("c [prompt=p]; a->c->x", "the edge from 'a' to 'c'"),
        ("c [prompt=p]; a->c->j; c->x", "the edge from 'c' to 'x'"),
        ("a [fallback_retry_target=p]", "fallback_retry_target of node 'a'"),
        (
            "g [shape=component]; c [prompt=p]; k [shape=tripleoctagon]; a->g->c->k->j; c->x",
            "the edge from 'c' to 'x'",
        ),
    ],
)
def test_a_way_around_the_join_is_reported_once(way: str, named: str) -> None:
    (found,) = findings_of(FORKED % way, "branch-escapes")
    assert found.message.startswith(named)


def test_all_that_is_wrong_is_reported_together() -> None:
    text = DOCS + 'a [goal=g max_retries=x shape=star]; s->a; a->x [condition="=="] ; b }'
    rules = {found.rule for found in load_text(text, "p.dot").findings}
    assert rules >= {"attribute-value", "known-handlers", "valid-conditions", "reachability"}


def test_a_large_graph_with_many_forks_is_checked_in_time_that_grows_with_it() -> None:
    # With work that grows with the square this takes minutes.
    forks = "".join(
        f"p{n} [shape=component]; a{n} [prompt=p]; p{n}->a{n}->p{n + 1}; p{n}->x;\n"
        for n in range(3000)
    )
    text = f"{SPEC}s->p0;\n{forks} p3000 [prompt=p]; p3000->x }}"
    assert load_text(text, "p.dot").findings


# --- choices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edges",
    [
        'h->a [label="[Y] Yes"]; h->x [label="[N] No"]',
        "h->a [label=Yes]; h->a [label=Yes, weight=1]",
        'h->a [label=Yes]; h->x [label=Yes, condition="context.k=v"]',
        'h->a [label="[Y]"]; h->x [label="[N]"]',
        "h->a; h->x",
    ],
)
def test_choices_that_can_be_told_apart_are_fine(edges: str) -> None:
    found = load_text(f"{ASKED}{edges} }}", "p.dot").findings
    assert [f for f in found if f.rule in ("choice-twice", "choice-clash")] == []


def test_only_persons_are_asked_by_labels() -> None:
    text = SPEC + "a [prompt=p]; b [prompt=p]; s->a; a->b [label=n]; a->x [label=n]; b->x }"
    assert findings_of(text, "choice-twice") == []


# --- long and large values -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "condition"),
    [
        (DOCS, "status == 'SUCCESS' AND " * 2000 + "status =="),
        (DOCS, " && ".join(["outcome=success"] * 2000)),
        (DOCS, "k" * 50_000 + " =="),
        (SPEC, "k" * 50_000 + " && "),
    ],
    ids=["many parts", "of the other dialect", "one key", "one key of spec"],
)
def test_a_long_condition_is_not_quoted_whole(start: str, condition: str) -> None:
    text = f'{start}a [goal=g]; s->a; a->x [condition="{condition}"] }}'
    found = load_text(text, "p.dot").findings
    assert any("condition" in one.message for one in found)
    assert max(len(one.message + (one.suggestion or "")) for one in found) < 1500


@pytest.mark.parametrize("count", ["99999999999999999999999", "1e30", "9" * 5000])
def test_a_count_that_is_too_large_is_told_the_limit(count: str) -> None:
    (found,) = findings_of(f"{DOCS}a [goal=g max_retries={count}]; s->a->x }}", "attribute-value")
    assert "at most 999,999,999,999,999,999" in found.message


# --- children ------------------------------------------------------------------------------------

MANAGER = SPEC + 'on_failure=exit; a [shape=house, stack.child_dotfile="%s"]; s->a->x }'


def children_of(folder: Path, named: str) -> list[str]:
    (folder / "p.dot").write_text(MANAGER % named)
    return [one.message for one in load(folder / "p.dot").findings if one.rule == "child-file"]


def test_a_child_that_is_there_is_found_and_neither_read_nor_kept(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.dot").write_text("no graph at all")
    assert children_of(tmp_path, "sub/c.dot") == []
    assert load(tmp_path / "p.dot").files == {}


def test_a_child_that_cannot_be_read_is_told_with_the_reason(tmp_path: Path) -> None:
    (missing,) = children_of(tmp_path, "c.dot")
    assert missing == "the child 'c.dot' of node 'a' cannot be read: there is no such file"
    (tmp_path / "c.dot").mkdir()
    (folder,) = children_of(tmp_path, "c.dot")
    assert folder.endswith("it is not a file")


def test_a_child_outside_the_folder_is_not_looked_for(tmp_path: Path) -> None:
    assert children_of(tmp_path, "../nowhere.dot") == []
    assert children_of(tmp_path, "/nowhere.dot") == []


def test_children_are_not_looked_for_when_the_document_is_no_file(tmp_path: Path) -> None:
    file = tmp_path / "p.dot"
    assert load_text(MANAGER % "c.dot", str(file)).findings == []
    file.write_text(MANAGER % "c.dot")
    assert load_text(MANAGER % "c.dot", str(file), files={}).findings == []


@pytest.mark.parametrize(
    ("body", "rule", "severity"),
    [
        ("a [prompt=p, promt=q]; s->a->x }", "attribute-unknown", "warning"),
        ("a [prompt=p, zzz=q]; s->a->x }", "attribute-unknown", "info"),
        ("review [prompt=p]; s->review->reviev->x }", "undeclared-node", "warning"),
        ("review [prompt=p]; s->review->zzz->x }", "undeclared-node", "info"),
    ],
)
def test_a_name_that_is_like_another_is_worth_a_warning(
    body: str, rule: str, severity: str
) -> None:
    (found,) = findings_of(SPEC + body, rule)
    assert found.severity == severity
    assert (found.suggestion or "").startswith("Did you mean") == (severity == "warning")


@pytest.mark.parametrize("key", ["tool.output", "human.gate.label", "graph.goal"])
def test_a_key_with_dots_is_shown_in_its_braces(key: str) -> None:
    text = SPEC + f'goal=g; a [prompt="Look at ${key}."]; s->a->x }}'
    (found,) = findings_of(text, "unused-variables")
    assert found.suggestion == f"Did you mean ${{{key}}}?"


@pytest.mark.parametrize(
    ("written", "meant"),
    [("5 minutes", "5m"), ("90 sec", "90s"), ("2Hours", "2h"), ("5 ms", "5ms")],
)
def test_a_duration_in_words_is_shown_as_it_is_written(written: str, meant: str) -> None:
    text = SPEC + f'a [prompt=p, timeout="{written}"]; s->a->x }}'
    (found,) = findings_of(text, "attribute-value")
    assert found.suggestion == f"Did you mean `{meant}`?"


def test_a_node_of_an_unknown_type_is_not_taken_for_an_agent() -> None:
    text = SPEC + "a [type=wizard]; s->a->x }"
    assert len(findings_of(text, "type_known")) == 1
    assert findings_of(text, "prompt_on_llm_nodes") == []


def test_a_house_without_a_child_is_told_how_a_person_is_asked() -> None:
    (found,) = findings_of(SPEC + "a [shape=house]; s->a->x }", "child-missing")
    assert "shape=hexagon" in (found.suggestion or "")


def test_the_shapes_of_a_docs_graph_include_that_of_its_ends() -> None:
    (found,) = findings_of(DOCS + "a [goal=g, shape=circle]; s->a->x }", "known-handlers")
    assert "'ellipse'" in (found.suggestion or "")


def test_a_duration_in_words_without_quotes_is_shown_as_it_is_written() -> None:
    (found,) = findings_of(SPEC + "a [prompt=p, timeout=5 minutes]; s->a->x }", "dot.syntax")
    assert found.suggestion == "Did you mean `5m`?"
