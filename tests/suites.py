"""Which of the two suites a test belongs to: `make test`, or `make test-long` with what is marked `long`.

Whole systems live in the folders of FAMILIES. There a test is long unless it is marked `daily`, and
every file has one that is. Elsewhere a test is daily unless it is marked `long`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

TESTS = Path(__file__).resolve().parent
# Processes that are killed, clusters of them, and pages in a browser.
FAMILIES = ("cluster", "crash", "web")

Test = Callable[..., None]


def assign(items: Iterable[pytest.Item]) -> None:
    """Mark what is long only by its folder."""
    for item in items:
        if is_of_a_family(item.path) and item.get_closest_marker("daily") is None:
            item.add_marker(pytest.mark.long)


def is_of_a_family(path: Path) -> bool:
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).parts[0] in FAMILIES


def daily(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Cases of a family, of which `make test` has the first."""
    return [
        pytest.param(case, marks=pytest.mark.daily) if number < count else case
        for number, case in enumerate(cases)
    ]


def mostly_long(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Cases of a test of any other folder, of which `make test` has the first."""
    return [
        case if number < count else pytest.param(case, marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]


def tried(
    *strategies: Any,
    examples: int,
    long: Sequence[int],
    suppress: Iterable[HealthCheck] = (HealthCheck.too_slow,),
    derandomize: bool = False,
    **named: Any,
) -> Callable[[Test], Test]:
    """A property with some examples in `make test`, and many more in `make test-long`.

    Each number of `long` is a test of its own, so that several processes share them. Where examples
    are the same every time (`derandomize`), those of `make test` are the first of the others.
    """
    shares = [
        pytest.param(examples, id="some"),
        *(
            pytest.param(count, marks=pytest.mark.long, id=f"more-{number}")
            for number, count in enumerate(long, start=1)
        ),
    ]

    def decorate(check: Test) -> Test:
        @pytest.mark.parametrize("examples", shares)
        def test(examples: int) -> None:
            bounds = settings(
                max_examples=examples,
                deadline=None,
                suppress_health_check=list(suppress),
                derandomize=derandomize,
            )
            bounds(given(*strategies, **named)(check))()

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate
