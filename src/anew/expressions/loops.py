"""How `{% for %}` goes through its items, and how names are given their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from anew.expressions.arguments import items_of
from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.problems import COMPUTING_ERRORS, OperationError, Placed
from anew.expressions.rendering import kind
from anew.values import Value

# A compiled statement: writes its pieces of text behind those written so far.
Emit: TypeAlias = Callable[[Evaluation, list[str]], None]

# A pass through a loop's body counts as one operation more for this many nodes in it.
NODES_PER_OPERATION = 32
_GROUP = {"grouper", "list"}


def assign(variables: dict[str, Value], targets: tuple[str, ...], value: Value) -> None:
    """Give the one target the value, or each of several an item of it."""
    if len(targets) == 1:
        variables[targets[0]] = value
        return
    # `for key, rows in list | groupby('key')` is how groups are usually taken apart.
    if isinstance(value, dict) and value.keys() == _GROUP:
        value = list(value.values())
    if not isinstance(value, list):
        raise OperationError(f"{kind(value)} cannot be taken apart into {len(targets)} names")
    if len(value) != len(targets):
        raise OperationError(
            f"a list of {len(value)} cannot be taken apart into {len(targets)} names"
        )
    variables.update(zip(targets, value, strict=True))


class LoopContext(Struct, frozen=True, kw_only=True):
    """A compiled `{% for %}`."""

    source: Run
    condition: Run | None
    targets: tuple[str, ...]
    body: Emit
    otherwise: Emit
    placed: Placed
    node_count: int
    has_set: bool
    shows_loop: bool

    def write(self, rt: Evaluation, pieces: list[str]) -> None:
        kept = rt.locals
        try:
            items = self._items(rt)
            self._passes(rt, items, pieces)
        except COMPUTING_ERRORS as error:
            raise self.placed(error) from error
        if not items:
            # What an else sets ends with it, as what a pass sets does.
            rt.locals = dict(kept)
            self.otherwise(rt, pieces)
        rt.locals = kept

    def _items(self, rt: Evaluation) -> list[Value]:
        """What is gone through; the work of all passes is spent before the first."""
        items = items_of(rt, self.source(rt), "'for'")
        rt.spend(len(items) * ((self.node_count + len(rt.locals)) // NODES_PER_OPERATION))
        return items if self.condition is None else self._chosen(rt, items, self.condition)

    def _chosen(self, rt: Evaluation, items: list[Value], condition: Run) -> list[Value]:
        """The items of `for item in items if condition`."""
        kept, chosen = rt.locals, []
        for item in items:
            rt.locals = dict(kept)
            assign(rt.locals, self.targets, item)
            if condition(rt):
                chosen.append(item)
        rt.locals = kept
        return chosen

    def _passes(self, rt: Evaluation, items: list[Value], pieces: list[str]) -> None:
        kept, body, has_set, shows_loop = rt.locals, self.body, self.has_set, self.shows_loop
        target = self.targets[0] if len(self.targets) == 1 else None
        variables = rt.locals = dict(kept)
        for index, item in enumerate(items):
            if has_set:
                # A pass must not see what the one before it set.
                variables = rt.locals = dict(kept)
            if target is None:
                assign(variables, self.targets, item)
            else:
                variables[target] = item
            if shows_loop:
                variables["loop"] = _position(index, len(items))
            body(rt, pieces)


def _position(index: int, length: int) -> dict[str, Value]:
    """What the body sees as `loop`."""
    return {
        "index": index + 1,
        "index0": index,
        "revindex": length - index,
        "revindex0": length - index - 1,
        "first": index == 0,
        "last": index == length - 1,
        "length": length,
    }
