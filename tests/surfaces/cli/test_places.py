"""The main commands do the same on a database file, on PostgreSQL, and through a server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cluster.kit import url_of
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.cli.servers import (  # noqa: F401
    TOKEN,
    Place,
    Server,
    a_place,
    a_server_for_the_module,
)
from tests.surfaces.cli.terminals import HELD, HELLO, Desk, Told, a_desk  # noqa: F401

FAILS = """\
metadata: {name: fails}
workload: {ok: false}
workflow:
  - step: first
    tool: {kind: noop, result: 1}
    next: [{step: break}]
  - step: break
    tool: {kind: shell, command: "test -e mended"}
"""
ASKS = """\
metadata: {name: asks}
workflow:
  - step: review
    tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes", "[N] No"]}
"""
NAPS = """\
metadata: {name: naps}
workflow:
  - step: nap
    tool: {kind: sleep, seconds: 3600}
"""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
RUN_ID = re.compile(r"\b\d{17,19}\b")
SECONDS = re.compile(r'("[a-z_]*(?:seconds|duration|_ms)[a-z_]*": )[\d.e-]+')


class At:
    """A desk whose commands all speak to one place."""

    def __init__(self, desk: Desk, place: Place) -> None:
        self.desk, self.place = desk, place

    def call(self, *words: str) -> Told:
        return self.desk.call(*words, *self.place.words)

    def json(self, *words: str) -> Any:
        return self.call(*words, "--json").json

    def rows(self, *words: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.call(*words, "--json").out.splitlines()]

    def started(self, name: str, text: str, *words: str) -> tuple[Told, str]:
        told = self.call("run", self.desk.write(name, text), "--json", *words)
        return told, told.json["run"]


@pytest.fixture(name="at")
def at_a_place(desk: Desk, place: Place) -> At:
    return At(desk, place)


def test_a_run_is_done_and_can_be_looked_at(at: At) -> None:
    told, run = at.started("hello.yaml", HELLO, "--set", "who=you")
    assert (told.status, told.err) == (0, "")
    assert told.json["result"] == {"who": "you"}
    assert at.json("show", run)["status"] == "done"
    assert "Done in" in at.call("show", run).out
    assert [row["run"] for row in at.rows("runs", "--limit", "1")] == [run]
    assert "greet" in at.call("timeline", run).out
    assert "greet" in at.call("graph", run).out
    assert at.call("export", run, f"out-{at.place.kind}").status == 0
    assert at.call("watch", run).status == 0


def test_what_happens_is_shown_while_it_happens(at: At) -> None:
    told = at.call("run", at.desk.write("hello.yaml", HELLO))
    assert (told.status, told.err) == (0, "")
    assert "greet: started" in told.out
    assert "Done in" in told.out


def test_a_failed_run_can_be_retried(at: At) -> None:
    told, run = at.started("fails.yaml", FAILS)
    assert told.status == 1
    at.desk.write("mended", "")
    again = at.call("retry", run, "--json")
    assert (again.status, again.json["status"]) == (0, "done"), again.err
    assert again.json["run"] != run


def test_a_registered_document_can_be_started(at: At) -> None:
    file = at.desk.write("hello.yaml", HELLO)
    told = at.json("register", file)
    assert (told["name"], told["version"]) == ("hello", 1)
    assert "hello" in [row["name"] for row in at.rows("programs")]
    assert at.json("start", "hello", "--set", "who=us")["result"] == {"who": "us"}


def test_a_question_is_answered(at: At) -> None:
    told, run = at.started("asks.yaml", ASKS)
    assert (told.status, told.json["status"]) == (3, "waiting")
    assert at.json("show", run)["questions"][0]["question"] == "Ship it?"
    assert at.call("answer", run, "maybe").status == 2
    answered = at.call("answer", run, "yes", "--json")
    assert (answered.status, answered.json["status"]) == (0, "done"), answered.err


def test_questions_can_be_approved_unasked(at: At) -> None:
    told, _ = at.started("asks.yaml", ASKS, "--auto-approve")
    assert (told.status, told.json["status"]) == (0, "done"), told.err


def test_a_run_is_cancelled_from_another_terminal(at: At) -> None:
    bell = at.desk.pipe("bell")
    at.desk.pipe("gate")
    terminal = at.desk.open("run", at.desk.write("held.yaml", HELD), *at.place.words)
    bell.read()
    run = next(row["run"] for row in at.rows("runs") if row["status"] == "running")
    assert at.call("cancel", run, "--reason", "enough").out == "cancelled\n"
    assert terminal.wait().status == 130
    assert at.json("show", run)["status"] == "cancelled"
    assert at.call("cancel", run).out == "the run had ended already\n"


def test_a_paused_run_goes_on_when_it_is_resumed(at: At) -> None:
    bell, gate = at.desk.pipe("bell"), at.desk.pipe("gate")
    terminal = at.desk.open("run", at.desk.write("held.yaml", HELD), "--json", *at.place.words)
    bell.read()
    run = next(row["run"] for row in at.rows("runs") if row["status"] == "running")
    assert at.call("pause", run).status == 0
    gate.write("go")
    while len(at.rows("events", run)) < 8:  # the call that was at work has ended
        assert terminal.process.poll() is None
    assert at.json("show", run)["status"] == "paused"
    resumed = at.call("resume", run, "--json")
    assert (resumed.status, resumed.json["result"]) == (0, {"word": "go"}), resumed.err
    assert terminal.wait().status == 0


def test_a_wait_is_skipped_from_another_terminal(at: At) -> None:
    file = at.desk.write("naps.yaml", NAPS)
    terminal = at.desk.open("run", file, "--json", *at.place.words)
    while not (found := [row["run"] for row in at.rows("runs") if row["status"] == "running"]):
        assert terminal.process.poll() is None
    while "task.started" not in [row["name"] for row in at.rows("events", found[0])]:
        assert terminal.process.poll() is None
    skipped = at.call("skip", found[0], "nap", "--by", "ann")
    assert (skipped.status, skipped.err) == (0, "")
    first, rest = skipped.out.splitlines()
    assert first == "The sleep of nap ends now."
    is_file = at.place.kind == "sqlite"
    assert ("`anew resume" if is_file else "A worker continues the run.") in rest
    ended = terminal.wait()
    assert (ended.status, ended.json["status"]) == (0, "done"), ended.err
    assert at.call("skip", found[0]).out.startswith("nothing of the run waits")


def test_credentials_are_kept_listed_and_forgotten(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "correct-horse-battery"
    file = at.desk.write("api.json", json.dumps({"type": "bearer", "data": {"token": secret}}))
    added = at.call("credential", "add", "api", "--file", file)
    assert added.status == 0, added.err
    assert {"name": "api", "type": "bearer", "from": "store"} in at.json("credential", "list")
    assert at.call("credential", "remove", "api").status == 0
    assert at.call("credential", "remove", "api").status == 2
    assert secret not in added.out + added.err


def test_old_runs_are_removed(at: At) -> None:
    _, run = at.started("hello.yaml", HELLO)
    assert at.json("prune", "--older-than", "1d") == {"removed": 0}
    assert at.json("prune", "--older-than", "0s")["removed"] >= 1
    assert at.call("show", run).status == 2


def test_a_key_names_one_run(at: At) -> None:
    key = f"once-{at.place.kind}"
    runs = {at.started("hello.yaml", HELLO, "--key", key)[1] for _ in range(2)}
    assert len(runs) == 1


def test_doctor_finds_the_place_well(at: At) -> None:
    at.started("hello.yaml", HELLO)
    told = at.call("doctor")
    word = "server" if at.place.kind == "server" else "database"
    assert re.search(rf"^ok   {word}", told.out, re.MULTILINE), told.out


@pytest.mark.parametrize("words", [["show", "1"], ["cancel", "1"], ["start", "none"]])
def test_what_is_not_there_is_one_clear_line(at: At, words: list[str]) -> None:
    at.started("hello.yaml", HELLO)
    told = at.call(*words)
    assert (told.status, told.is_one_clear_line()) == (2, True), told.err


def masked(text: str) -> str:
    return SECONDS.sub(r"\1 0", MOMENT.sub("AT", RUN_ID.sub("RUN", text)))


@pytest.mark.parametrize("words", [("runs", "--limit", "1"), ("show", "RUN"), ("events", "RUN")])
def test_the_json_is_the_same_in_every_place(
    desk: Desk,
    database: Database,
    serving: Server,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    told = set()
    for place in (
        Place("sqlite", ("--db", "runs.db")),
        Place("postgres", ("--db", url_of(database.dsn))),
        Place("server", ("--server", serving.url)),
    ):
        at = At(desk, place)
        _, run = at.started("hello.yaml", HELLO, "--set", "who=you", "--label", "team=a")
        at.json("register", "hello.yaml")  # some places are shared, and may know it already
        said = at.call(*[run if word == "RUN" else word for word in words], "--json")
        assert said.status == 0, said.err
        told.add(masked(said.out))
    assert len(told) == 1, "\n".join(told)
