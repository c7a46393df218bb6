"""`paginate` reads page after page, and ends where it is told to, where pages end or repeat."""

from __future__ import annotations

import pytest

from anew.lab.bounds import bounds_of
from anew.languages import load_text
from anew.languages.playbook.migrate import migrate
from tests.play import BOOM, play, rows

DOCUMENT = """
workflow:
- step: copy
  tool:
  - page:
      kind: http
      url: http://api/orders
      spec: {policy: {rules: [{when: "{{ outcome.error.retryable }}", then: {do: retry, attempts: 3, delay: 1}}, {when: "{{ outcome.status == 'error' }}", then: {do: fail}}]}}
      paginate: {next: "{{ outcome.result.data.next }}", param: cursor, %s}
  - total: {kind: noop}
"""
LATE = {"error": {"kind": "timeout"}}


def page(cursor, *items):
    return {"result": {"data": {"next": cursor, "rows": list(items)}}}


def paged(more, outcomes, **script):
    return play(DOCUMENT % more, outcomes={"page": outcomes, **script})


def asked(report, task="page"):
    started = (event for event in rows(report, "task.started") if event["task"] == task)
    return [event["data"]["inputs"].get("params", {}).get("cursor") for event in started]


def test_the_cursor_of_each_page_asks_for_the_next_until_there_is_none():
    report = paged("", [page("b", 1), page("c", 2), page(None, 3)])
    assert report["status"] == "done"
    assert asked(report) == [None, "b", "c"]
    assert report["attempts"]["total"] == 1


def test_every_page_has_a_retry_budget_of_its_own_and_keeps_its_cursor():
    tries = [LATE, LATE]
    report = paged("", [page("b"), *tries, page("c"), *tries, page(None, 1)])
    assert report["status"] == "done"
    assert asked(report) == [None, "b", "b", "b", "c", "c", "c"]


def test_items_of_all_pages_are_kept_in_ctx():
    more = 'items: "{{ outcome.result.data.rows }}", into: orders'
    report = paged(more, [page("b", 1, 2), LATE, page("c", 3), page(None, 4)])
    assert report["ctx"]["orders"] == [1, 2, 3, 4]


@pytest.mark.parametrize("sink", ["{kind: noop}", "{save: {kind: noop}}", "total"])
def test_a_sink_takes_every_page_before_the_next_is_asked_for(sink):
    report = paged(f"sink: {sink}", [page("b"), page(None, 1)])
    names = [event["task"] for event in rows(report, "task.started")]
    label = {"total": "total", "{kind: noop}": "page_sink"}.get(sink, "save")
    assert names[:6] == ["page", label, "after_page"] * 2


def test_pages_end_where_the_author_says():
    report = paged('stop_when: "{{ 2 in outcome.result.data.rows }}"', [page("b", 1), page("c", 2)])
    assert (report["status"], asked(report)) == ("done", [None, "b"])


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_pages_are_read_than_the_maximum(most):
    pages = [page(str(number), number) for number in range(9)]
    report = paged(f"max_pages: {most}", pages)
    assert (report["status"], len(asked(report))) == ("done", most)


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        ([page("b", 1), page("b", 2)], 'page 2 gives the cursor "b" again'),
        ([page("b", 1), page("c", 2), page("b", 3)], 'page 3 gives the cursor "b" again'),
        ([page("b", 7), page("c", 7)], "page 2 is the same as page 1"),
    ],
)
def test_pages_that_repeat_fail_the_step_before_anything_is_kept_of_them(pages, told):
    more = 'items: "{{ outcome.result.data.rows }}", into: orders, sink: {kind: noop}'
    report = paged(more, pages)
    assert report["status"] == "failed"
    assert told in report["error"]["message"]
    assert report["attempts"]["page_sink"] == len(pages) - 1


def test_without_a_cursor_pages_are_counted_until_one_is_empty():
    counted = 'items: "{{ outcome.result.data.rows }}", into: orders'
    document = (DOCUMENT % counted).replace('next: "{{ outcome.result.data.next }}", ', "")
    outcomes = [page(None, 1), page(None, 2), page(None)]
    report = play(document, outcomes={"page": outcomes})
    assert asked(report) == [1, 2, 3]
    assert report["ctx"]["orders"] == [1, 2]


def test_the_cursor_may_be_the_address_of_the_next_page():
    document = (DOCUMENT % "").replace("param: cursor", "url: true")
    found = [page("http://api/orders?page=2", 1), page(None, 2)]
    report = play(document, outcomes={"page": found})
    started = [e["data"]["inputs"] for e in rows(report, "task.started") if e["task"] == "page"]
    assert [inputs["url"] for inputs in started] == [
        "http://api/orders",
        "http://api/orders?page=2",
    ]


def test_a_page_that_fails_for_good_fails_the_step():
    report = paged("", [page("b"), BOOM])
    assert (report["status"], report["error"]["message"]) == ("failed", "boom")


def test_every_step_run_of_a_loop_has_pages_of_its_own():
    looped = (DOCUMENT % "").replace("  tool:", "  loop: {in: [1, 2], iterator: n}\n  tool:", 1)
    pages = [page("b", 1), page(None, 2)]
    assert asked(play(looped, outcomes={"page": [*pages, *pages]})) == [None, "b", None, "b"]


def test_bounds_know_the_maximum_of_pages():
    assert not bounds_of(load_text(DOCUMENT % "", "a.yaml").program).executions.is_bounded
    most = bounds_of(load_text(DOCUMENT % "max_pages: 5", "a.yaml").program).executions
    assert most.is_bounded
    assert most.at_most >= 5 * (3 + 1) + 1


def test_migration_keeps_the_word():
    older = "- {step: b, retry: 3, tool: {kind: noop}}\n"
    text = DOCUMENT % "max_pages: 5" + older
    migrated = migrate(text, "a.yaml").text
    assert migrated is not None
    assert (DOCUMENT % "max_pages: 5").strip() in migrated
    assert "retry: 3" not in migrated


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("{param: page}", "an end"),
        ('{next: "{{ a }} {{ b }}", param: c}', "must be one expression"),
        ('{next: "{{ a }}", param: c, url: true}', "both say where the cursor goes"),
        ('{next: "{{ a }}", param: c, sink: nowhere}', "no other task of this step"),
    ],
)
def test_what_is_not_whole_is_an_error(words, told):
    text = f"workflow:\n- step: a\n  tool:\n  - t: {{kind: http, url: u, paginate: {words}}}\n"
    loaded = load_text(text, "a.yaml")
    assert loaded.program is None
    assert any(told in found.message for found in loaded.findings), loaded.findings
