"""Read what a step is to the end of a run: a gate that must have gone well, or an exit."""

from __future__ import annotations

from enum import StrEnum

from anew.expressions import Condition
from anew.languages.nodes import Entry, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.keys import GATE_KEYS
from anew.program.policy import Verdict
from anew.program.program import Gate

_FORM = "Write `gate: true`, or `gate: {accepts: [success, partial], to: …, most: 2}`."
_REDIRECTS_DEFAULT = 1


class GateBudget(StrEnum):
    """What the times come out of that a gate sends the run back."""

    GATE = "gate"
    STEP = "step"  # the step's retries with `budget: step`


def read_gate(c: Compilation, entry: Entry | None) -> Gate | None:
    """A step's `gate`: true, or a mapping."""
    if entry is None or is_null(entry.node):
        return None
    node = entry.node
    if isinstance(node, MapNode):
        return _read_mapping(c, entry, node)
    if isinstance(node, ScalarNode) and isinstance(node.value, bool):
        return Gate(shares_budget=False, span=entry.place) if node.value else None
    message = f"gate must be true or a mapping; found {shown(node)}"
    c.report("value.type", node.span, message, _FORM)
    return None


def _read_mapping(c: Compilation, entry: Entry, node: MapNode) -> Gate:
    c.check_keys(node, GATE_KEYS, "gate")
    what = f"the gate of step {c.step!r} sends the run to"
    to = c.known_step(node.get("to"), rule="target.unknown", what=what)
    most = c.whole_number(node.get("most"), "most", rule="gate.most")
    budget = c.word(node.get("budget"), GateBudget, rule="gate.budget", what="budget")
    if to is None and most is not None and "to" not in node:
        to = c.step
    if most is None:
        most = _REDIRECTS_DEFAULT if to is not None else 0
    return Gate(
        accepts=_read_accepts(c, node.get("accepts")),
        is_owed=not c.flag(node.get("visited_only"), "visited_only"),
        to=to,
        most=most,
        shares_budget=budget is GateBudget.STEP,
        to_span=node.entries["to"].place if "to" in node else None,
        span=entry.place,
        when=_read_when(c, node.get("when")),
    )


def _read_when(c: Compilation, entry: Entry | None) -> Condition | None:
    if entry is None or is_null(entry.node):
        return None
    return c.condition(entry.node, Site.ARC, what="when")


def _read_accepts(c: Compilation, entry: Entry | None) -> tuple[Verdict, ...]:
    """The verdicts that satisfy the gate: one word, or a list of them."""
    if entry is None or is_null(entry.node):
        return (Verdict.SUCCESS,)
    node = entry.node
    nodes = [item.node for item in node.items] if isinstance(node, ListNode) else [node]
    found = []
    for each in nodes:
        word = Entry("accepts", entry.name, each)
        verdict = c.word(word, Verdict, rule="gate.accepts", what="verdict")
        if verdict is not None and verdict not in found:
            found.append(verdict)
    if not nodes:
        c.report("gate.accepts", node.span, "a gate that accepts nothing never opens", _FORM)
    return tuple(found) or (Verdict.SUCCESS,)
