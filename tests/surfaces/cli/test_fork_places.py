"""A fork is the same on a database file, on PostgreSQL, and through a server."""

from __future__ import annotations

from tests.postgres_server import a_database  # noqa: F401
from tests.surfaces.cli.servers import Place, a_place, a_server_for_the_module  # noqa: F401
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

ASKS = """\
metadata: {name: moves}
workload: {who: world}
workflow:
  - step: first
    tool: {kind: shell, command: "echo first"}
    next: [{step: review}]
  - step: review
    tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes", "[N] No"]}
    next: [{step: last}]
  - step: last
    tool: {kind: noop, result: ["{{ first.stdout | trim }}", "{{ workload.who }}"]}
"""


def test_a_waiting_run_is_moved_to_a_registered_version(desk: Desk, place: Place) -> None:
    old = desk.call("run", desk.write("asks.yaml", ASKS), "--json", *place.words)
    assert old.status == 3
    run = old.json["run"]
    newer = desk.write("newer.yaml", ASKS.replace('"{{ workload', '"new {{ workload'))
    registered = desk.call("register", newer, "--json", *place.words).json
    assert registered["runs"] == {"movable": [run], "stuck": [], "has_more": False}
    words = ("--program", "moves", "--set", "who=moon", "--cancel", "--auto-approve", "--json")
    forked = desk.call("fork", run, *words, *place.words)
    assert (forked.status, forked.json["result"]) == (0, ["first", "new moon"])
    assert desk.call("show", run, "--json", *place.words).json["status"] == "cancelled"


def test_what_does_not_fit_is_refused_everywhere(desk: Desk, place: Place) -> None:
    old = desk.call("run", desk.write("asks.yaml", ASKS), "--json", *place.words)
    other = desk.write("other.yaml", ASKS.replace("step: review", "step: check"))
    refused = desk.call("fork", old.json["run"], "--program", other, "--quiet", *place.words)
    assert refused.status == 2
    assert "it is in step 'review', which is not there" in refused.err
