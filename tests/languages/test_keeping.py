"""Tasks of kind `artifact` in every form, and what is wrong with one."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate

STEP = "workflow:\n- step: a\n  tool:\n  - "


def found_in(task: str) -> list[str]:
    return [found.rule for found in load_playbook(f"{STEP}{task}\n", "f.yaml").findings]


@pytest.mark.parametrize(
    "task",
    [
        "keep: {kind: artifact, action: put, name: x, value: null}",
        "keep: {kind: artifact, action: put, name: x, data: 1, scope: program}",
        "load: {kind: artifact, action: get, name: x, version: 3}",
        "load: {kind: artifact, action: get, ref: 'artifact:run/x@1'}",
        "{name: load, kind: artifact, action: get, ref: 'artifact:run/x@1'}",
        "{name: load, kind: artifact, action: get, input: {result_ref: 'artifact:run/x@1'}}",
        "load: {kind: artifact, action: '{{ workload.do }}', name: x, value: 1}",
    ],
)
def test_an_artifact_of_every_form_is_accepted(task: str) -> None:
    assert [rule for rule in found_in(task) if rule != "name.unprovided"] == []


@pytest.mark.parametrize(
    ("task", "rule"),
    [
        ("keep: {kind: artifact, action: put, name: x}", "tool.input-missing"),
        ("keep: {kind: artifact, name: x}", "tool.input-missing"),
        ("keep: {kind: artifact, action: get}", "tool.input-missing"),
        ("keep: {kind: artifact, action: keep, name: x}", "tool.input-word"),
        ("keep: {kind: artifact, action: get, name: x, scope: team}", "tool.input-word"),
        ("keep: {kind: artifact, action: put, name: x, value: 1, version: 2}", "artifact.put"),
        ("keep: {kind: artifact, action: get, name: x, value: 1}", "key.unused"),
        ("keep: {kind: artifact, action: get, name: x, ref: y}", "key.unused"),
        ("keep: {kind: artifact, action: get, name: x, args: {vesion: 1}}", "input.unknown"),
    ],
)
def test_what_is_wrong_with_an_artifact_is_told(task: str, rule: str) -> None:
    assert found_in(task) == [rule]


def test_inputs_below_input_are_migrated_next_to_the_kind() -> None:
    task = "{name: load, kind: artifact, action: get, input: {result_ref: '{{ workload.r }}'}}"
    migrated = migrate(f"workload: {{r: 1}}\n{STEP}{task}\n", "f.yaml").text
    program = load_playbook(migrated, "f.yaml").program
    assert program is not None
    (loaded,) = program.steps["a"].tasks
    assert loaded.inputs.source == {"action": "get", "ref": "{{ workload.r }}"}
    assert load_playbook(migrated, "f.yaml").strict == []
