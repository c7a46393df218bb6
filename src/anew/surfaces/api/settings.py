"""What an operator can set of the HTTP API, and the limits that hold for every request."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from anew.errors import ConfigError
from anew.runtime.commands import REQUEST_BYTES_MAX
from anew.surfaces.api.failure_throttle import FAILURE_PAUSE_SECONDS_MAX

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

# 16 characters drawn at random are beyond guessing; fewer have been guessed elsewhere.
TOKEN_CHARS_MIN = 16
_MAKING = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"


def check_token(token: str, *, file: Path | None = None) -> None:
    """ConfigError for one that can be guessed, or that no header can carry; it names the file."""
    is_word = token.isascii() and token.isprintable() and " " not in token
    if is_word and len(token) >= TOKEN_CHARS_MIN:
        return
    found = f"has {len(token)}" if is_word else "has others"
    which = "this one" if file is None else f"the one in {file}"
    without = "give none" if file is None else "remove that file and give none"
    raise ConfigError(
        f"a server's token has at least {TOKEN_CHARS_MIN} characters (printable ASCII, no spaces); "
        f"{which} {found}. Make one with `{_MAKING}`, or {without}: the server then makes its own."
    )


class ApiSettings(Struct, frozen=True):
    """`token` None lets everyone in, who then must name one of the `hosts` in the Host header.

    `request_bytes_max` bounds the body of every request; each payload and document in it has its
    own, smaller limit. `failure_pause_seconds_max` is how long the answer to a wrong token is held
    back in the end. `logs`: a line on standard error for each request.
    """

    token: str | None = None
    hosts: frozenset[str] = frozenset()
    request_bytes_max: int = REQUEST_BYTES_MAX
    streams_max: int = STREAMS_MAX
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    stream_poll_seconds: float = STREAM_POLL_SECONDS
    failure_pause_seconds_max: float = FAILURE_PAUSE_SECONDS_MAX
    logs: bool = False

    def __post_init__(self) -> None:
        if self.token is not None:
            check_token(self.token)

    def __repr__(self) -> str:
        return f"ApiSettings(token={'set' if self.token else None}, hosts={sorted(self.hosts)})"
