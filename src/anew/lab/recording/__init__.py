"""Make a scenario of the log of a run: what the world did then, without its secrets."""

from __future__ import annotations

from anew.lab.recording.recorder import Recorded, record

__all__ = ["Recorded", "record"]
