"""What is counted of runs that are known, rule by rule, and that a number never hides its doubt."""

from __future__ import annotations

import pytest

from anew.lab import studies
from anew.lab.script import script_of
from anew.lab.whatif import analysis, whatif
from anew.lab.whatif.changes import other_changes, rule_pairs
from anew.lab.whatif.lines import answer_lines
from tests.lab.whatif.worlds import BUSY, FINE, compiled, failing, past, retrying

BUSY_FIRST = (
    "{when: \"outcome.error.kind == 'rate_limit'\", then: {do: retry, attempts: 4, delay: 7}}"
)


def test_runs_of_unknown_end_are_left_out_of_all_figures() -> None:
    """Two of three failed runs would go on to a step that no log has."""
    handled = "[{step: other, when: \"event.name == 'step.failed'\"}]"
    runs = past(
        retrying("{do: retry, attempts: 2, delay: 3}"), [failing(0), failing(9), failing(9)]
    )
    answer = whatif(runs, retrying("{do: retry, attempts: 2, delay: 3}", arcs=handled))
    assert (answer.unknown.mean, answer.skipped) == (2, 2)
    assert answer.before(lambda figures: figures.calls.total()) == 1
    assert answer.before(lambda figures: figures.waiting) == 0
    assert answer.rules == []
    assert answer.report()["skipped"] == 2


def test_a_run_that_is_unknown_in_some_samples_counts_by_the_others() -> None:
    """A success would lead on to `other`, which no log has; every known play ends failed."""
    old = retrying("{do: retry, attempts: 2}", arcs="[{step: other}]")
    new = retrying("{do: retry, attempts: 3}", arcs="[{step: other}]")
    runs = past(old, [failing(9), failing(9)])
    fine = past(retrying("{do: retry, attempts: 2}"), [failing(1)])
    others = [type(run)("o", run.program, run.log) for run in fine]
    answer = whatif(runs, new, others=others)
    assert 0 < answer.unknown.mean < 2
    extra = answer.extra(lambda figures: figures.calls.total())
    assert (extra.mean, extra.is_certain) == (2, True)


def test_done_runs_that_become_unknown_are_worse() -> None:
    asks = compiled("workflow: [{step: a, tool: {kind: human, question: Go on?}}]")
    runs = past(compiled("workflow: [{step: a, tool: {kind: shell, command: x}}]"), [script_of({})])
    answer = whatif(runs, asks)
    assert answer.unknown.mean == 1
    assert answer.is_worse
    assert not whatif(runs, runs[0].program).is_worse


def test_each_rule_has_its_retries_waiting_and_rescued_runs() -> None:
    """The server is down twice; one more attempt after that is the second rule's doing."""
    old = retrying("{do: retry, attempts: 2, delay: 1}", BUSY_FIRST)
    new = retrying("{do: retry, attempts: 3, delay: 1}", BUSY_FIRST)
    long = past(new, [failing(2)] * 30)
    others = [type(run)(f"o{run.run}", run.program, run.log) for run in long]
    runs = past(old, [failing(2)] * 4 + [script_of({"outcomes": {"page": [BUSY, FINE]}})])
    answer = whatif(runs, new, others=others)
    busy, down = answer.rules
    assert (busy.retries.mean, busy.before.retries, busy.rescued.mean) == (1, 1, 0)
    assert (busy.waiting.mean, busy.before.waiting) == (7, 7)
    assert (down.retries.mean, down.before.retries) == (8, 4)
    assert (down.waiting.mean, down.before.waiting) == (8, 4)
    assert (down.exhausted.mean, down.before.exhausted) == (pytest.approx(0, abs=0.3), 4)
    assert down.rescued.mean == pytest.approx(4, abs=0.3)
    told = answer.report()["rules"][1]
    assert (told["retries_before"], told["waiting_before"]) == (4, 4)
    assert told["rescued"]["mean"] == pytest.approx(4, abs=0.3)


def test_rules_are_the_same_by_what_they_say_not_by_their_number() -> None:
    old = retrying("{do: retry, attempts: 3, delay: 1}")
    new = retrying("{do: retry, attempts: 3, delay: 1}", BUSY_FIRST)
    assert rule_pairs(old, new) == {("fetch", "page", 1): ("fetch", "page", 2)}
    assert rule_pairs(new, old) == {
        ("fetch", "page", 1): ("fetch", "page", -1),
        ("fetch", "page", 2): ("fetch", "page", 1),
    }
    (rule,) = whatif(past(old, [failing(1)]), new).rules
    assert (rule.number, rule.matched.mean, rule.before.matched) == (2, 1, 1)
    gone = whatif(past(new, [script_of({"outcomes": {"page": [BUSY, FINE]}})]), old).rules[0]
    assert (gone.number, gone.place, gone.matched.mean, gone.before.matched) == (-1, None, 0, 1)


def test_another_directive_makes_it_another_rule() -> None:
    old, new = retrying("{do: retry, attempts: 3}"), retrying("{do: fail}")
    assert rule_pairs(old, new)["fetch", "page", 1] == ("fetch", "page", -1)


def test_the_most_that_one_run_waits_is_of_all_samples() -> None:
    """With a chance of one half to need the long last wait, the mean would be far less."""
    old = retrying("{do: retry, attempts: 2, delay: 1}")
    new = retrying("{do: retry, attempts: 4, backoff: exponential, delay: 1}")
    runs = past(old, [failing(1)] * 4 + [failing(2)] * 4)
    answer = whatif(runs, new)
    assert answer.most_waiting == 1 + 2 + 4 - 1
    assert answer.runs[4].estimate(lambda figures: figures.waiting).mean < 5


def test_a_number_that_varies_is_never_certain() -> None:
    from anew.lab.whatif.estimates import estimate

    rare = estimate([0] * 199 + [1])
    assert (rare.low, rare.high, rare.is_certain) == (0, 0, False)
    assert estimate([3, 3]).is_certain


def test_another_program_name_is_said() -> None:
    one, other = (
        compiled(f"metadata: {{name: {name}}}\nworkflow: [{{step: a, tool: {{kind: noop}}}}]")
        for name in ("one", "two")
    )
    assert list(other_changes(one, other)) == ["another program: the runs are of one, this is two"]


def test_what_is_played_in_all_is_bounded(monkeypatch) -> None:
    runs = past(retrying("{do: retry, attempts: 2}"), [failing(1)] * 3 + [failing(9)] * 5)
    new = retrying("{do: retry, attempts: 3}")
    length = len(runs[-1].log)
    monkeypatch.setattr(analysis, "SAMPLED_EVENTS_MAX", 30 * 3 * length)
    fewer = whatif(runs, new)
    assert 20 <= fewer.samples < 30 < fewer.samples_wanted
    monkeypatch.setattr(analysis, "SAMPLED_EVENTS_MAX", 20 * 3 * length)
    short = whatif(runs, new)
    assert short.samples == 20
    assert [one.run for one in short.left] == ["7", "8"]
    assert "too many runs need the model" in short.left[0].why
    assert len(short.runs) == 6


def test_every_play_is_told() -> None:
    heard = []
    runs = past(retrying("{do: retry, attempts: 2}"), [failing(1), failing(9)])
    whatif(
        runs,
        retrying("{do: retry, attempts: 3}"),
        samples=20,
        on_play=lambda *said: heard.append(said),
    )
    assert [played for played, _ in heard] == list(range(1, 22))
    assert heard[-1] == (21, 21)


def test_the_study_counts_others_too() -> None:
    runs = past(retrying("{do: retry, attempts: 2}"), [failing(9)])
    others = past(retrying("{do: retry, attempts: 2}"), [failing(1)] * 9)
    new = retrying("{do: retry, attempts: 3}")
    with_others = studies.what_if(
        new, runs, others=[type(run)(f"o{run.run}", run.program, run.log) for run in others]
    )
    assert with_others.counted == 10
    assert with_others.moved_by_model("failed", "done").mean > 0.7
    assert studies.what_if(new, runs).moved_by_model("failed", "done").mean == 0


def test_what_a_retry_block_asked_is_named_as_it_is_written() -> None:
    block = "retry: {max_attempts: %d, retry_when: '{{ error != None }}'}"
    old, new = (
        compiled(f"workflow: [{{step: page, tool: noop, {block % most}}}]") for most in (2, 3)
    )
    down = script_of({"outcomes": {"page": [{"error": {"kind": "server_error"}}]}})
    answer = whatif(past(old, [down]), new)
    assert [one.name for one in answer.rules] == ["retry_when"]
    assert answer.report()["rules"][0]["rule_name"] == "retry_when"
    assert any(
        line.strip().startswith("retry_when of page (") for line in answer_lines(answer, "new")
    )
