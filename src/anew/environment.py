"""The environment this process was started with, and which parts of it are secrets of Anew itself.

Secrets can be withdrawn: they stay readable here and nowhere else, neither in `os.environ`, nor for
programs that are started, nor in /proc/PID/environ. Reads no secret for itself, and imports the
standard library only: processes of tasks use it too.
"""

from __future__ import annotations

import os
import re
import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping

from anew.kernel import make_undumpable

TOKEN_VARIABLE = "ANEW_TOKEN"
KEY_VARIABLE = "ANEW_KEY"
DB_VARIABLE = "ANEW_DB"
CREDENTIAL_PREFIX = "ANEW_CREDENTIAL_"
PASSWORD_VARIABLE = "PGPASSWORD"
# Set to 1, it lets debuggers and profilers of the same user look into our processes.
DUMPABLE_VARIABLE = "ANEW_DUMPABLE"

_SECRETS = (TOKEN_VARIABLE, KEY_VARIABLE, PASSWORD_VARIABLE)
# As in `://user:password@host`, and `?password=`.
_PASSWORD = re.compile(r"://[^/@]*:[^/]*@|[?&](ssl)?password=")
# More than fit into what the kernel takes for arguments and environment (6 MiB).
_ENTRIES_MAX = 1 << 20
_withdrawn: dict[str, str] = {}


def environment() -> Mapping[str, str]:
    """`os.environ`, and what was withdrawn from it."""
    return ChainMap(os.environ, _withdrawn)


def withdrawn(name: str) -> str | None:
    """The value of a withdrawn variable, for libraries that would have found it themselves."""
    return None if name in os.environ else _withdrawn.get(name)


def is_own(name: str) -> bool:
    """Whether a variable belongs to Anew alone, so that no task gets it, whoever allows it."""
    return name in (TOKEN_VARIABLE, KEY_VARIABLE, DB_VARIABLE) or name.startswith(CREDENTIAL_PREFIX)


def is_secret_of_anew(name: str) -> bool:
    """Whether a variable is what Anew itself is let in with, and so for no document to name."""
    return is_own(name) or name in _SECRETS


def withdraw_secrets() -> None:
    """Take the secrets out of the environment of this process. Once is enough."""
    found = {name: value for name, value in os.environ.items() if _is_secret(name, value)}
    _erase(found)
    for name, value in found.items():
        _withdrawn[name] = value
        del os.environ[name]


def protect_process() -> None:
    """What a process does first that holds secrets or executes tasks."""
    if is_private():
        make_undumpable()
    withdraw_secrets()


def is_private() -> bool:
    return os.environ.get(DUMPABLE_VARIABLE) != "1"


def _is_secret(name: str, value: str) -> bool:
    if name == DB_VARIABLE:
        return _PASSWORD.search(value) is not None
    return name in _SECRETS or name.startswith(CREDENTIAL_PREFIX)


def _erase(names: Iterable[str]) -> None:
    """Overwrite values in the memory that the kernel shows as /proc/PID/environ.

    To take a variable out of the environment leaves its text there. Elsewhere nothing is shown.
    """
    wanted = {os.fsencode(name) for name in names}
    if sys.platform != "linux" or not wanted:
        return
    import ctypes  # noqa: PLC0415 - slow to import, and needed where there are secrets only

    entries = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    # To the end, not as far as `os.environ` counts: that has each name once.
    for number in range(_ENTRIES_MAX):
        address = entries[number]
        if address is None:
            return
        name, _, value = ctypes.string_at(address).partition(b"=")
        if name in wanted:
            ctypes.memset(address + len(name) + 1, 0, len(value))
