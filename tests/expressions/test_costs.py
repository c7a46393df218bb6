"""What evaluations cost, and who is asked for it."""

from __future__ import annotations

import pytest

from anew.expressions import (
    Allowance,
    ExpressionError,
    MappingScope,
    Meter,
    TakesLong,
    TemplateLimits,
    compile_condition,
    compile_expression,
    compile_template,
)
from anew.expressions.evaluation import Evaluation
from anew.expressions.limits import OPERATIONS_FREE
from anew.expressions.problems import OperationError
from anew.expressions.signature import table_of
from anew.values import Value


class Metered(MappingScope):
    def __init__(self, values: dict[str, Value], meter: Meter) -> None:
        super().__init__(values)
        self.meter = meter


def _nothing(run: Evaluation, value: Value, *more: Value, **named: Value) -> Value:
    return value


@pytest.mark.parametrize(
    ("given", "least"),
    [
        (("x" * 6_400,), 100),
        (([1] * 1_600,), 100),
        (({str(n): n for n in range(1_600)},), 100),
        (("x" * 6_400, "y" * 6_400), 40_000),
        ((["x" * 640] * 10, "y" * 6_400), 40_000),
    ],
)
def test_a_row_that_declares_no_cost_pays_for_everything(
    given: tuple[Value, ...], least: int
) -> None:
    callee = table_of("filter", {"new": _nothing}, leading=2)["new"]
    run = Evaluation(MappingScope())
    callee.call(run, *given)
    assert run.spent >= least


def test_named_arguments_are_paid_for_too() -> None:
    callee = table_of("filter", {"new": _nothing}, leading=2)["new"]
    run = Evaluation(MappingScope())
    callee.call(run, "x", more="y" * 6_400)
    assert run.spent == 100


def test_short_evaluations_cost_a_decision_nothing() -> None:
    meter = Meter()
    compile_expression("xs | length + 1").evaluate(Metered({"xs": [1]}, meter))
    assert meter.spent == 0


def test_long_evaluations_of_one_decision_are_added_up() -> None:
    meter, limits = Meter(), TemplateLimits(decision_operations_max=100_000)
    template = compile_template("{% for a in range(20000) %}{% endfor %}", limits=limits)
    scope = Metered({}, meter)
    template.evaluate(scope)
    assert meter.spent >= 40_000 - OPERATIONS_FREE
    template.evaluate(scope)
    with pytest.raises(ExpressionError, match="in the evaluations of one decision"):
        template.evaluate(scope)


def test_an_allowance_that_is_used_up_is_no_error_of_the_author() -> None:
    template = compile_template("{% for a in range(20000) %}{% endfor %}")
    with pytest.raises(TakesLong):
        template.evaluate(Metered({}, Meter(Allowance(1_000))))


@pytest.mark.parametrize("text", ["a == b", "a in b", "a != b", "a < b", "a[1:]", "a ~ b"])
def test_what_counts_nothing_else_pays_for_large_values(text: str) -> None:
    meter = Meter()
    compile_expression(text).evaluate(Metered({"a": "x" * 500_000, "b": "x" * 499_999}, meter))
    assert meter.spent > 1_000


@pytest.mark.parametrize("text", ["a == 'x'", "a in ['x', 'y']", "1 < n", "a"])
def test_a_small_constant_bounds_a_comparison(text: str) -> None:
    meter = Meter()
    compile_expression(text).evaluate(Metered({"a": "x" * 500_000, "n": 2}, meter))
    assert meter.spent == 0


@pytest.mark.parametrize("words", [False, True])
def test_the_truth_of_a_long_text_is_paid_for(words: bool) -> None:
    meter = Meter()
    condition = compile_condition("a", only_true_words=words)
    assert condition.holds(Metered({"a": " " * 500_000 + "true"}, meter))
    assert not condition.holds(Metered({"a": " " * 500_000 + "False "}, meter))
    assert meter.spent > 1_000


def test_values_side_by_side_are_refused_when_they_are_too_long_together() -> None:
    scope = MappingScope({"rows": list(range(100_000))})
    with pytest.raises(ExpressionError, match="passes the limit"):
        compile_template("{{ rows }}" * 60).evaluate(scope)


def test_a_refusal_says_which_limit_was_passed() -> None:
    with pytest.raises(OperationError, match="more than 5 operations in one evaluation"):
        Evaluation(MappingScope(), TemplateLimits(operations_max=5), 5).spend(6)
