"""A damaged run is shown as such, and can be exported, forked and dropped; nobody else notices."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from anew.surfaces.cli.main import main
from tests.abuse.one_server import Target, one_server
from tests.surfaces.api.served import ASKS, CHAIN, WAITS

# How many events a finished run of CHAIN has, and which of them breaks.
EVENTS, AT = 15, 9
SET = "UPDATE events SET {0} WHERE id = (SELECT log FROM runs WHERE run = ?1) + ?2"
DAMAGES: dict[str, tuple[int, str]] = {
    "no JSON": (AT, SET.format("data = '{'")),
    "no data": (AT, SET.format("data = ''")),
    "a list": (AT, SET.format("data = '[]'")),
    "nothing": (AT, SET.format("data = 'null'")),
    "bytes that are not text": (AT, SET.format("data = CAST(x'7bff7d' AS TEXT)")),
    "a name that is not text": (AT, SET.format("name = CAST(x'ff' AS TEXT)")),
    "brackets without end": (AT, SET.format("data = replace(hex(zeroblob(40000)), '0', '[')")),
    "an event nobody knows": (AT, SET.format("name = 'task.vanished'")),
    "a field of another kind": (AT, SET.format("""data = '{"visit":"one"}'""")),
    "values apart that are gone": (AT, SET.format("""replaced = '[[["args"],"abc"]]'""")),
    "values apart that are no JSON": (AT, SET.format("replaced = '{'")),
    "an event that does not follow": (
        AT,
        SET.format("name = 'run.started', data = '{\"entry\":\"x\"}'"),
    ),
    "a step that is not there": (
        AT,
        SET.format('name = \'step.started\', data = \'{"step":"no","visit":7}\''),
    ),
    "an event that is gone": (
        AT,
        "DELETE FROM events WHERE id = (SELECT log FROM runs WHERE run = ?1) + ?2",
    ),
    "the first event": (1, SET.format("data = '{'")),
    "the first event is gone": (
        1,
        "DELETE FROM events WHERE id = (SELECT log FROM runs WHERE run = ?1) + ?2",
    ),
    "the second event": (2, SET.format("data = '{'")),
    "the last event": (EVENTS, SET.format("data = '{'")),
}
# What of a damaged run is refused in words: there is nothing to be said that would be true.
REFUSED = "picture timeline graph explanation attempts scenario".split()
# What does not read logs, or leaves out the damaged.
UNAFFECTED = (
    "/api/v1/runs",
    "/api/v1/runs?status=done",
    "/api/v1/runs/facets",
    "/api/v1/runs/points",
    "/api/v1/questions",
    "/api/v1/failures",
    "/api/v1/workers",
    "/api/v1/programs",
    "/readyz",
    "/metrics",
)


class Victims:
    """A server on a file, and one damaged run of each kind beside a sound one."""

    def __init__(self, target: Target, file: Path) -> None:
        self.target = target
        self.file = file
        self.sound = self.finished()
        self.runs = {name: self.damaged(name) for name in DAMAGES}

    def finished(self) -> str:
        site = self.target.site
        run = self.target.do(site.started(CHAIN))
        ended = self.target.do(site.ended(run))
        assert (ended["status"], ended["events"]) == ("done", EVENTS)
        return run

    def damaged(self, name: str) -> str:
        run = self.finished()
        seq, statement = DAMAGES[name]
        self.write(statement, int(run), seq)
        return run

    def write(self, statement: str, *values: object) -> None:
        """As a bad disk would, past the owner of the file."""
        # With the library of the owner: two of them in one process undo each other's locks.
        with closing(apsw.Connection(str(self.file))) as connection:
            connection.execute(statement, values)
            assert connection.changes() == 1

    def get(self, path: str, status: int = 200) -> Any:
        answer = self.target.client.get(path)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:500])
        is_json = answer.headers.get("content-type", "").endswith("json")
        return answer.json() if is_json else answer.text


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victims]:
    folder = tmp_path_factory.mktemp("server")
    with one_server(folder) as target:
        yield Victims(target, folder / "anew.db")


@pytest.mark.parametrize("name", DAMAGES)
def test_it_is_shown_as_damaged_with_what_comes_before(victims: Victims, name: str) -> None:
    seq, run = DAMAGES[name][0], victims.runs[name]
    shown = victims.get(f"/api/v1/runs/{run}")
    assert (shown["run"], shown["program"], shown["status"]) == (run, "chain", "done")
    assert shown["damage"]["event"] == seq
    assert shown["damage"]["reason"]
    assert shown["events"] == seq - 1


@pytest.mark.parametrize("name", DAMAGES)
def test_a_list_names_it_once_it_is_known(victims: Victims, name: str) -> None:
    run = victims.runs[name]
    victims.get(f"/api/v1/runs/{run}")
    listed = {row["run"]: row for row in victims.get("/api/v1/runs?limit=100")["runs"]}
    assert listed[run]["damage"]["event"] == DAMAGES[name][0]
    assert "damage" not in listed[victims.sound]


@pytest.mark.parametrize("name", DAMAGES)
def test_its_log_is_told_up_to_the_damage(victims: Victims, name: str) -> None:
    seq, run = DAMAGES[name][0], victims.runs[name]
    path, after, told = f"/api/v1/runs/{run}/events", 0, []
    while after < seq - 1:
        page = victims.get(f"{path}?after={after}")
        told += [event["seq"] for event in page["events"]]
        after = page["next"] or len(told)
        if page["next"] is None:
            break
    assert told[: seq - 1] == list(range(1, seq))
    if "follow" in name or "not there" in name:
        return  # each event can be read; only together they make no sense
    problem = victims.get(f"{path}?after={seq - 1}", 409)
    assert problem["type"] == "urn:anew:problem:damaged-run"
    assert (problem["run"], problem["event"]) == (run, seq)


@pytest.mark.parametrize("view", REFUSED)
@pytest.mark.parametrize("name", ["no JSON", "an event that is gone", "the first event"])
def test_what_needs_the_whole_log_says_why_not(victims: Victims, name: str, view: str) -> None:
    problem = victims.get(f"/api/v1/runs/{victims.runs[name]}/{view}", 409)
    assert problem["type"] == "urn:anew:problem:damaged-run"
    assert f"damaged at event {DAMAGES[name][0]}" in problem["detail"]


def test_its_picture_can_be_seen_before_the_damage(victims: Victims) -> None:
    for name, (seq, _) in DAMAGES.items():
        if seq == AT:
            run = victims.runs[name]
            assert victims.get(f"/api/v1/runs/{run}/picture?at={AT - 1}")["at"] == AT - 1


@pytest.mark.parametrize("path", UNAFFECTED)
def test_what_is_not_about_it_is_unaffected(victims: Victims, path: str) -> None:
    victims.get(path)


@pytest.mark.parametrize("view", ["", "/picture", "/timeline", "/graph", "/events"])
def test_a_sound_run_beside_it_is_unaffected(victims: Victims, view: str) -> None:
    victims.get(f"/api/v1/runs/{victims.sound}{view}")


@pytest.mark.parametrize("name", [name for name, (seq, _) in DAMAGES.items() if seq == AT])
def test_it_can_be_forked_before_the_damage(victims: Victims, name: str) -> None:
    run = victims.runs[name]
    client, path = victims.target.client, f"/api/v1/runs/{run}/fork"
    answer = client.post(path, json={"at": AT - 1})
    assert answer.status_code == 201, answer.text
    ended = victims.target.do(victims.target.site.ended(answer.json()["run"]))
    assert ended["status"] == "done"
    assert client.post(path, json={"at": AT}).status_code == 409
    assert client.post(path, json={}).status_code == 409


@pytest.mark.parametrize("name", DAMAGES)
def test_it_can_be_dropped(victims: Victims, name: str) -> None:
    run, client = victims.damaged(name), victims.target.client
    assert client.delete(f"/api/v1/runs/{run}").status_code == 204
    victims.get(f"/api/v1/runs/{run}", 404)
    assert run not in {row["run"] for row in victims.get("/api/v1/runs?limit=100")["runs"]}
    assert client.delete(f"/api/v1/runs/{run}").status_code == 404


# --- one that has not ended ----------------------------------------------------------------------


def waiting(victims: Victims, document: str) -> str:
    """A run that waits for someone, and whose log breaks meanwhile."""
    site = victims.target.site
    run = victims.target.do(site.started(document))
    shown = victims.target.do(site.reached(run, "waiting"))
    victims.target.do(forget(victims.target, run))
    victims.write(DAMAGES["no JSON"][1], int(run), shown["events"])
    return run


async def forget(target: Target, run: str) -> None:
    target.site.engine.ledger.live.forget(int(run))  # type: ignore[arg-type]


@pytest.mark.parametrize("document", [ASKS, WAITS], ids=["a person", "a signal"])
@pytest.mark.parametrize("path", UNAFFECTED)
def test_one_that_waits_breaks_no_list(victims: Victims, document: str, path: str) -> None:
    run = waiting(victims, document)
    victims.get(path)
    assert victims.target.client.delete(f"/api/v1/runs/{run}").status_code == 204


@pytest.mark.parametrize("action", ["cancel", "pause", "resume", "retry", "fork", "skip"])
def test_what_cannot_be_done_to_it_says_why(victims: Victims, action: str) -> None:
    run = waiting(victims, WAITS)
    answer = victims.target.client.post(f"/api/v1/runs/{run}/{action}", json={})
    assert answer.status_code == 409, answer.text
    assert "damaged at event" in answer.json()["detail"]
    assert victims.target.client.delete(f"/api/v1/runs/{run}").status_code == 204


def test_a_run_that_goes_on_cannot_be_dropped(victims: Victims) -> None:
    site = victims.target.site
    run = victims.target.do(site.started(WAITS))
    victims.target.do(site.reached(run, "waiting"))
    answer = victims.target.client.delete(f"/api/v1/runs/{run}")
    assert answer.status_code == 409
    assert f"anew cancel {run}" in answer.json()["detail"]
    assert victims.get(f"/api/v1/runs/{run}")["status"] == "waiting"


def test_a_server_starts_beside_it_and_works_on_the_others(tmp_path: Path) -> None:
    with one_server(tmp_path) as target:
        victims = Victims.__new__(Victims)
        victims.target, victims.file = target, tmp_path / "anew.db"
        run = waiting(victims, WAITS)
    with one_server(tmp_path) as target:
        ended = target.do(target.site.ended(target.do(target.site.started(CHAIN))))
        assert ended["status"] == "done"
        shown = target.client.get(f"/api/v1/runs/{run}").json()
        assert shown["damage"]["event"] == shown["events"] + 1
        assert target.is_well()


# --- its row -------------------------------------------------------------------------------------

ROWS = {
    "a status that is none": "UPDATE runs SET status = 'sleepy' WHERE run = ?",
    "an error that is not valid JSON": "UPDATE runs SET error = '{' WHERE run = ?",
    "an error that is a list": "UPDATE runs SET error = '[]' WHERE run = ?",
    "labels that are no JSON": "UPDATE runs SET labels = '{' WHERE run = ?",
    "labels that are a number": "UPDATE runs SET labels = '7' WHERE run = ?",
}


@pytest.mark.parametrize("name", ROWS)
def test_a_damaged_row_breaks_no_list(victims: Victims, name: str) -> None:
    run, client = victims.finished(), victims.target.client
    victims.write(ROWS[name], int(run))
    listed = {row["run"]: row for row in victims.get("/api/v1/runs?limit=100")["runs"]}
    assert listed[run]["damage"] == {"event": None, "reason": listed[run]["damage"]["reason"]}
    problem = victims.get(f"/api/v1/runs/{run}", 409)
    assert problem["type"] == "urn:anew:problem:damaged-run"
    assert client.delete(f"/api/v1/runs/{run}").status_code == 204


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a damaged run, and nobody who owns it."""
    folder = tmp_path_factory.mktemp("file")
    with one_server(folder) as target:
        victims = Victims.__new__(Victims)
        victims.target, victims.file = target, folder / "anew.db"
        victims.finished()
        victims.damaged("no JSON")
    return folder / "anew.db"


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return status, captured.out, captured.err


def names_its_place(text: str, file: Path) -> bool:
    """Whether each command it suggests is for this database: another one may have such a run."""
    hints = re.findall("`(anew [^`]*)`", text)
    return len(hints) == 3 and all(hint.endswith(f" --db {file}") for hint in hints)


@pytest.mark.parametrize("command", ["show", "events"])
def test_a_command_tells_what_comes_before(
    file: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    status, out, err = said(capsys, command, "last", "--db", file)
    assert status == 4
    assert "first" in out
    assert "second  " not in out
    assert f"damaged at event {AT}" in err
    assert f" --at 8 --db {file}`" in err
    assert names_its_place(err, file)


@pytest.mark.parametrize("command", ["timeline", "explain", "graph", "attempts", "replay"])
def test_a_command_that_needs_all_of_it_says_why_not(
    file: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    status, _, err = said(capsys, command, "last", "--db", file)
    assert status != 0
    assert f"damaged at event {AT}" in err
    assert names_its_place(err, file)


def test_runs_are_listed_beside_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, "runs", "--db", file)
    assert status == 0
    assert len(out.splitlines()) == 2


def test_all_of_it_is_exported(
    file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, _, err = said(capsys, "export", "last", tmp_path / "out", "--db", file)
    assert (status, f"damaged at event {AT}" in err) == (0, True)
    assert names_its_place(err, file)
    events = (tmp_path / "out" / "events.jsonl").read_text().splitlines()
    rest = (tmp_path / "out" / "damaged.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in events] == list(range(1, AT))
    assert [json.loads(line)["seq"] for line in rest] == list(range(AT, EVENTS + 1))
    assert json.loads(rest[0])["data"] == "{"
    stands = json.loads((tmp_path / "out" / "status.json").read_text())
    assert stands["damage"]["event"] == AT


def test_it_is_forked_and_then_dropped(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(capsys, "runs", "--json", "--db", file)
    run = json.loads(out.splitlines()[0])["run"]
    assert said(capsys, "fork", run, "--at", AT, "--db", file)[0] == 4
    assert said(capsys, "fork", run, "--at", AT - 1, "--quiet", "--db", file)[0] == 0
    assert said(capsys, "prune", run, "--json", "--db", file)[:2] == (0, '{"removed": 1}\n')
    assert said(capsys, "show", run, "--db", file)[0] == 2
    _, out, _ = said(capsys, "runs", "--json", "--db", file)
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["done", "done"]
