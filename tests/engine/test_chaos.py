"""Queues deliver twice, workers die and report late: the log stays true to its rules."""

import random
from itertools import count

from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.boundaries import (
    Cancelled,
    Due,
    Lost,
    Paused,
    Reported,
    Requested,
    Resumed,
    Skipped,
    Taken,
)
from anew.engine.decide import decide
from anew.engine.fold import fold
from anew.engine.next_actions import Invoke, Wait
from anew.engine.record import Moment
from anew.engine.state import RunState, RunStatus, StepRunStatus
from anew.lab.replay import replay
from anew.lab.script import SUCCESS, OutcomeQueue, script_of
from anew.languages import load_text
from tests.generated import playbooks, scripts
from tests.suites import tried

SECOND = 1_000_000_000
MOVES_MAX = 150


class Chaos:
    """Everything that may happen happens in any order, some of it more than once."""

    def __init__(self, program, script, seed):
        self.program = program
        self.tapes = {key: OutcomeQueue(entries) for key, entries in script.outcomes.items()}
        self.chance = random.Random(seed)
        self.state = RunState()
        self.log = []
        self.pending = [Requested("1", {})]
        self.due = {}

    def play(self):
        for now in count(0, SECOND):
            if not self.pending or now > MOVES_MAX * SECOND:
                return
            self.move(now)

    def move(self, now):
        index = self.chance.randrange(len(self.pending))
        boundary = self.pending[index]
        if self.chance.random() < 0.8:
            del self.pending[index]
        if isinstance(boundary, Due):
            now = max(now, self.due[boundary.key])
        at = max(now, self.log[-1].at if self.log else 0)
        transition = decide(self.program, self.state, boundary, Moment(at, self.chance.random))
        self.log += transition.events
        self.pending += [self.turn_of(key) for key in transition.jobs]
        self.follow(transition.ask)
        self.interfere()

    def turn_of(self, key):
        """What a worker does with a job: begin it, or go on with it."""
        run = self.state.step_run(key)
        if run is not None and run.status in (StepRunStatus.DELAYED, StepRunStatus.DECIDED):
            self.due[key] = run.resume_at or 0
            return Due(key)
        return Taken(key)

    def interfere(self):
        """People pause and resume, skip waits, and sometimes they have had enough."""
        chance = self.chance.random()
        if 0.04 < chance < 0.14:
            keys = [run.key for run in self.state.live_step_runs()]
            self.pending.append(Skipped(tuple(keys), "chaos"))
        if chance < 0.04:
            self.pending.append(Paused("chaos"))
        if self.state.status is RunStatus.PAUSED and chance < 0.5:
            self.pending.append(Resumed())
        if chance > 0.99:
            self.pending.append(Cancelled("enough"))

    def follow(self, ask):
        if isinstance(ask, Wait):
            self.due[ask.key] = ask.until
            self.pending.append(Due(ask.key))
        elif isinstance(ask, Invoke):
            tape = self.tapes.get(ask.task.label)
            outcome = (tape.next() if tape else SUCCESS).outcome(0)
            self.pending.append(Reported(ask.key, outcome, ask.started))
            if self.chance.random() < 0.2:
                self.pending.append(Lost(ask.key, was_handed_back=self.chance.random() < 0.5))


@tried(
    document=playbooks(),
    script=scripts(),
    seed=st.integers(0, 10**6),
    examples=20,
    long=(50, 50),
)
def test_double_late_and_lost_deliveries_break_no_rule(document, script, seed):
    chaos = Chaos(load_text(document, "d.yaml").program, script_of(script), seed)
    chaos.play()
    assert [event.seq for event in chaos.log] == list(range(1, len(chaos.log) + 1))
    assert fold(chaos.log) == chaos.state
    assert replay(chaos.program, chaos.log) is None
    each_outcome_is_of_an_execution_that_was_open(chaos.log)


def each_outcome_is_of_an_execution_that_was_open(log):
    started = set()
    for event in log:
        place = (event.step, event.visit, event.iteration, event.task, event.attempt)
        if isinstance(event, e.TaskStarted):
            started.add(place)
        elif isinstance(event, e.TaskProcessed):
            started.remove(place)
