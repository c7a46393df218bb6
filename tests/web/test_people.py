"""What runs ask people: answered by clicking and by keyboard, live, and by one person only."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.own import own_word
from tests.web.scene import Scene, soon
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=alert(1)>"
CHOICES = ["[Y] Yes, pay", "[N] No", "Ask a colleague"]


def ask(scene: Scene, question: str, *, label: str = "", **more: Any) -> str:
    """A new run that asks this."""
    task = {"kind": "human", "question": question, **more}
    workflow = [{"step": "decide", "tool": [{"gate": task}]}]
    document = json.dumps({"metadata": {"name": "refund"}, "workflow": workflow})
    run = scene.start(document, labels={"note": label} if label else {})
    return scene.reach(run, "person")


def people(look: Look, scene: Scene, word: str, **more: Any) -> tuple[Sight, Page]:
    """The page, with the questions that have this word."""
    sight = look(f"{scene.url}/people?text={word}", **more)
    return sight, sight.page


def card(page: Page, question: str) -> Locator:
    return page.get_by_role("article", name=question)


def answer(scene: Scene, run: str) -> dict[str, Any]:
    """What the log has as the answer, once it is there."""

    def given() -> list[dict[str, Any]]:
        events = scene.get(f"/api/v1/runs/{run}/events?limit=100")["events"]
        return [event["data"] for event in events if event["name"] == "human.answered"]

    return soon(given, f"run {run} is answered")[0]


def test_a_choice_is_picked_and_confirmed_by_clicking(look: Look, scene: Scene) -> None:
    word = own_word()
    run = ask(
        scene, f"Pay {word}?", label="acme", choices=CHOICES, timeout=3600, timeout_action="skip"
    )
    sight, page = people(look, scene, word)
    asked = card(page, f"Pay {word}?")
    expect(asked).to_contain_text("then the step continues without an answer")
    expect(asked.locator("time.countdown")).to_have_text(re.compile(r"^59:\d\d$"))
    expect(asked).to_contain_text("note=acme")
    expect(asked.get_by_role("link", name=run)).to_have_attribute("href", f"/runs/{run}")
    page.get_by_label("Answering as").fill("ann")
    asked.get_by_role("button", name="Yes, pay").click()
    assert sight.barriers() == []
    sight.picture("people-answering")
    asked.get_by_role("button", name="Answer “Yes, pay” as ann").click()
    expect(asked).to_have_count(0)
    expect(page.get_by_text("Answered “[Y] Yes, pay”")).to_be_visible()
    given = answer(scene, run)
    assert (given["label"], given["by"]) == ("[Y] Yes, pay", "ann")
    page.reload()
    expect(page.get_by_label("Answering as")).to_have_value("ann")


@pytest.mark.daily
def test_questions_are_answered_by_keyboard(look: Look, scene: Scene) -> None:
    word = own_word()
    # The deadline that comes first is at the top.
    later = ask(scene, f"Later {word}?", choices=CHOICES, timeout=7200)
    sooner = ask(scene, f"Sooner {word}?", choices=CHOICES, timeout=3600)
    page = people(look, scene, word)[1]
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("article").first).to_contain_text("Sooner")
    for key in ("j", "y", "Escape", "j", "k", "n", "Enter"):
        page.keyboard.press(key)
    expect(card(page, f"Later {word}?")).to_be_focused()
    for key in ("3", "Enter"):
        page.keyboard.press(key)
    assert answer(scene, sooner)["label"] == "[N] No"
    assert answer(scene, later)["label"] == "Ask a colleague"
    expect(page.get_by_role("heading", name="People")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_a_hostile_question_is_text_and_so_is_the_answer(look: Look, scene: Scene) -> None:
    word = own_word()
    run = ask(scene, f"{HOSTILE} {word}", label=HOSTILE)
    sight, page = people(look, scene, word, **PHONE)
    asked = card(page, f"{HOSTILE} {word}")
    expect(asked).to_contain_text(f"note={HOSTILE}")
    expect(page.locator("main img")).to_have_count(0)
    asked.get_by_label("Your answer").fill(f"it's {HOSTILE}")
    asked.get_by_text("CLI and API").click()
    assert sight.overflow() == 0
    assert sight.barriers() == []
    sight.picture("people-text-phone", is_whole=True)
    page.keyboard.press("Tab")
    asked.get_by_label("Your answer").press("Control+Enter")
    expect(page.get_by_text(f"Answered “it's {HOSTILE}”")).to_be_visible()
    assert answer(scene, run)["answer"] == f"it's {HOSTILE}"


def test_the_command_line_of_an_answer_gives_it(look: Look, scene: Scene) -> None:
    word = own_word()
    run = ask(scene, f"Pay {word}?", choices=CHOICES)
    page = people(look, scene, word)[1]
    page.get_by_label("Answering as").fill("ann o'hara")
    asked = card(page, f"Pay {word}?")
    asked.get_by_role("button", name="No", exact=True).click()
    asked.get_by_text("CLI and API").click()
    words = shlex.split(asked.get_by_label("command line").inner_text())
    command = [sys.executable, "-m", *words]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert answer(scene, run)["by"] == "ann o'hara"
    # It was answered elsewhere: the page sees it by itself.
    expect(asked).to_have_count(0)


def test_a_choice_with_a_hyphen_is_given_by_the_command_line_shown(
    look: Look, scene: Scene
) -> None:
    word = own_word()
    run = ask(scene, f"Change {word}?", choices=["--wait", "-5 %", "-"])
    page = people(look, scene, word)[1]
    page.get_by_label("Answering as").fill("-ann")
    asked = card(page, f"Change {word}?")
    asked.get_by_role("button", name="--wait").click()
    asked.get_by_text("CLI and API").click()
    words = shlex.split(asked.get_by_label("command line").inner_text())
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    given = answer(scene, run)
    assert (given["label"], given["by"]) == ("--wait", "-ann")


def test_of_several_iterations_the_one_that_is_seen_gets_the_answer(
    look: Look, scene: Scene
) -> None:
    word = own_word()
    loop = {"in": "{{ [1, 2, 3] }}", "iterator": "n", "spec": {"mode": "parallel"}}
    task = {"kind": "human", "question": f"Pay {word} {{{{ iter.n }}}}?", "choices": CHOICES}
    workflow = [{"step": "each", "loop": loop, "tool": [{"gate": task}]}]
    run = scene.start(json.dumps({"metadata": {"name": "refund"}, "workflow": workflow}))
    scene.reach(run, "person")
    sight, page = people(look, scene, word)
    expect(page.get_by_role("article")).to_have_count(3)
    second, third = card(page, f"Pay {word} 2?"), card(page, f"Pay {word} 3?")
    third.get_by_role("button", name="Yes, pay").click()
    third.get_by_role("button", name="Answer “Yes, pay”").click()
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_text("Answered “[Y] Yes, pay”")).to_be_visible()
    rows = scene.get(f"/api/v1/runs/{run}/questions")["questions"]
    assert [row["question"] for row in rows] == [f"Pay {word} 1?", f"Pay {word} 2?"]
    seen = rows[1]["asked"]
    # While it is being answered here, it is answered elsewhere: no other gets the answer.
    second.get_by_role("button", name="No", exact=True).click()

    def be_second(route: Any) -> None:
        scene.post(f"/api/v1/runs/{run}/answer", {"answer": "Y", "asked": seen, "by": "bob"})
        route.continue_()

    page.route(f"**/api/v1/runs/{run}/answer", be_second)
    sight.expected.append("409")
    second.get_by_role("button", name="Answer “No”").click()
    expect(page.get_by_role("alert")).to_contain_text("It is not open any more")
    expect(second).to_have_count(0)
    expect(card(page, f"Pay {word} 1?")).to_be_visible()


def test_a_question_shows_up_while_one_looks(look: Look, scene: Scene) -> None:
    word = own_word()
    page = people(look, scene, word)[1]
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(0)
    ask(scene, f"Pay {word}?", choices=CHOICES)
    expect(card(page, f"Pay {word}?")).to_be_visible()


def test_who_comes_second_is_told_who_was_first(look: Look, scene: Scene) -> None:
    word = own_word()
    run = ask(scene, f"Pay {word}?", choices=CHOICES)
    sight, page = people(look, scene, word)
    asked = card(page, f"Pay {word}?")
    asked.get_by_role("button", name="Yes, pay").click()
    path = f"**/api/v1/runs/{run}/answer"

    def be_second(route: Any) -> None:
        scene.post(f"/api/v1/runs/{run}/answer", {"answer": "N", "step": "decide", "by": "bob"})
        route.continue_()

    page.route(path, be_second)
    sight.expected.append("409")
    asked.get_by_role("button", name="Answer “Yes, pay”").click()
    told = page.get_by_role("alert")
    expect(told).to_contain_text("It is not open any more")
    expect(told.get_by_role("link", name="Open the run")).to_be_visible()
    expect(asked).to_have_count(0)
    assert answer(scene, run)["by"] == "bob"


def test_runs_that_wait_for_a_signal_are_a_click_away(look: Look, scene: Scene) -> None:
    page = people(look, scene, "")[1]
    page.get_by_role("link", name=re.compile("waits? for a signal")).click()
    expect(page).to_have_url(re.compile(r"/\?state=signal$"))
    expect(page.get_by_text("waiting for a signal").first).to_be_visible()
