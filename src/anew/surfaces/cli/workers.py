"""`anew workers`: who works on a database, and how much waits in each pool."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from anew.engine.moments import NANOSECONDS
from anew.runtime.heartbeat import is_alive
from anew.runtime.workforce import PoolStatus, Workforce, workforce_of
from anew.store import Database, Presence
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.paint import Paint, paint_for
from anew.surfaces.cli.tables import table_lines
from anew.views.wording import duration

POOLS_SHOWN = 4


def run(words: list[str]) -> int:
    parser = parser_for(
        "workers",
        purpose="List the processes that work on a database (servers, workers, and commands that\n"
        "run for longer than a second), and the jobs of each pool. Each process reports\n"
        "every ten seconds; one that was killed is listed for a day.",
        example="anew workers\nanew workers --server http://10.0.0.5:8700\nanew workers --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    asked = parser.parse_args(words)

    async def work(database: Database) -> int:
        found = await workforce_of(database)
        if asked.json:
            print(json.dumps(found.row()))
        else:
            _print_text(found)
        return status.DONE

    return read(asked.place, work)


def _print_text(found: Workforce) -> None:
    paint = paint_for(sys.stdout)
    if not found.workers:
        print("no process works here; start `anew serve` or `anew worker`", file=sys.stderr)
    for line in (*_workers(found, paint), *_pools(found, paint)):
        print(line)


def _workers(found: Workforce, paint: Paint) -> Iterator[str]:
    if found.workers:
        head = ("worker", "kind", "host", "process", "pools", "busy", "leases", "seen", "version")
        rows = [_worker(one, found.now) for one in found.workers]
        yield from table_lines([head, *rows], paint)


def _worker(one: Presence, now: int) -> Sequence[str]:
    ago = duration(max(0, now - one.seen_at) / NANOSECONDS)
    more = f" and {len(one.pools) - POOLS_SHOWN} more" if len(one.pools) > POOLS_SHOWN else ""
    return (
        one.worker,
        one.kind,
        one.host,
        str(one.process),
        ", ".join(one.pools[:POOLS_SHOWN]) + more or "all",
        f"{one.busy} of {one.slots}",
        str(one.leases),
        f"{ago} ago" if is_alive(one, now) else f"gone, {ago} ago",
        one.version,
    )


def _pools(found: Workforce, paint: Paint) -> Iterator[str]:
    if not found.pools:
        return
    if found.workers:
        yield ""
    head = ("pool", "workers", "busy", "ready", "for", "waiting", "next due", "leased", "expired")
    yield from table_lines([head, *(_pool(one, found.now) for one in found.pools)], paint)


def _pool(one: PoolStatus, now: int) -> Sequence[str]:
    load = one.load
    oldest, due = load.oldest_ready_at, load.next_due_at
    return (
        load.pool,
        str(one.workers),
        f"{one.busy} of {one.slots}",
        str(load.ready),
        "" if oldest is None else duration((now - oldest) / NANOSECONDS),
        str(load.waiting),
        "" if due is None else f"in {duration((due - now) / NANOSECONDS)}",
        str(load.leased),
        str(load.expired),
    )
