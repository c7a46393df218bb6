"""Two runs of one worker, as a user who is not root: what code of one can read of all the others.

`python -m tests.abuse.neighbours FOLDER` prints what each probe got, as JSON. Root may read every
process, so a test that is run by root has this run by nobody.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from anew.kernel import make_undumpable
from anew.tools.python.tool import PythonTool
from anew.tools.shell import ShellTool
from tests.tools.code_calls import call_of, written

SECRET = "secret-of-the-victim"
PROBES = """
import ctypes, json, os, platform
libc = ctypes.CDLL(None, use_errno=True)
def read(name): return lambda pid: open(f"/proc/{pid}/{name}", "rb").read().decode(errors="replace")
def listed(pid): return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
def opened(pid): return [os.open(f"/proc/{pid}/fd/{n}", os.O_RDWR) for n in range(1, 9)]
def memory(pid):
    rows = [row.split() for row in open(f"/proc/{pid}/maps")]
    with open(f"/proc/{pid}/mem", "rb") as file:
        file.seek(int(rows[-5][0].partition("-")[0], 16))
        return len(file.read(64))
def called(what, *words):
    result = getattr(libc, what)(*words)
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
    return result
def traced(request, pid):
    called("ptrace", request, pid, 0, 0)
    os.kill(pid, 19)  # it can only be let go when it has stopped
    os.waitpid(pid, 0)
    called("ptrace", 17, pid, 0, 0)
    os.kill(pid, 18)
def attach(pid): return traced(16, pid)
def seize(pid): return traced(0x4206, pid)
def stolen(pid):
    return [called("syscall", 438, os.pidfd_open(pid), fd, 0) for fd in range(3, 9)]
def vm(pid):
    class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
    here = ctypes.create_string_buffer(8)
    near, far = Piece(ctypes.addressof(here), 8), Piece(ctypes.addressof(here), 8)
    return called("process_vm_readv", pid, ctypes.byref(near), 1, ctypes.byref(far), 1, 0)
def written(pid):
    with open(f"/proc/{pid}/mem", "r+b") as file: return file.writable()
PROBES = {
    "environment": read("environ"), "memory": memory, "memory written": written,
    "files": listed, "files opened": opened, "auxv": read("auxv"), "stack": read("stack"),
    "system call": read("syscall"), "folder": lambda pid: os.readlink(f"/proc/{pid}/cwd"),
    "program": lambda pid: os.readlink(f"/proc/{pid}/exe"), "attach": attach, "seize": seize,
    "file taken": stolen, "memory through the kernel": vm,
}
def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
def tried(probe, pid):
    try: return f"got {str(probe(pid))[:200]}"
    except OSError as problem: return "refused" if problem.errno in (1, 3, 13, 38) else repr(problem)
"""
THIEF = f"""{PROBES}
server = os.getppid()
targets = {{"the victim": victim, "the fork server": server, "the worker": parent(server)}}
return {{
    **{{name: {{what: tried(p, pid) for what, p in PROBES.items()}} for name, pid in targets.items()}},
    "arguments": "".join(read("cmdline")(pid) for pid in targets.values()),
}}
"""
VICTIM = """
import os, pathlib, time
pathlib.Path("victim").write_text(f"{os.getpid()}\\n")
while not pathlib.Path("go").exists(): time.sleep(0.002)
return secret
"""


async def main(folder: Path) -> dict[str, Any]:
    make_undumpable()
    tool = PythonTool()
    call = call_of("python", folder, code=VICTIM, args={"secret": SECRET})
    victim = asyncio.ensure_future(tool.call(call))
    pid = int(await written(folder / "victim"))
    thief = call_of("python", folder, code=THIEF, args={"victim": pid})
    found = await tool.call(replace(thief, place=replace(thief.place, run="thief")))
    assert found.error is None, found
    command = f"cat /proc/$PPID/environ /proc/{os.getpid()}/environ; ls -l /proc/{os.getpid()}/fd"
    shell = await ShellTool().call(call_of("shell", folder, command=command))
    (folder / "go").touch()
    told = (await victim).result
    await tool.close()
    return {**found.result, "told": told, "shell": shell.result["stdout"]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
