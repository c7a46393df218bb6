"""Which credentials a program names outright and nobody has, before a run of it is started.

Only what is written down counts: a template of a credential's name is known when it is rendered.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from anew.credentials.entries import auths_of, named_by
from anew.credentials.keychain import Keychain
from anew.credentials.providers import MissingCredential
from anew.engine.secrets import MissingSecret
from anew.errors import ConfigError
from anew.program.program import Program, Task
from anew.values import Value


async def lacking_credentials(
    keychain: Keychain, program: Program, folder: Path
) -> AsyncIterator[tuple[Task, str]]:
    """Each task that would fail for lack of a credential, and why."""
    for task in program.tasks:
        try:
            for asked in named_by(task):
                await keychain.credential(asked.name, asked.provider)
            for auth in (*auths_of(task), *_entries_read(program, task)):
                await keychain.auth_data(auth, program, folder=folder)
        except (MissingCredential, ConfigError) as error:
            yield task, str(error)
        except MissingSecret:  # it depends on what the run finds out
            continue


def _entries_read(program: Program, task: Task) -> Iterator[Value]:
    """The keychain entries that the task's templates name."""
    text = str(task.inputs.source)
    for entry in program.keychain:
        name = str(entry.get("name") or "")
        if name and re.search(rf"\bkeychain\.{re.escape(name)}\b", text):
            yield name
