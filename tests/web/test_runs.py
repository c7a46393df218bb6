"""The list of runs: found by every word of a filter, live, and changed many at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec import Struct
from playwright.sync_api import Locator, Page, expect

from tests.web.own import own_word
from tests.web.scene import Scene
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=alert(1)>"
WAITING = """
metadata: {name: "%s"}
workflow:
  - step: hold
    tool: [{go: {kind: wait, signal: go}}]
"""
RETRYING = """
metadata: {name: "%s"}
workflow:
  - step: fetch
    tool:
      - page:
          kind: relay
          outcome: {status: error, error: {kind: busy, message: engaged, retryable: true}}
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 8, delay: 3600, backoff: fixed}
"""
FAILING = """
metadata: {name: "%s"}
workflow:
  - step: send
    tool:
      - post: {kind: relay, outcome: {status: error, error: {kind: %s, message: "%s"}}}
"""
DONE = """
metadata: {name: "%s"}
workflow:
  - step: rest
    tool: [{out: {kind: noop}}]
"""


class Crew(Struct, frozen=True):
    """Runs that are found by a label of theirs; nobody changes them."""

    word: str
    signal: str
    retrying: str
    failed: str
    done: str

    @property
    def runs(self) -> set[str]:
        return {self.signal, self.retrying, self.failed, self.done}

    @property
    def query(self) -> str:
        return f"label=crew={self.word}"


@pytest.fixture(scope="module")
def crew(scene: Scene) -> Crew:
    word = own_word()
    labels = {"crew": word, "team": HOSTILE}
    scene.post("/api/v1/programs", {"document": RETRYING % word, "file": "retrying.yaml"})
    return Crew(
        word,
        scene.reach(scene.start(WAITING % HOSTILE, labels=labels), "signal"),
        scene.reach(
            str(scene.post("/api/v1/runs", {"program": word, "labels": labels})["run"]), "retrying"
        ),
        scene.reach(scene.start(FAILING % ("f", word, HOSTILE), labels=labels), "failed"),
        scene.reach(scene.start(DONE % "d", labels=labels), "done"),
    )


def waiting_runs(scene: Scene, word: str, count: int) -> list[str]:
    """Runs of this label that wait for a signal, oldest first."""
    started = [scene.start(WAITING % "held", labels={"own": word}) for _ in range(count)]
    return [scene.reach(run, "signal") for run in started]


def table(page: Page) -> Locator:
    return page.get_by_role("table", name="Runs")


def rows(page: Page) -> Locator:
    return table(page).locator(".grid-row")


def row_of(page: Page, run: str) -> Locator:
    return rows(page).filter(has=page.get_by_role("link", name=run, exact=True))


def expect_runs(page: Page, runs: set[str] | Sequence[str]) -> None:
    expect(rows(page)).to_have_count(len(runs))
    for run in runs:
        expect(row_of(page, run)).to_be_visible()


# What the button of a state is called where that is another word than the API's.
FACET_NAMES = {"parked": "timer", "dead": "given up"}


def facet(page: Page, state: str) -> Locator:
    """The button of a state; its name starts with its count."""
    word = FACET_NAMES.get(state, state)
    states = page.get_by_role("group", name="States")
    return states.get_by_role("button", name=re.compile(rf"\d {word}( ,|$)"))


def expect_count(page: Page, word: str, count: int) -> None:
    expect(facet(page, word)).to_have_accessible_name(re.compile(f"^{count} "))


def words_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def dialog_of(page: Page) -> Locator:
    return page.get_by_role("dialog")


@pytest.mark.daily
def test_facets_count_what_the_api_counts_and_choose_states(
    look: Look, scene: Scene, crew: Crew
) -> None:
    page = look(f"{scene.url}/?{crew.query}").page
    expect_runs(page, crew.runs)
    counts = scene.get(f"/api/v1/runs/facets?{crew.query}")
    assert counts["total"] == len(crew.runs)
    for state, count in {**counts["states"], "all": counts["total"]}.items():
        expect_count(page, state, count)
    facet(page, "failed").click()
    expect_runs(page, {crew.failed})
    facet(page, "retrying").click()
    expect_runs(page, {crew.failed, crew.retrying})
    assert words_of(page)["state"] == ["failed", "retrying"]
    expect(page.locator(".page-head")).to_contain_text("2 runs")
    # What is not chosen is counted all the same.
    expect_count(page, "done", 1)
    expect(facet(page, "failed")).to_have_attribute("aria-pressed", "true")
    expect(table(page)).to_contain_text(f"{crew.word} {HOSTILE}")
    facet(page, "all").click()
    expect_runs(page, crew.runs)
    expect(table(page)).to_contain_text(f"team={HOSTILE}")


def test_every_word_of_a_filter_is_in_the_address_and_a_link_shows_the_same(
    look: Look, scene: Scene, crew: Crew
) -> None:
    page = look(f"{scene.url}/").page
    search = page.get_by_role("search", name="Runs")
    search.get_by_label("Search").fill(crew.word[:7])
    expect(page).to_have_url(re.compile("text="))
    search.get_by_label("Program").fill(crew.word)
    expect(page).to_have_url(re.compile("program="))
    for name, value in (("Version", "1"), ("Attempt ≥", "2"), ("Label", f"crew={crew.word}")):
        search.get_by_label(name).fill(value)
        search.get_by_label(name).press("Enter")
    search.get_by_label("Next retry within").select_option("1d")
    search.get_by_label("Started").select_option("1h")
    facet(page, "retrying").click()
    expect_runs(page, {crew.retrying})
    assert words_of(page) == {
        "text": [crew.word[:7]],
        "program": [crew.word],
        "version": ["1"],
        "attempt": ["2"],
        "due_within": ["1d"],
        "since": ["1h"],
        "label": [f"crew={crew.word}"],
        "state": ["retrying"],
    }
    shared = look(page.url).page
    expect_runs(shared, {crew.retrying})
    expect(shared.get_by_label("Search")).to_have_value(crew.word[:7])
    expect(shared.get_by_label("Attempt ≥")).to_have_value("2")
    expect(shared.get_by_label("Next retry within")).to_have_value("1d")
    # Each of them counts: the next retry is an hour away.
    search.get_by_label("Next retry within").select_option("5m")
    expect(table(page)).to_contain_text("No run matches")
    page.go_back()
    expect_runs(page, {crew.retrying})
    search.get_by_role("button", name="Clear").click()
    expect(page).to_have_url(f"{scene.url}/")


def test_a_failure_is_found_by_its_kind_and_by_its_fingerprint(
    look: Look, scene: Scene, crew: Crew
) -> None:
    page = look(f"{scene.url}/").page
    page.get_by_label("Error kind").fill(crew.word)
    page.get_by_label("Error kind").press("Enter")
    expect_runs(page, {crew.failed})
    assert words_of(page) == {"error_kind": [crew.word]}
    [listed] = scene.get(f"/api/v1/runs?error_kind={crew.word}")["runs"]
    page.goto(f"{scene.url}/?fingerprint={listed['fingerprint']}")
    expect_runs(page, {crew.failed})
    page.get_by_role("button", name=f"Remove failure {listed['fingerprint']}").click()
    expect(page).to_have_url(f"{scene.url}/")


def test_a_retrying_run_tells_what_it_waits_for_with_a_countdown(
    look: Look, scene: Scene, crew: Crew
) -> None:
    page = look(f"{scene.url}/?{crew.query}").page
    row = row_of(page, crew.retrying)
    expect(row).to_contain_text(re.compile(r"fetch, attempt 2, in \d"))
    countdown = row.locator(".countdown")
    before = seconds_in(countdown.inner_text())
    expect(countdown).not_to_have_text(countdown.inner_text())
    assert 0 < seconds_in(countdown.inner_text()) < before <= 3600
    expect(row_of(page, crew.signal)).to_contain_text("signal go")
    expect(row_of(page, crew.signal)).to_contain_text(HOSTILE)


def seconds_in(clock: str) -> int:
    seconds = 0
    for part in clock.split(":"):
        seconds = 60 * seconds + int(part)
    return seconds


def test_the_scatter_has_a_point_for_each_run_and_the_keyboard_opens_one(
    look: Look, scene: Scene, crew: Crew
) -> None:
    page = look(f"{scene.url}/?{crew.query}").page
    scatter = page.get_by_role("slider", name=re.compile("Start and duration of 4 runs"))
    scatter.focus()
    seen = []
    for key in ("Home", *["ArrowRight"] * 3):
        page.keyboard.press(key)
        told = scatter.get_attribute("aria-valuetext") or ""
        seen.append(told.removeprefix("run ").split(",")[0])
    assert set(seen) == crew.runs
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{scene.url}/runs/{seen[-1]}")
    page.go_back()
    expect_runs(page, crew.runs)


def test_dragging_over_the_scatter_chooses_a_time(look: Look, scene: Scene, crew: Crew) -> None:
    page = look(f"{scene.url}/?{crew.query}").page
    expect_runs(page, crew.runs)
    scatter = page.get_by_role("slider", name=re.compile("Start and duration of 4 runs"))
    scatter.scroll_into_view_if_needed()
    box = scatter.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 60, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 14, middle, steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile("since=.*until="))
    expect_runs(page, crew.runs)
    asked = scene.get(f"/api/v1/runs?{urlsplit(page.url).query}")
    assert {one["run"] for one in asked["runs"]} == crew.runs
    page.get_by_role("button", name=re.compile("Remove started")).click()
    assert words_of(page) == {"label": [f"crew={crew.word}"]}


def test_a_run_appears_and_changes_by_itself(look: Look, scene: Scene) -> None:
    word = own_word()
    page = look(f"{scene.url}/?label=own={word}").page
    expect(page.get_by_role("status").filter(has_text="live")).to_be_visible()
    expect(table(page)).to_contain_text("No run matches")
    page.evaluate("window.isTheSame = true")
    [run] = waiting_runs(scene, word, 1)
    expect(row_of(page, run)).to_contain_text("waiting for a signal")
    expect_count(page, "signal", 1)
    scene.post(f"/api/v1/runs/{run}/signals/go")
    expect(row_of(page, run)).to_contain_text("done")
    expect_count(page, "done", 1)
    assert page.evaluate("window.isTheSame") is True


def test_news_do_not_move_what_is_read_further_down(look: Look, scene: Scene) -> None:
    word = own_word()
    for _ in range(40):
        scene.start(DONE % "many", labels={"own": word})
    page = look(f"{scene.url}/?label=own={word}", height=600).page
    expect_count(page, "done", 40)
    table(page).evaluate("box => { box.scrollTop = 600 }")
    expect(table(page).get_by_role("link").nth(3)).to_be_visible()
    run = scene.start(WAITING % "new", labels={"own": word})
    news = page.get_by_role("status").filter(has_text="newer or changed")
    expect(news).to_contain_text("1 run is newer or changed")
    assert table(page).evaluate("box => box.scrollTop") == 600
    news.get_by_role("button", name="Show").click()
    expect(row_of(page, run)).to_be_visible()
    expect(news).to_have_count(0)


def test_views_are_kept_listed_and_removed(look: Look, scene: Scene, crew: Crew) -> None:
    page = look(f"{scene.url}/?{crew.query}&state=failed").page
    views = page.get_by_role("navigation", name="Views")
    views.get_by_role("button", name="Save this view").click()
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Enter")
    expect(views.get_by_role("link", name=HOSTILE)).to_have_attribute("aria-current", "page")
    views.get_by_role("link", name="Needs attention").click()
    assert set(words_of(page)["state"]) == {"failed", "dead", "person"}
    page.reload()
    views.get_by_role("link", name=HOSTILE).click()
    expect_runs(page, {crew.failed})
    assert words_of(page) == {"state": ["failed"], "label": [f"crew={crew.word}"]}
    views.get_by_role("button", name=f"Remove the view {HOSTILE}").click()
    expect(views.get_by_role("link", name=HOSTILE)).to_have_count(0)
    page.reload()
    expect(views.get_by_role("link", name="Retrying now")).to_be_visible()
    expect(views.get_by_role("link", name=HOSTILE)).to_have_count(0)


def test_runs_are_found_chosen_and_opened_by_keyboard(look: Look, scene: Scene, crew: Crew) -> None:
    page = look(f"{scene.url}/?{crew.query}").page
    expect_runs(page, crew.runs)
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    # What is typed there is text.
    page.keyboard.type("jkx")
    expect(table(page)).to_contain_text("No run matches")
    page.get_by_label("Search").fill("")
    page.keyboard.press("Escape")
    expect_runs(page, crew.runs)
    page.keyboard.press("j")
    expect(rows(page).first).to_be_focused()
    for key in "jjk":
        page.keyboard.press(key)
    expect(rows(page).nth(1)).to_be_focused()
    page.keyboard.press("x")
    selected = page.get_by_role("region", name="Selected runs")
    expect(selected).to_contain_text("1 run selected")
    expect(rows(page).nth(1).get_by_role("checkbox")).to_be_checked()
    # The newest is first.
    expect(rows(page).nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{scene.url}/runs/{sorted(crew.runs)[-2]}")


def test_some_runs_are_cancelled_together_and_who_refuses_is_told(look: Look, scene: Scene) -> None:
    word = own_word()
    one, other, left = waiting_runs(scene, word, 3)
    done = scene.reach(scene.start(DONE % "d", labels={"own": word}), "done")
    sight = look(f"{scene.url}/?label=own={word}")
    page = sight.page
    for run in (one, other, done):
        page.get_by_label(f"Select run {run}").check()
    selected = page.get_by_role("region", name="Selected runs")
    expect(selected).to_contain_text("3 runs selected")
    selected.get_by_role("button", name="Cancel").click()
    expect(dialog_of(page)).to_contain_text(
        "This will cancel 2 runs (of 3 selected; 1 has ended already)."
    )
    assert scene.state(one) == "signal"
    dialog_of(page).get_by_label(re.compile("Reason")).fill("not today")
    expect(dialog_of(page).get_by_label("command line")).to_contain_text("--reason 'not today'")
    sight.picture("runs-bulk")
    assert sight.barriers() == []
    dialog_of(page).get_by_role("button", name="Cancel 2 runs").click()
    expect(dialog_of(page)).to_contain_text("Finished: 2 runs cancelled, 1 refusal.")
    refused = dialog_of(page).get_by_role("list", name="Refused").get_by_role("listitem")
    expect(refused).to_have_text(f"{done} it is done: there is nothing to cancel")
    assert [scene.state(run) for run in (one, other, left)] == ["cancelled", "cancelled", "signal"]
    page.keyboard.press("Escape")
    expect(row_of(page, one)).to_contain_text("cancelled")
    expect_count(page, "cancelled", 2)
    [*_, ended] = scene.get(f"/api/v1/runs/{one}/events")["events"]
    assert (ended["name"], ended["data"]["reason"]) == ("run.cancelled", "not today")


def test_all_runs_that_match_are_paused_and_resumed(look: Look, scene: Scene) -> None:
    word = own_word()
    runs = waiting_runs(scene, word, 3)
    [outside] = waiting_runs(scene, own_word(), 1)
    page = look(f"{scene.url}/?label=own={word}").page
    page.get_by_label(f"Select run {runs[0]}").check()
    selected = page.get_by_role("region", name="Selected runs")
    selected.get_by_role("button", name="Select all 3 that match").click()
    expect(selected).to_contain_text("All 3 runs that match")
    selected.get_by_role("button", name="Pause").click()
    expect(dialog_of(page)).to_contain_text("This will pause 3 runs: all that match.")
    heading = dialog_of(page).get_by_role("heading", name="Pause: every run that matches")
    expect(heading).to_be_focused()
    dialog_of(page).get_by_role("button", name="Pause 3 runs").press("Enter")
    expect(dialog_of(page)).to_contain_text("Finished: 3 runs paused.")
    expect(heading).to_be_focused()
    dialog_of(page).get_by_role("button", name="Close").click()
    expect_count(page, "paused", 3)
    assert {scene.state(run) for run in runs} == {"paused"}
    assert scene.state(outside) == "signal"
    selected.get_by_role("button", name="Resume").click()
    dialog_of(page).get_by_role("button", name="Resume 3 runs").click()
    expect(dialog_of(page)).to_contain_text("Finished: 3 runs resumed.")
    page.keyboard.press("Escape")
    expect_count(page, "signal", 3)


def test_the_list_and_its_filters_fit_a_phone(look: Look, scene: Scene, crew: Crew) -> None:
    sight = look(f"{scene.url}/?{crew.query}", **PHONE)
    page = sight.page
    expect_runs(page, crew.runs)
    expect(row_of(page, crew.retrying)).to_contain_text("attempt 2")
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("Attempt ≥").fill("2")
    expect_runs(page, {crew.retrying})
    page.get_by_label(f"Select run {crew.retrying}").check()
    sight.picture("runs-phone-filters")
    assert sight.overflow() == 0
    assert sight.barriers() == []
