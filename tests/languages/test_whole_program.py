"""Warnings that need the whole program, and errors that must not bring others along."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook

STEP = "workflow:\n- step: a\n"
ELSE = "{else: {then: {do: break}}}"
ASKED = "{when: outcome.error, then: {do: fail}}"


def found_in(text: str) -> list[str]:
    return [found.rule for found in load_playbook(text, "f.yaml").findings]


def task(*rules: str) -> str:
    return f"{{kind: noop, spec: {{policy: {{rules: [{', '.join(rules)}]}}}}}}"


def with_rules(*rules: str) -> str:
    return f"{STEP}  tool: [{{t: {task(*rules)}}}]\n"


# --- one mistake, one finding --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (("{when: '{{ ( }}', then: {do: fail}}", ELSE), "expression.syntax"),
        (("{when: '{{ ( }}', then: {do: fail}}",), "expression.syntax"),
        (("fail", "{when: outcome.http.status == 503, then: {do: fail}}"), "rule.shape"),
        (("{when: outcome.error}",), "rule.then-missing"),
        (("{when: outcome.error, else: {then: {do: fail}}}", ELSE), "rule.shape"),
        (("{when: outcome.result.more, then: {do: jump, to: t}}", "{else: {then: {do: brek}}}"),
         "rule.do"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_reported_once(rules: tuple[str, ...], expected: str) -> None:
    assert found_in(with_rules(*rules)) == [expected]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("  next: nowhere\n", "arc.unknown-step"),
        ("  next: {200: b}\n", "next.shape"),
        ("  next: {arcs: b}\n", "value.type"),
        ("  next: {arcs: [{when: ctx.x}]}\n", "arc.step-missing"),
    ],
)
def test_a_router_in_error_makes_no_step_unreachable(step: str, expected: str) -> None:
    assert found_in(f"{STEP}{step}- step: b\n") == [expected]


@pytest.mark.parametrize("name", ["sted_b", "elsewhere"])
def test_an_unknown_entry_makes_no_step_unreachable(name: str) -> None:
    text = f"executor: {{spec: {{entry_step: {name}}}}}\n{STEP}- step: step_b\n  next: a\n"
    assert found_in(text) == ["entry.unknown"]


def test_a_merge_key_does_not_hide_what_it_merges() -> None:
    text = f"x-shared: &shared {{kind: noop}}\n{STEP}  tool: {{<<: *shared, result: 1}}\n"
    assert found_in(text) == ["yaml.merge"]


def test_a_key_beside_a_merge_key_is_no_duplicate() -> None:
    text = (
        f"x-shared: &shared {{kind: noop, result: 1}}\n{STEP}  tool: {{<<: *shared, result: 2}}\n"
    )
    assert found_in(text) == ["yaml.merge"]


def test_root_keys_that_begin_with_x_are_free() -> None:
    assert found_in(f"x-anything: 1\n{STEP}") == []
    assert found_in(f"xanything: 1\n{STEP}") == ["input.unknown"]


# --- rules that never match, wherever they stand -------------------------------------------------


def test_a_rule_after_else_in_a_workbook_task_is_dead() -> None:
    text = f"workbook:\n- name: w\n  tool: {task(ELSE, ASKED)}\n{STEP}"
    assert found_in(text) == ["rule.after-else"]


def test_an_admission_rule_after_else_is_dead() -> None:
    rules = "[{else: {then: {allow: true}}}, {when: ctx.x, then: {allow: false}}]"
    text = f"ctx: {{x: 1}}\n{STEP}  spec: {{policy: {{admit: {{rules: {rules}}}}}}}\n"
    assert found_in(text) == ["rule.after-else"]


def test_root_vars_meet_the_policy_of_a_workbook_task() -> None:
    text = f"vars: {{x: 1}}\nworkbook:\n- name: w\n  tool: {task(ELSE)}\n{STEP}"
    assert found_in(text) == ["vars.root"]


# --- what happens when attempts are spent --------------------------------------------------------


def test_a_patch_when_attempts_are_spent_counts_in_a_parallel_loop() -> None:
    retry = "{else: {then: {do: retry, on_exhausted: {do: continue, set_ctx: {x: 1}}}}}"
    loop = "  loop: {in: [1], iterator: i, spec: {mode: parallel}}\n"
    assert found_in(with_rules(retry) + loop) == ["loop.parallel-ctx"]


def test_a_jump_to_itself_when_attempts_are_spent_is_endless() -> None:
    retry = "{else: {then: {do: retry, on_exhausted: {do: jump, to: t}}}}"
    assert found_in(with_rules(retry)) == ["jump.endless"]


# --- names ---------------------------------------------------------------------------------------


def test_a_name_that_only_the_request_can_give_is_a_note_told_once() -> None:
    tool = "{kind: http, url: '{{ api_url }}', headers: {x: '{{ api_url }}'}}"
    (found,) = load_playbook(f"{STEP}  tool: {tool}\n", "f.yaml").findings
    assert (found.severity, found.rule) == ("info", "name.unprovided")


def test_two_names_that_are_merely_alike_are_not_one_with_a_slip() -> None:
    text = f"workload: {{api_key: x}}\n{STEP}  tool: {{kind: http, url: '{{{{ api_url }}}}'}}\n"
    assert found_in(text) == ["name.unprovided"]


@pytest.mark.parametrize("label", ["ctx", "workload", "outcome"])
def test_a_label_no_template_can_read_is_warned_of(label: str) -> None:
    assert found_in(f"{STEP}  tool: [{{{label}: {{kind: noop}}}}]\n") == ["name.reserved"]


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ("{path: team/flow}", "team/flow"),
        ("{name: flow}", None),
        ("{path: 7}", None),
        ("{path: }", None),
        ("{path: ''}", None),
        ("{path: [a]}", None),
        (f"{{path: {'a' * 500}}}", "a" * 500),
        (f"{{path: {'a' * 501}}}", None),
    ],
)
def test_the_path_of_a_playbook_is_known(metadata: str, path: str | None) -> None:
    text = f"metadata: {metadata}\nworkflow: [{{step: a, tool: {{kind: noop}}}}]\n"
    program = load_playbook(text, "flow.yaml").program
    assert program is not None
    assert program.path == path
