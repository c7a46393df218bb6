"""A scenario is read, finds its document by its name, and is played."""

from __future__ import annotations

import os
import re

import pytest

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.lab.scenario import play, read_scenario, scenario_of, timeline_text
from anew.lab.scenario_files import documents_beside, is_scenario, timeline_beside
from anew.languages import load_text
from anew.program.program import Program
from anew.surfaces.cli import status
from anew.surfaces.cli.main import main
from anew.views.exit_status import exit_status_of

FLOW = """\
workflow:
  - step: fetch
    tool:
      - page: {kind: http, url: "http://x", spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 1}}, {else: {then: {do: continue}}}]}}}
"""
DOWN = """\
description: down once
document: ../flows/flow.yaml
outcomes: {page: [{error: {kind: server_error, message: down}}, {result: {}}]}
expect: {status: done, delays: [1]}
"""


def program(text: str = FLOW, name: str = "flow.yaml") -> Program:
    loaded = load_text(text, name)
    assert loaded.program is not None, loaded.findings
    return loaded.program


def test_a_scenario_says_what_it_plays_and_expects() -> None:
    scenario = read_scenario(DOWN, "x.scenario.yaml")
    assert (scenario.document, scenario.dialect) == ("../flows/flow.yaml", None)
    assert scenario.description == "down once"
    assert scenario.expect == {"status": "done", "delays": [1]}
    assert set(scenario.script.outcomes) == {"page"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1]", "a scenario is a mapping"),
        ("expect: {visit: []}", "x.scenario.yaml: expect: unknown key 'visit'"),
        ("outcome: {}", "Did you mean 'outcomes'?"),
        ("document: 1", "document must be a text, not 1"),
        ("a: [", "x.scenario.yaml:1:"),
        ("expect: [1]", "expect must be a mapping"),
    ],
)
def test_what_is_wrong_with_a_scenario_is_told(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_scenario(text, "x.scenario.yaml")
    assert told in str(refused.value)


def test_an_empty_scenario_expects_nothing_and_passes() -> None:
    played = play(read_scenario("", "x.scenario.yaml"), program())
    assert played.is_passed
    assert played.doubts == []


def test_a_scenario_passes_or_says_what_was_not_met() -> None:
    assert play(read_scenario(DOWN, "x"), program()).failures == []
    wrong = read_scenario(DOWN.replace("[1]", "[2]"), "x")
    (failure,) = play(wrong, program()).failures
    assert failure.message == "delays: expected [2], found [1.0]"


def test_a_timeline_beside_it_must_come_out() -> None:
    scenario = read_scenario(DOWN, "x")
    told = timeline_text(play(scenario, program()).simulation)
    assert play(scenario, program(), timeline=told).is_passed
    (failure,) = play(scenario, program(), timeline=told.replace("1.0 s", "2.0 s")).failures
    assert failure.what == "timeline"


def test_a_label_that_no_task_has_is_doubted() -> None:
    scenario = read_scenario("expect: {attempts: {pgae: 0}}\noutcomes: {feth: {}}", "x")
    doubts = play(scenario, program()).doubts
    assert "expect.attempts.pgae names no task" in doubts
    assert any("feth" in doubt for doubt in doubts)


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("flow.scenario.yaml", [("flow.yaml", "flow.yml", "flow.dot", "flow.gv")]),
        (
            "in/a.b.c.scenario.json",
            [
                tuple(f"in/a.b.c{end}" for end in (".yaml", ".yml", ".dot", ".gv")),
                tuple(f"in/a.b{end}" for end in (".yaml", ".yml", ".dot", ".gv")),
                tuple(f"in/a{end}" for end in (".yaml", ".yml", ".dot", ".gv")),
            ],
        ),
    ],
)
def test_the_name_of_a_scenario_says_which_document_it_plays(
    name: str, beside: list[tuple[str, ...]]
) -> None:
    assert is_scenario(name)
    assert list(documents_beside(name)) == [tuple(map(os.path.normpath, one)) for one in beside]


def test_the_timeline_of_a_variant_is_its_own() -> None:
    assert timeline_beside("in/flow.down.scenario.yml") == "in/flow.down.timeline.txt"


@pytest.mark.parametrize(
    "document",
    [FLOW, 'workflow: [{step: "a\\e[31m\\tb", tool: {kind: noop}}]'],
    ids=["plain", "hostile"],
)
def test_the_timeline_is_what_simulate_prints(
    document: str, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    file = os.path.join(str(tmp_path), "flow.yaml")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(document)
    main(["simulate", file])
    played = play(read_scenario("", "x"), program(document))
    assert played.timeline == capsys.readouterr().out


@pytest.mark.parametrize("word", RunStatus)
def test_the_exit_status_is_one_of_those_of_commands(word: RunStatus) -> None:
    said = {"done": status.DONE, "failed": status.FAILED, "cancelled": status.CANCELLED}
    assert exit_status_of(word) == said.get(word, status.WAITING)


CHARGED = "workflow: [{step: pay, tool: {kind: http, method: POST, url: 'http://bank'}}]"


@pytest.mark.parametrize(
    ("invariant", "failures"),
    [
        ("effects.pay == 1 and status == 'done'", []),
        ("effects.pay == 0", ["invariant effects.pay == 0 does not hold: effects.pay is 1"]),
    ],
)
def test_the_invariants_of_a_scenario_hold_for_it(invariant: str, failures: list[str]) -> None:
    played = play(scenario_of({"invariants": [invariant]}), program(CHARGED))
    assert [failure.message for failure in played.failures] == failures


@pytest.mark.parametrize(
    ("invariant", "told"),
    [
        ("effects.pay ==", "the invariant 'effects.pay ==' cannot be evaluated: "),
        ("efects.pay == 1", "it reads 'efects', which no report has. Did you mean 'effects'?"),
        ("attempts.pya == 1", "attempts.pya names no task. Did you mean 'pay'?"),
    ],
)
def test_an_invariant_that_cannot_be_meant_is_named(invariant: str, told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
        play(scenario_of({"invariants": [invariant]}), program(CHARGED))


def test_a_value_that_no_log_can_hold_is_named_by_its_place() -> None:
    text = "outcomes: {page: [{}, {result: {id: 99999999999999999999}}]}"
    with pytest.raises(ConfigError) as caught:
        read_scenario(text, "f.scenario.yaml")
    assert str(caught.value) == (
        "f.scenario.yaml: outcomes.page[1].result.id has a whole number over 64 bits"
    )
