"""The router of older branches: `{when, then: […]}` and `{else: […]}`, in `next` or in `case`.

The first branch whose condition holds decides, and all steps it names start. Where each names one,
that is an exclusive router. Where one names several or none, it is an inclusive router each of
whose arcs also asks that no branch before its own was taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from anew.expressions import ExpressionError
from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.routes import arc_of, router_of
from anew.languages.playbook.keys import BRANCH_KEYS
from anew.languages.playbook.translate import as_truth, inner_expression, one_line
from anew.program.program import RouteMode
from anew.program.span import Span

# An arc without `when` answers this, and a condition that stands for it has to say so.
_DONE = "event.name != 'step.failed'"
_ONE_EACH = "Write one arc for each step, with all that it asks: `{step: …, when: …}`."


class OlderBranch(Struct, frozen=True):
    """Where to go when `when` holds: arcs without conditions, in file order."""

    place: Span
    when: Entry | None
    arcs: tuple[Item, ...]


def next_of_branches(c: Compilation, entry: Entry, node: ListNode) -> Entry:
    """The router that a list of branches, and arcs between them, stands for."""
    return routed(c, entry, list(branches_of(c, node.items)))


def branches_of(c: Compilation, items: tuple[Item, ...]) -> Iterator[OlderBranch]:
    """The branches of a list in `next`, and its arcs as branches of their own."""
    for index, item in enumerate(items, 1):
        yield from _branches(c, item, is_last=index == len(items))


def _branches(c: Compilation, item: Item, *, is_last: bool) -> Iterator[OlderBranch]:
    node = item.node
    if not isinstance(node, MapNode) or not ("then" in node or "else" in node):
        arc = arc_of(c, item, in_router=False)
        if arc is not None:
            yield _arc_branch(arc)
        return
    c.check_keys(node, BRANCH_KEYS, "a branch of `next`")
    then, otherwise = node.get("then"), node.get("else")
    if then is not None:
        yield OlderBranch(item.place, condition_of(node), tuple(targets(c, then)))
    if otherwise is not None:
        check_last(c, otherwise, is_last=is_last)
        yield OlderBranch(otherwise.place, None, tuple(targets(c, inside_else(otherwise))))


def inside_else(otherwise: Entry) -> Entry:
    """What an `else` does; some write a `then` in it, as a branch with `when` has."""
    node = otherwise.node
    then = node.get("then") if isinstance(node, MapNode) and len(node.entries) == 1 else None
    return otherwise if then is None else then


def check_last(c: Compilation, otherwise: Entry, *, is_last: bool) -> None:
    if not is_last:
        message = "`else` is before other branches, which could never be taken"
        c.report("next.shape", otherwise.place, message, "Move `else` to the end.")


def condition_of(node: MapNode) -> Entry | None:
    """The condition of a branch; None where it asks for nothing."""
    when = node.get("when")
    return None if when is None or is_null(when.node) else when


def _arc_branch(item: Item) -> OlderBranch:
    """An arc between branches, as a branch of its own."""
    node = item.node
    when = condition_of(node) if isinstance(node, MapNode) else None
    if when is None or not isinstance(node, MapNode):
        return OlderBranch(item.place, None, (item,))
    rest = made.mapping((entry for entry in node if entry is not when), node.span)
    return OlderBranch(item.place, when, (made.with_node(item, rest),))


def targets(c: Compilation, entry: Entry) -> Iterator[Item]:
    """The arcs to the steps that a branch names: a name, an arc, or a list of them."""
    node: Node = entry.node
    if is_null(node):
        return
    items = node.items if isinstance(node, ListNode) else (Item(entry.holder, node),)
    for item in items:
        arc = arc_of(c, item, in_router=False)
        inner = arc.node if arc is not None else None
        if isinstance(inner, MapNode) and "when" in inner:
            message = "a branch leads to a step that has a `when` of its own; this is not run"
            c.report("dialect.unsupported", inner.entries["when"].place, message, _ONE_EACH)
        elif arc is not None:
            yield arc


# --- the router ----------------------------------------------------------------------------------


def routed(c: Compilation, entry: Entry, branches: list[OlderBranch]) -> Entry:
    """The router of some branches, as the `next` that `entry` stands for."""
    if all(len(branch.arcs) == 1 for branch in branches):
        arcs = [_with_when(branch.arcs[0], branch.when) for branch in branches]
        return router_of(entry, RouteMode.EXCLUSIVE, arcs)
    return router_of(entry, RouteMode.INCLUSIVE, list(_guarded(c, branches)))


def _guarded(c: Compilation, branches: list[OlderBranch]) -> Iterator[Item]:
    """Every arc, with a condition under which the branches before it were not taken."""
    before: list[str] = []
    for branch in branches:
        own = _condition(c, branch)
        place = branch.when.node.span if branch.when is not None else branch.place
        text = " and ".join([*(f"not {asked}" for asked in before), own])
        asked = made.entry("when", made.scalar(f"{{{{ {text} }}}}", place), place)
        is_plain = branch.when is not None and not before
        for arc in branch.arcs:
            yield _with_when(arc, branch.when if is_plain else asked)
        before.append(own)


def _condition(c: Compilation, branch: OlderBranch) -> str:
    """What a branch asks, as an operand that is true or false."""
    when = branch.when
    if when is None:
        return f"({_DONE})"
    node = when.node
    text = node.text if isinstance(node, ScalarNode) else ""
    expression = inner_expression(text)
    if not expression or "event.failed" in expression:
        message = (
            "the condition of a branch with several steps, or none, cannot be repeated for each"
        )
        c.report("dialect.unsupported", node.span, message, _ONE_EACH)
        return "false"
    try:
        return as_truth(one_line(expression))
    except ExpressionError:
        return f"({expression})"  # reported where it is compiled


def _with_when(item: Item, when: Entry | None) -> Item:
    node = item.node
    if when is None or not isinstance(node, MapNode):
        return item
    asked = made.renamed(when, "when")
    entries = [entry for entry in node if entry.key == "step"]
    rest = [entry for entry in node if entry.key != "step"]
    return made.with_node(item, made.mapping([*entries, asked, *rest], node.span))
