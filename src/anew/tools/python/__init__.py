"""The `python` tool: the author's code in warm processes that can be killed.

Nothing is imported here, so that a process for user code starts without the engine: it imports
this package too. The tool itself is `anew.tools.python.tool.PythonTool`.
"""
