"""Every field of a filter has its row in each table of conditions; SQL binds its value."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.store import RunFilter, RunId
from anew.stores.matching import FITTING
from anew.stores.postgres.session import POSTGRES
from anew.stores.sql.filters import FILTERS, where
from anew.stores.sqlite.session import SQLITE

# How many runs there are at most is no condition.
NOT_A_CONDITION = {"limit"}
ODD = "o'dd; -- \0 %_?"


@pytest.mark.parametrize("table", [FILTERS, FITTING], ids=["sql", "memory"])
def test_every_field_of_a_filter_is_a_row_of_the_table(table: Mapping[str, object]) -> None:
    assert table.keys() == set(RunFilter.__struct_fields__) - NOT_A_CONDITION


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=["sqlite", "postgres"])
@pytest.mark.parametrize(
    "asked",
    [
        RunFilter(program=ODD, error_kind=ODD, fingerprint=ODD, digests=[ODD], text=ODD),
        RunFilter(labels={ODD: ODD}, runs=[RunId(1), RunId(2)], parent=RunId(3), before=RunId(4)),
        RunFilter(since=1, until=2, attempt_min=2, due_before=3, text="17"),
        RunFilter(statuses=[RunStatus.DONE], states=[DetailedStatus.DEAD, DetailedStatus.DONE]),
        RunFilter(digests=[], runs=[], retrying=True, is_delayed=True, is_child=True),
    ],
    ids=str,
)
def test_what_is_asked_for_is_bound_and_never_written_out(dialect, asked) -> None:
    condition, values = where(dialect, asked)
    assert condition.count("?") == len(values)
    assert not re.search(r"o'dd|\b17\b", condition)


def test_every_run_needs_no_condition() -> None:
    assert where(SQLITE, RunFilter()) == ("", [])
