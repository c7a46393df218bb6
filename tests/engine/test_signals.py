"""Signals: which wait they serve, in which order, and what holds however they and time interleave."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine import signals
from anew.engine.boundaries import (
    Cancelled,
    Due,
    Paused,
    Reported,
    Requested,
    Resumed,
    Signalled,
    Taken,
)
from anew.engine.decide import decide
from anew.engine.fold import fold
from anew.engine.next_actions import Invoke, Wait
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.signals import SIGNAL_CHARS_MAX, is_name, pending
from anew.engine.state import RunState, RunStatus, StepRunStatus
from anew.lab.replay import replay
from anew.languages import load_text
from anew.stores.codec import decode_snapshot, encode_snapshot, snapshot_format
from tests.play import names, play, rows, simulated

SECOND = 1_000_000_000
FRESH = (StepRunStatus.SCHEDULED, StepRunStatus.READY)

ONE = """
workflow:
  - step: pay
    tool: {kind: wait, signal: paid, timeout: 60}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: "{{ pay }}"}
"""
TWICE = """
workflow:
  - step: start
    tool:
      - {name: one, kind: wait, signal: paid}
      - {name: two, kind: wait, signal: paid}
"""
LOOP = """
workflow:
  - step: each
    loop: {in: [0, 1, 2], iterator: n, spec: {mode: parallel}}
    tool: {kind: wait, signal: paid, timeout: 100}
"""
AGAIN = """
workflow:
  - step: pay
    tool:
      kind: wait
      signal: paid
      timeout: 10
      spec:
        policy:
          rules:
            - when: "{{ outcome.error.kind == 'timeout' }}"
              then: {do: retry, attempts: 3, delay: 1}
            - else: {then: {do: continue}}
"""
RACE = """
workflow:
  - step: start
    tool: {kind: noop}
    next:
      spec: {mode: fork, join: met}
      arcs: [{step: left}, {step: right}]
  - step: left
    tool: {kind: wait, signal: left}
    next: [{step: met}]
  - step: right
    tool: {kind: wait, signal: right}
    next: [{step: met}]
  - step: met
    spec: {join: {policy: first_success}}
    tool: {kind: noop}
    next: [{step: after}]
  - step: after
    tool: {kind: wait, signal: right, timeout: 5}
"""


class World:
    """One run without a runtime: what is asked for is kept, and done when the test says so."""

    def __init__(self, document):
        loaded = load_text(document, "test.yaml")
        assert loaded.program is not None, [f"{f.rule} {f.message}" for f in loaded.findings]
        self.program, self.state, self.log, self.now = loaded.program, RunState(), [], 0
        self.todo = []

    def begin(self):
        self.do(Requested("1", {}))
        return self.settled()

    def do(self, boundary):
        transition = decide(self.program, self.state, boundary, Moment(self.now, lambda: 0.5))
        self.log += transition.events
        self.todo += [self.taken(key) for key in transition.jobs]
        match transition.ask:
            case Invoke() as call:
                result = call.inputs.get("result", {})
                self.todo.append(Reported(call.key, outcome_of(result), call.started))
            case Wait() as wait if not wait.is_for_others:
                self.todo.append(Due(wait.key))
        return transition

    def taken(self, key):
        run = self.state.step_run(key)
        return Taken(key) if run is not None and run.status in FRESH else Due(key)

    def settled(self):
        while self.todo:
            self.do(self.todo.pop(0))
        return self

    def send(self, signal, payload=None, **more):
        self.do(Signalled(signal, payload, **more))
        return self.settled()

    def results(self):
        processed = [x for x in self.log if isinstance(x, e.TaskProcessed)]
        return [x.outcome.result for x in processed]


def kept_of(world, signal):
    """The payloads of one name that nobody has waited for."""
    buffer = world.state.signal_buffers.get(signal)
    return [] if buffer is None else [one.payload for one in buffer.kept]


def test_a_signal_gives_its_payload_to_the_task_that_waits():
    world = World(ONE).begin()
    assert world.state.status is RunStatus.WAITING
    [waits] = pending(world.state)
    assert (waits.key.step, waits.signal, waits.deadline) == ("pay", "paid", 60 * SECOND)
    world.send("paid", {"amount": 12}, by="ann")
    assert world.state.status is RunStatus.DONE
    assert world.state.last_result == {"amount": 12}
    [came] = [x for x in world.log if isinstance(x, e.SignalReceived)]
    assert (came.step, came.signal, came.by, came.kept) == ("pay", "paid", "ann", None)


def test_a_signal_of_another_name_is_kept_and_moves_nothing():
    world = World(ONE).begin().send("shipped", 1)
    assert world.state.status is RunStatus.WAITING
    assert kept_of(world, "shipped") == [1]
    assert [x.step for x in world.log if isinstance(x, e.SignalReceived)] == [None]


def test_signals_that_come_early_are_taken_up_in_their_order():
    world = World(TWICE)
    world.do(Requested("1", {}))
    for number in (1, 2, 3):
        world.do(Signalled("paid", number))
    world.settled()
    assert world.results() == [1, 2]
    assert kept_of(world, "paid") == [3]
    taken = [x for x in world.log if isinstance(x, e.SignalReceived) and x.kept is not None]
    assert [x.payload for x in taken] == [None, None]  # the log has a payload once


def test_one_signal_serves_one_wait():
    world = World(TWICE).begin().send("paid", 1)
    assert world.state.status is RunStatus.WAITING
    assert world.results() == [1]
    assert world.send("paid", 2).results() == [1, 2]
    assert world.state.status is RunStatus.DONE


def test_of_several_iterations_the_one_that_has_waited_longest_is_served():
    world = World(LOOP).begin()
    for number in (7, 8, 9):
        world.send("paid", number)
    assert world.state.results["each"].result["results"] == [7, 8, 9]


def test_the_same_id_again_changes_nothing_even_when_it_was_served_long_ago():
    world = World(TWICE).begin().send("paid", 1, id="a").send("paid", 1, id="a")
    assert world.results() == [1]
    assert world.send("paid", 2, id="b").results() == [1, 2]


def test_signals_of_two_names_may_have_the_same_id():
    world = World(RACE).begin().send("other", 1, id="a").send("left", 2, id="a")
    assert kept_of(world, "other") == [1]
    assert world.send("right", 3, id="a").state.last_result == 3
    assert world.do(Signalled("other", 4, "a")).events == []


def test_a_signal_that_does_not_come_is_a_timeout():
    world = World(ONE).begin()
    world.now = 60 * SECOND
    world.do(Due(pending(world.state)[0].key))
    assert world.state.status is RunStatus.FAILED
    assert world.state.failure["kind"] == "timeout"
    assert world.state.failure["retryable"] is True
    assert "'paid' did not come in 60 s" in world.state.failure["message"]


def test_a_signal_after_the_deadline_serves_the_next_wait():
    world = World(AGAIN).begin()
    key = pending(world.state)[0].key
    world.now = 10 * SECOND + 1
    world.send("paid", "late")  # nobody has told the wait that it is over
    assert world.state.status is RunStatus.WAITING
    world.do(Due(key))
    world.now += 2 * SECOND
    world.settled()
    assert world.results() == [None, "late"]


def test_a_signal_at_the_very_deadline_is_in_time():
    world = World(ONE).begin()
    world.now = 60 * SECOND
    assert world.send("paid", 1).state.status is RunStatus.DONE


def test_the_deadline_of_the_step_counts_too():
    document = ONE.replace(
        "    next: [{step: last}]", "    spec: {policy: {lifecycle: {timeout_s: 5}}}", 1
    )
    world = World(document).begin()
    world.now = 5 * SECOND + 1
    world.send("paid", 1)
    assert kept_of(world, "paid") == [1]
    world.do(Due(pending(world.state)[0].key))
    assert "lifecycle.timeout_s" in world.state.failure["message"]


def test_a_timeout_is_retried_like_any_error():
    report = play(AGAIN, outcomes={"pay": [{"signal": 1, "takes": 99}, {"signal": 2, "takes": 3}]})
    assert (report["status"], report["attempts"], report["elapsed"]) == ("done", {"pay": 2}, 14.0)


def test_a_paused_run_keeps_what_comes_and_goes_on_with_it():
    world = World(TWICE).begin()
    world.do(Paused())
    world.send("paid", 1).send("paid", 2)
    assert (world.results(), world.state.status) == ([], RunStatus.PAUSED)
    world.do(Resumed())
    assert world.settled().results() == [1, 2]


def test_a_branch_that_was_cancelled_waits_no_more():
    world = World(RACE).begin()
    assert [one.signal for one in pending(world.state)] == ["left", "right"]
    world.send("left", 1)
    assert [one.key.step for one in pending(world.state)] == ["after"]
    assert world.send("right", 2).state.last_result == 2


def test_a_run_that_ended_takes_no_signal():
    world = World(ONE).begin().send("paid")
    assert world.do(Signalled("paid", 2)).events == []
    world = World(ONE).begin()
    world.do(Cancelled())
    assert world.do(Signalled("paid", 2)).events == []


def test_a_run_that_has_not_begun_takes_no_signal():
    assert World(ONE).do(Signalled("paid")).events == []


def test_what_a_run_keeps_is_bounded(monkeypatch):
    monkeypatch.setattr(signals, "SIGNALS_KEPT_MAX", 2)
    world = World(ONE).begin()
    for number in (1, 2, 3):
        world.send("x", number)
    assert kept_of(world, "x") == [1, 2]
    assert "SIGNALS_KEPT_MAX" in signals.overflow(world.state, "x", id=None, is_kept=True)
    assert kept_of(world.send("y", 4), "y") == [4]  # another sender has room of its own
    assert world.send("paid", 5).state.last_result == 5  # one that is waited for is not kept


def test_the_payloads_a_run_keeps_are_bounded_together(monkeypatch):
    monkeypatch.setattr(signals, "SIGNALS_KEPT_CHARS_MAX", 20)
    world = World(TWICE)
    world.do(Requested("1", {}))
    for text in ("x" * 10, "y" * 10, "z"):
        world.do(Signalled("paid", text))
    world.do(Signalled("other", "w" * 18))
    assert kept_of(world, "paid") == ["x" * 10, "z"]
    assert kept_of(world, "other") == ["w" * 18]
    assert {name: buffer.chars for name, buffer in world.state.signal_buffers.items()} == {
        "paid": 15,
        "other": 20,
    }
    assert list(world.settled().state.signal_buffers) == ["other"]


def test_the_ids_a_run_remembers_are_bounded(monkeypatch):
    monkeypatch.setattr(signals, "SIGNAL_IDS_MAX", 1)
    world = World(TWICE).begin().send("paid", 1, id="a").send("paid", 2, id="b")
    assert world.results() == [1]
    assert kept_of(world.send("other", 4, id="b"), "other") == [4]
    assert world.send("paid", 3).results() == [1, 3]


def test_the_names_a_run_knows_are_bounded(monkeypatch):
    monkeypatch.setattr(signals, "SIGNAL_NAMES_MAX", 2)
    world = World(TWICE).begin()
    for name in ("x", "y", "z", "x"):
        world.send(name, name)
    assert {name: kept_of(world, name) for name in "xyz"} == {"x": ["x", "x"], "y": ["y"], "z": []}
    assert "SIGNAL_NAMES_MAX" in signals.overflow(world.state, "z", id=None, is_kept=True)
    assert world.send("paid", 1, id="a").results() == []
    assert world.send("paid", 2).results() == [2]  # nothing of it has to be remembered


def test_a_name_of_which_nothing_is_left_takes_no_room(monkeypatch):
    monkeypatch.setattr(signals, "SIGNAL_NAMES_MAX", 1)
    world = World(TWICE)
    world.do(Requested("1", {}))
    world.do(Signalled("paid", 1))
    world.settled()
    assert kept_of(world.send("other", 2), "other") == [2]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ('signal: "{{ workload.none }}"', "signal must be a name"),
        ('signal: "{{ [1] }}"', "signal must be a name"),
        ("signal: \"{{ 'a b' }}\"", "signal must be a name"),
        ("signal: paid, timeout: \"{{ 'soon' }}\"", "timeout must be seconds"),
        ('signal: paid, timeout: "{{ 0 - 1 }}"', "timeout must be seconds"),
    ],
)
def test_what_is_no_wait_fails_the_task_and_says_why(inputs, problem):
    report = play(f"workflow: [{{step: s, tool: {{kind: wait, {inputs}}}}}]")
    assert report["error"]["kind"] == "config"
    assert problem in report["error"]["message"]


def test_the_name_may_be_a_template_that_is_a_number():
    document = 'workflow: [{step: s, tool: {kind: wait, signal: "{{ workload.order }}"}}]'
    report = play(document, workload={"order": 17}, signals=[{"signal": "17", "payload": 1}])
    assert (report["status"], names(report).count("signal.received")) == ("done", 1)


def test_a_payload_that_says_error_is_one():
    report = play(ONE, outcomes={"pay": [{"signal": {"status": "error", "message": "declined"}}]})
    assert (report["error"]["kind"], report["error"]["message"]) == ("tool_error", "declined")


@pytest.mark.parametrize(
    "name", ["paid", "order-17.paid", "a:b@c_d", "zürich", "x" * SIGNAL_CHARS_MAX]
)
def test_a_name_fits_into_an_address(name):
    assert is_name(name)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a/b", "..", ".", "a\n", "x" * (SIGNAL_CHARS_MAX + 1)]
)
def test_what_is_no_name(name):
    assert not is_name(name)


def test_a_simulation_that_says_nothing_of_a_signal_ends_waiting():
    assert play(TWICE)["status"] == "waiting"
    assert play(ONE)["error"]["kind"] == "timeout"


def test_a_script_may_give_a_wait_an_outcome_instead():
    report = play(ONE, outcomes={"pay": [{"result": {"amount": 3}}]})
    assert report["status"] == "done"
    assert rows(report, "signal.waiting") == []


def test_signals_of_a_script_come_at_their_time():
    sent = [{"signal": "paid", "payload": 1, "at": 2, "id": "a"}] * 2
    simulation = simulated(TWICE, signals=[*sent, {"signal": "paid", "payload": 2, "at": "3s"}])
    assert simulation.status is RunStatus.DONE
    came = [x for x in simulation.log if isinstance(x, e.SignalReceived)]
    assert [x.payload for x in came] == [1, 2]
    assert replay(simulation.program, simulation.log) is None


# --- what holds whatever happens -------------------------------------------------------------

STEPS = 4


def _some_document(chance):
    """A few steps that wait for two names, one after the other, beside each other and in loops."""
    steps = []
    for number in range(STEPS):
        wait = {"signal": chance.choice("ab")}
        if chance.random() < 0.5:
            wait["timeout"] = chance.choice((0, 1, 5))
        then = chance.choice(("continue", "fail", "retry, attempts: 2, delay: 1"))
        inputs = ", ".join(f"{key}: {value}" for key, value in wait.items())
        rules = f"[{{when: \"{{{{ outcome.status == 'error' }}}}\", then: {{do: {then}}}}}]"
        policy = f"spec: {{policy: {{rules: {rules}}}}}"
        tasks = f"[{{name: w{number}, kind: wait, {inputs}, {policy}}}, {{name: n{number}, kind: noop}}]"
        mode = chance.choice(("sequential", "parallel"))
        loop = f", loop: {{in: [0, 1, 2], iterator: n, spec: {{mode: {mode}}}}}"
        is_loop = chance.random() < 0.4
        later = [f"s{n}" for n in range(number + 1, STEPS)]
        targets = chance.sample(later, min(len(later), chance.choice((1, 2))))
        route = f", next: [{', '.join(targets)}]" if targets else ""
        steps.append(f"  - {{step: s{number}, tool: {tasks}{loop if is_loop else ''}{route}}}")
    return "workflow:\n" + "\n".join(steps)


class Chaos(World):
    """Whatever can happen, in any order: workers, due times, signals sent twice, pauses."""

    def __init__(self, chance):
        super().__init__(_some_document(chance))
        self.chance = chance
        self.sent = {}
        self.was_under_way = False

    def play(self):
        self.do(Requested("1", {}))
        for _ in range(120):
            self.now += self.chance.choice((0, 0, SECOND // 2))
            self.interfere()
            waiting = [Due(run.key) for run in self.state.live_step_runs() if self.is_over(run)]
            choices = self.todo + waiting
            if choices:
                chosen = self.chance.choice(choices)
                if chosen in self.todo:
                    self.todo.remove(chosen)
                self.do(chosen)

    def is_over(self, run):
        return run.resume_at is not None and run.resume_at <= self.now

    def interfere(self):
        happening = self.chance.random()
        self.was_under_way = not self.state.is_final
        if happening < 0.35:
            number = len(self.sent)
            id_ = self.chance.choice((None, f"id{self.chance.randrange(6)}"))
            signal = self.chance.choice("ab")
            is_new = id_ is None or (signal, id_) not in self.sent.values()
            is_taken = bool(self.do(Signalled(signal, number, id_)).events)
            assert is_taken == (is_new and self.was_under_way)
            if is_taken:
                self.sent[number] = (signal, id_)
        elif happening < 0.40:
            self.do(Paused())
        elif happening < 0.50:
            self.do(Resumed())
        elif happening < 0.503:
            self.do(Cancelled())


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_each_signal_serves_at_most_one_wait_and_each_wait_is_served_at_most_once(seed):
    world = Chaos(Random(seed))
    world.play()
    log = world.log
    assert fold(log) == world.state
    assert replay(world.program, log) is None
    kept = decode_snapshot(snapshot_format(), encode_snapshot(world.state))
    assert kept == world.state

    came = {x.seq: x for x in log if isinstance(x, e.SignalReceived) and x.kept is None}
    assert [x.payload for x in came.values()] == list(world.sent)
    ids = Counter((x.signal, x.id) for x in came.values() if x.id is not None)
    assert set(ids.values()) <= {1}
    served = [x for x in log if isinstance(x, e.SignalReceived) and x.step is not None]
    origins = [x.seq if x.kept is None else x.kept for x in served]
    assert len(set(origins)) == len(origins)

    # Of one name, what was kept is taken up in the order it came.
    for name in "ab":
        taken = [x.kept for x in served if x.kept is not None and x.signal == name]
        assert taken == sorted(taken)
    # Nothing is lost: what came has served someone, or is still there.
    left = {one.seq for one in _kept(world.state)}
    assert set(origins) | left == set(came)
    assert not set(origins) & left
    for name, buffer in world.state.signal_buffers.items():
        assert buffer.chars == sum(one.chars for one in buffer.kept)
        assert set(buffer.ids) == {id_ for signal, id_ in ids if signal == name}
        assert buffer.kept or buffer.ids
    _check_waits(log)
    if world.state.status in (RunStatus.RUNNING, RunStatus.WAITING):
        live = world.state.live_step_runs()
        only = bool(live) and all(run.status is StepRunStatus.AWAITING for run in live)
        assert (world.state.status is RunStatus.WAITING) == only
        assert world.state.asking == sum(run.status is StepRunStatus.AWAITING for run in live)


def _kept(state):
    return [one for buffer in state.signal_buffers.values() for one in buffer.kept]


def _check_waits(log):
    """Every wait ends once: with a signal of its name, or in silence; its result is that signal's."""
    open_, payloads = {}, {x.seq: x.payload for x in log if isinstance(x, e.SignalReceived)}
    heard = {}
    for event in log:
        place = (event.step, event.visit, event.iteration)
        match event:
            case e.SignalWaiting():
                assert place not in open_
                open_[place] = event.signal
            case e.SignalReceived() if event.step is not None:
                assert open_.pop(place) == event.signal
                heard[place] = event.payload if event.kept is None else payloads[event.kept]
            case e.SignalTimedOut():
                assert open_.pop(place) == event.signal
            case e.TaskProcessed() if place in heard:
                assert event.outcome.result == heard.pop(place)
