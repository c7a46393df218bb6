"""Read which sandbox the operator wants, and refuse in words what this machine does not give.

There is no fallback: tasks run in the sandbox that was asked for, or nothing starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from anew.errors import ConfigError
from anew.posix import account_ids, is_root
from anew.tools.sandbox.limits import limits_set
from anew.tools.sandbox.places import check_places, places_set
from anew.tools.sandbox.sandbox import NO_SANDBOX, Account, Sandbox, SandboxKind

CHOICES = ("bubblewrap", "user")
# Where each program that we need comes from, as Debian calls it.
_PACKAGES = {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux"}
_NEEDED: dict[str, tuple[str, ...]] = {
    "bubblewrap": ("bwrap", "setpriv", "prlimit"),
    "user": ("setpriv", "prlimit"),
}
_REMEDIES = {
    "bubblewrap": "Allow user namespaces (sysctl user.max_user_namespaces; in a container also a "
    "seccomp profile with unshare and mount)",
    "user": "Give anew the capabilities SETUID and SETGID",
}
_NOTHING = ("/bin/sh", "-c", ":")
_TRIAL_SECONDS_MAX = 30
_QUOTE_CHARS = 300


def open_sandbox(hidden: Sequence[Path] = ()) -> Sandbox:
    """The sandbox of $ANEW_SANDBOX, tried out; ConfigError when tasks cannot run in it.

    `hidden` are the files of the database and of tokens. The folder of the key is always hidden.
    """
    kind = _kind()
    if kind == "none":
        return NO_SANDBOX
    if sys.platform != "linux":
        raise ConfigError(f"ANEW_SANDBOX={kind} needs Linux. Unset it, or run workers on Linux.")
    from shutil import which  # noqa: PLC0415 - slow to import, and most need none of it

    programs = {program: which(program) for program in _NEEDED[kind]}
    for program, path in programs.items():
        if path is None:
            package = _PACKAGES[program]
            raise ConfigError(
                f"ANEW_SANDBOX={kind} needs the program {program}, which is not on PATH. "
                f"Install the package {package}, or unset ANEW_SANDBOX."
            )
    sandbox = Sandbox(
        kind,
        account=_account(kind),
        limits=limits_set(),
        has_network=kind == "user" or _has_network(),
        hidden=(*hidden, Path.home() / ".config" / "anew"),
        shown=places_set("ANEW_SANDBOX_READ", kind),
        writable=places_set("ANEW_SANDBOX_WRITE", kind),
        programs={name: os.path.abspath(path) for name, path in programs.items() if path},
    )
    check_places(sandbox)
    _try_out(sandbox)
    return sandbox


def _kind() -> SandboxKind:
    match os.environ.get("ANEW_SANDBOX", ""):
        case "":
            return "none"
        case "bubblewrap":
            return "bubblewrap"
        case "user":
            return "user"
        case said:
            choices = " or ".join(CHOICES)
            raise ConfigError(f"ANEW_SANDBOX is {said!r}; it can be {choices}. Unset, it is off.")


def _has_network() -> bool:
    match os.environ.get("ANEW_SANDBOX_NETWORK", "0"):
        case "0":
            return False
        case "1":
            return True
        case said:
            raise ConfigError(f"ANEW_SANDBOX_NETWORK is {said!r}; it can be 0 or 1")


def _account(kind: SandboxKind) -> Account | None:
    """The user of tasks: root must name one, because the kernel bounds nothing of root's."""
    name = os.environ.get("ANEW_SANDBOX_USER", "")
    if is_root():
        return _account_named(name, kind)
    if kind == "user":
        raise ConfigError(
            "ANEW_SANDBOX=user needs root, to become the user of the tasks. "
            "Use ANEW_SANDBOX=bubblewrap, or start anew as root."
        )
    if name:
        raise ConfigError("ANEW_SANDBOX_USER needs root. Unset it: tasks then run as you.")
    return None


def _account_named(name: str, kind: SandboxKind) -> Account:
    if not name:
        raise ConfigError(
            f"ANEW_SANDBOX={kind} needs ANEW_SANDBOX_USER when anew is started by root: "
            "the name of an unprivileged user that tasks run as, such as nobody."
        )
    try:
        user, group = account_ids(name)
    except (KeyError, ValueError):
        raise ConfigError(f"ANEW_SANDBOX_USER is {name!r}; there is no such user here") from None
    if user == 0:
        raise ConfigError(f"ANEW_SANDBOX_USER is {name!r}, which is root: name another user")
    return Account(name, user, group)


def _try_out(sandbox: Sandbox) -> None:
    """Run the least a task needs: what does not work at all is not found out by a task."""
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="anew-") as made:
        folder = Path(made)
        sandbox.give(folder, below=folder)
        try:
            tried = subprocess.run(
                sandbox.wrap(_NOTHING, folder=folder, writable=[folder]),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_SECONDS_MAX,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigError(_refusal(sandbox, str(error))) from error
    if tried.returncode != 0:
        lines = tried.stderr.decode(errors="replace").strip().splitlines()
        raise ConfigError(_refusal(sandbox, lines[-1] if lines else f"{tried.returncode}"))


def _refusal(sandbox: Sandbox, why: str) -> str:
    return (
        f"ANEW_SANDBOX={sandbox.kind} does not work on this machine: {why[:_QUOTE_CHARS]}. "
        f"{_REMEDIES[sandbox.kind]}, or unset ANEW_SANDBOX to run tasks without a sandbox."
    )
