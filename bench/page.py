"""How long a person waits for the page: a run of 10,000 events, and a list of 100,000 runs.

In a real browser, with nothing cached, beside a page of the same server that has little to show.
Without a browser it cannot be measured, which is said.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from playwright.sync_api import Browser, sync_playwright

from anew.store import RunId
from bench.contest import say
from bench.figures import Row, paired, rounded, row
from bench.growth import filling
from bench.growth.engine import Site, engine_at, play

ROUNDS = 7
EVENTS = 10_000
RUNS = 100_000
MILLISECONDS_MAX = 1_000.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
# A loop writes three events for each of its items.
LOOP = """\
metadata: {name: long}
workflow:
  - step: many
    loop: {in: "{{ range(3400) | list }}", iterator: item, spec: {mode: parallel, max_in_flight: 8}}
    tool: {kind: noop, result: "{{ iter.item }}"}
    next: [{step: last}]
  - step: last
    tool: {kind: noop}
"""


def measure() -> list[Row]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        say("page: no browser, not measured")
        return []
    with TemporaryDirectory() as folder:
        run = asyncio.run(_filled(Site(folder)))
        with _served(folder) as url, sync_playwright() as played:
            browser = played.chromium.launch(executable_path=path, args=FLAGS)
            return list(_rows(browser, url, run))


async def _filled(site: Site) -> RunId:
    """A database with all those runs; the long one is the newest."""
    async with engine_at(site) as engine:
        [short] = await play(engine, site.compiled("workflow: [{step: a, tool: {kind: noop}}]"))
    filling.finished(site, short, RUNS)
    async with engine_at(site) as engine:
        [long] = await play(engine, site.compiled(LOOP))
        row = await engine.database.archive.run(long)
    assert row is not None
    assert row.version >= EVENTS, row.version
    return long


@contextmanager
def _served(folder: str) -> Iterator[str]:
    words = ["serve", "--no-auth", "--port", "0", "--db", f"{folder}/anew.db"]
    command = [sys.executable, "-m", "anew", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(folder)) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            server.terminate()


def _rows(browser: Browser, url: str, run: RunId) -> Iterator[Row]:
    places = {
        "empty": (f"{url}/workers", "h1"),
        f"page of a run of {EVENTS:,} events": (f"{url}/runs/{run}", ".run-sentence"),
        f"list of {RUNS:,} runs": (f"{url}/", ".grid-row"),
    }
    # The first round fills the caches of the server, and does not count.
    rounds = [[_seen(browser, *place) for place in places.values()] for _ in range(ROUNDS + 1)][1:]
    empty, *others = zip(*rounds, strict=True)
    for name, taken in zip(list(places)[1:], others, strict=True):
        yield _row(name, taken, empty)


def _seen(browser: Browser, address: str, selector: str) -> float:
    """Milliseconds until what the person came for is on the screen, for one who was never here."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    begun = perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_selector(selector)
    taken = 1000 * (perf_counter() - begun)
    context.close()
    return taken


def _row(name: str, taken: Sequence[float], empty: Sequence[float]) -> Row:
    return row(
        name,
        list(taken),
        "ms",
        peer=f"the page of workers, {median(empty):.0f} ms",
        ratio=rounded(paired(taken, empty)),
        target=f"≤ {MILLISECONDS_MAX:,.0f} ms",
        met=median(taken) <= MILLISECONDS_MAX,
    )
