"""`anew simulate --save`: keep one run of many as a scenario that `anew test` plays.

What the faults did to the run is in its outcomes and times; the faults themselves are left out.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from anew.errors import ConfigError
from anew.lab.faults.campaign import FaultRun
from anew.lab.recording import record
from anew.lab.recording.scenario_text import scenario_text
from anew.surfaces.cli.documents import write_document
from anew.surfaces.cli.excerpts import visible
from anew.values import Object


def save(asked: Namespace, run: FaultRun) -> None:
    """Write the scenario; say so on standard error, or why there is none."""
    why = _written(asked, run)
    told = f"run {run.index} is saved in {asked.save}" if why is None else f"not saved: {why}"
    print(visible(told), file=sys.stderr)


def _written(asked: Namespace, run: FaultRun) -> str | None:
    try:
        recorded = record(run.simulation.program, run.simulation.runs)
    except ConfigError as refused:  # a run that waits for someone has no end to be expected
        return str(refused)
    if not recorded.is_true:
        return f"a scenario cannot say what happened in run {run.index} ({recorded.difference})"
    beside: Object = {} if asked.dialect is None else {"dialect": asked.dialect}
    if asked.file != "-":
        folder = os.path.dirname(asked.save) or "."
        beside["document"] = os.path.relpath(asked.file, folder)
    heading = f"Run {run.index} of a simulation with faults, seed {run.seed}."
    write_document(
        asked.save, scenario_text({**beside, **recorded.scenario}, [heading, *recorded.notes])
    )
    return None
