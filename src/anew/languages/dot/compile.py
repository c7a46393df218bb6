"""Compile a graph whose nodes have their types to a Program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from anew.expressions import constant
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.gathering import gather_of
from anew.languages.dot.goals import VISITS_KEYS, gate_of, limits_of
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.node_type import Role, Work
from anew.languages.dot.relays import join_patches, joined_outcome
from anew.languages.dot.retries import policy_of, rescuing
from anew.languages.dot.routes import CompiledEdge, router_of
from anew.languages.dot.settings import whole
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import Continue, GraphRule, OutcomeStatus, Patch, Policy, Rule
from anew.program.program import Arc, Join, Program, RouteMode, Router, Step, Task
from anew.program.span import NOWHERE, Span
from anew.values import Object

# Layout and the settings of the compiler are no business of the run.
_UNMIRRORED = ("model_stylesheet", "shape_map", "rankdir", "dialect")


def compile_graph(
    c: GraphCompilation,
    routes: Mapping[str, list[CompiledEdge]],
    *,
    entry: str,
    name: str,
    digest: str,
) -> Program:
    """The program of a graph without errors. `routes` are the edges of each node, compiled."""
    steps = {node.id: _step(c, node, routes[node.id]) for node in c.graph.nodes.values()}
    steps.update((step.name, step) for step in _synthetic(c))
    return Program(
        name=name,
        language="dot",
        dialect=c.dialect.value,
        entry=entry,
        steps=steps,
        digest=digest,
        workload=_mirrored(c),
        workload_is_ctx=True,
        limits=limits_of(c),
        fallback=c.fallback,
        fallback_span=_place(c.targeting(c.graph, "fallback")),
        span=c.graph.span,
    )


def _mirrored(c: GraphCompilation) -> Object:
    """The graph's attributes as context keys."""
    attributes = c.graph.attributes.values()
    return {f"graph.{one.key}": one.value for one in attributes if one.key not in _UNMIRRORED}


def _step(c: GraphCompilation, node: Node, routes: list[CompiledEdge]) -> Step:
    kind = c.types[node.id]
    work = kind.build(c, node)
    is_relay = kind_named(work.kind).outcome_from is OutcomeSource.RELAY
    is_work = kind.role in (Role.WORK, Role.JOIN) or not is_relay
    rescue = rescuing(c, node)
    return Step(
        name=node.id,
        tasks=(_task(node, work, policy_of(c, node) if is_work else Policy(span=node.span)),),
        router=router_of(c, node, routes),
        join=Join.EACH,
        gather=gather_of(c, node, c.forks_to(node.id)) if kind.role is Role.JOIN else None,
        gate=gate_of(c, node),
        is_exit=kind.role is Role.EXIT,
        rescue=None if rescue is None else rescue.raw.strip(),
        rescue_span=_place(rescue),
        visits_max=whole(node, *VISITS_KEYS, least=1),
        span=node.span,
    )


def _place(attribute: Attribute | None) -> Span:
    return NOWHERE if attribute is None else attribute.span


def _task(node: Node, work: Work, policy: Policy) -> Task:
    done = (_when_done(work.when_done, node),) if work.when_done else ()
    rules = (*work.rules, *done, *policy.rules)
    return Task(
        label=node.id,
        kind=work.kind,
        inputs=work.inputs,
        policy=replace(policy, rules=rules, patches=work.patches),
        timeout=work.timeout_seconds,
        span=node.span,
    )


def _when_done(patches: tuple[Patch, ...], node: Node) -> Rule:
    return Rule(
        Continue(), on=OutcomeStatus.OK, patches=patches, name=GraphRule.DONE.value, span=node.span
    )


def _synthetic(c: GraphCompilation) -> Iterator[Step]:
    """Steps no node stands for: where branches meet without a fan-in, and new runs."""
    by_join: dict[str, list[str]] = {}
    for fork, join in c.implied_joins.items():
        by_join.setdefault(join, []).append(fork)
    for join, forks in by_join.items():
        yield _implied_join(c, join, [c.graph.nodes[fork] for fork in forks])
    for target, name in c.restart_steps.items():
        span = c.graph.nodes[target].span
        task = Task(name, "restart", constant({"entry": target}), span=span)
        yield Step(name=name, tasks=(task,), join=Join.EACH, span=span)


def _implied_join(c: GraphCompilation, join: str, forks: list[Node]) -> Step:
    name, span = c.synthetic_joins[forks[0].id], forks[0].span
    policy = Policy(patches=join_patches(span), span=span)
    arc = Arc(join, answers_failure=c.role(join) is Role.CHOICE, span=span)
    return Step(
        name=name,
        tasks=(Task(name, "relay", joined_outcome(), policy, span=span),),
        router=Router(RouteMode.PREFERRED, (arc,), span=span),
        join=Join.EACH,
        gather=gather_of(c, None, forks),
        span=span,
    )
