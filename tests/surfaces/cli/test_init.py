"""`anew init`: templates are copied whole or not at all, and every one of them does what its README says."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from anew.surfaces.cli.init import ProjectTemplate, all_templates
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

PATIENCE_SECONDS = 60
BY_NAME = {one.name: one for one in all_templates()}
# What is waited for is no failure.
WAITS = {"approval", "webhook"}
# What it shows is a failure.
FAILS = {"saga"}
RESULTS = {
    "agent-pipeline": lambda result: result["status"] == "success",
    "approval": lambda result: result == "3.1 is released",
    "cluster": lambda result: result == {"orders": 180},
    "flaky-api": lambda result: result["calls"] == 3,
    "nightly-ingest": lambda result: sum(row["rows"] for row in result["rows"]) == 10,
    "pagination": lambda result: result["rows"] == [{"items": 25, "pages": 3}],
    "polling": lambda result: result == {"asked": 3},
    "saga": lambda result: result is None,
    "tools": lambda result: result == "A-1 is on its way to Warehouse 1",
    "transfer": lambda result: result["rows"] == 2,
    "webhook": lambda result: result == "shipped for 40",
}


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANEW_")}
    here = Path(sys.executable).parent
    return {**kept, "PATH": f"{here}:{os.environ['PATH']}", "NO_COLOR": "1", **more}


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.fixture(scope="module", name="api")
def an_api_that_fails() -> Iterator[str]:
    words = [sys.executable, "-m", "anew", "lab-server", "--until-idle", "60"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


@pytest.fixture(name="copy")
def a_copy(desk: Desk, request: pytest.FixtureRequest) -> Path:
    """The template that the test is about, as a user gets it."""
    told = desk.call("init", request.param, "mine")
    assert told.status == 0, told.err
    return desk.folder / "mine"


every_template = pytest.mark.parametrize(
    ("copy", "name"), [(name, name) for name in BY_NAME], indirect=["copy"], ids=list(BY_NAME)
)
# The first two are run every day. The cluster has a test of its own.
RUN = ["tools", "agent-pipeline", *sorted(set(BY_NAME) - {"agent-pipeline", "cluster", "tools"})]


def test_there_are_at_least_ten() -> None:
    assert len(BY_NAME) >= 10
    assert set(RESULTS) == set(BY_NAME)


@every_template
def test_a_template_has_no_findings_and_scenarios_for_every_rule(copy: Path, name: str) -> None:
    options = "--tools shop_tools" if name == "tools" else ""
    documents = [
        path.name
        for path in copy.iterdir()
        if path.suffix in (".yaml", ".dot") and ".scenario" not in path.name
    ]
    assert len(documents) == 1
    checked = shell(copy, f"anew check --json {documents[0]} {options}")
    assert json.loads(checked.stdout) == []
    tested = shell(copy, f"anew test --fail-under 100 --json {options}")
    assert tested.returncode == 0, tested.stdout
    counts = json.loads(tested.stdout)
    assert counts["passed"] >= 2
    assert "warning" not in tested.stderr


@pytest.mark.parametrize(
    ("copy", "name"),
    [
        pytest.param(name, name, marks=[pytest.mark.long] if number > 1 else [])
        for number, name in enumerate(RUN)
    ],
    indirect=["copy"],
)
def test_the_commands_of_its_readme_run_it_to_its_end(copy: Path, name: str, api: str) -> None:
    asks_api = any("base_url" in path.read_text() for path in copy.glob("*.yaml"))
    for command in BY_NAME[name].commands:
        if "lab-server" in command:
            continue
        setting = f" --set base_url={api}" if asks_api and "anew run" in command else ""
        done = shell(copy, command + setting)
        expected = (3 if name in WAITS else int(name in FAILS)) if "anew run" in command else 0
        assert done.returncode == expected, done.stdout + done.stderr
    shown = json.loads(shell(copy, "anew show last --json").stdout)
    assert shown["status"] == ("failed" if name in FAILS else "done")
    assert RESULTS[name](shown["result"])


@pytest.mark.long
@pytest.mark.parametrize(("copy", "name"), [("cluster", "cluster")], indirect=["copy"])
def test_the_cluster_works_on_a_run_and_stops_with_its_script(copy: Path, name: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cluster = subprocess.Popen(
        ["sh", "cluster.sh"], cwd=copy, env=environment(PORT=str(port)), start_new_session=True
    )
    place = f"--server http://127.0.0.1:{port} --token-file token"
    (run,) = (one for one in BY_NAME[name].commands if one.startswith("anew run"))
    assert place.replace(str(port), "8700") in run
    try:
        # The command waits for nothing: the script says when the server is there.
        while shell(copy, f"anew runs {place}").returncode != 0:
            assert cluster.poll() is None
        done = shell(copy, run.replace("8700", str(port)) + " --json")
        assert RESULTS[name](json.loads(done.stdout)["result"]), done.stderr
    finally:
        cluster.send_signal(signal.SIGTERM)
        assert cluster.wait(PATIENCE_SECONDS) == 0


# --- the command ---------------------------------------------------------------------------------


def test_the_files_are_written_and_the_next_commands_shown(desk: Desk) -> None:
    told = desk.call("init", "flaky-api")
    assert told.status == 0
    template = BY_NAME["flaky-api"]
    folder = desk.folder / "flaky-api"
    assert sorted(path.name for path in folder.iterdir()) == [str(file) for file in template.files]
    assert told.out.splitlines()[-5:] == [
        "next:",
        "  cd flaky-api",
        "  anew test",
        "  anew lab-server --port 8080 &",
        "  anew run flaky_api.yaml",
    ]
    assert desk.call("init", "tools", ".").out.splitlines()[-4] == "next:"
    assert (desk.folder / "shop_tools.py").is_file()


def test_a_file_that_is_there_is_not_overwritten_and_nothing_is_written(desk: Desk) -> None:
    mine = desk.folder / "flaky-api" / "flaky_api.yaml"
    mine.parent.mkdir()
    mine.write_text("mine")
    told = desk.call("init", "flaky-api")
    assert told.status == 2
    assert "flaky_api.yaml is there already, so nothing was written" in told.err
    assert "anew init flaky-api DIR" in told.err
    assert [path.name for path in mine.parent.iterdir()] == ["flaky_api.yaml"]
    assert mine.read_text() == "mine"
    (desk.folder / "file").touch()
    assert desk.call("init", "tools", "file").status == 2


def test_without_a_terminal_the_templates_are_listed(desk: Desk) -> None:
    told = desk.call("init")
    assert (told.status, told.out) == (2, "")
    listed = desk.call("init", "--list")
    assert listed.status == 0
    assert told.err.endswith(listed.out)
    assert [line.split()[0] for line in listed.out.splitlines()] == list(BY_NAME)


def test_an_unknown_name_is_refused_with_the_one_that_was_meant(desk: Desk) -> None:
    assert "Did you mean 'flaky-api'?" in desk.call("init", "flaky_api").err
    assert "`anew init --list` lists them" in desk.call("init", "zzzz").err


@pytest.mark.parametrize(
    ("typed", "written"),
    [("polling", "polling"), (f"{list(BY_NAME).index('tools') + 1}", "tools"), ("", None)],
)
def test_at_a_terminal_it_asks(tmp_path: Path, typed: str, written: str | None) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "anew", "init"],
        cwd=tmp_path,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = ""
    try:
        while "Which one?" not in shown:
            assert select.select([ours], [], [], PATIENCE_SECONDS)[0], shown
            shown += os.read(ours, 65_536).decode()
        os.write(ours, f"{typed}\n".encode())
        assert process.wait(PATIENCE_SECONDS) == (2 if written is None else 0)
    finally:
        os.close(ours)
    assert "flaky-api" in shown
    assert [path.name for path in tmp_path.iterdir()] == ([written] if written else [])


def test_what_python_leaves_in_a_folder_is_no_file_of_a_template(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine/__pycache__").mkdir(parents=True)
    for name in ("__pycache__/a.pyc", "README.md", "a.py"):
        (tmp_path / "mine" / name).touch()
    monkeypatch.setattr("anew.surfaces.cli.init.TEMPLATES", tmp_path)
    assert [str(file) for file in ProjectTemplate("mine", "", []).files] == ["README.md", "a.py"]
