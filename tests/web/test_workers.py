"""Workers and pools: who is there, what waits, and a warning where nobody comes for it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.web.own import own_word
from tests.web.scene import Scene
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}


def start(scene: Scene, pool: str) -> str:
    """A run whose only step asks for a pool."""
    step = {"step": "train", "spec": {"pool": pool}, "tool": [{"go": {"kind": "noop"}}]}
    return scene.start(json.dumps({"metadata": {"name": "training"}, "workflow": [step]}))


def row(page: Page, pool: str):  # type: ignore[no-untyped-def]
    pools = page.get_by_role("table", name="Pools")
    return pools.get_by_role("row").filter(has=page.get_by_role("rowheader", name=pool))


@contextmanager
def running(words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", *words]
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=silent, stderr=silent) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_pool_without_workers_is_told_and_the_command_helps(look: Look, scene: Scene) -> None:
    pool = f"<b>{own_word()}</b>"
    run = start(scene, pool)
    sight = look(f"{scene.url}/workers")
    page = sight.page
    warning = page.get_by_role("alert").filter(has_text=pool)
    expect(warning).to_contain_text(f"Nobody works on pool {pool}. 1 job waits")
    expect(row(page, pool)).to_contain_text("nobody works")
    expect(row(page, pool)).to_contain_text(re.compile(r"oldest (now|\d+ s ago)"))
    assert sight.barriers() == []
    sight.picture("workers-nobody")
    words = shlex.split(warning.get_by_label("command line").inner_text())
    with running(words) as process:
        scene.reach(run, "done")
        expect(warning).to_have_count(0)
        row(page, pool).get_by_role("button").click()
        expect(page).to_have_url(re.compile(r"[?&]pool="))
        workers = page.get_by_role("table", name="Workers")
        expect(workers.get_by_role("row")).to_have_count(2)
        expect(workers).to_contain_text(re.compile(rf"idle.*{process.pid}.*anew worker"))
        expect(workers).to_contain_text("0 of 32")
        page.get_by_role("button", name="Show all").click()
        expect(workers).to_contain_text("anew serve")


def test_workers_and_pools_fit_a_phone(look: Look, scene: Scene) -> None:
    sight = look(f"{scene.url}/workers", **PHONE)
    expect(row(sight.page, "default")).to_contain_text(re.compile(r"\d+ of 32"))
    # Workers that earlier tests have killed may be listed before the server.
    workers = sight.page.get_by_role("table", name="Workers").get_by_role("row")
    card = workers.filter(has_text="anew serve")
    expect(card).to_contain_text(
        re.compile(r"busy.*heartbeat.*process \d+, anew serve.*pools \S+.*slots \d+ of 32")
    )
    sight.picture("workers-phone-whole", is_whole=True)
    assert sight.overflow() == 0
    assert sight.barriers() == []


@pytest.mark.daily
def test_a_worker_that_is_gone_is_marked_by_a_word(look: Look, scene: Scene) -> None:
    """As the server tells it after the time that a heartbeat may be missed."""
    sight = look("about:blank")
    page = sight.page
    told = scene.get("/api/v1/workers")
    gone = {**told["workers"][0], "worker": "x", "host": "lost-host", "is_alive": False}
    alive = [one for one in told["workers"] if one["is_alive"]]
    answer = {**told, "workers": [gone, *alive]}
    page.route("**/api/v1/workers", lambda route: route.fulfill(json=answer))
    page.goto(f"{scene.url}/workers")
    rows = page.get_by_role("table", name="Workers").get_by_role("row")
    expect(rows.last).to_contain_text(re.compile("^gone.*lost-host"))
    expect(rows.last.locator(".tone-bad svg")).to_be_visible()
    rows.nth(1).focus()
    page.keyboard.press("End")
    expect(rows.last).to_be_focused()
