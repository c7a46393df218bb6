"""What a playbook's forks, gates, questions and ways for failures do when it runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.play import play, rows

FAILED = {"error": {"kind": "tool_error", "message": "no"}}
FORK = """\
workflow:
- step: a
  tool: {kind: noop}
  next: {spec: {mode: fork}, arcs: [{step: b}, {step: c}, {step: d}]}
- step: b
  tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {b: 1}}}}]}}}
  next: {arcs: [{step: j}]}
- step: c
  tool: {kind: shell, command: x}
  next: {arcs: [{step: j}]}
- step: d
  tool: {kind: shell, command: x}
  next: {arcs: [{step: j}]}
- step: j
  tool: {kind: relay, outcome: {verdict: "{{ args.join.verdict }}"}}
  spec: {join: %s}
"""


def visits(report: Any) -> list[str]:
    return list(report["visits"])


@pytest.mark.parametrize(
    ("join", "failing", "status"),
    [
        ("wait_all", "", "done"),
        ("wait_all", "d", "failed"),
        ("first_success", "cd", "done"),
        ("quorum", "d", "done"),
        ("quorum", "cd", "failed"),
        ("{policy: k_of_n, k: 2}", "d", "done"),
        ("{policy: k_of_n, k: 3}", "d", "failed"),
        ("{lenient: true}", "cd", "done"),
    ],
)
def test_a_join_policy_decides_what_branches_amount_to(
    join: str, failing: str, status: str
) -> None:
    report = play(FORK % join, outcomes={name: [FAILED] for name in failing})
    assert report["status"] == status
    assert visits(report).count("j") == 1
    (joined,) = rows(report, "branch.joined")
    assert joined["step"] == "j"


def test_branches_write_to_a_context_of_their_own_until_they_join() -> None:
    assert play(FORK % "wait_all")["ctx"] == {"b": 1}
    assert play(FORK % "{merge: false}")["ctx"] == {}


PREFERRED = """\
workflow:
- step: a
  tool: {kind: human, question: 'Ship it?', choices: ['[Y] Yes', '[N] No'], timeout: 5m, %s}
  next:
    spec: {mode: preferred}
    arcs: [{step: b, label: '[Y] Yes'}, {step: c, label: '[N] No', weight: 1}]
- step: b
  tool: {kind: noop}
- step: c
  tool: {kind: noop}
"""


@pytest.mark.parametrize(("answer", "to"), [("y", "b"), ("No", "c"), ("2", "c"), ("[Y] Yes", "b")])
def test_an_answer_chooses_the_arc_with_its_label(answer: str, to: str) -> None:
    report = play(PREFERRED % "", outcomes={"a": [{"answer": answer}]})
    assert (report["status"], visits(report)) == ("done", ["a", to])


@pytest.mark.parametrize(
    ("inputs", "visited"),
    [
        ("timeout_action: first", ["a", "b"]),
        ("timeout_action: first, default: '[N] No'", ["a", "c"]),
        ("timeout_action: skip", ["a", "c"]),
        ("timeout_action: fail", ["a"]),
    ],
)
def test_silence_has_the_end_that_was_written(inputs: str, visited: list[str]) -> None:
    report = play(PREFERRED % inputs)
    assert visits(report) == visited
    assert rows(report, "human.timed_out") != []
    assert report["elapsed"] == 300


FAILING = """\
executor: {spec: {policy: {failure: {fallback: tell}}}}
workflow:
- step: a
  tool: {kind: shell, command: x}
  spec: {policy: {failure: {%s}}}
  next: {arcs: [{step: b%s}]}
- step: b
  tool: {kind: noop}
- step: mend
  tool: {kind: noop}
  next: {arcs: [{step: a}]}
- step: tell
  tool: {kind: noop}
  next: {arcs: [{step: b}]}
"""


@pytest.mark.parametrize(
    ("goto", "on_failure", "visited"),
    [
        ("", ", on_failure: true", ["a", "b"]),
        ("goto: mend", "", ["a", "mend", "a", "b"]),
        ("", "", ["a", "tell", "b"]),
    ],
)
def test_a_failure_takes_the_first_way_there_is(
    goto: str, on_failure: str, visited: list[str]
) -> None:
    report = play(FAILING % (goto, on_failure), outcomes={"a": [FAILED, {"result": 1}]})
    assert (report["status"], visits(report)) == ("done", visited)


def test_a_fallback_that_leads_nowhere_ends_the_run_with_the_first_error() -> None:
    flow = FAILING % ("", "")
    report = play(flow[: flow.rindex("  next")], outcomes={"a": [FAILED]})
    assert (report["status"], report["error"]["message"]) == ("failed", "no")
    assert visits(report) == ["a", "tell"]


GATED = """\
workflow:
- step: build
  tool: {kind: agent, prompt: p}
  spec: {gate: %s}
  next: {arcs: [{step: end, on_failure: true}]}
- step: mend
  tool: {kind: noop}
  next: {arcs: [{step: build}]}
- step: end
  tool: {kind: relay}
  spec: {exit: true}
"""
PARTIAL = {"status": "PARTIAL"}


@pytest.mark.parametrize(
    ("gate", "said", "status", "visited"),
    [
        ("true", [PARTIAL], "failed", ["build", "end"]),
        ("{accepts: [success, partial]}", [PARTIAL], "done", ["build", "end"]),
        ("{most: 1}", [PARTIAL, {"status": "SUCCESS"}], "done", ["build", "end"] * 2),
        (
            "{to: mend}",
            [PARTIAL, {"status": "SUCCESS"}],
            "done",
            ["build", "end", "mend", "build", "end"],
        ),
    ],
)
def test_a_gate_sends_the_run_back_until_it_is_satisfied(
    gate: str, said: list[object], status: str, visited: list[str]
) -> None:
    report = play(GATED % gate, outcomes={"build": said})
    assert (report["status"], visits(report)) == (status, visited)


RETRIED = """\
workflow:
- step: a
  tool:
    kind: shell
    command: x
    spec:
      policy:
        on_unmatched: fail
        rules:
        - when: "{{ outcome.status == 'error' }}"
          then: {do: retry, attempts: 3, delay: 1, %s}
  next: {arcs: [{step: b, on_failure: true}]}
- step: b
  tool: {kind: noop}
- step: mend
  tool: {kind: noop}
  next: {arcs: [{step: a}]}
"""


def test_a_retry_may_come_by_way_of_another_step() -> None:
    report = play(RETRIED % "budget: step, to: mend", outcomes={"a": [FAILED, FAILED, {}]})
    assert visits(report) == ["a", "mend", "a", "mend", "a", "b"]
    assert [delay["seconds"] for delay in report["delays"]] == [1, 1]


def test_spent_attempts_may_count_as_a_partial_success() -> None:
    flow = RETRIED % "on_exhausted: {do: continue, verdict: partial}"
    report = play(flow, outcomes={"a": [FAILED]})
    assert report["status"] == "done"
    done = next(event for event in rows(report, "step.done") if event["step"] == "a")
    assert done["data"]["verdict"] == "partial"


def test_a_visit_that_must_choose_and_cannot_has_failed() -> None:
    router = "next: {spec: {must_choose: true}, arcs: [{step: a, when: ctx.x}]}"
    report = play(f"workflow:\n- step: a\n  tool: {{kind: noop}}\n  {router}\n")
    assert (report["status"], report["error"]["kind"]) == ("failed", "no_route")


def test_an_arc_is_taken_only_so_often() -> None:
    router = "next: {arcs: [{step: a, most: 2}]}"
    report = play(f"workflow:\n- step: a\n  tool: {{kind: noop}}\n  {router}\n")
    assert (report["status"], visits(report)) == ("done", ["a"] * 3)


def test_a_run_ends_at_its_bounds() -> None:
    limits = "executor: {spec: {limits: {visits_per_step: 4}}}\n"
    router = "next: {arcs: [{step: a}]}"
    report = play(f"{limits}workflow:\n- step: a\n  tool: {{kind: noop}}\n  {router}\n")
    assert (report["status"], visits(report)) == ("failed", ["a"] * 4)


def test_the_context_may_start_as_the_workload() -> None:
    flow = "executor: {spec: {ctx: workload}}\nworkload: {x: 1}\nworkflow: [{step: a}]\n"
    assert play(flow)["ctx"] == {"x": 1}
    assert play(flow.replace("{ctx: workload}", "{ctx: empty}"))["ctx"] == {}
