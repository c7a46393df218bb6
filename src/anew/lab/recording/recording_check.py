"""What is said at the top of a recorded scenario, and whether anybody may rely on it."""

from __future__ import annotations

from anew.engine.moments import moment_text
from anew.errors import ConfigError
from anew.lab.recording.recorder import Recorded
from anew.lab.scenario import read_scenario
from anew.program.program import Program
from anew.store import RunRow

_DIGEST_CHARACTERS = 12


def heading_of(row: RunRow, program: Program) -> str:
    """Which run it was recorded from, of which document, and how that ended."""
    day = moment_text(row.created_at).partition("T")[0]
    what = f"{program.name} ({row.digest[:_DIGEST_CHARACTERS]}) of {day}"
    return f"Recorded from run {row.run} of {what}: {row.status.value}."


def problem_of(recorded: Recorded, text: str, file: str) -> str | None:
    """Why nobody should rely on this scenario."""
    if recorded.first_difference is not None:
        return f"the scenario is not true to the run. First difference: {recorded.first_difference}"
    try:
        read_scenario(text, file)
    except ConfigError as refused:
        return f"the scenario is true to the run, but cannot be read again: {refused}"
    return None
