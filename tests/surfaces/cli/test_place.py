"""Which database or server a command speaks to, and what it tells of it."""

from __future__ import annotations

import socket
from argparse import Namespace
from pathlib import Path

import pytest

from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.location import place_said, shown_place
from anew.surfaces.cli.tokens import take_token
from tests.surfaces.cli.terminals import HELLO, Desk, a_desk  # noqa: F401

TOKEN = "not-for-anyone-to-see"


@pytest.fixture(name="nobody")
def a_port_nobody_listens_on() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}"


def test_a_database_and_a_server_at_once_are_refused(desk: Desk, nobody: str) -> None:
    told = desk.call("runs", "--db", "x.db", "--server", nobody)
    assert told.status == 2
    assert "argument --server: not allowed with argument --db" in told.err


def test_the_server_of_the_environment_beats_its_database(
    desk: Desk, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO), "--db", "here.db")
    monkeypatch.setenv("ANEW_DB", "here.db")
    assert desk.call("runs").status == 0
    monkeypatch.setenv("ANEW_SERVER", nobody)
    told = desk.call("runs")
    assert (told.status, told.is_one_clear_line()) == (4, True)
    assert nobody in told.err


def test_an_option_beats_the_environment(
    desk: Desk, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO), "--db", "here.db")
    monkeypatch.setenv("ANEW_SERVER", "not an address")
    assert desk.call("runs", "--db", "here.db").status == 0
    told = desk.call("runs", "--server", nobody)
    assert told.status == 4
    assert nobody in told.err


@pytest.mark.parametrize("said", ["ftp://x", "localhost:8700", "http://", "http://a b", "x.db"])
def test_what_is_no_address_of_a_server_is_refused(desk: Desk, said: str) -> None:
    told = desk.call("runs", "--server", said)
    assert told.status == 2
    assert "write http://host:port" in told.err


def test_a_password_in_the_address_of_a_server_is_refused_and_not_repeated(desk: Desk) -> None:
    told = desk.call("runs", "--server", f"http://me:{TOKEN}@host:8700")
    assert told.status == 2
    assert "--token" in told.err
    assert TOKEN not in told.err


@pytest.mark.parametrize(
    "words",
    [
        ["runs"],
        ["show", "last"],
        ["events", "last"],
        ["timeline", "last"],
        ["watch", "last"],
        ["programs"],
        ["credential", "list"],
        ["export", "last", "out"],
        ["graph", "last"],
        ["cancel", "last"],
        ["pause", "last"],
        ["prune", "--older-than", "1d"],
        ["resume", "last"],
        ["retry", "last"],
        ["start", "hello"],
        ["answer", "last", "yes"],
        ["register", "hello.yaml"],
        ["run", "hello.yaml"],
        ["worker"],
        ["worker", "--processes", "2"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_a_server_that_is_away_is_one_clear_line_and_exit_4(
    desk: Desk, nobody: str, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", "")
    desk.write("hello.yaml", HELLO)
    told = desk.call(*words, "--server", nobody, "--token-file", desk.secret(TOKEN))
    assert (told.status, told.is_one_clear_line()) == (4, True), told.err
    assert f"the server {nobody} cannot be reached" in told.err
    assert TOKEN not in told.err


def test_doctor_tells_of_a_server_that_is_away(desk: Desk, nobody: str) -> None:
    told = desk.call("doctor", "--server", nobody)
    assert told.status == 1
    assert "bad  server" in told.out
    assert f"the server {nobody} cannot be reached" in told.out


def test_commands_to_type_name_the_server_they_are_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "`anew resume 7` resumes it"
    monkeypatch.delenv("ANEW_SERVER", raising=False)
    assert hinted(text, "http://a:1") == "`anew resume 7 --server http://a:1` resumes it"
    monkeypatch.setenv("ANEW_SERVER", "http://a:1/")
    assert hinted(text, "http://a:1") == text
    assert hinted(text, "x.db") == "`anew resume 7 --db x.db` resumes it"


@pytest.mark.parametrize("variable", ["", "http://a:1"])
def test_commands_to_type_name_the_token_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Without it the server would refuse them; a database needs none."""
    monkeypatch.setenv("ANEW_SERVER", variable)
    monkeypatch.setenv("ANEW_TOKEN", "")
    file = tmp_path / "my token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    text, server = "`anew resume 7` resumes it", "" if variable else " --server http://a:1"
    take_token(Namespace(token=None, token_file=str(file)))
    assert hinted(text, "http://a:1") == (
        f"`anew resume 7{server} --token-file '{file}'` resumes it"
    )
    assert hinted(text, "x.db") == "`anew resume 7 --db x.db` resumes it"
    assert ("--token-file" in hinted(text, None)) == bool(variable)
    take_token(Namespace(token=None, token_file=None))
    assert hinted(text, "http://a:1") == f"`anew resume 7{server}` resumes it"


def test_the_password_of_a_database_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANEW_DB", raising=False)
    place = "postgresql://me:se/cr@t@host/name?password=secret&x=1"
    assert shown_place(place) == "postgresql://me:…@host/name?password=…&x=1"
    assert "secret" not in hinted("`anew resume 7`", place)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["runs", "--db", "x"], "x"),
        (["runs", "--server=http://a"], "http://a"),
        (["runs", "--db"], None),
        (["runs", "--token", "x"], None),
    ],
)
def test_the_place_is_found_among_the_words_of_a_command(words: list[str], said: str) -> None:
    assert place_said(words) == said


def test_a_worker_cannot_share_a_database_file(desk: Desk) -> None:
    for more in ([], ["--processes", "2"]):
        told = desk.call("worker", "--db", "x.db", *more)
        assert (told.status, told.is_one_clear_line()) == (2, True)
        assert "`anew serve`" in told.err
    assert not (desk.folder / "x.db").exists()


@pytest.mark.parametrize(
    "said",
    ["postgres:/host/name", "postgresql//u:secret@host/n", "sqlite:a.db", "localhost:5432/n"],
)
def test_an_address_with_a_slip_is_refused_before_a_folder_is_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("ANEW_DB", said)
    file = desk.write("hello.yaml", HELLO)
    before = set(desk.folder.iterdir())
    for words in (("runs",), ("run", file), ("prune", "--older-than", "1d")):
        told = desk.call(*words)
        assert (told.status, told.is_one_clear_line()) == (2, True)
        assert "is neither an address nor a path: write `sqlite:///" in told.err
        assert "secret" not in told.err
    assert set(desk.folder.iterdir()) == before


def test_a_file_may_have_a_name_like_an_address(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_DB", "./runs:2030.db")
    assert desk.call("run", desk.write("hello.yaml", HELLO), "--quiet").status == 0
    assert (desk.folder / "runs:2030.db").exists()
