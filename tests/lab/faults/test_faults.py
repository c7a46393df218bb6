"""Each fault really happens, in the way it says, and only when it is asked for."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.errors import ConfigError, EngineBug
from anew.lab.faults import FAULTS, outages, read_faults, simulate_faults
from anew.lab.faults import campaign as campaigns
from anew.lab.faults import seeded_faults as model
from anew.lab.faults.chance import FAULTS_MAX, seed_of_run
from anew.lab.faults.kinds import CLOCK, DUPLICATE, KILL, REFUSE, SLOW
from anew.lab.outcome_sources import ScriptedOutcomes
from anew.lab.script import script_of
from anew.runtime import leases, turns
from anew.surfaces.cli.simulate import FAULTS_HELP
from tests.lab.faults.documents import (
    CHARGE,
    EVERY_FAULT,
    FLAKY,
    RETRIED,
    broken,
    campaign,
    events_of,
    played,
    program_of,
    runs_of,
)

LOOP = """
workflow:
  - step: fan
    loop: {in: "{{ range(8) | list }}", iterator: n, spec: {mode: parallel}}
    tool: {kind: python, code: "result = 1"}
"""
LONG = {"outcomes": {"fan": [{"result": {}, "takes": 10}]}}
SIGNALLED = """
workflow:
  - step: hear
    tool: {kind: wait, signal: go, timeout: 60}
    next: again
  - step: again
    tool: {kind: wait, signal: go, timeout: 60}
"""


def injected(report):
    return sum((Counter(record.injected) for record in report.records), Counter())


def test_the_same_seed_gives_the_same_report_and_another_seed_another():
    first, again = played(RETRIED, FLAKY), played(RETRIED, FLAKY)
    assert first.report() == again.report()
    assert played(RETRIED, FLAKY, seed=2).report() != first.report()


def test_a_run_of_many_can_be_played_alone():
    report = played(RETRIED, FLAKY, runs=20)
    alone = campaign(RETRIED, FLAKY, faults=EVERY_FAULT).play(17)
    assert alone.injected == report.records[16].injected
    assert alone.simulation.status.value == report.records[16].status


def test_a_fault_that_is_added_does_not_move_the_others():
    def losses(*faults):
        runs = runs_of(RETRIED, FLAKY, faults=dict.fromkeys(faults, 0.3))
        return [[one.what for one in run.struck if one.fault == KILL] for run in runs]

    # What comes twice changes nothing, so that the same calls are made.
    assert losses(KILL) == losses(KILL, DUPLICATE)
    assert any(losses(KILL))


def test_the_seed_of_a_run_never_changes():
    assert seed_of_run(7, 1) == 60693930503970480


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_happens_when_it_is_asked_for_and_else_never(fault):
    report = played(RETRIED, FLAKY, faults={fault: 0.3})
    assert set(injected(report)) == {fault}
    assert injected(played(RETRIED, FLAKY, faults={fault: 0.0})) == Counter()
    assert broken(report) == set()


def test_without_faults_the_runs_are_what_the_script_says():
    (run,) = runs_of(RETRIED, FLAKY, faults={}, number=1)
    assert run.simulation.status == "done"
    assert [x.attempt for x in events_of(run, e.TaskStarted) if x.task == "charge"] == [1, 2, 3]
    assert run.effects() == {"look": 1, "charge": 1, "tell": 1}


def test_a_lost_worker_is_replaced_with_the_same_attempt_and_key():
    for run in runs_of(RETRIED, faults={KILL: 0.3}):
        handed_out = events_of(run, e.StepRedelivered)
        begun = [(x.task, x.attempt) for x in events_of(run, e.TaskStarted)]
        assert all(attempt == 1 for _, attempt in begun)
        assert len({x.idempotency_key for x in run.ledgers[0].executions}) == len(set(begun))
        assert len(begun) == len(set(begun)) + len(handed_out)


def test_a_step_run_that_loses_too_many_workers_is_given_up():
    (run,) = runs_of(RETRIED, faults={KILL: 1.0}, number=1)
    assert run.simulation.state.failure["kind"] == "worker_lost"
    assert len(events_of(run, e.TaskStarted)) == 3
    assert run.broken == []


def test_a_machine_that_dies_takes_all_its_workers_along():
    runs = runs_of(LOOP, LONG, faults={KILL: 0.05})
    crashes = [run for run in runs if any("machine" in one.what for one in run.struck)]
    assert crashes
    assert max(len(events_of(run, e.StepRedelivered)) for run in crashes) >= 7


def test_a_worker_that_is_only_cut_off_has_its_effect_and_its_report_is_refused():
    runs = runs_of(RETRIED, faults={KILL: 0.3}, number=60)
    cut = [run for run in runs if [x.what for x in run.struck if "cut off" in x.what]]
    assert any(max(run.effects().values()) > 1 for run in cut)
    assert all(run.broken == [] for run in cut)
    assert any(late_reports(run) for run in cut)


def late_reports(run):
    """Reports that came, of an execution the log knows, and changed nothing."""
    turns_of = run.ledgers[0].turns
    return [turn for turn in turns_of if turn.started is not None and turn.after == turn.before]


def test_a_killed_call_sometimes_had_its_effect_and_sometimes_not():
    told = [one.what for run in runs_of(RETRIED, faults={KILL: 0.3}) for one in run.struck]
    assert any("after its effect" in what for what in told)
    assert any("before its effect" in what for what in told)


@pytest.mark.parametrize(
    "carried",
    [
        "kind: http, url: 'http://x', idempotency_key: true",
        "kind: http, url: 'http://x', idempotency_key: 'invoice 7'",
        "kind: http, url: 'http://x', idempotency_key: 7",
        "kind: http, url: 'http://x', headers: {x-key: '{{ _key }}'}",
        "kind: python, code: 'pay(_key)'",
        "kind: shell, command: 'pay --key $ANEW_IDEMPOTENCY_KEY'",
    ],
)
def test_an_effect_counts_once_where_the_other_side_knows_the_key(carried):
    document = f"workflow: [{{step: pay, tool: {{{carried}}}}}]"
    naked = "workflow: [{step: pay, tool: {kind: http, url: 'http://x', idempotency_key: ''}}]"
    most = [
        max(record.effects["pay"] for record in played(one, faults={KILL: 0.5}).records)
        for one in (document, naked)
    ]
    assert most[0] == 1
    assert most[1] > 1


def test_another_visit_of_a_task_is_another_effect():
    document = """
workflow:
  - step: pages
    tool:
      - page:
          kind: http
          url: http://x
          idempotency_key: true
          spec:
            policy:
              rules:
                - when: "{{ (iter.seen or 0) < 2 }}"
                  then: {do: jump, to: page, set_iter: {seen: "{{ (iter.seen or 0) + 1 }}"}}
                - else: {then: {do: continue}}
"""
    (run,) = runs_of(document, faults={}, number=1)
    assert run.effects() == {"page": 3}


def test_deliveries_come_twice_at_once_and_later():
    told = [
        one.what for run in runs_of(RETRIED, FLAKY, faults={DUPLICATE: 0.5}) for one in run.struck
    ]
    words = ("the request", "the job of", "the report of", "the due time of")
    for word in words:
        assert any(what.startswith(word) and "at once" in what for what in told)
        assert any(what.startswith(word) and "later" in what for what in told)


def test_a_signal_without_an_id_that_comes_twice_serves_two_waits():
    script = {"outcomes": {"hear": [{"signal": {"n": 1}}]}}
    statuses = {
        run.simulation.status for run in runs_of(SIGNALLED, script, faults={DUPLICATE: 0.5})
    }
    assert statuses == {"done", "failed"}


def test_a_signal_with_an_id_that_comes_twice_serves_one():
    script = {"signals": [{"signal": "go", "id": "one", "at": 5}]}
    runs = runs_of(SIGNALLED, script, faults={DUPLICATE: 0.9})
    assert {run.simulation.status for run in runs} == {"failed"}


def test_answers_that_come_twice_are_taken_once():
    document = "workflow: [{step: ask, tool: {kind: human, question: ok?, choices: [yes, no]}}]"
    script = {"outcomes": {"ask": [{"answer": "yes", "takes": 3}]}}
    for run in runs_of(document, script, faults={DUPLICATE: 0.9}):
        assert len(events_of(run, e.HumanAnswered)) == 1
        assert run.simulation.status == "done"
        assert run.broken == []


@pytest.mark.parametrize("takes", [59, 61])
def test_a_person_is_asked_once_however_often_someone_looks(monkeypatch, takes):
    document = "workflow: [{step: ask, tool: {kind: human, question: ok?, timeout: 60}}]"
    script = {"outcomes": {"ask": [{"answer": "yes", "takes": takes}]}}
    asked, tell = [], ScriptedOutcomes.next
    monkeypatch.setattr(
        ScriptedOutcomes, "next", lambda self, one: asked.append(one) or tell(self, one)
    )
    playing = campaign(document, script, faults={CLOCK: 0.9, DUPLICATE: 0.9})
    for index in range(1, 200):
        asked.clear()
        run = playing.play(index)
        assert len(asked) == len(events_of(run, e.HumanWaiting)) == 1
        assert run.broken == []


def test_a_slow_call_meets_its_time_limit_even_one_that_only_the_tool_has():
    runs = runs_of(RETRIED, faults={SLOW: 0.5})
    errors = [x.outcome.error for run in runs for x in events_of(run, e.TaskProcessed)]
    late = [error for error in errors if error is not None]
    assert late
    assert {error["kind"] for error in late} == {"timeout"}
    assert any("within 30 s" in error["message"] for error in late)


def test_a_slow_person_misses_the_deadline():
    document = "workflow: [{step: ask, tool: {kind: human, question: ok?, timeout: 60}}]"
    script = {"outcomes": {"ask": [{"answer": "yes", "takes": 50}]}}
    runs = runs_of(document, script, faults={SLOW: 0.5})
    assert any(events_of(run, e.HumanTimedOut) for run in runs)
    assert any(events_of(run, e.HumanAnswered) for run in runs)
    assert all(run.broken == [] for run in runs)


def test_refusals_come_in_bursts_that_hit_every_task_of_a_host():
    """Both tasks call the bank in one instant: they are refused together or not at all."""
    document = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [a, b, c]
  - {step: a, tool: {kind: http, url: "http://bank/1"}}
  - {step: b, tool: {kind: http, url: "http://bank/2"}}
  - {step: c, tool: {kind: http, url: "http://post/1"}}
"""
    seen = set()
    for run in runs_of(document, faults={REFUSE: 0.5}, number=60):
        refused = {x.step for x in events_of(run, e.TaskProcessed) if x.outcome.is_error}
        seen.add(frozenset(refused))
    assert seen == {frozenset(), frozenset("ab"), frozenset("c"), frozenset("abc")}


def test_a_refused_http_call_says_when_to_come_again():
    wishes = set()
    for run in runs_of(CHARGE, faults={REFUSE: 0.5}, number=60):
        for event in events_of(run, e.TaskRetryScheduled):
            assert event.retry_after_seconds is not None
            wishes.add(event.delay_seconds > 2)
    assert wishes == {True, False}


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("{kind: python, code: 'result = 1'}", "connection"),
        ("{kind: postgres, auth: pg, command: 'select 1'}", "db_connection"),
        ("{kind: sqlite, command: 'select 1'}", "db_timeout"),
        ("{kind: shell, command: 'true'}", "exit_code"),
        ("{kind: agent, prompt: hello}", "rate_limit"),
    ],
)
def test_other_tools_fail_in_their_own_words(tool, kind):
    report = played(f"workflow: [{{step: only, tool: {tool}}}]", faults={REFUSE: 1.0}, runs=1)
    assert report.records[0].error_kind == kind


@pytest.mark.parametrize("tool", ["{kind: noop}", "{kind: sleep, seconds: 1}"])
def test_what_has_no_other_side_is_never_refused(tool):
    report = played(f"workflow: [{{step: only, tool: {tool}}}]", faults={REFUSE: 1.0}, runs=1)
    assert (report.records[0].status, report.records[0].injected) == ("done", {})


@pytest.mark.parametrize("rate", [1e-12, 1e-300, 5e-324])
def test_however_rarely_a_dependency_is_out_the_runs_are_played(rate):
    report = played(RETRIED, faults={REFUSE: rate}, runs=3)
    assert [record.status for record in report.records] == ["done"] * 3


def test_a_long_wait_between_two_calls_costs_few_draws_and_keeps_the_rate():
    class Counted(Random):
        drawn = 0

        def random(self):
            self.drawn += 1
            return super().random()

    years, is_out = 30 * 365 * 86_400 * NANOSECONDS, 0
    for seed in range(1000):
        random = Counted(seed)
        is_out += outages._Dependency(random, 0.3, 0).seconds_left(years) is not None
        assert random.drawn <= 10
    assert 250 < is_out < 350


def test_the_clock_goes_forward_and_back_and_the_log_with_it():
    steps = set()
    for run in runs_of(RETRIED, FLAKY, faults={CLOCK: 0.5}, number=60):
        log = run.simulation.log
        steps |= {(b.at - a.at) // (60 * NANOSECONDS) for a, b in pairwise(log)}
        assert run.broken == []
    assert min(steps) < -1
    assert max(steps) > 1


def test_the_clock_is_ahead_and_behind_by_little_and_by_much():
    runs = runs_of(RETRIED, FLAKY, faults={CLOCK: 0.5}, number=60)
    seen = [turn for run in runs for turn in run.ledgers[0].turns]
    off = [(turn.shown - turn.now) / NANOSECONDS for turn in seen]
    assert min(off) < -60
    assert max(off) > 60
    assert any(-0.5 <= one < 0 for one in off)
    assert any(0 < one <= 0.5 for one in off)


def test_a_wait_ends_when_the_clock_shows_its_moment():
    """A clock that is set forward ends it at once, one that is set back makes it longer."""
    waited = []
    for run in runs_of(CHARGE, FLAKY, faults={CLOCK: 0.9}, number=60):
        turn_of = {
            seq: turn
            for turn in run.ledgers[0].turns
            for seq in range(turn.before + 1, turn.after + 1)
        }
        due = None
        for event in run.simulation.log:
            turn = turn_of[event.seq]
            if isinstance(event, e.TaskRetryScheduled):
                due, since = event.not_before, turn.now
            elif isinstance(event, e.TaskStarted) and due is not None:
                assert turn.shown >= due
                waited.append((turn.now - since) / NANOSECONDS)
                due = None
    assert len(waited) == 120
    assert min(waited) == 0
    assert max(waited) > 60


def test_faults_stop_so_that_a_run_can_end():
    endless = CHARGE.replace("attempts: 3", "attempts: 1000000").replace("honor_", "# honor_")
    endless = endless.replace("delay: 2, # honor_retry_after: true}", "delay: 2}")
    (run,) = runs_of(endless, faults={REFUSE: 1.0, CLOCK: 1.0}, number=1)
    assert len(run.struck) == FAULTS_MAX
    assert run.broken == []


def test_a_run_that_faults_drive_in_circles_for_ever_is_found():
    document = """
workflow:
  - step: look
    tool: {kind: http, url: "http://x"}
    next: [{step: look, when: "{{ event.name == 'step.failed' or ctx.bad }}"}, {step: end}]
  - {step: end, tool: {kind: noop}}
"""
    marked = document.replace(
        "tool: {kind: http",
        "tool: {spec: {policy: {rules: [{when: \"{{ outcome.status == 'error' }}\", "
        "then: {do: fail, set_ctx: {bad: true}}}, {else: {then: {do: continue}}}]}}, kind: http",
    )
    report = played(marked, faults={REFUSE: 1.0}, runs=1)
    assert broken(report) == {"comes-to-an-end"}


def test_a_script_that_never_ends_by_itself_is_refused():
    document = "workflow: [{step: round, tool: {kind: noop}, next: round}]"
    with pytest.raises(ConfigError, match="is still running"):
        played(document, runs=1)


def test_the_model_has_the_numbers_of_the_runtime():
    assert leases.LEASE_SECONDS == model.LEASE_SECONDS


def test_the_clocks_are_reconciled_by_the_runtime_itself(monkeypatch):
    """With a runtime that lets the log go back in time, the auditor finds that it does."""
    monkeypatch.setattr(turns, "SKEW_SECONDS_MAX", 0)
    assert broken(played(RETRIED, FLAKY, faults={CLOCK: 0.9})) == {"in-time"}


def test_whatever_goes_wrong_inside_a_run_is_told_of_that_run(monkeypatch):
    def play(world):
        raise ZeroDivisionError("by us")

    playing = campaign(RETRIED, FLAKY, faults={})
    monkeypatch.setattr(campaigns.World, "play", play)
    (found,) = playing.play(3).broken
    assert (found.invariant, found.why) == ("no-engine-bug", "ZeroDivisionError: by us")


def test_a_run_that_cannot_be_judged_is_named_with_its_seed(monkeypatch):
    def audit(evidence):
        raise KeyError("nobody")

    playing = campaign(RETRIED, FLAKY, faults={}, seed=8)
    monkeypatch.setattr(campaigns, "audit", audit)
    with pytest.raises(EngineBug, match=r"run 3 of seed 8: KeyError: 'nobody'"):
        playing.play(3)


def test_rates_are_read():
    assert read_faults("kill") == {KILL: FAULTS[KILL].rate}
    assert read_faults("kill=0.3, 429=1,clock=0") == {KILL: 0.3, REFUSE: 1.0, CLOCK: 0.0}
    assert read_faults("kill=0.9,all") == {n: f.rate for n, f in FAULTS.items()} | {KILL: 0.9}
    assert read_faults("all=0.5") == dict.fromkeys(FAULTS, 0.5)
    assert read_faults("slow,all=0.5,kill=0") == {
        **dict.fromkeys(FAULTS, 0.5),
        SLOW: FAULTS[SLOW].rate,
        KILL: 0.0,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kil", "Did you mean 'kill'"),
        ("", "Known are kill"),
        ("kill=2", "from 0 to 1, not '2'"),
        ("kill=x", "from 0 to 1, not 'x'"),
        ("kill=nan", "from 0 to 1"),
        ("all=2", "the rate of all must be a number from 0 to 1"),
    ],
)
def test_a_fault_that_cannot_be_meant_is_refused(text, told):
    with pytest.raises(ConfigError, match=told):
        read_faults(text)


def test_the_help_names_every_fault():
    assert [line.split()[0] for line in FAULTS_HELP.splitlines()] == [*FAULTS, "all"]


def test_a_run_that_begins_anew_for_ever_is_found_in_whichever_run_it_is():
    document = """
digraph again {
  start [shape=Mdiamond]; done [shape=Msquare]
  work [shape=parallelogram, tool_command="make"]
  start -> work -> done
  work -> start [condition="outcome=fail", loop_restart=true]
}
"""
    program = program_of(document, "again.dot")
    for events_max in range(30, 60):
        report = simulate_faults(
            program, script_of({}), faults={REFUSE: 1.0}, runs=1, events_max=events_max
        )
        assert broken(report) == {"comes-to-an-end"}
