"""Where a maker's interface is, and the key for it.

A credential's key goes where the author says. The key in our own environment goes only where the
environment says: a document must not be able to send it elsewhere.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import httpx2
from msgspec import Struct

from anew.errors import ConfigError
from anew.tool import Timeout
from anew.tools.agent.backend import AgentRequest
from anew.tools.agent.request import text_in
from anew.tools.inputs import BadInput
from anew.values import Value

# What the key may be called in a credential, the best name first.
_KEY_NAMES = ("api_key", "key", "token", "value")
# In which the libraries put it.
_KEY_HEADERS = ("Authorization", "X-Api-Key")


class Maker(Struct, frozen=True):
    """A wire format: its library, and what that takes from the environment.

    `headers_variable` has lines of `Name: value`; `account_headers` are made of other variables.
    """

    name: str
    key_variable: str
    headers_variable: str
    account_headers: tuple[str, ...] = ()


class Access(Struct, frozen=True):
    """`key` is None for a server that needs none; `base_url` is None for the usual place."""

    key: str | None
    base_url: str | None

    def __repr__(self) -> str:
        return f"Access(base_url={self.base_url!r})"


async def library(name: str) -> Any:
    """The maker's library. Importing it takes a second, so the loop does not wait for it."""
    try:
        return await asyncio.to_thread(import_module, name)
    except ImportError:
        raise ConfigError(
            f"the agent backend {name!r} needs the Python package {name!r}: "
            "pip install 'anew[agents]'"
        ) from None


def access_for(request: AgentRequest, maker: Maker) -> Access:
    """Key and address for a request; BadInput tells what to give when the key is missing."""
    base_url = _address(request.settings)
    if request.auth:
        return Access(_key_in(request.auth, maker), base_url or _address(request.auth))
    if base_url is not None:
        return Access(None, base_url)
    key = os.environ.get(maker.key_variable, "").strip()
    if not key:
        raise BadInput(
            f"there is no key for {maker.name}: name a credential in `auth` "
            f"({_form(maker)}), or set {maker.key_variable}"
        )
    return Access(key, None)


def options(access: Access, maker: Maker, *, sdk: Any) -> dict[str, Any]:
    """What both libraries' clients are built with. Trying again is left to the author's rules."""
    # They refuse to be built without a key; one that needs none is not sent it (`headers`).
    built: dict[str, Any] = {"api_key": access.key or "none", "max_retries": 0}
    if access.base_url is None:
        return built
    # The libraries add headers of the environment, which belong where the environment says. They
    # are left out of the client: a request cannot leave out all of them.
    names = (*maker.account_headers, *_names_in(maker.headers_variable))
    left_out = {name: sdk.Omit() for name in names}
    return {**built, "base_url": access.base_url, "default_headers": left_out}


def headers(access: Access, *, sdk: Any, client: Any) -> dict[str, Any]:
    """The headers of one request that have the key, or have none."""
    if not access.key:
        return {name: sdk.Omit() for name in _KEY_HEADERS}
    # Said again, for the environment's headers may have named one of these.
    return dict(client.auth_headers) if access.base_url is not None else {}


def _names_in(variable: str) -> list[str]:
    lines = os.environ.get(variable, "").split("\n")
    return [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]


def model_of(request: AgentRequest) -> str:
    if request.model is None:
        raise BadInput("model is missing; say which model to ask")
    return request.model


def time_limits(timeout: Timeout) -> httpx2.Timeout:
    """The parts the author stated; the whole is bounded by whoever made the call."""
    return httpx2.Timeout(connect=timeout.connect, read=timeout.read, write=timeout.read, pool=None)


def _address(given: Mapping[str, Value]) -> str | None:
    said = text_in(given, "base_url")
    if said is None:
        return None
    try:
        url = httpx2.URL(said.strip())
    except httpx2.InvalidURL:
        url = httpx2.URL()
    if url.scheme not in ("http", "https") or not url.host:
        # It may hold a password, so it is not quoted.
        raise BadInput("base_url must be an address that starts with http:// or https://")
    return str(url)


def _key_in(auth: Mapping[str, Value], maker: Maker) -> str:
    for name in _KEY_NAMES:
        said = auth.get(name)
        if isinstance(said, str) and said.strip():
            return said.strip()
    raise BadInput(f"the credential of `auth` has no api_key; it looks like {_form(maker)}")


def _form(maker: Maker) -> str:
    return f'{{"type": "{maker.name}", "data": {{"api_key": "…"}}}}'
