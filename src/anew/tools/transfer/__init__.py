"""The `transfer` tool: rows from one side to another, in batches that are each durable."""

from anew.tools.transfer.tool import TransferTool

__all__ = ["TransferTool"]
