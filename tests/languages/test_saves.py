"""The older `save` block: what it compiles to, what is wrong with it, and that it still runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import duckdb
import pytest

from anew.lab.script import script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages.playbook import load_playbook
from anew.languages.playbook.desugar.saves import SAVE_WORDS, STORAGES
from anew.languages.playbook.desugar.statements import Mode
from anew.languages.playbook.migrate import migrate
from anew.program.program import Program, Task
from anew.values import Object, Value

STEP = "workflow:\n- step: a\n  tool: {kind: noop}\n"
CREATED = 'CREATE TABLE "order" (id INTEGER PRIMARY KEY, "user" TEXT)'
SELECTED = 'SELECT * FROM "order" ORDER BY id'
TABLE = "storage: sqlite, table: t"


def load(text: str) -> Program:
    loaded = load_playbook(text, "f.yaml")
    assert loaded.program is not None, loaded.findings
    return loaded.program


def saved(block: str) -> Task:
    """The storage task of a block on a step."""
    step = load(f"{STEP}  save: {{{block}}}\n").steps["a"]
    assert [task.label for task in step.tasks] == ["a", "save", "result"]
    return step.tasks[1]


def source(task: Task) -> Object:
    said: Value = task.inputs.source
    assert isinstance(said, dict)
    return said


def play(text: str, outcomes: Object) -> Simulation:
    return simulate(load(text), script_of({"outcomes": outcomes}))


# --- statements ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "command"),
    [
        ("data: {a: 1, b: 2}", 'INSERT INTO "t" ("a", "b") VALUES (:a, :b)'),
        (
            "mode: upsert, key: a, data: {a: 1, b: 2}",
            'INSERT INTO "t" ("a", "b") VALUES (:a, :b) ON CONFLICT ("a") '
            'DO UPDATE SET "b" = EXCLUDED."b"',
        ),
        (
            "mode: upsert, key: [a, b], args: {a: 1, b: 2}",
            'INSERT INTO "t" ("a", "b") VALUES (:a, :b) ON CONFLICT ("a", "b") DO NOTHING',
        ),
        (
            "mode: update, key: [a, b], args: {a: 1, b: 2, c: 3}",
            'UPDATE "t" SET "c" = :c WHERE "a" = :a AND "b" = :b',
        ),
    ],
)
def test_a_save_into_a_table_becomes_a_statement_with_bound_values(
    block: str, command: str
) -> None:
    said = source(saved(f"{TABLE}, {block}"))
    assert said["command"] == command
    assert said["params"].keys() == {"a", "b"} | ({"c"} if ":c" in command else set())


def rows_in_sqlite(statements: list[tuple[str, Object]]) -> list[tuple[object, ...]]:
    connection = apsw.Connection(":memory:")
    connection.execute(CREATED)
    for command, params in statements:
        connection.execute(command, params)
    return list(connection.execute(SELECTED))


def rows_in_duckdb(statements: list[tuple[str, Object]]) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(CREATED)
        for command, params in statements:
            connection.execute(command, params)
        return connection.execute(SELECTED).fetchall()


@pytest.mark.parametrize(
    ("storage", "rows_in"), [("sqlite", rows_in_sqlite), ("duckdb", rows_in_duckdb)]
)
def test_databases_understand_the_statements(
    storage: str, rows_in: Callable[[list[tuple[str, Object]]], list[tuple[object, ...]]]
) -> None:
    blocks = [
        'data: {id: 1, "user": a}',
        "data: {id: 2, user: b}",
        "mode: upsert, key: id, data: {id: 1, user: A}",
        "mode: upsert, key: [id], data: {id: 3}",
        "mode: upsert, key: id, data: {id: 3}",
        "mode: update, key: id, data: {user: B, id: 2}",
    ]
    said = [source(saved(f"storage: {storage}, table: order, {block}")) for block in blocks]
    rows = rows_in([(each["command"], each["params"]) for each in said])
    assert rows == [(1, "A"), (2, "B"), (3, None)]


def test_a_table_may_have_a_schema_and_postgres_reads_names_in_lower_case() -> None:
    block = "storage: postgres, auth: pg, table: Public.Order, data: {userId: 1}"
    assert source(saved(block)) == {
        "command": 'INSERT INTO "public"."order" ("userid") VALUES (:userId)',
        "params": {"userId": 1},
        "auth": "pg",
    }


@pytest.mark.parametrize("name", ["statement", "command", "query"])
def test_a_save_may_bring_its_own_statement(name: str) -> None:
    said = source(saved(f"storage: duckdb, {name}: DELETE FROM t, params: {{a: 1}}"))
    assert said == {"command": "DELETE FROM t", "params": {"a": 1}}
    said = source(saved(f"storage: duckdb, {name}: DELETE FROM t, data: {{a: 1}}"))
    assert said == {"command": "DELETE FROM t", "params": {"a": 1}}


# --- other storages and forms --------------------------------------------------------------------


def test_an_http_save_posts_its_data() -> None:
    task = saved('storage: http, endpoint: "http://x", data: {a: 1}')
    assert source(task) == {"method": "POST", "json": {"a": 1}, "url": "http://x"}
    task = saved('storage: http, url: "http://x", method: PUT, body: x')
    assert source(task) == {"url": "http://x", "method": "PUT", "body": "x"}


def test_a_python_save_is_given_its_data_and_its_code_is_never_rendered() -> None:
    task = saved('storage: python, code: \'print("{{ data }}")\', args: {a: "{{ data }}"}')
    assert task.kind == "python"
    assert source(task)["code"] == 'print("{{ data }}")'
    assert "_prev" in source(task)["args"]["a"]


@pytest.mark.parametrize(
    "block",
    [
        "tool: sqlite, table: t, data: {a: 1}",
        "tool: {kind: sqlite, table: t}, data: {a: 1}",
        "storage: {type: sqlite, table: t, data: {a: 1}}",
    ],
)
def test_a_storage_in_every_form(block: str) -> None:
    assert source(saved(block))["params"] == {"a": 1}


@pytest.mark.parametrize("word", ["event", "event_log"])
def test_a_save_into_the_log_is_no_task(word: str) -> None:
    loaded = load_playbook(f"{STEP}  save: {{storage: {word}}}\n", "f.yaml")
    assert loaded.program is not None
    assert [task.label for task in loaded.program.steps["a"].tasks] == ["a"]
    assert [found.rule for found in loaded.strict] == ["strict.save"]


def test_an_empty_save_asks_for_nothing() -> None:
    assert len(load(f"{STEP}  save:\n").steps["a"].tasks) == 1


def test_labels_that_are_taken_get_a_number() -> None:
    tool = "  tool:\n  - save: {kind: noop}\n  - result: {kind: noop}\n"
    text = f"workflow:\n- step: a\n{tool}  save: {{{TABLE}, data: {{a: 1}}}}\n"
    labels = [task.label for task in load(text).steps["a"].tasks]
    assert labels == ["save", "result", "save_2", "result_2"]


def test_the_result_of_a_step_that_no_template_can_read_is_not_kept() -> None:
    text = f"{STEP.replace('step: a', 'step: job')}  save: {{{TABLE}, data: {{a: 1}}}}\n"
    assert [task.label for task in load(text).steps["job"].tasks] == ["job", "save"]


def test_a_retry_block_beside_a_save_belongs_to_the_tool() -> None:
    text = (
        f"workflow:\n- step: a\n  tool: http\n  url: u\n  retry: 2\n"
        f"  sink: {{{TABLE}, data: {{a: 1}}}}\n"
    )
    first, second, _ = load(text).steps["a"].tasks
    assert first.policy.rules
    assert not second.policy.rules


# --- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "rule", "word"),
    [
        ("table: t", "save.storage", "where to store"),
        ("storage: postgress, auth: p, table: t, data: {a: 1}", "save.storage", "'postgres'"),
        ("storage: sqlite, data: {a: 1}", "save.table", "neither"),
        ('storage: sqlite, table: "t; DROP", data: {a: 1}', "save.table", "'t; DROP'"),
        ('storage: sqlite, table: "{{ ctx.t }}", data: {a: 1}', "save.table", "ctx.t"),
        ("storage: sqlite, table: a.b.c.d, data: {a: 1}", "save.table", "a.b.c.d"),
        (TABLE, "save.data", "columns"),
        (f'{TABLE}, data: "{{{{ result }}}}"', "save.data", "result"),
        (f"{TABLE}, data: {{'a b': 1}}", "save.data", "'a b'"),
        (f"{TABLE}, mode: upsrt, data: {{a: 1}}", "save.mode", "'upsert'"),
        (f"{TABLE}, mode: upsert, data: {{a: 1}}", "save.key", "needs `key`"),
        (f"{TABLE}, mode: upsert, key: ab, data: {{aa: 1}}", "save.key", "'ab'"),
        (f"{TABLE}, mode: update, key: a, data: {{a: 1}}", "save.key", "no column"),
        (f"{TABLE}, mode: update, key: {{a: 1}}, data: {{a: 1}}", "save.key", "a mapping"),
        (f"{TABLE}, data: {{a: 1}}, args: {{b: 1}}", "tool.input-twice", "args"),
        (f"{TABLE}, data: {{a: 1}}, params: {{a: 2}}", "tool.input-twice", "`params`"),
        ("storage: http, url: u, data: {a: 1}, body: x", "tool.input-twice", "`body`"),
        ("storage: http, url: u, data: {a: 1}, json: x", "tool.input-twice", "`json`"),
        (f"{TABLE}, data: {{a: 1}}, when: ctx.x", "dialect.unsupported", "when"),
        (f"{TABLE}, data: {{a: 1}}, retry: true", "dialect.unsupported", "with its rules"),
        (f"{TABLE}, data: {{a: 1}}, auth: p, credential: p", "tool.input-twice", "`auth`"),
        ("storage: postgres, table: t, data: {a: 1}", "tool.input-missing", "`auth`"),
        (
            f'{TABLE}, data: {{a: "{{% for data in [1] %}}{{{{ data }}}}{{% endfor %}}"}}',
            "dialect.unsupported",
            "another meaning",
        ),
    ],
)
def test_a_wrong_save_is_an_error_that_says_what_to_do(block: str, rule: str, word: str) -> None:
    loaded = load_playbook(f"{STEP}  save: {{{block}}}\n", "f.yaml")
    found = next(found for found in loaded.findings if found.rule == rule)
    assert loaded.program is None
    assert word in f"{found.message} {found.suggestion}"
    assert found.place.line == 4


def test_a_step_has_one_save() -> None:
    text = f"{STEP}  save: {{storage: event}}\n  sink: {{storage: event}}\n"
    assert [found.rule for found in load_playbook(text, "f.yaml").findings] == ["tool.input-twice"]


@pytest.mark.parametrize("key", ["save", "sink"])
def test_a_task_of_a_pipeline_is_followed_by_another_task_instead(key: str) -> None:
    text = f"workflow:\n- step: a\n  tool:\n  - t: {{kind: noop, {key}: {{}}}}\n"
    (found,) = load_playbook(text, "f.yaml").findings
    assert found.rule == "dialect.unsupported"


# --- runs ----------------------------------------------------------------------------------------

FETCH = """\
workflow:
- step: fetch
  tool: {kind: http, url: u}
  save:
    storage: sqlite
    table: pages
    data:
      whole: "{{ result }}"
      again: "{{ this.status_code }}{{ response['status_code'] }}"
      body: "{{ data }}"
      id: "{{ data.id }}"
      named: "{{ fetch.data.id }} {{ workload.data }}"
  next: last
- step: last
  tool: {kind: noop, result: "{{ fetch.data.id }} {{ fetch.save.row_count }}"}
"""
GIVEN: Object = {"status_code": 200, "data": {"id": 7}}
SCRIPT: Object = {
    "fetch.fetch": {"result": GIVEN},
    "save": {"result": {"row_count": 1}},
    "result": {"result": GIVEN},
}


def inputs_of(ran: Simulation, task: str) -> Value:
    return next(e.inputs for e in ran.log if e.name == "task.started" and e.task == task)  # type: ignore[union-attr]


@pytest.mark.parametrize("is_migrated", [False, True])
def test_a_save_reads_the_result_of_the_tool_in_all_its_words(is_migrated: bool) -> None:
    text = migrate(FETCH, "f.yaml").text if is_migrated else FETCH
    assert text is not None
    ran = play(text, SCRIPT)
    assert inputs_of(ran, "save")["params"] == {
        "whole": GIVEN,
        "again": "200200",
        "body": {"id": 7},
        "id": 7,
        "named": "7 ",
    }


@pytest.mark.parametrize("is_migrated", [False, True])
def test_the_result_of_a_step_with_a_save_is_that_of_its_tool(is_migrated: bool) -> None:
    text = migrate(FETCH, "f.yaml").text if is_migrated else FETCH
    assert text is not None
    ran = play(text, SCRIPT)
    assert inputs_of(ran, "result") == {"result": GIVEN}
    assert inputs_of(ran, "last") == {"result": "7 1"}


def test_the_result_is_kept_also_where_no_template_could_name_the_step() -> None:
    ran = play(FETCH.replace("step: fetch\n", "step: fetch-it\n"), {"fetch-it": {"result": GIVEN}})
    assert inputs_of(ran, "result") == {"result": GIVEN}


def test_data_is_the_result_itself_where_it_has_none() -> None:
    for given in ([1, 2], {"x": 1}, "text", None):
        ran = play(FETCH, {"fetch.fetch": {"result": given}})
        assert inputs_of(ran, "save")["params"]["body"] == given


def test_a_save_that_fails_fails_its_step() -> None:
    ran = play(FETCH, {"save": {"error": {"kind": "db_error", "message": "no such table"}}})
    assert ran.status == "failed"
    assert [event.step for event in ran.log if event.name == "step.failed"] == ["fetch"]


# --- migrate and the reference -------------------------------------------------------------------


def test_a_save_is_migrated_to_tasks() -> None:
    text = (
        "workflow:\n- step: a\n  tool: {kind: noop}\n  # to the books\n"
        "  save: {storage: sqlite, table: t, data: {id: '{{ result.id }}'}}\n"
    )
    assert migrate(text, "f.yaml").text == (
        "workflow:\n- step: a\n  tool:\n  - a: {kind: noop}\n  # to the books\n"
        "  - save:\n      kind: sqlite\n"
        '      command: \'INSERT INTO "t" ("id") VALUES (:id)\'\n'
        '      params:\n        id: "{{ _prev.id }}"\n'
        '  - result: {kind: noop, result: "{{ a }}"}\n'
    )


def test_an_http_save_is_migrated_with_its_own_method() -> None:
    text = f"{STEP}  save: {{storage: http, url: u, method: PUT}}\n"
    migrated = migrate(text, "f.yaml").text
    assert migrated is not None
    assert source(load(migrated).steps["a"].tasks[1]) == {"url": "u", "method": "PUT"}


def test_a_timeout_of_a_save_is_that_of_its_task() -> None:
    text = f"{STEP}  save: {{{TABLE}, data: {{a: 1}}, timeout: 3}}\n"
    migrated = migrate(text, "f.yaml").text
    assert migrated is not None
    assert "      spec:\n        timeout: 3\n" in migrated
    assert [load(each).steps["a"].tasks[1].timeout for each in (text, migrated)] == [3, 3]


def test_a_save_whose_tool_no_template_can_name_is_left_as_it_is() -> None:
    text = STEP.replace("step: a", "step: a-b") + f"  save: {{{TABLE}, data: {{a: 1}}}}\n"
    migrated = migrate(text, "f.yaml")
    assert migrated.text == text
    assert [found.rule for found in migrated.findings] == ["migrate.kept"]


def test_the_reference_explains_every_word_of_the_block() -> None:
    page = Path(__file__).parents[2] / "docs/reference/playbook.md"
    part = page.read_text(encoding="utf-8").split("## The `save` block")[1].split("\n## ")[0]
    words = {*SAVE_WORDS, *STORAGES, *Mode, "sink", "result", "this", "response"}
    assert [word for word in sorted(words) if f"`{word}`" not in part] == []
