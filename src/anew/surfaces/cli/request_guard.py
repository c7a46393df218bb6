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

    An empty setting is none. Where the guard takes a proxy away from tasks that may need it, a
    message says so. ConfigError when a setting of HTTP calls cannot be used: now, and not when the
    first task meets it.
    """
    from anew.tools.http.settings import read_settings  # slow to import

    if os.environ.get(GUARD_VARIABLE, "").strip():
        read_settings()
        return
    os.environ[GUARD_VARIABLE] = "1"
    read_settings()
    proxy = next((name for name in _PROXIES if os.environ.get(name)), None)
    if proxy is not None and not is_quiet:
        print(
            f"anew: HTTP tasks are kept away from addresses that are not public, and so do not use "
            f"the proxy in ${proxy}. Set {GUARD_VARIABLE}=0 to use it, or 1 to hide this message.",
            file=sys.stderr,
            flush=True,
        )
