"""The `mcp` tool: one call of a tool of an MCP server, over its standard streams or HTTP."""

from anew.tools.mcp.tool import McpTool

__all__ = ["McpTool"]
