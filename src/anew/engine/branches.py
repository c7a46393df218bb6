"""Decide when parallel branches have done enough to join, and what they amount to.

Knows groups of branches as the state has them. Whether the join's verdict is good enough for the
run is the business of the step they meet at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from anew.engine.events import BranchJoined
from anew.engine.outcome import error_of
from anew.engine.record import Recorder
from anew.engine.state import (
    Branch,
    BranchGroup,
    LoopVisit,
    RunState,
    StepRun,
    StepRunKey,
    Token,
)
from anew.engine.tokens import branches_below, is_join
from anew.engine.verdicts import ErrorType
from anew.program.policy import Verdict
from anew.program.program import Gather, JoinPolicy, Step
from anew.values import Object, patched

# Names of the run's own bookkeeping stay in their branch.
PRIVATE = "_"
_RANK = {verdict: rank for rank, verdict in enumerate(Verdict)}
_WAIT_ALL = Gather()


class Joined(Struct, frozen=True):
    """A group that has done enough. `ended` are in the order they came to their end."""

    group: BranchGroup
    gather: Gather
    verdict: Verdict
    ended: list[Branch]
    cancelled: list[Branch]


def is_at_join(state: RunState, token: Token) -> bool:
    """Whether the token has come to where its branch ends."""
    branch = state.branches.get(token.branch) if token.branch is not None else None
    return branch is not None and is_join(state, branch, token.step)


def may_begin(state: RunState, token: Token) -> bool:
    """Whether there is room for the token's branch among those at work."""
    branch = state.branches.get(token.branch) if token.branch is not None else None
    if branch is None or branch.has_begun:
        return True
    group = state.branch_groups[branch.group]
    if group.width is None:
        return True
    others = (state.branches[one] for one in group.branches)
    return sum(one.has_begun and not one.has_ended for one in others) < group.width


def next_joined(recorder: Recorder) -> Joined | None:
    """A group whose branches have done enough, innermost first."""
    for group in reversed(list(recorder.state.branch_groups.values())):
        gather = recorder.program.steps[group.join].gather or _WAIT_ALL
        joined = _joined(recorder.state, group, gather)
        if joined is not None:
            return joined
    return None


def write(recorder: Recorder, joined: Joined, visit: int | None) -> tuple[StepRunKey, ...]:
    """Record the join; the step-runs it stopped. Without a visit the branch around it ends too."""
    state, group = recorder.state, joined.group
    closed = branches_below(state, group.id)
    stopped = tuple(key for key, branch in _live_in(state) if branch in closed)
    tokens = [token.id for token in state.tokens.values() if _arrived(token, group)]
    recorder.emit(
        BranchJoined(
            step=group.join,
            visit=visit,
            tokens=tokens,
            fork=group.id,
            policy=joined.gather.policy,
            verdict=joined.verdict,
            written=_merged(joined) if joined.gather.merges else {},
            cancelled=[branch.name for branch in joined.cancelled],
            error=_error(joined) if visit is None and joined.verdict is Verdict.FAILURE else None,
        )
    )
    return stopped


def _live_in(state: RunState) -> list[tuple[StepRunKey, int | None]]:
    found: list[tuple[StepRunKey, int | None]] = []
    for visit in state.active.values():
        runs = visit.open.values() if isinstance(visit, LoopVisit) else (visit,)
        found.extend((run.key, visit.branch) for run in runs)
    return found


def _arrived(token: Token, group: BranchGroup) -> bool:
    return token.branch in group.branches and token.step == group.join


def _joined(state: RunState, group: BranchGroup, gather: Gather) -> Joined | None:
    ended = [state.branches[one] for one in group.ended]
    left = [state.branches[one] for one in group.branches if one not in group.ended]
    verdict = _verdict(gather, [one.summary.verdict for one in ended], len(left))
    return None if verdict is None else Joined(group, gather, verdict, ended, left)


def _verdict(gather: Gather, verdicts: Sequence[Verdict], left: int) -> Verdict | None:
    """What the ended branches amount to; None while it is open."""
    successes = sum(verdict is Verdict.SUCCESS for verdict in verdicts)
    total = len(verdicts) + left
    match gather.policy:
        case JoinPolicy.WAIT_ALL:
            decided = None if left else _of_all(verdicts)
        case JoinPolicy.FIRST_SUCCESS:
            decided = _of_enough(successes, left, needed=1)
        case JoinPolicy.QUORUM:
            decided = _of_enough(successes, left, needed=total // 2 + 1)
        case JoinPolicy.K_OF_N:
            decided = _of_enough(successes, left, needed=gather.k or total)
        case _:
            assert_never(gather.policy)
    if decided is None or not gather.lenient:
        return decided
    have_all_failed = all(verdict is Verdict.FAILURE for verdict in verdicts)
    return Verdict.FAILURE if have_all_failed else Verdict.SUCCESS


def _of_all(verdicts: Sequence[Verdict]) -> Verdict:
    if all(verdict is Verdict.SUCCESS for verdict in verdicts):
        return Verdict.SUCCESS
    return Verdict.FAILURE if Verdict.FAILURE in verdicts else Verdict.PARTIAL


def _of_enough(successes: int, left: int, *, needed: int) -> Verdict | None:
    if successes >= needed:
        return Verdict.SUCCESS
    return Verdict.FAILURE if successes + left < needed else None


def args_of(joined: Joined) -> Object:
    """What the step at the join reads of its branches, as `args.join`."""
    winner = _winner(joined)
    results = {branch.name: _result(branch) for branch in joined.ended}
    results |= {branch.name: {"verdict": "cancelled"} for branch in joined.cancelled}
    told = {
        "verdict": joined.verdict.value,
        "policy": joined.gather.policy.value,
        "results": results,
        "order": [branch.name for branch in joined.ended],
        "winner": winner.name if winner else None,
        "best": _best(joined.ended),
        "error": _error(joined) if joined.verdict is Verdict.FAILURE else None,
    }
    return {"join": told}


def failure_of(step: Step, run: StepRun) -> Object | None:
    """The error of a step whose branches did not do well enough for it to begin.

    A relay begins all the same: what became of them is what it passes on.
    """
    told = run.args.get("join") if step.gather is not None else None
    if step.is_relay or not isinstance(told, dict):
        return None
    return told.get("error") if told.get("verdict") == Verdict.FAILURE else None


def _result(branch: Branch) -> Object:
    result: Object = {"verdict": branch.summary.verdict.value, "written": _public(branch.written)}
    if branch.summary.word is not None:
        result["word"] = branch.summary.word
    if branch.summary.label is not None:
        result["label"] = branch.summary.label
    if branch.error is not None:
        result["error"] = branch.error
    return result


def _public(written: Object) -> Object:
    return patched({}, {path: value for path, value in written.items() if path[:1] != PRIVATE})


def _winner(joined: Joined) -> Branch | None:
    wins = (branch for branch in joined.ended if branch.summary.verdict is Verdict.SUCCESS)
    return next(wins, None)


def _best(ended: Sequence[Branch]) -> str | None:
    """By verdict, then by the score a branch wrote, then by name."""

    def rank(branch: Branch) -> tuple[int, float, str]:
        score = branch.ctx.get("score")
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        return _RANK[branch.summary.verdict], -float(score or 0) if is_number else 0.0, branch.name

    return min(ended, key=rank).name if ended else None


def _error(joined: Joined) -> Object:
    failed = [branch for branch in joined.ended if branch.summary.verdict is Verdict.FAILURE]
    first = next((branch.error for branch in failed if branch.error is not None), None)
    names = ", ".join(branch.name for branch in failed) or "none"
    message = f"the branches do not satisfy {joined.gather.policy.value}; failed: {names}"
    if first is not None:
        message = f"{message} ({first.get('message')})"
    # Whether another try can help is not known: it depends on why the branches failed.
    known = {"retryable": None, "type": ErrorType.UNKNOWN.value}
    return {**error_of("failed", message, branches=[one.name for one in failed]), **known}


def _merged(joined: Joined) -> Object:
    """What goes into ctx: later ends win; the winner of a race, and successes where they count."""
    policy, ended = joined.gather.policy, list(joined.ended)
    if policy is JoinPolicy.FIRST_SUCCESS:
        winner = _winner(joined)
        ended = [*(one for one in ended if one is not winner), *([winner] if winner else [])]
    elif policy is JoinPolicy.K_OF_N:
        ended = [one for one in ended if one.summary.verdict is Verdict.SUCCESS]
    merged: Object = {}
    for branch in ended:
        for path, value in branch.written.items():
            if path[:1] != PRIVATE:
                merged.pop(path, None)
                merged[path] = value
    return merged
