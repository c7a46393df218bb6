"""What the model counts, which rate it takes, and what it refuses to say."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from anew.engine import events as e
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.lab.whatif import whatif
from anew.lab.whatif.estimates import estimate
from anew.lab.whatif.model import (
    OBSERVATIONS_MIN,
    Basis,
    Cell,
    Model,
    Rate,
    Sample,
    WantedExecution,
)
from anew.lab.whatif.playable_runs import world_of
from tests.lab.whatif.worlds import BUSY, DOWN, FINE, failing, graph, past, retrying

THREE = retrying("{do: retry, attempts: 3}")


def worlds(*outcomes):
    return [script_of({"outcomes": {"page": list(said)}}) for said in outcomes]


def model_of(runs):
    return Model((world_of(run, n), ()) for n, run in enumerate(runs))


def rate(model, attempt, after):
    return model.rate(WantedExecution("1", "fetch", "page", attempt, after, {"command": "x"}))


def test_a_rate_counts_the_attempt_and_what_came_just_before() -> None:
    well = worlds(*[[DOWN, FINE]] * 6, *[[DOWN, DOWN, FINE]] * 5, *[[BUSY, BUSY, BUSY]] * 5)
    model = model_of(past(THREE, well))
    assert rate(model, 1, "") == Rate(Cell("fetch", "page", None, ""), 0, 16)
    assert rate(model, 2, "server_error") == Rate(Cell("fetch", "page", 2, "server_error"), 6, 11)
    assert rate(model, 3, "server_error") == Rate(Cell("fetch", "page", 3, "server_error"), 5, 5)
    assert rate(model, 2, "rate_limit") == Rate(Cell("fetch", "page", 2, "rate_limit"), 0, 5)


def test_a_retry_is_never_told_from_first_tries() -> None:
    model = model_of(
        past(THREE, worlds(*[[FINE]] * 20, *[[DOWN, FINE]] * 2, *[[BUSY, BUSY, DOWN]]))
    )
    # Attempt 4 never happened: any attempt after such an error counts, however few there are.
    assert rate(model, 4, "server_error") == Rate(Cell("fetch", "page", None, "server_error"), 2, 2)
    # After a timeout there was none: all retries count.
    assert rate(model, 2, "timeout") == Rate(Cell("fetch", "page"), 2, 4)
    bases = [rate(model, *which).cell.basis for which in ((1, ""), (4, "server_error"), (4, "x"))]
    assert bases == [Basis.FIRST, Basis.AFTER, Basis.RETRY]
    assert rate(model_of(past(THREE, worlds(*[[FINE]] * 20))), 2, "server_error") is None


def test_the_attempt_counts_only_with_enough_observations() -> None:
    enough, few = OBSERVATIONS_MIN, OBSERVATIONS_MIN - 1
    bases = [
        rate(model_of(past(THREE, worlds(*[[DOWN, FINE]] * n))), 2, "server_error").cell.basis
        for n in (enough, few)
    ]
    assert bases == [Basis.EXACT, Basis.AFTER]


def test_what_always_fails_again_is_not_rescued_by_runs_that_never_failed() -> None:
    """Twenty runs are fine, four fail for good: a third attempt would not have helped these."""
    two = retrying("{do: retry, attempts: 2, delay: 0}")
    three = retrying("{do: retry, attempts: 3, delay: 0}")
    scripts = [*worlds([FINE]) * 20, *worlds([DOWN]) * 4]
    answer = whatif(past(two, scripts), three)
    real = sum(simulate(three, script).status.value == "done" for script in scripts) - 20
    found = answer.moved_by_model("failed", "done")
    assert real == 0
    assert found.low <= real <= found.high
    assert found.mean < 1
    (used,) = answer.rates
    assert used == Rate(Cell("fetch", "page", None, "server_error"), 0, 4)


def test_a_retry_by_way_of_another_step_is_one_too() -> None:
    """A visit after a failed one is no first try."""
    by_plan = graph("max_retries=1 retry_backoff=none retry_target=plan")
    runs = past(by_plan, [failing(0)] * 9 + [failing(9)] * 3)
    model = model_of(runs)
    again = model.rate(WantedExecution("1", "work", "work", 1, "server_error"))
    first = model.rate(WantedExecution("1", "work", "work", 1, ""))
    assert (again.successes, again.observations) == (3, 27)
    assert (first.successes, first.observations) == (9, 12)


def test_executions_that_asked_something_else_are_not_counted() -> None:
    old = [*past(retrying("{do: fail}", command="old"), worlds([FINE]) * 9)]
    mixed = [
        *(type(run)(f"o{run.run}", run.program, run.log) for run in old),
        *past(retrying("{do: fail}"), worlds([DOWN], [DOWN])),
    ]
    answer = whatif(mixed, retrying("{do: retry, attempts: 2}"))
    assert answer.uncounted == 9
    assert answer.rates == {}
    assert answer.unknown.mean == 2
    assert answer.report()["uncounted"] == 9


def test_a_borrowed_result_of_other_inputs_is_in_doubt() -> None:
    def flow(n):
        return retrying(f"{{do: retry, attempts: {n}}}", command="{{ workload.n }}")

    scripts = [
        script_of({"workload": {"n": n}, "outcomes": {"page": said}})
        for n, said in ((1, [DOWN, FINE]), (1, [DOWN, FINE]), (1, [DOWN]), (2, [DOWN]))
    ]
    answer = whatif(past(flow(2), scripts), flow(3), samples=40)
    same, other = answer.runs[2:]
    assert {play.doubts.borrowed for play in same.plays} == {0}
    assert any(play.doubts.borrowed for play in other.plays)
    assert answer.doubts["borrowed"] > 0


def test_what_a_run_shares_with_another_is_counted_once() -> None:
    (run,) = past(THREE, worlds([DOWN, FINE]))
    shared = next(n for n, event in enumerate(run.log) if event.name == "task.retry_scheduled")
    cut = e.RunPaused(seq=shared + 2, at=run.log[shared].at, shared_with="1")
    retried = replace(run, run="2", log=[*run.log[: shared + 1], cut, *run.log[shared + 1 :]])
    assert rate(model_of([run, retried]), 1, "").observations == 1
    assert rate(model_of([run, retried]), 9, "x") == Rate(Cell("fetch", "page"), 2, 2)


def test_a_task_nobody_ever_called_has_no_rate() -> None:
    model = model_of(past(THREE, worlds([FINE])))
    assert model.rate(WantedExecution("1", "fetch", "other", 1, "")) is None
    assert model.rate(WantedExecution("1", "elsewhere", "page", 1, "")) is None


def test_a_success_is_taken_from_the_same_run_if_it_has_one() -> None:
    runs = past(THREE, worlds(*[[{"result": n}] for n in range(20)], [DOWN, DOWN, DOWN]))
    model, chance = model_of(runs), Random(1)
    own = [model.success(WantedExecution("7", "fetch", "page", 2, ""), chance) for _ in range(20)]
    assert {one.entry.recorded.result for one in own} == {6}
    others = [
        model.success(WantedExecution("21", "fetch", "page", 2, ""), chance) for _ in range(60)
    ]
    assert len({one.entry.recorded.result for one in others}) > 5


def test_a_failure_is_one_that_came_after_the_same_error() -> None:
    model = model_of(past(THREE, worlds(*[[DOWN, BUSY, FINE]] * 3, *[[BUSY, DOWN, FINE]] * 3)))
    wanted, chance = WantedExecution("1", "fetch", "page", 4, "rate_limit"), Random(1)
    found = {model.failure(wanted, chance).amounts_to for _ in range(20)}
    assert found == {"server_error"}


def test_few_observations_make_a_rate_less_sure_than_many() -> None:
    def drawn(successes, observations):
        one = Rate(Cell("s", "t"), successes, observations)
        return estimate(Sample(Model([]), 1, n).probability(one) for n in range(400))

    few, many = drawn(2, 4), drawn(200, 400)
    assert (few.mean, many.mean) == (pytest.approx(0.5, abs=0.03), pytest.approx(0.5, abs=0.03))
    assert few.high - few.low > 0.6
    assert many.high - many.low < 0.12


def test_a_sample_has_one_value_of_a_rate_for_all_runs() -> None:
    sample, one = Sample(Model([]), 1, 1), Rate(Cell("s", "t"), 1, 3)
    assert sample.probability(one) == sample.probability(one)
    assert sample.used == {one: 2}
    assert sample.probability(one) != Sample(Model([]), 1, 2).probability(one)


def test_an_interval_holds_95_of_100_samples() -> None:
    found = estimate(range(1000))
    assert (found.low, found.high, found.mean) == (25, 974, 499.5)


# --- what is unknown stays unknown ----------------------------------------------------------------


def test_a_step_no_run_ever_reached_leaves_a_run_unknown() -> None:
    handles = retrying("{do: fail}", arcs="[{step: other, when: \"event.name == 'step.failed'\"}]")
    answer = whatif(past(retrying("{do: fail}"), [failing(1), failing(0)]), handles)
    assert (answer.unknown.mean, answer.unknown.is_certain) == (1, True)
    assert answer.moved_by_model("failed", "done").mean == 0
    assert answer.moved("failed", "done") == []
    assert answer.runs[0].share("unknown") == 1
    assert answer.runs[0].reasons == [
        "other attempt 1: no run has an outcome of this task that asked the same"
    ]
    assert answer.runs[1].is_certain


def test_a_success_nobody_ever_saw_is_not_made_up() -> None:
    new = retrying("{do: retry, attempts: 4}")
    answer = whatif(past(THREE, [failing(9)] * 10), new, samples=100)
    assert answer.moved_by_model("failed", "done").high == 0
    assert all(
        "succeeded, which no run has an example of" in one.reasons[0]
        for one in answer.runs
        if one.reasons
    )
    shares = [one.share("failed") + one.share("unknown") for one in answer.runs]
    assert shares == [1.0] * 10


def test_polling_longer_counts_what_was_not_accepted_as_not_well() -> None:
    def polling(times):
        return retrying(
            "{do: fail}",
            f'{{when: "outcome.result.x != 1", then: {{do: retry, attempts: {times}, delay: 1}}}}',
        )

    pending = {"result": {"x": 0}}
    runs = past(polling(2), worlds(*[[pending, FINE]] * 6, *[[pending, pending, FINE]] * 2))
    answer = whatif(runs, polling(3), samples=50)
    (used,) = answer.rates
    assert (used.cell.after, used.successes, used.observations) == ("not accepted", 6, 8)
    assert 0.5 < answer.moved_by_model("failed", "done").mean / 2 < 0.9


def test_the_attempt_is_counted_where_runs_with_another_policy_made_it() -> None:
    """Attempt 2 never goes well, attempt 3 always; half of the runs had one attempt only."""
    long, short = retrying("{do: retry, attempts: 3}"), retrying("{do: fail}")
    lived = past(long, [failing(2)] * 40)
    cut = [type(run)(f"c{run.run}", run.program, run.log) for run in past(short, [failing(2)] * 10)]
    two = whatif([*lived, *cut], retrying("{do: retry, attempts: 2}"), samples=100)
    three = whatif([*lived, *cut], retrying("{do: retry, attempts: 3}"), samples=100)
    assert len(two.moved("done", "failed")) == 40
    assert two.moved_by_model("failed", "done").mean < 1
    assert three.moved_by_model("failed", "done").mean > 9


def test_the_same_seed_gives_the_same_answer() -> None:
    runs, new = (
        past(THREE, [failing(n) for n in (1, 2, 3, 3, 4)]),
        retrying("{do: retry, attempts: 5}"),
    )
    first, again, other = (whatif(runs, new, samples=40, seed=seed).report() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_what_only_the_new_policy_does_not_accept_is_no_first_try_again() -> None:
    polls = '{when: "outcome.result.x != 1", then: {do: retry, attempts: 3, delay: 1}}'
    runs = past(retrying("{do: fail}"), worlds([{"result": {"x": 0}}], *[[FINE]] * 9))
    verdict = whatif(runs, retrying("{do: fail}", polls)).runs[0]
    assert verdict.reasons == [
        "fetch.page attempt 2: no run has an outcome of this task after not accepted"
    ]


def test_inputs_that_differ_by_the_id_of_the_run_alone_are_the_same() -> None:
    (run,) = past(retrying("{do: fail}", command="get {{ run_id }}"), worlds([FINE]))
    own = "380514983122636800"
    log = [
        replace(event, run=own)
        if isinstance(event, e.RunRequested)
        else replace(event, inputs={"command": f"get {own}"})
        if isinstance(event, e.TaskStarted)
        else event
        for event in run.log
    ]
    found, real = (list(world_of(one, 0).executions()) for one in (run, replace(run, log=log)))
    assert [one.inputs for one in real] == [one.inputs for one in found] == [{"command": "get 1"}]
