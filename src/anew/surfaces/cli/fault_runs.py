"""Play the runs of a fault simulation, in this process or in several, and show how far it is.

Which process plays a run makes no difference to it. Ctrl-C leaves what has been played.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from msgspec import Struct

from anew.lab.faults.campaign import Campaign, FaultReport, RunRecord, campaign_of, record_of
from anew.lab.script import Script
from anew.languages import load_text
from anew.surfaces.cli.processes import mapped

# Another process costs as much as playing this many runs of a few steps (0.4 s).
RUNS_PER_PROCESS = 250
# So many at a time go to a process: few enough that all of them end at about the same time.
_BATCH = 25
_SHOWN_EVERY_SECONDS = 0.2


class Order(Struct, frozen=True):
    """Everything another process needs to play the same runs."""

    source: bytes
    name: str
    dialect: str | None
    script: Script
    rates: dict[str, float]
    seed: int
    events_max: int

    def campaign(self) -> Campaign:
        """The document is known to compile; what is odd about it has been told."""
        program = load_text(self.source, self.name, dialect=self.dialect).program
        assert program is not None
        return campaign_of(
            program, self.script, rates=self.rates, seed=self.seed, events_max=self.events_max
        )


def report_of(order: Order, campaign: Campaign, *, runs: int, processes: int) -> FaultReport:
    """All runs, or those that were played before Ctrl-C."""
    report, progress = FaultReport(campaign, runs), _Progress(runs)
    batches = [range(first, min(first + _BATCH, runs + 1)) for first in range(1, runs + 1, _BATCH)]
    wanted = min(processes, runs // RUNS_PER_PROCESS)
    played: Iterable[list[RunRecord]] = _here(batches, campaign)
    if wanted >= 2:
        played = mapped(_prepared, order, batches=batches, processes=wanted)
    try:
        for records in played:
            report.records += records
            progress.show(len(report.records))
    except KeyboardInterrupt:
        if not report.records:
            raise
    finally:
        progress.clear()
    return report


def _here(batches: list[range], campaign: Campaign) -> Iterator[list[RunRecord]]:
    for batch in batches:
        for index in batch:
            yield [record_of(campaign.play(index))]


def _prepared(order: Order) -> Callable[[range], list[RunRecord]]:
    """In another process: what plays a batch."""
    campaign = order.campaign()
    return lambda batch: [record_of(campaign.play(index)) for index in batch]


class _Progress:
    """How many runs have been played, on a terminal only."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._is_shown = sys.stderr.isatty()
        self._at = monotonic()

    def show(self, played: int) -> None:
        if self._is_shown and monotonic() - self._at >= _SHOWN_EVERY_SECONDS:
            self._at = monotonic()
            print(f"\r{played:,} of {self._runs:,} runs", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
