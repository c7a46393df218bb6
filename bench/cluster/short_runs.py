"""Many short runs on PostgreSQL, by a server and two workers, beside engines and queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench.cluster import cpu
from bench.cluster.cluster import Cluster
from bench.cluster.plays import runs_played
from bench.cluster.scene import MANNERS, Scene
from bench.contest import Entry, Sample, contend
from bench.durable.documents import RUN_STEPS
from bench.figures import Workload, compared, figure

RUNS = 500
# The slower ones do less of the same: it is rates that are compared.
DBOS_RUNS, PROCRASTINATE_RUNS, PGQUEUER_RUNS, RESTATE_RUNS = 50, 60, 500, 150

RESTATE_RATIO = "≥ 2"
PEER_RATIO = "≥ 8"
QUEUE_RATIO = "≥ 0.4"


def runs(scene: Scene) -> Iterator[Workload]:
    def played(one: Cluster, number: int) -> Sample:
        return runs_played(one, number, scene.server)

    mine = scene.ours("runs", RUNS, played)
    others = _others(scene)
    contend([*mine.values(), *others.values()])
    work = compared(
        "cluster.runs",
        f"{RUNS} runs of {RUN_STEPS} steps, PostgreSQL",
        "steps/s",
        entries=mine | others,
        values=lambda entry: entry.rates(RUN_STEPS),
    )
    for key in MANNERS:
        ours = work.of(key).alone().beside("restate", RESTATE_RATIO)
        ours.beside("dbos dbos-2", PEER_RATIO).beside("procrastinate", PEER_RATIO)
        ours.beside("pgqueuer pgqueuer-1", QUEUE_RATIO).beside_each("procrastinate-jobs")
    yield work
    if cpu.is_told():
        yield from _costs(mine, others)


def _others(scene: Scene) -> dict[str, Entry]:
    """Each with the settings that may suit it best: one process and as many as we have workers.

    The queues have no runs of several steps. Procrastinate's jobs each put the next of their run
    into the queue; single jobs, which need no order, are what both are made for.
    """
    return {
        "restate": scene.stage.entry("restate", "runs", RESTATE_RUNS),
        "dbos": scene.peer("dbos", "runs", DBOS_RUNS, processes=1),
        "dbos-2": scene.peer("dbos", "runs", DBOS_RUNS, is_split=True),
        "procrastinate": scene.peer("procrastinate", "runs", PROCRASTINATE_RUNS),
        "procrastinate-jobs": scene.peer("procrastinate", "jobs", PROCRASTINATE_RUNS),
        "pgqueuer": scene.peer("pgqueuer", "jobs", PGQUEUER_RUNS),
        "pgqueuer-1": scene.peer("pgqueuer", "jobs", PGQUEUER_RUNS, processes=1),
    }


def _costs(mine: Mapping[str, Entry], others: Mapping[str, Entry]) -> Iterator[Workload]:
    """Who spends how much on a step: wall time depends on whoever else uses the machine."""
    telling = {k: one for k, one in others.items() if all("cpu" in found for found in one.samples)}
    work = compared(
        "cluster.runs-cpu",
        "CPU time of a step, PostgreSQL, all processes",
        "µs",
        entries={**mine, **telling},
        values=_spent,
    )
    for key, entry in mine.items():
        work.of(key).alone()
        for who in ("client", "server", "workers", "PostgreSQL"):
            figures = {key: figure(entry, _spent(entry, who))}
            title = f"CPU time of a step, PostgreSQL, {who}"
            work.rows += Workload(work.name, title, work.unit, figures, key=key).alone().rows
    yield work


def _spent(entry: Entry, who: str | None = None) -> list[float]:
    """Microseconds of a step in each round; of everyone, unless one is named."""
    sums = [sum(one.values()) if who is None else one[who] for one in entry.values("cpu")]
    return [1e6 * seconds / entry.size / RUN_STEPS for seconds in sums]
