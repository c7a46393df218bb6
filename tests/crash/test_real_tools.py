"""The tools people use, killed at every commit point: what another system and the disk saw of them."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.crash.kit import KEY, Forkers, Going, World, soon

DOCUMENT = """
metadata: {{name: tools}}
executor: {{spec: {{limits: {{deliveries: 1000}}}}}}
workflow:
  - step: order
    tool: {{kind: http, method: POST, url: "{url}/idempotent", idempotency_key: true, json: {{n: 1}}}}
    next: [{{step: note}}]
  - step: note
    tool:
      - write:
          kind: python
          args: {{key: "{{{{ _key }}}}"}}
          code: |
            with open("{notes}", "a") as notes:
                notes.write(key + "\\n")
            result = 7
      - print:
          kind: shell
          command: 'echo "$KEY" >> {notes}'
          env: {{KEY: "{{{{ _key }}}}"}}
    next: [{{step: ship}}]
  - step: ship
    tool: {{kind: http, method: POST, url: "{url}/idempotent", idempotency_key: true, json: {{n: 2}}}}
"""


@pytest.fixture
def lab(world: World) -> str:
    """The address of a server that remembers what took effect. It ends with the world."""
    going = world.begin("lab-server", "--for", "300")
    return str(soon(lambda: _address(going), "the address of the lab server"))


def _address(going: Going) -> str:
    assert not going.has_ended(), going.err()
    return going.out().strip()


def seen_by(lab: str) -> dict[str, Any]:
    with urlopen(f"{lab}/ledger", timeout=30) as answer:
        return {entry["key"]: entry for entry in json.load(answer)["keys"]}


def keys_of(log: list[dict[str, Any]]) -> Counter[str]:
    """How often each task visit was started, by its idempotency key."""
    return Counter(
        f"{log[0]['data']['run']}:{row['step']}:{row['visit']}:0:{row['data']['task_visit']}"
        for row in log
        if row["name"] == "task.started"
    )


@pytest.mark.daily
def test_effects_carry_the_same_key_however_often_they_are_repeated(
    folder: Path, forkers: Forkers, lab: str
) -> None:
    def case(point: int) -> bool:
        world = World(folder / str(point), forkers)
        notes = world.folder / "notes"
        document = world.write("tools.yaml", DOCUMENT.format(url=lab, notes=notes))
        start = ["run", document, "--key", KEY]
        was_killed = world.killed_at(point, *start).was_killed
        found = world.bring_to_end(*start)
        assert world.complaints(found, {}) == [], f"point {point}"
        assert [row["status"] for row in found["runs"]] == ["done"]
        (log,) = found["logs"].values()
        started, seen = keys_of(log), seen_by(lab)
        noted = Counter(notes.read_text().splitlines())
        for key, times in started.items():
            assert times <= 1 + world.kills
            calls = seen[key]["calls"] if key in seen else noted[key]
            assert 1 <= calls <= times, f"point {point}: {key}"
            # The other system did it once, because it was asked under one name.
            assert key not in seen or seen[key]["effects"] == 1
        assert set(noted) <= set(started)
        return was_killed

    with ThreadPoolExecutor(4) as threads:
        killed = list(threads.map(case, range(1, 17)))
    assert sum(killed) >= 8
