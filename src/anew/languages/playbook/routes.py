"""Read where a token goes next."""

from __future__ import annotations

from msgspec.structs import replace

from anew.languages.nodes import Entry, MapNode, is_null
from anew.languages.playbook.arcs import read_arcs
from anew.languages.playbook.compilation import Compilation
from anew.languages.playbook.desugar.routes import report_shape
from anew.languages.playbook.keys import ROUTER_KEYS, ROUTER_SPEC_KEYS
from anew.languages.playbook.other_policies import read_other_policy
from anew.program.program import RouteMode, Router

_NO_MATCH_FORM = (
    "Add a last arc without `when`, which is taken when no other one is, or `must_choose: true`."
)


def read_router(c: Compilation, entry: Entry | None) -> Router:
    """The router of a step; arcs to unknown steps are reported and left out."""
    node = c.mapping(entry, "next")
    if entry is None or node is None:
        return Router()
    return replace(_read(c, entry, node), span=entry.place)


def _read(c: Compilation, entry: Entry, node: MapNode) -> Router:
    c.check_keys(node, ROUTER_KEYS, "next")
    router = _read_spec(c, c.mapping(node.get("spec"), "next.spec"))
    arcs = node.get("arcs")
    if arcs is None:
        report_shape(c, entry.holder, "next has no `arcs`")
        return Router()
    found = c.sequence(arcs, "arcs")
    if found is None and not is_null(arcs.node):
        c.lose_route()
    items = found.items if found is not None else ()
    return replace(router, arcs=read_arcs(c, items, router.mode))


def _read_spec(c: Compilation, spec: MapNode | None) -> Router:
    """What `next.spec` says, without the arcs."""
    if spec is None:
        return Router()
    c.check_keys(spec, ROUTER_SPEC_KEYS, "next.spec")
    read_other_policy(c, spec, (), "a router")
    if "on_no_match" in spec:
        message = "`on_no_match` is not supported: a step with no matching arc ends its token"
        place = spec.entries["on_no_match"].place
        c.report("key.without-effect", place, message, _NO_MATCH_FORM)
    mode = c.word(spec.get("mode"), RouteMode, rule="next.mode", what="mode")
    if mode is not RouteMode.FORK:
        _report_fork_keys(c, spec, mode or RouteMode.EXCLUSIVE)
        must_choose = bool(c.flag(spec.get("must_choose"), "must_choose"))
        gives_up = bool(c.flag(spec.get("gives_up"), "gives_up"))
        if gives_up and not must_choose:
            c.ignored(spec.entries["gives_up"], "without `must_choose`", "Add `must_choose: true`.")
        return Router(mode or RouteMode.EXCLUSIVE, must_choose=must_choose, gives_up=gives_up)
    for key in ("must_choose", "gives_up"):
        if key in spec:
            c.ignored(spec.entries[key], "with `mode: fork`", "A split takes all its arcs.")
    what = f"the branches of step {c.step!r} meet at"
    return Router(
        mode,
        join=c.known_step(spec.get("join"), rule="target.unknown", what=what),
        width=c.whole_number(spec.get("max_in_flight"), "max_in_flight", rule="next.max-in-flight"),
    )


def _report_fork_keys(c: Compilation, spec: MapNode, mode: RouteMode) -> None:
    for key in ("join", "max_in_flight"):
        if key in spec:
            remedy = "Write `mode: fork`, or remove it."
            c.ignored(spec.entries[key], f"with `mode: {mode}`", remedy)
