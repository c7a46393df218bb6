"""`anew credential`, over a real database file."""

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from anew.surfaces.cli import documents, status
from anew.surfaces.cli.main import main

PASSWORD = "swordfish-of-production"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch):
    """An empty home folder, and the working directory in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANEW_KEY", "ANEW_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    said = {"type": "postgres", "data": {"host": "db.example", "password": PASSWORD}}
    (tmp_path / "pg.json").write_text(json.dumps(said))
    return tmp_path


def add(*words):
    return main(["credential", "add", "pg", "--file", "pg.json", *words])


def listed(capsys):
    capsys.readouterr()
    assert main(["credential", "list", "--json"]) == status.DONE
    return json.loads(capsys.readouterr().out)


def test_what_is_added_is_listed_and_can_be_removed(capsys):
    assert add() == status.DONE
    assert "pg (postgres) is sealed" in capsys.readouterr().out
    assert listed(capsys) == [{"name": "pg", "type": "postgres", "from": "store"}]
    assert main(["credential", "remove", "pg"]) == status.DONE
    assert listed(capsys) == []


def test_nothing_in_the_folder_holds_the_value(place: Path):
    add()
    kept = [path for path in place.rglob("*") if path.is_file() and path.name != "pg.json"]
    assert any(path.name == "anew.db" for path in kept)
    assert not any(PASSWORD.encode() in path.read_bytes() for path in kept)


def test_no_command_prints_the_value(capsys):
    add()
    main(["credential", "list"])
    main(["credential", "list", "--json"])
    said = capsys.readouterr()
    assert PASSWORD not in said.out + said.err


def test_a_second_add_replaces_the_first(place: Path, capsys):
    add()
    (place / "pg.json").write_text('{"type": "mysql", "data": "another value"}')
    add()
    assert listed(capsys) == [{"name": "pg", "type": "mysql", "from": "store"}]


def test_standard_input_is_read(monkeypatch, capsys):
    monkeypatch.setattr(documents, "_READ", [])
    text = '{"type": "bearer", "data": "some token"}'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["credential", "add", "gh", "--file", "-"]) == status.DONE
    assert [row["name"] for row in listed(capsys)] == ["gh"]


def test_the_environment_is_listed_beside_the_store(monkeypatch, capsys):
    monkeypatch.setenv("ANEW_CREDENTIAL_MY_PG", '{"type": "bearer", "data": "some token"}')
    monkeypatch.setenv("ANEW_CREDENTIAL_BAD", "some token")
    assert listed(capsys) == [{"name": "my_pg", "type": "bearer", "from": "$ANEW_CREDENTIAL_MY_PG"}]


def test_a_list_without_a_database_makes_none(place: Path, capsys):
    assert main(["credential", "list"]) == status.DONE
    assert "anew credential add" in capsys.readouterr().out
    assert not (place / ".anew").exists()


def test_short_values_are_taken_with_a_warning(place: Path, capsys):
    (place / "pg.json").write_text('{"type": "x", "data": {"pin": "1234", "port": "5432"}}')
    assert add() == status.DONE
    err = capsys.readouterr().err
    assert "pg.pin has fewer than 6 characters" in err
    assert "port" not in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["remove", "pgg"], "Did you mean 'pg'?"),
        (["add", "a b", "--file", "pg.json"], "cannot be the name"),
        (["add", "pg", "--file", "no.json"], "there is no such file"),
        (["add", "pg"], "--file"),
        ([], "ACTION"),
    ],
)
def test_mistakes_are_explained(words, why, capsys):
    add()
    assert main(["credential", *words]) == status.BAD
    assert why in capsys.readouterr().err


def test_a_key_others_can_read_is_not_used(place: Path, capsys):
    add()
    (place / ".config/anew/key").chmod(0o644)
    assert add() == status.BAD
    assert "chmod 600" in capsys.readouterr().err


def test_another_database_is_another_store(place: Path, capsys):
    add("--db", "sqlite:///other.db")
    assert listed(capsys) == []
    with closing(sqlite3.connect(place / "other.db")) as database:
        assert database.execute("PRAGMA quick_check").fetchone() == ("ok",)
