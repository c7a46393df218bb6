"""What stops a request before it is sent. The text is for the author and holds no secret."""

from __future__ import annotations


class LimitPassed(Exception):
    """More than a named limit allows."""


class AddressRefused(Exception):
    """The guard does not let a request go to this address."""
