"""Which files of a document do not travel with it to a server."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from anew.surfaces.cli.server_files import warn_of_files

DOCUMENT = """
workflow:
  - step: start
    tool:
      - read: {kind: sqlite, database: shop.db, command: SELECT 1}
      - copy:
          kind: transfer
          source: {tool: file, file: orders.csv}
          target: {type: duckdb, database: /srv/all.db, table: orders}
      - memory:
          kind: transfer
          source: {type: http, url: "https://example.com/orders"}
          target: {type: sqlite, database: "{{ workload.place }}", table: orders}
"""


def test_files_of_tasks_and_of_the_sides_of_transfers_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = load_playbook(DOCUMENT, "f.yaml").program
    assert program is not None
    warn_of_files(program, "f.yaml", "https://server.example")
    assert "the files that tasks name (shop.db, orders.csv):" in capsys.readouterr().err
    warn_of_files(program, "f.yaml", None)
    assert capsys.readouterr().err == ""
