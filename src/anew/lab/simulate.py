"""Run a program on a script: the real engine, a virtual clock, a log in memory.

No tool is called and no real time passes. What happens at the same virtual instant happens in the
order it was asked for, so that a simulation is repeatable to the last event.
"""

from __future__ import annotations

from msgspec import Struct

from anew.engine.events import Event
from anew.engine.state import RunState, RunStatus
from anew.lab.outcome_sources import OutcomeProvider, ScriptedOutcomes
from anew.lab.script import Script
from anew.lab.world import EVENTS_MAX, RUN_ID, World
from anew.program.program import Program
from anew.values import Object
from anew.views.summary import summary

__all__ = ["EVENTS_MAX", "RUN_ID", "Simulation", "simulate", "simulation_of"]


class Simulation(Struct):
    """A finished simulation: its log, and the state it folds to.

    Where another run takes the place of the first, it is followed: `log` then has the events of
    them all, `runs` those of each, and the state is the last one's. `doubts` has a sentence for
    each answer of the script that nobody could take.
    """

    program: Program
    state: RunState
    log: list[Event]
    runs: list[list[Event]]
    doubts: tuple[str, ...] = ()

    @property
    def status(self) -> RunStatus:
        return self.state.status

    def report(self) -> Object:
        """The JSON object of `anew simulate --json`."""
        return summary(self.program, self.log, self.state)


def simulate(
    program: Program,
    script: Script,
    *,
    seed: int | None = None,
    events_max: int = EVENTS_MAX,
    player: OutcomeProvider | None = None,
) -> Simulation:
    """Play `script` against `program` to its end; ConfigError when it has none in sight.

    A `player` says in the place of the script what executions give.
    """
    world = World(
        program, script, seed=seed, player=player or ScriptedOutcomes(script), events_max=events_max
    )
    world.play()
    return simulation_of(world)


def simulation_of(world: World) -> Simulation:
    """What was played, as far as it went."""
    log = [event for run in world.runs for event in run]
    return Simulation(world.program, world.state, log, world.runs, tuple(world.doubts))
