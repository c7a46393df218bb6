"""What is looked at before the first step: that what every path needs is there.

What only some path needs is a warning: the run may never come there. Nothing has been started when
this refuses.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from anew.credentials.keychain import Keychain
from anew.credentials.lacking import lacking_credentials
from anew.errors import ConfigError
from anew.program.certain import certain_tasks
from anew.program.program import Program, Task
from anew.surfaces.cli.excerpts import visible

# The input is handed on as a whole: then whoever gets it may read any name.
_WHOLE = re.compile(r"\bworkload\b\s*(\}\}|[|,)])")


def check_inputs(program: Program, source: str, given: Iterable[str]) -> None:
    """Refuse an input that nothing reads, where it looks like a misspelt one; warn of another."""
    if not program.workload or _WHOLE.search(source):
        return
    for name in given:
        if name in program.workload or re.search(rf"\b{re.escape(name)}\b", source):
            continue
        near = get_close_matches(name, program.workload, n=1)
        if near:
            raise ConfigError(
                f"nothing in {program.name} reads the input {name!r}. Did you mean {near[0]!r}? "
                "Nothing was started."
            )
        known = ", ".join(program.workload)
        _print(f"nothing in {program.name} reads the input {name!r}; it declares {known}")


async def check_credentials(keychain: Keychain, program: Program, folder: Path) -> None:
    """ConfigError when a credential is missing that every path needs."""
    certain = certain_tasks(program)
    problems = []
    async for task, why in lacking_credentials(keychain, program, folder):
        if any(task is one for one in certain):
            problems.append(f"{_place(task)}: {why.rstrip('.')}.")
        else:
            _print(f"warning: {_place(task)} would fail: {why}")
    if problems:
        raise ConfigError(f"{' '.join(problems)} Nothing was started.")


def _place(task: Task) -> str:
    return f"{task.span}: task {task.label}"


def _print(text: str) -> None:
    print(f"anew: {visible(text)}", file=sys.stderr)
