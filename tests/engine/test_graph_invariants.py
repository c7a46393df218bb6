"""What holds in every run of every graph, whoever works on it, is lost, answers or interferes."""

from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.boundaries import (
    Answered,
    Cancelled,
    Due,
    Lost,
    Paused,
    Reported,
    Requested,
    Resumed,
    Taken,
)
from anew.engine.decide import decide
from anew.engine.fold import fold
from anew.engine.moments import LAST_MOMENT
from anew.engine.next_actions import Invoke, Wait
from anew.engine.questions import pending
from anew.engine.record import Moment
from anew.engine.state import Branch, RunState, RunStatus, StepRunStatus
from anew.lab.replay import replay
from anew.languages import load_text
from anew.stores.codec import decode_snapshot, encode_snapshot, snapshot_format
from tests.engine.generated_dots import Sketch, some_outcome
from tests.suites import tried

SECOND = 1_000_000_000
MOVES_MAX = 200
SKETCHES_MAX = 20
FRESH = (StepRunStatus.SCHEDULED, StepRunStatus.READY)


class World:
    """Does what was asked for, in any order. Each visit writes a key of its own to ctx."""

    def __init__(self, program, chance):
        self.program = program
        self.chance = chance
        self.state = RunState()
        self.log = []
        self.todo = [(0, Requested("1", {}))]
        self.now = 0

    def play(self):
        for _ in range(MOVES_MAX):
            if not self.todo and self.state.status is RunStatus.PAUSED:
                self.ask_for(Resumed())
            if not self.todo:
                return
            due, boundary = self.todo.pop(self.chance.randrange(len(self.todo)))
            self.now = max(self.now + self.chance.choice((0, SECOND // 2)), due)
            self.do(boundary)
            self.interfere()

    def do(self, boundary):
        moment = Moment(self.now, self.chance.random)
        transition = decide(self.program, self.state, boundary, moment)
        self.log += transition.events
        self.what_is_asked_for_is_live(transition)
        the_state_holds_together(self.state)
        assert fold(self.log) == self.state
        assert decode_snapshot(snapshot_format(), encode_snapshot(self.state)) == self.state
        for key in transition.jobs:
            self.hand_out(key)
        self.follow(transition.ask)

    def what_is_asked_for_is_live(self, transition):
        skipped = [x for x in transition.events if isinstance(x, e.StepSkipped)]
        over = {(x.step, x.visit) for x in skipped}
        for key in transition.jobs:
            is_over = key in transition.stopped or (key.step, key.visit) in over
            assert is_over or self.state.is_final or self.state.step_run(key)
        assert transition.ask is None or self.state.step_run(transition.ask.key)
        assert not any(self.state.step_run(key) for key in transition.stopped)

    def hand_out(self, key):
        run = self.state.step_run(key)
        if run is not None:
            is_fresh = run.status in FRESH
            self.ask_for(Taken(key) if is_fresh else Due(key), due=run.resume_at or 0)

    def follow(self, ask):
        if isinstance(ask, Wait) and ask.until < LAST_MOMENT:
            self.ask_for(Due(ask.key), due=ask.until)
        elif isinstance(ask, Invoke):
            outcome = some_outcome(self.chance, f"by {ask.key.step} {ask.key.visit}")
            self.ask_for(Reported(ask.key, outcome, ask.started))
            if self.chance.random() < 0.1:
                self.ask_for(Lost(ask.key, was_handed_back=self.chance.random() < 0.5))
        for question in pending(self.state):
            if self.chance.random() < 0.4:
                answer = self.chance.choice([*question.choices, "none of them"])
                self.ask_for(Answered(question.key, answer, "me"))

    def interfere(self):
        chance = self.chance.random()
        if chance < 0.03:
            self.ask_for(Paused("chaos"))
        if self.state.status is RunStatus.PAUSED and chance < 0.5:
            self.ask_for(Resumed())
        if chance > 0.995:
            self.ask_for(Cancelled("enough"))

    def ask_for(self, boundary, due=0):
        self.todo.append((due, boundary))


@tried(chance=st.randoms(use_true_random=False), examples=50, long=(200,))
def test_whatever_happens_to_a_graph_its_log_and_its_state_agree(chance):
    program = some_program(Random(chance.randint(0, 10**9)))
    world = World(program, Random(chance.randint(0, 10**9)))
    world.play()
    the_log_is_gap_free(world.log)
    it_ends_once_or_waits(world)
    what_cancelled_branches_did_is_gone(world)
    assert replay(program, world.log) is None


def some_program(chance):
    """That of the first sketch that the checker lets pass; about every third does."""
    texts = (Sketch(chance).text() for _ in range(SKETCHES_MAX))
    programs = (load_text(text, "generated.dot").program for text in texts)
    found = next((program for program in programs if program is not None), None)
    assume(found is not None)
    return found


def the_state_holds_together(state):
    live = state.live_step_runs()
    asking = [run for run in live if run.status is StepRunStatus.ASKING]
    assert state.asking == len(asking)
    if state.status in (RunStatus.RUNNING, RunStatus.WAITING):
        only_people = bool(live) and len(asking) == len(live)
        assert (state.status is RunStatus.WAITING) == only_people
    if not state.is_final:
        places = [*(token.step for token in state.tokens.values()), *(s for s, _ in state.active)]
        assert state.live == {step: places.count(step) for step in places}
        branches_are_counted(state)
    else:
        assert not state.tokens
        assert not state.active
    if state.status is RunStatus.DONE:
        assert not state.branch_groups
        assert not state.branches


def branches_are_counted(state):
    inside = [token.branch for token in state.tokens.values()]
    inside += [visit.branch for visit in state.active.values()]
    inside += [group.parent for group in state.branch_groups.values()]
    assert set(inside) <= {None, *state.branches}
    assert all(branch.live == inside.count(branch.id) for branch in state.branches.values())
    for group in state.branch_groups.values():
        branches = [state.branches[one] for one in group.branches]
        ended = [branch.id for branch in branches if branch.has_ended]
        assert sorted(group.ended) == ended
        at_work = [one for one in branches if one.has_begun and not one.has_ended and one.live]
        assert group.width is None or len(at_work) <= group.width


def the_log_is_gap_free(log):
    assert [event.seq for event in log] == list(range(1, len(log) + 1))


def it_ends_once_or_waits(world):
    ends = [x for x in world.log if isinstance(x, e.RunDone | e.RunFailed | e.RunCancelled)]
    assert len(ends) <= 1
    if ends:
        assert world.log[-1] is ends[0]
    elif not world.todo:
        assert pending(world.state)  # nothing is left to do but for a person


def what_cancelled_branches_did_is_gone(world):
    """Neither what they wrote nor how their steps went is known to anybody."""
    cancelled = visits_in_cancelled_branches(world.log)
    grounds: list[RunState | Branch] = [world.state, *world.state.branches.values()]
    for owner in grounds:
        assert not {f"by {step} {visit}" for step, visit in cancelled} & owner.ctx.keys()
    ended = {(x.step, x.visit) for x in world.log if isinstance(x, e.StepDone | e.StepFailed)}
    assert world.state.verdicts.keys() <= {step for step, _ in ended - cancelled}


def visits_in_cancelled_branches(log):
    forks, parents, cancelled = {}, {}, set()
    for event in log:
        if isinstance(event, e.BranchForked) and event.fork is not None:
            forks[event.fork] = {one["name"]: one["id"] for one in event.branches}
            parents |= dict.fromkeys(forks[event.fork].values(), event.parent)
        elif isinstance(event, e.BranchJoined) and event.fork is not None:
            cancelled |= {forks[event.fork][name] for name in event.cancelled}
    visits = [x for x in log if isinstance(x, e.StepScheduled)]
    return {(x.step, x.visit) for x in visits if is_inside(x.branch, cancelled, parents)}


def is_inside(branch, cancelled, parents):
    while branch is not None:
        if branch in cancelled:
            return True
        branch = parents[branch]
    return False
