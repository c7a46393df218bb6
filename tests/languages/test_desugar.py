"""Every dialect becomes canonical nodes, which stand for messages where the author's own do."""

from __future__ import annotations

from anew.languages.document import read_yaml
from anew.languages.nodes import ListNode, MapNode, Node, plain
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.document import desugar
from tests.languages.documents import PIPELINE, in_workflow


def canonical(text: str) -> MapNode:
    root, findings = read_yaml(text, "f.yaml")
    assert findings == []
    assert isinstance(root, MapNode)
    return desugar(Compilation("f.yaml"), root)


def step(text: str) -> MapNode:
    workflow = canonical(text).entries["workflow"].node
    assert isinstance(workflow, ListNode)
    found = workflow.items[0].node
    assert isinstance(found, MapNode)
    return found


def below(node: Node, *path: str | int) -> Node:
    for part in path:
        if isinstance(part, int):
            assert isinstance(node, ListNode)
            node = node.items[part].node
        else:
            assert isinstance(node, MapNode)
            node = node.entries[part].node
    return node


def test_a_canonical_document_stays_the_same_nodes() -> None:
    root, _ = read_yaml(in_workflow(PIPELINE), "f.yaml")
    assert isinstance(root, MapNode)
    assert desugar(Compilation("f.yaml"), root) is root


def test_a_string_tool_becomes_a_task_with_what_stands_beside_it() -> None:
    found = step("workflow:\n- step: a\n  tool: http\n  endpoint: u\n  timeout: 3\n  next: a\n")
    assert plain(found) == {
        "step": "a",
        "tool": {"kind": "http", "url": "u", "spec": {"timeout": 3}},
        "next": {"spec": {"mode": "exclusive"}, "arcs": [{"step": "a"}]},
    }


def test_what_a_retry_block_becomes_stands_where_the_block_does() -> None:
    text = "workflow:\n- step: a\n  tool: {kind: noop}\n  retry:\n    max_attempts: 5\n"
    then = below(step(text), "tool", "spec", "policy", "rules", 0, "then")
    assert isinstance(then, MapNode)
    assert plain(then) == {
        "do": "retry",
        "backoff": "exponential",
        "attempts": 5,
        "delay": 1.0,
        "max_delay": 60.0,
        "jitter": True,
    }
    assert then.entries["do"].node.span.line == 4
    assert then.entries["attempts"].node.span.line == 5
    assert then.entries["attempts"].name.text == "max_attempts"


def test_what_did_not_change_keeps_its_node() -> None:
    text = "workflow:\n- step: a\n  tool: {kind: noop}\n  when: ctx.x\n  next: {arcs: []}\n"
    root, _ = read_yaml(text, "f.yaml")
    assert isinstance(root, MapNode)
    before, after = (
        below(root, "workflow", 0),
        below(desugar(Compilation("f.yaml"), root), "workflow", 0),
    )
    assert isinstance(before, MapNode)
    assert isinstance(after, MapNode)
    assert after is not before
    for key in ("step", "tool", "next"):
        assert after.entries[key] is before.entries[key]
