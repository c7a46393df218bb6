"""How much a request may carry: what is laid over a workload, or sent with a signal."""

from __future__ import annotations

import os

import msgspec

from anew.errors import ConfigError
from anew.values import Object, Value
from anew.weight import problem_of

# A request holds what a person or a program says about one run.
PAYLOAD_BYTES_MAX = 10 * 1024 * 1024


class PayloadTooLarge(ConfigError):
    """The payload is larger than a request may be."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the payload has {size:,} bytes; the limit (ANEW_PAYLOAD_BYTES_MAX) is {limit:,}"
        )
        self.size = size
        self.limit = limit


class WorkloadTooLarge(PayloadTooLarge):
    """A request may not lay so much over a workload."""


def check_workload(workload: Object) -> None:
    """ConfigError when a run cannot be started with this."""
    problem = problem_of(workload)
    if problem is not None:
        raise ConfigError(f"the input {problem}")
    check_size(workload, WorkloadTooLarge)


def check_size(value: Value, too_large: type[PayloadTooLarge] = PayloadTooLarge) -> None:
    size, limit = len(msgspec.json.encode(value)), payload_bytes_max()
    if size > limit:
        raise too_large(size, limit)


def payload_bytes_max() -> int:
    """$ANEW_PAYLOAD_BYTES_MAX, if it is set."""
    given = os.environ.get("ANEW_PAYLOAD_BYTES_MAX", str(PAYLOAD_BYTES_MAX))
    if not given.isdecimal() or int(given) < 1:
        raise ConfigError(f"ANEW_PAYLOAD_BYTES_MAX is {given!r}; it must be a number of bytes")
    return int(given)
