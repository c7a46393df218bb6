"""Drive a run by its state alone: the same state is always followed by the same move.

That makes two runs comparable: one that went through, and one that went on from a part of its log.
"""

from msgspec.structs import replace

from anew.engine.boundaries import (
    Answered,
    Due,
    Lost,
    Paused,
    Reported,
    Requested,
    Resumed,
    Signalled,
    Taken,
)
from anew.engine.decide import decide
from anew.engine.fold import fold
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import RunState, StepRunStatus

MOVES_MAX = 400
FRESH = (StepRunStatus.SCHEDULED, StepRunStatus.READY)
# For the moment of a retry, or of a jump that waits.
WAITING = (StepRunStatus.DELAYED, StepRunStatus.DECIDED)
DOWN = {"kind": "server_error", "message": "503"}


def some_outcome(place, seed):
    """The same for the same place, whenever it is asked for."""
    number = sum(map(ord, repr(place))) * 31 + seed
    return outcome_of(error=DOWN) if number % 3 == 0 else outcome_of({"x": number % 4})


class Drive:
    """Goes on with a run until it ends; `is_over` is False when it went in circles."""

    def __init__(self, program, state=None, log=(), *, now=0, seed=0, outcome=some_outcome):
        self.program = program
        self.state = state or RunState()
        self.log = list(log)
        self.now = now
        self.seed = seed
        self.outcome = outcome

    def do(self, boundary):
        moment = Moment(self.now, lambda: 0.4)
        transition = decide(self.program, self.state, boundary, moment)
        self.log += transition.events
        return transition

    def play(self, moves=MOVES_MAX):
        for _ in range(moves):
            if self.state.is_final:
                return True
            self.do(self.move())
        return self.state.is_final

    def move(self):
        live = self.state.live_step_runs()
        assert live, "nothing is live, and the run has not ended"
        run = next((one for one in live if self.is_due(one)), live[0])
        if run.status in FRESH:
            return Taken(run.key)
        if run.status is StepRunStatus.EXECUTING:
            place = (run.key, run.task, run.task_visit, run.attempt)
            return Reported(run.key, self.outcome(place, self.seed), run.started_seq)
        if run.status is StepRunStatus.ASKING:
            return Answered(run.key, (run.question.choices or ["yes"])[0])
        if run.status is StepRunStatus.AWAITING:
            return Signalled(run.awaited.signal)
        self.now = max(self.now, run.resume_at or 0)
        return Due(run.key)

    def is_due(self, run):
        """Whether it waits for no later moment. A delay of nothing is over when it begins."""
        return run.status not in WAITING or (run.resume_at or 0) <= self.now


def driven(program, workload=None, *, seed=0, moves=MOVES_MAX):
    """A run from its request on."""
    drive = Drive(program, seed=seed)
    drive.do(Requested("1", workload or {}))
    drive.play(moves)
    return drive


def forked(program, log, at, *, seed=0, now=None, run="2", **cut):
    """A run that shares `at` events of a log: as `runtime.turns.reopening_turn` begins it."""
    shared = [replace(log[0], run=run), *log[1:at]]
    last = shared[-1].at
    now = last if now is None else now
    drive = Drive(program, fold(shared), shared, now=now, seed=seed)
    drive.do(Paused("forked", "1", later_by=now - last, **cut))
    for one in drive.state.live_step_runs():
        if one.status is StepRunStatus.EXECUTING:
            drive.do(Lost(one.key, was_handed_back=True))
    drive.do(Resumed())
    return drive
