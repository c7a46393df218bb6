"""Which addresses are not on the public Internet, and why: a table of our own.

The rows follow the IANA registries of special-purpose addresses (RFC 6890), with the addresses at
which clouds keep their metadata. Python's own judgement is not asked: it changes between versions.
Knows no names, settings or connections.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# The narrower block comes first: its reason is the better one.
_IPV4 = {
    "169.254.169.254/32": "the metadata of a cloud",
    "169.254.170.2/32": "the metadata of a container (AWS)",
    "168.63.129.16/32": "the metadata of a cloud (Azure)",
    "100.100.100.200/32": "the metadata of a cloud (Alibaba)",
    "192.0.0.192/32": "the metadata of a cloud (Oracle)",
    "0.0.0.0/8": "this machine",
    "10.0.0.0/8": "a private network",
    "100.64.0.0/10": "a provider's own network",
    "127.0.0.0/8": "the loopback of this machine",
    "169.254.0.0/16": "the local link",
    "172.16.0.0/12": "a private network",
    "192.0.0.0/24": "kept for protocols of the IETF",
    "192.0.2.0/24": "for documentation",
    "192.31.196.0/24": "a sink for reverse names (AS112)",
    "192.52.193.0/24": "a relay of multicast",
    "192.88.99.0/24": "a relay of 6to4",
    "192.168.0.0/16": "a private network",
    "192.175.48.0/24": "a sink for reverse names (AS112)",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "255.255.255.255/32": "broadcast",
    "240.0.0.0/4": "reserved",
}
_IPV6 = {
    "fd00:ec2::254/128": "the metadata of a cloud (AWS)",
    "fd20:ce::254/128": "the metadata of a cloud (Google)",
    "::/128": "this machine",
    "::1/128": "the loopback of this machine",
    "::/96": "an IPv4 address in a form that is no longer used",
    "64:ff9b:1::/48": "a translation to IPv4 inside a network",
    "100::/64": "a sink",
    "100:0:0:1::/64": "a dummy",
    "2001::/32": "a tunnel to IPv4 (Teredo)",
    "2001:1::1/128": "a relay for port mappings",
    "2001:1::2/128": "a relay (TURN)",
    "2001:1::3/128": "for service registration",
    "2001:2::/48": "for benchmarks",
    "2001:3::/32": "a relay of multicast",
    "2001:4:112::/48": "a sink for reverse names (AS112)",
    "2001:10::/28": "an identifier (ORCHID)",
    "2001:20::/28": "an identifier (ORCHIDv2)",
    "2001:30::/28": "an identifier of a drone",
    "2001::/23": "kept for protocols of the IETF",
    "2001:db8::/32": "for documentation",
    "2002::/16": "a tunnel to IPv4 (6to4)",
    "2620:4f:8000::/48": "a sink for reverse names (AS112)",
    "3fff::/20": "for documentation",
    "5f00::/16": "inside a routing domain",
    "fc00::/7": "a private network",
    "fe80::/10": "the local link",
    "fec0::/10": "a site's own network",
    "ff00::/8": "multicast",
    # All that is assigned to be reached is in 2000::/3.
    "::/3": "not assigned",
    "4000::/2": "not assigned",
    "8000::/1": "not assigned",
}
SPECIAL: tuple[tuple[Network, str], ...] = (
    *((IPv4Network(block), reason) for block, reason in _IPV4.items()),
    *((IPv6Network(block), reason) for block, reason in _IPV6.items()),
)

# Packets to these go to the IPv4 address in the last 32 bits, and to nothing else.
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
# The second half of an ISATAP address begins so, whatever network it is in.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
_LOW_32 = 0xFFFF_FFFF


def why_special(address: Address) -> str | None:
    """Why nobody on the public Internet is there; None for an address like any other.

    An address that stands for an IPv4 address is judged by that one. One that merely contains an
    IPv4 address (a tunnel) is judged by both.
    """
    for inner in embedded(address):
        reason = why_special(inner)
        if reason is not None:
            return reason
    if stands_for(address) is not None:
        return None
    return next((f"{why} ({block})" for block, why in SPECIAL if address in block), None)


def stands_for(address: Address) -> IPv4Address | None:
    """The IPv4 address of which this is only another form."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & _LOW_32)
    return None


def embedded(address: Address) -> list[IPv4Address]:
    """The IPv4 addresses that packets to this one may reach."""
    if isinstance(address, IPv4Address):
        return []
    bits = int(address)
    found = []
    if address in _MAPPED or address in _NAT64 or (address in _COMPATIBLE and bits > 1):
        found.append(bits)
    if address in _SIX_TO_FOUR:
        found.append(bits >> 80)
    if address in _TEREDO:
        found += [bits >> 64, ~bits]  # the server, and the client with its bits turned
    if (bits >> 32) & _LOW_32 in _ISATAP:
        found.append(bits)
    return [IPv4Address(one & _LOW_32) for one in found]
