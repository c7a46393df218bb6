"""Values on their way to PostgreSQL and back, where psycopg's own choice would not do."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from psycopg import DataError, adapters
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.datetime import DateLoader, IntervalLoader, TimestampLoader, TimestamptzLoader
from psycopg.types.json import Jsonb, set_json_loads

from anew.tools.postgres.statements import Argument
from anew.values import Value

# As many as the greatest whole number of a log has.
_WHOLE_DIGITS_MAX = 20


class _OrText(Loader):
    """What Python's calendar cannot hold (`infinity`, years BC) stays the server's text."""

    def load(self, data: Buffer) -> Any:
        try:
            return super().load(data)  # type: ignore[safe-super]
        except DataError:
            return bytes(data).decode()


class _Date(_OrText, DateLoader):
    pass


class _Timestamp(_OrText, TimestampLoader):
    pass


class _Timestamptz(_OrText, TimestamptzLoader):
    pass


class _Interval(_OrText, IntervalLoader):
    pass


def _whole(digits: str) -> int | str:
    """Digits no 64 bits hold stay text; Python would refuse to count some thousands of them."""
    return int(digits) if len(digits) <= _WHOLE_DIGITS_MAX else digits


def adapters_of_results() -> AdaptersMap:
    """psycopg's own adapters, with those above."""
    known = AdaptersMap(adapters)
    known.register_loader("date", _Date)
    known.register_loader("timestamp", _Timestamp)
    known.register_loader("timestamptz", _Timestamptz)
    known.register_loader("interval", _Interval)
    set_json_loads(partial(json.loads, parse_int=_whole), known)
    return known


def bindable(argument: Argument) -> Value:
    """What psycopg is given: an object is JSON, and so is a list unless an array is meant."""
    if isinstance(argument.value, list) and argument.is_array:
        return [bindable(Argument(item, isinstance(item, list))) for item in argument.value]
    is_json = isinstance(argument.value, (dict, list))
    return Jsonb(argument.value) if is_json else argument.value
