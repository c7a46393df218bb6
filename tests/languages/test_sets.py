"""What the keys of a `set` may name (playbook.md#what-is-written-and-when)."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from tests.play import play

STEP = "workflow:\n- step: a\n  tool: {kind: noop}\n"
RULE = "spec: {policy: {rules: [{else: {then: {do: continue, set: {%s: 7}}}}]}}"
ON_STEP = STEP + "  set: {%s: 7}\n"
ON_ARC = STEP + "  next: [{step: b, set: {%s: 7}}]\n- step: b\n"
ON_TASK = "workflow:\n- step: a\n  tool: [{t: {kind: noop, set: {%s: 7}}}]\n"
ON_RULE = "workflow:\n- step: a\n  tool: [{t: {kind: noop, " + RULE + "}}]\n"
PLACES = [ON_STEP, ON_ARC, ON_TASK, ON_RULE]


def rules(text: str) -> list[str]:
    return [found.rule for found in load_playbook(text, "f.yaml").findings]


@pytest.mark.parametrize("text", PLACES)
@pytest.mark.parametrize(
    "key",
    "workload.x keychain.x output.x local.x args.x vars.x ctx. ctx..a .x ctx iter step".split(),
)
def test_a_key_that_names_nothing_to_write_is_an_error(text: str, key: str) -> None:
    assert rules(text % key) == ["set.name"]


@pytest.mark.parametrize("text", PLACES)
def test_the_error_says_what_to_write(text: str) -> None:
    (found,) = load_playbook(text % "workload.x", "f.yaml").findings
    assert found.suggestion is not None
    assert found.suggestion.startswith("Write `ctx.x`")


@pytest.mark.parametrize("text", PLACES)
@pytest.mark.parametrize("key", ["x", "a.b", "ctx.workload.x", "step.x", "ctx.a-b"])
def test_other_keys_are_accepted(text: str, key: str) -> None:
    assert rules(text % key) == []


@pytest.mark.parametrize("text", PLACES)
def test_with_older_state_vars_is_ctx_in_every_set(text: str) -> None:
    older = "vars: {}\n" + text % "vars.z"
    if "policy" in older:  # where root `vars` is not allowed
        older = text % "vars.z" + "  vars: {y: 1}\n"
    migrated = migrate(older, "f.yaml").text
    assert migrated is not None
    for one in (older, migrated):
        assert play(one)["ctx"]["z"] == 7


def test_data_that_looks_like_a_set_stays_as_it_is() -> None:
    text = STEP.replace("noop", "noop, result: {kind: x, set: {vars.z: 1}}")
    migrated = migrate("vars: {}\n" + text, "f.yaml").text
    assert migrated is not None
    assert "set: {vars.z: 1}" in migrated


def test_vars_and_ctx_of_one_name_are_written_twice() -> None:
    assert rules("vars: {}\n" + STEP + "  set: {vars.z: 1, ctx.z: 2}\n") == ["set.twice"]


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ("{kind: noop, set: {ctx.n: 1}, set_ctx: {n: 2}}", "set.twice"),
        ("[{t: {kind: noop, set: {u: 1}}}, {u: {kind: noop}}]", "name.reserved"),
    ],
)
def test_what_a_task_writes_in_vain_is_told(tool: str, rule: str) -> None:
    assert rules(STEP.replace("{kind: noop}", tool)) == [rule]


@pytest.mark.parametrize("key", ["set_ctx", "set_iter"])
def test_what_a_task_writes_is_no_input_of_its_tool(key: str) -> None:
    text = STEP.replace("noop", f'noop, {key}: {{n: "{{{{ outcome.result.n + 1 }}}}"}}')
    loaded = load_playbook(text, "f.yaml")
    assert loaded.findings == []
    assert loaded.program is not None
    assert loaded.program.steps["a"].tasks[0].inputs.source == {}


@pytest.mark.parametrize(
    "text",
    [STEP + "  output: {set: {x: 1}}\n", STEP.replace("noop", "noop, output: {set: {x: 1}}")],
)
def test_a_set_in_an_output_is_an_error(text: str) -> None:
    assert rules(text) == ["key.without-effect", "key.unknown"]


def test_set_ctx_of_an_arc_is_its_set() -> None:
    text = STEP + "  next: [{step: b, set_ctx: {x: 1}}]\n- step: b\n"
    migrated = migrate(text, "f.yaml").text
    assert migrated is not None
    for one in (text, migrated):
        assert play(one)["ctx"] == {"x": 1}
    assert "set_ctx" not in migrated


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (STEP + "  next: [{step: b, vars: {x: 1}}]\n- step: b\n", "set"),
        (STEP.replace("noop", "shell, script: x"), "command"),
    ],
)
def test_a_word_of_another_place_is_told_what_says_it_here(text: str, meant: str) -> None:
    found = load_playbook(text, "f.yaml").findings[-1]
    assert (found.rule, found.suggestion) == ("key.unknown", f"Did you mean '{meant}'?")
