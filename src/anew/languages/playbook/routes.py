"""Read where a token goes next: `next` in all its forms."""

from __future__ import annotations

from msgspec.structs import replace

from anew.expressions import Template
from anew.languages.nodes import Entry, Item, ListNode, MapNode, Node, ScalarNode, is_null
from anew.languages.playbook.compilation import Compilation, Place, shown
from anew.languages.playbook.gates import read_other_policy
from anew.program.program import Arc, RouteMode, Router
from anew.program.span import Span

_ROUTER_KEYS = ("spec", "arcs")
_SPEC_KEYS = ("mode", "policy", "on_no_match")
_ARC_KEYS = frozenset(
    {"step", "when", "args", "set", "input", "with", "desc", "description", "spec"}
)
_ARGS_KEYS = ("args", "input", "with", "set")
_FORM = "Write `next: {spec: {mode: exclusive}, arcs: [{step: …, when: …}]}`."
_NO_MATCH_FORM = "Add a last arc without `when`, which is taken when no other one is."
_FAILURES = ("event", "failed")


def read_router(c: Compilation, entry: Entry | None, steps: frozenset[str]) -> Router:
    """The router of a step; arcs to unknown steps are reported and left out."""
    if entry is None or is_null(entry.node):
        return Router()
    return replace(_read(c, entry, steps), span=entry.place)


def _read(c: Compilation, entry: Entry, steps: frozenset[str]) -> Router:
    node = entry.node
    if isinstance(node, MapNode) and ("arcs" in node or "spec" in node):
        return _read_canonical(c, entry, node, steps)
    c.noncanonical(
        "strict.next", entry.place, "`next` is not a router", "`next: {spec: {mode: …}, arcs: […]}`"
    )
    match node:
        case ScalarNode():
            return Router(arcs=_arcs(c, [Item(node.span, node, node.begin)], steps))
        case ListNode():
            mode = _list_mode(node)
            return Router(mode, _arcs(c, node.items, steps))
        case MapNode() if "step" in node:
            return Router(arcs=_arcs(c, [Item(entry.holder, node, node.begin)], steps))
        case MapNode():
            message = "next is a mapping without `arcs`"
            _report_shape(c, entry.holder, message)
            return Router()


def _report_shape(c: Compilation, place: Span, message: str) -> None:
    c.report("next.shape", place, message, _FORM)
    c.lose_route()


def _read_canonical(c: Compilation, entry: Entry, node: MapNode, steps: frozenset[str]) -> Router:
    c.check_keys(node, _ROUTER_KEYS, "next")
    spec = c.mapping(node.get("spec"), "next.spec")
    mode = None
    if spec is not None:
        c.check_keys(spec, _SPEC_KEYS, "next.spec")
        mode = c.word(spec.get("mode"), RouteMode, rule="next.mode", what="mode")
        read_other_policy(c, spec, (), "a router")
        if "on_no_match" in spec:
            message = "`on_no_match` is not supported: a step with no matching arc ends its token"
            place = spec.entries["on_no_match"].place
            c.report("key.without-effect", place, message, _NO_MATCH_FORM)
    arcs = node.get("arcs")
    if arcs is None:
        _report_shape(c, entry.holder, "next has no `arcs`")
        return Router()
    found = c.sequence(arcs, "arcs")
    if found is None and not is_null(arcs.node):
        c.lose_route()
    items = found.items if found is not None else ()
    return Router(mode or RouteMode.EXCLUSIVE, _arcs(c, items, steps, in_router=True))


def _list_mode(node: ListNode) -> RouteMode:
    asks = any(isinstance(item.node, MapNode) and "when" in item.node for item in node.items)
    return RouteMode.EXCLUSIVE if asks else RouteMode.INCLUSIVE


def _arcs(
    c: Compilation,
    items: tuple[Item, ...] | list[Item],
    steps: frozenset[str],
    *,
    in_router: bool = False,
) -> tuple[Arc, ...]:
    arcs = []
    for item in items:
        arc = _read_arc(c, item, steps, in_router=in_router)
        if arc is not None:
            arcs.append(arc)
    return tuple(arcs)


def _read_arc(c: Compilation, item: Item, steps: frozenset[str], *, in_router: bool) -> Arc | None:
    node = item.node
    if isinstance(node, ScalarNode) and not is_null(node):
        if in_router:
            c.noncanonical(
                "strict.arc", node.span, "an arc is a bare name", f"`{{step: {node.text}}}`"
            )
        return Arc(node.text, span=node.span) if _is_step(c, node, node.text, steps) else None
    if not isinstance(node, MapNode):
        _report_shape(c, node.span, f"an arc must be a step or a mapping; found {shown(node)}")
        return None
    if "then" in node:
        message = "`then` inside `next` is an older form that is not run"
        c.report("dialect.unsupported", node.entries["then"].place, message, _FORM)
        c.lose_route()
        return None
    return _read_arc_mapping(c, node, item.place, steps)


def _read_arc_mapping(
    c: Compilation, node: MapNode, holder: Span, steps: frozenset[str]
) -> Arc | None:
    c.check_keys(node, _ARC_KEYS, "an arc")
    if "spec" in node and isinstance(node.entries["spec"].node, MapNode):
        read_other_policy(c, node.entries["spec"].node, (), "an arc")
    when = node.get("when")
    condition = c.condition(when.node, Place.ARC, what="when") if when is not None else None
    args = _read_args(c, node)
    target = node.get("step")
    if target is None:
        c.report(
            "arc.step-missing",
            holder,
            "an arc does not say which step it leads to",
            "Add `step: …`.",
        )
        c.lose_route()
        return None
    to = c.text(target, "step")
    if to is None:
        c.lose_route()
        return None
    if not _is_step(c, target.node, to, steps):
        return None
    counts = condition is not None and any(path[:2] == _FAILURES for path in condition.paths)
    return Arc(to, condition, args, counts, target.node.span)


def _is_step(c: Compilation, node: Node, name: str, steps: frozenset[str]) -> bool:
    if name in steps:
        return True
    message = f"step {c.step!r} goes to {name!r}, which does not exist"
    meant = c.suggestions.near(name, steps)
    c.report("arc.unknown-step", node.span, message, c.suggestions.sentence(meant, steps))
    c.lose_route(meant)
    return False


def _read_args(c: Compilation, node: MapNode) -> Template | None:
    given = [node.entries[key] for key in _ARGS_KEYS if key in node]
    for extra in given[1:]:
        message = f"an arc has both `{given[0].key}` and `{extra.key}`"
        c.report("tool.input-twice", extra.place, message, "Keep `args`.")
    if not given or is_null(given[0].node):
        return None
    entry = given[0]
    if entry.key != "args":
        c.noncanonical(
            "strict.arc", entry.place, f"an arc gives its arguments as `{entry.key}`", "`args`"
        )
    values = c.mapping(entry, entry.key)
    if values is None or (entry.key == "set" and not _sets_arguments(c, values)):
        return None
    return c.template(values, Place.ARC)


def _sets_arguments(c: Compilation, values: MapNode) -> bool:
    for entry in values:
        if "." in entry.key:
            message = (
                f"an arc cannot set {entry.key!r}: it passes arguments to the step it leads to"
            )
            remedy = "Use `args: {name: …}`, or set it in a rule of a task with `set_ctx`."
            c.report("arc.set", entry.place, message, remedy)
            return False
    return True
