"""What can go wrong, by whose turn it is.

    AnewError
    ├── ProgramError     the author: a document that cannot become a Program (has findings)
    ├── ConfigError      the operator: a flag, a file or a setting
    └── EngineBug        us: a transition the tables do not allow

What the world does wrong (an HTTP 503, a deadlock, a crash) is never raised: it is an outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anew.program.findings import Finding


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
