"""Decide which waiting tokens may start a visit of their step (playbook.md#tokens-and-joins).

Static reachability over arcs says whether another live token could still arrive. Tokens of
different parallel branches never meet here: where those meet is `engine.branches`' business.
"""

from __future__ import annotations

from collections.abc import Iterable

from anew.engine.branches import is_at_join, may_begin
from anew.engine.state import RunState, Token
from anew.program.program import Join, Program
from anew.values import Object


def groups_of(state: RunState) -> list[list[Token]]:
    """Waiting tokens that may enter together: of one step and one branch, oldest first."""
    waiting: dict[tuple[str, int | None], list[Token]] = {}
    for token in state.tokens.values():
        if state.branch_groups and is_at_join(state, token):
            continue  # it waits for the other branches
        waiting.setdefault((token.step, token.branch), []).append(token)
    return list(waiting.values())


def ready_groups(program: Program, state: RunState, waiting: list[Token]) -> list[list[Token]]:
    """The groups of tokens that may each start one visit now."""
    step, branch = waiting[0].step, waiting[0].branch
    if program.steps[step].join is Join.EACH:
        return [[one] for one in waiting if _may_ask(state, [one]) and may_begin(state, one)]
    if not may_begin(state, waiting[0]) or _is_running(state, step, branch, waiting):
        return []
    is_joining = program.incoming[step] > 1
    if is_joining and not program.sources(step).isdisjoint(_live_in(state, branch)):
        return []
    group = waiting if is_joining else waiting[:1]
    return [group] if _may_ask(state, group) else []


def oldest_joining(program: Program, state: RunState) -> list[Token]:
    """The tokens to start when only joining ones are left: oldest first, ties by file order."""
    groups = groups_of(state)
    return min(groups, key=lambda group: (group[0].born, program.position[group[0].step]))


def merged_args(tokens: list[Token]) -> Object:
    """One args object; later arrivals win."""
    merged: Object = {}
    for token in tokens:
        merged.update(token.args)
    return merged


def _is_running(state: RunState, step: str, branch: int | None, waiting: list[Token]) -> bool:
    if not state.branch_groups:
        return state.live[step] > len(waiting)
    return any(key[0] == step and visit.branch == branch for key, visit in state.active.items())


def _live_in(state: RunState, branch: int | None) -> Iterable[str]:
    """The steps from which a token of this branch may still come, the waiting ones included."""
    if not state.branch_groups:
        return state.live
    steps = [key[0] for key, visit in state.active.items() if visit.branch == branch]
    steps += [token.step for token in state.tokens.values() if token.branch == branch]
    # An open group leads to its join.
    return steps + [group.join for group in state.branch_groups.values() if group.parent == branch]


def _may_ask(state: RunState, group: list[Token]) -> bool:
    """A refused group is asked again once something changed, or somebody new joined it."""
    return any(token.refused_at != state.epoch for token in group)
