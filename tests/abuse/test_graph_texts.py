"""Conditions and texts of graphs are bounded and charged as templates are."""

from __future__ import annotations

import re

import pytest

from anew.expressions import (
    Allowance,
    Condition,
    ExpressionError,
    MappingScope,
    Meter,
    TakesLong,
)
from anew.languages.dot.conditions import Names, compile_condition
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.variables import compile_text
from anew.values import Value

DOCS, SPEC = Names(DotDialect.DOCS), Names(DotDialect.SPEC)
BIG = "a" * 1_000_000
ROWS = list(range(300_000))


class Metered(MappingScope):
    """A scope whose decision is metered."""

    def __init__(self, ctx: dict[str, Value], allowance: Allowance | None = None) -> None:
        super().__init__({"ctx": ctx})
        self.meter = Meter(allowance)


def _condition(text: str, names: Names) -> Condition:
    compiled = compile_condition(text, names)
    assert compiled.condition is not None, compiled.problems
    return compiled.condition


def _refusal(condition: Condition, scope: Metered) -> str:
    """Why the condition could not be told; empty when it could."""
    try:
        condition.holds(scope)
    except ExpressionError as refused:
        return refused.message
    return ""


CONTEXT = {"big": BIG, "same": BIG[1:] + "a", "rows": ROWS, "rows2": list(ROWS), "o": {"a": ROWS}}


@pytest.mark.parametrize(
    "clause",
    [
        "big == same",
        "big != same",
        "big < same",
        "big >= same",
        "rows == rows2",
        "rows CONTAINS big",
        "big IN rows",
        "big CONTAINS same",
        "big STARTS_WITH same",
        "big ENDS_WITH same",
        "o == rows",
        "big",
    ],
)
def test_a_condition_of_docs_pays_for_what_it_compares(clause: str) -> None:
    written = re.sub(r"(big|same|rows2?|o)\b", r"context.\1", clause)
    condition = _condition(" OR ".join([f"NOT ({written})", f"({written})"] * 200), DOCS)
    scope = Metered(CONTEXT)
    message = _refusal(condition, scope)
    assert "more than 100000 operations" in message or scope.meter.spent > 1_000


@pytest.mark.parametrize("key", ["big", "rows", "o"])
@pytest.mark.parametrize("sign", ["=", "!="])
def test_a_condition_of_spec_pays_or_is_refused(key: str, sign: str) -> None:
    condition = _condition(" && ".join([f"{key}{sign}x", f"{key}!=y"] * 50), SPEC)
    scope = Metered(CONTEXT)
    assert "passes the limit" in _refusal(condition, scope) or scope.meter.spent > 1_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (" OR ".join(["a == 1"] * 20_000), DOCS),
        (" AND ".join(["a"] * 30_000), DOCS),
        ("a IN [" + "1, " * 30_000 + "1]", DOCS),
        (" && ".join(["a=1"] * 20_000), SPEC),
        (" && ".join(["a"] * 30_000), SPEC),
    ],
    ids=["or", "and", "list", "clauses", "keys"],
)
def test_a_long_condition_is_refused_with_its_place(text: str, names: Names) -> None:
    compiled = compile_condition(text, names)
    assert compiled.condition is None
    assert "longer than 25,000 names, literals and signs" in compiled.problems[0].message
    assert compiled.problems[0].at > 0


@pytest.mark.parametrize("names", [DOCS, SPEC], ids=["docs", "spec"])
def test_a_key_of_many_parts_is_looked_for_quickly(names: Names) -> None:
    key = ".".join(["a"] * 50_000)
    inner: Value = 1
    for _ in range(100):
        inner = {"a": inner}
    assert not _condition(key, names).holds(Metered({"a": inner}))


@pytest.mark.parametrize("variable", ["$rows", "${rows}", "$context.rows", "${ctx.o}", "$big"])
def test_a_text_of_large_values_is_refused_before_it_is_made(variable: str) -> None:
    template = compile_text(f"{variable} " * 3_000, DOCS)
    with pytest.raises(ExpressionError, match=r"longer than|passes the limit|holds more than"):
        template.evaluate(Metered(CONTEXT))


def test_a_text_of_many_variables_pays_for_each() -> None:
    scope = Metered({"a": "x"})
    assert len(compile_text("$a" * 20_000, DOCS).evaluate(scope)) == 20_000
    assert scope.meter.spent > 20_000


def test_a_long_text_is_left_to_a_thread() -> None:
    template = compile_text("$a" * 20_000, DOCS)
    with pytest.raises(TakesLong):
        template.evaluate(Metered({"a": "x"}, Allowance(5_000)))
