"""Tasks in a sandbox that look for the token, the key and the database of the engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

from anew.runtime.databases import private_files
from anew.surfaces.cli.fleet import _command
from anew.surfaces.cli.worker import Duty
from anew.tools.sandbox import open_sandbox
from tests.surfaces.api.processes import Server, ended, environment, server
from tests.surfaces.api.served import TOKEN
from tests.tools.bubblewrap import missing
from tests.tools.code_calls import shell

SECRET = "a-secret-of-the-engine"
BESIDE = ("", "-wal", "-shm", "-journal", ".lock", ".sock", ".token", ".scratch/7/prompt.md")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a document; tasks may use it, and read every file in it that is not hidden."""
    if (why := missing("bubblewrap")) is not None:
        pytest.skip(why)
    monkeypatch.setenv("ANEW_SANDBOX", "bubblewrap")
    if os.geteuid() == 0:
        monkeypatch.setenv("ANEW_SANDBOX_USER", "nobody")
    made = Path(mkdtemp(prefix="anew-hidden-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def put(path: Path) -> Path:
    """A secret that only a sandbox keeps from a task: its mode does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET)
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("end", BESIDE)
def test_a_task_reads_nothing_of_a_database_beside_its_document(folder: Path, end: str) -> None:
    secret = put(folder / f"work.db{end}")
    sandbox = open_sandbox(private_files(str(folder / "work.db")))
    found = shell(folder, f"cat {secret} || cp {secret} x; cat x; ls", sandbox=sandbox)
    assert SECRET not in str(found.result)


@pytest.mark.parametrize("name", ["token", "deep/below/token"])
@pytest.mark.parametrize("is_linked", [False, True])
def test_a_task_does_not_read_the_token_file_that_was_named(
    folder: Path, name: str, is_linked: bool
) -> None:
    """Mounted secrets are links to where they lie now."""
    secret = named = put(folder / name)
    if is_linked:
        named = folder / "link"
        named.symlink_to(secret)
    sandbox = open_sandbox([*private_files(str(folder / "work.db")), named])
    assert SECRET not in str(shell(folder, f"cat {named} {secret}", sandbox=sandbox).result)


# What is hidden is no plain file any more, whoever may read it.
THIEF = """
metadata: {name: thief}
workflow:
  - step: only
    tool:
      kind: shell
      command: 'cd "$WHERE" && for it in *token*; do [ ! -f $it ] || echo found $it; done; ls'
      env: {WHERE: "{{ workload.where }}"}
"""


@contextmanager
def worker(folder: Path, url: str, *words: str) -> Iterator[None]:
    command = [sys.executable, "-m", "anew", "worker", "--server", url, "--quiet", *words]
    with subprocess.Popen(command, env=environment(**settings(folder)), cwd=folder) as process:
        try:
            yield
        finally:
            process.terminate()


def settings(folder: Path) -> dict[str, str]:
    """The folder is shown to tasks, so that there is something to hide in it."""
    names = ("ANEW_SANDBOX", "ANEW_SANDBOX_USER")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return kept | {"ANEW_SANDBOX_READ": str(folder)}


def stolen(site: Server, token: str, folder: Path) -> str:
    asked = {"document": THIEF, "workload": {"where": str(folder)}}
    with site.client(token) as client:
        run = client.post("/api/v1/runs", json=asked).json()["run"]
        seen = ended(client, run)
        assert seen["status"] == "done", seen
        events = client.get(f"/api/v1/runs/{run}/events").json()["events"]
    processed = next(event for event in events if event["name"] == "task.processed")
    stdout: str = processed["data"]["outcome"]["result"]["stdout"]
    return stdout


def test_a_task_of_a_server_does_not_see_the_token_that_the_server_made(folder: Path) -> None:
    with server(folder, **settings(folder)) as site:
        told = stolen(site, (folder / "anew.db.token").read_text().strip(), folder)
        assert site.stop()[0] == 0
    assert "anew.db.token" in told  # it looked at the right place
    assert "found" not in told


def given(folder: Path) -> str:
    (folder / "given.token").write_text(TOKEN)
    (folder / "given.token").chmod(0o600)
    return "given.token"


def test_a_task_of_a_server_does_not_see_the_token_file_of_the_server(folder: Path) -> None:
    with server(folder, "--token-file", given(folder), **settings(folder)) as site:
        told = stolen(site, TOKEN, folder)
        assert site.stop()[0] == 0
    assert "given.token" in told
    assert "found" not in told


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_task_of_a_worker_does_not_see_its_token_file(folder: Path, processes: str) -> None:
    words = ("--token-file", given(folder), "--processes", processes)
    with server(folder, "--no-workers") as site, worker(folder, site.url, *words):
        told = stolen(site, TOKEN, folder)
    assert "given.token" in told
    assert "found" not in told


def test_processes_of_a_worker_are_named_no_file_that_cannot_be_read_again(tmp_path: Path) -> None:
    pipe, gone = tmp_path / "pipe", tmp_path / "gone"
    os.mkfifo(pipe)
    for path in (pipe, gone):
        assert "--token-file" not in _command(Duty("http://127.0.0.1:1", token_file=path))
