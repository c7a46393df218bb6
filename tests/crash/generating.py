"""Random documents whose end does not depend on timing: every failure is handled, every path ends."""

from __future__ import annotations

from random import Random
from typing import Any

import yaml

from anew.program.retry import BackoffKind
from tests.crash.scenarios import CHILD, PATIENT, Scenario

STEPS_MAX = 6
TASKS_MAX = 3
ITEMS_MAX = 7
# Mostly waits that are slept in place; now and then one that parks.
DELAYS = (0, 0, 0.005, 0.02, 0.02, 0.05, 1.01)
BACKOFFS = tuple(kind.value for kind in BackoffKind)


def generated(seed: int) -> Scenario:
    """The scenario of a seed, always the same."""
    chance = Random(seed)
    names = [f"s{n}" for n in range(chance.randint(2, STEPS_MAX))]
    attempts: dict[str, int] = {}
    steps = [_step(chance, n, names, attempts) for n in range(len(names))]
    text = yaml.safe_dump({"workflow": steps}, sort_keys=False, width=10_000)
    return Scenario(f"seed-{seed}", text, attempts, CHILD.files)


def _step(chance: Random, n: int, names: list[str], attempts: dict[str, int]) -> dict[str, Any]:
    later = names[n + 1 :]
    step: dict[str, Any] = {"step": names[n]}
    can_fail = False
    if chance.random() < 0.3:
        mode = chance.choice(("sequential", "parallel"))
        items = list(range(chance.randint(0, ITEMS_MAX)))
        spec = {"mode": mode, "max_in_flight": chance.randint(1, 4)}
        step["loop"] = {"in": items, "iterator": "n", "spec": spec}
        fails: Any = "{{ 1 if iter.n % 3 == 1 else 0 }}"
    else:
        # Only where an arc can handle it: otherwise the end would depend on who is at work then.
        fails = chance.choice((0, 0, 1, 2, 3 if later else 2))
        can_fail = fails == 3
    tool = []
    for number in range(chance.randint(1, TASKS_MAX)):
        label = f"{names[n]}_t{number}"
        tool.append({label: _task(chance, label, fails, attempts)})
        fails = 0
    step["tool"] = tool
    step["next"] = _routes(chance, later, can_fail=can_fail)
    return step


def _task(chance: Random, label: str, fails: Any, attempts: dict[str, int]) -> dict[str, Any]:
    kind = chance.choice(("effect",) * 8 + ("sleep", "playbook"))
    if kind == "sleep" and not fails:
        return {"kind": "sleep", "seconds": chance.choice((0.01, 0.02, 1.01))}
    if kind == "playbook" and not fails:
        return {"kind": "playbook", "file": "child.yaml", "args": {"x": chance.randint(1, 9)}}
    attempts[label] = 3
    retry = {
        "do": "retry",
        "attempts": 3,
        "backoff": chance.choice(BACKOFFS),
        "delay": chance.choice(DELAYS),
        "max_delay": 1.2,
        "jitter": chance.choice((False, True, 0.5)),
    }
    rules = [{"when": "{{ outcome.status == 'error' }}", "then": retry}]
    result = chance.choice(("{{ _attempt }}", "{{ [_prev, 1] }}", 7, {"a": "text"}))
    return {
        "kind": "effect",
        "fails": fails,
        "result": result,
        "spec": {"policy": {"rules": rules}},
    }


def _routes(chance: Random, later: list[str], *, can_fail: bool) -> Any:
    if can_fail:
        mended = {"step": later[-1], "when": "{{ event.name == 'step.failed' }}"}
        return {"spec": {"mode": "exclusive"}, "arcs": [mended, {"step": chance.choice(later)}]}
    few = chance.sample(later, min(len(later), chance.choice((1, 1, 2, 3))))
    return {"spec": {"mode": "inclusive"}, "arcs": [{"step": name} for name in sorted(few)]}


def document(scenario: Scenario) -> str:
    """The whole text, to show when something went wrong."""
    return f"{PATIENT}{scenario.text}"
