"""The tour of a newcomer after `make serve`: find the run that waits, read why, make it go on.

Nothing here knows more than the page shows. Each station is kept as a picture; the documentation has them
from here (`make screenshots`), so the names of pictures are written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.web.scene import Scene, a_scene, soon
from tests.web.sight import Sight

Look = Callable[..., Sight]
SCREEN = {"width": 1200, "height": 780}
PHONE = {"width": 390, "height": 844}
# Where to stand, and what has to be seen before the picture is taken.
STATIONS = {
    "tour-people": ("/people", "Ship the release"),
    "tour-workers": ("/workers", "anew worker"),
    "tour-program": ("/programs/orders", "honor_retry_after"),
}


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    """As a newcomer finds it: nobody else has begun runs there."""
    with a_scene() as found:
        yield found


@pytest.fixture
def orders(scene: Scene) -> Iterator[str]:
    """The run that a newcomer is told to look at. Whoever looks after us finds one like it."""
    run = scene.one("retrying", "orders")
    yield run
    if scene.state(run) != "retrying":
        begun = scene.get(f"/api/v1/runs/{run}/picture")
        body = {name: begun[name] for name in ("program", "workload", "labels")}
        again = str(scene.post("/api/v1/runs", body)["run"])
        soon(lambda: waits_as_asked(scene, again), "it waits as long as the server asked")


def waits_as_asked(scene: Scene, run: str) -> bool:
    waits = scene.get(f"/api/v1/runs/{run}/picture")["waits"]
    return [wait["doing"] for wait in waits] == ["retry_after"]


def settled(page: Page) -> None:
    page.wait_for_function("() => !document.body.innerText.includes('Loading ')")


@pytest.mark.daily
def test_a_newcomer_makes_a_retrying_run_go_on(look: Look, scene: Scene, orders: str) -> None:
    sight = look(scene.url, **SCREEN)
    page = sight.page

    # There are runs in many states; one of them is retrying.
    expect(page.get_by_role("table", name="Runs")).to_contain_text("orders")
    sight.picture("tour-runs")
    page.get_by_role("group", name="States").get_by_role("button", name="retrying").click()
    row = page.get_by_role("row").filter(has_text=orders)
    expect(row).to_contain_text(re.compile(r"orders.*fetch, attempt 4, in \d+:\d\d"))
    row.get_by_role("link", name=orders).click()

    # What does it wait for?
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text(
        re.compile(
            r"Waiting to retry fetch \(attempt 4 of 8\) in \d+:\d\d: HTTP 429 Too Many Requests from GET .*Retry-After 10 min"
        )
    )
    expect(page.get_by_role("button", name=re.compile("fetch, entry, retrying"))).to_be_visible()
    sight.picture("tour-run")

    # Why did it fail three times?
    page.get_by_role("tab", name="Attempts").click()
    failed = page.get_by_role("row").filter(has_text="HTTP 429")
    expect(failed).to_have_count(3)
    expect(failed.nth(0)).to_contain_text("0.5 s: exponential 0.5 s")
    expect(failed.nth(2)).to_contain_text("Retry-After 600.0 s")
    sight.picture("tour-attempts")

    # Who decided to wait ten minutes? A line of the document.
    failed.nth(2).get_by_role("link", name=re.compile("rule 2, line")).click()
    expect(page.locator(".source-line.pointed")).to_contain_text("outcome.http.status == 429")
    sight.picture("tour-rule")

    # Make it go on.
    page.get_by_role("tab", name="Overview").click()
    page.get_by_role("toolbar", name="Actions").get_by_role("button", name="Run now").click()
    asked = page.get_by_role("dialog", name="Run now")
    expect(asked).to_contain_text("Attempt 4 of fetch starts now.")
    asked.get_by_text("CLI and API").click()
    expect(asked.get_by_label("command line")).to_contain_text(f"anew skip {orders} fetch")
    sight.picture("tour-run-now")
    asked.get_by_role("button", name="Run now").click()

    # It did.
    expect(verdict).to_contain_text(re.compile("Done in .*3 retries"))
    expect(page.get_by_role("button", name="store, done", exact=True)).to_be_visible()
    expect(page.get_by_role("toolbar").get_by_role("button", name="Run now")).to_be_hidden()
    sight.picture("tour-done")
    assert scene.state(orders) == "done"


@pytest.mark.parametrize("name", STATIONS)
def test_the_other_pages_have_something_to_show(look: Look, scene: Scene, name: str) -> None:
    path, seen = STATIONS[name]
    sight = look(scene.url + path, **SCREEN)
    expect(sight.page.locator("main")).to_contain_text(re.compile(seen))
    settled(sight.page)
    sight.picture(name)


def test_failures_of_one_kind_are_found_and_counted_before_a_retry(
    look: Look, scene: Scene
) -> None:
    sight = look(f"{scene.url}/failures?order=most", **SCREEN)
    page = sight.page
    page.get_by_role("button", name=re.compile(r"\d+ runs.*HTTP 503")).click()
    expect(page.get_by_role("button", name=re.compile("^Retry run")).first).to_be_visible()
    sight.picture("tour-failures")
    page.get_by_role("button", name=re.compile(r"^Retry all \d+")).click()
    asked = page.get_by_role("dialog", name=re.compile("^Retry"))
    expect(asked.get_by_role("button", name=re.compile(r"^Retry \d+ runs$"))).to_be_visible()
    expect(asked).to_contain_text("anew bulk retry")
    sight.picture("tour-retry-many")


def test_another_policy_is_tried_on_a_run_that_failed(look: Look, scene: Scene) -> None:
    run = scene.get("/api/v1/runs?program=invoices&label=customer%3Dc2&limit=1")["runs"][0]["run"]
    sight = look(f"{scene.url}/programs/invoices?try={run}", **SCREEN)
    text = sight.page.get_by_role("textbox", name="invoices.yaml, to be changed")
    text.fill(text.input_value().replace("attempts: 3", "attempts: 2"))
    sight.page.get_by_role("button", name="Try it").click()
    outcome = sight.page.get_by_role("region", name="How it would have gone")
    expect(outcome).to_contain_text("The run would have ended as it did")
    sight.picture("tour-policy")


def test_the_run_is_read_at_night_and_on_a_phone(look: Look, scene: Scene, orders: str) -> None:
    for name, screen in (
        ("tour-dark", {**SCREEN, "scheme": "dark"}),
        ("tour-phone", PHONE),
    ):
        sight = look(f"{scene.url}/runs/{orders}", **screen)
        expect(sight.page.get_by_role("region", name="Verdict")).to_contain_text("Waiting to retry")
        settled(sight.page)
        sight.picture(name)
        assert sight.overflow() == 0
