"""Questions to people: which answers fit, when they come too late, and which arc they take."""

import pytest

from anew.engine.boundaries import Answered, Requested, Taken
from anew.engine.decide import decide
from anew.engine.questions import accelerator, chosen, matching, plain_label
from anew.engine.record import Moment
from anew.engine.state import RunState, StepRunKey
from anew.languages import load_text
from tests.languages.dot.scenario import play_docs

CHOICES = ["[Y] Yes, deploy", "[N] No, revise", "Wait"]


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("y", "[Y] Yes, deploy"),
        ("N", "[N] No, revise"),
        ("[y] yes, DEPLOY", "[Y] Yes, deploy"),
        ("no, revise", "[N] No, revise"),
        (" wai", "Wait"),
        ("3", "Wait"),
        ("4", None),
        ("0", None),
        ("", None),
        ("  ", None),
        ("maybe", None),
        ("²", None),
        ("9" * 400, None),
    ],
)
def test_an_answer_means_one_choice_or_none(answer, label):
    assert chosen(CHOICES, answer) == label


def test_an_answer_that_fits_two_choices_alike_means_neither():
    assert matching(["[Y] Yes", "[Y] Yep"], "y") == ["[Y] Yes", "[Y] Yep"]
    assert chosen(["[Y] Yes", "[Y] Yep"], "y") is None
    assert chosen(["approve", "apply"], "app") is None
    assert chosen(["Go", "go"], "go") == "go"
    assert chosen(["Go", "GO"], "go") is None


@pytest.mark.parametrize("label", ["[K] Keep", "K) Keep", "K - Keep", " [K]  Keep"])
def test_the_key_of_a_label_may_be_written_in_three_ways(label):
    assert (accelerator(label), plain_label(label)) == ("K", "Keep")


@pytest.mark.parametrize("label", ["Keep", "K", "Keep - it", "[] Keep", "[K]"])
def test_a_label_need_not_have_a_key(label):
    assert accelerator(label) is None
    assert plain_label(label) == label


@pytest.mark.parametrize(
    ("answer", "way"), [("Go", "s h a x"), ("go", "s h b x"), ("2", "s h b x")]
)
def test_the_arc_that_was_chosen_word_for_word_is_taken(answer, way):
    graph = 'h [shape=house]; a; b; s->h; h->a [label="Go"]; h->b [label="go"]; a->x; b->x;'
    assert play_docs(graph, h=[{"answer": answer}]).way == way


def test_an_answer_that_comes_after_the_deadline_is_none():
    graph = 'h [shape=house timeout=10 timeout_action=first]; a; b; s->h; h->a [label="A"]; h->b [label="B"]; a->x; b->x;'
    loaded = load_text(f"digraph g {{ s [shape=ellipse] x [shape=ellipse] {graph} }}", "g.dot")
    state, program = RunState(), loaded.program
    key, moment = StepRunKey("h", 1), Moment(0, lambda: 0.5)
    jobs = decide(program, state, Requested("1", {}), moment).jobs
    while jobs:
        jobs = decide(program, state, Taken(jobs.pop()), moment).jobs
    late = Moment(10_000_000_001, lambda: 0.5)
    assert decide(program, state, Answered(key, "B"), late).events == []
    in_time = Moment(10_000_000_000, lambda: 0.5)
    assert decide(program, state, Answered(key, "B"), in_time).events
