"""Place the steps of a graph in layers, so that most arcs point down and few cross.

Layers by longest path, with the arcs that lead back set aside; inside a layer by the mean place of
the neighbours, swept a few times. Good for the tens of steps a program has; knows no drawing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from anew.views.graph import ProgramGraph

SWEEPS = 6


class Layers(Struct, frozen=True):
    """The names in each layer, from left to right; `back` are the arcs that point up."""

    rows: tuple[tuple[str, ...], ...]
    back: frozenset[tuple[str, str]]


def layers_of(graph: ProgramGraph) -> Layers:
    """Every node in one layer."""
    following: dict[str, list[str]] = {node.name: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.target in following and edge.target not in following[edge.source]:
            following[edge.source].append(edge.target)
    first = sorted(graph.nodes, key=lambda node: not node.is_entry)
    order, back = _explored([node.name for node in first], following)
    depth = dict.fromkeys(following, 0)
    for name in order:
        for target in following[name]:
            if (name, target) not in back:
                depth[target] = max(depth[target], depth[name] + 1)
    rows: dict[int, list[str]] = defaultdict(list)
    for node in graph.nodes:
        rows[depth[node.name]].append(node.name)
    placed = [rows[level] for level in sorted(rows)]
    return Layers(tuple(map(tuple, _untangled(placed, following, back))), frozenset(back))


def _explored(
    names: Sequence[str], following: Mapping[str, list[str]]
) -> tuple[list[str], set[tuple[str, str]]]:
    """The nodes so that arcs lead forward, and the arcs that then lead back."""
    back: set[tuple[str, str]] = set()
    finished: dict[str, None] = {}
    open_: set[str] = set()
    for root in names:
        if root in finished:
            continue
        # By hand rather than by recursion: a chain of a thousand steps is a legal program.
        todo = [(root, iter(following[root]))]
        open_.add(root)
        while todo:
            name, targets = todo[-1]
            target = next(targets, None)
            if target is None:
                todo.pop()
                open_.discard(name)
                finished[name] = None
            elif target in open_:
                back.add((name, target))
            elif target not in finished:
                open_.add(target)
                todo.append((target, iter(following[target])))
    return list(reversed(finished)), back


def _untangled(
    rows: list[list[str]], following: Mapping[str, list[str]], back: set[tuple[str, str]]
) -> list[list[str]]:
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, targets in following.items():
        for target in targets:
            if (source, target) not in back:
                neighbours[source].append(target)
                neighbours[target].append(source)
    for sweep in range(SWEEPS):
        place = {name: index for row in rows for index, name in enumerate(row)}
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda name: _mean(name, neighbours[name], place))
            place.update({name: index for index, name in enumerate(row)})
    return rows


def _mean(name: str, neighbours: Sequence[str], place: Mapping[str, int]) -> float:
    if not neighbours:
        return float(place[name])
    return sum(place[other] for other in neighbours) / len(neighbours)
