"""`anew start`: runs of registered documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.terminals import HELLO, Desk, Held, a_desk, a_held_run  # noqa: F401


@pytest.fixture(autouse=True)
def _two_versions(desk: Desk) -> None:
    for text in (HELLO, HELLO.replace("world", "moon")):
        desk.call("register", desk.write("hello.yaml", text))
    Path("hello.yaml").unlink()  # a registered document needs no file


def test_the_newest_version_is_started_unless_one_is_named(desk: Desk) -> None:
    newest = desk.call("start", "hello", "--json")
    first = desk.call("start", "hello", "--version", "1", "--json")
    assert [ran.json["result"]["who"] for ran in (newest, first)] == ["moon", "world"]
    assert (newest.status, newest.err) == (0, "")


def test_a_program_is_started_by_the_path_of_its_document(desk: Desk) -> None:
    filed = HELLO.replace("name: hello", "name: hello, path: team/hello", 1)
    assert filed != HELLO
    desk.call("register", desk.write("filed.yaml", filed))
    assert desk.call("start", "team/hello", "--json").json["program"] == "hello"
    other = desk.call("register", desk.write("other.yaml", filed.replace("hello", "bye", 1)))
    assert (other.status, other.is_one_clear_line()) == (2, True)
    assert "'bye'" in other.err
    assert "'hello'" in other.err


def test_it_takes_settings_keys_and_labels(desk: Desk) -> None:
    words = ("start", "hello", "--json", "--set", "who=me", "--key", "k", "--label", "a=b")
    first, again = desk.call(*words), desk.call(*words)
    assert first.json == again.json
    assert first.json["result"] == {"who": "me"}
    assert len(desk.runs("--label", "a=b")) == 1


def test_the_owner_of_the_database_starts_it_while_it_works(desk: Desk, held: Held) -> None:
    assert desk.call("start", "hello", "--json").json["result"] == {"who": "moon"}
    held.gate.write("go")
    assert held.terminal.wait().status == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing"], "no program nothing is registered"),
        (["hello", "--version", "9"], "no program hello version 9 is registered"),
    ],
)
@pytest.mark.parametrize("is_owned", [False, True])
def test_a_program_that_is_not_there_is_one_clear_line(
    desk: Desk, words: list[str], told: str, is_owned: bool, request: pytest.FixtureRequest
) -> None:
    if is_owned:
        request.getfixturevalue("held")
    answer = desk.call("start", *words)
    assert answer.status == 2
    assert answer.is_one_clear_line(), answer.err
    assert told in answer.err
    assert "`anew register FILE`" in answer.err


def test_a_version_is_a_whole_number(desk: Desk) -> None:
    answer = desk.call("start", "hello", "--version", "0")
    assert answer.status == 2
    assert "'0' is not a whole number of at least 1" in answer.err
