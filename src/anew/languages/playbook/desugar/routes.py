"""A step's `next` in its canonical form: `{spec: {mode}, arcs: [{step, when, args, …}]}`."""

from __future__ import annotations

from msgspec.structs import replace

from anew.languages import made
from anew.languages.nodes import Entry, Item, ListNode, MapNode, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.sets import set_of
from anew.languages.playbook.keys import ARC_ARGS_KEYS, ARC_SET_KEYS
from anew.program.program import RouteMode
from anew.program.span import Span

ROUTER_FORM = "Write `next: {spec: {mode: exclusive}, arcs: [{step: …, when: …}]}`."


def report_shape(c: Compilation, place: Span, message: str) -> None:
    c.report("next.shape", place, message, ROUTER_FORM)
    c.lose_route()


def next_of(c: Compilation, entry: Entry, *, said: Entry | None = None) -> Entry | None:
    """The router of a step; None where (reported) it leads nowhere.

    `said` is the older `next_mode` of the step, how the arcs of a list are chosen.
    """
    node = entry.node
    if said is not None and not isinstance(node, ListNode):
        c.ignored(said, "where `next` is not a list", "Write `next: {spec: {mode: …}, …}`.")
    if is_null(node):
        return entry
    if isinstance(node, MapNode) and ("arcs" in node or "spec" in node):
        return _router(c, entry, node)
    c.noncanonical(
        "strict.next", entry.place, "`next` is not a router", "`next: {spec: {mode: …}, arcs: […]}`"
    )
    match node:
        case ScalarNode():
            return router_of(entry, RouteMode.EXCLUSIVE, [_bare_arc(Item(node.span, node))])
        case ListNode() if _is_branching(node) and said is None:
            # Few documents are written like this.
            from anew.languages.playbook.desugar.branches import next_of_branches  # noqa: PLC0415

            return next_of_branches(c, entry, node)
        case ListNode():
            asks = any(isinstance(i.node, MapNode) and "when" in i.node for i in node.items)
            mode = RouteMode.EXCLUSIVE if asks else RouteMode.INCLUSIVE
            mode = c.word(said, RouteMode, rule="next.mode", what="next_mode") or mode
            arcs = [arc_of(c, item, in_router=False) for item in node.items]
            return router_of(entry, mode, [arc for arc in arcs if arc is not None])
        case MapNode() if "step" in node:
            arc = arc_of(c, Item(entry.holder, node), in_router=False)
            return router_of(entry, RouteMode.EXCLUSIVE, [] if arc is None else [arc])
        case MapNode():
            report_shape(c, entry.holder, "next is a mapping without `arcs`")
            return None


def router_of(entry: Entry, mode: RouteMode, arcs: list[Item]) -> Entry:
    """`next` with these arcs, which `entry` stands for."""
    place = entry.place
    word = made.entry("mode", made.scalar(mode.value, place), place)
    spec = made.entry("spec", made.mapping([word], place, is_flow=True), place)
    rows = made.entry("arcs", made.sequence(arcs, place), place)
    return made.renamed(entry, "next", made.mapping([spec, rows], place))


def _router(c: Compilation, entry: Entry, node: MapNode) -> Entry:
    arcs = node.get("arcs")
    if arcs is None or not isinstance(arcs.node, ListNode):
        return entry
    found = (arc_of(c, item, in_router=True) for item in arcs.node.items)
    rows = made.with_items(arcs.node, (arc for arc in found if arc is not None))
    if rows is arcs.node:
        return entry
    keys = [*(e for e in node if e is not arcs), made.renamed(arcs, "arcs", rows)]
    return made.renamed(entry, "next", made.mapping(keys, node.span))


def _is_branching(node: ListNode) -> bool:
    """Whether a list is written as `{when, then: […]}` and `{else: […]}`."""
    maps = (item.node for item in node.items if isinstance(item.node, MapNode))
    return any("then" in found or "else" in found for found in maps)


# --- arcs ----------------------------------------------------------------------------------------


def arc_of(c: Compilation, item: Item, *, in_router: bool) -> Item | None:
    """An arc as a mapping with `step` and `args`; None for an older form that is not run."""
    node = item.node
    if isinstance(node, ScalarNode) and not is_null(node):
        if in_router:
            message, canonical = "an arc is a bare name", f"`{{step: {node.text}}}`"
            c.noncanonical("strict.arc", node.span, message, canonical)
        return _bare_arc(item)
    if not isinstance(node, MapNode):
        return item
    if "then" in node:
        message = "`then` on an arc of a router is an older form that is not run"
        c.report("dialect.unsupported", node.entries["then"].place, message, ROUTER_FORM)
        c.lose_route()
        return None
    return made.with_node(item, _with_set(c, _with_args(c, node)))


def _bare_arc(item: Item) -> Item:
    node = item.node
    assert isinstance(node, ScalarNode)
    step = made.entry("step", made.scalar(node.text, node.span), node.span)
    arc = made.with_node(item, made.mapping([step], node.span))
    return replace(arc, place=node.span)


def _with_set(c: Compilation, node: MapNode) -> MapNode:
    given = [entry for entry in node if entry.key in ARC_SET_KEYS]
    if not given:
        return node
    written = set_of(c, given, "an arc")
    kept = (e for e in node if e not in given[1:])
    return made.with_entries(node, (written if e is given[0] else e for e in kept))


def _with_args(c: Compilation, node: MapNode) -> MapNode:
    given = [node.entries[key] for key in ARC_ARGS_KEYS if key in node]
    if not given or (len(given) == 1 and given[0].key == "args"):
        return node
    for extra in given[1:]:
        message = f"an arc has both `{given[0].key}` and `{extra.key}`"
        c.report("tool.input-twice", extra.place, message, "Keep `args`.")
    if given[0].key != "args" and not is_null(given[0].node):
        message = f"an arc gives its arguments as `{given[0].key}`"
        c.noncanonical("strict.arc", given[0].place, message, "`args`")
    entries = (made.renamed(e, "args") if e is given[0] else e for e in node if e not in given[1:])
    return made.with_entries(node, entries)
