"""The lab: real documents and the real engine, in virtual time.

The names here are for scenarios written in code, and may be relied on:

>>> from anew import lab
>>> played = lab.play(lab.load("flow.yaml"), outcomes={"fetch": [lab.error("timeout"), lab.ok()]})

Each is imported when it is first used: a command that needs one part does not pay for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anew.errors import ConfigError, ProgramError
    from anew.lab.bounds import Bounds, bounds_of
    from anew.lab.coverage import Coverage
    from anew.lab.faults import FaultReport
    from anew.lab.outcomes import answer, error, ok, signal, status
    from anew.lab.python_api import Played, load, load_text, play, play_scenario
    from anew.lab.recording import Recorded, record
    from anew.lab.replay import Replayed, replayed
    from anew.lab.studies import coverage_of, faults_of, what_if
    from anew.lab.whatif import PastRun, Whatif
    from anew.program.program import Program

__all__ = [
    "Bounds",
    "ConfigError",
    "Coverage",
    "FaultReport",
    "PastRun",
    "Played",
    "Program",
    "ProgramError",
    "Recorded",
    "Replayed",
    "Whatif",
    "answer",
    "bounds_of",
    "coverage_of",
    "error",
    "faults_of",
    "load",
    "load_text",
    "ok",
    "play",
    "play_scenario",
    "record",
    "replayed",
    "signal",
    "status",
    "what_if",
]

_HOMES = {
    "anew.errors": ("ConfigError", "ProgramError"),
    "anew.lab.bounds": ("Bounds", "bounds_of"),
    "anew.lab.python_api": ("Played", "load", "load_text", "play", "play_scenario"),
    "anew.lab.coverage": ("Coverage",),
    "anew.lab.faults": ("FaultReport",),
    "anew.lab.outcomes": ("answer", "error", "ok", "signal", "status"),
    "anew.lab.recording": ("Recorded", "record"),
    "anew.lab.replay": ("Replayed", "replayed"),
    "anew.lab.studies": ("coverage_of", "faults_of", "what_if"),
    "anew.lab.whatif": ("PastRun", "Whatif"),
    "anew.program.program": ("Program",),
}


if not TYPE_CHECKING:  # a type checker knows the names above, and that there are no others

    def __getattr__(name: str) -> object:
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module(home), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
