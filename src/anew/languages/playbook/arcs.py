"""Read one arc: where it leads, when, what it passes on and writes, and what it is preferred by."""

from __future__ import annotations

from msgspec.structs import replace

from anew.expressions import Template
from anew.languages.nodes import Entry, Item, MapNode, Node, ScalarNode
from anew.languages.playbook.compilation import Compilation, Site, shown
from anew.languages.playbook.desugar.routes import report_shape
from anew.languages.playbook.keys import ARC_KEYS, PREFERRED_ARC_KEYS
from anew.languages.playbook.other_policies import read_other_policy
from anew.languages.playbook.patches import read_visit_patches
from anew.program.program import Arc, RouteMode
from anew.program.span import Span

_FAILURES = ("event", "failed")
_WEIGHT_FORM = "Write a whole number: `weight: 10`. The larger one is preferred."


def read_arcs(c: Compilation, items: tuple[Item, ...], mode: RouteMode) -> tuple[Arc, ...]:
    """The arcs of a router; those that lead nowhere are reported and left out."""
    found = (_read_arc(c, item, mode) for item in items)
    arcs = [arc for arc in found if arc is not None]
    if mode is not RouteMode.PREFERRED:
        return tuple(arcs)
    # A weightier arc is asked first; among equals, the one that stands first in the file.
    order = sorted(range(len(arcs)), key=lambda index: -arcs[index].weight)
    ranks = {index: rank for rank, index in enumerate(order)}
    return tuple(replace(arc, rank=ranks[index]) for index, arc in enumerate(arcs))


def _read_arc(c: Compilation, item: Item, mode: RouteMode) -> Arc | None:
    node = item.node
    if not isinstance(node, MapNode):
        report_shape(c, node.span, f"an arc must be a step or a mapping; found {shown(node)}")
        return None
    return _read_arc_mapping(c, node, item.place, mode)


def _read_arc_mapping(c: Compilation, node: MapNode, holder: Span, mode: RouteMode) -> Arc | None:
    c.check_keys(node, ARC_KEYS, "an arc")
    if "spec" in node and isinstance(node.entries["spec"].node, MapNode):
        read_other_policy(c, node.entries["spec"].node, (), "an arc")
    when = node.get("when")
    condition = c.condition(when.node, Site.ARC, what="when") if when is not None else None
    _report_unused(c, node, mode)
    counts = condition is not None and any(path[:2] == _FAILURES for path in condition.paths)
    label = node.get("label")
    arc = Arc(
        to="",
        when=condition,
        args=_read_args(c, node),
        counts_failures=counts,
        label=c.text(label, "label") if label is not None else None,
        weight=_read_weight(c, node.get("weight")),
        answers_failure=bool(c.flag(node.get("on_failure"), "on_failure")),
        most=c.whole_number(node.get("most"), "most", rule="arc.most"),
        patches=read_visit_patches(c, node.get("set")),
    )
    target = node.get("step")
    if target is None:
        message = "an arc does not say which step it leads to"
        c.report("arc.step-missing", holder, message, "Add `step: …`.")
        c.lose_route()
        return None
    to = c.text(target, "step")
    if to is None:
        c.lose_route()
        return None
    if not _is_step(c, target.node, to):
        return None
    return replace(arc, to=to, span=target.node.span)


def _report_unused(c: Compilation, node: MapNode, mode: RouteMode) -> None:
    """Tell of what an arc says in vain in this mode."""
    when, on_failure = node.get("when"), node.get("on_failure")
    if mode is RouteMode.FORK:
        if when is not None:
            c.ignored(when, "in a split, which takes all its arcs", "Remove it.")
    elif when is not None and on_failure is not None:
        c.ignored(on_failure, "together with `when`, which is asked on failures too", "Remove it.")
    if mode is not RouteMode.PREFERRED:
        for key in PREFERRED_ARC_KEYS:
            if key in node:
                remedy = "Write `next: {spec: {mode: preferred}, …}`, or remove it."
                c.ignored(node.entries[key], f"with `mode: {mode}`", remedy)


def _read_weight(c: Compilation, entry: Entry | None) -> int:
    if entry is None:
        return 0
    value = entry.node.value if isinstance(entry.node, ScalarNode) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    message = f"weight must be a whole number; found {shown(entry.node)}"
    c.report("arc.weight", entry.node.span, message, _WEIGHT_FORM)
    return 0


def _is_step(c: Compilation, node: Node, name: str) -> bool:
    if name in c.steps:
        return True
    message = f"step {c.step!r} goes to {name!r}, which does not exist"
    meant = c.suggestions.near(name, c.steps)
    c.report("arc.unknown-step", node.span, message, c.suggestions.sentence(meant, c.steps))
    c.lose_route(meant)
    return False


def _read_args(c: Compilation, node: MapNode) -> Template | None:
    entry = node.get("args")
    values = c.mapping(entry, entry.name.text if entry is not None else "")
    return None if values is None else c.template(values, Site.ARC)
