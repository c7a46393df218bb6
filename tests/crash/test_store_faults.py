"""A disk that is full, a place that cannot be written, a file that is not what it should be.

Each is one clear line and exit status 4, and nothing is lost that was there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.kit import KEY, Ended, Forkers, World, outcome_of
from tests.crash.scenarios import FAILURE, FAN_OUT, LINEAR, Scenario

QUICK = "metadata: {name: quick}\nworkflow: [{step: s, tool: {kind: effect, result: 1}}]"
READING = (["runs"], ["show", "last"], ["events", "last"], ["timeline", "last"])
WORKING = (["run", "quick.yaml"], ["resume"], ["cancel", "last"])


def clear(ended: Ended, *words: str) -> None:
    """Exit status 4, told in words and not in a traceback."""
    assert ended.status == 4, ended
    first, *more = ended.err.splitlines()
    assert first.startswith("anew: "), ended.err
    assert all(line.startswith("anew: then `anew resume") for line in more), ended.err
    for word in words:
        assert word in first


def started(world: World, scenario: Scenario) -> list[str]:
    document = world.write(f"{scenario.name}.yaml", scenario.document)
    return ["run", document, "--key", KEY]


# --- full ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", [FAN_OUT, FAILURE], ids=lambda scenario: scenario.name)
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_space(
    folder: Path, forkers: Forkers, scenario: Scenario
) -> None:
    calm = World(folder / "calm", forkers)
    calm.anew(*started(calm, scenario))
    expected = outcome_of(calm.read())
    fullness = 0
    for writes in range(1, 200, 13):
        world = World(folder / str(writes), forkers)
        start = started(world, scenario)
        ended = world.anew(*start, disk_writes=writes)
        if ended.status in (0, 1):
            break
        clear(ended, "the disk is full", "Free some space")
        fullness += 1
        world.kills += 1
        found = world.bring_to_end(*start)
        assert world.complaints(found, scenario.attempts) == [], f"after {writes} writes"
        assert outcome_of(found) == expected
    assert fullness >= 3


@pytest.mark.daily
def test_a_file_that_may_not_grow_is_told_and_the_run_goes_on_when_it_may(world: World) -> None:
    """The limit of the operating system, which needs no stand-in for a disk."""
    large = world.write(
        "large.yaml",
        """
metadata: {name: large}
workflow:
  - step: many
    loop: {in: "{{ range(30) | list }}", iterator: n}
    tool: {kind: effect, result: "{{ 'x' * 20000 }}"}
""",
    )
    start = ["run", large, "--key", KEY, "--quiet"]
    clear(world.anew(*start, file_bytes=300_000), "anew.db")
    before = len(world.effects())
    assert 0 < before < 30
    world.kills += 1
    found = world.bring_to_end(*start)
    assert [row["status"] for row in found["runs"]] == ["done"]
    assert world.complaints(found, {}) == []
    assert 30 <= len(world.effects()) <= 31


# --- closed ----------------------------------------------------------------------------------


def locked(world: World) -> Path:
    """A folder for the database in which nobody but root can write."""
    folder = world.folder / "locked"
    folder.mkdir()
    world.db = folder / "anew.db"
    return folder


@pytest.mark.daily
def test_a_folder_that_cannot_be_written_is_told(world: World) -> None:
    world.write("quick.yaml", QUICK)
    folder = locked(world)
    folder.chmod(0o555)
    clear(world.anew("run", "quick.yaml", is_humble=True), str(folder), "--db")
    assert world.effects() == []


@pytest.mark.daily
def test_a_database_that_cannot_be_written_is_told_and_stays_as_it_is(world: World) -> None:
    world.write("quick.yaml", QUICK)
    folder = locked(world)
    assert world.anew("run", "quick.yaml").status == 0
    before = world.db.read_bytes()
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    clear(world.anew("run", "quick.yaml", is_humble=True), str(folder))
    folder.chmod(0o755)
    assert world.db.read_bytes() == before
    assert len(world.effects()) == 1


@pytest.mark.parametrize(
    "place", ["a file/anew.db", "a folder", "/proc/anew.db", "/proc/x/anew.db"]
)
@pytest.mark.parametrize("words", WORKING, ids=lambda words: words[0])
def test_a_place_where_no_database_can_be_is_told(
    world: World, place: str, words: list[str]
) -> None:
    world.write("quick.yaml", QUICK)
    world.write("a file", "")
    (world.folder / "a folder").mkdir()
    world.db = world.folder / place
    clear(world.anew(*words))


# --- not ours --------------------------------------------------------------------------------


def damaged_header(db: Path) -> None:
    db.write_bytes(b"not a database, but long enough to be one" * 200)


def foreign(db: Path) -> None:
    db.unlink()
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("PRAGMA application_id = 77")
    connection.close()


def foreign_without_id(db: Path) -> None:
    db.unlink()
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE runs (x)")
    connection.close()


def newer(db: Path) -> None:
    with sqlite3.connect(db) as connection:
        connection.execute("INSERT INTO migrations VALUES (99, '0099_later', 'x', 0)")
    connection.close()


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (damaged_header, "not a SQLite database"),
        (foreign, "belongs to another program"),
        (foreign_without_id, "belongs to another program"),
        (newer, "Upgrade Anew"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_file_that_is_not_ours_to_use_is_refused_and_left_alone(
    world: World, harm: Callable[[Path], None], told: str
) -> None:
    world.write("quick.yaml", QUICK)
    assert world.anew("run", "quick.yaml").status == 0
    harm(world.db)
    before = world.db.read_bytes()
    for words in (*WORKING, *READING):
        clear(world.anew(*words), told)
    assert world.db.read_bytes() == before
    assert len(world.effects()) == 1


# --- damaged ---------------------------------------------------------------------------------


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def zeroed(data: bytes) -> bytes:
    return data[:4096] + b"\0" * (len(data) - 4096)


def scrambled(data: bytes) -> bytes:
    return data[:4096] + bytes(byte ^ 0x5A for byte in data[4096:])


def scrambled_words(data: bytes) -> bytes:
    """The pages are whole, and what is written on them is not."""
    return data.replace(b'"task_visit"', b'"task_vi\x00\xff}')


@pytest.mark.parametrize("harm", [truncated, zeroed, scrambled, scrambled_words])
@pytest.mark.daily
def test_a_damaged_file_is_told_and_never_taken_for_the_truth(
    world: World, harm: Callable[[bytes], bytes]
) -> None:
    world.write("quick.yaml", QUICK)
    assert world.anew("run", "quick.yaml").status == 0
    whole = world.db.read_bytes()
    world.db.write_bytes(harm(whole))
    assert world.db.read_bytes() != whole
    for words in READING[2:]:
        clear(world.anew(*words), "damaged")
    for words in (*WORKING, *READING):
        ended = world.anew(*words)
        assert ended.status in (0, 2, 4), ended


NEWEST = "run = (SELECT max(run) FROM runs)"
NEWEST_LOG = "(SELECT max(log) FROM runs)"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (f"DELETE FROM events WHERE id = 2 + {NEWEST_LOG}", "damaged at event 2: it is missing"),
        (f"UPDATE events SET data = CAST(x'7bff7d' AS TEXT) WHERE id > {NEWEST_LOG}", "damaged"),
        (f"UPDATE events SET data = '{{' WHERE id > {NEWEST_LOG}", "damaged"),
        (f"UPDATE runs SET status = 'sleepy' WHERE {NEWEST}", "sleepy"),
    ],
    ids=["an event is gone", "text is not text", "JSON is not valid JSON", "a word is unknown"],
)
def test_rows_that_nobody_can_have_written_are_told(
    world: World, statement: str, told: str
) -> None:
    assert world.killed_at(8, *started(world, LINEAR)).was_killed
    before = world.effects()
    with sqlite3.connect(world.db) as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()
    for words in (["show", "last"], ["events", "last"], ["resume", "last"], ["cancel", "last"]):
        clear(world.anew(*words), told)
    assert world.effects() == before


@pytest.mark.daily
def test_the_torn_end_of_a_log_file_is_not_read(world: World) -> None:
    """What a power cut leaves of a write that was not finished."""
    start = started(world, LINEAR)
    world.killed_at(9, *start)
    log = world.db.with_name("anew.db-wal")
    whole = log.read_bytes()
    log.write_bytes(whole + whole[-4120:-1000])
    found = world.bring_to_end(*start)
    assert [row["status"] for row in found["runs"]] == ["done"]
    assert world.complaints(found, {}) == []


@pytest.mark.daily
def test_an_empty_file_becomes_a_database(world: World) -> None:
    world.write("quick.yaml", QUICK)
    world.db.touch()
    ended = world.anew("runs")
    clear(ended, "holds nothing yet")
    assert world.anew("run", "quick.yaml").status == 0
