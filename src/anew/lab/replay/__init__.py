"""Derive every decision of a log again, and find the first one that the log has otherwise."""

from __future__ import annotations

from anew.lab.replay.derivation import (
    Derivation,
    Difference,
    Replayed,
    posing_as,
    replay,
    replayed,
)
from anew.lab.replay.log_turns import LogTurn

__all__ = ["Derivation", "Difference", "LogTurn", "Replayed", "posing_as", "replay", "replayed"]
