"""The kind `mcp`: its row of the table of kinds."""

from __future__ import annotations

from anew.program.kind import Kind, Target, TargetForm

MCP = Kind(
    "mcp",
    title="Calls a tool of an MCP server.",
    inputs={
        "server": "An address (https://…), a command (a list, or `{command, args, env}`), or a "
        "name from the operator's list.",
        "tool": "The name of the tool.",
        "args": "The arguments of the tool, by name.",
    },
    aliases={"url": "server", "endpoint": "server", "arguments": "args"},
    required=(("server",), ("tool",)),
    texts=frozenset({"tool"}),
    timeout_seconds=60.0,
    tool="anew.tools.mcp:McpTool",
    is_sandboxed=True,
    effect=("calls the tool {tool} of an MCP server",),
    target=Target(TargetForm.WORDS, ("server",), "unknown"),
)
