"""A transfer whose process is killed between batches: every row is there once."""

from __future__ import annotations

import json
import threading

import pytest

from tests.crash.kit import KEY, World
from tests.tools.answering import Answer, Heard, answering
from tests.tools.transfer_calls import rows_at, sqlite_file

PAGES = 5
DOCUMENT = """
metadata: {{name: copy}}
workflow:
  - step: copy
    tool:
      kind: transfer
      source: {{type: http, url: "{url}/items", data_path: items, paginate: {{page: page}}}}
      target: {{type: {target}}}
      batch_size: 1
"""
TARGETS = [
    pytest.param("sqlite, database: a.db, table: copies", marks=pytest.mark.daily, id="sqlite"),
    pytest.param("file, path: a.json", id="file"),
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_killed_transfer_resumes_at_the_next_batch(world: World, target: str) -> None:
    asked_for_page_3, may_answer = threading.Event(), threading.Event()
    pages: list[int] = []

    def answer(heard: Heard) -> Answer:
        page = int(heard.query["page"])
        pages.append(page)
        if page == 3 and pages.count(3) == 1:
            asked_for_page_3.set()
            may_answer.wait(60)
        rows = [{"id": 2 * page + n} for n in range(2)] if page <= PAGES else []
        return Answer({"items": rows})

    file = sqlite_file(world.folder / "a.db", "CREATE TABLE copies (id INTEGER)")
    with answering(answer) as (url, _):
        document = world.write("copy.yaml", DOCUMENT.format(url=url, target=target))
        going = world.begin("run", document, "--key", KEY)
        assert asked_for_page_3.wait(60), going.err()
        going.kill()
        may_answer.set()
        found = world.bring_to_end("run", document, "--key", KEY)
    assert [row["status"] for row in found["runs"]] == ["done"]
    (log,) = found["logs"].values()
    processed = [row["data"] for row in log if row["name"] == "task.processed"]
    assert processed[-1]["outcome"]["result"] == {"rows": 10, "batches": 10}
    # The two pages that were written are not asked for again, except the one it resumed in.
    assert pages.count(1) == 1
    written = world.folder / "a.json"
    ids = [row["id"] for row in json.loads(written.read_text())] if written.exists() else []
    copied = [number for (number,) in rows_at(file, "SELECT id FROM copies ORDER BY id")]
    assert (ids or copied) == list(range(2, 12))
