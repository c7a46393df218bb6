"""The guard of HTTP calls, on for processes that work on what others send them.

Whoever types `anew run` chose the document and could call every address without it. A server or a
worker runs documents and workloads of others, who may not reach what this machine can.
"""

from __future__ import annotations

import os
import sys

GUARD_VARIABLE = "ANEW_HTTP_GUARD"
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


def guard_requests(*, is_quiet: bool = False) -> None:
    """Have the calls of this process guarded unless the operator said otherwise.

    Where that takes a proxy away from tasks that may need it, it is said.
    """
    if GUARD_VARIABLE in os.environ:
        return
    os.environ[GUARD_VARIABLE] = "1"
    proxy = next((name for name in _PROXIES if os.environ.get(name)), None)
    if proxy is not None and not is_quiet:
        print(
            f"anew: HTTP tasks are kept away from addresses that are not public, and so do not use "
            f"the proxy in ${proxy}. Set {GUARD_VARIABLE}=0 to use it, or 1 to be told no more.",
            file=sys.stderr,
            flush=True,
        )
