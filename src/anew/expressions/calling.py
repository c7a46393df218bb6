"""Closures that call an operation of this package with computed arguments."""

from __future__ import annotations

from collections.abc import Callable

from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.problems import COMPUTING_ERRORS, Placed
from anew.values import Value


def invocation(
    call: Callable[..., Value], inputs: list[Run], named: list[tuple[str, Run]], placed: Placed
) -> Run:
    """`call(evaluation, *inputs, **named)`; what it raises becomes the error of its place."""
    if named:
        return _with_names(call, inputs, named, placed)
    if len(inputs) == 1:
        return _with_one(call, inputs[0], placed)

    def run(rt: Evaluation) -> Value:
        values = [value(rt) for value in inputs]
        try:
            return call(rt, *values)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def _with_one(call: Callable[..., Value], value: Run, placed: Placed) -> Run:
    def run(rt: Evaluation) -> Value:
        given = value(rt)
        try:
            return call(rt, given)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def _with_names(
    call: Callable[..., Value], inputs: list[Run], named: list[tuple[str, Run]], placed: Placed
) -> Run:
    def run(rt: Evaluation) -> Value:
        values = [value(rt) for value in inputs]
        options = {name: value(rt) for name, value in named}
        try:
            return call(rt, *values, **options)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run
