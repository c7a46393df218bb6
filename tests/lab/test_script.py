"""Simulation scripts: what they say, and what they get wrong."""

import pytest

from anew.errors import ConfigError
from anew.lab.script import OutcomeQueue, read_script, script_of
from anew.lab.script_warnings import script_warnings
from anew.languages import load_text


def test_entries_are_played_as_often_as_they_say_and_the_last_for_ever():
    script = script_of({"outcomes": {"t": [{"result": 1, "times": 2}, {"result": 2}]}})
    tape = OutcomeQueue(script.outcomes["t"])
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
        ({"now": "yesterday"}, "not an ISO 8601 time"),
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
    assert list(script_warnings(script, program)) == [
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
    (told,) = script_warnings(script_of({"outcomes": {"a": [entry]}}), program)
    assert told.startswith("outcomes.a[0] ")
    assert doubt in told


def outcome(**said):
    return script_of({"outcomes": {"t": [said]}}).outcomes["t"][0].outcome(0)


@pytest.mark.parametrize(
    ("status", "is_error", "verdict", "word"),
    [
        ("SUCCESS", False, None, None),
        ("PARTIAL", False, "partial", None),
        ("partial_success", False, "partial", None),
        ("skipped", False, "skipped", None),
        ("needs_dod", False, None, "needs_dod"),
        ("FAILURE", True, None, None),
        ("fail", True, None, None),
        ("retry", True, None, "retry"),
    ],
)
def test_a_status_is_read_in_the_words_of_graphs(status, is_error, verdict, word):
    said = outcome(status=status)
    assert (said.is_error, said.verdict, said.word) == (is_error, verdict, word)


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        ({"type": "TRANSIENT"}, True),
        ({"type": "TERMINAL"}, False),
        ({"type": "TERMINAL", "retryable": True}, True),
        ({"type": "TIMEOUT"}, None),
        (None, None),
    ],
)
def test_a_failing_status_is_as_retryable_as_its_type_says(error, retryable):
    said = outcome(status="FAILURE", **({"error": error} if error else {}))
    assert said.error["retryable"] is retryable
    assert said.error["message"] == "the status is FAILURE"


def test_a_wish_to_retry_is_retryable():
    assert outcome(status="retry").error["retryable"] is True


def test_what_an_agent_would_say_is_part_of_the_outcome():
    said = outcome(label="ship", suggested=["x", "y"], context={"tried": 1})
    assert (said.label, list(said.suggested), said.updates) == ("ship", ["x", "y"], {"tried": 1})


def test_the_words_of_a_status_file_mean_the_same():
    theirs = outcome(
        preferred_label="ship", suggested_next_ids=["x"], context_updates={"k": 1}, notes="fine"
    )
    assert theirs == outcome(label="ship", suggested=["x"], context={"k": 1}, notes="fine")
    assert theirs.result == {"notes": "fine"}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"status": 3}, "status must be a word"),
        ({"suggested": "x"}, "suggested must be a list"),
        ({"context": [1]}, "context must be a mapping"),
        ({"answer": ["y"]}, "answer must be a text"),
        ({"label": {}}, "label must be a text"),
        ({"error": {"type": 1}}, "error.type must be a word"),
    ],
)
def test_what_is_wrong_with_the_words_of_graphs_is_said(said, message):
    with pytest.raises(ConfigError, match=message):
        script_of({"outcomes": {"t": [said]}}, "s.yaml")


def test_a_step_that_calls_nothing_is_not_scripted_silently():
    graph = "digraph g { s [shape=ellipse] x [shape=ellipse] a; c [shape=diamond]; s->a->c; c->x }"
    program = load_text(graph, "g.dot").program
    script = script_of({"outcomes": {"c": [{"status": "FAILURE"}], "a": [{}]}})
    assert list(script_warnings(script, program)) == [
        "outcomes.c is never played: the step only passes on what came before it."
    ]


def test_a_key_that_names_no_node_is_reported():
    graph = "digraph g { s [shape=ellipse] x [shape=ellipse] plan; build; s->plan->build->x }"
    program = load_text(graph, "g.dot").program
    script = script_of({"outcomes": {"plam": [{}], "plan": [{}], "build.build": [{}], "zz": [{}]}})
    assert list(script_warnings(script, program)) == [
        "outcomes.plam names no node. Did you mean 'plan'?",
        "outcomes.zz names no node.",
    ]
