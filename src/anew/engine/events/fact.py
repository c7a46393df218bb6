"""Where and when something happened in a run: what every event has.

Knows nothing of what happened.
"""

# Annotations are not texts here: msgspec would compile each of them, 20 µs a field, in every
# process that reads a log.
from typing import ClassVar

from msgspec import Struct


# What a log holds is JSON, which has no cycles: the garbage collector need not look for any in
# facts, states and outcomes (`gc=False`), of which a busy process holds most of its objects.
class Fact(Struct, kw_only=True, omit_defaults=True, gc=False):
    """Where and when. `seq` is gap-free from 1; `at` is nanoseconds since 1970, UTC."""

    name: ClassVar[str]

    seq: int = 0
    at: int = 0
    step: str | None = None
    visit: int | None = None
    iteration: int | None = None
    task: str | None = None
    attempt: int | None = None
