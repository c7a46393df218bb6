"""Keep the books of a run's tokens, and of its groups of parallel branches.

Part of the fold: changes the state in place, knows no program, decides nothing.
"""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.state import (
    FOR_OTHERS,
    NO_ORIGIN,
    Branch,
    BranchGroup,
    LoopVisit,
    Origin,
    OutcomeSummary,
    RunState,
    StepRun,
    Token,
)
from anew.program.policy import Verdict
from anew.values import Object, patched


def add_token(
    state: RunState,
    step: str,
    args: Object,
    born: int,
    *,
    origin: Origin = NO_ORIGIN,
    branch: int | None = None,
) -> None:
    state.tokens_made += 1
    number = state.tokens_made
    state.tokens[number] = Token(number, step, args, born, None, origin, branch)
    state.live[step] = state.live.get(step, 0) + 1
    known = state.branches.get(branch) if branch is not None else None
    if known is not None:
        known.live += 1
        if is_join(state, known, step):
            end_branch(state, known)


def is_join(state: RunState, branch: Branch, step: str) -> bool:
    """Whether a branch ends at this step: where its group joins, or one around it."""
    group = state.branch_groups[branch.group]
    while group.join != step:
        if group.parent is None:
            return False
        group = state.branch_groups[state.branches[group.parent].group]
    return True


def end_branch(state: RunState, branch: Branch) -> None:
    """It has come to its end, whatever else may still be live in it."""
    if not branch.has_ended:
        branch.has_ended = True
        state.branch_groups[branch.group].ended.append(branch.id)


def end_if_stranded(state: RunState, branch: int | None) -> None:
    """A branch with nothing left in it has come to a dead end."""
    known = state.branches.get(branch) if branch is not None else None
    if known is not None and known.live == 0:
        end_branch(state, known)


def drop_token(state: RunState, number: int) -> Token:
    token = state.tokens.pop(number)
    leave(state, token.step)
    if token.branch is not None:
        state.branches[token.branch].live -= 1
    return token


def leave(state: RunState, step: str) -> None:
    left = state.live[step] - 1
    if left:
        state.live[step] = left
    else:
        del state.live[step]


def write_ctx(state: RunState, branch: int | None, writes: Object) -> None:
    """Write to the ctx of a branch, which keeps what it wrote for the join, or of the run."""
    owner = state.ctx_owner(branch)
    owner.ctx = patched(owner.ctx, writes)
    if isinstance(owner, Branch):
        rest = {path: value for path, value in owner.written.items() if path not in writes}
        owner.written = {**rest, **writes}


def open_branches(state: RunState, event: e.BranchForked, number: int) -> None:
    assert event.step is not None
    assert event.join is not None
    tokens = [state.tokens[token] for token in event.tokens]
    owner = state.ctx_owner(event.parent)
    if isinstance(owner, Branch):
        owner.live += 1  # as long as the group is open
    ids = [branch["id"] for branch in event.branches]
    state.branch_groups_made, state.branches_made = number, ids[-1]
    state.branch_groups[number] = BranchGroup(
        number, event.step, event.join, event.parent, event.width, ids
    )
    for token, branch in zip(tokens, event.branches, strict=True):
        made = Branch(branch["id"], branch["name"], number, owner.ctx, live=1)
        state.branches[made.id] = made
        if is_join(state, made, token.step):
            end_branch(state, made)


def join_branches(state: RunState, event: e.BranchJoined, number: int) -> None:
    """The branches are over, and so is everything in them: what is still at work is void."""
    group = state.branch_groups[number]
    closed = branches_below(state, number)
    owner = state.ctx_owner(group.parent)
    for branch in (state.branches[one] for one in group.ended):
        for step, verdict in branch.verdicts.items():
            keep_verdict(owner, step, Verdict(verdict), is_met=step not in branch.unmet_gates)
    keep_verdict(owner, group.step, event.verdict or Verdict.SUCCESS)  # it goes as its branches do
    for token in [one for one in state.tokens.values() if one.branch in closed]:
        if token.id not in event.tokens:
            drop_token(state, token.id)
    for key, visit in list(state.active.items()):
        if visit.branch in closed:
            state.asking -= _asking_in(visit)
            del state.active[key]
            leave(state, key[0])
    for token_id in event.tokens:
        state.tokens[token_id].branch = group.parent
        state.tokens[token_id].origin = Origin(group.step, "join")
    for one in closed:
        state.branches.pop(one)
    for inner_id in [one for one, inner in state.branch_groups.items() if inner.parent in closed]:
        del state.branch_groups[inner_id]
    del state.branch_groups[number]
    if isinstance(owner, Branch):
        owner.live += len(event.tokens) - 1
    if event.written:
        write_ctx(state, group.parent, event.written)
    if event.visit is None and isinstance(owner, Branch):
        # The branch around it was to meet the others here too, and so it does.
        owner.summary, owner.error = OutcomeSummary(event.verdict or Verdict.SUCCESS), event.error
        for token_id in event.tokens:
            drop_token(state, token_id)
        end_branch(state, owner)
    state.epoch += 1


def keep_verdict(
    owner: RunState | Branch, step: str, verdict: Verdict, *, is_met: bool = True
) -> None:
    """`is_met` is false where the step is a gate whose condition does not hold."""
    if not is_met:
        owner.unmet_gates.add(step)
    elif owner.unmet_gates:
        owner.unmet_gates.discard(step)
    # Taken out first, so that the latest stands last.
    owner.verdicts.pop(step, None)
    owner.verdicts[step] = verdict.value  # templates read it


def branches_below(state: RunState, group: int) -> set[int]:
    """The branches of a group, and of every group inside them."""
    closed = set(state.branch_groups[group].branches)
    for inner in state.branch_groups.values():  # a group is made after the one it is in
        if inner.parent in closed:
            closed.update(inner.branches)
    return closed


def _asking_in(visit: StepRun | LoopVisit) -> int:
    runs = visit.open.values() if isinstance(visit, LoopVisit) else (visit,)
    return sum(run.status in FOR_OTHERS for run in runs)
