"""Whatever a graph says, loading it ends with a program or with findings, and never otherwise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anew.languages import load_text
from anew.languages.dot.node_types import SHAPES, TYPES
from anew.languages.dot.vocabulary import EDGE, GRAPH, NODES
from anew.program.findings import Severity

_NAMES = st.sampled_from(["s", "x", "a", "b", "c", "start", "exit", "A", "a b"])
_WORDS = st.sampled_from(
    [
        "", "true", "no", "0", "-1", "3", "2.5", "15m", "full", "a", "b", "nowhere", "docs", "spec",
        "k_of_n", "quorum", "first", "linear", "patient", "outcome=success", "status == 'FAILURE'",
        "NOT", "$goal ${ctx.k} $", "@nowhere.md", "[Y] Yes", "house:tool", *TYPES,
        *(shape for shapes in SHAPES.values() for shape in shapes), "ellipse", "star",
    ]
)  # fmt: skip


def _attributes(known: list[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(st.sampled_from(known), _WORDS)
    rows = st.lists(pairs, max_size=4, unique_by=lambda pair: pair[0])
    return rows.map(lambda row: ", ".join(f'"{key}"="{value}"' for key, value in row))


_NODE_KEYS = sorted({key for keys in NODES.values() for key in keys} | {"shape", "odd"})
_STATEMENTS = st.one_of(
    st.tuples(_NAMES, _attributes(["shape", *_NODE_KEYS])).map(lambda p: f'"{p[0]}" [{p[1]}]'),
    st.tuples(_NAMES, _NAMES, _attributes([*EDGE, "odd"])).map(
        lambda p: f'"{p[0]}" -> "{p[1]}" [{p[2]}]'
    ),
    _attributes([*GRAPH, "odd"]).map(lambda attributes: f"graph [{attributes}]"),
)


@given(st.lists(_STATEMENTS, max_size=12))
def test_a_graph_of_any_words_is_loaded_or_told_what_is_wrong(statements: list[str]) -> None:
    loaded = load_text("digraph p {\n" + ";\n".join(statements) + "}", "p.dot")
    is_refused = any(found.severity is Severity.ERROR for found in loaded.findings)
    assert (loaded.program is None) is is_refused
    assert [found for found in loaded.findings if not found.suggestion] == []
    if loaded.program is not None:
        targets = {name for ways in loaded.program.ways.values() for name in ways}
        assert targets <= loaded.program.steps.keys()
