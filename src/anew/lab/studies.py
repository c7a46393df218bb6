"""What the commands of the lab say of a program, for code: the program first, then plays or words.

Nothing is decided here: the analyses have folders of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from anew.engine.events import Event, RunRequested
from anew.errors import ConfigError
from anew.lab.coverage import Coverage
from anew.lab.coverage import coverage_of as coverage_of_logs
from anew.lab.faults import FaultReport, read_faults, simulate_faults
from anew.lab.faults.kinds import EVERY
from anew.lab.python_api import Outcomes, Played, expect_program, warn, written
from anew.lab.script_warnings import script_warnings
from anew.lab.whatif import SAMPLES_DEFAULT, PastRun, Whatif, whatif
from anew.program.program import Program
from anew.values import Object, Value

RUNS_DEFAULT = 100


def coverage_of(flow: Program, plays: Iterable[Played | Iterable[Event]]) -> Coverage:
    """Which rules, arcs, gates and ways out of failure the plays, or logs, have exercised.

    ConfigError when one of them is of another program.
    """
    expect_program(flow, "lab.coverage_of")
    if isinstance(plays, Played) or not isinstance(plays, Iterable):
        raise ConfigError("lab.coverage_of: plays is a list of plays or logs; write [played]")
    return coverage_of_logs(flow, (_log(flow, play) for play in plays))


def faults_of(
    flow: Program,
    workload: Mapping[str, Value] | None = None,
    *,
    outcomes: Outcomes | None = None,
    signals: Sequence[Object] = (),
    now: str | None = None,
    invariants: Sequence[str] = (),
    faults: str = EVERY,
    runs: int = RUNS_DEFAULT,
    seed: int = 0,
) -> FaultReport:
    """Many runs in which things go wrong, as `anew simulate --faults` plays them.

    `faults` names them, with rates if need be: `kill,429=0.3`. `invariants` are conditions that
    hold in every one of the runs. The same seed gives the same runs.
    """
    expect_program(flow, "lab.faults_of")
    script = written(
        "lab.faults_of",
        workload=workload,
        outcomes=outcomes,
        signals=signals,
        now=now,
        invariants=invariants,
    )
    warn(script_warnings(script, flow))
    return simulate_faults(flow, script, faults=read_faults(faults), runs=runs, seed=seed)


def what_if(
    flow: Program,
    past: Iterable[Played | PastRun],
    *,
    others: Iterable[Played | PastRun] = (),
    samples: int = SAMPLES_DEFAULT,
    seed: int = 0,
) -> Whatif:
    """What `flow` would have made of past runs, as `anew whatif` says it.

    `others` are runs that only the model counts.
    """
    known = [_past(run, number) for number, run in enumerate(past, 1)]
    more = [_past(run, number) for number, run in enumerate(others, len(known) + 1)]
    return whatif(known, flow, samples=samples, seed=seed, others=more)


def _log(flow: Program, play: object) -> list[Event]:
    """The events of a play or log, which must be one of this program."""
    found = play.log if isinstance(play, Played) else play
    log = list(found) if isinstance(found, Iterable) else []
    if not log or not isinstance(log[0], RunRequested):
        raise ConfigError("lab.coverage_of: each of plays is what lab.play gave, or a whole log")
    if log[0].digest != flow.digest:
        names = f"{log[0].program!r}, not of this {flow.name!r}"
        raise ConfigError(f"lab.coverage_of: a log is of another document: {names}")
    return log


def _past(run: Played | PastRun, number: int) -> PastRun:
    if isinstance(run, PastRun):
        return run
    # Every play is run 1 of its own world; here they stand side by side.
    return PastRun(str(number), run.program, run.log)
