"""The guard of HTTP calls, on for processes that work on what others send them.

Whoever types `anew run` chose the document and could call every address without it. A server or a
worker runs documents and workloads of others, who may not reach what this machine can.
"""

from __future__ import annotations

import os

GUARD_VARIABLE = "ANEW_HTTP_GUARD"


def guard_requests() -> None:
    """Have the calls of this process guarded unless the operator said otherwise."""
    os.environ.setdefault(GUARD_VARIABLE, "1")
