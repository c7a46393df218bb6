"""`anew register`: documents by name and version."""

from __future__ import annotations

import json

from tests.surfaces.cli.terminals import HELLO, Desk, Held, a_desk, a_held_run  # noqa: F401


def test_a_changed_document_becomes_the_next_version(desk: Desk) -> None:
    file = desk.write("hello.yaml", HELLO)
    assert desk.call("register", file).out == "hello version 1\n"
    assert desk.call("register", file).out == "hello version 1\n"
    desk.write("hello.yaml", HELLO.replace("world", "moon"))
    answer = desk.call("register", file, "--json").json
    assert (answer["name"], answer["version"]) == ("hello", 2)
    assert answer["runs"] == {"movable": [], "stuck": [], "has_more": False}
    (row,) = (json.loads(line) for line in desk.call("programs", "--json").out.splitlines())
    assert (row["name"], row["version"]) == ("hello", 2)


def test_a_bad_document_is_not_kept(desk: Desk) -> None:
    answer = desk.call("register", desk.write("bad.yaml", "workflow: []"))
    assert answer.status == 2
    assert "bad.yaml:1:1" in answer.err
    assert desk.call("programs").status == 4  # there is no database yet


def test_a_missing_file_is_one_clear_line(desk: Desk) -> None:
    answer = desk.call("register", "none.yaml")
    assert answer.status == 2
    assert answer.is_one_clear_line(), answer.err


def test_the_owner_of_the_database_keeps_it_while_it_works(desk: Desk, held: Held) -> None:
    assert desk.call("register", desk.write("hello.yaml", HELLO)).out == "hello version 1\n"
    held.gate.write("go")
    assert held.terminal.wait().status == 0
