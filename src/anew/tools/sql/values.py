"""How a database's values look in a result: the one table for all SQL tools.

| in the database | in the result |
|---|---|
| whole number | number; text beyond 64 bits |
| decimal | number when a number holds every digit, else text |
| float | number; null for NaN and infinity, which JSON does not know |
| date, time, timestamp | ISO 8601 text; with a time zone, in UTC with `Z` |
| interval | ISO 8601 duration, `P1DT2H`; a month counts 30 days |
| bytes | base64 text |
| json | the value itself |
| array, list | list |
| struct, map | object, keys as text |
| anything else (uuid, inet, range, …) | its text |
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from anew.values import Value
from anew.weight import WHOLE_MAX, WHOLE_MIN


def json_value(value: object) -> Value:
    """`value` as JSON, by the table above."""
    form = _FORMS.get(type(value))
    if form is not None:
        return form(value)
    for kind, form in _FORMS.items():
        if isinstance(value, kind):
            return form(value)
    return str(value)


def _same(value: Value) -> Value:
    return value


def _whole(value: int) -> int | str:
    return value if WHOLE_MIN <= value <= WHOLE_MAX else str(value)


def _float(value: float) -> float | None:
    return value if isfinite(value) else None


def _decimal(value: Decimal) -> int | float | str | None:
    if not value.is_finite():
        return None
    if value == value.to_integral_value():
        whole = int(value)
        return whole if WHOLE_MIN <= whole <= WHOLE_MAX else format(value, "f")
    number = float(value)
    # The shortest text of a float says whether it stands for exactly these digits.
    is_exact = isfinite(number) and Decimal(repr(number)) == value
    return number if is_exact else format(value, "f")


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat()
    try:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    except OverflowError:  # the first or the last day Python can count
        return value.isoformat()


def _time(value: date | time) -> str:
    return value.isoformat()


def _duration(value: timedelta) -> str:
    sign, rest = ("-", -value) if value < timedelta(0) else ("", value)
    minutes, seconds = divmod(rest.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{rest.microseconds:06d}".rstrip("0") if rest.microseconds else ""
    parts = [
        f"{hours}H" if hours else "",
        f"{minutes}M" if minutes else "",
        f"{seconds}{fraction}S" if seconds or fraction else "",
    ]
    clock = "".join(parts)
    days = f"{rest.days}D" if rest.days else ""
    return f"{sign}P{days}T{clock}" if clock else f"{sign}P{days or 'T0S'}"


def _base64(value: bytes | bytearray | memoryview) -> str:
    return b64encode(value).decode("ascii")


def _list(value: list[object] | tuple[object, ...]) -> list[Value]:
    return [json_value(item) for item in value]


def _object(value: Mapping[object, object]) -> dict[str, Value]:
    return {_key(key): json_value(item) for key, item in value.items()}


def _key(key: object) -> str:
    shown = json_value(key)
    return shown if isinstance(shown, str) else str(shown)


# Exact types are looked up; the order only matters for subclasses, the narrower one first.
_FORMS: dict[type, Callable[[Any], Value]] = {
    type(None): _same,
    bool: _same,
    str: _same,
    int: _whole,
    float: _float,
    Decimal: _decimal,
    datetime: _moment,
    date: _time,
    time: _time,
    timedelta: _duration,
    bytes: _base64,
    bytearray: _base64,
    memoryview: _base64,
    list: _list,
    tuple: _list,
    dict: _object,
}
