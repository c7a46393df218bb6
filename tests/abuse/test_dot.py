"""Graphs made to break their reader: each is read in one pass, and what is wrong is a finding."""

from __future__ import annotations

import pytest

from anew.languages import load_text
from anew.languages.loaded import Loaded

WORK = '[shape=box, prompt="x"]'
ENDS = "start [shape=Mdiamond]; done [shape=Msquare];"
PLAIN = f"{ENDS} work {WORK}; start -> work -> done"
# So many that a reader that looks twice at each, or calls itself for each, does not come back.
MANY = 50_000


def graph(inner: str) -> str:
    return f"digraph g {{\n{inner}\n}}\n"


def with_work(attributes: str) -> str:
    return graph(f"{ENDS} work [{attributes}]; start -> work -> done")


def with_edge(attributes: str) -> str:
    return graph(f"{ENDS} work {WORK}; start -> work; work -> done [{attributes}]")


def condition(text: str) -> str:
    return with_edge(f'condition="{text}"')


REFUSED = {
    "subgraphs within subgraphs": (graph(PLAIN + "; " + "subgraph {" * MANY + "}" * MANY), "dot.size"),
    "subgraphs that never close": ("digraph g {" + "subgraph {" * MANY, "dot.size"),
    "lists within lists": ("digraph g { a " + "[" * MANY, "dot.syntax"),
    "braces that close nothing": ("}" * MANY, "dot.syntax"),
    "a comment without an end": ("digraph g { /* " + "x" * 500_000, "dot.comment-unterminated"),
    "comments within comments": ("digraph g { " + "/*" * MANY, "dot.comment-unterminated"),
    "a text without an end": ('digraph g { a [label="' + "x" * 900_000, "dot.string-unterminated"),
    "a quote hidden by backslashes": (
        'digraph g { a [label="' + "\\" * 500_001 + '"] }',
        "dot.string-unterminated",
    ),
    "texts joined without an end": ('digraph g { a [label="a"' + '+"a"' * MANY + "] }", "dot.syntax"),
    "markup in a value": (graph(PLAIN + "; x [label=<" + "<b>" * MANY + ">]"), "dot.html"),
    "more edges than a graph has": (graph(PLAIN + "; " + "->".join(["n"] * 100_002)), "dot.size"),
    "more nodes than a graph has": (graph(";".join(f"n{i}" for i in range(100_001))), "dot.size"),
    "every node to every node": (
        graph(PLAIN + ";{" + " a" * 500 + "} -> {" + " b" * 500 + "}"),
        "dot.subgraph-endpoint",
    ),
    "groups in a chain": (graph("->".join(["{a b c d e f}"] * 2000)), "dot.subgraph-endpoint"),
    "strict over and over": ("strict " * MANY + graph(PLAIN), "dot.strict"),
    "ports on ports": (graph(PLAIN + "; start:n:s:e:w" * 1000), "dot.port"),
    "an undirected graph": ("graph g { a -- b }", "dot.undirected"),
    "a document too large": (graph(PLAIN) + " " * (2 << 20), "dot.size"),
    "a NUL": ("digraph g {\0}", "dot.encoding"),
    "a NUL in a name": ('digraph g { "a\0b" }', "dot.encoding"),
    "half a surrogate pair": ('digraph g { a [label="\ud800"] }', "dot.encoding"),
    "nothing": ("", "dot.empty"),
    "a graph cut off": ("digraph {", "dot.syntax"),
    "marks without letters": (graph(PLAIN + "; " + "\u0301" * MANY), "dot.syntax"),
    "brackets in a condition": (condition("(" * MANY + "a" + ")" * MANY), "condition_syntax"),
    "negations in a condition": (condition("!" * MANY + "a"), "condition_syntax"),
    "comparisons beyond count": (condition("a=b && " * MANY + "a=b"), "condition_syntax"),
    "code in a condition": (condition("__import__('os').system('id')"), "condition_syntax"),
    "a style sheet that never closes": (
        graph('graph [model_stylesheet="' + "* {" * MANY + '"];' + PLAIN),
        "stylesheet_syntax",
    ),
    "retries beyond count": (with_work(f'prompt="x", max_retries={"9" * 5000}'), "attribute-value"),
    "retries below zero": (with_work('prompt="x", max_retries=-1'), "attribute-value"),
    "an endless timeout": (with_work('prompt="x", timeout="1e999s"'), "attribute-value"),
    "a timeout of digits": (with_work(f'prompt="x", timeout="{"9" * 5000}d"'), "attribute-value"),
    "a timeout that is not a number": (with_work('prompt="x", timeout="nan"'), "attribute-value"),
    "a weight beyond numbers": (with_edge("weight=1e400"), "attribute-value"),
    "a weight of digits": (with_edge(f"weight={'9' * 5000}"), "attribute-value"),
    "a prompt from anywhere": (with_work('prompt="@/etc/passwd"'), "prompt-file"),
    "a prompt from above": (with_work('prompt="@../../../../etc/passwd"'), "prompt-file"),
    "a prompt from a device": (with_work('prompt="@/dev/zero"'), "prompt-file"),
    "two starts": (graph(PLAIN + "; s2 [shape=Mdiamond]"), "start_node"),
    "no end": (graph("start [shape=Mdiamond]"), "terminal_node"),
    "a name of Python's": (graph(f'"__class__" {WORK}; {PLAIN}'), "reachability"),
}  # fmt: skip

READ = {
    "comments beyond count": "//x\n" * 200_000 + graph(PLAIN),
    "YAML in a comment": "//: " + "[" * 60_000 + "\n" + graph(PLAIN),
    "an anchor in a comment": "//: &a [*a]\n" + graph(PLAIN),
    "a byte order mark": "\ufeff" + graph(PLAIN),
    "text that runs backwards": with_work('prompt="\u202ex"'),
    "lines of Windows": graph(PLAIN).replace("\n", "\r\n"),
    "a template in a prompt": with_work(f'prompt="{"{{" * MANY}"'),
    "a template that would run": with_work('prompt="{{ [].__class__ }} {% for x in y %}"'),
    "variables beyond count": with_work(f'prompt="{"$goal " * 20_000}"'),
    "attributes of Python's": with_work('prompt="x", __class__="y", __init__="z"'),
    "a long condition": condition("a=b && " * 1_000 + "a=b"),
    "one edge again and again": graph(PLAIN + "; start -> work" * 20_000),
    "style rules beyond count": graph(
        'graph [model_stylesheet="' + "* { llm_model: x; } " * 5_000 + '"];' + PLAIN
    ),
}


def loaded(source: str) -> Loaded:
    found = load_text(source, "hostile.dot")
    assert len(found.findings) < 300  # nobody reads more, and they would fill a log
    return found


@pytest.mark.parametrize("attack", REFUSED)
def test_a_hostile_graph_is_refused_with_a_finding(attack: str) -> None:
    source, rule = REFUSED[attack]
    found = loaded(source)
    assert found.program is None
    assert rule in {finding.rule for finding in found.findings}


@pytest.mark.parametrize("attack", READ)
def test_a_graph_that_only_looks_hostile_is_read(attack: str) -> None:
    program = loaded(READ[attack]).program
    assert program is not None
    assert {"start", "work", "done"} <= set(program.steps)
