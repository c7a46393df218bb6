"""What runs while things break: the documents of the crash tests, and some that need several workers."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.cluster.kit import Cluster
from tests.crash.scenarios import (
    CHILD,
    FAILURE,
    FAN_OUT,
    LINEAR,
    LOOP,
    PAGES,
    PATIENT,
    RACE,
    RETRIES,
    SEQUENCE,
    SLEEP,
    Scenario,
)

# Branches of a graph that are worked on wherever there is room, and a join that waits for them.
GRAPH = Scenario(
    "graph",
    """
  start [shape=Mdiamond]
  done [shape=Msquare]
  fork [shape=component]
  left [shape=parallelogram, tool_command="echo left"]
  right [shape=parallelogram, tool_command="echo right"]
  meet [shape=tripleoctagon]
  flaky [shape=parallelogram, tool_command="test ${_retry_count} -ge 1", max_retries=2]
  start -> fork
  fork -> left -> meet
  fork -> right -> meet
  meet -> flaky -> done
""",
    {"flaky": 3},
    is_graph=True,
)
# More iterations at once than one worker has slots: several report on one run at the same time.
WIDE = Scenario(
    "wide",
    """
workflow:
  - step: each
    loop: {in: "{{ range(30) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 12}}
    tool:
      - step_in:
          kind: effect
          fails: "{{ 1 if iter.n % 10 == 3 else 0 }}"
          result: "{{ iter.n }}"
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 0.01}}]}}
    next: [{step: sum}]
  - step: sum
    tool: {kind: effect, result: "{{ each.results | sum }}"}
""",
    {"step_in": 2},
)
MIX = (
    *(LINEAR, RETRIES, LOOP, SEQUENCE, FAN_OUT, FAILURE, CHILD, SLEEP, PAGES),
    *(RACE, GRAPH, WIDE),
)
ATTEMPTS = {task: n for scenario in MIX for task, n in scenario.attempts.items()}
# How each ends, whatever happens to those who work on it.
ENDS: dict[str, Any] = {
    "linear": ("done", 42),
    "retries": ("done", 2),
    "loop": ("done", 30),
    "sequence": ("done", None),
    "fan_out": ("done", 31),
    "failure": ("failed", None),
    "parent": ("done", 43),
    "sleep": ("done", 2),
    "pages": ("done", 3),
    "graph": ("done", None),
    "race": ("done", 4),
    "wide": ("done", 435),
}
# Ends are compared with these results only.
TOLD = frozenset(
    {"linear", "retries", "loop", "fan_out", "parent", "sleep", "pages", "race", "wide"}
)

# One call that lasts until a test lets it end, and one after it.
HELD = """
metadata: {{name: {name}}}
executor: {{spec: {{limits: {{deliveries: 1000}}}}}}
workflow:
  - step: first
    tool: {{kind: effect, result: "{{{{ _attempt }}}}", held: "{gate}"}}
    next: [{{step: second}}]
  - step: second
    tool: {{kind: effect, result: 2}}
"""
QUICK = "metadata: {name: quick}\n" + PATIENT + "workflow: [{step: only, tool: {kind: effect}}]\n"


def start(cluster: Cluster, scenario: Scenario, number: int, *, server: str | None = None) -> str:
    """A run of a scenario, acknowledged; the key says which."""
    # A child that is named by a file lies where its parent does, on the disk that all share here.
    for name, text in scenario.files.items():
        (cluster.folder / name).write_text(text, encoding="utf-8")
    key = f"{scenario.name}-{number}"
    return cluster.start(scenario.document, key, server=server, file=scenario.file)


class Load:
    """Runs of the mix, in an order that a seed decides."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self._cluster = cluster
        self._chance = Random(seed)
        self._started = 0

    def start(self, runs: int) -> None:
        for _ in range(runs):
            start(self._cluster, self._chance.choice(MIX), self._started)
            self._started += 1

    def go_on(self, calls: int) -> None:
        """Wait until the world has seen so many calls more, or everything has ended."""
        cluster, wanted = self._cluster, len(self._cluster.effects()) + calls

        def is_far_enough() -> bool:
            return len(cluster.effects()) >= wanted or cluster.has_ended()

        cluster.soon(is_far_enough, f"{calls} calls more")


def held(cluster: Cluster, name: str) -> str:
    """A document whose first call lasts until `release`."""
    return HELD.format(name=name, gate=cluster.folder / f"{name}.free")


def release(cluster: Cluster, name: str) -> None:
    (cluster.folder / f"{name}.free").touch()


def wrong_ends(found: dict[str, Any]) -> list[str]:
    """Runs of the mix that did not end as they should."""
    wrong = []
    for row in found["runs"]:
        shown = found["shown"][row["run"]]
        status, result = ENDS.get(row["program"], (None, None))
        if row["parent"] is not None or status is None:
            continue
        is_told = row["program"] in TOLD
        if shown["status"] != status or (is_told and shown["result"] != result):
            wrong.append(f"{row['key']} ended {shown['status']} with {shown['result']}")
    return wrong


def finish(cluster: Cluster) -> dict[str, Any]:
    """Everything ends, and nobody has anything to complain about."""
    cluster.until_all_ended()
    found = cluster.read()
    wrong = cluster.complaints(found, ATTEMPTS) + wrong_ends(found)
    assert not wrong, "\n".join([*wrong, cluster.told()])
    return found
