"""Each mistake is told at its place, with what was found, what is expected and what to do."""

from __future__ import annotations

import pytest

from anew.languages.dot import building, cursor
from anew.languages.dot.dot_rules import PARSE_RULES
from anew.languages.dot.read import read_graph
from anew.program.findings import Finding


def findings_of(text: str | bytes) -> list[Finding]:
    return read_graph(text, "p.dot").findings


def only(text: str | bytes) -> Finding:
    findings = findings_of(text)
    assert len(findings) == 1, findings
    assert findings[0].severity is PARSE_RULES[findings[0].rule][0]
    assert findings[0].suggestion
    return findings[0]


MISTAKES = [
    ("", "1:1", "dot.empty", "the document is empty", "digraph"),
    (
        "digraf p {}",
        "1:1",
        "dot.syntax",
        "found `digraf` where `digraph`",
        "Did you mean 'digraph'",
    ),
    ("workflow: x", "1:1", "dot.syntax", "where `digraph` is expected", "digraph name"),
    ("strict digraph p {}", "1:1", "dot.strict", "`strict`", "Remove"),
    ("graph p {}", "1:1", "dot.undirected", "found an undirected `graph`", "`digraph`"),
    ("digraph p { a -- b }", "1:15", "dot.undirected", "found `--`", "Write `->`."),
    ("digraph p {}\ndigraph q {}", "2:1", "dot.several", "a second graph", "one graph"),
    ("digraph p {} a", "1:14", "dot.syntax", "found `a` after the end of the graph", "`}`"),
    ("digraph p { a } }", "1:17", "dot.syntax", "found `}` after the end", "`}`"),
    ("digraph p a", "1:11", "dot.syntax", "found `a` where `{` is expected", "digraph name"),
    ("digraph p {\n a -> b", "1:11", "dot.syntax", "the graph that starts here", "Close it"),
    ("digraph p {\n subgraph q { a\n}", "1:11", "dot.syntax", "is not closed", "Close it"),
    ("digraph p { a [x=<b>y</b>] }", "1:18", "dot.html", "HTML-like", "quoted"),
    ("digraph p { a:n:w -> b }", "1:14", "dot.port", "'a' is written with a port", "Remove"),
    ("digraph p { a -> {b c} }", "1:18", "dot.subgraph-endpoint", "an edge joins", "each node"),
    ("digraph p { {b c} -> a }", "1:13", "dot.subgraph-endpoint", "an edge joins", "each node"),
    ("digraph p { a -> subgraph x {b} [y=1] }", "1:18", "dot.subgraph-endpoint", "edge", "each"),
    ("digraph p { subgraph {b} [y=1] }", "1:26", "dot.syntax", "a subgraph has no", "inside"),
    ('digraph p { a [x="y] }', "1:18", "dot.string-unterminated", "no closing quote", "Close"),
    ("digraph p { a /* b }", "1:15", "dot.comment-unterminated", "has no end", "`*/`"),
    ("digraph p { a [x=1 x=2] }", "1:20", "dot.attribute-twice", "'x' is given twice", "Remove"),
    ('digraph p { "a b" }', "1:13", "dot.quoted-id", "'a b' is not an identifier", "label"),
    ("digraph p { my-node }", "1:13", "dot.syntax", "'my-node'", "Write `my_node`"),
    ('digraph p { "" }', "1:13", "dot.syntax", "the id of a node is empty", "name"),
    ("digraph p { a -> }", "1:18", "dot.syntax", "found `}` where the node", "id"),
    ("digraph p { a -> node }", "1:18", "dot.syntax", "found `node`", 'is `"node"`'),
    ("digraph p { a => b }", "1:15", "dot.syntax", "found `=>`", "`->`"),
    ("digraph p { a > b }", "1:15", "dot.syntax", "found `>` after `a`", "`a -> b`"),
    ("digraph p { node; a }", "1:13", "dot.syntax", "found `;` after `node`", "`node [..]`"),
    ("digraph p { subgraph; a }", "1:13", "dot.syntax", "after `subgraph`", "subgraph name"),
    ("digraph p { a [x: 1] }", "1:17", "dot.syntax", "found `:` after 'x'", "Write `x=...`"),
    ("digraph p { a [x] }", "1:16", "dot.syntax", "the attribute 'x' has no value", "remove it"),
    ("digraph p { a [x=] }", "1:18", "dot.syntax", "where the value of 'x'", 'Write `x="..."`'),
    ("digraph p { a [1=2] }", "1:16", "dot.syntax", "cannot be named `1`", "key=value"),
    ("digraph p { a [@] }", "1:16", "dot.syntax", "found `@`", "key=value"),
    ("digraph p { a [x=u/v] }", "1:18", "dot.syntax", "`u` continues with `/`", "quotes"),
    ("digraph p { a [x=u->v y=1] }", "1:18", "dot.syntax", "`u` continues with `->`", "quotes"),
    ("digraph p { a [x=outcome=fail] }", "1:18", "dot.syntax", "`outcome` continues", "quotes"),
    ("digraph p { a [x=http://b/c] }", "1:18", "dot.syntax", "needs quotes", '"http://b/c"'),
    ('digraph p { a [x="b" + "c"] }', "1:22", "dot.syntax", "joined with `+`", "one text"),
    ("digraph p { a [x=1\n b -> c\n}", "1:15", "dot.syntax", "not closed before `b`", "line 2"),
    ("digraph p {\n  # a\n}", "2:3", "dot.syntax", "found `#`", "`//`"),
    ("digraph p { dialect=speck }", "1:21", "dot.dialect", "the dialect is 'speck'", "mean 'spec'"),
    ("digraph p {\n a\0 }", "2:3", "dot.encoding", "U+0000", "Remove"),
    ("digraph p {\n \ud800 }", "2:2", "dot.encoding", "U+D800", "Remove"),
    (b"digraph p {\n \xff }", "2:2", "dot.encoding", "byte 0xff", "UTF-8"),
]


@pytest.mark.parametrize(("text", "place", "rule", "message", "remedy"), MISTAKES)
def test_a_mistake_is_told_once_where_it_is(
    text: str | bytes, place: str, rule: str, message: str, remedy: str
) -> None:
    finding = only(text)
    assert f"{finding.place.line}:{finding.place.column}" == place
    assert finding.rule == rule
    assert message in finding.message
    assert remedy in (finding.suggestion or "")


def test_an_odd_id_is_told_where_it_is_used_first() -> None:
    found = findings_of('digraph p { "a b" -> "c d"; "a b" [label=x]; "c d" -> "a b" }')
    assert [(one.rule, one.place.column) for one in found] == [
        ("dot.quoted-id", 13),
        ("dot.quoted-id", 22),
    ]


def test_reading_goes_on_after_each_mistake() -> None:
    text = """digraph p {
      a [x=<b>, y=2]
      b -- c
      d [bold shape=box]
      e [k: v, z=1]
      ) nonsense
      f -> g
    }"""
    read = read_graph(text, "p.dot")
    assert [f.place.line for f in read.findings] == [2, 3, 4, 5, 6]
    assert read.graph is not None
    assert list(read.graph.nodes) == ["a", "b", "c", "d", "e", "f", "g"]
    assert read.graph.nodes["a"].text("y") == "2"
    assert read.graph.nodes["d"].text("shape") == "box"
    assert read.graph.nodes["e"].text("z") == "1"


def test_a_forgotten_quote_is_told_where_the_text_runs_into_the_next_statement() -> None:
    finding = only('digraph p {\n a [label="one]\n b [label="two"]\n c [label="three"]\n}')
    assert (finding.rule, finding.place.line, finding.place.column) == (
        "dot.string-unterminated",
        2,
        11,
    )


def test_a_document_with_too_many_mistakes_is_not_read_to_its_end() -> None:
    findings = findings_of("digraph p {" + "\n a -- b" * 1000 + "}")
    assert len(findings) == cursor.FINDINGS_MAX + 1
    assert "more than 100 problems" in findings[-1].message


@pytest.mark.parametrize(
    ("limit", "most", "text"),
    [
        ("NODES_MAX", 2, "digraph p { a b c }"),
        ("EDGES_MAX", 2, "digraph p { a -> a -> a -> a }"),
        ("ATTRIBUTES_MAX", 3, "digraph p { node [x=1]; a b c d }"),
        ("ATTRIBUTES_MAX", 3, "digraph p { a -> b -> c [x=1 y=2] }"),
        ("CLASSES_PER_NODE_MAX", 2, 'digraph p { a [class="x,y,z"] }'),
    ],
)
def test_what_a_document_may_hold_is_bounded(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, text: str
) -> None:
    monkeypatch.setattr(building, limit, most)
    assert only(text).rule == "dot.size"
    monkeypatch.setattr(building, limit, most * 10)
    assert findings_of(text) == []


def test_a_document_and_its_depth_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    depth = building.SUBGRAPH_DEPTH_MAX
    assert findings_of("digraph p {" + "{" * depth + "}" * depth + "}") == []
    assert only("digraph p {" + "{" * (depth + 1)).rule == "dot.size"
    monkeypatch.setenv("ANEW_DOCUMENT_BYTES_MAX", "20")
    assert findings_of("digraph p { a -> b }") == []
    assert only("digraph p { aé -> b }").rule == "dot.size"
