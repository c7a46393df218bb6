"""The older `case` of a step: what it does, what is refused, and what `migrate` makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.desugar.cases import REFUSED_ACTIONS
from anew.languages.playbook.keys import CASE_ACTIONS
from anew.languages.playbook.migrate import migrate
from tests.play import BOOM, DOWN, play

DOCUMENT = """\
workflow:
- step: a
  tool: {kind: http, url: "http://x"}
  case: %s
- {step: big, tool: {kind: noop}}
- {step: small, tool: {kind: noop}}
- {step: other, tool: {kind: noop}}
"""
ROUTED = """
  - when: "{{ event.name == 'call.error' }}"
    then: {next: [{step: other}]}
  - when: "{{ event.name == 'call.done' and a.data.v > 5 }}"
    then:
    - next: [{step: big, args: {n: 1}}]
    - result: {picked: big}
  next: [{step: small}]"""
FINE = {"result": {"status_code": 200, "data": {"v": 9}}}
SMALL = {"result": {"status_code": 200, "data": {"v": 1}}}
DONE = "{{ event.name == 'call.done' }}"
FAILED = "{{ event.name == 'call.error' }}"


def report(case: str, *outcomes: Any) -> Any:
    """How a run goes, which must be how the migrated playbook goes."""
    text = DOCUMENT % case
    migrated = migrate(text, "f.yaml")
    assert migrated.text is not None
    assert load_playbook(migrated.text, "f.yaml").strict == []
    first, second = (
        play(one, outcomes={"a": list(outcomes)}, random=0.5) for one in (text, migrated.text)
    )
    for key in ("visits", "status", "delays", "ctx"):
        assert first[key] == second[key]
    return first


@pytest.mark.parametrize(
    ("outcome", "visits"),
    [(FINE, ["a", "big"]), (SMALL, ["a", "small"]), (BOOM, ["a", "other"])],
)
def test_the_first_branch_that_holds_decides_else_next(outcome: Any, visits: list[str]) -> None:
    assert report(ROUTED, outcome)["visits"] == visits


def test_a_result_in_a_branch_is_said_to_have_no_effect() -> None:
    (found,) = load_playbook(DOCUMENT % ROUTED, "f.yaml").findings
    assert (found.rule, found.place.line) == ("key.without-effect", 10)


def test_else_is_taken_where_no_branch_holds() -> None:
    case = f'[{{when: "{DONE[:-3]} and a.data.v > 5 }}}}", then: {{next: big}}}}, {{else: small}}]'
    assert report(case, FINE)["visits"] == ["a", "big"]
    assert report(case, SMALL)["visits"] == ["a", "small"]


def test_a_branch_without_next_goes_where_the_step_goes() -> None:
    case = f'[{{when: "{DONE}", then: {{result: x}}}}, {{else: small}}]\n  next: other'
    assert report(case, FINE)["visits"] == ["a", "other"]


def test_set_in_a_branch_is_written_on_the_way_it_leads() -> None:
    when = f"{DONE[:-3]} and a.data.v > 5 }}}}"
    then = 'set: {size: "{{ a.data.v }}", ctx.way: up}, next: [big, other]'
    case = f'[{{when: "{when}", then: {{{then}}}}}]\n  next: small'
    assert report(case, FINE)["ctx"] == {"size": 9, "way": "up"}
    assert report(case, SMALL)["ctx"] == {}


def test_retry_on_an_error_is_a_retry_block() -> None:
    case = f'[{{when: "{FAILED}", then: {{retry: {{max_attempts: 3, jitter: false}}}}}}]'
    assert [one["seconds"] for one in report(case, DOWN, DOWN, DOWN)["delays"]] == [1.0, 2.0]
    assert report(case, DOWN, FINE)["status"] == "done"


def test_a_further_condition_of_a_retry_is_asked_too() -> None:
    when = f"{FAILED[:-3]} and error.status == 503 and error.kind == 'server_error' }}}}"
    case = f'[{{when: "{when}", then: {{retry: 2}}}}]'
    assert len(report(case, DOWN, DOWN)["delays"]) == 1
    assert not report(case, BOOM)["delays"]


def test_what_was_retried_in_vain_goes_to_the_next_branch() -> None:
    when, retry = f'when: "{FAILED}"', "retry: {max_attempts: 2, jitter: false}"
    case = f"[{{{when}, then: {{{retry}}}}}, {{{when}, then: {{next: other}}}}]"
    assert report(case, DOWN, DOWN)["visits"] == ["a", "other"]
    both = f"[{{{when}, then: {{{retry}, next: other}}}}]"
    assert report(both, DOWN, DOWN)["visits"] == ["a", "other"]


@pytest.mark.parametrize("action", [*REFUSED_ACTIONS, "some_label"])
def test_what_a_branch_cannot_do_is_refused_with_what_can(action: str) -> None:
    assert action not in CASE_ACTIONS
    text = DOCUMENT % f'[{{when: "{DONE}", then: {{{action}: {{kind: noop}}}}}}]'
    (found, *_) = load_playbook(text, "f.yaml").findings
    assert (found.rule, found.place.line) == ("dialect.unsupported", 4)
    assert found.suggestion is not None
    assert migrate(text, "f.yaml").text is None


def test_an_unknown_key_of_a_branch_is_told_what_was_meant() -> None:
    text = DOCUMENT % f'[{{when: "{DONE}", then: {{nxt: other}}}}]'
    (found, *_) = load_playbook(text, "f.yaml").findings
    assert (found.rule, found.suggestion) == ("key.unknown", "Did you mean 'next'?")


def test_the_else_of_a_branch_may_hold_then() -> None:
    asked = "{{ event.name == 'call.done' and a.data.v > 5 }}"
    case = f'[{{when: "{asked}", then: {{next: big}}}}, {{else: {{then: {{next: [small]}}}}}}]'
    assert report(case, FINE)["visits"] == ["a", "big"]
    assert report(case, SMALL)["visits"] == ["a", "small"]


def test_a_retry_on_errors_is_one_rule_after_migration() -> None:
    asked = f"{FAILED[:-3]} and error.status == 503 }}}}"
    text = DOCUMENT % f'[{{when: "{asked}", then: {{retry: {{max_attempts: 3}}}}}}]'
    migrated = migrate(text, "f.yaml").text
    assert migrated is not None
    assert migrated.count("do: retry") == 1
    assert "{{ outcome.status == 'error' and outcome.http.status == 503 }}" in migrated


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        (f'[{{when: "{DONE}", then: {{retry: 2}}}}]', "dialect.unsupported"),
        (f'[{{when: "{FAILED[:-3]} or x }}}}", then: {{retry: 2}}}}]', "dialect.unsupported"),
        (
            f'[{{when: "{FAILED[:-3]} and event.step }}}}", then: {{retry: 2}}}}]',
            "dialect.unsupported",
        ),
        (f'[{{when: "{FAILED}", then: {{retry: 2}}}}]\n  retry: 3', "policy.conflict"),
        ("[{when: x, then: {set: {k: 1}}}]", "dialect.unsupported"),
        ("[{when: x}]", "next.shape"),
        ("[x]", "next.shape"),
        ("{a: 1}", "value.type"),
        ("[{else: big}, {when: x, then: {next: small}}]", "next.shape"),
        (
            "[{when: x, then: {next: big}}]\n  next: {spec: {mode: inclusive}, arcs: [small]}",
            "dialect.unsupported",
        ),
    ],
)
def test_a_case_that_would_mean_something_else_is_refused(case: str, rule: str) -> None:
    assert rule in {found.rule for found in load_playbook(DOCUMENT % case, "f.yaml").findings}


@pytest.mark.parametrize("tool", ['tool: {kind: http, url: "u"}', 'tool: http\n  url: "u"'])
@pytest.mark.parametrize(("outcome", "ctx"), [(FINE, {"v": 9}), (BOOM, {})])
def test_a_branch_that_only_sets_when_done_is_the_set_of_the_step(
    tool: str, outcome: Any, ctx: Any
) -> None:
    case = f'[{{when: "{DONE}", then: {{set: {{ctx.v: "{{{{ output.data.v }}}}"}}}}}}]'
    text = f"workflow:\n- step: a\n  {tool}\n  case: {case}\n"
    for one in (text, str(migrate(text, "f.yaml").text)):
        assert play(one, outcomes={"a": [outcome]})["ctx"] == ctx
