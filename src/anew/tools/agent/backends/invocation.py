"""What a command runs with: its arguments and its environment.

Only what is named passes through: everything else of our environment may be secret.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from anew.tools.agent.backend import AgentRequest
from anew.tools.agent.backends.shared_files import CommandFiles
from anew.tools.agent.request import mapping_in
from anew.tools.inputs import BadInput
from anew.tools.task_process import command_environment
from anew.values import Value, as_text

_SHELL = ("/bin/sh", "-c")
_PLACEHOLDER = re.compile(
    r"\{(prompt_file|status_file|run|step|visit|attempt|thread|fidelity|model|provider"
    r"|reasoning_effort)\}"
)


def placeholder_values(request: AgentRequest, files: CommandFiles) -> dict[str, str]:
    """The task in texts, by the name of the placeholder; only what is known."""
    place = request.place
    known = {
        "prompt_file": str(files.prompt_file),
        "status_file": str(files.status_file),
        "run": place.run,
        "step": place.step,
        "visit": str(place.visit),
        "attempt": str(place.attempt),
        "thread": request.thread,
        "fidelity": request.fidelity,
        "model": request.model,
        "provider": request.provider,
        "reasoning_effort": request.reasoning_effort,
    }
    return {name: value for name, value in known.items() if value is not None}


# The same, by the name of the variable.
_VARIABLES = {
    "ANEW_PROMPT_FILE": "prompt_file",
    "ANEW_STATUS_FILE": "status_file",
    "ANEW_RUN": "run",
    "ANEW_STEP": "step",
    "ANEW_VISIT": "visit",
    "ANEW_ATTEMPT": "attempt",
    "ANEW_THREAD": "thread",
    "ANEW_FIDELITY": "fidelity",
    "ANEW_MODEL": "model",
    "ANEW_PROVIDER": "provider",
    "ANEW_REASONING_EFFORT": "reasoning_effort",
}


def environment(request: AgentRequest, about: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a command; a value of null in `env` takes a variable away."""
    own = {"ANEW_IDEMPOTENCY_KEY": request.idempotency_key}
    own.update((name, about[key]) for name, key in _VARIABLES.items() if key in about)
    given = mapping_in(request.settings, "env")
    return command_environment(own, given, allowed_by="ANEW_AGENT_ENV")


def wants_stdin(command: Value) -> bool:
    """Whether the prompt goes to standard input: unless an argument names its file."""
    return isinstance(command, str) or not any("{prompt_file}" in str(word) for word in command)


def arguments(command: Value, about: Mapping[str, str], *, path: str, cwd: Path) -> list[str]:
    """The program and its arguments: a text is for the shell, a list is run as it stands."""
    if isinstance(command, str) and command.strip() and "\0" not in command:
        # Placeholders are not put into shell text: their values could be read as commands.
        return [*_SHELL, command]
    if not isinstance(command, list) or not command:
        raise BadInput(
            "command must be a text for the shell, or a list of a program's arguments; "
            "ANEW_AGENT_COMMAND sets one for tasks without"
        )
    words = [_word(number, word, about) for number, word in enumerate(command, 1)]
    if not _is_program(words[0], path=path, cwd=cwd):
        raise BadInput(f"the program {words[0]!r} was not found; give its path, or set env.PATH")
    return words


def _word(number: int, word: Value, about: Mapping[str, str]) -> str:
    if isinstance(word, bool) or not isinstance(word, str | int | float):
        raise BadInput(f"command {number} is not a text")
    text = as_text(word)
    for name in _PLACEHOLDER.findall(text):
        if name not in about:
            raise BadInput(f"command {number} has {{{name}}}, and the task gives no {name}")
    filled = _PLACEHOLDER.sub(lambda found: about[found[1]], text)
    if "\0" in filled:
        raise BadInput(f"command {number} has a NUL character, which no argument can have")
    return filled


def _is_program(name: str, *, path: str, cwd: Path) -> bool:
    if os.sep in name:
        return os.access(cwd / name, os.X_OK) and not (cwd / name).is_dir()
    return bool(name) and shutil.which(name, path=path) is not None
