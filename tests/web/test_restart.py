"""A server that goes away and comes back: the page says so, goes on, and has every event once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from signal import SIGKILL, SIGTERM, Signals

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.scene import Scene
from tests.web.serving import Server, a_server
from tests.web.sight import Sight

Look = Callable[..., Sight]
# Writes events for a while each time it is told to, whatever becomes of the server meanwhile.
TICKS = """
metadata: {name: ticks}
workflow:
  - step: hold
    tool: [{go: {kind: wait, signal: go}}]
    next: {arcs: [{step: tick}]}
  - step: tick
    loop: {in: "{{ range(120) | list }}", iterator: item}
    tool: [{rest: {kind: sleep, seconds: 0.02}}]
    next: {arcs: [{step: hold}]}
"""
NOOP = """
metadata: {name: after_the_break}
workflow:
  - step: only
    tool: [{it: {kind: noop}}]
"""
AWAY = "The server cannot be reached"
# What the browser says of a server that is not there; the page says it to the person.
UNREACHED = "net::ERR_"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with a_server(tmp_path_factory.mktemp("restart"), "--no-auth") as found:
        yield found


def events(page: Page) -> Locator:
    return page.get_by_role("table", name="Events")


def has_more_than(page: Page, count: int) -> None:
    """Returns once the page has more events than that."""
    table = "document.querySelector('[role=table][aria-label=Events]')"
    page.wait_for_function(f"count => {table}?.ariaRowCount - 1 > count", arg=count)


def count_of(page: Page) -> int:
    return int(events(page).get_attribute("aria-rowcount") or 0) - 1


def numbers_held(page: Page) -> list[int]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    text = download.value.path().read_text(encoding="utf-8")
    return [json.loads(line)["seq"] for line in text.splitlines()]


def is_gone(server: Server, how: Signals, pages: tuple[Page, Page]) -> None:
    """Stop the server: both pages say so, and keep what they have."""
    run, runs = pages
    server.stop(how)
    expect(run.get_by_text(AWAY)).to_be_visible()
    expect(events(run)).to_contain_text("task.started")
    expect(runs.get_by_text("reconnecting …")).to_be_visible()
    expect(runs.get_by_role("table", name="Runs")).to_contain_text("ticks")


@pytest.mark.daily
def test_no_event_is_lost_or_told_twice_when_the_server_is_restarted(
    look: Look, server: Server
) -> None:
    scene = server.scene
    ticking = scene.start(TICKS)
    first, second = look(f"{scene.url}/runs/{ticking}?tab=events"), look(f"{scene.url}/")
    for sight in (first, second):
        sight.expected.append(UNREACHED)
    run, runs = first.page, second.page
    expect(runs.get_by_text("live", exact=True)).to_be_visible()
    expect(events(run)).to_contain_text("signal.waiting")
    for how in (SIGKILL, SIGTERM):
        held = count_of(run)
        scene.post(f"/api/v1/runs/{ticking}/signals/go")
        has_more_than(run, held + 20)
        is_gone(server, how, (run, runs))
        first.picture("run-reconnecting")
        server.start()
        scene.reach(ticking, "signal")
        has_more_than(run, held + 3 * 120)
        expect(run.get_by_text(AWAY)).to_be_hidden()
        expect(run.locator(".run-head .state")).to_have_text("waiting for a signal")
        expect(runs.get_by_text("live", exact=True)).to_be_visible()
    scene.post(f"/api/v1/runs/{ticking}/cancel")
    expect(events(run)).to_contain_text("run.cancelled")
    newest = scene.get(f"/api/v1/runs/{ticking}")["events"]
    assert numbers_held(run) == list(range(1, newest + 1))
    assert_list_is_live(scene, runs)


def assert_list_is_live(scene: Scene, runs: Page) -> None:
    begun = scene.start(NOOP)
    row = runs.get_by_role("row").filter(has_text=begun)
    expect(row).to_contain_text("done")
    expect(runs.get_by_role("row").filter(has_text="ticks")).to_contain_text("cancelled")
