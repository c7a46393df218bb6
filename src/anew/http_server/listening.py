"""Sockets that listen: where, and why not."""

from __future__ import annotations

import errno
import socket

from anew.errors import ConfigError
from anew.files import os_reason

# Requests that wait in the kernel while the loop is busy.
BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; ConfigError when that cannot be."""
    family, address = _resolved(host, port)
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(_why_not(error, host, port)) from error
    listener.setblocking(False)
    return listener


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[object, ...]]:
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"the host {host[:80]!r} is not known ({error}). "
            "Choose an address of this machine with --host."
        ) from error
    family, _, _, _, address = found[0]
    return family, address


def _why_not(error: OSError, host: str, port: int) -> str:
    where = f"{host}:{port}"
    match error.errno:
        case errno.EADDRINUSE:
            return f"{where} is in use by another process. Choose another with --port (0: any)."
        case errno.EADDRNOTAVAIL:
            return f"{host} is not an address of this machine. Choose one that is with --host."
        case errno.EACCES:
            return f"this user may not listen on {where}. Choose a port from 1024 on."
        case _:
            return f"cannot listen on {where}: {os_reason(error)}"


def address_of(listener: socket.socket) -> str:
    """The URL of a socket that listens."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
