"""Processes of tasks: what each of them is given, and how it is started.

Every process that runs something of an author is started here: shell commands, commands of agents,
Python. One list says what passes from our own environment, because everything else may be secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from anew.environment import DUMPABLE_VARIABLE, environment, is_own
from anew.errors import ConfigError
from anew.tools.inputs import BadInput
from anew.tools.processes import Process
from anew.tools.sandbox.room import OUR_ENVIRONMENT, Room, file_of_variables
from anew.values import Value, as_text

# What every command may rely on.
INHERITED = ("PATH", "HOME", "LANG")
# What Python and its libraries need besides, to be found and to read texts, times and certificates.
PYTHON_INHERITED = (
    *INHERITED,
    *("TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONHASHSEED", "PYTHONUTF8"),
    *("PYTHONIOENCODING", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
    DUMPABLE_VARIABLE,
)
_PYTHON_PREFIX = "LC_"
# More names, from the operator.
TASK_ENV = "ANEW_TASK_ENV"
_NAME = re.compile(r"[^=\0,\s]+")


def start_task(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    output_bytes_max: int,
    stdin: bytes | None = None,
    is_gated: bool = False,
    is_tied: bool = True,
    keep_fds: Sequence[int] = (),
    room: Room | None = None,
    stdio: tuple[int, int] | None = None,
) -> Process:
    """The one place where a program of a task begins. See `Process` for the arguments.

    `room` is its place in a sandbox; NotInSandbox when it cannot begin there.
    """
    if room is None:
        variables, wrappers = [], 0
    else:
        variables, wrappers = [file_of_variables(room.variables(env))], room.sandbox.wrappers
    try:
        return Process(
            words if room is None else room.wrap(words, cwd=cwd, variables=variables[0]),
            env=env if room is None else OUR_ENVIRONMENT,
            cwd=cwd,
            output_bytes_max=output_bytes_max,
            stdin=stdin,
            is_gated=is_gated,
            is_tied=is_tied,
            keep_fds=[*keep_fds, *variables],
            wrappers=wrappers,
            stdio=stdio,
        )
    finally:
        for fd in variables:
            os.close(fd)


def command_environment(
    own: Mapping[str, str], given: Mapping[str, Value], *, allowed_by: str | None = None
) -> dict[str, str]:
    """The whole environment of a command: what passes, what is its `own`, and its task's `env`.

    `allowed_by` is another setting that names variables to pass. A value of null takes one away.
    """
    env = {**_passing(INHERITED, allowed_by), **own}
    for name, value in given.items():
        if not name or "=" in name or "\0" in name:
            raise BadInput(f"env has the name {name!r}, which no variable can have")
        if value is None:
            env.pop(name, None)
        else:
            env[name] = _text(name, value)
    return env


def python_environment() -> dict[str, str]:
    """The whole environment of Python code."""
    env = _passing(PYTHON_INHERITED)
    return env | {k: v for k, v in os.environ.items() if k.startswith(_PYTHON_PREFIX)}


def _passing(names: Sequence[str], allowed_by: str | None = None) -> dict[str, str]:
    settings = [TASK_ENV] if allowed_by is None else [TASK_ENV, allowed_by]
    more = [name for setting in settings for name in _allowed(setting)]
    ours = environment()
    return {name: ours[name] for name in (*names, *more) if name in ours}


def _allowed(setting: str) -> Iterator[str]:
    for name in _NAME.findall(os.environ.get(setting, "")):
        if is_own(name):  # they open every credential of the worker
            raise ConfigError(
                f"{setting} names {name}, which is a secret of Anew itself and reaches no task. "
                "Take it out, and give tasks the credentials they need by name (`auth`, `keychain`)"
            )
        yield name


def _text(name: str, value: Value) -> str:
    # The value may be a secret: only its name is told.
    if isinstance(value, dict | list):
        raise BadInput(f"env.{name} must be a text, a number or a boolean; use tojson for others")
    text = as_text(value)
    if "\0" in text:
        raise BadInput(f"env.{name} has a NUL character, which no variable can have")
    return text
