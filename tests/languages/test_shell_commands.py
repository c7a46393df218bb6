"""Templates of other programs in shell commands (tools/shell.md#templates-of-other-programs)."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.program import Program

STEP = "workload: {n: 5}\nworkflow:\n- step: a\n  tool:\n    kind: shell\n    command: %s\n"


def command(text: str) -> object:
    loaded = load_playbook(text, "f.yaml")
    assert isinstance(loaded.program, Program), loaded.findings
    inputs = loaded.program.steps["a"].tasks[0].inputs.source
    assert isinstance(inputs, dict)
    return inputs["command"]


@pytest.mark.parametrize("foreign", ["{{.Names}}", "{{ .State.Status }}", "{{.Name}}:{{.Tag}}"])
def test_a_template_of_another_program_stays_in_the_command(foreign: str) -> None:
    kept = command(STEP % f'docker ps --format "{foreign}" -n {{{{ workload.n }}}}')
    assert "{{ workload.n }}" in str(kept)
    assert "{% raw %}" in str(kept)
    assert str(kept).replace("{% raw %}", "").replace("{% endraw %}", "").count(foreign) == 1


def test_it_is_migrated_to_what_says_so() -> None:
    text = STEP % "\n    - |\n      set -e\n      docker ps --format {{.ID}}\n    - date"
    migrated = migrate(text, "f.yaml").text
    assert migrated is not None
    assert (
        "    - |\n      set -e\n      docker ps --format {% raw %}{{.ID}}{% endraw %}\n" in migrated
    )
    assert command(migrated) == command(text)
    assert [found.rule for found in load_playbook(text, "f.yaml").strict] == ["strict.raw"]
    assert not load_playbook(migrated, "f.yaml").strict


def test_what_says_so_already_is_left_alone() -> None:
    text = STEP % "docker ps --format {% raw %}{{.ID}}{% endraw %}"
    assert command(text) == "docker ps --format {% raw %}{{.ID}}{% endraw %}"


@pytest.mark.parametrize("key", ["stdin: 'x {{.ID}}'", "command: 'x {{`{{.ID}}`}}'"])
def test_elsewhere_and_escaped_for_a_third_program_it_is_an_error(key: str) -> None:
    text = STEP.replace("command: %s", key if key[0] == "c" else f"command: x\n    {key}")
    (found,) = load_playbook(text, "f.yaml").findings
    assert found.rule == "expression.syntax"
    assert "{% raw %}" in str(found.suggestion)


@pytest.mark.parametrize(
    ("profile", "own", "shell"),
    [("local", "", "bash"), ("local", ", shell: sh", "sh"), ("auto", "", None)],
)
def test_a_document_for_the_local_profile_means_bash(
    profile: str, own: str, shell: str | None
) -> None:
    text = (
        f"executor: {{profile: {profile}}}\n"
        f"workflow:\n- step: a\n  tool: {{kind: shell, command: date{own}}}\n"
    )
    for one in (text, migrate(text, "f.yaml").text or text):
        program = load_playbook(one, "f.yaml").program
        assert program is not None
        inputs = program.steps["a"].tasks[0].inputs.source
        assert isinstance(inputs, dict)
        assert inputs.get("shell") == shell


def test_another_shell_is_an_error_that_names_the_two() -> None:
    (found,) = load_playbook(STEP % "date\n    shell: fish", "f.yaml").findings
    assert found.rule == "tool.input-word"
    assert "bash" in f"{found.message} {found.suggestion}"
