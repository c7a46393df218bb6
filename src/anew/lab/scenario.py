"""A scenario: a script of the simulator, the document it plays, and what is expected of that.

Reads a scenario from a text, plays it on a program and says what was not met. Which files there
are is the business of whoever calls.
"""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct, field

from anew.errors import ConfigError
from anew.lab.expectations import Observed, UnmetExpectation, checked, timeline_failure, unmet
from anew.lab.script import Script, read_value, script_of
from anew.lab.script_warnings import script_warnings
from anew.lab.simulate import Simulation, simulate
from anew.program.program import Program
from anew.values import Object, Value
from anew.views.exit_status import exit_status_of
from anew.views.summary import elapsed_seconds
from anew.views.timeline import timeline_lines
from anew.views.visible import visible

# What a scenario says beside its script.
SCENARIO_KEYS = ("document", "dialect", "description")


class Scenario(Struct, frozen=True):
    """`document` is relative to the scenario's own folder; None is the one beside it."""

    file: str
    script: Script
    expect: Object = field(default_factory=dict)
    document: str | None = None
    dialect: str | None = None
    description: str = ""


class PlayedScenario(Struct, frozen=True, dict=True):
    """A scenario that was played, and what it gave.

    It has passed when nothing failed. `doubts` has a sentence for everything in the script that
    probably means something else.
    """

    scenario: Scenario
    simulation: Simulation
    failures: list[UnmetExpectation]
    doubts: list[str]

    @cached_property
    def timeline(self) -> str:
        """What `anew simulate` prints of it."""
        return timeline_text(self.simulation)

    @property
    def is_passed(self) -> bool:
        return not self.failures


def read_scenario(text: str | bytes, file: str) -> Scenario:
    """The scenario in a YAML or JSON text; ConfigError says what is wrong and where."""
    return scenario_of(read_value(text, file), file)


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


def play(scenario: Scenario, program: Program, *, timeline: str | None = None) -> PlayedScenario:
    """Play a scenario on a program; with `timeline`, that one must come out as well.

    ConfigError when the simulation has no end in sight.
    """
    simulation, broken = _simulated(program, scenario.script)
    is_compared = timeline is not None or "timeline" in scenario.expect
    told = timeline_text(simulation) if is_compared else ""
    seen = Observed(simulation.report(), exit_status_of(simulation.status), told)
    failures = [*unmet(scenario.expect, seen), *broken]
    if timeline is not None:
        failures += timeline_failure(timeline, told)
    odd = [
        *script_warnings(scenario.script, program),
        *simulation.doubts,
        *_unknown(scenario, seen),
    ]
    return PlayedScenario(scenario, simulation, failures, odd)


def _simulated(program: Program, script: Script) -> tuple[Simulation, list[UnmetExpectation]]:
    """What the script gives, and the invariants it states that do not hold for that."""
    if not script.invariants:
        return simulate(program, script), []
    from anew.lab.faults.campaign import without_faults  # noqa: PLC0415 - few scenarios have any

    run = without_faults(program, script)
    told = [
        UnmetExpectation("invariants", f"invariant {one.invariant} does not hold: {one.why}")
        for one in run.broken
    ]
    return run.simulation, told


def timeline_text(simulation: Simulation) -> str:
    """What `anew simulate` prints of a simulation."""
    lines = map(visible, timeline_lines(simulation.log, simulation.program))
    seconds = elapsed_seconds(simulation.log)
    end = f"{simulation.status.value} after {seconds:.3f} virtual seconds"
    return "".join(f"{line}\n" for line in (*lines, end))


def _unknown(scenario: Scenario, seen: Observed) -> list[str]:
    """Labels that no task has: that they are never executed is true of any misspelling."""
    labels, known = scenario.expect.get("attempts", ()), seen.report["attempts"]
    return [f"expect.attempts.{label} names no task" for label in labels if label not in known]
