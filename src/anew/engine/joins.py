"""Decide which waiting tokens may start a visit of their step (SEMANTICS 2.3).

Static reachability over arcs says whether another live token could still arrive.
"""

from __future__ import annotations

from anew.engine.state import RunState, Token
from anew.program.program import Join, Program
from anew.values import Object


def tokens_by_step(state: RunState) -> dict[str, list[Token]]:
    """Waiting tokens in the order they were made, by the step they wait for."""
    waiting: dict[str, list[Token]] = {}
    for token in state.tokens.values():
        waiting.setdefault(token.step, []).append(token)
    return waiting


def ready_groups(
    program: Program, state: RunState, step: str, waiting: list[Token]
) -> list[list[Token]]:
    """The groups of tokens that may each start one visit now."""
    if program.steps[step].join is Join.EACH:
        return [[token] for token in waiting if _may_ask(state, [token])]
    is_running = state.live[step] > len(waiting)
    if is_running:
        return []
    is_joining = program.incoming[step] > 1
    if is_joining and _can_still_arrive(program, state, step):
        return []
    group = waiting if is_joining else waiting[:1]
    return [group] if _may_ask(state, group) else []


def oldest_joining(program: Program, state: RunState) -> list[Token]:
    """The tokens to start when only joining ones are left: oldest first, ties by file order."""
    groups = tokens_by_step(state).values()
    return min(groups, key=lambda group: (group[0].born, program.position[group[0].step]))


def merged_args(tokens: list[Token]) -> Object:
    """One args object; later arrivals win."""
    merged: Object = {}
    for token in tokens:
        merged.update(token.args)
    return merged


def _can_still_arrive(program: Program, state: RunState, step: str) -> bool:
    return not program.sources(step).isdisjoint(state.live)


def _may_ask(state: RunState, group: list[Token]) -> bool:
    """A refused group is asked again once something changed, or somebody new joined it."""
    return any(token.refused_at != state.epoch for token in group)
