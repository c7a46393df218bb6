"""The page of a run: what it says, what can be done there, and the run as of any event."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.scene import Scene, soon
from tests.web.sight import Sight

Look = Callable[..., Sight]

# Goes through everything a graph can show, one skipped wait at a time.
JOURNEY = """
metadata: {name: journey}
workload: {delay: 3600}
workflow:
  - step: fetch
    tool:
      - page:
          kind: relay
          outcome:
            status: "{{ 'error' if _attempt < 3 else 'ok' }}"
            error: {kind: busy, message: "call {{ _attempt }} was refused", retryable: true}
            result: {rows: "{{ _attempt }}"}
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 8, delay: "{{ workload.delay }}", backoff: fixed}
                - else:
                    then: {do: continue, set_ctx: {rows: "{{ outcome.result.rows }}"}}
    next: {arcs: [{step: each}]}
  - step: each
    loop: {in: "{{ ['a', 'b', 'c'] }}", iterator: item}
    tool:
      - rest: {kind: sleep, seconds: "{{ workload.delay }}"}
    next: {arcs: [{step: send}]}
  - step: send
    tool:
      - post: {kind: shell, command: "echo not today >&2; exit 3"}
    next:
      spec: {mode: exclusive}
      arcs:
        - {step: sent, when: "{{ event.name == 'step.done' }}"}
        - {step: set_aside, when: "{{ event.name == 'step.failed' }}"}
  - step: sent
    tool: [{out: {kind: noop}}]
  - step: set_aside
    tool:
      - note: {kind: wait, signal: noted}
"""
# Waits for a moment, for a person and for a signal, all at once.
BUSY = """
metadata: {name: busy}
workload: {place: here}
workflow:
  - step: split
    next: {spec: {mode: inclusive}, arcs: [{step: nap}, {step: call}, {step: ask}, {step: pay}]}
  - step: nap
    tool: [{rest: {kind: sleep, seconds: 3600}}]
  - step: call
    tool:
      - line:
          kind: shell
          command: "test {{ _attempt }} -ge 2"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 4, delay: 3600, backoff: fixed}
                - else: {then: {do: continue}}
  - step: ask
    tool: [{sure: {kind: human, question: "Sure?", choices: ["[Y] Yes", "[N] No"]}}]
  - step: pay
    tool: [{money: {kind: wait, signal: paid}}]
"""
BUSY_EVENTS = 25
FAILING = """
metadata: {name: failing}
workload: {is_mended: false}
workflow:
  - step: prepare
    tool: [{text: {kind: noop, result: ready}}]
    next: {arcs: [{step: send}]}
  - step: send
    tool:
      - post:
          kind: relay
          outcome:
            status: "{{ 'ok' if workload.is_mended else 'error' }}"
            error: {kind: refused, message: the gate is shut}
"""
ASKING_CHILD = """
metadata: {name: asking_child}
workflow:
  - step: ask
    tool: [{sure: {kind: human, question: "May the child go on?"}}]
"""
PARENT = """
metadata: {name: asking_parent}
workflow:
  - step: hand_over
    tool: [{all: {kind: playbook, path: asking_child}}]
"""


@pytest.fixture(scope="module")
def travelled(scene: Scene) -> str:
    """A journey that has ended."""
    run = scene.start(JOURNEY, workload={"delay": 0.01})
    scene.reach(run, "signal")
    scene.post(f"/api/v1/runs/{run}/signals/noted")
    return scene.reach(run, "done")


@pytest.fixture(scope="module")
def busy(scene: Scene) -> str:
    """One that waits for several things, and that nobody gives any of them."""
    return waiting(scene)


def waiting(scene: Scene) -> str:
    run = scene.start(BUSY)
    soon(lambda: picture(scene, run)["events"] == BUSY_EVENTS, "everything is waited for")
    return run


def verdict(page: Page) -> Locator:
    return page.get_by_role("region", name="Verdict")


def step(page: Page, name: str) -> Locator:
    """As the graph draws it."""
    return page.locator(f'.graph-node[data-step="{name}"]')


def words(page: Page, name: str) -> Locator:
    """What has the words of a step, for those who do not see it."""
    return step(page, name).get_by_role("button")


def act(page: Page, button: str, confirm: str) -> None:
    """Press a button of the page, and agree to what the box says."""
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=confirm).click()


def command_lines(page: Page) -> dict[str, str]:
    """What the open box says that one could type instead."""
    box = page.get_by_role("dialog")
    box.get_by_text("CLI and API").click()
    return {
        name: box.get_by_label(name, exact=True).inner_text() for name in ("command line", "HTTP")
    }


def in_a_shell(line: str) -> str:
    """What a person gets who pastes this line."""
    own = str(Path(sys.executable).parent)
    surroundings = {"PATH": f"{own}{os.pathsep}{os.environ['PATH']}", "HOME": "/nowhere"}
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, env=surroundings, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def picture(scene: Scene, run: str) -> Any:
    return scene.get(f"/api/v1/runs/{run}/picture")


@pytest.mark.daily
def test_the_graph_follows_a_run_that_is_moved_on_by_keyboard(look: Look, scene: Scene) -> None:
    sight = look(f"{scene.url}/runs/{scene.start(JOURNEY)}")
    page = sight.page
    expect(verdict(page)).to_contain_text("Waiting to retry fetch (attempt 2 of 8) in 59:")
    expect(words(page, "fetch")).to_have_accessible_name(re.compile("retrying, attempt 2 of 8"))
    expect(step(page, "fetch")).to_have_class(re.compile("graph-tone-late"))
    expect(step(page, "fetch").locator(".graph-badge")).to_have_text("2/8")
    expect(words(page, "each")).to_have_accessible_name("each, not reached")
    for attempt in ("2", "3"):
        page.keyboard.press("r")
        expect(page.get_by_role("dialog")).to_contain_text(f"Attempt {attempt} of fetch starts now")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()
    expect(step(page, "fetch")).to_have_class(re.compile("graph-tone-good"))
    expect(verdict(page)).to_contain_text("each")
    for done in range(3):
        expect(step(page, "each").locator(".graph-loop")).to_contain_text(f"{done} / 3")
        page.keyboard.press("r")
        page.keyboard.press("Enter")
    expect(words(page, "each")).to_have_accessible_name(re.compile("done, .*3 / 3"))
    # The way of a failure is lit once it was taken; the other stays faint.
    expect(page.locator('[data-arc="send → set_aside"]')).to_have_class(
        re.compile("graph-failure graph-lit")
    )
    expect(page.locator('[data-arc="send → sent"]')).to_have_class(re.compile("graph-faint"))
    expect(words(page, "send")).to_have_accessible_name(re.compile("failed, .*not today"))
    sight.picture("run-journey")


def test_the_countdown_moves(look: Look, scene: Scene) -> None:
    run = scene.reach(scene.start(JOURNEY), "retrying")
    page = look(f"{scene.url}/runs/{run}").page
    clock = verdict(page).locator(".run-sentence time")
    first = clock.inner_text()
    assert re.fullmatch(r"59:\d\d|1:00:00", first), first
    expect(clock).not_to_have_text(first)


def test_one_wait_of_several_is_skipped_by_clicking(look: Look, scene: Scene) -> None:
    run = waiting(scene)
    page = look(f"{scene.url}/runs/{run}").page
    waits = page.get_by_role("list", name="What each step-run is at")
    expect(waits.get_by_role("listitem")).to_have_count(4)
    waits.get_by_role("button", name="Run now: call").click()
    page.get_by_role("dialog").get_by_label("Your name, for the log").fill("ann")
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    expect(words(page, "call")).to_have_accessible_name(re.compile("done, 1 retry"))
    expect(page.get_by_text("call continues now.")).to_be_visible()
    act(page, "Skip wait", "Skip wait")
    expect(words(page, "nap")).to_have_accessible_name(re.compile("nap, done"))
    events = scene.get(f"/api/v1/runs/{run}/events?limit=1000")["events"]
    assert {event["data"].get("by") for event in events if "skip" in event["name"]} >= {"ann"}


def test_a_person_is_answered_and_a_signal_sent(look: Look, scene: Scene) -> None:
    run = waiting(scene)
    page = look(f"{scene.url}/runs/{run}").page
    question = page.get_by_role("group", name="Question of step ask")
    expect(question).to_contain_text("Sure?")
    question.get_by_role("button", name="[Y] Yes").click()
    page.get_by_role("dialog").get_by_role("button", name="Answer").click()
    expect(question).to_be_hidden()
    expect(words(page, "ask")).to_have_accessible_name(re.compile("ask, .*done"))
    page.get_by_role("button", name="Send the signal").click()
    box = page.get_by_role("dialog")
    box.get_by_label("What it carries").fill('{"amount": ')
    expect(box.get_by_text("This is not valid JSON yet.")).to_be_visible()
    expect(box.get_by_role("button", name="Send the signal")).to_be_disabled()
    box.get_by_label("What it carries").fill('{"amount": 40}')
    box.get_by_role("button", name="Send the signal").click()
    expect(words(page, "pay")).to_have_accessible_name(re.compile("pay, done"))
    page.goto(f"{scene.url}/runs/{run}?tab=events")
    expect(page.get_by_role("table", name="Events")).to_contain_text("signal.received")


def test_a_run_is_paused_with_a_reason_resumed_and_cancelled(look: Look, scene: Scene) -> None:
    run = waiting(scene)
    page = look(f"{scene.url}/runs/{run}").page
    expect(verdict(page)).to_contain_text("call")
    page.keyboard.press("p")
    reason = page.get_by_role("dialog").get_by_label("Why, for the log")
    reason.fill("the disk is <b>full</b>")
    reason.press("Enter")
    expect(verdict(page)).to_contain_text("the disk is <b>full</b>")
    assert picture(scene, run)["status"] == "paused"
    act(page, "Resume", "Resume the run")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).press("Enter")
    expect(reason).to_be_focused()
    page.keyboard.press("Escape")
    assert picture(scene, run)["state"] == "person"
    act(page, "Cancel", "Cancel the run")
    expect(page.locator(".run-head .state")).to_have_text("cancelled")
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_hidden()
    # The button is gone; whoever uses a keyboard is at what was done, then at what the run is.
    done = page.get_by_role("group", name="What was done")
    expect(done).to_be_focused()
    done.get_by_role("button", name="Close").press("Enter")
    expect(verdict(page)).to_be_focused()
    page.get_by_role("button", name="Fork …", exact=True).click()
    expect(page.get_by_role("group", name="What will happen")).to_be_visible()
    assert picture(scene, run)["status"] == "cancelled"


def test_every_box_says_how_to_do_it_without_the_page(look: Look, scene: Scene, busy: str) -> None:
    page = look(f"{scene.url}/runs/{busy}").page
    boxes = {
        "Run now …": "skip",
        "Pause": "pause",
        "Cancel": "cancel",
        "Retry from …": "retry",
        "Fork …": "fork",
        "[Y] Yes": "answer",
        "Send the signal …": "signal",
    }
    for button, verb in boxes.items():
        page.get_by_role("button", name=button, exact=True).click()
        lines = command_lines(page)
        assert lines["command line"].startswith(f"anew {verb} {busy} "), lines
        assert lines["command line"].endswith(f" --server {scene.url}"), lines
        assert re.match(rf"curl .*{scene.url}/api/v1/runs/{busy}/\w+", lines["HTTP"]), lines
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()


def test_what_a_box_says_can_be_pasted_into_a_shell(look: Look, scene: Scene) -> None:
    run = waiting(scene)
    page = look(f"{scene.url}/runs/{run}").page
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_label("Why, for the log").fill('it\'s $HOME; "late"')
    in_a_shell(command_lines(page)["command line"])
    page.keyboard.press("Escape")
    expect(verdict(page)).to_contain_text('it\'s $HOME; "late"')
    page.get_by_role("button", name="Resume", exact=True).click()
    in_a_shell(command_lines(page)["HTTP"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_a_failed_run_is_retried_from_a_step_and_forked(look: Look, scene: Scene) -> None:
    run = scene.reach(scene.start(FAILING), "failed")
    sight = look(f"{scene.url}/runs/{run}")
    page = sight.page
    expect(verdict(page)).to_contain_text("the gate is shut")
    page.get_by_role("button", name="Retry from …").click()
    box = page.get_by_role("dialog")
    expect(box.get_by_label("From step")).to_have_value("send")
    will = box.get_by_role("group", name="What will happen")
    expect(will).to_contain_text("prepare: 1 visit, 1 execution")
    expect(will).to_contain_text("send starts")
    box.get_by_label("From step").select_option("prepare")
    expect(will).to_contain_text("prepare starts")
    sight.picture("run-retry")
    box.get_by_role("button", name="Start the new run").click()
    begun = page.get_by_role("status").filter(has_text="was started").get_by_role("link")
    again = begun.inner_text()
    scene.reach(again, "failed")
    page.get_by_role("button", name="Fork …", exact=True).click()
    expect(box.get_by_label("Start")).to_have_value("send")
    expect(will).to_contain_text("send starts")
    page.keyboard.press("Escape")
    # Forked where `send` is about to begin, with another workload.
    events = scene.get(f"/api/v1/runs/{run}/events?limit=1000")["events"]
    [before] = [
        e["seq"] for e in events if e["name"] == "task.processed" and e["step"] == "prepare"
    ]
    page.goto(f"{scene.url}/runs/{run}?at={before}")
    page.get_by_role("button", name=f"Fork at event {before} …").click()
    expect(box.get_by_label("Share the log up to event")).to_have_value(str(before))
    box.get_by_label("Changes to the input").fill('{"is_mended": true}')
    expect(will).to_contain_text(f"the first {before} events")
    assert f"--at {before} --payload '" in command_lines(page)["command line"]
    box.get_by_role("button", name="Start the new run").click()
    begun.click()
    expect(page.locator(".run-head .state")).to_have_text("done")
    forked = page.url.rpartition("/")[2]
    assert picture(scene, forked)["workload"] == {"is_mended": True}
    page.get_by_role("group", name="Related runs").get_by_role("link", name=run).click()
    expect(page).to_have_url(f"{scene.url}/runs/{run}")


def test_a_question_of_a_child_is_answered_on_the_page_of_its_parent(
    look: Look, scene: Scene
) -> None:
    scene.post("/api/v1/programs", {"document": ASKING_CHILD, "file": "asking_child.yaml"})
    run = scene.start(PARENT)
    page = look(f"{scene.url}/runs/{run}").page
    kin = page.get_by_role("group", name="Related runs")
    child = kin.get_by_role("link").inner_text()
    kin.get_by_role("link", name=child).click()
    expect(page).to_have_url(f"{scene.url}/runs/{child}")
    expect(kin).to_contain_text("(its step hand_over)")
    kin.get_by_role("link", name=run).click()
    question = page.get_by_role("group", name="Question of step ask")
    expect(question).to_contain_text(f"of child run {child}")
    question.get_by_label("Your answer").fill("it may")
    question.get_by_label("Your answer").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Answer").click()
    expect(page.locator(".run-head .state")).to_have_text("done")
    assert picture(scene, child)["status"] == "done"


def test_any_moment_of_a_run_can_be_looked_at(look: Look, scene: Scene, travelled: str) -> None:
    sight = look(f"{scene.url}/runs/{travelled}")
    page = sight.page
    newest = picture(scene, travelled)["events"]
    expect(words(page, "fetch")).to_have_accessible_name(re.compile("fetch, entry, done"))
    slider = page.get_by_role("slider", name="Show the run as of event")
    slider.focus()
    slider.press("Home")
    past = page.locator(".run-past")
    expect(past).to_contain_text(f"As of event 1 of {newest}")
    assert past.evaluate("it => it.nextElementSibling.ariaLabel") == "Verdict"
    expect(page.get_by_role("button", name="Retry from …")).to_be_disabled()
    expect(page.get_by_role("button", name="Fork at event 1 …")).to_be_enabled()
    expect(words(page, "fetch")).to_have_accessible_name(re.compile("not reached"))
    events = scene.get(f"/api/v1/runs/{travelled}/events?limit=1000")["events"]
    retried = [event["seq"] for event in events if event["name"] == "task.retry_scheduled"][-1]
    slider.fill(str(retried))
    expect(page).to_have_url(re.compile(rf"[?&]at={retried}\b"))
    expect(verdict(page)).to_contain_text("Waiting to retry fetch (attempt 3 of 8)")
    expect(step(page, "fetch").locator(".graph-badge")).to_have_text("3/8")
    page.keyboard.press("4")
    data = page.get_by_role("tabpanel")
    expect(data).to_contain_text("rows set to 3")
    expect(data).to_contain_text("There is none before the run has ended.")
    sight.picture("run-past")
    page.reload()
    expect(past).to_contain_text(f"As of event {retried}")
    past.get_by_role("button", name="Back to now").click()
    expect(past).to_be_hidden()
    expect(data).to_contain_text("rows: 3")
    assert "at=" not in page.url


def test_the_time_of_each_step_is_told_by_bars_and_by_a_table(
    look: Look, scene: Scene, busy: str
) -> None:
    sight = look(f"{scene.url}/runs/{busy}")
    page = sight.page
    chart = page.get_by_role("region", name="Steps over time")
    for said in (
        "attempt that failed, task line, attempt 1",
        "retry delay, task line, before attempt 2",
        "sleep, task rest",
        "waiting for a person, task sure",
        "waiting for a signal, task money",
    ):
        expect(chart.get_by_role("button", name=said)).to_be_visible()
    legend = chart.get_by_role("list", name="What the bars mean")
    expect(legend).to_contain_text("retry delay")
    fills = {
        bar.locator("rect").get_attribute("fill")
        for bar in (
            chart.get_by_role("button", name="retry delay"),
            chart.get_by_role("button", name="sleep, task rest"),
            chart.get_by_role("button", name="waiting for a person"),
        )
    }
    assert len(fills) == 3
    assert all(str(fill).startswith("url(#") for fill in fills), fills
    sight.picture("run-gantt")
    chart.get_by_role("button", name="Show as a table").click()
    row = chart.get_by_role("row").filter(has=page.get_by_role("rowheader", name="call"))
    expect(row).to_contain_text(re.compile(r"1 · 1 failed.*retry delay"))
    chart.get_by_role("button", name="Show as a chart").click()
    chart.get_by_role("button", name="attempt that failed").press("Enter")
    expect(page.get_by_role("tab", name="Attempts")).to_have_attribute("aria-selected", "true")


def test_what_decided_leads_to_its_line(look: Look, scene: Scene, busy: str) -> None:
    page = look(f"{scene.url}/runs/{busy}?tab=rules").page
    rules = page.get_by_role("region", name="Rules")
    rules.get_by_role("button", name=re.compile("^line")).first.click()
    pointed = page.locator(".source-line.pointed")
    expect(pointed).to_contain_text("outcome.status == 'error'")
    assert pointed.locator(".run-note").inner_text() == "1×"
    page.keyboard.press("1")
    verdict(page).get_by_role("button", name=re.compile(r"^line \d+$")).first.click()
    expect(pointed).to_contain_text("outcome.status == 'error'")


def test_the_page_tells_why(look: Look, scene: Scene, travelled: str) -> None:
    page = look(f"{scene.url}/runs/{travelled}").page
    page.get_by_role("tab", name="Why").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("call 1 was refused")
    panel.get_by_label("Step").select_option("send")
    expect(panel).to_contain_text("not today")
    expect(panel).not_to_contain_text("call 1 was refused")
    panel.get_by_role("button").first.click()
    expect(page.locator(".run-past")).to_contain_text("As of event")


def test_a_run_becomes_a_test(look: Look, scene: Scene, travelled: str, tmp_path: Path) -> None:
    page = look(f"{scene.url}/runs/{travelled}?tab=test").page
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    name = download.value.suggested_filename
    assert name == f"journey.{travelled}.scenario.yaml"
    (tmp_path / "journey.yaml").write_text(JOURNEY, encoding="utf-8")
    download.value.save_as(tmp_path / name)
    shown = page.get_by_role("region", name="Scenario").locator("code").all_inner_texts()
    kept = (tmp_path / name).read_text(encoding="utf-8")
    assert [line.rstrip() for line in shown] == [line.rstrip() for line in kept.split("\n")]
    assert "1 passed" in in_a_shell(f"anew test {tmp_path}")
    changed = JOURNEY.replace("attempts: 8", "attempts: 2")
    (tmp_path / "journey.yaml").write_text(changed, encoding="utf-8")
    with pytest.raises(AssertionError):
        in_a_shell(f"anew test {tmp_path}")


def test_a_run_is_started_like_another(look: Look, scene: Scene) -> None:
    document = BUSY.replace("name: busy", "name: likeable")
    scene.post("/api/v1/programs", {"document": document, "file": "likeable.yaml"})
    run = scene.post("/api/v1/runs", {"program": "likeable", "workload": {"place": "there"}})["run"]
    page = look(f"{scene.url}/runs/{run}").page
    page.get_by_role("link", name="Start one like this").click()
    expect(page.get_by_label("place")).to_have_value("there")
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    again = page.url.rpartition("/")[2]
    assert again != run
    assert picture(scene, again)["workload"] == {"place": "there"}
