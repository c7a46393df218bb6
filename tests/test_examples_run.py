"""Every example really runs, and what happens is what its golden timeline says.

The timelines are those of `anew simulate` (test_examples.py). Here the same documents meet the lab
server, a real PostgreSQL, real processes, people who answer, and real time, and must give the same
lines, attempts and delays: this is the proof that a simulation tells the truth about a run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from anew.engine import events as e
from anew.store import RunId
from anew.surfaces.cli.main import main
from tests.example_world import (
    EXAMPLES,
    LabThread,
    Watcher,
    bytes_holding,
    check_replay,
    check_report,
    check_timeline,
    check_waits,
    document_file,
    really_run,
    simulated,
    timeline_text,
    workload_of,
)
from tests.postgres_server import LOCKED_PASSWORD, LOCKED_ROLE, Database, a_database  # noqa: F401
from tests.test_own_tool import PLAYBOOK, SOURCE, installed  # noqa: F401

ROOT = EXAMPLES.parent

# Run inside this process, with chance fixed as in a simulation.
EMBEDDED = (
    "children/child",
    "children/parent",
    "compensation/order",
    "compensation/order.shipped",
    "duckdb/analysis",
    "endpoints/endpoints",
    "endpoints/endpoints.partly",
    "graphs/agents/models",
    "graphs/agents/prompt_file",
    "graphs/agents/variables",
    "graphs/children/child",
    "graphs/children/child.failed",
    "graphs/children/manager",
    "graphs/children/parent",
    "graphs/children/parent.failed",
    "graphs/children/restart",
    "graphs/failures/backoff",
    "graphs/failures/bounded",
    "graphs/failures/errors",
    "graphs/failures/fail_edge",
    "graphs/failures/fallback",
    "graphs/failures/goal_gate",
    "graphs/failures/rescue",
    "graphs/failures/retry",
    "graphs/failures/retry_target",
    "graphs/failures/terminate",
    "graphs/parallel/first_success",
    "graphs/parallel/k_of_n",
    "graphs/parallel/nested",
    "graphs/parallel/quorum",
    "graphs/parallel/wait_all",
    "graphs/parallel/wait_all.failed",
    "graphs/people/approval",
    "graphs/people/branches",
    "graphs/people/silence",
    "graphs/people/silence.answered",
    "graphs/routing/conditions",
    "graphs/routing/diamond",
    "graphs/routing/last_line.preview",
    "graphs/spec/conditions",
    "graphs/spec/default_choice",
    "graphs/spec/forgiving",
    "graphs/spec/gate",
    "graphs/spec/judged",
    "graphs/spec/parallel",
    "graphs/spec/shapes",
    "graphs/spec/software",
    "guards/exactly_once",
    "people/agent",
    "people/approval",
    "people/approval.refused",
    "people/coverage",
    "people/coverage.never",
    "people/fallback",
    "people/review",
    "people/review.refused",
    "python/retry_exception",
    "python/retry_exception.wrong",
    "retry_block/duckdb_retry_query",
    "retry_block/duckdb_retry_query.wrong",
    "retry_block/http_retry_status_code",
    "retry_block/http_retry_with_stop",
    "retry_block/http_retry_with_stop.missing",
    "retry_block/python_retry_exception",
    "retry_block/retry_simple_config",
    "save/save_result",
    "signals/parcels",
    "signals/payment",
    "signals/payment.early",
    "signals/payment.little",
    "signals/payment.never",
    "signals/payment.reminded",
    "workbook/workbook",
)
# Run by the command itself, in a process of its own. None of them has jitter.
COMMANDS = (
    "flaky_api.lab",
    "graphs/routing/choice",
    "graphs/routing/last_line",
    "pagination/pages_to_sqlite",
    "polling/job",
    "shell/shell",
)
# Run by tests of their own, which bring what they need.
BY_THEMSELVES = (
    "duckdb/analysis.locked",
    "graphs/people/approval.waiting",
    "own_tool/roll",
    "postgres/deadlock",
    "retry_block/postgres_retry_connection",
)
# What no test can have happen, and why.
SIMULATED_ONLY = {
    "flaky_api": "the lab server fails in one way at a time",
    "graphs/failures/goal_gate.unsatisfied": "its agent gets better",
    "graphs/failures/retry.exhausted": "its agent recovers in time",
    "graphs/failures/retry.terminal": "its agent fails in one way only",
    "graphs/parallel/first_success.none": "its mirror never fails",
    "graphs/parallel/quorum.impossible": "its reviewers agree",
    "graphs/routing/choice.calm": "its agent always finds a bug",
    "graphs/spec/parallel.failed": "two of its branches always succeed",
    "guards/backoff": "its errors are of several kinds, and it waits for a minute",
    "guards/breaker": "nobody has half a minute",
    "guards/budget": "the lab server has no orders; tests/guards really run out of a budget",
    "guards/compensate": "the lab server rents no cars; tests/runtime really undo",
    "guards/concurrency": "which of five calls ends first is chance",
    "guards/cooldown": "nobody has a minute",
    "guards/paginate": "the lab server has no orders; tests/crash really read pages",
    "guards/poll": "nobody has a minute",
    "guards/rate": "nobody has half a minute",
    "people/approval.silent": "nobody has a minute",
    "save/save_result.full": "a disk has to be full in the middle of a run",
    "signals/parcels.lost": "nobody has an hour",
}
# What was written before there was a lab server: documents of the specifications, whose servers
# do not exist, and one scenario in four spellings. Those of `make serve` wait for minutes, and are
# run by the tests of the page.
FOLDERS_SIMULATED = ("seeds", "dialects", "page")


@pytest.fixture(scope="module")
def lab() -> Iterator[LabThread]:
    with LabThread() as running:
        yield running


@pytest.fixture(autouse=True)
def _in_a_fresh_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("ANEW_DB", "ANEW_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", EMBEDDED)
def test_an_example_runs_as_its_timeline_says(name: str, tmp_path: Path, lab: LabThread) -> None:
    real = really_run(name, tmp_path / ".anew", lab_url=lab.url)
    check_timeline(name, real.text(), lab_url=lab.url)
    check_report(simulated(name), real)
    check_waits(real.log)
    check_replay(real)


def test_every_child_of_the_parent_runs_as_the_timeline_of_the_child_says(
    tmp_path: Path, lab: LabThread
) -> None:
    real = really_run("children/parent", tmp_path / ".anew", lab_url=lab.url)
    assert len(real.children) == 3
    for child in real.children:
        check_timeline("children/child", child.text(), lab_url=lab.url)
        check_waits(child.log)


@pytest.mark.parametrize("parent", ["parent", "parent.failed", "manager"])
def test_the_child_of_a_graph_runs_as_the_timeline_of_the_child_says(
    parent: str, tmp_path: Path
) -> None:
    real = really_run(f"graphs/children/{parent}", tmp_path / ".anew")
    [child] = real.children
    ending = ".failed" if parent.endswith(".failed") else ""
    check_timeline(f"graphs/children/child{ending}", child.text())


# --- by the command ------------------------------------------------------------------------------


def anew(*words: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    found = os.pathsep.join(map(str, [ROOT / "src", *path]))
    return subprocess.run(
        [sys.executable, "-m", "anew", *words],
        env={**os.environ, "PYTHONPATH": found, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_runs_by_the_command_as_its_timeline_says(name: str, lab: LabThread) -> None:
    workload = json.dumps(workload_of(name, lab.url))
    ran = anew("run", str(document_file(name)), "--json", "--payload", workload)
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    assert report["status"] == "done"
    told = anew("timeline", report["run"], "--lines")
    check_timeline(name, told.stdout, lab_url=lab.url)
    assert report["seconds"] >= sum(
        delay["seconds"] for delay in simulated(name).report()["delays"]
    )


def test_a_graph_waits_for_a_person_and_goes_on_when_answered_as_its_timelines_say() -> None:
    name = "graphs/people/approval"
    ran = anew("run", str(document_file(name)), "--json")
    assert ran.returncode == 3, ran.stderr
    run = json.loads(ran.stdout)["run"]
    check_timeline(f"{name}.waiting", anew("timeline", run, "--lines").stdout)
    for answer, status in (("n", 3), ("yes", 0)):
        answered = anew("answer", run, answer)
        assert answered.returncode == status, answered.stderr
    told = anew("timeline", run, "--lines").stdout
    # Whoever runs this answered, not the script.
    check_timeline(name, re.sub(r"(answered .*) · .*", r"\1 · script", told))


def test_the_example_of_an_own_tool_runs_as_its_timeline_says(
    installed: Path,  # noqa: F811
) -> None:
    path = (SOURCE, installed.parent)
    ran = anew("run", str(ROOT / PLAYBOOK), "--json", path=path)
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    assert report["result"] == "6 + 6 = 12"
    told = anew("timeline", report["run"], "--lines", path=path)
    check_timeline("own_tool/roll", told.stdout)


# --- with another process in the way -------------------------------------------------------------

LOCKING = (
    "import duckdb, sys; kept = duckdb.connect(sys.argv[1]); print(flush=True); sys.stdin.read()"
)


def test_a_locked_database_is_waited_for_as_the_timeline_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "duckdb/analysis.locked"
    # The file belongs to the run, so the other process has to know the run before it begins.
    monkeypatch.setattr("anew.runtime.ids.RunIds.next", lambda _: RunId(1))
    scratch = tmp_path / ".anew/scratch/1"
    scratch.mkdir(parents=True)
    words = [sys.executable, "-c", LOCKING, str(scratch / "duckdb.db")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()  # it has the file

        def watch(events: Sequence[e.Event]) -> None:
            if any(isinstance(event, e.TaskRetryScheduled) for event in events):
                other.kill()
                other.wait()

        real = really_run(name, tmp_path / ".anew", watcher=watch)
    check_timeline(name, real.text())
    check_report(simulated(name), real)
    check_waits(real.log)
    check_replay(real)


# --- with PostgreSQL -----------------------------------------------------------------------------


class Warehouse(Struct, frozen=True):
    """A database behind a password, and how to make a credential of it known."""

    auth: dict[str, object]
    password: str

    def add(self, name: str, **over: object) -> None:
        """As a user does: a file, the command, and the file is gone."""
        file = Path("credential.json")
        file.write_text(json.dumps({"type": "postgres", "data": {**self.auth, **over}}))
        assert main(["credential", "add", name, "--file", str(file)]) == 0
        file.unlink()


@pytest.fixture
def warehouse(database: Database) -> Warehouse:
    auth = database.auth
    if database.server.is_ours:
        database.execute(f"GRANT ALL ON SCHEMA public TO {LOCKED_ROLE}")
        auth = {**auth, "user": LOCKED_ROLE, "password": LOCKED_PASSWORD}
    return Warehouse(auth, str(auth["password"]))


def test_a_real_deadlock_is_tried_again_as_the_timeline_says(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    name = "postgres/deadlock"
    warehouse.add("warehouse")
    real = really_run(name, tmp_path / ".anew")
    # PostgreSQL chooses which of the two transfers it gives up.
    check_timeline(name, real.text(), by_chance=True)
    check_report(simulated(name), real)
    check_waits(real.log)
    check_replay(real)
    assert real.report["result"]["rows"] == [{"id": 1, "balance": 115}, {"id": 2, "balance": 85}]
    assert bytes_holding(tmp_path, warehouse.password) == []


def opening(door: Path, socket_folder: Path, *, after_failures: int) -> Watcher:
    """Let the server be found where it is looked for, once that has failed often enough."""
    failures = 0

    def watch(events: Sequence[e.Event]) -> None:
        nonlocal failures
        failures += sum(isinstance(event, e.TaskRetryScheduled) for event in events)
        if failures == after_failures and not door.exists():
            door.symlink_to(socket_folder)

    return watch


def test_a_database_that_starts_later_is_waited_for_as_the_timeline_says(
    warehouse: Warehouse, tmp_path: Path, short_folder: Path
) -> None:
    name = "retry_block/postgres_retry_connection"
    host = str(warehouse.auth["host"])
    if not host.startswith("/"):
        pytest.skip("needs a server that listens on a socket")
    door = short_folder / "pg"
    warehouse.add("prod_db", host=str(door))
    watcher = opening(door, Path(host), after_failures=2)
    real = really_run(name, tmp_path / ".anew", watcher=watcher)
    check_timeline(name, real.text())
    check_report(simulated(name), real)
    check_waits(real.log)
    check_replay(real)
    assert bytes_holding(tmp_path, warehouse.password) == []


@pytest.fixture
def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose name leaves room for a socket's."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="anew-") as folder:
        yield Path(folder)


# --- nothing is left out -------------------------------------------------------------------------


def test_every_script_is_run_for_real_or_has_a_reason_why_not() -> None:
    scripts = {
        path.relative_to(EXAMPLES).as_posix().removesuffix(".script.yaml")
        for path in EXAMPLES.rglob("*.script.yaml")
    }
    run = {*EMBEDDED, *COMMANDS, *BY_THEMSELVES, *SIMULATED_ONLY}
    left = {name for name in scripts - run if not name.startswith(FOLDERS_SIMULATED)}
    assert left == set()
    assert run <= scripts


def test_some_example_parks_for_a_second_or_more() -> None:
    assert "retry in 1.0 s" in timeline_text("flaky_api.lab")
