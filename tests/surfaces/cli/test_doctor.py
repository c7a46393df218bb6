"""`anew doctor`: what is well, and what to do about what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from anew.program.kinds import KINDS
from anew.surfaces.web.files import is_built
from tests.surfaces.cli.terminals import HELLO, Desk, Held, a_desk, a_held_run  # noqa: F401


def test_everything_is_well_before_the_first_run_and_nothing_is_made(desk: Desk) -> None:
    told = desk.call("doctor")
    assert (told.status, told.err) == (0, "")
    assert all(line.startswith("ok ") for line in told.out.splitlines())
    assert "none yet; the first run creates it" in told.out
    assert "none yet; the first credential creates it" in told.out
    assert list(desk.folder.iterdir()) == []


def test_it_names_every_tool(desk: Desk) -> None:
    told = desk.call("doctor").out
    assert [
        kind.name for kind in KINDS.values() if kind.tool and f"tool {kind.name}" not in told
    ] == []


def test_it_counts_unfinished_runs_and_sees_who_has_the_database(desk: Desk, held: Held) -> None:
    told = desk.call("doctor").out
    assert "1 unfinished run," in told
    assert "in use by a running anew" in told
    held.terminal.stop()
    assert "not in use" in desk.call("doctor").out


def test_a_database_that_cannot_be_used_has_a_remedy(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    Path("other.db").write_text("not a database, but long enough to be looked at " * 40)
    told = desk.call("doctor", "--db", "other.db")
    assert (told.status, told.err) == (1, "")
    assert "bad  database" in told.out
    assert "Name another file." in told.out


def test_files_that_others_may_use_have_a_remedy(desk: Desk) -> None:
    desk.call("run", desk.write("hello.yaml", HELLO))
    assert "ok   files        for their user alone" in desk.call("doctor").out
    database = desk.folder / ".anew" / "anew.db"
    database.chmod(0o644)
    told = desk.call("doctor")
    assert told.status == 1
    assert "bad  files" in told.out
    assert f"chmod 600 {database}" in told.out
    desk.call("run", desk.write("hello.yaml", HELLO))
    assert desk.call("doctor").status == 0


def test_a_key_that_cannot_be_used_has_a_remedy(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_KEY", "short")
    told = desk.call("doctor")
    assert told.status == 1
    assert "bad  key" in told.out
    assert "short" not in told.out


def test_a_page_that_was_not_built_has_a_command_and_is_no_fault(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.surfaces.web.files.is_built", lambda: is_built(desk.folder))
    told = desk.call("doctor")
    assert "ok   page         not built; `make web` in this checkout builds it" in told.out
    assert told.status == 0
    (desk.folder / "index.html").touch()
    assert "ok   page         there" in desk.call("doctor").out
