"""How long `anew` takes to start, as a multiple of an interpreter that does nothing.

Wall time, because that is what a person at a terminal waits for. The commands take turns, so that
a busy moment of the machine hits all of them, and the median forgets the worst rounds.

Compiled modules are cached, as they are for everyone from the second call on, even where the
environment forbids it: without the cache this would measure the compiler.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.figures import Row, paired, rounded, row

ROUNDS = 15
STEPS = 100
TWO_STEPS = """\
metadata: {name: two}
workflow:
  - step: first
    tool: {kind: noop}
    next: [{step: second}]
  - step: second
    tool: {kind: noop}
"""

HELP_RATIO_MAX = 8.0
CHECK_RATIO_MAX = 12.0
# What feels instant. Commands that read a run are measured with one of two steps.
READ_RATIO_MAX = 5.0
READS = (
    ["runs"],
    ["show", "last"],
    ["events", "last"],
    ["timeline", "last"],
    ["attempts", "last"],
    ["explain", "last"],
    ["questions"],
    ["failures"],
    ["programs"],
    ["workers"],
    ["check", "two.yaml"],
)


def measure() -> list[Row]:
    with TemporaryDirectory() as folder:
        document = Path(folder, "hundred.yaml")
        document.write_text(playbook(STEPS), encoding="utf-8")
        Path(folder, "two.yaml").write_text(TWO_STEPS, encoding="utf-8")
        environment = environment_with_cache(folder) | {"ANEW_DB": str(Path(folder, "anew.db"))}
        seconds([*anew_command(), "run", "two.yaml", "--quiet"], environment, folder)
        bare, asked_help, checked, *reads = taken(
            [
                [sys.executable, "-c", "pass"],
                [*anew_command(), "--help"],
                [*anew_command(), "check", str(document)],
                *([*anew_command(), *words] for words in READS),
            ],
            environment,
            folder,
        )
    return [
        _row("anew --help", asked_help, bare, HELP_RATIO_MAX),
        _row(f"anew check, {STEPS} steps", checked, bare, CHECK_RATIO_MAX),
        *(
            _row(f"anew {' '.join(words)}", read, bare, READ_RATIO_MAX)
            for words, read in zip(READS, reads, strict=True)
        ),
    ]


def _row(
    name: str, seconds: Sequence[float], bare_seconds: Sequence[float], ratio_max: float
) -> Row:
    ratio = paired(seconds, bare_seconds)
    return row(
        name,
        [1000 * one for one in seconds],
        "ms",
        peer=f"python -c pass, {1000 * median(bare_seconds):.1f} ms",
        ratio=rounded(ratio),
        target=f"ratio ≤ {ratio_max:g}",
        met=ratio <= ratio_max,
    )


def anew_command() -> list[str]:
    """The installed command of this interpreter, which is what people type."""
    script = Path(sys.executable).parent / "anew"
    return [str(script)] if script.exists() else [sys.executable, "-m", "anew"]


def environment_with_cache(folder: str) -> dict[str, str]:
    """This environment, with a bytecode cache of its own that leaves the sources alone."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return inherited | {"PYTHONPYCACHEPREFIX": str(Path(folder, "cache"))}


def taken(
    commands: list[list[str]], environment: dict[str, str], folder: str
) -> list[tuple[float, ...]]:
    """Seconds of each command in each round. The first fills the caches, and does not count."""
    rounds = [[seconds(one, environment, folder) for one in commands] for _ in range(ROUNDS + 1)][
        1:
    ]
    return list(zip(*rounds, strict=True))


def seconds(command: list[str], environment: dict[str, str], folder: str) -> float:
    start = perf_counter()
    silent = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=silent, stderr=silent, env=environment, cwd=folder)
    return perf_counter() - start


def playbook(steps: int) -> str:
    """A document of the size people have: each step calls an API and retries when it fails."""
    head = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: hundred}\n"
    workload = 'workload:\n  api_url: "https://api.example.com"\nworkflow:\n'
    return head + workload + "".join(step(number, steps) for number in range(steps))


def step(number: int, steps: int) -> str:
    last = number == steps - 1
    name = "start" if number == 0 else f"step_{number}"
    text = f"""\
  - step: {name}
    tool:
      - fetch:
          kind: http
          method: GET
          url: "{{{{ workload.api_url }}}}/items/{number}"
          spec:
            policy:
              rules:
                - when: "{{{{ outcome.status == 'error' and outcome.error.retryable }}}}"
                  then: {{do: retry, attempts: 3, backoff: exponential, delay: 1.0}}
                - when: "{{{{ outcome.status == 'error' }}}}"
                  then: {{do: fail}}
                - else:
                    then: {{do: continue, set_ctx: {{last: "{{{{ outcome.result.data }}}}"}}}}
"""
    if last:
        return text
    return (
        text
        + f"""\
    next:
      spec: {{mode: exclusive}}
      arcs:
        - step: step_{number + 1}
          when: "{{{{ event.name == 'step.done' }}}}"
"""
    )
