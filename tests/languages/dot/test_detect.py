"""The dialect a graph is written in: by a word, by its shapes, by its conditions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.languages.dot.graph import DotDialect
from anew.languages.dot.read import read_graph

CONFORMANCE = Path(__file__).parents[2] / "conformance" / "dot.json"


def dialect_of(body: str) -> str:
    read = read_graph(f"digraph p {{ {body} }}", "p.dot")
    assert read.findings == []
    return read.dialect.value


@pytest.mark.parametrize("shape", ["Mdiamond", "Msquare", "tripleoctagon", "parallelogram"])
def test_one_shape_of_the_spec_is_enough(shape: str) -> None:
    assert dialect_of(f"""a [shape={shape}] a -> b [condition="status == 'X'"]""") == "spec"


def test_two_ellipses_or_a_fan_in_of_the_docs_mean_docs() -> None:
    assert dialect_of("a [shape=ellipse] b [shape=ellipse]") == "docs"
    assert dialect_of("node [shape=ellipse] a -> b") == "docs"
    assert dialect_of("a [shape=invhouse]") == "docs"
    assert dialect_of("a [shape=ellipse] b [shape=tab] c [shape=house]") == "spec"


@pytest.mark.parametrize(
    ("condition", "dialect"),
    [
        ("status == 'FAILURE'", "docs"),
        ("context.x == 3", "docs"),
        ("label != 'a'", "docs"),
        ("a AND b", "docs"),
        ("NOT done", "docs"),
        ("name STARTS_WITH x", "docs"),
        ("status", "docs"),
        ("outcome=success && context.status=ok", "spec"),
        ("status_code=3", "spec"),
        ("outcome!=fail", "spec"),
        ("word=ANDROID", "spec"),
        ("", "spec"),
    ],
)
def test_without_shapes_the_conditions_speak(condition: str, dialect: str) -> None:
    assert dialect_of(f'a -> b -> c [condition="{condition}"]') == dialect


def test_a_word_is_obeyed_before_shapes_and_an_argument_before_the_word() -> None:
    text = 'digraph p { dialect="Docs" a [shape=Mdiamond] b [shape=invhouse] }'
    assert read_graph(text, "p.dot").dialect is DotDialect.DOCS
    read = read_graph(text, "p.dot", dialect=DotDialect.SPEC)
    assert (read.dialect, read.findings) == (DotDialect.SPEC, [])


def test_shapes_of_both_dialects_are_an_error_that_names_the_nodes() -> None:
    text = "digraph p {\n s [shape=Mdiamond]\n e [shape=Msquare]\n j [label=x shape=invhouse]\n}"
    (finding,) = read_graph(text, "p.dot").findings
    assert (finding.rule, finding.severity.value) == ("mixed-dialect", "error")
    assert (finding.place.line, finding.place.column) == (4, 19)
    assert "spec by 's' (Mdiamond, line 2), 'e' (Msquare, line 3)" in finding.message
    assert "docs by 'j' (invhouse, line 4)" in finding.message
    assert '`dialect="spec"`' in (finding.suggestion or "")


def test_only_the_first_nodes_of_a_mixed_graph_are_named() -> None:
    many = " ".join(f"n{n} [shape=Msquare]" for n in range(1000))
    (finding,) = read_graph(f"digraph p {{ {many} j [shape=invhouse] }}", "p.dot").findings
    assert "995 more" in finding.message


def test_the_conformance_graphs_are_read_in_their_dialect() -> None:
    for case in json.loads(CONFORMANCE.read_text()):
        read = read_graph(case["dot"], case["id"])
        assert (case["id"], read.findings, read.dialect) == (case["id"], [], case["dialect"])
