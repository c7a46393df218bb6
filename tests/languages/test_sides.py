"""The sides of a transfer in a document: older names, what is reported, what migrate writes."""

from __future__ import annotations

import pytest

from anew.credentials.entries import auths_of_tasks
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.program.program import Program

OLDER = """\
workflow:
- step: start
  tool:
    kind: transfer
    chunk_size: 50
    mode: overwrite
    source: {tool: sqlite, connection: a.db, sql: SELECT 1}
    target:
      kind: postgres
      auth: pg
      table: t
      keys: [id]
"""


def program_of(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    return loaded.program


def inputs_of(text: str) -> object:
    (task,) = program_of(text).tasks
    return task.inputs.source


def found(inputs: str) -> list[tuple[str, str, str]]:
    text = f"workflow:\n- step: start\n  tool: {{kind: transfer, {inputs}}}\n"
    loaded = load_playbook(text, "f.yaml")
    return [(f.severity, f.rule, f"{f.message} {f.suggestion}") for f in loaded.findings]


def test_older_names_of_a_side_become_those_of_its_row() -> None:
    assert inputs_of(OLDER) == {
        "batch_size": 50,
        "mode": "replace",
        "source": {"type": "sqlite", "database": "a.db", "query": "SELECT 1"},
        "target": {"type": "postgres", "auth": "pg", "table": "t", "key": ["id"]},
    }


def test_migrate_writes_a_side_in_its_canonical_form() -> None:
    migrated = migrate(OLDER, "f.yaml")
    assert migrated.text is not None
    assert inputs_of(migrated.text) == inputs_of(OLDER)
    assert "{tool:" not in migrated.text
    assert migrate(migrated.text, "f.yaml").text == migrated.text


def test_the_credential_of_a_side_is_known_to_the_redactor() -> None:
    assert list(auths_of_tasks(program_of(OLDER))) == ["pg"]


def test_a_transfer_is_played_like_any_call() -> None:
    played = simulate(
        program_of(OLDER),
        script_of({"outcomes": {"start": [{"result": {"rows": 3, "batches": 1}}]}}),
    )
    assert played.status == "done"
    assert played.log[-1].result == {"rows": 3, "batches": 1}


SQLITE = "{type: sqlite, table: t}"


@pytest.mark.parametrize(
    ("inputs", "severity", "rule", "words"),
    [
        (f"source: {SQLITE}", "error", "tool.input-missing", "needs `target`"),
        (
            f"source: {{type: sqlit, table: t}}, target: {SQLITE}",
            "error",
            "tool.input-word",
            "Did you mean 'sqlite'?",
        ),
        (
            f"source: {{type: snowflake, query: x}}, target: {SQLITE}",
            "error",
            "dialect.unsupported",
            "source 'snowflake' needs Snowflake, which Anew does not speak to",
        ),
        (f"source: {{table: t}}, target: {SQLITE}", "error", "tool.input-missing", "what it is"),
        (f"source: t, target: {SQLITE}", "warning", "tool.input", "must be an object with `type`"),
        (
            f"source: {SQLITE}, target: {{type: postgres, auth: a}}",
            "error",
            "tool.input-missing",
            "`target` of type postgres needs `table`",
        ),
        (
            f"source: {{type: sqlite, table: t, qurey: x}}, target: {SQLITE}",
            "warning",
            "input.unknown",
            "Did you mean 'query'?",
        ),
        (
            f"source: {{type: sqlite, table: t, query: x}}, target: {SQLITE}",
            "error",
            "tool.input-twice",
            "takes one of `query`, `table`",
        ),
        (
            f"source: {{type: sqlite, path: a, database: b, table: t}}, target: {SQLITE}",
            "error",
            "tool.input-twice",
            "Keep `database`.",
        ),
        (
            f"source: {{type: sqlite, query: 'SELECT {{{{ x }}}}'}}, target: {SQLITE}",
            "warning",
            "sql.template",
            "Pass the value with `params`",
        ),
        (
            f"source: {SQLITE}, target: {SQLITE}, mode: apend",
            "error",
            "tool.input-word",
            "Did you mean 'append'?",
        ),
        (
            f"source: {SQLITE}, target: {{type: http, url: x}}, mode: replace",
            "error",
            "tool.input-twice",
            "cannot be written with mode replace",
        ),
        (
            f"source: {SQLITE}, target: {SQLITE}, mode: upsert",
            "warning",
            "tool.input",
            "Add `key: [id]` to `target`.",
        ),
        (
            f"source: {SQLITE}, target: {SQLITE}, batch_size: many",
            "warning",
            "tool.input",
            "batch_size must be a whole number",
        ),
    ],
)
def test_what_cannot_be_copied_is_reported(
    inputs: str, severity: str, rule: str, words: str
) -> None:
    reported = [row for row in found(inputs) if row[1] == rule]
    assert [row[0] for row in reported] == [severity]
    assert words in reported[0][2]


def test_templates_are_judged_when_they_are_rendered() -> None:
    later = (
        "source: '{{ workload.s }}', target: {type: '{{ workload.t }}'}, mode: '{{ workload.m }}'"
    )
    rules = {row[1] for row in found(f"{later}, batch_size: '{{{{ workload.n }}}}'")}
    assert rules <= {"name.unprovided"}
