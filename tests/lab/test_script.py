"""Simulation scripts: what they say, and what they get wrong."""

import pytest

from anew.errors import ConfigError
from anew.lab.script import Tape, doubts, read_script, script_of
from anew.languages import load_text


def test_entries_are_played_as_often_as_they_say_and_the_last_for_ever():
    script = script_of({"outcomes": {"t": [{"result": 1, "times": 2}, {"result": 2}]}})
    tape = Tape(script.outcomes["t"])
    assert [tape.next().said["result"] for _ in range(5)] == [1, 1, 2, 2, 2]


def test_a_single_outcome_need_not_be_a_list():
    script = script_of({"outcomes": {"t": {"result": 1}}})
    assert len(script.outcomes["t"]) == 1


def test_an_error_without_a_result_has_none():
    entry = script_of({"outcomes": {"t": [{"error": {"kind": "timeout"}}]}}).outcomes["t"][0]
    assert entry.outcome(0).result is None


def test_a_seed_gives_a_stream_and_a_fraction_a_constant():
    stream = script_of({"random": {"seed": 7}}).draws()
    assert stream() != stream()
    constant = script_of({"random": 0.25}).draws()
    assert (constant(), constant()) == (0.25, 0.25)


def test_the_command_lines_seed_wins_over_the_scripts():
    script = script_of({"random": {"seed": 7}})
    assert script.draws(8)() == script_of({"random": 0.1}).draws(8)()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([1], "a script is a mapping"),
        ({"outcoms": {}}, "Did you mean 'outcomes'?"),
        ({"outcomes": []}, "outcomes must be a mapping"),
        ({"outcomes": {"t": []}}, "outcomes.t is empty"),
        ({"outcomes": {"t": [3]}}, r"outcomes.t\[0\] must be a mapping"),
        ({"outcomes": {"t": [{"reslt": 1}]}}, "Did you mean 'result'?"),
        ({"outcomes": {"t": [{"times": 0}]}}, "times must be"),
        ({"outcomes": {"t": [{"takes": -1}]}}, "takes must be"),
        ({"outcomes": {"t": [{"error": 5}]}}, "error must be"),
        ({"random": 2}, "random must be a fraction"),
        ({"random": {"seed": "x"}}, "random.seed must be"),
        ({"now": "yesterday"}, "no ISO 8601 moment"),
        ({"workload": 3}, "workload must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(said, message):
    with pytest.raises(ConfigError, match=message):
        script_of(said, "s.yaml")


def test_a_script_that_is_no_yaml_says_where():
    with pytest.raises(ConfigError, match=r"s\.yaml:1:"):
        read_script("outcomes: [", "s.yaml")


def test_a_key_that_names_nothing_is_reported():
    program = load_text("workflow: [{step: fetch, tool: [{page: {kind: noop}}]}]", "d.yaml").program
    keys = ("fetch", "page", "fetch.page", "fetsch")
    script = script_of({"outcomes": {key: [{}] for key in keys}})
    assert list(doubts(script, program)) == [
        "outcomes.fetsch names no task or step. Did you mean 'fetch'?"
    ]


@pytest.mark.parametrize(
    ("entry", "doubt"),
    [
        ({"http": {"status": 503}}, "add `error: {kind: server_error}`"),
        ({"error": {"kind": "sever_error"}}, "Did you mean 'server_error'?"),
    ],
)
def test_an_outcome_that_probably_means_something_else_is_reported(entry, doubt):
    program = load_text("workflow: [{step: a}]", "d.yaml").program
    (told,) = doubts(script_of({"outcomes": {"a": [entry]}}), program)
    assert told.startswith("outcomes.a[0] ")
    assert doubt in told
