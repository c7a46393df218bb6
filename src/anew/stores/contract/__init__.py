"""What every store must do, as a suite that anyone can run against theirs.

A case is an async function that takes a factory: an async function that gives a new, empty
`anew.store.Database`. It raises AssertionError when the store does not keep its promise.

    import asyncio, pytest
    pytest.register_assert_rewrite("anew.stores.contract")  # says what was found instead
    from anew.stores.contract import CASES

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
    def test_my_store(case):
        asyncio.run(case(open_my_empty_database))
"""

from __future__ import annotations

from types import ModuleType

from anew.stores.contract import (
    artifacts,
    blobs,
    catalog,
    commits,
    concurrency,
    delivery,
    guards,
    listing,
    packed,
    parking,
    pruning,
    repeating,
    retries,
    roster,
    searching,
    standing,
)
from anew.stores.contract.making import Case, Factory

__all__ = ["CASES", "Case", "Factory"]


def _cases(module: ModuleType) -> list[Case]:
    return [case for name, case in vars(module).items() if name.startswith("case_")]


CASES: tuple[Case, ...] = tuple(
    case
    for module in (
        *(commits, packed, repeating, delivery, parking, blobs),
        *(listing, pruning, catalog, artifacts, concurrency, roster),
        *(searching, standing, retries, guards),
    )
    for case in _cases(module)
)
