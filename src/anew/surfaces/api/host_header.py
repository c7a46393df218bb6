"""Read the Host of a request: a name or an address, and a port or none (RFC 3986, 3.2).

Anything that two readers could take for different hosts is not one: a user, a space, a second
colon, a bracket too many. Stricter than the RFC: no percent-encoding, and nothing that is empty.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address

_AUTHORITY = re.compile(
    rb"(?:(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})|\[(?P<ipv6>[0-9A-Fa-f:.]{2,45})\])"
    rb"(?::(?P<port>[0-9]{1,5}))?"
)
_PORT_MAX = 65535


def host_of(authority: bytes) -> str | None:
    """The host, in small letters, an IPv6 address in its shortest form; None if it is not one."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found["port"] or 0) > _PORT_MAX:
        return None
    if found["name"] is not None:
        return found["name"].decode("ascii").lower()
    try:
        return str(IPv6Address(found["ipv6"].decode("ascii")))
    except ValueError:
        return None
