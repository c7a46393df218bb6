"""What code may add to the language: node types, shapes, transforms of graphs, and lint rules.

A program says by its digest what of them it was compiled with: a run goes on with the same alone.

>>> notify = calling("notify", "http", lambda node: {"url": node.text("url"), "method": "POST"})
>>> loaded = load("flow.dot", extensions=Extensions(types=[notify], shapes={"cds": "notify"}))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct, field
from msgspec.structs import replace

from anew.errors import AnewError, ConfigError
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Graph, Node
from anew.languages.dot.node_type import NodeType, Role, Work
from anew.languages.dot.node_types import TYPES, Known
from anew.languages.dot.scoped import computed
from anew.languages.dot.settings import seconds
from anew.languages.dot.texts import expanded
from anew.program.findings import Finding
from anew.program.kind import Kind
from anew.program.kinds import kind_named
from anew.values import Object

__all__ = ["Extensions", "NodeType", "Role", "Work", "calling"]


class Extensions(Struct, frozen=True):
    """`types` may take the place of built-in ones. `shapes` names a type for a shape.

    `transforms` are applied in order, after the document is read and before it is checked. `rules`
    look at the graph as it is checked; what they return is reported with the other findings.
    `kinds` are tools that code brings, which playbooks may name as well. Give another `version`
    when types or transforms of the same names mean something else.
    """

    types: Sequence[NodeType] = ()
    shapes: Mapping[str, str] = field(default_factory=dict)
    transforms: Sequence[Callable[[Graph], Graph]] = ()
    rules: Sequence[Callable[[Graph], Iterable[Finding]]] = ()
    kinds: Collection[str] = ()
    version: str = ""

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Extensions:
        """With these tools as well, of which more is known than their names."""
        return replace(self, kinds={**{name: kind_named(name) for name in self.kinds}, **kinds})

    @property
    def known(self) -> Known:
        """All types there are, with these."""
        return Known({**TYPES, **{one.name: one for one in self.types}}, self.shapes)

    def marks(self, types: Mapping[str, NodeType]) -> list[str]:
        """What a program owes to these, given the type of each of its nodes; nothing if nothing.

        Rules judge a document and change nothing, and neither does a type that no node has.
        """
        marks = [
            f"node={node} type={kind.name}"
            for node, kind in sorted(types.items())
            if any(kind is one for one in self.types)
        ]
        marks += [f"transform={_name(one)}" for one in self.transforms]
        return [f"version={self.version}", *marks] if marks else []


def transformed(graph: Graph, transforms: Iterable[Callable[[Graph], Graph]]) -> Graph:
    """The graph after all of them; ConfigError names the one that fails."""
    for transform in transforms:
        what = f"the transform {_name(transform)}"
        with _blamed(what):
            graph = transform(graph)
        if not isinstance(graph, Graph):
            raise ConfigError(f"{what} gave {_kind(graph)}; it must return the graph.")
    return graph


def judged(graph: Graph, rules: Iterable[Callable[[Graph], Iterable[Finding]]]) -> list[Finding]:
    """What the rules find; ConfigError names the one that fails."""
    found: list[Finding] = []
    for rule in rules:
        what = f"the lint rule {_name(rule)}"
        with _blamed(what):
            told: object = rule(graph)
            if isinstance(told, Iterable):
                told = list(told)
        if not isinstance(told, list):
            raise ConfigError(f"{what} gave {_kind(told)}; it must return a list of findings.")
        odd = [one for one in told if not isinstance(one, Finding)]
        if odd:
            raise ConfigError(f"{what} gave {_kind(odd[0])} among its findings.")
        found += told
    return found


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    """Whatever the code of an extension raises is told as its own problem."""
    try:
        yield
    except AnewError:
        raise
    except Exception as error:
        raise ConfigError(f"{what} failed: {type(error).__name__}: {error}") from error


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", type(function).__qualname__)


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


NO_EXTENSIONS = Extensions()


def calling(
    name: str, kind: str, inputs: Callable[[Node], Object], *, writes: Iterable[str] = ()
) -> NodeType:
    """A type whose nodes call the tool `kind`. Texts in the inputs may hold variables.

    `inputs` is asked once per node, when the graph is compiled. `writes` are keys of the context
    that outcomes of the tool update, so that other nodes may name them.
    """

    def build(c: GraphCompilation, node: Node) -> Work:
        what = f"the inputs function of node type {name!r}"
        with _blamed(f"{what}, for node {node.id!r},"):
            given = inputs(node)
        if not isinstance(given, dict):
            raise ConfigError(f"{what} gave {_kind(given)}; it must return a dictionary.")
        texts = {key: expanded(c, node, one) for key, one in given.items() if isinstance(one, str)}
        template = computed(
            given,
            lambda scope: {**given, **{key: one.value(scope) for key, one in texts.items()}},
            "ctx",
        )
        return Work(kind, template, timeout_seconds=seconds(node, "timeout"))

    return NodeType(name, build, writes=tuple(writes))
