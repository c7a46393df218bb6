"""A task that kills its worker is given up after so many deaths, and takes nobody with it."""

from __future__ import annotations

import pytest

from tests.crash.kit import World
from tests.crash.scenarios import KILL_WORKER

POISON = """
metadata: {{name: poison}}
workflow:
  - step: deadly
    tool: {task}
    next: {{arcs: [{{step: mourn, when: "{{{{ event.name == 'step.failed' }}}}", args: {{kind: "{{{{ event.error.kind }}}}"}}}}]}}
  - step: mourn
    tool: {{kind: noop, result: "{{{{ args.kind }}}}"}}
"""
TASKS = {
    "python": f'{{kind: python, code: "{KILL_WORKER}"}}',
    "effect": "{kind: effect, is_deadly: true}",
}
INNOCENT = """
metadata: {{name: innocent}}
workflow:
  - step: slow
    tool: {{kind: effect, result: 1, held: "{held}"}}
    next: [{{step: after}}]
  - step: after
    tool: {{kind: effect, result: 2}}
"""
DELIVERIES = 3  # the default


@pytest.mark.parametrize("kind", TASKS)
def test_a_task_that_kills_its_worker_is_given_up_after_three_deaths(
    world: World, kind: str
) -> None:
    document = world.write("poison.yaml", POISON.format(task=TASKS[kind]))
    words = ["run", document]
    for _ in range(DELIVERIES):
        assert world.anew(*words).was_killed
        words = ["resume"]
    ended = world.anew("resume")
    assert ended.status == 0, ended.err
    found = world.read()
    assert world.complaints(found, {}) == []
    (shown,) = found["shown"].values()
    assert (shown["status"], shown["result"]) == ("done", "worker_lost")
    (log,) = found["logs"].values()
    tries = [
        row["attempt"] for row in log if row["name"] == "task.started" and row["step"] == "deadly"
    ]
    assert tries == [1] * DELIVERIES


@pytest.mark.daily
def test_a_run_beside_a_deadly_task_is_not_given_up_with_it(world: World) -> None:
    held = world.folder / "free"
    poison = world.write("poison.yaml", POISON.format(task=TASKS["effect"]))
    innocent = world.write("innocent.yaml", INNOCENT.format(held=held))
    # Killed when its first task has started, so that from now on both are resumed together.
    assert world.killed_at(6, "run", innocent).was_killed
    assert world.anew("run", poison).was_killed
    assert world.anew("resume").was_killed
    # By now both are suspects, each to be tried with nothing beside it.
    held.touch()
    for _ in range(DELIVERIES):
        if not world.anew("resume").was_killed:
            break
    found = world.read()
    assert world.complaints(found, {}) == []
    ends = {row["program"]: (row["status"], row["error"]) for row in found["runs"]}
    assert ends == {"poison": ("done", None), "innocent": ("done", None)}
    logs = {log[0]["data"]["program"]: log for log in found["logs"].values()}
    failed = [row for log in logs.values() for row in log if row["name"] == "step.failed"]
    assert [(row["step"], row["data"]["error"]["kind"]) for row in failed] == [
        ("deadly", "worker_lost")
    ]


def test_a_run_that_nobody_asked_about_is_left_alone_by_a_poisoned_process(world: World) -> None:
    """`anew run` works on its own run: one that waits to be resumed is not dragged along."""
    held = world.folder / "free"
    poison = world.write("poison.yaml", POISON.format(task=TASKS["effect"]))
    innocent = world.write("innocent.yaml", INNOCENT.format(held=held))
    assert world.killed_at(6, "run", innocent).was_killed
    before = world.read()
    for _ in range(2):
        assert world.anew("run", poison).was_killed
    (run,) = before["logs"]
    assert world.read()["logs"][run] == before["logs"][run]
