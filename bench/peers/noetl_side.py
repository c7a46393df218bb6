"""NoETL's local runtime doing the durable workloads: `noetl_side.py WORKLOAD SIZE FOLDER`.

It keeps nothing on disk and does not survive its process. A step is `shell: true`, its cheapest:
it has no tool that does nothing. Loops and retries are asked for and counted, so that a version
that begins to honour them is seen.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

RUN_STEPS = 5

HEAD = """
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: bench, path: bench}
executor: {profile: local, version: noetl-runtime/1}
workload: {items: [1, 2, 3]}
workflow:
"""


def chain(steps: int) -> str:
    """Steps that do nothing, one after the other."""
    names = ["start", *(f"s{number}" for number in range(1, steps)), "end"]
    tool = "tool: {kind: shell, cmds: ['true']}"
    lines = [f"  - {{step: {one}, {tool}, next: [{{step: {to}}}]}}" for one, to in pairwise(names)]
    return HEAD + "\n".join([*lines, "  - step: end", ""])


def one_step(more: str, command: str) -> str:
    step = f"  - step: start\n    {more}\n    tool: {{kind: shell, cmds: ['{command}']}}\n"
    return HEAD + step + "    next: [{step: end}]\n  - step: end\n"


def steps(size: int, folder: Path) -> dict[str, Any]:
    return _timed(_written(folder, chain(size)), 1, size)


def runs(size: int, folder: Path) -> dict[str, Any]:
    return _timed(_written(folder, chain(RUN_STEPS)), size, RUN_STEPS)


def items(size: int, folder: Path) -> dict[str, Any]:
    del size
    loop = 'loop: {in: "{{ workload.items }}", iterator: item, mode: parallel}'
    calls = _calls(folder, one_step(loop, f"echo x >> {folder}/calls"))
    return {"reason": f"ignores loops: one over 3 items made {calls} call"}


def retries(size: int, folder: Path) -> dict[str, Any]:
    del size
    retry = "retry: {max_attempts: 3, initial_delay: 0.01}"
    calls = _calls(folder, one_step(retry, f"echo x >> {folder}/calls; false"))
    return {"reason": f"ignores retries: 3 attempts of a failing step were {calls} call"}


def _calls(folder: Path, text: str) -> int:
    # A step that fails may be raised; what counts is how often it was called.
    with suppress(Exception):
        _play(_written(folder, text))
    counted = folder / "calls"
    return len(counted.read_text().splitlines()) if counted.exists() else 0


def _timed(file: str, times: int, steps_expected: int) -> dict[str, Any]:
    wall, cpu = perf_counter(), process_time()
    for _ in range(times):
        assert len(_play(file)["executed_steps"]) == steps_expected
    return {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}


def _play(file: str) -> dict[str, Any]:
    ended: dict[str, Any] = import_module("noetl").run(file)
    return ended


def _written(folder: Path, text: str) -> str:
    file = folder / "bench.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


WORKLOADS: dict[str, Callable[[int, Path], dict[str, Any]]] = {
    "steps": steps,
    "runs": runs,
    "items": items,
    "retries": retries,
    "backoff": retries,
}


if __name__ == "__main__":
    print(json.dumps(WORKLOADS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))))
