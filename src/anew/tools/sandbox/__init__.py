"""Where processes of tasks run: beside us, in a namespace of their own, or as another user.

Knows commands and folders. Does not know what the processes are for, nor who starts them.
"""

from anew.tools.sandbox.opening import open_sandbox
from anew.tools.sandbox.room import Room, room_in
from anew.tools.sandbox.sandbox import NO_SANDBOX, NotInSandbox, Sandbox

__all__ = ["NO_SANDBOX", "NotInSandbox", "Room", "Sandbox", "open_sandbox", "room_in"]
