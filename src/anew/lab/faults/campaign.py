"""Many runs of one program, each with the faults its seed draws, and each audited.

`play` gives one run whole, `record_of` what a report needs of it. Runs are independent: any of them
can be played alone, in any order and in any process, and gives the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from anew.engine.events import RunDone
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunStatus
from anew.errors import ConfigError, EngineBug
from anew.lab.faults.audit import Evidence, Violation, audit
from anew.lab.faults.chance import Chance, InjectedFault, seed_of_run
from anew.lab.faults.conditions import AuthorInvariant, broken_promises, promises_of
from anew.lab.faults.kinds import FAULTS
from anew.lab.faults.ledger import FaultLedger, effects
from anew.lab.faults.seeded_faults import FaultyOutcomes, SeededFaults
from anew.lab.outcome_sources import ScriptedOutcomes
from anew.lab.script import Script
from anew.lab.scripted_waits import scripted_people
from anew.lab.simulate import Simulation, simulate, simulation_of
from anew.lab.world import EndlessRun, World
from anew.program.program import Program
from anew.values import Object
from anew.views import summary as views
from anew.views.summary import shown_labels

RUNS_DEFAULT = 1_000
# About a kilobyte is kept of each.
RUNS_MAX = 100_000
SEED_DEFAULT = 0
# A run that passes it under faults is taken for one that will never end.
FAULT_EVENTS_MAX = 100_000
# What an engine that breaks its own tables is reported as.
NO_BUG = "no-engine-bug"


class FaultRun(Struct):
    """One run of a seed with its faults: what happened, what the world saw, and what is broken."""

    seed: int
    index: int
    simulation: Simulation
    ledgers: list[FaultLedger]
    struck: list[InjectedFault]
    broken: list[Violation]

    @property
    def injected(self) -> dict[str, int]:
        """How often each fault struck."""
        return dict(Counter(one.fault for one in self.struck))

    def report(self) -> Object:
        """The JSON object of a simulation, with `effects`, `faults` and `broken`."""
        return {
            **self.simulation.report(),
            "effects": self.effects(),
            "seed": self.seed,
            "run": self.index,
            "elapsed": elapsed_seconds(self),
            "faults": [
                {"at": self.seconds(x.at), "fault": x.fault, "what": x.what} for x in self.struck
            ],
            "broken": [{"invariant": one.invariant, "why": one.why} for one in self.broken],
        }

    def seconds(self, at: int) -> float:
        """From the start of the run to this moment of true time."""
        start = self.ledgers[0].turns[0].now if self.ledgers else at
        return (at - start) / NANOSECONDS

    def effects(self) -> dict[str, int]:
        """How often each task had its effect."""
        return effects(self.ledgers, shown_labels(self.simulation.program))


class RunRecord(Struct, frozen=True):
    """What a report keeps of a run."""

    index: int
    status: str
    error_kind: str | None
    elapsed: float
    attempts: dict[str, int]
    effects: dict[str, int]
    injected: dict[str, int]
    broken: tuple[Violation, ...] = ()


class Campaign(Struct, frozen=True):
    """What is played: a program, a script, how often each fault strikes, and one seed for all.

    `played` is the program as the script plays it: see `lab.scripted_waits`.
    """

    program: Program
    script: Script
    played: Program
    rates: Mapping[str, float]
    seed: int = SEED_DEFAULT
    events_max: int = FAULT_EVENTS_MAX
    promises: tuple[AuthorInvariant, ...] = ()

    def play(self, index: int) -> FaultRun:
        """The run with this number, from 1; EngineBug names one that cannot be judged."""
        try:
            return self._run(index)
        except Exception as error:
            raise EngineBug(f"run {index} of seed {self.seed}: {_error_text(error)}") from error

    def _run(self, index: int) -> FaultRun:
        seed = seed_of_run(self.seed, index)
        chance = Chance(seed, self.rates)
        around = SeededFaults(chance)
        player = FaultyOutcomes(ScriptedOutcomes(self.script), chance, around)
        world = World(
            self.program,
            self.script,
            player=player,
            seed=seed,
            events_max=self.events_max,
            surroundings=around,
        )
        broken = self._played(world, around.ledgers)
        simulation = simulation_of(world)
        run = FaultRun(self.seed, index, simulation, around.ledgers, chance.struck, broken)
        if self.promises:
            run.broken += broken_promises(self.promises, promised(run))
        return run

    def _played(self, world: World, ledgers: Sequence[FaultLedger]) -> list[Violation]:
        """Play it to its end, and say what the auditor finds."""
        is_endless = False
        try:
            world.play()
        except EndlessRun:
            is_endless = True
        except Exception as bug:  # what is left behind is in no state to be audited
            return [Violation(NO_BUG, _error_text(bug))]
        logs = [log for log in world.runs if log]
        found: list[Violation] = []
        for log, ledger in zip(logs, ledgers, strict=True):
            state = world.state if log is world.runs[-1] else None
            evidence = Evidence(
                self.played, log, ledger, state, is_endless=is_endless and log is logs[-1]
            )
            found += audit(evidence)
        return found


class FaultReport(Struct):
    """The runs that were played. `asked` is how many were wanted; Ctrl-C may leave fewer."""

    campaign: Campaign
    asked: int
    records: list[RunRecord] = field(default_factory=list)

    @property
    def broken(self) -> list[RunRecord]:
        """The runs in which something that must hold did not."""
        return [record for record in self.records if record.broken]

    @property
    def holds(self) -> bool:
        return not self.broken

    @property
    def worst(self) -> RunRecord | None:
        """The first run that breaks something, else the longest that failed, else the longest."""
        return max(self.records, key=_badness, default=None)

    def report(self) -> Object:
        """The JSON object of `anew simulate --faults --json`."""
        from anew.lab.faults.distribution import report_of  # noqa: PLC0415

        return report_of(self)


def campaign_of(
    program: Program,
    script: Script,
    *,
    rates: Mapping[str, float],
    seed: int = SEED_DEFAULT,
    events_max: int = FAULT_EVENTS_MAX,
) -> Campaign:
    """A campaign that can be played; ConfigError for a condition or a script that cannot."""
    promises = promises_of(script.invariants, program)
    # Without faults the script must come to an end, or no run could.
    simulate(program, script, events_max=events_max)
    played = scripted_people(program, script)
    return Campaign(program, script, played, rates, seed, events_max, promises)


def check_runs(runs: int) -> None:
    """ConfigError when they are more than a report can hold."""
    if not 1 <= runs <= RUNS_MAX:
        raise ConfigError(
            f"{runs:,} runs cannot be played at once; give at least 1 and at most {RUNS_MAX:,}, "
            "and another seed for more"
        )


def simulate_faults(
    program: Program,
    script: Script,
    *,
    faults: Mapping[str, float] | None = None,
    runs: int = RUNS_DEFAULT,
    seed: int = SEED_DEFAULT,
    events_max: int = FAULT_EVENTS_MAX,
) -> FaultReport:
    """Play `runs` runs with faults at these rates: all of them at their own unless given."""
    check_runs(runs)
    rates = {name: fault.rate for name, fault in FAULTS.items()} if faults is None else faults
    campaign = campaign_of(program, script, rates=rates, seed=seed, events_max=events_max)
    played = (campaign.play(index) for index in range(1, runs + 1))
    return FaultReport(campaign, runs, [record_of(run) for run in played])


def without_faults(program: Program, script: Script) -> FaultRun:
    """The run of a script in which nothing goes wrong, and which invariants of its author break."""
    chance = Chance(SEED_DEFAULT, {})
    around = SeededFaults(chance)
    player = FaultyOutcomes(ScriptedOutcomes(script), chance, around)
    world = World(program, script, player=player, surroundings=around)
    world.play()
    run = FaultRun(SEED_DEFAULT, 0, simulation_of(world), around.ledgers, [], [])
    run.broken += broken_promises(promises_of(script.invariants, program), promised(run))
    return run


def record_of(run: FaultRun) -> RunRecord:
    """What a report keeps of it."""
    simulation = run.simulation
    failure = simulation.state.failure if simulation.status is RunStatus.FAILED else None
    return RunRecord(
        index=run.index,
        status=simulation.status.value,
        error_kind=None if failure is None else str(failure.get("kind")),
        elapsed=elapsed_seconds(run),
        attempts=views.attempts(simulation.program, simulation.log),
        effects=run.effects(),
        injected=run.injected,
        broken=tuple(run.broken),
    )


def elapsed_seconds(run: FaultRun) -> float:
    """How long the run really took, whatever its clock showed meanwhile."""
    turns = [turn for ledger in run.ledgers for turn in ledger.turns if turn.after > turn.before]
    return (turns[-1].now - turns[0].now) / NANOSECONDS if turns else 0.0


def promised(run: FaultRun) -> Object:
    """What the author's conditions read: the report without its events."""
    simulation = run.simulation
    program, log, state = simulation.program, simulation.log, simulation.state
    return {
        "status": state.status.value,
        "visits": views.visits(program, log),
        "attempts": views.attempts(program, log),
        "delays": views.delays(program, log),
        "elapsed": elapsed_seconds(run),
        "ctx": views.shown_ctx(program, log, state),
        "error": state.failure,
        "unsatisfied": views.unsatisfied(log, state),
        "result": next((x.result for x in reversed(log) if isinstance(x, RunDone)), None),
        "handled": views.handled(program, log),
        "effects": run.effects(),
    }


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, EngineBug) else f"{type(error).__name__}: {error}"


def _badness(record: RunRecord) -> tuple[bool, bool, float, int]:
    is_failed = record.status == RunStatus.FAILED.value
    elapsed = 0.0 if record.broken else record.elapsed
    return bool(record.broken), is_failed and not record.broken, elapsed, -record.index
