"""What the operator sets for all HTTP calls of a process, read from the environment once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network

from msgspec import Struct

from anew.errors import ConfigError

HTTP_RESPONSE_BYTES_MAX = 32 << 20
_BYTES_BOUND = 1 << 40
# In a list of exceptions: this machine, by whichever address it is called.
LOOPBACK = "loopback"
_LOOPBACK_NETWORKS = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})


class Allowed(Struct, frozen=True):
    """What the guard lets through although it would refuse it. A port of None is any port."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[tuple[IPv4Network | IPv6Network, int | None], ...] = ()


class HttpSettings(Struct, frozen=True):
    response_bytes_max: int = HTTP_RESPONSE_BYTES_MAX
    is_guarded: bool = False
    allowed: Allowed = Allowed()
    trusts_environment: bool = True


def read_settings(environment: Mapping[str, str] = os.environ) -> HttpSettings:
    """The settings; one that cannot be used is a ConfigError that names it."""
    return HttpSettings(
        response_bytes_max=_bytes(environment),
        is_guarded=_switch(environment, "ANEW_HTTP_GUARD", default=False),
        allowed=read_allowed(environment.get("ANEW_HTTP_ALLOW", "")),
        trusts_environment=_switch(environment, "ANEW_HTTP_TRUST_ENV", default=True),
    )


def _bytes(environment: Mapping[str, str]) -> int:
    said = environment.get("ANEW_HTTP_RESPONSE_BYTES_MAX")
    if said is None:
        return HTTP_RESPONSE_BYTES_MAX
    if said.isascii() and said.isdigit() and len(said) < 16 and 1 <= int(said) <= _BYTES_BOUND:
        return int(said)
    raise ConfigError(
        f"ANEW_HTTP_RESPONSE_BYTES_MAX is {said!r}; it must be a whole number of at least 1"
    )


def _switch(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    said = environment.get(name)
    if said is None:
        return default
    word = said.strip().lower()
    if word not in _YES | _NO:
        raise ConfigError(f"{name} is {said!r}; it must be 1 or 0")
    return word in _YES


def read_allowed(text: str) -> Allowed:
    """`host`, `host:port`, `address`, `address:port` and `network/bits`, with commas between.

    The word `loopback` is this machine by any of its addresses; `loopback:port` one port of it.
    """
    hosts: set[tuple[str, int | None]] = set()
    networks: list[tuple[IPv4Network | IPv6Network, int | None]] = []
    for entry in filter(None, map(str.strip, text.split(","))):
        host, port = _host_and_port(entry)
        network = _network(host)
        if host.lower() == LOOPBACK:
            networks += [(one, port) for one in _LOOPBACK_NETWORKS]
        elif network is not None:
            networks.append((network, port))
        elif "/" in host or not host:
            raise ConfigError(
                f"ANEW_HTTP_ALLOW has {entry!r}, which is not a host, host:port or network"
            )
        else:
            hosts.add((host.lower(), port))
    return Allowed(frozenset(hosts), tuple(networks))


def _host_and_port(entry: str) -> tuple[str, int | None]:
    if _network(entry) is not None:  # an IPv6 address without a port is full of colons
        return entry, None
    host, colon, port = entry.rpartition(":")
    if not colon:
        return entry.strip("[]"), None
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        if entry.startswith("[") and entry.endswith("]"):
            return entry.strip("[]"), None
        raise ConfigError(f"ANEW_HTTP_ALLOW has {entry!r}, whose port is not one")
    return host.strip("[]"), int(port)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None
