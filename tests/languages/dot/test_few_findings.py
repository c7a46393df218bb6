"""However wrong a small graph is, what is told of it stays as long as someone would read."""

from __future__ import annotations

import pytest

from anew.languages import load_text
from anew.languages.dot.compilation import RULE_FINDINGS_MAX
from anew.languages.dot.stylesheet import STYLE_FINDINGS_MAX

GRAPH = "digraph g {{ start [shape=Mdiamond]; exit [shape=Msquare]; {} start -> a -> exit }}"
# Far more than anyone reads, and far fewer than mistakes times nodes.
FINDINGS_MAX = 1_000


@pytest.mark.parametrize(
    "sheet",
    ["* {" + "?;" * 2_000 + "}", ",".join("?" * 2_000) + " {llm_model: m}", "* {" + "/*;" * 500],
    ids=["declarations", "selectors", "open comments"],
)
def test_one_rule_of_a_stylesheet_has_no_more_findings_than_a_stylesheet_may(sheet: str) -> None:
    document = GRAPH.format(f'model_stylesheet="{sheet}"; a [prompt=x];')
    found = load_text(document, "x.dot").findings
    assert len([one for one in found if one.rule == "stylesheet_syntax"]) <= STYLE_FINDINGS_MAX


def test_a_default_that_many_nodes_inherit_is_not_told_once_for_each_of_its_words() -> None:
    names = [f"n{number}" for number in range(60)]
    default = 'node [prompt="' + "$nothing " * 60 + '"];'
    document = GRAPH.format(f"{default} a -> {' -> '.join(names)} -> exit;")
    assert len(load_text(document, "x.dot").findings) <= FINDINGS_MAX


def test_the_last_finding_of_a_rule_says_how_many_more_there_are() -> None:
    text = " ".join(f"$v{number}" for number in range(RULE_FINDINGS_MAX + 7))
    document = GRAPH.format(f'a [prompt="{text}"];')
    found = [one for one in load_text(document, "x.dot").findings if one.rule == "unused-variables"]
    assert len(found) == RULE_FINDINGS_MAX + 1
    assert found[-1].message == "there are 7 more like this"
    assert found[-1].place.column == document.index(f"$v{RULE_FINDINGS_MAX}") + 1


def test_many_warnings_hide_no_error() -> None:
    text = "$nothing " * 2 * RULE_FINDINGS_MAX
    document = GRAPH.format(f'a [prompt="{text}", max_retries=many];')
    loaded = load_text(document, "x.dot")
    assert loaded.program is None
    assert "attribute-value" in [one.rule for one in loaded.findings]


@pytest.mark.parametrize(
    ("default", "rule"),
    [
        ("node [prompt=p, timeout=soon]", "attribute-value"),
        ("node [prompt=p, fidelity=all]", "fidelity_valid"),
        ("node [prompt=p, retry_target=nobody]", "retry_target_exists"),
        ("node [prompt=p, type=wizard]", "type_known"),
        ("node [prompt=p, shape=circle]", "type_known"),
        ("node [prompt=p, max_retries=50]", "high-retry-count"),
        ('node [prompt="$nothing"]', "unused-variables"),
        ('node [shape=parallelogram, tool_command="ls ${ctx.nothing}"]', "unused-variables"),
        ('edge [condition="a=b ||"]', "condition_syntax"),
        ("edge [max_retries=2]", "edge-retries"),
    ],
)
def test_what_is_wrong_with_a_default_is_told_once(default: str, rule: str) -> None:
    document = GRAPH.format(f"{default}; a; b; c; a -> b -> c -> exit;")
    found = [one for one in load_text(document, "x.dot").findings if one.rule == rule]
    assert len(found) == 1
    assert default in document[found[0].place.column - 60 : found[0].place.column + 60]


def test_unknown_properties_do_not_end_the_reading_of_a_stylesheet() -> None:
    unknown = "".join(f"odd{number}: 1;" for number in range(2 * STYLE_FINDINGS_MAX))
    document = GRAPH.format(
        f'model_stylesheet="* {{{unknown}}} * {{llm_model: late}}"; a [prompt=x];'
    )
    loaded = load_text(document, "x.dot")
    assert loaded.program is not None
    assert loaded.program.steps["a"].tasks[0].inputs.source["model"] == "late"


def test_a_comment_of_a_stylesheet_that_is_left_open_is_an_error() -> None:
    document = GRAPH.format('model_stylesheet="* {llm_model: m} /* all"; a [prompt=x];')
    (found,) = [
        one for one in load_text(document, "x.dot").findings if one.rule == "stylesheet_syntax"
    ]
    assert found.message == "the comment that starts here has no end"
    assert found.place.column == document.index("/*") + 1
