"""The shell tool with real processes: results, errors, limits, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anew.tools.shell import ShellTool
from anew.values import Value
from tests.tools.code_calls import (
    PATIENCE_SECONDS,
    call_of,
    cancelled_once,
    error_of,
    has_ended,
    open_files,
    own_children,
    shell,
    wait_until_ended,
    written,
)


def test_a_command_gives_its_exit_code_and_what_it_printed(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "echo out; echo err >&2")
    assert outcome.error is None
    assert outcome.result == {"exit_code": 0, "stdout": "out\n", "stderr": "err\n"}
    assert outcome.helpers == {"shell": {"exit_code": 0}}


def test_another_exit_code_than_zero_is_an_error_that_keeps_the_result(tmp_path: Path) -> None:
    outcome = shell(
        tmp_path, "echo out; echo first >&2; echo 'no such town ' >&2; echo >&2; exit 3"
    )
    error = error_of(outcome)
    assert (error["kind"], error["code"], error["retryable"]) == ("exit_code", 3, None)
    assert error["message"] == "the command ended with exit status 3: no such town"
    assert (outcome.result["exit_code"], outcome.result["stdout"]) == (3, "out\n")
    assert outcome.helpers == {"shell": {"exit_code": 3}}


def test_what_went_wrong_is_quoted_from_standard_output_when_nothing_else_was_said(
    tmp_path: Path,
) -> None:
    found = shell(tmp_path, "echo 1 passed; echo 2 failed; exit 1")
    assert found.error is not None
    assert found.error["message"] == "the command ended with exit status 1: 2 failed"


def test_the_quoted_line_is_cut(tmp_path: Path) -> None:
    error = error_of(shell(tmp_path, "printf '%01000d' 7 >&2; exit 1"))
    assert error["message"].endswith("0…")
    assert len(error["message"]) < 600


def test_a_quoted_line_that_began_too_long_ago_is_quoted_from_its_end(tmp_path: Path) -> None:
    error = error_of(shell(tmp_path, "printf '%09000d' 7 >&2; exit 1"))
    assert error["message"].endswith("007")
    assert ": …0" in error["message"]
    assert len(error["message"]) < 600


def test_a_signal_is_named(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "kill -TERM $$")
    assert outcome.result["exit_code"] == 143
    assert error_of(outcome)["message"] == "the command was killed by SIGTERM"


def test_several_commands_stop_at_the_first_that_fails(tmp_path: Path) -> None:
    outcome = shell(tmp_path, ["echo one", "echo two; echo why >&2; exit 4", "touch never"])
    assert outcome.result == {"exit_code": 4, "stdout": "two\n", "stderr": "why\n"}
    assert error_of(outcome)["message"] == "command 2 of 3 ended with exit status 4: why"
    assert outcome.logs == {"stdout": "one\n"}
    assert not (tmp_path / "never").exists()


def test_several_commands_give_the_result_of_the_last(tmp_path: Path) -> None:
    assert shell(tmp_path, ["echo one", "echo two"]).result["stdout"] == "two\n"


def test_only_what_is_given_is_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", "hidden")
    monkeypatch.setenv("LANG", "C.UTF-8")
    env = {"TEXT": "a b", "N": 5, "YES": True, "LANG": None}
    lines = shell(tmp_path, "env", env=env).result["stdout"].splitlines()
    names = {line.partition("=")[0] for line in lines} - {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names == {"PATH", "HOME", "TEXT", "N", "YES", "ANEW_IDEMPOTENCY_KEY"}
    assert {"TEXT=a b", "N=5", "YES=true", "ANEW_IDEMPOTENCY_KEY=key-1"} <= set(lines)


def test_a_command_runs_beside_its_document_or_where_it_says(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert shell(tmp_path, "pwd").result["stdout"] == f"{tmp_path}\n"
    assert shell(tmp_path, "pwd", cwd="sub").result["stdout"] == f"{tmp_path}/sub\n"
    assert shell(tmp_path, "pwd", cwd="/").result["stdout"] == "/\n"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, ""),
        ("text é\n", "text é\n"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        (5, "5"),
        ("", ""),
    ],
)
def test_standard_input_is_text_or_json(tmp_path: Path, given: Value, read: str) -> None:
    assert shell(tmp_path, "cat", stdin=given).result["stdout"] == read


def test_large_input_passes_and_input_need_not_be_read(tmp_path: Path) -> None:
    text = "x" * 3_000_000
    assert shell(tmp_path, "wc -c", stdin=text).result["stdout"].strip() == "3000000"
    assert shell(tmp_path, "true", stdin=text).error is None


@pytest.mark.parametrize(
    ("command", "inputs", "words"),
    [
        (None, {}, "one text or a list"),
        ([], {}, "one text or a list"),
        ("  ", {}, "empty"),
        (["true", 5], {}, "command 2"),
        ("echo \0", {}, "NUL"),
        ("true", {"cwd": "nowhere"}, "cwd 'nowhere' is not a folder"),
        ("true", {"cwd": 5}, "cwd must be"),
        ("true", {"env": ["A=1"]}, "env must be a mapping"),
        ("true", {"env": {"A=B": "1"}}, "'A=B'"),
        ("true", {"env": {"A": ["secret"]}}, "env.A must be"),
        ("true", {"env": {"A": "\0"}}, "env.A has a NUL"),
        ("x" * 3_000_000, {}, "too long"),
    ],
)
def test_inputs_that_cannot_be_used_are_config_errors(
    tmp_path: Path, command: Value, inputs: dict[str, Value], words: str
) -> None:
    error = error_of(shell(tmp_path, command, **inputs))
    assert error["kind"] == "config"
    assert words in error["message"]
    assert "secret" not in error["message"]


def test_output_is_cut_in_the_middle_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_OUTPUT_BYTES_MAX", "10000")
    text = shell(tmp_path, "echo start; yes | head -c 3000000; echo end").result["stdout"]
    assert text.startswith("start\ny\n")
    assert text.endswith("y\nend\n")
    assert "… 2,990,010 bytes left out (ANEW_OUTPUT_BYTES_MAX) …" in text
    assert len(text) < 10_200


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    assert shell(tmp_path, r"printf 'a\377b'").result["stdout"] == "a\ufffdb"


def test_a_child_in_the_background_neither_delays_the_call_nor_outlives_it(tmp_path: Path) -> None:
    outcome = shell(tmp_path, "sleep 99 & echo $!")
    assert outcome.error is None
    wait_until_ended(int(outcome.result["stdout"]))


def test_a_daemon_that_keeps_the_pipes_does_not_delay_the_call(tmp_path: Path) -> None:
    outcome = shell(
        tmp_path,
        "setsid sh -c 'echo $$ > pid; exec sleep 99' & while [ ! -s pid ]; do :; done; echo done",
    )
    daemon = int((tmp_path / "pid").read_text())
    assert not has_ended(daemon)
    os.kill(daemon, 9)
    assert outcome.result["stdout"] == "done\n"


def cancelled(folder: Path, command: str) -> str:
    async def session() -> str:
        call = call_of("shell", folder, command=command)
        work = cancelled_once(ShellTool(), call, when=folder / "pids")
        return await asyncio.wait_for(work, PATIENCE_SECONDS)

    return asyncio.run(session())


def test_cancelling_lets_a_command_clean_up(tmp_path: Path) -> None:
    pids = cancelled(
        tmp_path,
        "trap 'echo cleaned > after; exit' TERM; echo $$ > pids; while :; do sleep 0.01; done",
    )
    assert has_ended(int(pids))
    assert (tmp_path / "after").read_text() == "cleaned\n"


def test_cancelling_kills_what_does_not_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.tools.shell.GRACE_SECONDS_MAX", 0.05)
    pids = cancelled(
        tmp_path, "trap '' TERM; sleep 99 & echo $$ $! > pids; while :; do sleep 99; done"
    )
    for pid in map(int, pids.split()):
        wait_until_ended(pid)


def test_a_second_cancellation_does_not_wait_for_the_grace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.tools.shell.GRACE_SECONDS_MAX", PATIENCE_SECONDS * 2)
    command = "trap 'echo x > asked' TERM; echo $$ > pids; while :; do sleep 0.01; done"

    async def session() -> int:
        task = asyncio.ensure_future(ShellTool().call(call_of("shell", tmp_path, command=command)))
        pid = int(await written(tmp_path / "pids"))
        task.cancel()
        await written(tmp_path / "asked")
        task.cancel()
        await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
        assert task.cancelled()
        return pid

    wait_until_ended(asyncio.run(session()))


def test_a_command_dies_with_its_worker(tmp_path: Path) -> None:
    worker_code = """
import asyncio, sys
from pathlib import Path
from anew.tools.shell import ShellTool
from tests.tools.code_calls import call_of
command = "trap '' TERM HUP; sleep 99 & echo $$ $! > pids; wait; sleep 99"
asyncio.run(ShellTool().call(call_of("shell", Path(sys.argv[1]), command=command)))
"""
    worker = subprocess.Popen([sys.executable, "-c", worker_code, str(tmp_path)])
    pids = asyncio.run(written(tmp_path / "pids"))
    worker.kill()
    worker.wait()
    for pid in map(int, pids.split()):
        wait_until_ended(pid)


def test_nothing_is_left_open_or_unreaped(tmp_path: Path) -> None:
    async def session() -> tuple[int, int, list[int]]:
        tool = ShellTool()
        before = open_files()
        for n in range(50):
            commands = ("true", "exit 1", "sleep 99 &", "x" * 3_000_000, "cat >&2")
            await tool.call(call_of("shell", tmp_path, command=commands[n % 5], stdin="y"))
        return before, open_files(), own_children()

    known = own_children()
    before, after, children = asyncio.run(session())
    assert after == before
    assert children == known


def test_many_commands_run_beside_each_other(tmp_path: Path) -> None:
    async def session() -> list[Value]:
        tool = ShellTool()
        calls = [call_of("shell", tmp_path, command=f"echo {n}") for n in range(40)]
        return [
            outcome.result["stdout"] for outcome in await asyncio.gather(*map(tool.call, calls))
        ]

    assert asyncio.run(session()) == [f"{n}\n" for n in range(40)]


def test_a_command_does_not_begin_when_its_worker_dies_while_starting_it(tmp_path: Path) -> None:
    worker_code = """
import asyncio, os, sys
from pathlib import Path
from anew.tools import processes
from anew.tools.shell import ShellTool
from tests.tools.code_calls import call_of
def die(life, group):
    Path(sys.argv[1], "group").write_text(f"{group}\\n")
    os.kill(os.getpid(), 9)
processes._tie_lives = die
asyncio.run(ShellTool().call(call_of("shell", Path(sys.argv[1]), command="touch begun")))
"""
    subprocess.run([sys.executable, "-c", worker_code, str(tmp_path)], check=False)
    wait_until_ended(int((tmp_path / "group").read_text()))
    assert not (tmp_path / "begun").exists()


def test_the_author_chooses_the_shell(tmp_path: Path) -> None:
    bash = shell(tmp_path, "set -o pipefail; false | true || [[ a == a ]] && echo $0", shell="bash")
    assert bash.result["stdout"].strip().endswith("bash")
    assert shell(tmp_path, "echo $0").result["stdout"] == "/bin/sh\n"
    for wrong in ("fish", 3):
        assert error_of(shell(tmp_path, "date", shell=wrong))["kind"] == "config"


def test_a_machine_without_the_shell_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = error_of(shell(tmp_path, "date", shell="bash"))
    assert (error["kind"], "no bash" in error["message"]) == ("config", True)
