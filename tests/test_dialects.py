"""One scenario in all four dialects: the same directives, delays, visits and final state.

The documents are `examples/dialects/`. The scenario: retry with backoff while the service answers
503, fail on anything else, keep the orders in ctx, set aside what could not be fetched.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anew.languages.playbook.migrate import migrate
from tests.play import play, rows

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "dialects"
DIALECTS = ("retry", "eval", "policy", "output")
# A `retry` block cannot write to ctx.
WRITES_CTX = ("eval", "policy", "output")
# Jitter makes 0.75 of every delay, so that a dialect that forgot it would be found out.
CHANCE = 0.25

DOWN = {
    "error": {"kind": "server_error", "message": "Service Unavailable"},
    "http": {"status": 503},
}
MISSING = {"error": {"kind": "not_found", "message": "Not Found"}, "http": {"status": 404}}
ORDERS = [1, 2]
WELL = {"result": {"status_code": 200, "data": {"orders": ORDERS}}, "http": {"status": 200}}


class Scenario(NamedTuple):
    outcomes: list[dict[str, Any]]
    directives: list[str]
    delays: list[float]
    tail: str
    error: dict[str, Any] | None = None


SCENARIOS = {
    "success at once": Scenario([WELL], ["continue"], [], "store"),
    "two failures, then ok": Scenario(
        [DOWN, DOWN, WELL], ["retry", "retry", "continue"], [0.75, 1.5], "store"
    ),
    "exhausted": Scenario(
        [DOWN],
        ["retry", "retry", "retry", "retry", "fail"],
        # Backoff would make the last one 4 seconds; it is capped at 3 before the jitter.
        [0.75, 1.5, 2.25],
        "set_aside",
        {
            "kind": "server_error",
            "message": "Service Unavailable",
            "retryable": True,
            "retry": {"attempts": 4, "exhausted": True},
        },
    ),
    "not retryable": Scenario(
        [MISSING],
        ["fail"],
        [],
        "set_aside",
        {"kind": "not_found", "message": "Not Found", "retryable": False},
    ),
}
EACH_SCENARIO = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS)


def played(name: str, outcomes: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    document = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    report: dict[str, Any] = play(document, outcomes=outcomes, random=CHANCE)
    return report


def directives(report: dict[str, Any], step: str) -> list[str]:
    """What was decided after each outcome, and once more where attempts were spent."""
    decided = ("task.processed", "task.retry_exhausted")
    events = [row for row in report["events"] if row["name"] in decided]
    return [row["data"]["directive"] for row in events if row["step"] == step]


def delays(report: dict[str, Any], step: str) -> list[float]:
    scheduled = rows(report, "task.retry_scheduled")
    return [row["data"]["delay_seconds"] for row in scheduled if row["step"] == step]


def failure(report: dict[str, Any], step: str) -> dict[str, Any] | None:
    failed = [row for row in rows(report, "step.failed") if row["step"] == step]
    return failed[0]["data"]["error"] if failed else None


@pytest.mark.parametrize("name", [*DIALECTS, "mixed"])
def test_a_document_is_in_the_dialect_its_name_says(name: str) -> None:
    assert played(name, {})["dialect"] == name


@EACH_SCENARIO
@EACH_DIALECT
def test_every_dialect_decides_the_same(dialect: str, scenario: Scenario) -> None:
    report = played(dialect, {"fetch": scenario.outcomes})
    assert directives(report, "fetch") == scenario.directives
    assert delays(report, "fetch") == scenario.delays
    assert failure(report, "fetch") == scenario.error


@EACH_SCENARIO
@EACH_DIALECT
def test_every_dialect_ends_the_same(dialect: str, scenario: Scenario) -> None:
    report = played(dialect, {"fetch": scenario.outcomes})
    assert report["status"] == "done"
    assert report["visits"] == ["fetch", scenario.tail]
    assert report["elapsed"] == sum(scenario.delays)
    assert report["handled"] == ([] if scenario.error is None else ["fetch"])


@EACH_SCENARIO
@pytest.mark.parametrize("dialect", WRITES_CTX)
def test_every_dialect_that_can_writes_the_same_ctx(dialect: str, scenario: Scenario) -> None:
    report = played(dialect, {"fetch": scenario.outcomes})
    assert report["ctx"] == ({"orders": ORDERS} if scenario.error is None else {})


@EACH_DIALECT
def test_every_dialect_hands_the_reason_to_the_step_that_handles_it(dialect: str) -> None:
    report = played(dialect, {"fetch": [MISSING]})
    started = rows(report, "task.started")[-1]
    assert started["step"] == "set_aside"
    assert started["data"]["inputs"] == {"result": {"reason": "Not Found"}}


@EACH_SCENARIO
def test_one_document_may_mix_all_dialects(scenario: Scenario) -> None:
    steps = [f"by_{dialect}" for dialect in DIALECTS]
    report = played("mixed", dict.fromkeys(steps, scenario.outcomes))
    for step in steps:
        assert directives(report, step) == scenario.directives
        assert delays(report, step) == scenario.delays
        assert failure(report, step) == scenario.error
    assert report["visits"] == ["start", *steps, *[scenario.tail] * len(steps)]
    written = {f"by_{dialect}": ORDERS for dialect in WRITES_CTX}
    assert report["ctx"] == (written if scenario.error is None else {})


STATE = """
workload: {{n: 5}}
workflow:
- step: fetch
  {tool}
  set_ctx: {{got: "{{{{ output.data.orders }}}}", n: "{{{{ n }}}}"}}
  next:
    arcs:
    - {{step: end, when: "{{{{ event.name == 'step.failed' }}}}", set: {{why: "{{{{ error.kind }}}}"}}}}
    - {{step: end, set: {{ctx.many: "{{{{ got | length }}}}"}}}}
- {{step: end, tool: {{kind: noop}}}}
"""
TOOLS = {
    "retry": 'tool: http\n  url: u\n  set: {ctx.code: "{{ output.http.status }}"}\n  retry: 2',
    "eval": 'tool: {kind: http, url: u, set: {ctx.code: "{{ output.http.status }}"}, '
    "eval: [{expr: \"outcome.status == 'error'\", do: retry, attempts: 2}]}",
    "policy": 'tool: {kind: http, url: u, set_ctx: {code: "{{ outcome.http.status }}"}, spec: {policy: '
    "{rules: [{when: \"outcome.status == 'error'\", then: {do: retry, attempts: 2}}]}}}",
    "output": 'tool: {kind: http, url: u, set: {ctx.code: "{{ output.http.status }}"}, spec: {policy: '
    "{rules: [{when: \"output.status == 'error'\", then: {do: retry, attempts: 2}}]}}}",
}


@pytest.mark.parametrize(
    ("outcomes", "ctx"),
    [
        ([DOWN, WELL], {"code": 200, "got": ORDERS, "n": 5, "many": 2}),
        ([DOWN], {"code": 503, "why": "server_error"}),
    ],
)
@EACH_DIALECT
def test_tasks_steps_and_arcs_write_the_same_in_every_dialect(
    dialect: str, outcomes: list[dict[str, Any]], ctx: dict[str, Any]
) -> None:
    document = STATE.format(tool=TOOLS[dialect])
    report = play(document, outcomes={"fetch": outcomes}, random=CHANCE)
    assert (report["dialect"], report["status"], report["ctx"]) == (dialect, "done", ctx)
    migrated = migrate(document, "f.yaml")
    assert migrated.findings == []
    again = play(migrated.text, outcomes={"fetch": outcomes}, random=CHANCE)
    assert (again["dialect"], again["ctx"], again["delays"]) == ("policy", ctx, report["delays"])
