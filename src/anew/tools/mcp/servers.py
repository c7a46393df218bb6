"""Which server a task means: a command, an address, or a name from the operator's list.

The list is a JSON file in the form that other MCP clients use: `{"mcpServers": {name: {command,
args, env} or {url, headers}}}`. Nothing here starts or calls anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from anew.tools.inputs import BadInput
from anew.values import Value

SERVERS_FILE = "ANEW_MCP_SERVERS"
_LIST = "mcpServers"
_COMMAND_KEYS = frozenset({"command", "args", "env", "cwd", "type"})
_ADDRESS_KEYS = frozenset({"url", "headers", "verify", "type"})


class McpCommand(Struct, frozen=True):
    """A server that is a program: it is started for the call, and ended with it."""

    words: list[str]
    env: Mapping[str, Value]
    cwd: Value = None

    @property
    def secrets(self) -> Mapping[str, Value]:
        """What may hold secrets, if the operator wrote it: no document and no log has it."""
        return self.env


class McpAddress(Struct, frozen=True):
    """A server that is reached over HTTP."""

    url: str
    headers: Mapping[str, Value]
    verify: Value = None

    @property
    def secrets(self) -> Mapping[str, Value]:
        """What may hold secrets, if the operator wrote it: no document and no log has it."""
        return self.headers


def server_of(
    given: Value, hide: Callable[[str, Mapping[str, Value]], None]
) -> McpCommand | McpAddress:
    """The server of the input `server`; BadInput says what it may be.

    `hide` is told what the operator's list holds for it.
    """
    if isinstance(given, str) and given.strip():
        text = given.strip()
        if _is_address(text):
            return McpAddress(text, {})
        server = _described(_listed(text))
        hide(f"{SERVERS_FILE}:{text}", server.secrets)
        return server
    if isinstance(given, list):
        return _command({"command": given})
    return _described(given)


def _is_address(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _described(given: Value) -> McpCommand | McpAddress:
    if isinstance(given, Mapping) and "command" in given:
        return _command(given)
    if isinstance(given, Mapping) and "url" in given:
        return _address(given)
    raise BadInput(
        "`server` must be an address (https://…), a command (a list, or `{command, args, env}`), "
        f"or a name from the file of {SERVERS_FILE}"
    )


def _command(given: Mapping[str, Value]) -> McpCommand:
    _check_keys(given, _COMMAND_KEYS)
    command, args, env = given["command"], given.get("args") or [], given.get("env") or {}
    words = [command] if isinstance(command, str) else command
    if not isinstance(words, list) or not isinstance(args, list) or not words:
        raise BadInput("`server.command` must be a program, and `server.args` a list")
    for word in (*words, *args):
        if not isinstance(word, (str, int, float)) or isinstance(word, bool) or "\0" in str(word):
            raise BadInput("the words of `server.command` and `server.args` must be texts")
    if not isinstance(env, Mapping):
        raise BadInput("`server.env` must be a mapping of names to values")
    return McpCommand([str(word) for word in (*words, *args)], env, given.get("cwd"))


def _address(given: Mapping[str, Value]) -> McpAddress:
    _check_keys(given, _ADDRESS_KEYS)
    url, headers = given["url"], given.get("headers") or {}
    if not isinstance(url, str) or not _is_address(url.strip()):
        raise BadInput("`server.url` must start with http:// or https://")
    if not isinstance(headers, Mapping):
        raise BadInput("`server.headers` must be a mapping of names to values")
    return McpAddress(url.strip(), headers, given.get("verify"))


def _check_keys(given: Mapping[str, Value], known: frozenset[str]) -> None:
    unknown = sorted(given.keys() - known)
    if unknown:
        takes = ", ".join(sorted(known - {"type"}))
        raise BadInput(f"`server` has the key {unknown[0]!r}; it takes {takes}")


def _listed(name: str) -> Value:
    """What the operator's file says of a server."""
    path = os.environ.get(SERVERS_FILE)
    if not path:
        raise BadInput(
            f"there is no MCP server {name!r}: {SERVERS_FILE} names no file. Write its address or "
            "its command"
        )
    try:
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise BadInput(f"the file of {SERVERS_FILE} cannot be read: {why}") from None
    servers = said.get(_LIST, said) if isinstance(said, dict) else None
    if not isinstance(servers, dict) or name not in servers:
        known = ", ".join(servers) if isinstance(servers, dict) else "none"
        raise BadInput(f"the file of {SERVERS_FILE} has no server {name!r}; it has {known}")
    return servers[name]
