"""What all parts of the compiler share about one graph: its shape, its types, its findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from anew.expressions import Template
from anew.languages.dot.conditions import CompiledCondition
from anew.languages.dot.graph import Attribute, DotDialect, Edge, Graph, Node
from anew.languages.dot.node_type import NodeType, Role
from anew.languages.dot.settings import Holder, flag, given, is_goal_gate
from anew.languages.dot.source import SourceText
from anew.languages.rules import finding
from anew.program.findings import Finding, Severity, Suggestions
from anew.program.graph_walks import reached
from anew.program.join_matching import match_joins
from anew.program.span import Span

# Nobody reads more of one kind, and what else is wrong must not be lost among them.
RULE_FINDINGS_MAX = 100


class FindingCount(Struct):
    """How many findings a rule has, and where the first of them stands that is not listed."""

    findings: int = 0
    unlisted: Span | None = None


class GraphCompilation(Struct, dict=True, eq=False):
    """A graph whose nodes have their types. `findings` grows while it is compiled and checked."""

    graph: Graph
    dialect: DotDialect
    types: Mapping[str, NodeType]
    source: SourceText | None = None
    findings: list[Finding] = field(default_factory=list)
    suggestions: Suggestions = field(default_factory=Suggestions)
    counted: dict[str, FindingCount] = field(default_factory=dict)
    # What many nodes or edges inherit is compiled once. Texts are kept with what `$goal` is there.
    conditions: dict[tuple[str, Span], CompiledCondition] = field(default_factory=dict)
    texts: dict[tuple[str, str], Template] = field(default_factory=dict)
    commands: dict[tuple[str, str], tuple[Template, Template]] = field(default_factory=dict)
    told: set[tuple[str, str, str, Span]] = field(default_factory=set)

    @property
    def is_docs(self) -> bool:
        return self.dialect is DotDialect.DOCS

    def report(
        self,
        rule: str,
        place: Span,
        message: str,
        suggestion: str | None = None,
        *,
        severity: Severity | None = None,
    ) -> None:
        """`severity` is for a finding that matters more than its rule usually does."""
        counted = self.counted.setdefault(rule, FindingCount())
        counted.findings += 1
        if counted.findings <= RULE_FINDINGS_MAX:
            found = finding(rule, place, message, suggestion)
            severity = severity or found.severity
            self.findings.append(replace(found, severity=severity))
        elif counted.unlisted is None:
            counted.unlisted = place

    def is_first(self, rule: str, attribute: Attribute) -> bool:
        """Whether this is asked for the first time of an attribute that many nodes may share.

        What is wrong with a default, or with a chain of edges, is wrong at one place.
        """
        mark = (rule, attribute.key, attribute.raw, attribute.span)
        is_first = mark not in self.told
        self.told.add(mark)
        return is_first

    def report_unlisted(self) -> None:
        """Say of each rule how many findings it has beyond those that are listed."""
        for rule, counted in self.counted.items():
            if counted.unlisted is not None:
                more = f"there are {counted.findings - RULE_FINDINGS_MAX:,} more like this"
                remedy = "Correct those that are listed first, then check again."
                self.findings.append(finding(rule, counted.unlisted, more, remedy))

    def inside(self, attribute: Attribute) -> Span:
        """Where the text of a value begins, behind its quote."""
        if self.source is None:
            return attribute.span
        return self.source.inside(attribute.span, 0)

    def places(self, attribute: Attribute) -> Callable[[int], Span]:
        """Where each character of a value stands. Follow the value once, however many are asked."""
        source = self.source
        if source is None:
            return lambda _: attribute.span
        offsets = source.inside_all(attribute.span, len(attribute.raw))
        return lambda at: source.span(offsets[min(at, len(offsets) - 1)])

    def role(self, name: str) -> Role:
        return self.types[name].role

    def with_role(self, role: Role) -> list[Node]:
        """The nodes that play it, in file order."""
        return [node for node in self.graph.nodes.values() if self.role(node.id) is role]

    @cached_property
    def leaving(self) -> Mapping[str, list[Edge]]:
        return self.graph.leaving()

    @cached_property
    def leads(self) -> Mapping[str, Sequence[str]]:
        """Where the edges of each node lead."""
        return {name: [edge.target for edge in edges] for name, edges in self.leaving.items()}

    @cached_property
    def fallback(self) -> str | None:
        return self.target(self.graph, "fallback")

    def target(self, holder: Holder, *keys: str) -> str | None:
        """The node an attribute names, under the first key that names one there is."""
        found = self.targeting(holder, *keys)
        return None if found is None else found.raw.strip()

    def targeting(self, holder: Holder, *keys: str) -> Attribute | None:
        """The attribute that names a node."""
        said = (given(holder, key) for key in keys)
        named = (one for one in said if one is not None and one.raw.strip() in self.graph.nodes)
        return next(named, None)

    @cached_property
    def joins(self) -> Mapping[str, str | None]:
        """The node at which the branches of each fork meet."""
        forks = [node.id for node in self.with_role(Role.FORK)]
        fan_ins = [node.id for node in self.with_role(Role.JOIN)]
        return match_joins(self.leads, forks, fan_ins)

    def forks_to(self, join: str) -> list[Node]:
        """The forks whose branches meet at this fan-in."""
        return [self.graph.nodes[fork] for fork in self._forks_by_join.get(join, ())]

    @cached_property
    def _forks_by_join(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for fork, join in self.joins.items():
            if join is not None:
                found.setdefault(join, []).append(fork)
        return found

    @cached_property
    def implied_joins(self) -> Mapping[str, str]:
        """For forks without a fan-in, where the dialect allows that: the first common node."""
        unmatched = [fork for fork, join in self.joins.items() if join is None]
        if self.is_docs or not unmatched:
            return {}
        found = match_joins(self.leads, unmatched, self.graph.nodes)
        return {fork: join for fork, join in found.items() if join is not None}

    @cached_property
    def synthetic_joins(self) -> Mapping[str, str]:
        """The step that is put before an implied join, for each fork: it decides what follows."""
        names = {join: self._free(f"{join} (join)") for join in self.implied_joins.values()}
        return {fork: names[join] for fork, join in self.implied_joins.items()}

    @cached_property
    def arrivals(self) -> Mapping[tuple[str, str], str]:
        """The edges that lead a branch to an implied join, and the step they lead to instead."""
        found: dict[tuple[str, str], str] = {}
        for fork, join in self.implied_joins.items():
            inside = reached({**self.leads, join: ()}, [fork]) - {join}
            for name in self.leads:
                if name in inside and join in self.leads[name]:
                    found[name, join] = self.synthetic_joins[fork]
        return found

    @cached_property
    def restart_steps(self) -> Mapping[str, str]:
        """The step that begins a new run at a node, for each node that an edge restarts at."""
        targets = (edge.target for edge in self.graph.edges if flag(edge, "loop_restart") is True)
        return {target: self._free(f"{target} (restart)") for target in dict.fromkeys(targets)}

    def _free(self, name: str) -> str:
        """A name no node has."""
        while name in self.graph.nodes:
            name = f"{name} "
        return name

    @cached_property
    def gates(self) -> tuple[str, ...]:
        """The goal gates, in file order."""
        nodes = self.graph.nodes.values()
        return tuple(node.id for node in nodes if is_goal_gate(node))

    @cached_property
    def uses_full_fidelity(self) -> bool:
        """Whether any node may be asked to go on with a thread's whole conversation."""
        parts: list[Holder] = [*self.graph.nodes.values(), *self.graph.edges]
        graph = given(self.graph, "default_fidelity", "context_fidelity_default")
        said = [graph, *(given(part, "fidelity") for part in parts)]
        return any(found is not None and found.raw.strip() == "full" for found in said)
