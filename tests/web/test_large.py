"""A run of ten thousand events and a list of a hundred thousand runs: all of it can be reached."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec import Struct
from playwright.sync_api import Locator, Page, expect

from tests.web.scene import ROOT, Scene
from tests.web.serving import a_server
from tests.web.sight import Sight

Look = Callable[..., Sight]
OLDEST, OTHERS = 1_000, 99_000
EVENTS = 10_000
# Whatever there is, only what is in sight is made.
ROWS_MAX = 300
ELEMENTS_MAX = 5_000
LONG = """
metadata: {name: long}
workflow:
  - step: many
    loop: {in: "{{ range(3400) | list }}", iterator: item, spec: {mode: parallel, max_in_flight: 8}}
    tool: {kind: noop, result: "{{ iter.item }}"}
"""


class Filled(Struct, frozen=True):
    scene: Scene
    # After the oldest of its runs, and before all others.
    between: str


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("large")
    fill(folder, OLDEST)
    between = datetime.now(UTC).isoformat()
    fill(folder, OTHERS)
    with a_server(folder, "--no-auth") as server:
        yield Filled(server.scene, between)


def fill(folder: Path, number: int) -> None:
    words = ["bench.growth.filling", "finished", str(number), str(folder)]
    command = [sys.executable, "-m", *words]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def scene(filled: Filled) -> Scene:
    return filled.scene


@pytest.fixture(scope="module")
def run(scene: Scene) -> str:
    return scene.reach(scene.start(LONG), "done")


def is_small(page: Page) -> None:
    """What is made does not grow with what there is."""
    assert page.get_by_role("row").count() < ROWS_MAX
    assert page.locator("*").count() < ELEMENTS_MAX


def has_rows(table: Locator, count: int) -> None:
    """Scroll to the end of what there is, until it is that much."""
    table.evaluate(
        """async (box, count) => {
            while (box.ariaRowCount - 1 < count) {
                box.scrollTop = box.scrollHeight;
                await new Promise(requestAnimationFrame);
            }
            box.scrollTop = box.scrollHeight;
        }""",
        count,
    )


@pytest.mark.daily
def test_a_run_of_ten_thousand_events_is_shown_and_read_from_end_to_end(
    look: Look, scene: Scene, run: str
) -> None:
    newest = scene.get(f"/api/v1/runs/{run}")["events"]
    assert newest >= EVENTS
    sight = look(f"{scene.url}/runs/{run}")
    page = sight.page
    many = page.locator('.graph-node[data-step="many"]').get_by_role("button")
    expect(many).to_have_accessible_name("many, entry, done, 3,400 / 3,400")
    lane = page.get_by_role("region", name="Steps over time").get_by_role("row")
    expect(lane).to_contain_text("3,400 / 3,400")
    is_small(page)
    sight.picture("run-large")
    page.get_by_role("tab", name="Events").click()
    events = page.get_by_role("table", name="Events")
    expect(events).to_have_attribute("aria-rowcount", str(newest + 1))
    expect(events).to_contain_text("run.done")
    is_small(page)
    row = events.get_by_role("row").last
    row.focus()
    page.keyboard.press("Home")
    expect(events).to_contain_text("run.requested")
    expect(events.locator("[role=row]:focus")).to_have_attribute("aria-rowindex", "2")
    is_small(page)
    page.keyboard.press("End")
    expect(events.locator("[role=row]:focus")).to_have_attribute("aria-rowindex", str(newest + 1))
    # Any moment of it can be looked at.
    page.goto(f"{scene.url}/runs/{run}?at=5000")
    expect(page.locator(".run-past")).to_contain_text("As of event 5,000 of 10,")
    expect(many).to_have_accessible_name(re.compile(r"running, 1,\d\d\d / 3,400"))


def test_a_list_of_a_hundred_thousand_runs_is_gone_through(
    look: Look, scene: Scene, run: str
) -> None:
    sight = look(f"{scene.url}/")
    page = sight.page
    assert total_of(scene, "") > OLDEST + OTHERS
    expect(page.get_by_text(f"{total_of(scene, ''):,} runs")).to_be_visible()
    table = page.get_by_role("table", name="Runs")
    expect(table.get_by_role("row").nth(1)).to_contain_text(run)
    is_small(page)
    # Farther than the page keeps what it has seen; the way back leads to the same rows.
    has_rows(table, 6_000)
    table.get_by_role("row").last.focus()
    is_small(page)
    page.keyboard.press("Home")
    expect(table.get_by_role("row").nth(1)).to_contain_text(run)
    sight.picture("runs-large")


def test_the_last_row_of_the_list_is_the_oldest_run(look: Look, filled: Filled) -> None:
    until = f"until={quote(filled.between)}"
    count = total_of(filled.scene, until)
    assert count > OLDEST
    page = look(f"{filled.scene.url}/?{until}").page
    table = page.get_by_role("table", name="Runs")
    has_rows(table, count)
    last = table.get_by_role("row").last
    expect(last).to_have_attribute("aria-rowindex", str(count + 1))
    expect(last).to_contain_text(oldest_of(filled.scene, until))
    is_small(page)


def total_of(scene: Scene, query: str) -> int:
    return int(scene.get(f"/api/v1/runs/facets?{query}")["total"])


def oldest_of(scene: Scene, query: str) -> str:
    page = scene.get(f"/api/v1/runs?{query}")
    while page["next"] is not None:
        page = scene.get(f"/api/v1/runs?{query}&before={page['next']}")
    return str(page["runs"][-1]["run"])
