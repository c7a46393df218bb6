"""The oracle's view of forks in the docs dialect: each branch is a traversal of its own, in time.

For graphs whose branches meet in one fan-in and whose outcomes all take time, so that no two
branches end in the same instant.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from anew.languages.dot.graph import DotDialect
from anew.languages.dot.read import read_graph
from tests.languages.dot.oracle import Ended, Outcome, Report, Run, Unclear


class Branch(Struct):
    """How a branch came to its end."""

    name: str
    status: str
    ended_at: float
    run: ForkRun


class Joined(Struct):
    """When the join fires, and on what."""

    at: float
    status: str
    merged: list[Branch]
    winner: Branch | None = None


class History(Struct):
    """What happened, with its moments: a join that fires early undoes what lies behind it."""

    visits: list[tuple[float, str]] = field(default_factory=list)
    delays: list[tuple[float, float]] = field(default_factory=list)
    last: list[tuple[float, str, Outcome]] = field(default_factory=list)

    def take(self, other: History, until: float) -> None:
        self.visits += [one for one in other.visits if one[0] <= until]
        self.delays += [one for one in other.delays if one[0] <= until]
        self.last += [one for one in other.last if one[0] <= until]


def foretell_forks(text: str, script: dict[str, Any]) -> Report:
    """What a run of this graph must come to; its visits and delays in order of time."""
    read = read_graph(text, "g.dot")
    assert read.graph is not None
    run = ForkRun(read.graph, is_docs=read.dialect is DotDialect.DOCS, script=script)
    report = run.play()
    report.visits = [name for _, name in sorted(run.history.visits)]
    report.delays = [seconds for _, seconds in sorted(run.history.delays)]
    return report


class ForkRun(Run):
    """A traversal that knows the time; inside a branch it ends at the fan-in."""

    history: History
    parent: ForkRun | None = None
    now = 0.0

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.history = History()
        self.written: dict[str, Any] = {}

    def _enter(self, name: str, via: str) -> tuple[str, str]:
        kind = self._kind(name)
        if kind == "invhouse":
            self._end("arrived")
        if kind != "hexagon":
            before = len(self.report.visits)
            target = super()._enter(name, via)
            if len(self.report.visits) > before and kind in ("diamond", "start"):
                self.history.visits.append((self.now, name))
            return target
        self.history.visits.append((self.now, name))
        return self._fork(name)

    def _gates(self) -> tuple[str, str]:
        self.history.visits.append((self.now, "x"))
        if any(self._max_retries(gate) for gate in self._unsatisfied()):
            raise Unclear("what a jump into the middle of a branch does")
        return super()._gates()

    def _unsatisfied(self) -> list[str]:
        self.last = {name: outcome for _, name, outcome in sorted(self.history.last, key=_moment)}
        return super()._unsatisfied()

    def _execute(self, name: str) -> Outcome:
        if self._kind(name) == "start":
            return super()._execute(name)
        self.history.visits.append((self.now, name))
        tape, known = self.tapes[name], dict(self.report.ctx)
        self.now += tape.peek()["takes"]
        outcome = super()._execute(name)
        changed = {key: value for key, value in self.report.ctx.items() if known.get(key) != value}
        if set(tape.previous().get("context", {})) - set(changed) - set(self.written):
            raise Unclear("whether a key that is written unchanged counts as written")
        self.written |= changed
        self.history.last.append((self.now, name, outcome))
        return outcome

    def _delay(self, name: str, count: int) -> float:
        seconds = super()._delay(name, count)
        self.history.delays.append((self.now, seconds))
        self.now += seconds
        return seconds

    def _docs_rescue(self, name: str) -> tuple[str, str]:
        if self.parent is not None:
            # graphs.md#where-the-texts-are-silent 10: no fallback inside a branch.
            return self._end("failed")
        return super()._docs_rescue(name)

    def _fork(self, name: str) -> tuple[str, str]:
        join = self._fan_in(name)
        branches = [self._branch(edge.target) for edge in self.leaving[name]]
        branches.sort(key=lambda branch: branch.ended_at)
        if len({round(branch.ended_at, 9) for branch in branches}) < len(branches):
            raise Unclear("which of two branches that end in one instant is the first")
        policy = str(self._node(join, "join_policy", "wait_all"))
        joined = fired(policy, branches, int(self._node(join, "k", 0)))
        for branch in branches:
            self._refuse_lost_gates(branch, joined.at)
            self.history.take(branch.run.history, joined.at)
        self._merge(joined, policy)
        self.now = joined.at
        self.history.visits.append((self.now, join))
        status = joined.status
        error = {"type": "UNKNOWN"} if status == "FAILURE" else None
        self.previous = self.last[join] = Outcome(status, status.lower(), error=error)
        self.history.last.append((self.now, join, self.previous))
        return self._leave(join)

    def _refuse_lost_gates(self, branch: Branch, until: float) -> None:
        ended = [name for at, name, _ in branch.run.history.last if at <= until]
        if branch.ended_at > until and any(self._node(name, "goal_gate") for name in ended):
            raise Unclear("whether a gate that was met in a cancelled branch is met")

    def _merge(self, joined: Joined, policy: str) -> None:
        found: dict[str, Any] = {}
        for branch in joined.merged:
            if policy == "first_success" and set(found) & set(branch.run.written):
                losers = set(found) & set(branch.run.written)
                if joined.winner is None or losers - set(joined.winner.run.written):
                    raise Unclear("whose values count where the winner has none")
            found |= branch.run.written
        if joined.winner is not None:
            found |= joined.winner.run.written
        self.report.ctx |= found
        self.written |= found

    def _branch(self, name: str) -> Branch:
        run = ForkRun(self.graph, is_docs=True, script={"random": self.chance})
        run.parent, run.now, run.tapes = self, self.now, self.tapes
        run.report.ctx = dict(self.report.ctx)
        run.previous = Outcome("SUCCESS", "success")
        at, via = name, "edge"
        try:
            while True:
                at, via = run._enter(at, via)
        except Ended:
            arrived = run.report.status == "arrived"
        status = run.previous.status if arrived else "FAILURE"
        return Branch(name, status, run.now, run)

    def _fan_in(self, fork: str) -> str:
        """The fan-in at the fork's own depth, along any way."""
        at, depth = self.leaving[fork][0].target, 0
        while not (self._kind(at) == "invhouse" and depth == 0):
            depth += {"hexagon": 1, "invhouse": -1}.get(self._kind(at), 0)
            at = self.leaving[at][0].target
        return at


def fired(policy: str, branches: list[Branch], k: int) -> Joined:
    """The table of 3.9; `branches` are in the order of their ends."""
    good = [branch for branch in branches if branch.status == "SUCCESS"]
    if policy == "wait_all":
        statuses = {branch.status for branch in branches}
        status = "FAILURE" if "FAILURE" in statuses else "PARTIAL"
        status = "SUCCESS" if statuses == {"SUCCESS"} else status
        return Joined(branches[-1].ended_at, status, branches)
    if policy == "first_success":
        at = good[0].ended_at if good else branches[-1].ended_at
        ended = [branch for branch in branches if branch.ended_at <= at]
        return Joined(at, "SUCCESS" if good else "FAILURE", ended, good[0] if good else None)
    need = len(branches) // 2 + 1 if policy == "quorum" else k
    if len(good) >= need:
        at, status = good[need - 1].ended_at, "SUCCESS"
    else:
        lost = [branch for branch in branches if branch.status != "SUCCESS"]
        at, status = lost[len(branches) - need].ended_at, "FAILURE"
    ended = [branch for branch in branches if branch.ended_at <= at]
    kept = [one for one in ended if policy == "quorum" or one.status == "SUCCESS"]
    return Joined(at, status, kept)


def _moment(row: tuple[float, str, Outcome]) -> float:
    return row[0]
