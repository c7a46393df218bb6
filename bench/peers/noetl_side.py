"""NoETL's local runtime doing the durable workloads: `noetl_side WORKLOAD SIZE FOLDER`.

It keeps nothing on disk and does not survive its process. A step is `shell: true`, its cheapest:
it has no tool that does nothing. Loops and retries are asked for and counted, so that a version
that begins to honour them is seen.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.peers import killing
from bench.peers.measuring import RUN_STEPS, Sample, one_by_one, play, timed

noetl: Any = import_module("noetl")

# Threads that call it: it has nothing of its own that plays several at once.
THREADS = 4

HEAD = """
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: bench, path: bench}
executor: {profile: local, version: noetl-runtime/1}
workload: {items: [1, 2, 3]}
workflow:
"""


def chain(steps: int, command: str = "true") -> str:
    """Steps that do the same, one after the other; NUMBER in the command is which one it is."""
    names = ["start", *(f"s{number}" for number in range(1, steps)), "end"]
    commands = [command.replace("NUMBER", str(number)) for number in range(steps)]
    lines = [
        f"  - {{step: {one}, tool: {{kind: shell, cmds: ['{words}']}}, next: [{{step: {to}}}]}}"
        for (one, to), words in zip(pairwise(names), commands, strict=True)
    ]
    return HEAD + "\n".join([*lines, "  - step: end", ""])


def one_step(more: str, command: str) -> str:
    step = f"  - step: start\n    {more}\n    tool: {{kind: shell, cmds: ['{command}']}}\n"
    return HEAD + step + "    next: [{step: end}]\n  - step: end\n"


def steps(size: int, place: str) -> Sample:
    return timed(lambda: _play(_written(place, chain(size)), size))


def runs(size: int, place: str) -> Sample:
    file = _written(place, chain(RUN_STEPS))
    with ThreadPoolExecutor(THREADS) as pool:
        return timed(lambda: list(pool.map(lambda _: _play(file, RUN_STEPS), range(size))))


def latency(size: int, place: str) -> Sample:
    file = _written(place, chain(RUN_STEPS))
    return one_by_one(lambda: _play(file, RUN_STEPS), size)


def items(size: int, place: str) -> Sample:
    del size
    loop = 'loop: {in: "{{ workload.items }}", iterator: item, mode: parallel}'
    calls = _calls(place, one_step(loop, f"echo x >> {place}/calls"))
    return {"reason": f"ignores loops: one over 3 items made {calls} call"}


def retries(size: int, place: str) -> Sample:
    del size
    retry = "retry: {max_attempts: 3, initial_delay: 0.01}"
    calls = _calls(place, one_step(retry, f"echo x >> {place}/calls; false"))
    return {"reason": f"ignores retries: 3 attempts of a failing step were {calls} call"}


def resume(size: int, place: str) -> Sample:
    again = killing.resumed_side("bench.peers.noetl_side", size, place).get("again", "no")
    return {"reason": f"keeps nothing: started again, it did {again} of {size} steps twice"}


def begun(size: int, place: str) -> Sample:
    """A shell notes what `killing.step` notes elsewhere."""
    notes = f"{sys.argv[-1]}/{killing.NOTES}"
    note = f"echo NUMBER $(date +%s.%N) >> {notes}; sleep {killing.STEP_SECONDS}"
    _play(_written(place, chain(size, note)), size)
    return {}


def _calls(place: str, text: str) -> int:
    # A step that fails may be raised; what counts is how often it was called.
    with suppress(Exception):
        noetl.run(_written(place, text))
    counted = Path(place) / "calls"
    return len(counted.read_text().splitlines()) if counted.exists() else 0


def _play(file: str, steps_expected: int) -> None:
    assert len(noetl.run(file)["executed_steps"]) == steps_expected


def _written(place: str, text: str) -> str:
    file = Path(place) / "bench.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


WORKLOADS = {
    "steps": steps,
    "runs": runs,
    "latency": latency,
    "items": items,
    "retries": retries,
    "backoff": retries,
    "resume": resume,
    "begun": begun,
}

if __name__ == "__main__":
    play(WORKLOADS, {})
