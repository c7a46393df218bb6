"""Functions of a program as tools: what they are given, and what their answers amount to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from anew.engine.outcome import Advice, Outcome, error_of, outcome_of
from anew.tool import AttemptRef, Call, Timeout
from anew.tools.function import function_tool
from anew.values import Object, Value

INPUTS: Object = {"name": "Ada", "tags": ["a"]}


def outcome(function: Callable[[Object], object], inputs: Object = INPUTS) -> Outcome:
    call = Call(
        kind="own",
        inputs=inputs,
        place=AttemptRef("1", "step", 1, None, "task", 1),
        idempotency_key="key",
        asked_at=0,
        timeout=Timeout(),
        folder=Path(),
        scratch=Path(),
    )
    return asyncio.run(function_tool(function).call(call))  # type: ignore[arg-type]


def greet(inputs: Object) -> Value:
    return {"said": f"hello {inputs['name']}", "thread": threading.current_thread().name}


async def greet_soon(inputs: Object) -> Value:
    await asyncio.sleep(0)
    return greet(inputs)


@pytest.mark.parametrize(
    ("function", "is_apart"),
    [(greet, True), (partial(greet), True), (greet_soon, False), (partial(greet_soon), False)],
)
def test_a_function_is_given_the_inputs_and_returns_the_result(function, is_apart: bool) -> None:
    told = outcome(function)
    assert told.result["said"] == "hello Ada"
    # One that blocks must not hold the other runs up.
    assert (told.result["thread"] != threading.current_thread().name) is is_apart


@pytest.mark.parametrize(
    "answer",
    [
        outcome_of(error=error_of("rate_limit", "slowly", retry_after=3)),
        outcome_of({"n": 1}, advice=Advice(label="Yes", updates={"n": 1})),
    ],
)
def test_a_function_may_return_an_outcome(answer: Outcome) -> None:
    assert outcome(lambda inputs: answer) == answer


@pytest.mark.parametrize(
    ("problem", "kind", "retryable"),
    [
        (KeyError("x"), "python_error", None),
        (ConnectionRefusedError("refused"), "connection", True),
        (TimeoutError(), "timeout", True),
        (StopIteration(), "python_error", None),
    ],
)
def test_what_a_function_raises_is_an_error_of_its_kind(
    problem: Exception, kind: str, retryable: bool | None
) -> None:
    def fail(inputs: Object) -> Value:
        raise problem

    told = outcome(fail)
    assert told.error is not None
    assert (told.error["kind"], told.error["retryable"]) == (kind, retryable)
    assert told.error["code"] == type(problem).__name__
    assert "in fail" in told.error["where"]
    assert told.helpers["py"]["exception_type"] == type(problem).__name__


def test_what_is_no_json_is_an_error() -> None:
    told = outcome(lambda inputs: {1, 2})
    assert told.error is not None
    assert told.error["kind"] == "limit_exceeded"


def test_a_function_cannot_change_the_log() -> None:
    def change(inputs: Object) -> Value:
        inputs["tags"].append("b")
        return inputs.pop("name")

    assert outcome(change).result == "Ada"
    assert INPUTS == {"name": "Ada", "tags": ["a"]}
