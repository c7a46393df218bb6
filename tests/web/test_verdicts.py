"""What the page of a run says that lists cannot: polling, ignored errors, the cause of a failure."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.web.scene import Scene
from tests.web.sight import Sight
from tests.web.test_run import step, verdict, words

Look = Callable[..., Sight]

POLLING = """
metadata: {name: polling}
workflow:
  - step: watch
    tool:
      - clean:
          kind: shell
          command: "exit 3"
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: continue}}]}}
      - ask:
          kind: noop
          result: {ready: false}
          spec:
            policy:
              rules:
                - when: "{{ not outcome.result.ready }}"
                  then: {do: retry, attempts: 20, delay: 3600}
                - else: {then: {do: continue}}
"""
ALERTING = """
metadata: {name: alerting}
workflow:
  - step: load
    loop: {in: [a, b], iterator: x}
    tool: {kind: shell, command: "test {{ iter.x }} = a"}
    next: [{step: alert, when: "{{ event.name == 'loop.done' and event.failed > 0 }}"}]
  - step: alert
    tool:
      kind: noop
      spec: {policy: {rules: [{else: {then: {do: fail, message: look at the load}}}]}}
"""


@pytest.mark.daily
def test_a_poll_is_no_retry_and_an_ignored_error_is_counted(look: Look, scene: Scene) -> None:
    sight = look(f"{scene.url}/runs/{scene.reach(scene.start(POLLING), 'retrying')}")
    page = sight.page
    expect(verdict(page)).to_contain_text("Polling in watch (attempt 2 of 20), next look in 59:")
    expect(verdict(page)).to_contain_text("1 error ignored by rule 1 of watch.clean")
    expect(words(page, "watch")).to_have_accessible_name(re.compile("polling, attempt 2 of 20"))
    expect(step(page, "watch")).to_have_class(re.compile("graph-tone-calm"))
    expect(page.locator(".page-head .state")).to_have_text("polling")
    sight.picture("run-polling")


def test_a_failed_run_leads_to_its_cause(look: Look, scene: Scene) -> None:
    sight = look(f"{scene.url}/runs/{scene.reach(scene.start(ALERTING), 'failed')}")
    page = sight.page
    expect(verdict(page)).to_contain_text("Failed in step load[1]: exit_code")
    expect(verdict(page)).to_contain_text("alert dealt with that, then failed the run")
    sight.picture("run-cause")
