"""What a DOT document says: nodes, edges, attributes, defaults, subgraphs and chains."""

from __future__ import annotations

import pytest

from anew.languages.dot.attributes import (
    Wrong,
    duration_of,
    number_of,
    seconds_of,
    truth_of,
    whole_of,
)
from anew.languages.dot.graph import Attribute, DotDialect, Graph
from anew.languages.dot.read import read_graph


def graph_of(text: str | bytes, dialect: DotDialect | None = None) -> Graph:
    read = read_graph(text, "p.dot", dialect=dialect)
    assert [f.message for f in read.findings] == []
    assert read.graph is not None
    return read.graph


def values(graph: Graph, node: str) -> dict[str, object]:
    return {key: one.value for key, one in graph.nodes[node].attributes.items()}


def one(text: str) -> Attribute:
    return graph_of(f"digraph p {{ a [k={text}] }}").nodes["a"].attributes["k"]


def test_a_graph_has_its_name_attributes_nodes_and_edges_in_the_order_of_first_mention() -> None:
    graph = graph_of('digraph "my p" { goal = "ship it"; b -> a; a [label=A]; graph [title=T] }')
    assert graph.name == "my p"
    assert {key: one.raw for key, one in graph.attributes.items()} == {
        "goal": "ship it",
        "title": "T",
    }
    assert list(graph.nodes) == ["b", "a"]
    assert [(edge.source, edge.target) for edge in graph.edges] == [("b", "a")]
    assert (graph.nodes["b"].is_declared, graph.nodes["a"].is_declared) == (False, True)


def test_a_graph_may_have_no_name_and_semicolons_anywhere() -> None:
    assert list(graph_of("digraph{;a;;b;};").nodes) == ["a", "b"]


@pytest.mark.parametrize("separator", [", ", " ", "; ", "\n", ",,", "][", "] ["])
def test_attributes_are_separated_by_commas_semicolons_blanks_or_lists(separator: str) -> None:
    graph = graph_of(f'digraph p {{ a [x=1{separator}human.default_choice="yes"{separator}z=w] }}')
    assert values(graph, "a") == {"x": 1, "human.default_choice": "yes", "z": "w"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ('"true"', True),
        ('"false"', False),
        ("3", 3),
        ('"-3"', -3),
        ("0.5", 0.5),
        ('"0.5"', 0.5),
        (".5", 0.5),
        ('"1e3"', 1000.0),
        ("900s", "900s"),
        ('"15m"', "15m"),
        ("summary:high", "summary:high"),
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ('"True story"', "True story"),
        ('"1e999"', "1e999"),
        ('"1234567890123456789012"', "1234567890123456789012"),
        ('"٣"', "٣"),
        ('""', ""),
    ],
)
def test_a_quoted_value_is_typed_as_the_same_value_without_quotes(text: str, value: object) -> None:
    found = one(text)
    assert found.value == value
    assert type(found.value) is type(value)
    assert found.raw == text.strip('"')


def test_escapes_are_replaced_and_unknown_ones_stay() -> None:
    assert one(r'"a\"b\n\tc\\n\l"').raw == 'a"b\n\tc\\n\\l'
    assert one('"two\nlines"').raw == "two\nlines"


def test_comments_are_not_read_but_in_strings() -> None:
    text = '# first\ndigraph p { // one\n /* two\n */ a [x="// no /* no"] # b\n#c -> d\n}'
    read = read_graph(text, "p.dot")
    assert [str(f.place) for f in read.findings] == ["p.dot:4:25"]  # `#` but at a line's beginning
    graph = graph_of(text.replace(" # b", ""))
    assert list(graph.nodes) == ["a"]
    assert values(graph, "a") == {"x": "// no /* no"}


def test_places_count_from_one_in_characters_with_any_line_break() -> None:
    graph = graph_of('\ufeffdigraph p {\r\n  é -> b\r  c [\n k="v"]\n}'.replace("é", "e").encode())
    node = graph.nodes["c"]
    attribute = node.attributes["k"]
    assert (node.span.line, node.span.column) == (3, 3)
    assert (attribute.key_span.line, attribute.key_span.column) == (4, 2)
    assert (attribute.span.line, attribute.span.column) == (4, 4)
    edge = graph.edges[0]
    assert (edge.span.column, edge.target_span.column) == (3, 8)


def test_the_place_of_a_character_inside_a_quoted_value_follows_escapes() -> None:
    read = read_graph('digraph p {\n a [k="x\\"y\nz\\lw"] }', "p.dot")
    assert read.graph is not None
    assert read.source is not None
    attribute = read.graph.nodes["a"].attributes["k"]
    places = [read.source.inside(attribute.span, attribute.raw.index(sign)) for sign in 'x"yzw']
    assert [(at.line, at.column) for at in places] == [(2, 8), (2, 9), (2, 11), (3, 1), (3, 4)]


# --- defaults and subgraphs -----------------------------------------------------------------------


def test_defaults_hold_for_later_statements_of_their_block() -> None:
    graph = graph_of(
        """digraph p {
        a
        node [shape=box timeout=5]
        edge [weight=2]
        b [timeout=9]
        subgraph { node [timeout=7]; edge [weight=3]; c; c -> d }
        e -> b
        }"""
    )
    assert values(graph, "a") == {}
    assert values(graph, "b") == {"shape": "box", "timeout": 9}
    assert values(graph, "c") == {"shape": "box", "timeout": 7}
    assert values(graph, "d") == {"shape": "box", "timeout": 7}
    assert values(graph, "e") == {"shape": "box", "timeout": 5}
    assert [edge.attributes["weight"].value for edge in graph.edges] == [3, 2]
    assert graph.nodes["b"].attributes["shape"].is_default
    assert not graph.nodes["b"].attributes["timeout"].is_default


def test_a_node_that_an_edge_named_first_gets_the_defaults_of_its_declaration() -> None:
    graph = graph_of("digraph p { a -> b; node [timeout=5]; b; a -> c; c }")
    assert values(graph, "a") == {}
    assert values(graph, "b") == {"timeout": 5}
    assert values(graph, "c") == {"timeout": 5}


def test_a_second_declaration_merges_its_attributes_and_is_remembered() -> None:
    graph = graph_of("digraph p {\n a [x=1 y=1]\n a [y=2]\n subgraph { a }\n}")
    assert values(graph, "a") == {"x": 1, "y": 2}
    assert [place.line for place in graph.nodes["a"].again] == [3]


def test_the_label_of_a_subgraph_gives_its_nodes_a_class() -> None:
    graph = graph_of(
        """digraph p {
        z
        subgraph cluster_1 {
          a [class="own, other"]
          subgraph x { graph [label="Inner"]; b }
          a -> z -> w -> later
          label = "Main Loop (v2)!"
        }
        subgraph { label="!!" n }
        later
        }"""
    )
    assert graph.nodes["a"].classes == ("own", "other", "main-loop-v2")
    assert graph.nodes["b"].groups == ("inner", "main-loop-v2")
    assert graph.nodes["z"].classes == ()  # declared outside
    assert graph.nodes["w"].classes == ("main-loop-v2",)  # only named, inside
    assert graph.nodes["later"].classes == ()  # declared outside, but named inside before
    assert graph.nodes["n"].classes == ()
    assert graph.attributes == {}


# --- chains ---------------------------------------------------------------------------------------


def test_what_a_chain_states_is_for_its_last_hop_in_docs_and_for_every_hop_in_spec() -> None:
    text = "digraph p { edge [fidelity=full] a -> b -> c [weight=2] c -> a [weight=3] }"
    docs = graph_of(text, DotDialect.DOCS)
    spec = graph_of(text, DotDialect.SPEC)
    assert [edge.text("weight") for edge in docs.edges] == ["", "2", "3"]
    assert [edge.text("weight") for edge in spec.edges] == ["2", "2", "3"]
    assert {edge.text("fidelity") for edge in docs.edges + spec.edges} == {"full"}


# --- typed attributes -----------------------------------------------------------------------------


def test_durations_are_seconds_and_a_bare_number_too() -> None:
    given = ['"300"', "0.5", "900s", "15m", "250ms", "1d", '"1m30s"']
    assert [seconds_of(one(text)) for text in given] == [300, 0.5, 900, 900, 0.25, 86400, 90]
    assert [seconds_of(one(text)) for text in ["soon", "-3", '""']] == [None, None, None]


def test_a_value_of_the_wrong_type_says_what_it_must_be() -> None:
    assert truth_of(one('"TRUE"')) is True
    assert truth_of(one("yes")) == Wrong("'k' is 'yes'; it must be `true` or `false`")
    assert whole_of(one('"3.0"')) == 3
    assert whole_of(one("true")) == Wrong("'k' is 'true'; it must be a whole number")
    assert whole_of(one("3.5")) == Wrong("'k' is '3.5'; it must be a whole number")
    assert number_of(one("3")) == 3.0
    assert number_of(one("many")) == Wrong("'k' is 'many'; it must be a number")
    assert isinstance(duration_of(one("later")), Wrong)
