"""The attempts of a run: the decision about each, its data and logs, and two of them compared."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.scene import Scene
from tests.web.sight import Sight

Look = Callable[..., Sight]
PHONE = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=alert(1)>"
METER = f"""
metadata: {{name: meter}}
workload: {{note: "{HOSTILE}"}}
workflow:
  - step: measure
    tool:
      - read:
          kind: python
          args: {{number: "{{{{ _attempt }}}}", note: "{{{{ workload.note }}}}"}}
          code: |
            import logging, sys
            def main(number, note):
                print(f"reading {{number}} of {{note}}")
                print("the other stream", file=sys.stderr)
                logging.getLogger("meter").warning("shaky")
                if number < 4:
                    raise ValueError(f"no reading {{number}}")
                return {{"value": 42}}
          spec:
            policy:
              rules:
                - when: "{{{{ outcome.status == 'error' }}}}"
                  then: {{do: retry, attempts: 5, delay: 0.02, backoff: exponential, jitter: true}}
                - else:
                    then: {{do: continue, set_ctx: {{reading: "{{{{ outcome.result.value }}}}"}}}}
"""
PATIENT = """
metadata: {name: patient}
workflow:
  - step: call
    tool:
      - line:
          kind: python
          code: "def main(): raise ValueError('busy')"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 2, delay: 3600, backoff: fixed}
"""


@pytest.fixture(scope="module")
def measured(scene: Scene) -> str:
    """A run whose task did well at its fourth attempt."""
    return scene.reach(scene.start(METER), "done")


def of_run(scene: Scene, run: str, more: str = "") -> str:
    return f"{scene.url}/runs/{run}?tab=attempts{more}"


def row(page: Page, number: str) -> Locator:
    return page.get_by_role("row").filter(has_text=number)


@pytest.mark.daily
def test_an_attempt_has_the_whole_decision_and_the_line_of_its_rule(
    look: Look, scene: Scene, measured: str
) -> None:
    sight = look(of_run(scene, measured))
    page = sight.page
    expect(row(page, "2 of 5")).to_contain_text(
        re.compile(r"s: exponential 0\.04 s · jitter true: [\d.]+ s, due ")
    )
    expect(row(page, "4 of 5")).to_contain_text("ok")
    sight.picture("attempts")
    row(page, "2 of 5").get_by_role("link", name=re.compile("rule 1, line")).click()
    pointed = page.locator(".source-line.pointed")
    expect(pointed).to_contain_text("outcome.status == 'error'")


def test_an_attempt_is_opened_by_keyboard_with_its_data_and_logs(
    look: Look, scene: Scene, measured: str
) -> None:
    sight = look(of_run(scene, measured))
    page = sight.page
    row(page, "1 of 5").focus()
    for key in ("j", "j", "j", "Enter"):
        page.keyboard.press(key)
    detail = page.get_by_role("region", name="Attempt", exact=True)
    expect(detail.get_by_role("heading", name="measure.read, attempt 4 of 5")).to_be_visible()
    expect(detail.get_by_role("region", name="Inputs")).to_contain_text(HOSTILE)
    expect(detail.get_by_role("region", name="Outcome")).to_contain_text("value: 42")
    expect(detail.get_by_role("region", name="What the rule set")).to_contain_text("reading: 42")
    lines = detail.get_by_role("region", name="Lines")
    expect(lines).to_contain_text(f"reading 4 of {HOSTILE}")
    expect(lines).to_contain_text("meter: shaky")
    detail.get_by_role("searchbox", name="Search the logs").fill("OTHER")
    expect(lines).to_have_text(re.compile("stderr *the other stream"))
    assert sight.barriers() == []
    page.keyboard.press("Escape")
    expect(detail).to_be_hidden()


def test_two_attempts_are_compared_and_a_link_shows_the_same(
    look: Look, scene: Scene, measured: str
) -> None:
    sight = look(of_run(scene, measured))
    page = sight.page
    row(page, "3 of 5").click()
    page.get_by_role("button", name="with attempt 2").click()
    inputs = page.get_by_role("list", name="Inputs: what differs")
    expect(inputs).to_have_text(re.compile("args.number.*2 → 3"))
    page.get_by_role("button", name="first with last").click()
    expect(inputs).to_have_text(re.compile("args.number.*1 → 4"))
    expect(page.get_by_role("list", name="Error: what differs")).to_contain_text("no reading 1")
    page.get_by_role("button", name=re.compile("Compare with .* attempt 2 of 5")).click()
    expect(inputs).to_have_text(re.compile("args.number.*2 → 4"))
    assert sight.barriers() == []
    again = look(page.url).page
    logs = again.get_by_role("region", name="Logs, line by line")
    expect(logs.locator(".diff-new")).to_contain_text(["reading 4"])
    again.get_by_label("As text, line by line").check()
    expect(again.get_by_role("region", name="Result, line by line")).to_contain_text('"value": 42')


def test_attempts_are_chosen_by_their_outcome(look: Look, scene: Scene, measured: str) -> None:
    page = look(of_run(scene, measured)).page
    page.get_by_label("Outcome").select_option("ok")
    expect(row(page, "1 of 5")).to_have_count(0)
    expect(row(page, "4 of 5")).to_be_visible()
    page.get_by_label("Outcome").select_option("lost")
    expect(page.get_by_text("No attempt is like this")).to_be_visible()


def test_a_new_attempt_appears_by_itself(look: Look, scene: Scene) -> None:
    run = scene.reach(scene.start(PATIENT), "retrying")
    page = look(of_run(scene, run)).page
    expect(row(page, "1 of 2")).to_contain_text(re.compile(r"due .*\(in \d+:\d\d\)"))
    scene.post(f"/api/v1/runs/{run}/skip")
    expect(row(page, "2 of 2")).to_contain_text("no attempt left (2 of 2)")


def test_attempts_fit_a_phone(look: Look, scene: Scene, measured: str) -> None:
    sight = look(of_run(scene, measured, "&attempt=5&with=8"), **PHONE)
    expect(sight.page.get_by_role("list", name="Inputs: what differs")).to_be_visible()
    sight.picture("attempts-phone", is_whole=True)
    assert sight.overflow() == 0
    assert sight.barriers() == []
