"""What an operator can set of the HTTP API, and the limits that hold for every request."""

from __future__ import annotations

from msgspec import Struct

from anew.runtime.orders import REQUEST_BYTES_MAX

# A stream holds one connection and reads the log now and then; more than this is a mistake.
STREAMS_MAX = 1_000
# How long a stream may say nothing before a comment shows that it is alive.
KEEP_ALIVE_SECONDS = 15.0
# The net below the notices that tell a stream of new events.
STREAM_POLL_SECONDS = 0.5
# Whole logs that are in memory at once for requests; others wait their turn.
READINGS_MAX = 4
# A database that has not answered by then does not answer.
READY_SECONDS_MAX = 5.0
# How long a request waits for the database: not as long as clients do, so that they hear why.
STORE_SECONDS_MAX = 10.0


class ApiSettings(Struct, frozen=True):
    """`token` None lets everyone in, who then must name one of the `hosts` in the Host header.

    `request_bytes_max` bounds the body of every request; each payload and document in it has its
    own, smaller limit. `logs`: a line on standard error for each request.
    """

    token: str | None = None
    hosts: frozenset[str] = frozenset()
    request_bytes_max: int = REQUEST_BYTES_MAX
    streams_max: int = STREAMS_MAX
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    stream_poll_seconds: float = STREAM_POLL_SECONDS
    logs: bool = False

    def __repr__(self) -> str:
        return f"ApiSettings(token={'set' if self.token else None}, hosts={sorted(self.hosts)})"
