"""What a document needs that does not travel with it to a server.

The text goes, and the files that belong to it. Scripts, child documents and databases that its
tasks name by relative paths do not: a worker looks for them on its own machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from anew.program.kind import SIDE_WORDS, Kind
from anew.program.kinds import kind_named
from anew.program.program import Program, Task
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.location import is_server
from anew.values import Object

SHOWN = 3


def warn_of_files(program: Program, file: str, place: str | None) -> None:
    """Say on standard error which files workers will look for, if it goes to a server."""
    if not is_server(place):
        return
    named = list(dict.fromkeys(_named_files(program)))
    if not named:
        return
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    print(
        visible(
            f"anew: the server is not sent the files that tasks name ({', '.join(named[:SHOWN])}"
            f"{more}): workers look for them in {Path(file).parent} on their own machines. "
            "Put them there, or register child documents and name them by `path`."
        ),
        file=sys.stderr,
    )


def _named_files(program: Program) -> Iterator[str]:
    for task in program.tasks:
        for said in _paths_of(task):
            if "{{" not in said and not os.path.isabs(said):
                yield said


def _paths_of(task: Task) -> Iterator[str]:
    inputs, kind = task.inputs.source, kind_named(task.kind)
    if not isinstance(inputs, dict):
        return
    yield from _paths_in(inputs, kind)
    for name, rows in kind.sides.items():
        side = inputs.get(name)
        if isinstance(side, dict) and side.get(SIDE_WORDS[0]) in rows:
            yield from _paths_in(side, rows[side[SIDE_WORDS[0]]])


def _paths_in(inputs: Object, kind: Kind) -> Iterator[str]:
    for name in kind.paths:
        said = inputs.get(name)
        if isinstance(said, str) and said != ":memory:":
            yield said
