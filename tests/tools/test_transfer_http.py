"""HTTP servers as sides of a transfer: pages, batches, keys, and what a retry sends again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anew.tools.transfer import TransferTool
from anew.tools.transfer.http_side import next_link
from tests.tools.answering import Answer, Heard, answering
from tests.tools.sql_calls import SqlTool, cancel, error_of, play, result_of, until
from tests.tools.transfer_calls import (
    numbers,
    rows_at,
    sqlite_file,
    transfer_call,
    transferred,
)

PAGE = 4
COUNT = 10
ROWS = [{"id": number, "word": f"n{number}"} for number in range(1, COUNT + 1)]
COPIES = {"type": "sqlite", "database": "a.db", "table": "copies"}


def part(start: int) -> list[dict[str, Any]]:
    return ROWS[start : start + PAGE]


def by_page(heard: Heard) -> Answer:
    return Answer({"data": {"items": part((int(heard.query["page"]) - 1) * PAGE)}})


def by_offset(heard: Heard) -> Answer:
    return Answer({"data": {"items": part(int(heard.query["from"]))}})


def by_cursor(heard: Heard) -> Answer:
    start = int(heard.query.get("cursor", "0"))
    following = start + PAGE if start + PAGE < COUNT else None
    return Answer({"data": {"items": part(start)}, "next": following})


def by_address(heard: Heard) -> Answer:
    start = int(heard.path.removeprefix("/items/") or 0)
    following = f"/items/{start + PAGE}" if start + PAGE < COUNT else None
    link = {"Link": f'<{following}>; rel="next"'} if following else {}
    return Answer({"data": {"items": part(start)}, "next": following}, headers=link)


PAGINGS = [
    (by_page, {"page": "page"}),
    (by_offset, {"offset": "from"}),
    (by_cursor, {"next": "next", "param": "cursor"}),
    (by_address, {"next": "next"}),
    (by_address, {"next": "link"}),
]


@pytest.mark.parametrize(("answer", "paginate"), PAGINGS)
def test_pages_are_read_and_resumed_in_the_middle(
    tmp_path: Path, answer: Callable[[Heard], Answer], paginate: dict[str, str]
) -> None:
    file = numbers(tmp_path / "a.db", 0)
    fails = [False, False, True]

    def failing(heard: Heard) -> Answer:
        return Answer({}, 503) if fails and fails.pop(0) else answer(heard)

    with answering(failing) as (url, heard):
        source = {"type": "http", "url": f"{url}/items/", "data_path": "data.items"}
        source |= {"paginate": paginate, "params": {"size": PAGE}}
        first = transferred(tmp_path, source, COPIES, batch_size=3)
        assert error_of(first)["kind"] == "server_error"
        assert first.helpers["http"]["status"] == 503
        assert rows_at(file, "SELECT count(*) FROM copies") == [(8,)]
        asked = len(heard)
        second = transferred(tmp_path, source, COPIES, batch_size=3)
        assert result_of(second) == {"rows": COUNT, "batches": 5}
        assert len(heard) - asked <= 3
    assert rows_at(file, "SELECT count(*), sum(id) FROM copies") == [(COUNT, 55)]


def test_one_answer_is_one_page_and_csv_is_read(tmp_path: Path) -> None:
    file = numbers(tmp_path / "a.db", 0)
    texts = {"Content-Type": "text/csv"}
    with answering(lambda _: Answer("id,word\n1,a\n2,\n", headers=texts)) as (url, _):
        outcome = transferred(tmp_path, {"type": "http", "url": url}, COPIES)
    assert result_of(outcome) == {"rows": 2, "batches": 1}
    assert rows_at(file, "SELECT * FROM copies") == [(1, "a"), (2, None)]


def test_a_credential_goes_to_the_host_of_the_source_only(tmp_path: Path) -> None:
    numbers(tmp_path / "a.db", 0)
    elsewhere = {"data": [], "next": "http://192.0.2.1/steal"}
    with answering(lambda _: Answer(elsewhere)) as (url, heard):
        source = {"type": "http", "url": url, "auth": {"type": "bearer", "token": "t-123456"}}
        source |= {"data_path": "data", "paginate": {"next": "next"}}
        error = error_of(transferred(tmp_path, source, COPIES))
    assert "on another host" in error["message"]
    assert heard[0].headers["authorization"] == "Bearer t-123456"


def test_a_server_that_names_the_same_page_for_ever_is_left(tmp_path: Path) -> None:
    numbers(tmp_path / "a.db", 0)
    same = {"data": [], "next": "/again"}
    with answering(lambda _: Answer(same)) as (url, _):
        source = {"type": "http", "url": f"{url}/again", "data_path": "data"}
        source["paginate"] = {"next": "next"}
        error = error_of(transferred(tmp_path, source, COPIES))
    assert "same next page" in error["message"]


def test_batches_are_sent_with_keys_and_resumed_at_the_next(tmp_path: Path) -> None:
    numbers(tmp_path / "a.db", 25)
    source = {"type": "sqlite", "database": "a.db", "table": "numbers", "key": "id"}
    states = [201, 429, 201, 201]
    with answering(lambda _: Answer({}, states.pop(0))) as (url, heard):
        target = {"type": "http", "url": f"{url}/bulk", "rows_key": "rows"}
        target |= {"auth": {"type": "api_key", "value": "secret-1"}, "headers": {"X-Of": "me"}}
        first = transferred(tmp_path, source, target, key="run:1", batch_size=10)
        assert error_of(first)["kind"] == "rate_limit"
        second = transferred(tmp_path, source, target, key="run:1", batch_size=10)
        assert result_of(second) == {"rows": 25, "batches": 3}
        third = transferred(tmp_path, source, target, key="run:1", batch_size=10)
        assert result_of(third) == {"rows": 25, "batches": 3}
    keys = [one.headers["idempotency-key"] for one in heard]
    assert keys == ["run:1/1", "run:1/2", "run:1/2", "run:1/3"]
    assert [len(one.body["rows"]) for one in heard] == [10, 10, 10, 5]
    assert heard[0].headers["x-api-key"] == "secret-1"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"paginate": {"next": "a", "page": "b"}}, "one of `next`, `page` and `offset`"),
        ({"paginate": {"pages": 3}}, "`source.paginate` takes first, next, offset"),
        ({"data_path": "no.where"}, "where the answer has nothing"),
        ({"format": "xml"}, "`source.format` must be csv, jsonl, json"),
        ({"url": "ftp://x"}, "must start with http"),
    ],
)
def test_what_a_source_cannot_do_is_refused_in_words(
    tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    sqlite_file(tmp_path / "a.db", "CREATE TABLE copies (id)")
    with answering(lambda _: Answer({"data": []})) as (url, _):
        error = error_of(transferred(tmp_path, {"type": "http", "url": url, **more}, COPIES))
    assert error["kind"] == "config"
    assert words in error["message"]


def test_the_guard_keeps_a_transfer_away_from_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_file(tmp_path / "a.db", "CREATE TABLE copies (id)")
    monkeypatch.setenv("ANEW_HTTP_GUARD", "1")
    with answering(lambda _: Answer([])) as (url, heard):
        error = error_of(transferred(tmp_path, {"type": "http", "url": url}, COPIES))
    assert "the guard (ANEW_HTTP_GUARD) refuses" in error["message"]
    assert heard == []


def test_a_cancelled_transfer_stops_and_resumes_later(tmp_path: Path) -> None:
    file = numbers(tmp_path / "a.db", 0)
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(heard: Heard) -> Answer:
        if heard.query["page"] == "2" and not is_asked.is_set():
            is_asked.set()
            may_answer.wait(60)
        return by_page(heard)

    with answering(slow) as (url, _):
        source = {"type": "http", "url": url, "data_path": "data.items"}
        source |= {"paginate": {"page": "page"}}

        async def scene(tool: SqlTool) -> None:
            task = asyncio.create_task(tool.call(transfer_call(tmp_path, source, COPIES)))
            await until(is_asked.is_set)
            await cancel(task)

        play(TransferTool, scene)
        may_answer.set()
        assert rows_at(file, "SELECT count(*) FROM copies") == [(PAGE,)]
        assert result_of(transferred(tmp_path, source, COPIES))["rows"] == COUNT
    assert rows_at(file, "SELECT count(DISTINCT id) FROM copies") == [(COUNT,)]


@pytest.mark.parametrize("way", ["page", "offset"])
def test_a_server_that_gives_the_same_page_for_ever_is_left(tmp_path: Path, way: str) -> None:
    file = numbers(tmp_path / "a.db", 0)
    with answering(lambda _: Answer(part(0))) as (url, heard):
        source = {"type": "http", "url": url, "paginate": {way: "start"}}
        target = {**COPIES, "key": "id"}
        error = error_of(transferred(tmp_path, source, target, mode="upsert"))
    assert error["kind"] == "config"
    assert "two pages in a row have the same rows" in error["message"]
    assert len(heard) == 2
    assert rows_at(file, "SELECT count(*) FROM copies") == [(PAGE,)]


def test_a_page_that_is_not_found_is_an_error(tmp_path: Path) -> None:
    """It need not be the end: an address may be wrong, or rows hidden from this user."""
    numbers(tmp_path / "a.db", 0)

    def pages(heard: Heard) -> Answer:
        return by_page(heard) if heard.query["page"] == "1" else Answer({}, 404)

    with answering(pages) as (url, _):
        source = {"type": "http", "url": url, "data_path": "data.items"}
        source |= {"paginate": {"page": "page"}}
        assert error_of(transferred(tmp_path, source, COPIES))["kind"] == "not_found"


@pytest.mark.parametrize(
    ("header", "address"),
    [
        ('</a>; rel="next"', "/a"),
        ("</a>; rel=next", "/a"),
        ('</p>; rel="prev", </a>; title="x, y"; rel="last Next"', "/a"),
        ('</a>; rel="nextpage"', None),
        ("</a>; rel=next-archive", None),
        ('</a>; title="; rel=next"; rel="prev"', None),
        ("", None),
    ],
)
def test_only_the_relation_next_names_the_next_page(header: str, address: str | None) -> None:
    assert next_link(header) == address
