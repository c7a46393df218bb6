"""What the exit status of a command means."""

from __future__ import annotations

DONE = 0
FAILED = 1
BAD = 2  # the document or the usage
WAITING = 3
UNREACHABLE = 4
# As `timeout` says it.
TIMED_OUT = 124
CANCELLED = 130
# What a shell reports for a program that a closed pipe ended.
PIPE_CLOSED = 141
