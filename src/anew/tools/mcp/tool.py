"""Call one tool of one server, and say what came of it.

Every call is a session of its own: a server keeps nothing for a run from call to call.
"""

from __future__ import annotations

from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.errors import ConfigError
from anew.tool import Call
from anew.tools.http.clients import Clients
from anew.tools.http.failures import FAILURES, error_from
from anew.tools.http.settings import HttpSettings, read_settings
from anew.tools.inputs import BadInput
from anew.tools.mcp.servers import McpAddress, McpCommand, server_of
from anew.tools.mcp.session import McpProblem, McpSession
from anew.tools.mcp.stdio import stdio_link
from anew.tools.mcp.streamable import HttpLink
from anew.tools.sandbox import NO_SANDBOX, Sandbox, room_in
from anew.values import Object


class McpTool:
    """The tool of kind `mcp`; see docs/reference/tools/mcp.md."""

    def __init__(self, sandbox: Sandbox = NO_SANDBOX) -> None:
        self._sandbox = sandbox
        self._settings: HttpSettings | None = None
        self._clients: Clients | None = None

    async def call(self, call: Call) -> Outcome:
        try:
            tool, args = _tool_and_args(call)
            server = server_of(call.inputs.get("server"), call.hide)
            if isinstance(server, McpAddress):
                return await self._over_http(call, server, tool, args)
            return await self._over_stdio(call, server, tool, args)
        except (BadInput, ConfigError) as problem:
            return outcome_of(error=error_of("config", str(problem)))
        except McpProblem as problem:
            return problem.outcome()

    async def close(self) -> None:
        if self._clients is not None:
            await self._clients.close()

    async def _over_stdio(self, call: Call, server: McpCommand, tool: str, args: Object) -> Outcome:
        if call.inputs.get("auth") is not None:
            raise BadInput("`auth` is for servers with an address: give a command its `env`")
        room = room_in(self._sandbox, call.folder, call.scratch)
        async with stdio_link(
            server, key=call.idempotency_key, folder=call.folder, room=room, printed=call.printed
        ) as link:
            return await McpSession(link).call(tool, args)

    async def _over_http(self, call: Call, server: McpAddress, tool: str, args: Object) -> Outcome:
        if self._settings is None or self._clients is None:
            self._settings = read_settings()
            self._clients = Clients(self._settings)
        link = HttpLink(call, server, self._clients, self._settings.response_bytes_max)
        try:
            return await McpSession(link).call(tool, args)
        except FAILURES as failure:
            return outcome_of(error=error_from(failure, "the MCP server"))
        finally:
            await link.end()


def _tool_and_args(call: Call) -> tuple[str, Object]:
    tool, args = call.inputs.get("tool"), call.inputs.get("args")
    if not isinstance(tool, str) or not tool:
        raise BadInput("`tool` must be the name of a tool of the server")
    if args is not None and not isinstance(args, dict):
        raise BadInput("`args` must be a mapping of the tool's arguments")
    return tool, args or {}
