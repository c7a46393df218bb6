"""Where processes of tasks run: beside us, in a namespace of their own, or as another user.

Knows commands and folders. Does not know what the processes are for, nor who starts them.
"""

from anew.tools.sandbox.opening import open_sandbox
from anew.tools.sandbox.room import Room, room_in
from anew.tools.sandbox.sandbox import NO_SANDBOX, NotInSandbox, Sandbox, folder_of_tasks

__all__ = [
    "NO_SANDBOX",
    "NotInSandbox",
    "Room",
    "Sandbox",
    "folder_of_tasks",
    "open_sandbox",
    "room_in",
]
