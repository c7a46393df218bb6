"""The log of a run: looked through, opened, taken along, and the run as of any event of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.scene import Scene
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=alert(1)>"
LONG = f"""
metadata: {{name: "{HOSTILE}"}}
workflow:
  - step: count
    loop: {{in: "{{{{ range(150) | list }}}}", iterator: item, spec: {{mode: parallel, max_in_flight: 50}}}}
    tool:
      - one: {{kind: noop, result: "item {{{{ iter.item }}}}"}}
    next: {{arcs: [{{step: hold}}]}}
  - step: hold
    tool:
      - go: {{kind: wait, signal: go}}
    next: {{arcs: [{{step: again}}]}}
  - step: again
    tool:
      - more: {{kind: wait, signal: more}}
"""


@pytest.fixture
def held(scene: Scene) -> str:
    """A run with some hundred events that waits for a signal."""
    return scene.reach(scene.start(LONG), "signal")


@pytest.fixture(scope="module")
def kept(scene: Scene) -> str:
    """One that nobody sends anything."""
    return scene.reach(scene.start(LONG), "signal")


def of_run(scene: Scene, run: str, more: str = "") -> str:
    return f"{scene.url}/runs/{run}?tab=events{more}"


def events(page: Page) -> Locator:
    return page.get_by_role("table", name="Events")


@pytest.mark.daily
def test_events_are_looked_through_by_family_text_and_step(
    look: Look, scene: Scene, kept: str
) -> None:
    sight = look(of_run(scene, kept))
    page = sight.page
    expect(events(page)).to_contain_text("signal.waiting")
    page.get_by_role("button", name="run", exact=True).click()
    expect(events(page)).to_contain_text(f"program {HOSTILE}")
    expect(events(page)).not_to_contain_text("signal.waiting")
    page.get_by_role("button", name="run", exact=True).click()
    page.keyboard.press("/")
    page.keyboard.type("item 149")
    expect(events(page)).to_contain_text("count[149].one")
    # Its start, its outcome, and the head of the table.
    expect(events(page).get_by_role("row")).to_have_count(3)
    page.get_by_role("searchbox", name="Search the events").fill("")
    page.get_by_label("Step").select_option("hold")
    expect(events(page)).to_contain_text("signal.waiting")
    expect(events(page)).not_to_contain_text("count[")
    sight.picture("events")
    assert sight.barriers() == []


def test_an_event_is_opened_by_keyboard_and_shows_the_run_as_of_then(
    look: Look, scene: Scene, kept: str
) -> None:
    sight = look(of_run(scene, kept, "&family=run&family=step"))
    page = sight.page
    row = events(page).get_by_role("row").filter(has_text="run.started")
    row.focus()
    for key in ("ArrowDown", "Enter"):
        page.keyboard.press(key)
    detail = page.get_by_role("region", name="Event", exact=True)
    expect(detail).to_contain_text("step.scheduled")
    expect(detail).to_contain_text("tokens")
    expect(detail).to_contain_text("step scheduled")
    assert sight.barriers() == []
    detail.get_by_role("button", name="Show the run as of this event").click()
    expect(page.get_by_text(re.compile("As of event"))).to_be_visible()
    number = number_in(page.url, "event")
    assert number_in(page.url, "at") == number
    events(page).get_by_role("button", name="Show the run as of event 2", exact=True).click()
    expect(page).to_have_url(re.compile("[?&]at=2(&|$)"))


def number_in(url: str, word: str) -> str | None:
    found = re.search(rf"[?&]{word}=(\d+)", url)
    return found and found[1]


def test_the_log_stays_at_its_end_while_the_run_goes_on(
    look: Look, scene: Scene, held: str
) -> None:
    page = look(of_run(scene, held)).page
    expect(events(page)).to_contain_text("signal.waiting")
    scene.post(f"/api/v1/runs/{held}/signals/go")
    expect(events(page)).to_contain_text("again.more")
    # Who has scrolled up stays there.
    events(page).evaluate("box => { box.scrollTop = 0 }")
    expect(events(page)).to_contain_text("run.requested")
    scene.post(f"/api/v1/runs/{held}/signals/more")
    scene.reach(held, "done")
    count = scene.get(f"/api/v1/runs/{held}")["events"]
    expect(events(page)).to_have_attribute("aria-rowcount", str(count + 1))
    expect(events(page)).to_contain_text("run.requested")
    page.get_by_role("button", name="To the newest").click()
    expect(events(page)).to_contain_text("run.done")


def test_the_log_is_taken_along_as_json_lines(look: Look, scene: Scene, kept: str) -> None:
    page = look(of_run(scene, kept)).page
    count = scene.get(f"/api/v1/runs/{kept}")["events"]
    expect(events(page)).to_have_attribute("aria-rowcount", str(count + 1))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    text = download.value.path().read_text(encoding="utf-8")
    told = scene.get(f"/api/v1/runs/{kept}/events?limit=1000")["events"]
    for row in told:
        del row["text"]  # what people read of it is not in the log
    assert [json.loads(line) for line in text.splitlines()] == told


def test_the_log_fits_a_phone(look: Look, scene: Scene, kept: str) -> None:
    sight = look(of_run(scene, kept, "&event=3"), **PHONE)
    expect(sight.page.get_by_role("region", name="Event", exact=True)).to_be_visible()
    sight.picture("events-phone", is_whole=True)
    assert sight.overflow() == 0
    assert sight.barriers() == []
