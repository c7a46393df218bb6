"""The tool of kind `agent`: ask a model or a program to do something, through a backend."""

from anew.tools.agent.backend import AgentReply, AgentRequest, Backend, Message
from anew.tools.agent.tool import AgentTool
from anew.tools.inputs import BadInput

__all__ = ["AgentReply", "AgentRequest", "AgentTool", "Backend", "BadInput", "Message"]
