"""Moments that people write: durations count from now, dates are where the reader is or in UTC."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from anew.engine.moments import NANOSECONDS, moment_of
from anew.errors import ConfigError
from anew.surfaces import moments
from anew.surfaces.cli import moments as at_a_terminal

HOUR = 3600 * NANOSECONDS
NOW = 1_000_000 * HOUR


@pytest.fixture(autouse=True)
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fourteen hours before Greenwich."""
    monkeypatch.setenv("TZ", "FAR-14")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_date_without_a_zone_is_utc_for_a_server_and_local_at_a_terminal() -> None:
    utc = moment_of("2026-03-01T00:00:00Z")
    assert utc is not None
    assert moments.parsed_moment("2026-03-01", now=NOW) == utc
    assert at_a_terminal.parsed_moment("2026-03-01", now=NOW) == utc - 14 * HOUR


@pytest.mark.parametrize("said", [moments.parsed_moment, at_a_terminal.parsed_moment])
def test_a_zone_that_is_named_and_a_duration_mean_the_same_everywhere(said) -> None:
    assert said("2026-03-01T02:00+02:00", now=NOW) == moment_of("2026-03-01T00:00:00Z")
    assert said("2h", now=NOW) == NOW - 2 * HOUR
    assert said("9999-01-01T00:00Z", now=NOW) == moments.STORED_MOMENT_MAX
    with pytest.raises(ConfigError, match="is not a time; write a duration"):
        said("soon", now=NOW)


def test_a_moment_ahead_is_a_duration_from_now() -> None:
    assert moments.moment_ahead("2h", now=NOW) == NOW + 2 * HOUR
    with pytest.raises(ConfigError, match="is not a duration"):
        moments.moment_ahead("2026-03-01", now=NOW)


def test_a_moment_of_another_day_has_its_date_where_the_reader_is() -> None:
    now = moment_of("2026-03-01T20:00:00Z")  # ten in the morning of the 2nd, here
    same_day, day_before = (moment_of(f"2026-03-01T{hour}:00:00Z") for hour in ("11", "09"))
    assert at_a_terminal.local_clock(same_day, now) == "01:00:00"
    assert at_a_terminal.local_clock(day_before, now) == "2026-03-01 23:00:00"
    assert at_a_terminal.column_clock([same_day], now)(same_day) == "01:00:00"
    column = at_a_terminal.column_clock([same_day, day_before], now)
    assert column(same_day) == "2026-03-02 01:00:00"
