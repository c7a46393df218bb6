"""What tasks reach for real: a run whose tasks try everything, in one sandbox or in none.

A task tells what it could read; what it could change or end is looked at from outside.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from anew.tools.sandbox import Sandbox, open_sandbox
from tests.tools.bubblewrap import missing

MODES = ("no sandbox", "bubblewrap", "user")
TOOLS = ("shell", "python")
# The kernel counts processes by user: one that no other test, and no service, runs as.
ACCOUNT = "games"
SECRET, PRIVATE, VICTIM = "env-secret-7351", "private-text-7351", "victim-7351"
MEMORY_BYTES, FILE_BYTES, PROCESSES = 256 << 20, 1 << 20, 40
PATIENCE_SECONDS = 120
# The rows of the page, in its order.
ROWS = {
    "private": "read private files of the user who runs Anew",
    "elsewhere": "read private files of that user next to the document",
    "outside": "change files of that user outside the folder of the document",
    "inside": "change files in the folder of the document",
    "public": "read what every user may read, such as `/etc/passwd`",
    "database": "read the database, its lock and its control socket",
    "token": "read the file of the server's token",
    "key": "read the key of the credential store, and what else is in its folder",
    "secrets": "read secrets in the environment of Anew",
    "processes": "see other processes and their arguments",
    "engine": "end processes of the user who runs Anew",
    "tasks": "end processes of other tasks",
    "scratch": "read the scratch files of other runs",
    "network": "reach other machines",
    "loopback": "reach services of this machine on 127.0.0.1",
    "memory": "use more memory than its limit",
    "forks": "start more processes than its limit",
    "time": "use more processor time than its limit",
    "files": "write larger files than its limit",
    "rights": "gain rights through set-uid programs",
    "left by shell": "leave a process behind, from `shell` and `agent`",
    "left by python": "leave a process behind, from `python`",
}
# Of one tool alone; all others are of both.
ROWS_OF_ONE = {f"left by {tool}": tool for tool in TOOLS}

SHELL = r"""
KEPT=${ANEW_RUN_FOLDER:-.}
can() { name=$1; shift; if ("$@") >/dev/null 2>&1; then echo "$name yes"; else echo "$name no"; fi; }
forks() { i=0; while [ $i -lt $FORKS ]; do sleep 60 & i=$((i+1)); pids="$pids $!"; done; kill $pids; }
secrets() { { env; cat /proc/[0-9]*/environ; } | grep -a -q 'env-[s]ecret-7351'; }
scratch() { cat "$DATA"/anew.db.scratch/7/agents/prompt.md; }
outside() { echo shell >>"$OUTSIDE"; }
inside() { echo shell >inside-shell; }
files() { head -c $((FILE_BYTES * 2)) /dev/zero >"$KEPT/big-shell"; }
unlimited() { [ "$(ulimit -t)" = unlimited ]; }
left() { cd "$KEPT"; mkfifo up; setsid sh -c 'echo up >up; exec sleep "$LEFT"' & read word <up; }
can private cat "$HOME/private.txt"
can elsewhere cat "$WORK/private.txt"
can outside outside
can inside inside
can public grep root: /etc/passwd
can database grep -a -q "SQLite format 3" "$DATA/anew.db"
can token cat "$DATA/anew.db.token"
can key cat "$HOME/.config/anew/key"
can secrets secrets
can processes grep -a -q 'victim-[7]351' "/proc/$ENGINE_VICTIM/cmdline"
can engine kill -TERM "$ENGINE_VICTIM"
can tasks kill -TERM "$TASK_VICTIM"
can scratch scratch
can network bash -c ': >/dev/udp/192.0.2.1/9'
can loopback bash -c ": >/dev/tcp/127.0.0.1/$PORT"
can memory dd if=/dev/zero of=/dev/null bs=$((MEMORY_BYTES + (64 << 20))) count=1
can left left
can forks forks
can time unlimited
can files files
can rights grep 'NoNewPrivs:.*0' /proc/self/status
"""

PYTHON = r"""
import glob, os, resource, signal, socket, subprocess
def read(path):
    with open(path, "rb") as file: return file.read()
def secrets():
    found = [str(dict(os.environ)).encode()]
    for path in glob.glob("/proc/[0-9]*/environ"):
        try: found.append(read(path))
        except OSError: pass
    assert SECRET.encode() in b"".join(found)
def outside():
    with open(OUTSIDE, "a") as file: file.write("python\n")
def inside():
    with open("inside-python", "w") as file: file.write("python")
def files():
    with open(os.environ.get("ANEW_RUN_FOLDER", ".") + "/big-python", "wb") as file: file.write(bytes(FILE_BYTES * 2))
def loopback(): socket.create_connection(("127.0.0.1", PORT), 5).close()
def network():
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.connect(("192.0.2.1", 9)); found.send(b"x")
def forks():
    started = []
    try:
        for _ in range(FORKS): started.append(subprocess.Popen(["sleep", "60"]))
    finally:
        for one in started: one.kill(); one.wait()
def time(): assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.RLIM_INFINITY
def rights(): assert b"NoNewPrivs:\t0" in read("/proc/self/status")
def left(): subprocess.Popen(["sleep", LEFT], start_new_session=True)
def processes(): assert VICTIM.encode() in read(f"/proc/{ENGINE_VICTIM}/cmdline")
tries = {
    "private": lambda: read(os.environ["HOME"] + "/private.txt"),
    "elsewhere": lambda: read(WORK + "/private.txt"), "token": lambda: read(DATA + "/anew.db.token"),
    "outside": outside, "inside": inside,
    "public": lambda: read("/etc/passwd"), "database": lambda: read(DATA + "/anew.db"),
    "key": lambda: read(os.environ["HOME"] + "/.config/anew/key"), "secrets": secrets,
    "processes": processes, "engine": lambda: os.kill(ENGINE_VICTIM, signal.SIGTERM),
    "tasks": lambda: os.kill(TASK_VICTIM, signal.SIGTERM),
    "scratch": lambda: read(DATA + "/anew.db.scratch/7/agents/prompt.md"),
    "network": network, "loopback": loopback, "memory": lambda: bytearray(MEMORY_BYTES + (64 << 20)),
    "forks": forks, "time": time, "files": files, "rights": rights, "left": left,
}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
result = {}
for name, attempt in tries.items():
    try: attempt(); result[name] = "yes"
    except (OSError, AssertionError, MemoryError): result[name] = "no"
"""


@cache
def tried(mode: str, session: Path) -> dict[str, dict[str, str]]:
    """What the tasks of each tool reached; one try for all processes of a session of pytest.

    `session` is a temporary folder of pytest.
    """
    shared = session.parent if "PYTEST_XDIST_WORKER" in os.environ else session
    kept = shared / f"reach-{mode.replace(' ', '-')}.json"
    with _alone():
        if not kept.exists():
            kept.write_text(json.dumps(_found_by(mode)))
        found: dict[str, dict[str, str]] = json.loads(kept.read_text())
    return found


def _found_by(mode: str) -> dict[str, dict[str, str]]:
    """By tool and row: yes or no."""
    with TemporaryDirectory(prefix="anew-reach-") as made, ExitStack() as stack:
        base = Path(made)
        base.chmod(0o755)
        settings = _settings(mode, base)
        sandbox = _sandbox(settings)
        _furnish(base, sandbox)
        port = stack.enter_context(_listening())
        victims = {
            (tool, whose): stack.enter_context(_victim(sandbox if whose == "tasks" else None, base))
            for tool in TOOLS
            for whose in ("engine", "tasks")
        }
        given = {tool: _given(tool, base, port, victims) for tool in TOOLS}
        told = _run(base, settings, given)
        return {tool: _judged(tool, told[tool], base, victims, given[tool]) for tool in TOOLS}


@contextmanager
def _alone() -> Iterator[None]:
    """One at a time on this machine, because the processes of all of them count together."""
    with open(Path(gettempdir()) / f"anew-reach-{os.getuid()}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _settings(mode: str, base: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept |= {"HOME": str(base / "home"), "ANEW_DB": str(base / ".anew" / "anew.db")}
    kept |= {"ANEW_CREDENTIAL_PROBE": json.dumps({"token": SECRET})}
    if mode == "no sandbox":
        return kept
    account = {"ANEW_SANDBOX_USER": ACCOUNT} if os.geteuid() == 0 else {}
    return kept | account | {
        "ANEW_SANDBOX": mode,
        "ANEW_SANDBOX_MEMORY_BYTES_MAX": str(MEMORY_BYTES),
        "ANEW_SANDBOX_FILE_BYTES_MAX": str(FILE_BYTES),
        "ANEW_SANDBOX_PROCESSES_MAX": str(PROCESSES),
        "ANEW_SANDBOX_CPU_SECONDS_MAX": "60",
    }  # fmt: skip


def _sandbox(settings: Mapping[str, str]) -> Sandbox:
    """The one the run will have, for what stands for another task in it."""
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        return open_sandbox()
    finally:
        os.environ.clear()
        os.environ.update(before)


def _furnish(base: Path, sandbox: Sandbox) -> None:
    """Things worth reaching, as Anew itself leaves them."""
    (base / "home" / ".config" / "anew").mkdir(parents=True)
    key = base / "home" / ".config" / "anew" / "key"
    private = base / "home" / "private.txt"
    (base / "outside.txt").write_text("")
    work = base / "work"
    work.mkdir()
    work.chmod(0o777)
    # Not in the folder of the document, which tasks of another user may change.
    data = base / ".anew"
    data.mkdir(mode=0o700)
    beside, token = work / "private.txt", data / "anew.db.token"
    for path in (key, private, beside, token):
        path.write_text(urlsafe_b64encode(bytes(32)).decode() if path == key else PRIVATE)
        path.chmod(0o600)
    prompts = data / "anew.db.scratch" / "7" / "agents"
    prompts.mkdir(parents=True)
    (prompts / "prompt.md").write_text("another task's")
    if sandbox.account is not None:  # as `give` leaves it, wherever it is
        os.chown(prompts / "prompt.md", sandbox.account.uid, sandbox.account.gid)


@contextmanager
def _listening() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield listener.getsockname()[1]


@contextmanager
def _victim(sandbox: Sandbox | None, base: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a name to be known by; in a sandbox it stands for another task."""
    command = ["/bin/sh", "-c", f"read forever; : {VICTIM}"]
    if sandbox is not None:
        command = sandbox.wrap(command, folder=base / "work")
    victim = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield victim
    finally:
        victim.kill()
        victim.communicate()


def _given(
    tool: str, base: Path, port: int, victims: Mapping[tuple[str, str], subprocess.Popen[bytes]]
) -> dict[str, object]:
    return {
        "DATA": str(base / ".anew"),
        "WORK": str(base / "work"),
        "OUTSIDE": str(base / "outside.txt"),
        "PORT": port,
        "ENGINE_VICTIM": victims[tool, "engine"].pid,
        "TASK_VICTIM": victims[tool, "tasks"].pid,
        "MEMORY_BYTES": MEMORY_BYTES,
        "FILE_BYTES": FILE_BYTES,
        "FORKS": PROCESSES * 2,
        "VICTIM": VICTIM,
        # Longer than anything here, and a number of its own: how long to sleep, and how to be found.
        "LEFT": f"{90_000_000 + os.getpid()}{TOOLS.index(tool)}",
    }


def _run(
    base: Path, settings: Mapping[str, str], given: Mapping[str, dict[str, object]]
) -> dict[str, dict[str, str]]:
    """Have `anew run` do it, as anyone would."""
    shell = {"kind": "shell", "command": SHELL, "env": given["shell"]}
    halves = f"SECRET = {SECRET[:4]!r} + {SECRET[4:]!r}\n"
    python = {"kind": "python", "code": halves + PYTHON, "args": given["python"]}
    steps = [
        {"step": "shell", "tool": shell, "next": [{"step": "python"}]},
        {"step": "python", "tool": python},
    ]
    document = {"metadata": {"name": "reach"}, "workflow": steps}
    (base / "work" / "reach.yaml").write_text(json.dumps(document))
    words = [*_reachable_python(settings), sys.executable, "-m", "anew"]
    done = _called([*words, "run", "reach.yaml"], base / "work", settings)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = _called([*words, "events", "last", "--json"], base / "work", settings)
    return _told(seen.stdout)


def _called(
    words: list[str], folder: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def _told(events: str) -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = {}
    for line in events.splitlines():
        event = json.loads(line)
        if event["name"] == "task.processed":
            result = event["data"]["outcome"]["result"]
            if event["step"] == "shell":
                result = dict(row.split() for row in result["stdout"].splitlines())
            told[event["step"]] = result
    return told


def _reachable_python(settings: Mapping[str, str]) -> list[str]:
    """Where the folders above Python are closed to others, open ones in their place."""
    if settings.get("ANEW_SANDBOX") != "user":
        return []
    prefix = Path(sys.base_prefix).resolve()
    closed = [path for path in (*prefix.parents, prefix) if not path.stat().st_mode & 0o001]
    if not closed:
        return []
    outermost = closed[-1]
    ways = [path for path in reversed(prefix.parents) if path.is_relative_to(outermost)][1:]
    return [
        *(shutil.which("bwrap") or "bwrap", "--dev-bind", "/", "/", "--tmpfs", str(outermost)),
        *(word for path in ways for word in ("--dir", str(path))),
        *("--ro-bind", str(prefix), str(prefix), "--cap-add", "ALL", "--"),
    ]


def _judged(
    tool: str,
    told: Mapping[str, str],
    base: Path,
    victims: Mapping[tuple[str, str], subprocess.Popen[bytes]],
    given: Mapping[str, object],
) -> dict[str, str]:
    """What it says it read; what was changed, whatever it says."""
    seen = {
        "outside": tool in (base / "outside.txt").read_text(),
        "inside": (base / "work" / f"inside-{tool}").exists(),
        "engine": victims[tool, "engine"].poll() == -signal.SIGTERM,
        "tasks": victims[tool, "tasks"].poll() is not None,
        f"left by {tool}": _ended(str(given["LEFT"])),
    }
    claimed = {row: answer for row, answer in told.items() if row != "left"}
    return claimed | {row: "yes" if is_so else "no" for row, is_so in seen.items()}


def _ended(seconds: str) -> bool:
    """Whether something sleeps so long; it is ended now."""
    found = False
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            os.kill(int(folder.name), signal.SIGKILL)
            found = True
    return found


def has_network() -> bool:
    """Whether this machine itself has a way to others."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as found:
        try:
            found.connect(("192.0.2.1", 9))
        except OSError:
            return False
    return True


def why_not(mode: str) -> str | None:
    """Why this machine cannot try a mode; None when it can."""
    if mode == "no sandbox":
        return None if sys.platform == "linux" else "the tasks look into /proc"
    if os.geteuid() == 0 and ACCOUNT not in {user.pw_name for user in pwd.getpwall()}:
        return f"there is no user {ACCOUNT}"
    return missing(mode)


def cells(page: Path) -> dict[tuple[str, str], str]:
    """The matrix of the page: yes or no by mode and row."""
    keys = {text: row for row, text in ROWS.items()}
    found = {}
    for line in page.read_text().splitlines():
        first, *answers = [cell.strip() for cell in line.strip("|").split("|")]
        if first in keys and len(answers) == len(MODES):
            for mode, answer in zip(MODES, answers, strict=True):
                found[mode, keys[first]] = answer.rstrip("¹²³⁴⁵⁶")
    return found
