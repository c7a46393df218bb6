"""Someone takes the files of a database away, or lays traps where they will be."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anew.engine.outcome import outcome_of
from anew.errors import ConfigError
from anew.files import NotOurs, make_private_folder, open_private
from anew.runtime import ownership as owning
from anew.runtime.bootstrap import open_engine, open_server_engine
from anew.runtime.commands import CancelRun
from anew.runtime.control_socket import send_command
from anew.runtime.databases import open_database, private_files, scratch_folder
from anew.runtime.ownership import Ownership, is_owned, socket_path
from anew.runtime.programs import read_document
from anew.runtime.run_starts import StartRequest
from anew.store import StoreError, StoreGone
from anew.stores.contract.making import RUN, first, follows, job, paused
from anew.stores.sqlite import SqliteDatabase
from anew.tools.sql.failure import SqlFailure
from anew.tools.sql.request import database_of
from tests.abuse.taking import DEEDS, beside, empty, link, remove, rename, replace
from tests.surfaces.api.processes import PATIENCE_SECONDS, environment, server
from tests.surfaces.api.served import NOOP
from tests.tools.sql_calls import call_of

Deed = Callable[[Path], None]
HELD = "metadata: {name: held}\nworkflow: [{step: only, tool: {kind: gate}}]"


def named(deed: Deed) -> str:
    return deed.__name__


def taken(names: str, *deeds: Deed) -> Any:
    """Each of these files, taken away in each of these ways."""
    cases = [(name, deed) for name in names.split() for deed in deeds or DEEDS]
    return pytest.mark.parametrize(
        ("name", "deed"), cases, ids=lambda one: getattr(one, "__name__", one)
    )


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "anew.db"


@pytest.fixture(autouse=True)
def _gate_is_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"gate"}))


# --- what is not there any more is missed ----------------------------------------------------------


async def refused(work: Any, path: Path) -> None:
    with pytest.raises(StoreGone) as told:
        await work
    assert str(path) in str(told.value)


TAKEN = [
    *[(name, deed) for name in ("database", "log") for deed in DEEDS],
    *[("lock", deed) for deed in (remove, rename, replace, link)],
    *[("folder", rename)],
]


@pytest.mark.parametrize(("name", "deed"), TAKEN, ids=lambda one: getattr(one, "__name__", one))
def test_no_commit_is_acknowledged_that_nobody_would_find(
    database: Path, name: str, deed: Deed
) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            deed(beside(database, name))
            await refused(opened.store.commit(follows(1, paused(2))), database)
            await refused(opened.store.commit(follows(1, paused(2))), database)
            await refused(opened.archive.run(RUN), database)

    asyncio.run(play())


@taken("database log", *DEEDS)
def test_commits_that_arrive_together_are_refused_together(
    database: Path, name: str, deed: Deed
) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            deed(beside(database, name))
            works = [opened.store.commit(follows(1, paused(2))) for _ in range(5)]
            ends = await asyncio.gather(*works, return_exceptions=True)
            assert {type(end) for end in ends} == {StoreGone}

    asyncio.run(play())


@taken("database log index", remove, rename, replace, link)
def test_what_the_owner_reads_of_files_that_are_gone_is_not_told(
    database: Path, name: str, deed: Deed
) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            deed(beside(database, name))
            await refused(opened.archive.run(RUN), beside(database, name))

    asyncio.run(play())


@pytest.mark.parametrize("deed", DEEDS, ids=named)
def test_who_watches_from_another_process_is_told(database: Path, deed: Deed) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            reader = SqliteDatabase.open_read_only(database)
            assert await reader.archive.run(RUN) is not None
            deed(database)
            await refused(reader.archive.run(RUN), database)
            await reader.close()

    with pytest.raises(StoreGone):  # the owner notices at the latest when it closes
        asyncio.run(play())


@taken("database log lock", remove, rename, replace, link)
def test_a_loss_is_noticed_at_the_end_at_the_latest(database: Path, name: str, deed: Deed) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            deed(beside(database, name))

    with pytest.raises(StoreGone, match=str(beside(database, name))):
        asyncio.run(play())


@pytest.mark.parametrize("how", ["all removed", "folder renamed"])
def test_where_all_is_gone_the_database_is_named_and_not_its_lock(database: Path, how: str) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            if how == "all removed":
                gone(database.parent)
            else:
                rename(database.parent)
            with pytest.raises(StoreGone, match=r"^database .* was removed.*restore a backup"):
                await opened.store.commit(follows(1, paused(2)))

    asyncio.run(play())


def test_an_owner_whose_files_are_gone_does_not_touch_those_that_took_their_place(
    database: Path,
) -> None:
    async def play() -> dict[str, bytes]:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            database.rename(f"{database}.old")
            beside(database, "log").rename(f"{database}.old-wal")
            database.write_bytes(b"another database")
            beside(database, "log").write_bytes(b"and its log")
            await refused(opened.store.commit(follows(1, paused(2))), database)
        return {path.name: path.read_bytes() for path in database.parent.iterdir()}

    left = asyncio.run(play())
    assert left["anew.db"] == b"another database"
    assert left["anew.db-wal"] == b"and its log"


def test_a_second_owner_stands_where_the_lock_of_the_first_was_removed(database: Path) -> None:
    """The first is refused, hangs nobody, and leaves the socket of the second where it is."""

    async def play() -> None:
        async with open_engine(str(database)) as one:
            remove(beside(database, "lock"))
            async with open_engine(str(database)) as two:
                await refused(one.programs.register(read_document(NOOP, "a.yaml")), database)
                await one.stop(0)
                assert socket_path(database).is_socket()
                assert await two.programs.register(read_document(NOOP, "a.yaml")) == 1

    asyncio.run(play())


# --- what SQLite itself does to its files is no loss -----------------------------------------------

CUT_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
SHRINK = "VACUUM"


def elsewhere(database: Path, *statements: str) -> None:
    """As with `sqlite3` in another terminal."""
    script = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)\n"
        "for statement in sys.argv[2:]:\n"
        "    db.execute(statement).fetchall()\n"
        "db.close()\n"
    )
    words = [sys.executable, "-c", script, str(database), *statements]
    subprocess.run(words, check=True, timeout=PATIENCE_SECONDS)


def filled(database: Path) -> None:
    """Pages that nobody needs any more, so that there is something to give back."""
    elsewhere(
        database,
        "CREATE TABLE filling (a)",
        "INSERT INTO filling VALUES (zeroblob(1000000))",
        "PRAGMA wal_checkpoint(PASSIVE)",
        "DROP TABLE filling",
    )


def size_of(path: Path) -> int:
    return path.stat().st_size


@pytest.mark.parametrize(
    "statements",
    [[CUT_LOG], [SHRINK, CUT_LOG], [SHRINK, "PRAGMA wal_checkpoint(PASSIVE)"]],
    ids=", ".join,
)
@pytest.mark.parametrize("first_look", ["write", "read", "watch"])
def test_maintenance_from_another_terminal_stops_nobody(
    database: Path, statements: list[str], first_look: str
) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            filled(database)
            reader = SqliteDatabase.open_read_only(database)
            assert await reader.archive.run(RUN) is not None
            assert await opened.archive.run(RUN) is not None
            before = size_of(database), size_of(beside(database, "log"))
            elsewhere(database, *statements)
            after = size_of(database), size_of(beside(database, "log"))
            assert after[0] < before[0] or after[1] < before[1]
            if first_look == "write":
                await opened.store.commit(follows(1, paused(2)))
            asked = reader if first_look == "watch" else opened
            assert await asked.archive.run(RUN) is not None
            if first_look != "write":
                await opened.store.commit(follows(1, paused(2)))
            assert len(await reader.archive.events(RUN)) == len(await opened.archive.events(RUN))
            await reader.close()

    asyncio.run(play())
    elsewhere(database, "PRAGMA integrity_check")


def test_who_looks_only_after_the_next_commits_misses_nothing_either(database: Path) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            filled(database)
            reader = SqliteDatabase.open_read_only(database)
            assert await reader.archive.run(RUN) is not None
            elsewhere(database, SHRINK, CUT_LOG)
            pages = size_of(database)
            # The database grows, so far in its log alone.
            elsewhere(
                database,
                "PRAGMA wal_autocheckpoint = 0",
                "CREATE TABLE growth (a)",
                "INSERT INTO growth VALUES (zeroblob(100000))",
            )
            assert size_of(database) == pages
            assert await reader.archive.run(RUN) is not None
            assert await opened.archive.run(RUN) is not None
            await reader.close()

    asyncio.run(play())


def cut(path: Path) -> None:
    """By hand, and not to nothing."""
    os.truncate(path, size_of(path) // 2 // 4096 * 4096)


@taken("database log", empty, cut)
def test_a_file_that_is_cut_after_maintenance_is_missed(
    database: Path, name: str, deed: Deed
) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))
            elsewhere(database, SHRINK, CUT_LOG)
            await opened.store.commit(follows(1, paused(2)))
            assert await opened.archive.run(RUN) is not None
            deed(beside(database, name))
            await refused(opened.archive.run(RUN), database)

    asyncio.run(play())


# --- an engine stops, and says why -----------------------------------------------------------------


class GateTool:
    def __init__(self) -> None:
        self.entered, self.opened = asyncio.Event(), asyncio.Event()

    async def call(self, call: Any) -> Any:
        call.begins()
        self.entered.set()
        await self.opened.wait()
        return outcome_of({"ok": True})

    async def close(self) -> None:
        pass


ENGINE_CASES = [*TAKEN, ("index", remove), ("index", rename)]


@pytest.mark.parametrize(
    ("name", "deed"), ENGINE_CASES, ids=lambda one: getattr(one, "__name__", one)
)
def test_a_run_does_not_end_in_files_that_are_gone(database: Path, name: str, deed: Deed) -> None:
    async def play() -> None:
        gate = GateTool()
        async with open_engine(str(database), tools={"gate": gate}) as engine:
            run = (await engine.start(StartRequest(read_document(HELD, "held.yaml"), {}))).run
            await gate.entered.wait()
            deed(beside(database, name))
            gate.opened.set()
            ending = await engine.wait(run)
            # Only what SQLite keeps for readers was taken: the run is on disk, and nobody reads it.
            assert name == "index"
            assert ending.is_final
            await engine.database.archive.run(run)

    with pytest.raises(StoreGone):
        asyncio.run(play())


@taken("database log lock folder", rename)
def test_a_server_that_only_waits_notices_by_itself(
    database: Path, name: str, deed: Deed, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with open_server_engine(str(database)) as engine:
            deed(beside(database, name))
            await asyncio.wait_for(asyncio.shield(engine.worker.failure), PATIENCE_SECONDS)

    with pytest.raises(StoreGone):
        asyncio.run(play())


def gone(folder: Path) -> None:
    """As `rm anew.db*` does."""
    for path in folder.glob("anew.db*"):
        if path.is_file():
            path.unlink()


def test_a_command_whose_database_is_removed_does_not_end_well(tmp_path: Path) -> None:
    document = tmp_path / "held.yaml"
    document.write_text(
        "metadata: {name: held}\nworkflow: [{step: only, tool: {kind: shell, command: "
        f"\"touch began; while [ ! -e go ]; do sleep 0.02; done\", cwd: '{tmp_path}'}}}}]\n"
    )
    words = [sys.executable, "-m", "anew"]
    place = ["--db", str(tmp_path / "anew.db")]
    with begun([*words, "run", str(document), *place], tmp_path) as run:
        until((tmp_path / "began").exists, run)
        with begun([*words, "watch", "last", "--json", *place], tmp_path) as watch:
            assert watch.stdout is not None
            json.loads(watch.stdout.readline())  # it has the file open
            gone(tmp_path)
            (tmp_path / "go").touch()
            for process in (run, watch):
                out, errors = process.communicate(timeout=PATIENCE_SECONDS)
                assert (process.returncode, "was removed" in errors) == (4, True), (out, errors)
                assert "restore a backup" in errors
                assert "the lock" not in errors  # whoever starts again would find nothing
                assert "Traceback" not in errors
                assert "Done" not in out
    assert not (tmp_path / "anew.db").exists()


@contextmanager
def begun(words: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)


def until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    from tests.crash.kit import soon

    soon(lambda: holds() or process.poll() is not None, "the call to start")
    assert process.poll() is None, process.communicate()


@pytest.mark.parametrize("asks", ["start", "ready", "list"])
def test_a_server_whose_database_is_removed_says_so_and_stops(tmp_path: Path, asks: str) -> None:
    with server(tmp_path) as site, site.client() as client:
        assert client.get("/readyz").status_code == 200
        gone(tmp_path)
        match asks:
            case "start":
                answer = client.post("/api/v1/runs", json={"document": NOOP})
            case "ready":
                answer = client.get("/readyz")
            case _:
                answer = client.get("/api/v1/runs")
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
        out, errors = site.process.communicate(timeout=PATIENCE_SECONDS)
        assert site.process.returncode == 4, (out, errors)
        assert "was removed" in errors
        assert "Traceback" not in errors


# --- nobody else reads them, and no trap is walked into --------------------------------------------


@contextmanager
def umask(number: int) -> Iterator[None]:
    before = os.umask(number)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("mask", [0, 0o022, 0o027, 0o077, 0o177, 0o277], ids=oct)
def test_files_are_for_their_user_alone_whatever_the_umask(database: Path, mask: int) -> None:
    database.parent.mkdir()

    async def play() -> dict[str, int]:
        async with open_engine(str(database)) as engine:
            await engine.programs.register(read_document(NOOP, "a.yaml"))
            return {path.name: mode_of(path) for path in database.parent.iterdir()}

    with umask(mask):
        modes = asyncio.run(play())
    assert modes.keys() >= {"anew.db", "anew.db-wal", "anew.db-shm", "anew.db.lock", "anew.db.sock"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o666, 0o604, 0o700], ids=oct)
def test_files_that_an_earlier_version_left_open_are_taken_from_others(
    database: Path, mode: int
) -> None:
    async def play() -> dict[str, int]:
        async with open_engine(str(database)) as engine:
            await engine.programs.register(read_document(NOOP, "a.yaml"))
            return {path.name: mode_of(path) for path in database.parent.iterdir()}

    asyncio.run(play())
    for name in ("database", "lock"):
        beside(database, name).chmod(mode)
    modes = asyncio.run(play())
    assert modes.keys() >= {"anew.db", "anew.db-wal", "anew.db-shm", "anew.db.lock"}
    assert not [name for name, found in modes.items() if found & 0o077]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", ".lock"])
def test_it_is_said_that_a_file_cannot_be_taken_from_others(
    database: Path,
    suffix: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    database.parent.mkdir()
    path = Path(f"{database}{suffix}")
    path.touch(mode=0o644)
    path.chmod(0o644)
    monkeypatch.setattr("os.chmod", refuses_permission)

    async def play() -> None:
        async with open_database(str(database)):
            pass

    asyncio.run(play())
    assert f"others may use {path}, and that cannot be changed (operation not" in caplog.text


def refuses_permission(*_: Any) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("suffix", ["", ".lock"])
def test_the_mode_of_a_file_of_another_user_is_theirs(
    database: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.parent.mkdir()
    path = Path(f"{database}{suffix}")
    path.touch()
    path.chmod(0o644)
    user = os.getuid()
    monkeypatch.setattr("anew.files.os.getuid", lambda: user + 1)
    with Ownership(database):
        asyncio.run(SqliteDatabase.open(database).close())
    assert mode_of(path) == 0o644


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal", ".lock", ".sock", ".token"])
def test_no_task_in_a_sandbox_sees_a_file_of_the_database(database: Path, end: str) -> None:
    assert Path(f"{database}{end}") in private_files(str(database))


def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim.txt"
    path.write_text("precious")
    return path


def symbolic(trap: Path, victim: Path) -> None:
    trap.symlink_to(victim)


def dangling(trap: Path, victim: Path) -> None:
    trap.symlink_to(victim.with_name("not-there"))


def hard(trap: Path, victim: Path) -> None:
    os.link(victim, trap)


def pipe(trap: Path, victim: Path) -> None:
    os.mkfifo(trap)


def folder(trap: Path, victim: Path) -> None:
    trap.mkdir()


TRAPS = (symbolic, dangling, hard, pipe, folder)


@pytest.mark.parametrize("suffix", [".lock", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("trap", TRAPS, ids=lambda one: one.__name__)
def test_a_trap_where_a_file_will_be_is_refused(
    tmp_path: Path, suffix: str, trap: Callable[[Path, Path], None]
) -> None:
    precious = victim(tmp_path)
    database = tmp_path / "anew.db"
    trap(Path(f"{database}{suffix}"), precious)

    async def play() -> None:
        async with open_database(str(database)):
            pass

    with pytest.raises(StoreError, match=f"anew.db{suffix}"):
        asyncio.run(play())
    assert precious.read_text() == "precious"
    assert not (tmp_path / "not-there").exists()
    assert not is_owned(database)


@pytest.mark.parametrize("trap", TRAPS, ids=lambda one: one.__name__)
def test_a_private_file_is_not_made_through_a_trap(
    tmp_path: Path, trap: Callable[[Path, Path], None]
) -> None:
    precious = victim(tmp_path)
    trap(tmp_path / "trap", precious)
    with pytest.raises(NotOurs):
        open_private(tmp_path / "trap")
    assert precious.read_text() == "precious"


def test_a_database_that_is_a_link_of_its_user_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "anew.db").symlink_to(tmp_path / "elsewhere" / "true.db")

    async def play() -> None:
        async with open_database(str(tmp_path / "anew.db")) as opened:
            await opened.store.commit(first(jobs=[job()]))

    asyncio.run(play())
    assert mode_of(tmp_path / "elsewhere" / "true.db") == 0o600
    assert (tmp_path / "elsewhere" / "true.db.lock").is_file()


def test_a_database_that_is_a_link_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = victim(tmp_path)
    (tmp_path / "anew.db").symlink_to(precious)
    user = os.getuid()
    monkeypatch.setattr("anew.stores.sqlite.files.os.getuid", lambda: user + 1)
    os.lchown(tmp_path / "anew.db", user + 2, -1) if user == 0 else None
    with pytest.raises(StoreError, match="another user"):
        SqliteDatabase.open(tmp_path / "anew.db")
    assert precious.read_text() == "precious"


def listening(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    one.bind(str(path))
    one.listen()
    return one


@pytest.mark.parametrize(
    "trap", [symbolic, dangling, hard, pipe, folder], ids=lambda one: one.__name__
)
def test_an_owner_does_not_listen_in_place_of_what_is_no_socket(
    tmp_path: Path, trap: Callable[[Path, Path], None]
) -> None:
    precious, database = victim(tmp_path), tmp_path / "anew.db"
    trap(socket_path(database), precious)

    async def play() -> None:
        async with open_engine(str(database)):
            pass

    with pytest.raises(ConfigError, match="not a socket"):
        asyncio.run(play())
    assert precious.read_text() == "precious"
    assert os.path.lexists(socket_path(database))


def test_an_order_is_not_given_to_the_socket_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "anew.db"
    database.touch()
    user = os.getuid()
    with listening(socket_path(database)) as planted:
        planted.setblocking(False)

        class Other:
            st_mode, st_uid = stat.S_IFSOCK, user + 1

        monkeypatch.setattr(type(socket_path(database)), "lstat", lambda self: Other)
        with pytest.raises(ConfigError, match="another user"):
            asyncio.run(send_command(database, CancelRun(run="1")))
        with pytest.raises(BlockingIOError):  # nobody came
            planted.accept()


def opened_up(path: Path) -> None:
    path.mkdir(mode=0o755)
    path.chmod(0o755)


def group_only(path: Path) -> None:
    path.mkdir()
    path.chmod(0o770)


def plain(path: Path) -> None:
    path.touch()


def linked(path: Path) -> None:
    path.with_name("other").mkdir(mode=0o700)
    path.symlink_to(path.with_name("other"))


def lost_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


FOLDERS = (opened_up, group_only, plain, linked, lost_link)


@pytest.mark.parametrize("plant", FOLDERS, ids=lambda one: one.__name__)
def test_a_private_folder_that_others_planted_is_refused(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    plant(tmp_path / "private")
    with pytest.raises(NotOurs, match="private"):
        make_private_folder(tmp_path / "private")


@pytest.mark.parametrize("plant", FOLDERS, ids=lambda one: one.__name__)
def test_files_of_runs_are_not_kept_in_a_folder_that_others_planted(
    tmp_path: Path, plant: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANEW_SCRATCH", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    plant(tmp_path / f"anew-scratch-{os.getuid()}")
    with pytest.raises(ConfigError, match="ANEW_SCRATCH"):
        scratch_folder("postgresql://db.example/anew")


@pytest.mark.parametrize("plant", FOLDERS, ids=lambda one: one.__name__)
def test_no_socket_is_made_in_a_folder_that_others_planted(
    tmp_path: Path, plant: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(type(tmp_path)):  # type: ignore[misc]
        def __new__(cls, *words: Any) -> Any:
            return tmp_path if words == ("/tmp",) else Path(*words)

    monkeypatch.setattr(owning, "Path", Elsewhere)
    plant(tmp_path / f"anew-{os.getuid()}")
    with pytest.raises(ConfigError, match="of your own"):
        owning._private_folder()


def test_whoever_looks_at_a_lock_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "anew.db.lock")
    assert not is_owned(tmp_path / "anew.db")


def test_a_lock_tells_the_next_owner_whether_the_last_one_died(tmp_path: Path) -> None:
    database = tmp_path / "anew.db"
    database.touch()
    with Ownership(database) as first_owner:
        assert first_owner.leases_are_void  # nobody knows
        first_owner.settle()
    with Ownership(database) as second:
        assert not second.leases_are_void
    beside(database, "lock").write_text("4711")  # as one leaves it that is killed
    with Ownership(database) as third:
        assert third.leases_are_void
    with Ownership(database) as fourth:  # the third did not deal with it
        assert fourth.leases_are_void


def test_the_first_owner_of_a_new_database_leaves_an_empty_lock(database: Path) -> None:
    async def play() -> None:
        async with open_database(str(database)) as opened:
            await opened.store.commit(first(jobs=[job()]))

    asyncio.run(play())
    assert beside(database, "lock").read_text() == ""
    with Ownership(database) as second:
        assert not second.leases_are_void


def full(*_: Any) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("fails", ["at once", "half way"])
@pytest.mark.parametrize("left", ["a lock", "no lock"])
def test_a_full_disk_does_not_make_the_death_of_an_owner_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, left: str
) -> None:
    database = tmp_path / "anew.db"
    database.touch()
    if left == "a lock":
        beside(database, "lock").write_text("4711")
    with monkeypatch.context() as disk:
        disk.setattr("os.pwrite", full if fails == "at once" else lambda *_: 1)
        with pytest.raises(StoreError, match=r"anew\.db\.lock cannot be written \(no space left"):
            Ownership(database)
    assert not is_owned(database)
    with Ownership(database) as next_owner:
        assert next_owner.leases_are_void


def test_a_full_disk_at_the_end_leaves_the_lock_as_of_an_owner_that_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "anew.db"
    database.touch()
    with monkeypatch.context() as disk, Ownership(database):
        disk.setattr("os.pwrite", full)
    assert not is_owned(database)
    with Ownership(database) as next_owner:
        assert next_owner.leases_are_void


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("mask", [0, 0o022], ids=oct)
def test_the_file_that_a_run_works_on_is_for_its_user_alone(
    database: Path, kind: str, mask: int
) -> None:
    document = f"metadata: {{name: a}}\nworkflow: [{{step: s, tool: {{kind: {kind}, command: create table t(a int)}}}}]"

    async def play() -> list[Path]:
        async with open_engine(str(database)) as engine:
            run = (await engine.start(StartRequest(read_document(document, "a.yaml"), {}))).run
            assert (await engine.wait(run)).status.value == "done"
            return list((scratch_folder(str(database)) / str(run)).iterdir())

    with umask(mask):
        (made,) = asyncio.run(play())
    assert mode_of(made) == 0o600
    assert mode_of(made.parent) == mode_of(made.parent.parent) == 0o700


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("trap", [symbolic, dangling, hard], ids=lambda one: one.__name__)
def test_a_run_does_not_work_on_a_file_behind_a_trap(
    tmp_path: Path, kind: str, trap: Callable[[Path, Path], None]
) -> None:
    precious = victim(tmp_path)
    (tmp_path / "scratch").mkdir()
    trap(tmp_path / "scratch" / f"{kind}.db", precious)
    with pytest.raises(SqlFailure, match="cannot be made"):
        database_of(call_of(tmp_path, kind, command="create table t(a int)"), f"{kind}.db")
    assert precious.read_text() == "precious"


def test_a_scratch_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "anew.db.scratch").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="is a link"):
        scratch_folder(str(tmp_path / "anew.db"))
