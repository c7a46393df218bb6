"""The `http` tool: one request, its redirects, and the response as an outcome."""

from anew.tools.http.tool import HttpTool

__all__ = ["HttpTool"]
