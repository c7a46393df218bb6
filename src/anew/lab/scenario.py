"""A scenario: a script of the simulator, the document it plays, and what is expected of that.

Reads a scenario from a text, plays it on a program and says what was not met. Which files there
are is the business of whoever calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct, field

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.lab.expecting import Failure, Seen, checked, timeline_failure, unmet
from anew.lab.script import Script, doubts, script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages.document import read_yaml
from anew.languages.nodes import plain
from anew.program.findings import Severity
from anew.program.program import Program
from anew.values import Object, Value
from anew.views.summary import elapsed_seconds
from anew.views.timeline import timeline_lines

SCENARIO_SUFFIXES = (".scenario.yaml", ".scenario.yml", ".scenario.json")
DOCUMENT_SUFFIXES = (".yaml", ".yml", ".dot", ".gv")
TIMELINE_SUFFIX = ".timeline.txt"
# What a scenario says beside its script.
SCENARIO_KEYS = ("document", "dialect", "description")
# As `anew simulate` exits; a run that has not ended waits.
EXIT_STATUS = {RunStatus.DONE: 0, RunStatus.FAILED: 1, RunStatus.CANCELLED: 130}
_WAITING = 3


class Scenario(Struct, frozen=True):
    """`document` is relative to the scenario's own folder; None is the one beside it."""

    file: str
    script: Script
    expect: Object = field(default_factory=dict)
    document: str | None = None
    dialect: str | None = None
    description: str = ""


class Played(Struct, frozen=True, dict=True):
    """A scenario that was played, and what it gave.

    It has passed when nothing failed. `doubts` has a sentence for everything in the script that
    probably means something else.
    """

    scenario: Scenario
    simulation: Simulation
    failures: list[Failure]
    doubts: list[str]

    @cached_property
    def timeline(self) -> str:
        """What `anew simulate` prints of it."""
        return timeline_text(self.simulation)

    @property
    def is_passed(self) -> bool:
        return not self.failures


def is_scenario(name: str) -> bool:
    """Whether a file of this name is a scenario."""
    return name.endswith(SCENARIO_SUFFIXES)


def stem_of(file: str) -> str:
    """The path of a scenario without its ending: NAME or NAME.VARIANT."""
    ending = next((suffix for suffix in SCENARIO_SUFFIXES if file.endswith(suffix)), "")
    return file.removesuffix(ending)


def documents_beside(file: str) -> Iterator[tuple[str, ...]]:
    """Where the document of a scenario may lie that names none, the best places first.

    NAME.VARIANT is a document of that name, else a variant of NAME; each with every known ending.
    """
    folder, name = os.path.split(stem_of(file))
    while name:
        beside = os.path.join(folder, name)
        yield tuple(beside + suffix for suffix in DOCUMENT_SUFFIXES)
        name = name.rpartition(".")[0]


def timeline_beside(file: str) -> str:
    """Where the timeline lies that a scenario must give."""
    return stem_of(file) + TIMELINE_SUFFIX


def read_scenario(text: str | bytes, file: str) -> Scenario:
    """The scenario in a YAML or JSON text; ConfigError says what is wrong and where."""
    node, findings = read_yaml(text, file)
    for finding in findings:
        if finding.severity is Severity.ERROR:
            raise ConfigError(f"{finding.place}: {finding.message}")
    return scenario_of(plain(node) if node is not None else {}, file)


def scenario_of(said: Value, file: str = "scenario") -> Scenario:
    """The scenario a plain value describes."""
    if said is None:
        said = {}
    if not isinstance(said, dict):
        raise ConfigError(f"{file}: a scenario is a mapping: a script, and what to `expect` of it")
    own = {key: _text(said[key], f"{file}: {key}") for key in SCENARIO_KEYS if key in said}
    script = script_of({key: said[key] for key in said if key not in SCENARIO_KEYS}, file)
    return Scenario(
        file=file,
        script=script,
        expect=checked(script.expect, f"{file}: expect"),
        document=own.get("document"),
        dialect=own.get("dialect"),
        description=own.get("description") or "",
    )


def _text(value: Value, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{where} must be a text, not {value!r}")
    return value


def play(scenario: Scenario, program: Program, *, timeline: str | None = None) -> Played:
    """Play a scenario on a program; with `timeline`, that one must come out as well.

    ConfigError when the simulation has no end in sight.
    """
    simulation, broken = _simulated(program, scenario.script)
    is_compared = timeline is not None or "timeline" in scenario.expect
    told = timeline_text(simulation) if is_compared else ""
    seen = Seen(simulation.report(), exit_status_of(simulation.status), told)
    failures = [*unmet(scenario.expect, seen), *broken]
    if timeline is not None:
        failures += timeline_failure(timeline, told)
    odd = [*doubts(scenario.script, program), *simulation.doubts, *_unknown(scenario, seen)]
    return Played(scenario, simulation, failures, odd)


def _simulated(program: Program, script: Script) -> tuple[Simulation, list[Failure]]:
    """What the script gives, and the invariants it states that do not hold for that."""
    if not script.invariants:
        return simulate(program, script), []
    from anew.lab.faults.campaign import without_faults  # noqa: PLC0415 - few scenarios have any

    run = without_faults(program, script)
    told = [
        Failure("invariants", f"invariant {one.invariant} does not hold: {one.why}")
        for one in run.broken
    ]
    return run.simulation, told


def exit_status_of(status: RunStatus) -> int:
    """What `anew simulate` exits with when a run ends like this."""
    return EXIT_STATUS.get(status, _WAITING)


def timeline_text(simulation: Simulation) -> str:
    """What `anew simulate` prints of a simulation."""
    lines = map(_visible, timeline_lines(simulation.log, simulation.program))
    seconds = elapsed_seconds(simulation.log)
    end = f"{simulation.status.value} after {seconds:.3f} virtual seconds"
    return "".join(f"{line}\n" for line in (*lines, end))


def _visible(line: str) -> str:
    """The line as a terminal is shown it: no character that would move the cursor."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else " " if c == "\t" else "�" for c in line)


def _unknown(scenario: Scenario, seen: Seen) -> list[str]:
    """Labels that no task has: that they are never executed is true of any misspelling."""
    labels, known = scenario.expect.get("attempts", ()), seen.report["attempts"]
    return [f"expect.attempts.{label} names no task" for label in labels if label not in known]
