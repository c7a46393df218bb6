"""Which scripts of a document are not where tasks look for them, as far as this machine can tell.

They are read when a task is called, maybe elsewhere and later: that one is missing is a warning.
"""

from __future__ import annotations

import os

from anew.languages.loaded import Loaded
from anew.languages.rules import finding
from anew.program.findings import Finding


def missing_scripts(loaded: Loaded, file: str) -> list[Finding]:
    """A finding for every script that is neither next to the document nor in this folder."""
    beside = os.path.dirname(os.path.abspath(file))
    found = []
    for name, place in loaded.scripts:
        paths = dict.fromkeys(os.path.join(folder, name) for folder in (beside, os.getcwd()))
        if any(map(os.path.exists, paths)):
            continue
        message = f"the script {name!r} is missing: looked at {' and '.join(paths)}"
        remedy = f"Put it next to the document, where tasks are executed: {next(iter(paths))}"
        found.append(finding("script.missing", place, message, f"{remedy}."))
    return found
