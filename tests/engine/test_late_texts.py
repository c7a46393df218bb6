"""Texts that are rendered when their task is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_control import in_a_world

DOCUMENT = """
metadata: {name: scripted}
workload: {table: orders, n: 3}
workbook:
  - name: count
    tool: {kind: sqlite, script: count.sql}
workflow:
  - step: make
    loop: {in: [1, 2], iterator: item}
    tool:
      - first: {kind: noop, result: {x: 5}}
      - put:
          kind: sqlite
          script: "{{ 'put' }}.sql"
          spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {last: "{{ _attempt }}"}}}}]}}
    next: [{step: count}]
  - step: count
    tool: {kind: workbook, name: count, args: {least: 2}}
    next: [{step: bad}]
  - step: bad
    tool: {kind: sqlite, script: bad.sql}
"""
PUT = """
CREATE TABLE IF NOT EXISTS {{ workload.table }} (item, x, task);
INSERT INTO {{ table }} VALUES ({{ iter.item }}, {{ first.x }}, '{{ _task }} {{ _prev.x }}');
"""
COUNT = "SELECT count(*) AS n, min(task) AS t FROM orders WHERE item >= {{ args.least }}"


@pytest.mark.parametrize(
    ("bad", "kind"),
    [("SELECT {{ 1 + }}", "expression"), ("SELECT {{ 1 + ctx.none }}", "expression")],
)
def test_a_script_reads_what_the_inputs_of_its_task_read(
    tmp_path: Path, bad: str, kind: str
) -> None:
    for name, text in (("put", PUT), ("count", COUNT), ("bad", bad)):
        (tmp_path / f"{name}.sql").write_text(text)

    async def work(world) -> None:
        run = await world.start(DOCUMENT)
        state = await world.ended(run)
        assert state.results["count"].result["rows"] == [{"n": 1, "t": "put 5"}]
        row = await world.database.archive.run(run)
        assert row.error["kind"] == kind
        assert row.error["message"].startswith("the script of bad: ")
        log = await world.log(run)
        assert all("SELECT" not in str(event) for event in log if event.name == "task.started")

    in_a_world(work, tmp_path)
