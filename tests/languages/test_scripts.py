"""`script` in every form, what is wrong with one, and what it is migrated to."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate

STEP = "workflow:\n- step: a\n  tool: "


def found_in(tool: str) -> list[tuple[str, str]]:
    loaded = load_playbook(f"{STEP}{tool}\n", "f.yaml")
    return [(found.rule, found.suggestion or "") for found in loaded.findings]


@pytest.mark.parametrize(
    "tool",
    [
        "{kind: python, script: a.py}",
        "{kind: sqlite, script: a.sql, params: {n: 1}}",
        "{kind: postgres, auth: pg, script: '{{ workload.file }}'}",
        "{kind: python, script: {uri: a.py, source: {type: file}}}",
        "{kind: python, script: {uri: x, source: {type: '{{ workload.type }}', region: eu}}}",
        "{kind: sqlite, script: {source: {type: inline, command: SELECT 1}}}",
        "{kind: python, script: {uri: a.py, source: {type: http, endpoint: 'http://x', "
        "method: GET, headers: {}, auth: c, timeout: 3}}}",
    ],
)
def test_a_script_of_every_form_is_accepted(tool: str) -> None:
    assert found_in(tool) == []


@pytest.mark.parametrize(
    ("tool", "rule", "remedy"),
    [
        ("{kind: python, code: x, script: a.py}", "tool.input-twice", "Keep one"),
        ("{kind: sqlite, command: x, script: a.sql}", "tool.input-twice", "Keep one"),
        (
            "{kind: python, code: x, script: {source: {type: inline, code: y}}}",
            "tool.input-twice",
            "Keep one",
        ),
        ("{kind: python, script: [a.py]}", "script.source", "Write `script: FILE`"),
        ("{kind: python, script: {uri: a.py}}", "script.source", "Add `source: {type: …}`"),
        ("{kind: python, script: {source: {type: file}}}", "script.source", "Add `uri"),
        ("{kind: python, script: {source: {type: http}}}", "script.source", "Add `uri"),
        ("{kind: python, script: {source: {type: inline}}}", "script.source", "Write `code"),
        (
            "{kind: python, script: {source: {type: inline, code: '{{ workload.code }}'}}}",
            "code.template",
            "Pass it with `input",
        ),
        ("{kind: python, script: {uri: a, source: {type: fil}}}", "script.source", "'file'"),
        ("{kind: python, script: {uri: a, source: {type: gcs}}}", "script.source", "anew.scripts"),
        ("{kind: python, script: 'https://x/a.py'}", "script.source", "type: http"),
        ("{kind: python, script: {url: a, source: {type: file}, uri: b}}", "key.unknown", "uri"),
    ],
)
def test_what_is_wrong_with_a_script_is_told(tool: str, rule: str, remedy: str) -> None:
    ((found, suggestion),) = found_in(tool)
    assert found == rule
    assert remedy in suggestion


@pytest.mark.parametrize(
    ("tool", "canonical"),
    [
        ("{kind: python, script: {uri: a.py, source: {type: file}}}", "script: a.py"),
        (
            "{kind: python, script: {uri: i, source: {type: inline, code: 'x = 1'}}}",
            "code: 'x = 1'",
        ),
        (
            "{kind: sqlite, script: {source: {type: inline, code: 'SELECT 1'}}}",
            "command: 'SELECT 1'",
        ),
    ],
)
def test_a_file_and_a_text_are_migrated_to_their_own_words(tool: str, canonical: str) -> None:
    text = f"{STEP}{tool}\n"
    migrated = migrate(text, "f.yaml").text
    assert canonical in migrated
    assert "source" not in migrated
    assert load_playbook(migrated, "f.yaml").strict == []
    assert [rule.rule for rule in load_playbook(text, "f.yaml").strict] == ["strict.script"]


def test_inline_python_is_code_and_never_a_template() -> None:
    tool = "{kind: python, script: {source: {type: inline, code: 'result = f\"{{x}}\"'}}}"
    program = load_playbook(f"{STEP}{tool}\n", "f.yaml").program
    assert program is not None
    assert program.steps["a"].tasks[0].inputs.source == {"code": 'result = f"{{x}}"'}


def test_the_files_that_tasks_read_are_known_with_their_places() -> None:
    text = f"{STEP}{{kind: python, script: a.py}}\n- step: b\n  tool: {{kind: sqlite, script: '{{{{ b }}}}'}}\n"
    ((name, place),) = load_playbook(text, "f.yaml").scripts
    assert (name, place.line) == ("a.py", 3)
