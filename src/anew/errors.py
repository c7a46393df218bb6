"""What can go wrong, by whose turn it is.

    AnewError
    ├── ProgramError     the author: a document that cannot become a Program (has findings)
    ├── ConfigError      the operator: a flag, a file or a setting
    ├── StoreError       the store: a full disk, a lost connection
    │   ├── StoreGone    its files were taken away
    │   ├── StaleVersion the run has moved on
    │   ├── StaleLease   the job is someone else's
    │   └── KeyTaken     a run has this start key
    └── EngineBug        us: a transition the tables do not allow

What the world does wrong (an HTTP 503, a deadlock, a crash) is never raised: it is an outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anew.program.findings import Finding
    from anew.store import RunId


class AnewError(Exception):
    """Base of every error Anew raises on purpose; its text is fit for a person."""


class ProgramError(AnewError):
    """The document has errors; `findings` says what, where and what to do."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("; ".join(f"{f.place}: {f.message}" for f in findings))
        self.findings = tuple(findings)


class ConfigError(AnewError):
    """A flag, file or setting the operator gave cannot be used."""


class EngineBug(AnewError):
    """The engine met a state its own tables forbid. Please report it."""


class StoreError(AnewError):
    """The store cannot do it now: a full disk, a lost connection, a corrupt file. Nothing changed.

    The text says what, where and what to do.
    """


class StoreGone(StoreError):
    """The files of the store were removed or replaced under this process: it cannot go on.

    What was not acknowledged is not done, whatever became of it.
    """


class StaleVersion(StoreError):
    """The run has moved on since the caller read it. Read it again and decide again."""


class StaleLease(StoreError):
    """The job belongs to someone else by now, or to nobody. What was done under it is void."""


class KeyTaken(StoreError):
    """A run with this start key exists; `run` names it."""

    def __init__(self, run: RunId) -> None:
        super().__init__(f"a run with this key exists: {run}")
        self.run = run
