"""Tasks in a sandbox: which one is chosen, what is refused in words, and what it takes away."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from anew.engine.outcome import Outcome
from anew.errors import ConfigError
from anew.tools.agent import AgentTool
from anew.tools.python.tool import PythonTool
from anew.tools.sandbox import NO_SANDBOX, NotInSandbox, Sandbox, open_sandbox
from anew.tools.shell import ShellTool
from tests.tools.agent.agent_calls import agent
from tests.tools.bubblewrap import missing
from tests.tools.code_calls import call_of, cancelled_once, error_of, shell

KINDS = ("bubblewrap", "user")
OTHER_USER = "nobody"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may use: the one pytest makes is closed to others."""
    with TemporaryDirectory(prefix="anew-test-") as made:
        folder = Path(made)
        folder.chmod(0o777)
        yield folder


@pytest.fixture(autouse=True)
def _as_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ANEW_SANDBOX")]:
        monkeypatch.delenv(name)
    if os.geteuid() == 0:
        monkeypatch.setenv("ANEW_SANDBOX_USER", OTHER_USER)


@pytest.fixture(params=KINDS)
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Each that this machine has."""
    if (why := missing(request.param)) is not None:
        pytest.skip(why)
    monkeypatch.setenv("ANEW_SANDBOX", request.param)
    return open_sandbox()


@pytest.fixture
def bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Where the other sandbox changes nothing."""
    if (why := missing("bubblewrap")) is not None:
        pytest.skip(why)
    monkeypatch.setenv("ANEW_SANDBOX", "bubblewrap")
    return open_sandbox()


def test_there_is_none_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert open_sandbox() is NO_SANDBOX
    assert NO_SANDBOX.wrap(["ls"], folder=tmp_path) == ["ls"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ANEW_SANDBOX", "docker", "it can be bubblewrap or user"),
        ("ANEW_SANDBOX", "Bubblewrap", "it can be bubblewrap or user"),
        ("ANEW_SANDBOX_USER", "no-such-user", "there is no such user here"),
        ("ANEW_SANDBOX_USER", "root", "which is root"),
        ("ANEW_SANDBOX_USER", "", "needs ANEW_SANDBOX_USER"),
        ("ANEW_SANDBOX_MEMORY_BYTES_MAX", "much", "must be a whole number"),
        ("ANEW_SANDBOX_PROCESSES_MAX", "0", "must be a whole number"),
        ("ANEW_SANDBOX_CPU_SECONDS_MAX", "-1", "must be a whole number"),
        ("ANEW_SANDBOX_FILE_BYTES_MAX", "1e9", "must be a whole number"),
        ("PATH", "/nowhere", "Install the package util-linux"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("the sandbox user needs root")
    monkeypatch.setenv("ANEW_SANDBOX", "user")
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=said):
        open_sandbox()


def test_a_network_is_a_yes_or_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    if (why := missing("bubblewrap")) is not None:
        pytest.skip(why)
    monkeypatch.setenv("ANEW_SANDBOX", "bubblewrap")
    monkeypatch.setenv("ANEW_SANDBOX_NETWORK", "maybe")
    with pytest.raises(ConfigError, match="it can be 0 or 1"):
        open_sandbox()


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_who_is_not_root_becomes_nobody_else(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("ANEW_SANDBOX", kind)
    monkeypatch.setenv("ANEW_SANDBOX_USER", OTHER_USER)
    if (why := missing("bubblewrap")) is not None and kind == "bubblewrap":
        pytest.skip(why)
    with pytest.raises(ConfigError, match="needs root"):
        open_sandbox()


def test_a_machine_that_gives_no_namespaces_is_told_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ANEW_SANDBOX", "bubblewrap")
    with pytest.raises(ConfigError, match=r"does not work on this machine: bwrap: No permissions"):
        open_sandbox()


def test_a_command_runs_in_its_folder_and_its_answer_comes_back(
    folder: Path, sandbox: Sandbox
) -> None:
    outcome = shell(folder, "pwd; cat; echo problem >&2; exit 7", stdin="given", sandbox=sandbox)
    assert error_of(outcome)["code"] == 7
    assert outcome.result["stdout"] == f"{folder.resolve()}\ngiven"
    assert outcome.result["stderr"] == "problem\n"


def test_a_command_is_another_user_without_a_way_back(folder: Path, sandbox: Sandbox) -> None:
    shown = shell(folder, "id -u; grep -E 'NoNewPrivs|CapEff' /proc/self/status", sandbox=sandbox)
    uid, *rest = shown.result["stdout"].split("\n")
    assert uid != "0"
    assert [line.split()[-1] for line in rest if line] == ["0000000000000000", "1"]


def test_another_user_changes_the_folder_of_the_document_if_modes_let_it(
    folder: Path, sandbox: Sandbox
) -> None:
    outcome = shell(folder, "echo new >made", sandbox=sandbox)
    assert (outcome.error is None) == (sandbox.kind == "user")
    assert (folder / "made").exists() == (sandbox.kind == "user")


def test_the_folder_of_the_document_is_read_and_that_of_the_run_changed(
    folder: Path, bubblewrap: Sandbox
) -> None:
    (folder / "beside").write_text("read")
    command = 'cat beside >"$ANEW_RUN_FOLDER/kept"'
    assert shell(folder, command, sandbox=bubblewrap).error is None
    later = shell(folder, 'cat "$ANEW_RUN_FOLDER/kept"', sandbox=bubblewrap)
    assert later.result["stdout"] == "read"


def test_python_finds_scripts_and_modules_beside_its_document(
    folder: Path, bubblewrap: Sandbox
) -> None:
    (folder / "beside.py").write_text("WORD = 'found'")
    code = (
        "import beside, os\n"
        "with open(os.environ['ANEW_RUN_FOLDER'] + '/kept', 'w') as file: file.write(beside.WORD)\n"
        "result = beside.WORD"
    )
    (outcome,) = pythons_in(bubblewrap, folder, code)
    assert outcome.result == "found"
    assert (folder / "run" / "tasks" / "kept").read_text() == "found"


def test_the_operator_says_what_else_can_be_changed_and_read(
    folder: Path, bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: folder / name for name in ("document", "models", "repository")}
    for place in places.values():
        place.mkdir()
        place.chmod(0o777)
    (places["models"] / "one").write_text("weights")
    command = f"cat {folder}/models/one && touch {folder}/repository/made"
    assert shell(places["document"], command, sandbox=bubblewrap).error is not None
    monkeypatch.setenv("ANEW_SANDBOX_READ", f"{places['models']}, {places['repository']}")
    monkeypatch.setenv("ANEW_SANDBOX_WRITE", str(places["repository"]))
    outcome = shell(places["document"], command, sandbox=open_sandbox())
    assert outcome.result["stdout"] == "weights"
    assert (places["repository"] / "made").exists()


@pytest.mark.parametrize("name", ["ANEW_SANDBOX_READ", "ANEW_SANDBOX_WRITE"])
def test_folders_are_not_for_a_sandbox_without_mounts(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str
) -> None:
    if (why := missing("user")) is not None:
        pytest.skip(why)
    monkeypatch.setenv("ANEW_SANDBOX", "user")
    monkeypatch.setenv(name, str(folder))
    with pytest.raises(ConfigError, match="is for ANEW_SANDBOX=bubblewrap"):
        open_sandbox()


def test_a_command_that_uses_too_much_time_is_killed(
    folder: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_SANDBOX_CPU_SECONDS_MAX", "1")
    outcome = shell(folder, "while :; do :; done", sandbox=open_sandbox())
    assert error_of(outcome)["kind"] == "exit_code"


def test_a_command_that_is_cancelled_may_clean_up(folder: Path, sandbox: Sandbox) -> None:
    kept = folder / "run" / "tasks" if sandbox.has_mounts else folder
    command = "trap 'echo gone >gone; exit' TERM; echo here >here; while :; do sleep 0.01; done"
    call = call_of("shell", folder, command=f'cd "${{ANEW_RUN_FOLDER:-.}}"; {command}')
    asyncio.run(cancelled_once(ShellTool(sandbox), call, when=kept / "here"))
    assert (kept / "gone").read_text() == "gone\n"


def pythons_in(
    sandbox: Sandbox, folder: Path, *codes: str, scratch: Path | None = None
) -> list[Outcome]:
    """One tool, one call after the other, in one run."""

    async def session() -> list[Outcome]:
        tool = PythonTool(sandbox)
        try:
            return [
                await tool.call(call_of("python", folder, scratch=scratch, code=code))
                for code in codes
            ]
        finally:
            await tool.close()

    return asyncio.run(session())


def test_python_runs_in_it_and_stays_warm_within_a_run(folder: Path, bubblewrap: Sandbox) -> None:
    code = (
        "import os; print('said'); result = [os.getuid(), os.getpid(), sorted(os.listdir('/proc'))]"
    )
    first, second = pythons_in(bubblewrap, folder, code, "import os; result = os.getpid()")
    assert first.error is None
    uid, pid, processes = first.result
    assert uid == (bubblewrap.account.uid if bubblewrap.account else os.getuid())
    assert second.result == pid
    assert first.logs == {"stdout": "said\n"}
    assert [name for name in processes if name.isdigit() and int(name) > pid] == []


def test_python_that_starts_something_is_not_used_again(folder: Path, bubblewrap: Sandbox) -> None:
    starts = (
        "import subprocess, time; subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "result = open('/proc/self/stat').read().split()[21]"
    )
    first, second = pythons_in(bubblewrap, folder, starts, starts)
    assert first.error is None
    assert first.result != second.result


def test_python_outside_of_a_folder_of_its_own_is_refused(
    folder: Path, bubblewrap: Sandbox
) -> None:
    (refused,) = pythons_in(bubblewrap, Path("/"), "result = 1", scratch=folder / "run")
    assert error_of(refused)["kind"] == "config"


def test_an_agent_s_command_gets_its_prompt_and_leaves_its_status(
    folder: Path, sandbox: Sandbox
) -> None:
    status = '{"status": "fail", "notes": "tried"}'
    command = f"""cat "$ANEW_PROMPT_FILE"; echo '{status}' >"$ANEW_STATUS_FILE" """
    outcome = agent(folder, tool=AgentTool(sandbox=sandbox), command=command)
    assert outcome.result["text"] == "Say hello."
    assert outcome.result["status"] == "failure"


def test_an_agent_has_nothing_read_for_it_that_it_cannot_read(
    folder: Path, sandbox: Sandbox
) -> None:
    (folder / "secret").mkdir(mode=0o700)
    (folder / "secret" / "status").write_text('{"status": "fail"}')
    (folder / "mine").mkdir()
    (folder / "mine").chmod(0o777)
    linked = f'ln -s {folder}/secret/status "$ANEW_STATUS_FILE"'
    for command, more in (
        (linked, {"status_file": "here.json"}),
        (linked, {}),
        ("true", {"status_file": "../../outside.json"}),
    ):
        tool = AgentTool(sandbox=sandbox)
        outcome = agent(folder / "mine", tool=tool, command=command, **more)
        assert error_of(outcome)["kind"] == "config"


def test_a_document_at_home_is_told_to_move(
    bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    (folder / "home").mkdir()
    for wide in ("/", str(folder), str(folder / "home")):
        with pytest.raises(NotInSandbox, match="Move it into a folder of its own"):
            bubblewrap.wrap(["ls"], folder=Path(wide))
    outcome = shell(folder / "home", "ls", sandbox=bubblewrap, scratch=folder / "run")
    assert error_of(outcome)["kind"] == "config"


def test_a_folder_of_the_author_s_choice_is_not_made_writable(
    folder: Path, bubblewrap: Sandbox
) -> None:
    (folder / "mine").mkdir()
    (folder / "mine").chmod(0o777)
    with TemporaryDirectory(prefix="anew-test-") as elsewhere:
        os.chmod(elsewhere, 0o777)
        shell(folder / "mine", "touch made", cwd=elsewhere, sandbox=bubblewrap)
        shell(folder / "mine", "touch ../made", sandbox=bubblewrap)
        assert not os.listdir(elsewhere)
    assert not (folder / "made").exists()


def test_a_network_is_there_when_it_is_asked_for(
    bubblewrap: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_SANDBOX_NETWORK", "1")
    here = os.readlink("/proc/self/ns/net")
    look = "readlink /proc/self/ns/net"
    assert shell(folder, look, sandbox=bubblewrap).result["stdout"] != f"{here}\n"
    assert shell(folder, look, sandbox=open_sandbox()).result["stdout"] == f"{here}\n"
