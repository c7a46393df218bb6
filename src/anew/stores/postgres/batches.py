"""Many calls of `anew.commit_v1` as one statement: what would be a round trip of many messages,
each with its own price on both sides, becomes one.

Every parameter becomes an array with one element for each commit. Those that are arrays themselves
are put one behind the other, and each commit gets its slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

from anew.stores.postgres.values import (
    Array,
    BooleanArray,
    BytesArray,
    IntegerArray,
    TextArray,
)

# As in sql/postgres/0002_commits.sql.
_SIGNATURE = """
    run bigint, expected bigint, at bigint, status text, error text, ended_at bigint,
    ats bigint[], names text[], datas text[], replaced text[],
    step text, visit bigint, iteration bigint, token bigint, settle text,
    to_step text, to_visit bigint, to_iteration bigint, pool text, until bigint,
    due_at bigint, reason text, attempt bigint, calls_again boolean,
    drop_all boolean, drops json, jobs json, wakes json,
    new json, checksums text[], blobs bytea[], format text, snapshot bytea
"""
PARAMETERS = dict(part.split() for part in _SIGNATURE.split(","))

_ARRAYS: dict[str, type[Array]] = {
    "bigint": IntegerArray,
    "text": TextArray,
    "json": TextArray,
    "boolean": BooleanArray,
    "bytea": BytesArray,
}
# Which columns tell where the slice of a commit begins and ends.
_SLICED = {
    **dict.fromkeys(("ats", "names", "datas", "replaced"), "log"),
    **dict.fromkeys(("checksums", "blobs"), "blob"),
}
_PLACES = ("log_first", "log_last", "blob_first", "blob_last")


def _argument(name: str, kind: str) -> str:
    if name in _SLICED:
        place = f"asked.{_SLICED[name]}"
        return f"(%s::{kind})[{place}_first:{place}_last]"
    return f"asked.{name}::json" if kind == "json" else f"asked.{name}"


def _column(kind: str) -> str:
    return f"%s::{'text' if kind == 'json' else kind}[]"


_single = {name: kind for name, kind in PARAMETERS.items() if name not in _SLICED}
STATEMENT = f"""
SELECT anew.commit_v1({", ".join(_argument(*parameter) for parameter in PARAMETERS.items())})
FROM unnest(
    {", ".join([*map(_column, _single.values()), *["%s::bigint[]"] * len(_PLACES)])}
) WITH ORDINALITY AS asked ({", ".join([*_single, *_PLACES, "number"])})
ORDER BY asked.number
"""


def batch(calls: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The values for STATEMENT, of those for each call."""
    columns = dict(zip(PARAMETERS, zip(*calls, strict=True), strict=True))
    counts = [len(names.values) for names in columns["names"]]
    blobs = [0 if one is None else len(one.values) for one in columns["checksums"]]
    return (
        *(
            _joined(columns[name], PARAMETERS[name], counts if place == "log" else blobs)
            for name, place in _SLICED.items()
        ),
        *(_ARRAYS[kind](columns[name]) for name, kind in _single.items()),
        *_slices(counts),
        *_slices(blobs, is_null_if_empty=True),
    )


def _joined(column: Sequence[Array | None], kind: str, counts: Sequence[int]) -> Array | None:
    """All elements, one behind the other."""
    if not any(one is not None for one in column):
        return None
    parts = (
        one.values if one is not None else [None] * count
        for one, count in zip(column, counts, strict=True)
    )
    return _ARRAYS[kind.removesuffix("[]")](list(chain.from_iterable(parts)))


def _slices(
    counts: Sequence[int], *, is_null_if_empty: bool = False
) -> tuple[IntegerArray, IntegerArray]:
    """Where each begins and ends, counted from 1; nowhere makes a slice NULL."""
    ends = list(accumulate(counts))
    pairs = [
        (None, None) if is_null_if_empty and count == 0 else (end - count + 1, end)
        for count, end in zip(counts, ends, strict=True)
    ]
    return IntegerArray([pair[0] for pair in pairs]), IntegerArray([pair[1] for pair in pairs])
