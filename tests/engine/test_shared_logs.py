"""What a state is where a run goes on from the beginning of another one's log."""

from anew.engine import events as e
from anew.engine.fold import evolve
from anew.engine.shared_logs import Share, share_at, sharers_of
from anew.engine.state import Branch, RepeatedFailure, RunState, RunStatus


def cut(seq, owner, decided_by=None):
    return e.RunPaused(seq=seq, at=seq, shared_with=owner, decided_by=decided_by)


def test_the_budgets_of_open_branches_begin_anew_too():
    spent = {"retries": {"a": 2}, "repeated": {"a": RepeatedFailure("x", 3)}}
    state = RunState(status=RunStatus.RUNNING, **spent, redirects={"g": 1})
    state.branches[1] = Branch(1, "a", 1, {}, verdicts={"a": "failure"}, **spent)
    evolve(state, cut(1, "17"))
    assert (state.retries, state.redirects, state.repeated) == ({}, {}, {})
    branch = state.branches[1]
    assert (branch.retries, branch.repeated, branch.verdicts) == ({}, {}, {"a": "failure"})


def test_every_cut_tells_of_all_that_is_before_it():
    plain = e.RunPaused(seq=2, at=2)
    first = e.RunRequested(seq=1, at=1, run="C", program="p", digest="P3", workload={})
    log = [first, plain, cut(3, "A"), cut(4, "B", "P1"), cut(5, "C", "P2"), plain]
    assert share_at(log, 1) == share_at(log, 2) == Share("A", "P1", 4)
    assert share_at(log, 3) == Share("B", "P1", 4)
    assert share_at(log, 4) == Share("C", "P2", 5)
    assert share_at(log, 5) == Share(None, None, 6)
    assert sharers_of(log) == {"A", "B", "C"}
