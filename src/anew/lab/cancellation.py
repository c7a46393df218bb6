"""Let a long analysis be cancelled: those that can take long check in every round of their loops.

Knows no clock: whoever asks for an analysis brings the check that ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")


class AnalysisCancelled(Exception):
    """Whoever asked for the analysis waits no longer."""


# Called again and again; raises AnalysisCancelled once nobody waits any longer.
CancelCheck: TypeAlias = Callable[[], None]


def never_cancelled() -> None:
    """The check of somebody who waits for as long as it takes."""


def until_cancelled(items: Iterable[T], cancel_check: CancelCheck) -> Iterator[T]:
    """The same items, as long as somebody waits."""
    for item in items:
        cancel_check()
        yield item
