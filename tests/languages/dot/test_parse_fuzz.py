"""No text, however broken, raises; what is written is read as the same graph."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anew.languages.dot.dot_rules import PARSE_RULES
from anew.languages.dot.graph import DotDialect, Graph
from anew.languages.dot.parse import parse_dot
from anew.languages.dot.read import read_graph
from anew.languages.dot.write import write_dot
from anew.program.findings import Severity

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
BASE = """// all of it
digraph pipe {
  goal = "ship \\"it\\"" rankdir=LR
  model_stylesheet = "* { llm_model: m; } .loop { llm_provider: p } #a { reasoning_effort: 'low' }"
  node [shape=box, timeout=900s] edge [weight=0]
  start [shape=Mdiamond]; exit [shape=Msquare]
  subgraph cluster_x { label = "Loop"; a [class="x,y" prompt="do\nit"] "b c" [k=<i>] }
  start -> a -> "b c" [condition="outcome=success && x!=3"]
  a:p -> { d e } [f=1.5] /* done */
  "b c" -> exit [label="[Y] Yes", loop_restart=true]
}
"""
PIECES = re.findall(r"\w+|\s+|->|.", BASE, re.DOTALL)
FUZZ = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def check(text: str | bytes, dialect: DotDialect | None = None) -> None:
    read = read_graph(text, "p.dot", dialect=dialect)
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    lines = LINE_BREAK.split(shown.removeprefix("\ufeff"))
    for finding in read.findings:
        assert finding.rule in PARSE_RULES
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= finding.place.column <= len(lines[finding.place.line - 1]) + 1
    if read.graph is None:
        assert any(finding.severity is Severity.ERROR for finding in read.findings)
    else:
        assert {edge.target for edge in read.graph.edges} <= read.graph.nodes.keys()


@FUZZ
@given(st.one_of(st.text(max_size=60), st.binary(max_size=60)))
def test_any_text_is_read_without_an_exception(text: str | bytes) -> None:
    check(text)


@FUZZ
@given(
    st.lists(st.sampled_from([*'{}[]=,;:<>"\\/*#\n', "->", "--", "a", "node", "=1"]), max_size=40)
)
def test_any_heap_of_signs_inside_a_graph_is_read_without_an_exception(signs: list[str]) -> None:
    check("digraph p {" + " ".join(signs))
    check("digraph p {" + "".join(signs) + "}")


@FUZZ
@given(st.data(), st.sampled_from([None, DotDialect.DOCS, DotDialect.SPEC]))
def test_a_graph_with_pieces_lost_doubled_or_swapped_is_read_without_an_exception(
    data: st.DataObject, dialect: DotDialect | None
) -> None:
    pieces = list(PIECES)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(pieces) - 2))
        other = data.draw(st.integers(0, len(pieces) - 2))
        change = data.draw(st.sampled_from(["lose", "double", "swap", "cut"]))
        if change == "lose":
            del pieces[at]
        elif change == "double":
            pieces.insert(other, pieces[at])
        elif change == "swap":
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif at > len(pieces) // 2:
            del pieces[at:]
            break
        if len(pieces) < 3:
            break
    check("".join(pieces), dialect)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAMES = st.one_of(
    st.sampled_from(["a", "b", "node", "Graph", "a-b", "1", "x.y", "+"]), TEXT
).filter(bool)
VALUES = st.one_of(TEXT, st.sampled_from(["true", "3", "-0.5", "900s", 'q"q', "\\", "\\n", "a\nb"]))
LISTS = st.dictionaries(NAMES.filter(lambda key: key != "class"), VALUES, max_size=3)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def listed(attributes: dict[str, str]) -> str:
    return "[" + " ".join(f"{quoted(k)}={quoted(v)}" for k, v in attributes.items()) + "]"


def essence(graph: Graph | None) -> object:
    assert graph is not None
    return (
        graph.name,
        {key: one.value for key, one in graph.attributes.items()},
        {
            name: ({key: one.value for key, one in node.attributes.items()}, node.classes)
            for name, node in graph.nodes.items()
        },
        [
            (edge.source, edge.target, {key: one.raw for key, one in edge.attributes.items()})
            for edge in graph.edges
        ],
    )


@FUZZ
@given(
    NAMES,
    LISTS,
    st.dictionaries(NAMES, LISTS, max_size=4),
    st.lists(st.tuples(NAMES, NAMES, LISTS), max_size=4),
)
def test_a_graph_that_is_written_is_read_as_the_same_graph(
    name: str,
    attributes: dict[str, str],
    nodes: dict[str, dict[str, str]],
    edges: list[tuple[str, str, dict[str, str]]],
) -> None:
    body = [f"graph {listed(attributes)}"]
    body += [f"{quoted(node)} {listed(own)}" for node, own in nodes.items()]
    body += [f"{quoted(one)} -> {quoted(two)} {listed(own)}" for one, two, own in edges]
    first = parse_dot(f"digraph {quoted(name)} {{" + "\n".join(body) + "}", "p.dot")
    assert not [one for one in first.findings if one.severity is Severity.ERROR]
    assert first.graph is not None
    assert {node: one.text("k") for node, one in first.graph.nodes.items() if node in nodes} == {
        node: own.get("k", "") for node, own in nodes.items()
    }
    again = parse_dot(write_dot(first.graph), "p.dot")
    assert not [one for one in again.findings if one.severity is Severity.ERROR]
    assert essence(again.graph) == essence(first.graph)


def test_a_written_graph_keeps_defaults_and_the_classes_of_subgraphs() -> None:
    text = 'digraph p { node [x=1] subgraph { label="My Loop" a [class=c] } a -> b }'
    first = parse_dot(text, "p.dot").graph
    assert first is not None
    written = write_dot(first)
    assert written == 'digraph p {\n  a [x=1, class="c,my-loop"]\n  b [x=1]\n  a -> b\n}\n'


def test_hostile_repetition_costs_linear_work() -> None:
    # Work that grows with the square of the text takes minutes here, and the test is stopped.
    many = ",".join(f".c{n}" for n in range(30_000))
    check("digraph p { model_stylesheet=" + quoted(f"{many} {{{'llm_model:x;' * 30_000}}}") + "}")
    for piece in [
        "<",
        '"',
        "/*",
        "{",
        "[",
        "a[",
        "\\",
        "a->",
        "node[a=1]",
        "->",
        "a.",
        "a-",
        ":",
        "=",
    ]:
        check("digraph p {" + piece * 20_000)
        check("digraph p { model_stylesheet=" + quoted(piece * 5_000) + "}", DotDialect.SPEC)
