"""What a template consists of, found in one pass before it is compiled.

Decides whether its work has to be counted, and what one pass through each of its loops costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from anew.expressions import syntax
from anew.expressions.constants import ABSENT, Constants
from anew.expressions.limits import BULK
from anew.expressions.predicates import SIMPLE_PREDICATES

_REPEATING = (syntax.For, syntax.Set, syntax.SetText)
_COUNTED = (syntax.Arithmetic, syntax.Sign, syntax.FunctionCall, syntax.Method, *_REPEATING)
_DEFAULT = ("default", "d")
_CONTAINMENT = ("in", "not in")
# So many values are written without an evaluation that counts; each measures all before it.
OUTPUTS_FREE = 64


class LoopFacts(Struct):
    """Of a `{% for %}`: what is in it, and whether passes set names or look at `loop`."""

    node_count: int
    has_set: bool
    shows_loop: bool


class _Mark(Struct):
    """Stands behind the nodes of a loop, with the counts before them."""

    loop: syntax.For
    nodes: int
    sets: int
    loop_names: int


_Waiting: TypeAlias = syntax.Node | _Mark


class TemplateSurvey:
    """`is_counted`: the template is given an Evaluation, and all of its nodes pay.

    One that only compares or cuts a single thing is given the bare scope: that one node pays where
    it meets something large.
    """

    def __init__(self, roots: Iterable[syntax.Node]) -> None:
        self.constants = Constants()
        self.is_counted = False
        self.loops: dict[int, LoopFacts] = {}
        self._nodes = self._sets = self._loop_names = 0
        self._wide = self._outputs = 0
        for root in roots:
            self._look_at(root)
        if self._wide > 1 or self._outputs > OUTPUTS_FREE:
            self.is_counted = True

    def _look_at(self, root: syntax.Node) -> None:
        waiting: list[_Waiting] = [root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, _Mark):
                self.loops[id(node.loop)] = self._since(node)
                continue
            if type(node) is syntax.For:
                waiting.append(_Mark(node, self._nodes, self._sets, self._loop_names))
            self._count(node)
            waiting.extend(syntax.children(node))

    def _count(self, node: syntax.Node) -> None:
        self._nodes += 1
        if isinstance(node, _REPEATING):
            self._nodes += len(node.targets) if not isinstance(node, syntax.SetText) else 1
            self._sets += not isinstance(node, syntax.For)
        elif isinstance(node, syntax.Name):
            self._loop_names += node.name == "loop"
        elif isinstance(node, syntax.GetAttribute):
            self._nodes += len(node.key) // BULK if isinstance(node.key, str) else 0
        elif isinstance(node, syntax.Constant):
            self._nodes += len(node.value) // BULK if isinstance(node.value, str) else 0
        elif isinstance(node, syntax.Output):
            self._outputs += 1
        elif isinstance(node, syntax.ComparisonChain):
            self._wide += self._width(node)
        elif isinstance(node, (syntax.Slice, syntax.Concat, syntax.GetItem)):
            self._wide += 1
        elif isinstance(node, syntax.DictOf):
            self._wide += any(self.constants.of(key) is ABSENT for key, _ in node.pairs)
        self.is_counted = self.is_counted or self._needs_counting(node)

    def _since(self, mark: _Mark) -> LoopFacts:
        return LoopFacts(
            self._nodes - mark.nodes,
            has_set=self._sets > mark.sets,
            shows_loop=self._loop_names > mark.loop_names,
        )

    def _needs_counting(self, node: syntax.Node) -> bool:
        if isinstance(node, syntax.Test):
            return node.name not in SIMPLE_PREDICATES
        if isinstance(node, syntax.Filter):
            return not self.is_plain_default(node)
        return isinstance(node, _COUNTED)

    def is_plain_default(self, node: syntax.Filter) -> bool:
        """`x | default(y)`, which costs nothing."""
        if node.name not in _DEFAULT or node.arguments.named:
            return False
        given = node.arguments.positional
        return len(given) <= 1 or self.constants.of(given[1]) is not ABSENT

    def _width(self, node: syntax.ComparisonChain) -> int:
        """How many comparisons of it may be long; several links have one evaluation."""
        width, left = 0, node.left
        for link in node.links:
            width += not self.is_narrow(left, link)
            left = link.right
        return 2 * width if len(node.links) > 1 else width

    def is_narrow(self, left: syntax.Expression, link: syntax.Comparison) -> bool:
        """Whether a small constant bounds the comparison, whatever is on its other side."""
        if self.constants.is_small(link.right):
            return True
        return link.operator not in _CONTAINMENT and self.constants.is_small(left)
