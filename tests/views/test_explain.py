"""Why a run did what it did: nothing is left out, and the numbers are the engine's."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.moments import NANOSECONDS
from anew.errors import ConfigError
from anew.lab.script import read_script, script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages import load_text
from anew.program.program import Program
from anew.values import Object
from anew.views.explain.explaining import PARAGRAPHS_SHOWN_MAX, explanation, shortened
from anew.views.explain.loops import ITERATIONS_TOLD_MAX
from anew.views.explain.paragraph import About, DelayParts, Paragraph, paragraph_row
from anew.views.explain.ways import ARCS_SHOWN
from anew.views.wording import exact_seconds
from tests.corpus import Played, corpus, corpus_parts
from tests.generated import playbooks, scripts
from tests.play import BOOM, simulated
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY, upto

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "explanations"
CORPUS, PARTS = corpus(), corpus_parts()
EVENTS_MAX = 200
# Rewritten with ANEW_UPDATE_EXPLANATIONS=1; read the difference before committing it.
IS_UPDATING = os.environ.get("ANEW_UPDATE_EXPLANATIONS") == "1"
GOLDEN_SCRIPTS = (
    "docs/examples/retry_after.script.yaml",
    "docs/examples/handled.script.yaml",
    "docs/examples/gate.script.yaml",
    "docs/examples/fan_out.script.yaml",
    "docs/examples/parallel.script.yaml",
    "docs/examples/goal.never.script.yaml",
    "docs/examples/page_retried.script.yaml",
    "docs/examples/page_asked.script.yaml",
    "docs/examples/page_forked.script.yaml",
    "examples/graphs/routing/choice.script.yaml",
    "examples/graphs/failures/fallback.script.yaml",
)


_EXPLAINED: dict[tuple[str, bool], list[Paragraph]] = {}


def explanation_of(played: Played, program: Program | None) -> list[Paragraph]:
    """What is told at the end of its log; made once, and not to be changed."""
    key = (played.name, program is None)
    if key not in _EXPLAINED:
        log = played.simulation.log
        _EXPLAINED[key] = explanation(log, program, now=log[-1].at)
    return _EXPLAINED[key]


def accounted(paragraphs: list[Paragraph]) -> Counter[int]:
    return Counter(seq for told in paragraphs for seq in told.events)


def text_of(paragraphs: list[Paragraph]) -> str:
    return "\n".join(f"{told.head}: {' '.join(told.sentences)}" for told in paragraphs)


def explained(simulation: Simulation, **more: object) -> str:
    return text_of(explanation(simulation.log, simulation.program, **more))  # type: ignore[arg-type]


# --- every log -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_every_event_of_a_log_is_accounted_for_once(part: list[Played]) -> None:
    for played in part:
        for program in (played.program, None):
            _check_log(played, program)


def _check_log(played: Played, program: Program | None) -> None:
    log, paragraphs = played.simulation.log, explanation_of(played, program)
    assert accounted(paragraphs) == Counter(event.seq for event in log), played.name
    assert all(told.sentences and all(told.sentences) for told in paragraphs), played.name
    retries = [told for told in paragraphs if told.delay is not None]
    loops = [told for told in paragraphs if told.about is About.LOOP]
    scheduled = sum(isinstance(event, e.TaskRetryScheduled) for event in log)
    assert len(retries) == scheduled or loops, played.name
    assert all("Delay: " in " ".join(told.sentences) for told in retries), played.name
    _check_ways(log, paragraphs)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(playbooks(), scripts(), st.floats(0, 1))
def test_any_part_of_a_generated_log_is_explained(
    document: str, script: Object, share: float
) -> None:
    """A run may be looked at whenever it is under way."""
    program = load_text(document, "flow.yaml").program
    assume(program is not None)
    assert program is not None
    try:
        whole = simulate(program, script_of(script), events_max=EVENTS_MAX).log
    except ConfigError:
        assume(False)  # it goes round for ever
    log = whole[: max(1, round(len(whole) * share))]
    paragraphs = explanation(log, program, now=log[-1].at)
    told = accounted(paragraphs)
    untold = [event for event in log if told[event.seq] != 1]
    # The outcome of a retry is told with the decision, which the same commit writes.
    assert all(isinstance(event, e.TaskProcessed) and event is log[-1] for event in untold)


def _check_ways(log: list[e.Event], paragraphs: list[Paragraph]) -> None:
    """Each look at arcs and gates has a paragraph whose sentences say what it came to."""
    found = {seq: told for told in paragraphs for seq in told.events}
    if sum(isinstance(event, e.RunRequested) for event in log) > 1:
        return  # runs in each other's place count their events from 1 again
    for event in log:
        if isinstance(event, e.NextEvaluated):
            text = " ".join(found[event.seq].sentences)
            for token in event.tokens:
                assert token["to"] in text
            assert event.tokens or text
        if isinstance(event, e.GateChecked):
            told = found[event.seq]
            assert told.about is About.GATE
            assert all(name in " ".join(told.sentences) for name in event.goals)


def test_the_numbers_of_every_delay_make_it() -> None:
    seen: Counter[str] = Counter()
    for played in CORPUS:
        for told in explanation_of(played, played.program):
            if told.delay is not None:
                seen[f"{told.delay.backoff} {told.delay.jitter}"] += 1
                assert told.delay.seconds == pytest.approx(recomputed(told.delay), abs=1e-9)
                sentence = next(text for text in told.sentences if text.startswith("Delay: "))
                assert exact_seconds(told.delay.seconds) in sentence
    assert sum(seen.values()) > 300
    assert {"decorrelated", "full", "equal", "true", "none"} <= {key.split()[1] for key in seen}


def recomputed(parts: DelayParts) -> float:
    """playbook.md#how-long-a-retry-waits, written down once more."""
    base, cap = parts.base, float("inf") if parts.cap is None else parts.cap
    draw = parts.draw or 0.0
    if parts.first is not None:
        base = _base(parts, parts.first)
        assert base == pytest.approx(parts.base)
    spread = min(base, cap) * _factor(parts.jitter, draw)
    assert spread == pytest.approx(parts.spread)
    return spread if parts.retry_after is None else min(max(spread, parts.retry_after), cap)


def _base(parts: DelayParts, first: float) -> float:
    if parts.jitter == "decorrelated":
        assert parts.previous is not None
        return first + (3 * parts.previous - first) * (parts.draw or 0.0)
    match parts.backoff:
        case "none":
            return 0.0
        case "fixed":
            return first
        case "linear":
            return first * parts.k
        case _:
            assert parts.factor is not None
            return float(first * parts.factor ** (parts.k - 1))


def _factor(jitter: str | float, draw: float) -> float:
    match jitter:
        case "true":
            return 0.5 + draw
        case "full":
            return draw
        case "equal":
            return 0.5 + 0.5 * draw
        case float():
            return 1 + jitter * draw
        case _:
            return 1.0


@pytest.mark.parametrize("name", GOLDEN_SCRIPTS)
def test_an_explanation_reads_as_it_did(name: str) -> None:
    script = ROOT / name
    stem = script.name.split(".")[0]
    document = next(p for s in (".yaml", ".dot") if (p := script.with_name(stem + s)).exists())
    program = load_text(document.read_bytes(), document.name).program
    assert program is not None
    log = simulate(program, read_script(script.read_bytes(), script.name)).log
    lines = []
    for told in explanation(log, program, now=log[-1].at):
        seconds = (told.at - log[0].at) / NANOSECONDS
        relation = f" ({told.relation})" if told.relation else ""
        lines += [f"{seconds:9.3f}  {told.head}{relation}", *(f"    {s}" for s in told.sentences)]
    now, golden = (
        "\n".join([*lines, ""]),
        GOLDEN / f"{script.name.removesuffix('.script.yaml')}.txt",
    )
    if IS_UPDATING:
        golden.write_text(now, encoding="utf-8")
    assert now == golden.read_text(encoding="utf-8")


# --- attempts ------------------------------------------------------------------------------------


def test_a_retry_names_the_rule_its_line_and_both_delays() -> None:
    told = explained(simulated(RETRY, outcomes={"page": [BUSY, {"result": 1}]}))
    assert (
        "fetch.page, attempt 2: Attempt 1 ended with HTTP 429: slow down (rate_limit). Rule 1 of "
        "page (test.yaml:11:17) matches: `outcome.status == 'error'`; it allows 4 attempts, 1 was "
        "made. Delay: fixed, 2.0 s, no cap, no jitter; Retry-After asked for 60.0 s, which is "
        "longer: 60.0 s. It succeeded."
    ) in told


def test_without_the_program_the_log_is_still_explained() -> None:
    log = simulated(RETRY, outcomes={"page": [BUSY, {"result": 1}]}).log
    told = text_of(explanation(log))
    assert "Rule 1 of page matches; it allows 4 attempts, 1 was made." in told
    assert "Retry-After asked for 60.0 s" in told
    assert "Arc 1 to store was taken: it has no condition." in told


def test_spent_attempts_say_so_and_why_nobody_handles_the_failure() -> None:
    told = explained(simulated(RETRY, outcomes={"page": [DOWN]}))
    assert "It allows 4 attempts and 4 were made: they are spent, which fails the step." in told
    assert "Arc 1 to store (test.yaml:13:19) was not taken: it is for success only." in told
    assert "No arc of fetch handles the failure, and nothing else takes it." in told
    assert told.splitlines()[-1].startswith("the run: It failed: server_error: 503.")


def test_a_budget_that_all_visits_share_is_told_in_retries() -> None:
    """An execution that begins a visit costs nothing of it."""
    graph = """digraph g {
      start [shape=Mdiamond]; plan [prompt=p]; exit [shape=Msquare]
      build [shape=parallelogram tool_command=x max_retries=1 retry_target=plan max_visits=3]
      start -> plan -> build -> exit
    }"""
    program = load_text(graph, "g.dot").program
    assert program is not None
    simulation = simulate(program, script_of({"outcomes": {"build": [DOWN]}}))
    for told_by in (program, None):
        paragraphs = explanation(simulation.log, told_by, step="build")
        tried = [told for told in paragraphs if told.about is About.ATTEMPT]
        word = "node" if told_by is not None else "step"
        allowed = f"t allows 1 retry over all visits of the {word}, and"
        assert [(told.visit, told.attempt) for told in tried] == [(1, 1), (1, 2), (2, 1), (3, 1)]
        assert f"i{allowed} this is number 1." in " ".join(tried[1].sentences)
        for told in tried[1:]:
            spent = f"I{allowed} 1 was made: none is left, which fails the {word}."
            assert spent in told.sentences


def test_the_budget_of_a_visit_is_told_in_attempts_whatever_another_rule_shares() -> None:
    flow = """
workflow:
  - step: a
    tool:
      kind: noop
      spec:
        policy:
          rules:
            - {when: "{{ outcome.error.kind == 'x' }}", then: {do: retry, attempts: 9, budget: step}}
            - {when: "{{ outcome.error.kind == 'y' }}", then: {do: retry, attempts: 2}}
"""
    outcomes = [{"error": {"kind": kind}} for kind in "xxy"]
    told = explained(simulated(flow, outcomes={"a": outcomes}))
    assert "it allows 8 retries over all visits of the step, and this is number 2." in told
    assert "It allows 2 attempts and 3 were made: they are spent" in told


def test_an_error_is_told_up_to_its_cause() -> None:
    message = f"{'a long way to say ' * 10}that the disk is full."
    boom = {"error": {"kind": "python_error", "message": message}}
    told = explained(simulated(RETRY, outcomes={"page": [boom]})).splitlines()
    # Three attempts have an outcome for their reason, then the step and the run fail of the last.
    assert sum("that the disk is full." in line for line in told) == 5
    assert not any("full.." in line or "…" in line for line in told)


def test_a_condition_shows_the_values_it_read() -> None:
    flow = """
workload: {most: 3}
workflow:
  - step: a
    tool:
      kind: noop
      spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: 4}}}}]}}
    next:
      arcs: [{step: b, when: "{{ ctx.n < workload.most }}"}, {step: c}]
  - {step: b, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}}
"""
    told = explained(simulated(flow))
    assert "`ctx.n < workload.most` is false (ctx.n is 4, workload.most is 3)." in told
    assert "Arc 2 to c (test.yaml:9:69) was taken: it has no condition." in told


def test_a_lost_worker_is_told_and_costs_no_attempt() -> None:
    log = simulated(RETRY).log
    started = next(n for n, event in enumerate(log) if isinstance(event, e.TaskStarted))
    lost = e.StepRedelivered(
        seq=log[started].seq + 1,
        at=log[started].at + NANOSECONDS,
        step="fetch",
        visit=1,
        delivery=2,
    )
    again = e.TaskStarted(
        seq=lost.seq + 1, at=lost.at, step="fetch", visit=1, task="page", attempt=1, task_visit=1
    )
    told = text_of(explanation([*log[: started + 1], lost, again]))
    assert "fetch.page, attempt 1: Its worker was lost: another one continues" in told


# --- ways ----------------------------------------------------------------------------------------


def test_a_step_that_was_not_entered_says_which_arc_was_false() -> None:
    flow = """
workflow:
  - step: a
    tool: {kind: noop}
    next: {arcs: [{step: b, when: "{{ workload.go }}"}, {step: c}]}
  - {step: b, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}}
  - {step: d, tool: {kind: noop}}
"""
    simulation = simulated(flow, workload={"go": False})
    told = explained(simulation, step="b")
    assert "b was never entered. After a: Arc 1 to b (test.yaml:5:26) was not taken: " in told
    assert "`workload.go` is false (workload.go is false)." in told
    assert "No arc that leads to it was looked at." in explained(simulation, step="d")


def test_a_step_that_was_not_entered_says_which_arc_could_not_be_asked() -> None:
    flow = """
workflow:
  - step: a
    tool: {kind: noop}
    next: {arcs: [{step: b, when: "{{ workload.go }}"}, {step: c, when: "{{ 1 + no.x > 1 }}"}]}
  - {step: b, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}}
"""
    simulation = simulated(flow)
    for step in "bc":
        told = explained(simulation, step=step)
        assert (
            f"{step} was never entered. After a: Its arcs could not be asked: expression: " in told
        )
        assert "when of the arc a -> c" in told
        assert "was looked at" not in told
    assert ". Step a failed. Nobody handles it: " in explained(simulation)  # of what has been told


def test_every_arc_that_was_not_taken_has_its_reason() -> None:
    """Also those that are too many to be told after the step."""
    count = ARCS_SHOWN + 2
    arcs = ", ".join(f'{{step: b{n}, when: "{{{{ workload.go == {n} }}}}"}}' for n in range(count))
    steps = "".join(f"  - {{step: b{n}, tool: {{kind: noop}}}}\n" for n in range(count))
    flow = (
        f"workflow:\n  - step: a\n    tool: {{kind: noop}}\n    next: {{arcs: [{arcs}]}}\n{steps}"
    )
    told = explained(simulated(flow, workload={"go": 99}), step=f"b{count - 1}")
    assert f"`workload.go == {count - 1}` is false (workload.go is 99)." in told


def test_what_was_not_entered_is_told_after_the_run_and_before_what_is_waited_for() -> None:
    flow = """
workflow:
  - step: a
    tool: {kind: human, question: "Go?"}
    next: [b]
  - {step: b, tool: {kind: noop}}
"""
    simulation = simulated(flow)
    log = upto(simulation, e.HumanWaiting)
    told = explanation(log, simulation.program, step="b", now=log[-1].at)
    assert [one.about for one in told] == [About.RUN, About.ROUTE, About.WAIT]
    assert told[1].sentences[0] == "b is not entered yet."
    done = simulated(RETRY, outcomes={"page": [DOWN]})
    ended = explanation(done.log, done.program, step="store", now=done.log[-1].at)
    assert [one.about for one in ended] == [About.RUN, About.RUN, About.ROUTE]
    assert [one.at for one in ended] == sorted(one.at for one in ended)


def test_an_explanation_of_a_step_leaves_the_others_out() -> None:
    simulation = simulated(RETRY)
    own = explanation(simulation.log, simulation.program, step="store")
    assert {told.step for told in own} == {"store", None}
    assert "Arc 1 of fetch leads here." in text_of(own)


# --- loops ---------------------------------------------------------------------------------------


def test_a_long_loop_tells_the_odd_iterations_and_counts_the_rest() -> None:
    outcomes = [{"result": 1, "times": 20}, BOOM, {"result": 1, "times": 10}, BOOM, {"result": 1}]
    simulation = simulated(LOOP % 100, outcomes={"one": outcomes})
    paragraphs = explanation(simulation.log, simulation.program)
    told = text_of(paragraphs)
    assert "each[20].one, attempt 2: Attempt 1 ended with python_error: boom." in told
    assert "each, the other iterations: 98 iterations succeeded without a retry." in told
    assert len([p for p in paragraphs if p.iteration is not None]) == 4
    assert accounted(paragraphs) == Counter(event.seq for event in simulation.log)


def test_iterations_that_have_not_ended_did_not_succeed_yet() -> None:
    simulation = simulated(LOOP % 20, outcomes={"one": [{"result": 1}]})
    starts = [n for n, event in enumerate(simulation.log, 1) if isinstance(event, e.TaskStarted)]
    none_done = text_of(explanation(simulation.log[: starts[0]], simulation.program))
    assert "succeeded" not in none_done
    assert "each, the other iterations: 1 iteration has not ended yet." in none_done
    some_done = text_of(explanation(simulation.log[: starts[5]], simulation.program))
    assert "2 iterations succeeded without a retry. 4 iterations have not ended yet." in some_done


def test_of_many_odd_iterations_only_some_are_told() -> None:
    simulation = simulated(LOOP % 40, outcomes={"one": [BOOM]})
    paragraphs = explanation(simulation.log, simulation.program)
    whole = {p.iteration for p in paragraphs if p.iteration is not None}
    assert len(whole) == ITERATIONS_TOLD_MAX
    assert "35 more iterations had trouble, 35 failed: 5, 6, 7," in text_of(paragraphs)


def test_the_iterations_of_a_loop_are_told_one_after_another_and_the_rest_at_its_end() -> None:
    """However they ran: at the same time, each retried when the others had begun."""
    flow = """
workflow:
  - step: each
    loop: {in: "{{ range(8) | list }}", iterator: n, spec: {mode: parallel}}
    tool:
      kind: noop
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2}}]}}
    next: [after]
  - {step: after, tool: {kind: noop}}
"""
    simulation = simulated(flow, outcomes={"each": [BOOM, BOOM, {"result": 1}]})
    heads = [told.head for told in explanation(simulation.log, simulation.program)]
    assert heads == [
        "the run",
        "each, its loop",
        "each[0], attempt 1",
        "each[0], attempt 2",
        "each[1], attempt 1",
        "each[1], attempt 2",
        "each, the other iterations",
        "after each",
        "after, attempt 1",
        "after after",
        "the run",
    ]


def test_in_a_loop_an_iteration_fails_and_not_the_step() -> None:
    for rules in ("[{when: '{{ outcome.error }}', then: {do: retry, attempts: 2}}]", "[]"):
        flow = f"""
workflow:
  - step: each
    loop: {{in: [1, 2], iterator: n}}
    tool: {{kind: noop, spec: {{policy: {{on_unmatched: fail, rules: {rules}}}}}}}
    next: {{arcs: [{{step: after, when: "{{{{ event.failed > 0 }}}}"}}]}}
  - {{step: after, tool: {{kind: noop}}}}
"""
        told = explained(simulated(flow, outcomes={"each": [BOOM]}))
        assert "the iteration" in told
        assert "fails the step" not in told
        assert "the step fails" not in told
        assert "The iteration failed" not in told  # the outcome and what it does have been told


def test_the_middle_of_a_long_explanation_is_left_out_and_counted() -> None:
    flow = """
workflow:
  - step: a
    tool:
      kind: noop
      spec:
        policy:
          rules:
            - {when: "{{ outcome.result < 300 }}", then: {do: jump, to: a}}
            - else: {then: {do: continue}}
"""
    results = [{"result": n} for n in range(301)]
    simulation = simulated(flow, outcomes={"a": results})
    paragraphs = explanation(simulation.log, simulation.program)
    short = shortened(paragraphs)
    assert len(short) == PARAGRAPHS_SHOWN_MAX < len(paragraphs)
    assert accounted(short) == accounted(paragraphs)
    left = len(paragraphs) - PARAGRAPHS_SHOWN_MAX + 1
    (rest,) = [told for told in short if told.about is About.REST]
    assert rest.sentences == [f"{left} more paragraphs. Name a step, or use --json."]
    (of_step,) = [t for t in shortened(paragraphs, step="a") if t.about is About.REST]
    assert of_step.sentences == [f"{left} more paragraphs. --json has them all."]


# --- runs that are under way, or were changed from outside ----------------------------------------


def test_a_run_under_way_says_what_it_waits_for() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    log = upto(simulation, e.TaskRetryScheduled)
    paragraphs = explanation(log, simulation.program, now=log[-1].at + NANOSECONDS // 2)
    *_, waiting, now = paragraphs
    assert (waiting.head, waiting.until) == ("fetch.page, before the next attempt", now.until)
    assert now.about is About.WAIT
    assert now.sentences[0].startswith("Waiting to retry fetch (attempt 2 of 4) in 1.5 s: HTTP 503")


def test_a_log_that_ends_with_a_step_has_no_event_untold() -> None:
    log = upto(simulated(RETRY), e.StepDone)
    paragraphs = explanation(log)
    assert accounted(paragraphs) == Counter(event.seq for event in log)
    assert paragraphs[-1].sentences == ["Where the run goes from here is not decided yet."]


def test_pauses_forks_and_cancels_are_told_with_their_reason() -> None:
    log = upto(simulated(RETRY), e.StepScheduled)
    at, seq = log[-1].at, log[-1].seq
    more: list[e.Event] = [
        e.RunPaused(seq=seq + 1, at=at, reason="forked at 3", shared_with="77"),
        e.RunResumed(seq=seq + 2, at=at),
        e.RunPaused(seq=seq + 3, at=at, reason="lunch"),
        e.RunCancelled(seq=seq + 4, at=at, reason="no longer needed"),
    ]
    told = text_of(explanation([*log, *more]))
    assert "Up to here its log is that of run 77. Forked at 3." in told
    assert "Paused: lunch. Nothing new starts." in told
    assert "Cancelled: no longer needed." in told


@pytest.mark.parametrize(
    "tool",
    ['{kind: human, question: "Ship it?", timeout: 60}', "{kind: wait, signal: go, timeout: 60}"],
)
def test_a_fork_at_an_old_event_moves_the_deadline_of_what_is_asked(tool: str) -> None:
    log = simulated(f"workflow: [{{step: a, tool: {tool}}}]").log[:6]
    asked, later_by = log[-1], 3_000 * NANOSECONDS
    assert isinstance(asked, (e.HumanWaiting, e.SignalWaiting))
    assert asked.deadline is not None
    cut = e.RunPaused(seq=7, at=asked.at + later_by, shared_with="77", later_by=later_by)
    resumed = e.RunResumed(seq=8, at=cut.at)
    told = explanation([*log, cut, resumed], now=cut.at)
    question = next(one for one in told if one.step == "a")
    assert question.until == asked.deadline + later_by == told[-1].until


def test_what_another_program_decided_is_told_without_the_lines_of_this_one() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    log, rest = simulation.log[:8], simulation.log[8:]
    paused = e.RunPaused(seq=9, at=log[-1].at, shared_with="77", decided_by="another")
    resumed = e.RunResumed(seq=10, at=log[-1].at)
    for number, event in enumerate(rest, 11):
        event.seq = number
    told = text_of(explanation([*log, paused, resumed, *rest], simulation.program))
    assert "Rule 1 of page matches; it allows 4 attempts" in told
    assert "Another program or input decided it." in told
    assert "Arc 1 to store (test.yaml:13:19) was taken" in told


def test_a_paragraph_is_json_with_moments_as_texts() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    rows = [paragraph_row(told) for told in explanation(simulation.log, simulation.program)]
    retried = next(row for row in rows if row["delay"] is not None)
    assert retried["at"] == "2000-01-01T00:00:02.000000Z"
    assert retried["span"] == {"file": "test.yaml", "line": 11, "column": 17}
    assert retried["delay"]["seconds"] == 2.0


def test_an_empty_log_has_nothing_to_explain() -> None:
    assert explanation([]) == []
