"""Check that a branch ends at its join: a way around it leads further into the graph than it seems.

An exit that is reached inside a branch ends the branch and not the run, and a fork that is reached
inside its own branch forks that branch again. A fork inside a branch is passed by way of its join,
so that every node is looked at for one fork only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.lint.reach import TARGET_KEYS
from anew.languages.dot.node_type import Role
from anew.languages.dot.routes import restarts
from anew.languages.dot.settings import given
from anew.program.graph_walks import backwards, reached
from anew.program.span import Span


class _Way(Struct, frozen=True):
    """From one node to another, along an edge or as its retry target."""

    to: str
    what: str
    place: Span


class _Branches(Struct, frozen=True):
    """What lies between a fork and its join, and all that can be come to around the join."""

    fork: str
    join: str
    ways: dict[str, list[_Way]] = field(default_factory=dict)


def check_escapes(c: GraphCompilation) -> None:
    joins = {**c.implied_joins, **{fork: join for fork, join in c.joins.items() if join}}
    for fork, join in joins.items():
        _check(c, _between(c, fork, join, joins))


def _between(c: GraphCompilation, fork: str, join: str, joins: Mapping[str, str]) -> _Branches:
    """Every way from the fork on, up to the join, the exits and the fork itself."""
    found, todo = _Branches(fork, join), list(c.leads[fork])
    while todo:
        name = todo.pop()
        if name not in found.ways and name not in (fork, join):
            is_exit = c.role(name) is Role.EXIT
            found.ways[name] = [] if is_exit else list(_ways(c, name, joins))
            todo += [way.to for way in found.ways[name]]
    return found


def _ways(c: GraphCompilation, name: str, joins: Mapping[str, str]) -> Iterator[_Way]:
    node = c.graph.nodes[name]
    if name in joins:
        yield _Way(joins[name], f"the fork {name!r}", node.span)
        return
    for edge in c.leaving[name]:
        yield _Way(edge.target, f"the edge from {name!r} to {edge.target!r}", edge.target_span)
    for key in TARGET_KEYS:
        target, said = c.target(node, key), given(node, key)
        if target is not None and said is not None:
            yield _Way(target, f"{key} of node {name!r}", said.span)


def _check(c: GraphCompilation, branches: _Branches) -> None:
    """Report the ways after which only an end around the join is left."""
    ends = [name for name in branches.ways if c.role(name) is Role.EXIT]
    targets = {name: [way.to for way in ways] for name, ways in branches.ways.items()}
    back = backwards(targets)
    to_join = reached(back, [branches.join])
    astray = reached(back, [branches.fork, *ends]) - to_join
    for name in branches.ways:
        if name not in to_join:
            continue
        for way in branches.ways[name]:
            if way.to in astray:
                _report(c, branches, way)
        _check_restarts(c, branches, name)


def _check_restarts(c: GraphCompilation, branches: _Branches, name: str) -> None:
    """A run that begins anew takes the place of the whole run, not of one of its branches."""
    for edge in c.leaving[name]:
        if restarts(edge):
            message = (
                f"the edge from {name!r} restarts the run inside a branch of {branches.fork!r}"
            )
            remedy = f"Lead it to {branches.join!r}, and restart behind that node."
            c.report("restart-in-branch", edge.target_span, message, remedy)


def _report(c: GraphCompilation, branches: _Branches, way: _Way) -> None:
    fork, join = branches.fork, branches.join
    message = f"{way.what} leads out of a branch of {fork!r} around {join!r}, where they meet"
    remedy = f"Lead it to {join!r}, and choose the way on behind that node."
    c.report("branch-escapes", way.place, message, remedy)
