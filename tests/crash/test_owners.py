"""Two processes and one database, and what signals do: who works, who takes over, who is told."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.crash.kit import Going, World, soon

HELD = """
metadata: {{name: {name}}}
executor: {{spec: {{limits: {{deliveries: 2}}}}}}
workflow:
  - step: first
    tool: {{kind: effect, result: 1, held: "{held}"}}
    next: [{{step: second}}]
  - step: second
    tool: {{kind: effect, result: 2}}
"""


def held(world: World, name: str) -> tuple[str, Path]:
    """A document whose first task waits for a file."""
    gate = world.folder / f"{name}.free"
    return world.write(f"{name}.yaml", HELD.format(name=name, held=gate)), gate


def at_work(world: World, calls: int, *going: Going) -> None:
    """Wait until the world has seen so many calls."""

    def holds() -> bool:
        for one in going:
            assert not one.has_ended(), one.wait().err
        return len(world.effects()) >= calls

    soon(holds, f"{calls} calls")


def names_of(found: dict[str, Any], program: str) -> list[str]:
    (run,) = [row["run"] for row in found["runs"] if row["program"] == program]
    return [row["name"] for row in found["logs"][run]]


def test_a_second_process_is_served_by_the_first_and_both_finish(world: World) -> None:
    first_file, first_gate = held(world, "one")
    second_file, second_gate = held(world, "two")
    first = world.begin("run", first_file)
    at_work(world, 1, first)
    second = world.begin("run", second_file, "--json")
    at_work(world, 2, first, second)
    second_gate.touch()
    # The first still holds its own run, so the second's was worked on by the first.
    ended = second.wait()
    assert (ended.status, ended.err) == (0, "")
    assert '"status": "done"' in ended.out
    assert not first.has_ended()
    first_gate.touch()
    assert first.wait().status == 0
    found = world.read()
    assert world.complaints(found, {}) == []
    assert len(world.effects()) == 4


@pytest.mark.daily
def test_when_the_owner_is_killed_whoever_watches_takes_over(world: World) -> None:
    first_file, first_gate = held(world, "one")
    second_file, second_gate = held(world, "two")
    first = world.begin("run", first_file)
    at_work(world, 1, first)
    second = world.begin("run", second_file)
    at_work(world, 2, first, second)
    first.kill()
    world.kills += 1
    at_work(world, 3, second)
    second_gate.touch()
    ended = second.wait()
    assert ended.status == 0, ended.err
    assert names_of(world.read(), "two").count("step.redelivered") == 1
    first_gate.touch()
    found = world.bring_to_end()
    assert {row["status"] for row in found["runs"]} == {"done"}
    assert world.complaints(found, {}) == []


def test_when_the_owner_ends_first_its_guest_goes_on_and_nothing_is_repeated(world: World) -> None:
    first_file, first_gate = held(world, "one")
    second_file, second_gate = held(world, "two")
    first = world.begin("run", first_file)
    at_work(world, 1, first)
    second = world.begin("run", second_file)
    at_work(world, 2, first, second)
    first_gate.touch()
    # When its own run is done it waits for the guest's call, and then leaves the rest to the guest.
    soon(lambda: "waiting for the calls of other runs" in first.err(), "the owner to wait")
    second_gate.touch()
    assert first.wait().status == 0
    assert second.wait().status == 0
    found = world.read()
    assert world.complaints(found, {}) == []
    log = next(log for log in found["logs"].values() if log[0]["data"]["program"] == "two")
    assert [row for row in log if row["name"] == "step.redelivered"] == []


def test_an_owner_that_waits_for_its_guest_hands_back_when_it_is_interrupted(world: World) -> None:
    first_file, first_gate = held(world, "one")
    second_file, second_gate = held(world, "two")
    first = world.begin("run", first_file)
    at_work(world, 1, first)
    second = world.begin("run", second_file)
    at_work(world, 2, first, second)
    first_gate.touch()
    soon(lambda: "waiting for the calls of other runs" in first.err(), "the owner to wait")
    first.send(signal.SIGINT)
    assert first.wait().status == 0  # its own run is done
    second_gate.touch()
    assert second.wait().status == 0
    found = world.read()
    assert world.complaints(found, {}) == []
    log = next(log for log in found["logs"].values() if log[0]["data"]["program"] == "two")
    assert [row["data"]["delivery"] for row in log if row["name"] == "step.redelivered"] == [1]


def test_a_run_is_cancelled_from_a_second_terminal_and_its_tool_is_told(world: World) -> None:
    document, _ = held(world, "one")
    going = world.begin("run", document)
    at_work(world, 1, going)
    cancelled = world.anew("cancel", "last")
    assert cancelled.status == 0, cancelled.err
    ended = going.wait()
    assert ended.status == 130
    assert [effect["step"] for effect in world.cancelled_effects()] == ["first"]
    found = world.read()
    assert [row["status"] for row in found["runs"]] == ["cancelled"]
    assert world.complaints(found, {}) == []


UNDONE = """metadata: {name: undone}
workflow:
  - step: book
    tool: [{reserve: {kind: effect, result: 7}}]
    compensate: [{release: {kind: effect, result: "{{ book }}"}}]
    next: [wait]
  - step: wait
    tool: [{stay: {kind: effect, held: %s}}]
"""


def test_a_run_that_is_cancelled_from_a_second_terminal_is_undone_first(world: World) -> None:
    document = world.write("undone.yaml", UNDONE % (world.folder / "never"))
    going = world.begin("run", document)
    at_work(world, 2, going)
    assert world.anew("cancel", "last", "--reason", "enough").status == 0
    assert going.wait().status == 130
    found = world.read()
    assert [row["status"] for row in found["runs"]] == ["cancelled"]
    (log,) = found["logs"].values()
    assert log[-1]["data"] == {"reason": "enough", "compensation": {"done": 1, "failed": 0}}
    assert [effect["step"] for effect in world.effects()][-1] == "book.compensate"
    assert [effect["step"] for effect in world.cancelled_effects()] == ["wait"]
    assert world.complaints(found, {}) == []


def stopping(going: Going) -> None:
    soon(lambda: "anew: stopping;" in going.err(), "the command to say that it stops")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=lambda sign: sign.name)
def test_a_stopped_run_is_handed_back_and_costs_no_delivery(world: World, sign: int) -> None:
    document, gate = held(world, "one")
    for stops in (1, 2, 3):  # more often than this step-run may lose its worker
        going = world.begin(*(["run", document] if stops == 1 else ["resume"]))
        at_work(world, stops, going)
        going.send(sign)
        stopping(going)
        going.send(sign)  # and does not wait for the call
        ended = going.wait()
        assert ended.status == 130, ended
        assert ended.err.splitlines()[-1].startswith(
            "anew: stopped; nothing is lost. `anew resume "
        )
    gate.touch()
    found = world.bring_to_end()
    assert [row["status"] for row in found["runs"]] == ["done"]
    (log,) = found["logs"].values()
    deliveries = [r["data"]["delivery"] for r in log if r["name"] == "step.redelivered"]
    assert deliveries == [1] * 3
    assert {row["attempt"] for row in log if row["name"] == "task.started"} == {1}
    assert world.complaints(found, {}) == []


def test_a_call_that_ends_while_the_process_stops_is_not_repeated(world: World) -> None:
    document, gate = held(world, "one")
    going = world.begin("run", document)
    at_work(world, 1, going)
    going.send(signal.SIGTERM)
    stopping(going)
    gate.touch()
    assert going.wait().status == 130
    found = world.bring_to_end()
    assert [row["status"] for row in found["runs"]] == ["done"]
    assert world.complaints(found, {}) == []
    assert [effect["step"] for effect in world.effects()] == ["first", "second"]


def test_a_guest_that_is_stopped_leaves_its_run_to_the_owner(world: World) -> None:
    first_file, first_gate = held(world, "one")
    second_file, second_gate = held(world, "two")
    first = world.begin("run", first_file)
    at_work(world, 1, first)
    second = world.begin("run", second_file)
    at_work(world, 2, first, second)
    second.send(signal.SIGINT)
    ended = second.wait()
    assert ended.status == 130
    assert "the run continues in the terminal that works on it" in ended.err
    second_gate.touch()
    at_work(world, 3, first)
    first_gate.touch()
    assert first.wait().status == 0
    found = world.bring_to_end()
    assert {row["status"] for row in found["runs"]} == {"done"}
    assert world.complaints(found, {}) == []
    assert len(world.effects()) == 4


@pytest.mark.daily
def test_two_processes_that_start_at_once_both_get_their_run(world: World) -> None:
    document = world.write("quick.yaml", "workflow: [{step: s, tool: {kind: effect, result: 1}}]")
    going = [world.begin("run", document, "--key", f"k{n}") for n in range(4)]
    for one in going:
        ended = one.wait()
        assert ended.status == 0, ended.err
    found = world.read()
    assert sorted(row["key"] for row in found["runs"]) == ["k0", "k1", "k2", "k3"]
    assert world.complaints(found, {}) == []


def test_one_key_started_by_several_processes_is_one_run(world: World) -> None:
    document = world.write("quick.yaml", "workflow: [{step: s, tool: {kind: effect, result: 1}}]")
    going = [world.begin("run", document, "--key", "same", "--json") for _ in range(4)]
    assert {one.wait().status for one in going} == {0}
    found = world.read()
    assert len(found["runs"]) == len(world.effects()) == 1
