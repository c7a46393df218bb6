"""`anew failures`: failed runs, grouped by what went wrong."""

from __future__ import annotations

import json

import pytest

from tests.surfaces.cli.recorded import DOWN, HOSTILE, RETRIES, RUN, played

NOTHING = "no run has failed, or all that did were retried\n"
GONE = {"error": {"kind": "connection", "message": f"no way {HOSTILE}"}}


@pytest.fixture
def failed(shelf):
    for run in (RUN, RUN + 1):
        shelf.put(played(RETRIES, outcomes={"page": [DOWN]}), run=run)
    shelf.put(played(RETRIES, outcomes={"page": [GONE]}), run=RUN + 2)
    shelf.put(played(RETRIES), run=RUN + 3)


def test_runs_that_failed_alike_are_one_line(failed, anew) -> None:
    head, *rows = anew("failures").lines
    words = ["fingerprint", "runs", "retried", "kind", "message", "step", "programs", "newest"]
    assert head.split() == words
    counts = sorted((row.split()[2], row.split()[1], row.split()[-1]) for row in rows)
    assert counts == [("connection", "1", str(RUN + 2)), ("server_error", "2", str(RUN + 1))]
    assert all("fetch" in row and "flaky" in row for row in rows)


def test_texts_of_users_are_made_visible(failed, anew) -> None:
    assert "\x1b" not in anew("failures").out


def test_json_has_one_group_per_line(failed, anew) -> None:
    groups = [json.loads(line) for line in anew("failures", "--json").lines]
    group = next(one for one in groups if one["kind"] == "server_error")
    assert (group["count"], group["step"], group["newest"]) == (2, "fetch", str(RUN + 1))
    listed = anew("runs", "--fingerprint", group["fingerprint"], "--json").lines
    assert [json.loads(line)["run"] for line in listed] == [str(RUN + 1), str(RUN)]


ALERT = """
workflow:
  - {step: load, tool: noop, next: [{step: alert, when: "{{ event.name == 'step.failed' }}"}]}
  - {step: alert, tool: noop}
"""


def test_the_step_is_that_of_the_cause_not_of_the_alert(shelf, anew) -> None:
    shelf.put(played(ALERT, outcomes={"load": [DOWN], "alert": [GONE]}), document=ALERT)
    (group,) = [json.loads(line) for line in anew("failures", "--json").lines]
    assert group["step"] == "load"
    assert group["message"].startswith("load: ")


def test_of_several_failed_steps_it_is_that_of_the_run_s_error(shelf, anew) -> None:
    steps = "[{step: a, tool: noop, next: [b, c]}, {step: b, tool: noop}, {step: c, tool: noop}]"
    modes = "executor: {spec: {policy: {failure: {mode: best_effort}}}}"
    both = f"{modes}\nworkflow: {steps}"
    shelf.put(played(both, outcomes={"b": [DOWN], "c": [{**GONE, "takes": 5}]}), document=both)
    (group,) = [json.loads(line) for line in anew("failures", "--json").lines]
    assert (group["kind"], group["step"]) == ("server_error", "b")


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--program", "flaky"], 2),
        (["--program", "other"], 0),
        (["--since", "1h"], 0),
        (["--until", "1h"], 2),
        (["--limit", "1"], 1),
    ],
)
def test_groups_can_be_chosen(failed, anew, words, count) -> None:
    told = anew("failures", "--json", *words)
    assert (told.status, len(told.lines)) == (0, count)


def test_where_nothing_failed_it_is_said(shelf, anew) -> None:
    shelf.put(played(RETRIES))
    told = anew("failures")
    assert (told.status, told.out, told.err) == (0, "", NOTHING)


def test_what_was_retried_is_counted_apart(failed, anew) -> None:
    assert anew("bulk", "retry", str(RUN), str(RUN + 2), "--yes").status == 0
    [row] = anew("failures").lines[1:]
    assert row.split()[1:4] == ["1", "1", "server_error"]
    groups = [json.loads(line) for line in anew("failures", "--json", "--with-retried").lines]
    assert sorted((one["count"], one["retried"]) for one in groups) == [(1, 1), (2, 1)]
    listed = anew("runs", "--retried", "true", "--json").lines
    assert [json.loads(line)["run"] for line in listed] == [str(RUN + 2), str(RUN)]
