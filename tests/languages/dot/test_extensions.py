"""Code adds node types, shapes, transforms and rules to the language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from anew.errors import ConfigError
from anew.languages import load_text
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.extensions import Extensions, NodeType, Work, calling
from anew.languages.dot.graph import Attribute, Graph, Node
from anew.languages.dot.scoped import constant
from anew.program.findings import Finding, Severity
from tests.languages.dot.documents import SPEC
from tests.languages.dot.graphs import inputs, played

NOTIFY = calling("notify", "http", lambda node: {"url": node.text("url"), "json": {"n": 1}})


def test_a_node_type_of_ones_own_calls_a_tool() -> None:
    text = SPEC + 'goal=g; a [type=notify, url="https://example.org/$goal", timeout=5]; s->a->x }'
    program = load_text(text, "p.dot", extensions=Extensions(types=[NOTIFY])).program
    assert program is not None
    (task,) = program.steps["a"].tasks
    assert (task.kind, task.timeout) == ("http", 5.0)
    assert inputs(played(program), "a") == [{"url": "https://example.org/g", "json": {"n": 1}}]


def test_a_shape_stands_for_a_type_of_ones_own() -> None:
    extensions = Extensions(types=[NOTIFY], shapes={"cds": "notify"})
    loaded = load_text(SPEC + "a [shape=cds]; s->a->x }", "p.dot", extensions=extensions)
    assert loaded.program is not None
    assert loaded.program.steps["a"].tasks[0].kind == "http"
    assert "type_known" not in [found.rule for found in loaded.findings]


def test_a_type_may_take_the_place_of_a_built_in_one() -> None:
    def build(_: GraphCompilation, node: Node) -> Work:
        return Work("noop", constant({"result": node.id}))

    extensions = Extensions(types=[NodeType("codergen", build)])
    program = load_text(SPEC + "a [prompt=p]; s->a->x }", "p.dot", extensions=extensions).program
    assert program is not None
    assert program.steps["a"].tasks[0].kind == "noop"


def test_transforms_see_the_graph_in_order_before_it_is_checked() -> None:
    def labelled(graph: Graph) -> Graph:
        for node in graph.nodes.values():
            prompt = Attribute("prompt", node.id, node.id, node.span, node.span)
            node.attributes.setdefault("prompt", prompt)
        return graph

    def renamed(graph: Graph) -> Graph:
        assert "prompt" in graph.nodes["a"].attributes
        return replace(graph, name="renamed")

    extensions = Extensions(transforms=[labelled, renamed])
    loaded = load_text(SPEC + "a; s->a->x }", "p.dot", extensions=extensions)
    assert loaded.program is not None
    assert loaded.program.name == "renamed"
    assert "prompt_on_llm_nodes" not in [found.rule for found in loaded.findings]


def test_a_rule_of_ones_own_can_refuse_a_graph() -> None:
    def no_tools(graph: Graph) -> Iterator[Finding]:
        for node in graph.nodes.values():
            if node.text("shape") == "parallelogram":
                yield Finding(Severity.ERROR, "house.no-tools", "tools are not allowed", node.span)

    text = SPEC + "a [shape=parallelogram, tool_command=ls]; s->a->x }"
    loaded = load_text(text, "p.dot", extensions=Extensions(rules=[no_tools]))
    assert loaded.program is None
    assert [str(f.place) for f in loaded.findings if f.rule == "house.no-tools"] == ["p.dot:2:1"]


def broken(_: object) -> Any:
    raise KeyError("oh")


def silent(_: object) -> Any:
    return None


def wrong(_: object) -> Any:
    return ["no finding"]


@pytest.mark.parametrize(
    ("extensions", "said"),
    [
        (Extensions(rules=[broken]), "the lint rule broken failed: KeyError: 'oh'"),
        (Extensions(rules=[silent]), "the lint rule silent gave None; it must return a list"),
        (Extensions(rules=[wrong]), "the lint rule wrong gave a str among its findings"),
        (Extensions(transforms=[broken]), "the transform broken failed: KeyError: 'oh'"),
        (Extensions(transforms=[silent]), "the transform silent gave None; it must return the"),
        (
            Extensions(types=[calling("mine", "noop", broken)]),
            "inputs function of node type 'mine', for node 'a', failed: KeyError: 'oh'",
        ),
        (
            Extensions(types=[calling("mine", "noop", silent)]),
            "inputs function of node type 'mine' gave None; it must return a dictionary",
        ),
    ],
)
def test_an_extension_that_fails_is_named(extensions: Extensions, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_text(SPEC + "a [type=mine, prompt=p]; s->a->x }", "p.dot", extensions=extensions)
