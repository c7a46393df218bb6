"""What went wrong, however many runs it took: looked at by problem, and retried."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec import Struct
from playwright.sync_api import Locator, Page, expect

from tests.web.own import own_word
from tests.web.scene import Scene, soon
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=alert(1)>"
# Orders of one account have one problem, whatever their numbers are.
REFUSING = """
metadata: {name: "%(program)s"}
workload: {order: 0, account: none}
workflow:
  - step: charge
    tool:
      - card:
          kind: relay
          outcome:
            status: error
            error:
              kind: refused
              message: "order {{ workload.order }} of {{ workload.account }} %(hostile)s"
"""
# Fails until what it looks for is there.
NEEDY = """
metadata: {name: "%(program)s"}
workflow:
  - step: look
    tool:
      - there:
          kind: shell
          command: "test -e %(path)s || { echo missing %(program)s >&2; exit 3; }"
"""


class Problem(Struct, frozen=True):
    """A program of which all runs have failed alike."""

    program: str
    runs: list[str]
    fingerprint: str


def refused(scene: Scene, program: str, account: str, orders: range) -> Problem:
    document = REFUSING % {"program": program, "hostile": HOSTILE}
    runs = [
        scene.start(document, workload={"order": order, "account": account}) for order in orders
    ]
    for run in runs:
        scene.reach(run, "failed")
    fingerprint = scene.get(f"/api/v1/runs?program={program}&limit=1")["runs"][0]["fingerprint"]
    return Problem(program, runs, fingerprint)


@pytest.fixture(scope="module")
def problem(scene: Scene) -> Problem:
    """Nobody retries it."""
    return refused(scene, own_word(), own_word(), range(3))


def heads(page: Page) -> Locator:
    return page.locator("main li h2").get_by_role("button")


def head_of(page: Page, problem: Problem, text: str = "refused") -> Locator:
    return heads(page).filter(has_text=problem.program).filter(has_text=text)


def rows(page: Page) -> Locator:
    return page.get_by_role("table").locator(".grid-row")


def dialog_of(page: Page) -> Locator:
    return page.get_by_role("dialog")


def counts_of(scene: Scene, program: str) -> dict[str, int]:
    states = scene.get(f"/api/v1/runs/facets?program={program}")["states"]
    return {state: count for state, count in states.items() if count}


@pytest.mark.daily
def test_runs_that_failed_alike_are_one_problem(look: Look, scene: Scene, problem: Problem) -> None:
    other = refused(scene, problem.program, own_word(), range(1))
    page = look(f"{scene.url}/failures").page
    page.get_by_label("Program").fill(problem.program)
    page.get_by_label("Program").press("Enter")
    expect(heads(page)).to_have_count(2)
    expect(page.locator(".page-head")).to_contain_text("2 problems in 4 failed runs")
    page.get_by_label("Order").select_option("most")
    expect(heads(page).first).to_contain_text("3 runs")
    expect(heads(page).first).to_contain_text(HOSTILE)
    expect(heads(page).first).to_contain_text("refused in charge")
    groups = scene.get(f"/api/v1/failures?program={problem.program}")["groups"]
    assert {(one["fingerprint"], one["count"]) for one in groups} == {
        (problem.fingerprint, 3),
        (other.fingerprint, 1),
    }
    words = parse_qs(urlsplit(page.url).query)
    assert words == {"program": [problem.program], "order": ["most"]}
    shared = look(page.url).page
    expect(heads(shared).first).to_contain_text("3 runs")


def test_a_problem_is_opened_by_keyboard_and_its_runs_are_found_in_runs(
    look: Look, scene: Scene, problem: Problem
) -> None:
    page = look(f"{scene.url}/failures?program={problem.program}&since=1h").page
    head_of(page, problem, "3 runs").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"group={problem.fingerprint}"))
    expect(rows(page)).to_have_count(3)
    for run in problem.runs:
        expect(page.get_by_role("button", name=f"Retry run {run}")).to_be_visible()
    # A link to it shows it open.
    page.reload()
    expect(rows(page)).to_have_count(3)
    newest = page.get_by_role("link", name="Open the newest")
    expect(newest).to_have_attribute("href", f"/runs/{problem.runs[-1]}")
    page.get_by_role("link", name="Show in Runs").click()
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    expect(page.get_by_role("button", name=f"Remove failure {problem.fingerprint}")).to_be_visible()
    expect(rows(page)).to_have_count(3)
    page.go_back()
    head_of(page, problem, "3 runs").click()
    expect(rows(page)).to_have_count(0)


def test_what_failed_before_the_time_asked_for_is_told(look: Look, scene: Scene) -> None:
    program, account = own_word(), own_word()
    refused(scene, program, account, range(2))
    since = scene.get("/api/v1/runs/facets")["now"]
    refused(scene, program, account, range(1))
    page = look(f"{scene.url}/failures?program={program}&since={since}").page
    heads(page).filter(has_text="1 run").click()
    expect(rows(page)).to_have_count(3)
    expect(page.get_by_text("2 of these runs failed before the time chosen above")).to_be_visible()
    expect(page.get_by_role("button", name="Retry all 3")).to_be_visible()


def test_a_failure_appears_by_itself(look: Look, scene: Scene) -> None:
    program = own_word()
    sight = look(f"{scene.url}/failures?program={program}", **PHONE)
    page = sight.page
    expect(page.get_by_text("No such run failed in this time")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="live")).to_be_visible()
    problem = refused(scene, program, own_word(), range(1))
    head_of(page, problem, "1 run").click()
    expect(rows(page)).to_have_count(1)
    sight.picture("failures-phone-open")
    assert sight.overflow() == 0
    assert sight.barriers() == []


def test_one_some_and_all_runs_of_a_problem_are_retried_once_each(
    look: Look, scene: Scene, tmp_path: Path
) -> None:
    program, path = own_word(), tmp_path / "there"
    document = NEEDY % {"program": program, "path": path}
    first, second, third, _ = [scene.start(document) for _ in range(4)]
    soon(lambda: counts_of(scene, program) == {"failed": 4}, "all four have failed")
    path.touch()
    sight = look(f"{scene.url}/failures?program={program}")
    page = sight.page
    heads(page).filter(has_text=f"missing {program}").click()

    page.get_by_role("button", name=f"Retry run {first}").click()
    agree(page, "This will retry 1 run.", "Retry 1 run")
    expect(dialog_of(page)).to_contain_text("Finished: 1 run retried.")
    soon(lambda: counts_of(scene, program) == {"failed": 4, "done": 1}, "a new run is done")
    dialog_of(page).get_by_role("button", name="Close").click()
    expect(heads(page).first).to_contain_text("3 runs")
    expect(heads(page).first).to_contain_text("1 retried")
    expect(rows(page)).to_have_count(3)

    for run in (second, third):
        page.get_by_label(f"Select run {run}").check()
    page.get_by_role("region", name="Selected runs").get_by_role("button", name="Retry").click()
    expect(dialog_of(page)).to_contain_text("This will retry 2 runs.")
    scene.post(f"/api/v1/runs/{second}/retry", {})
    agree(page, "This will retry 2 runs.", "Retry 2 runs")
    told = "Finished: 1 run retried, 1 was retried before and left alone."
    expect(dialog_of(page)).to_contain_text(told)
    before = dialog_of(page).get_by_role("list", name="Retried before").get_by_role("listitem")
    expect(before).to_have_text(re.compile(rf"{second} was retried before: see run \d+"))
    sight.picture("failures-retried-before")
    assert sight.barriers() == []
    soon(lambda: counts_of(scene, program) == {"failed": 4, "done": 3}, "three are done")
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Retry all 1").click()
    agree(page, "This will retry 1 run: all that match.", "Retry 1 run")
    expect(dialog_of(page)).to_contain_text("Finished: 1 run retried.")
    soon(lambda: counts_of(scene, program) == {"failed": 4, "done": 4}, "each once")
    page.keyboard.press("Escape")
    # It stays in sight until it is closed, and is found again with those that were retried.
    expect(heads(page).first).to_contain_text("4 retried")
    heads(page).first.click()
    expect(heads(page)).to_have_count(0)
    page.get_by_label("Retried runs").select_option("true")
    heads(page).filter(has_text="4 runs").click()
    expect(page.get_by_role("link", name="retried", exact=True)).to_have_count(4)


def agree(page: Page, told: str, name: str) -> None:
    expect(dialog_of(page)).to_contain_text(told)
    expect(dialog_of(page)).to_contain_text("One that somebody retries meanwhile is left alone")
    dialog_of(page).get_by_role("button", name=name, exact=True).click()
