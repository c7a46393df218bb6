"""How long an analysis may go on. Those that can take long ask in every round of their loops.

Knows no clock: whoever asks for an analysis brings a question that ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")


class OutOfTime(Exception):
    """Whoever asked for the analysis waits no longer."""


# Asked again and again; raises OutOfTime once nobody waits any longer.
Patience: TypeAlias = Callable[[], None]


def unlimited() -> None:
    """The patience of somebody who waits for as long as it takes."""


def patiently(items: Iterable[T], patience: Patience) -> Iterator[T]:
    """The same items, as long as somebody waits."""
    for item in items:
        patience()
        yield item
