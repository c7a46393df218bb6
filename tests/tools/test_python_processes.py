"""The processes of the python tool: reused, bounded, killed, and never more than a task's loss."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from anew.errors import ConfigError
from anew.tools.python import tool as python_tool
from anew.tools.python.tool import PythonTool
from anew.values import Value
from tests.tools.code_calls import (
    call_of,
    cancelled_once,
    error_of,
    has_ended,
    open_files,
    own_children,
    python,
    pythons,
    wait_until_ended,
    with_python,
    written,
)

PID = "import os\nresult = os.getpid()"


def test_a_process_is_used_again(tmp_path: Path) -> None:
    first, second = pythons(tmp_path, PID, PID)
    assert first.result == second.result != os.getpid()


def test_the_process_does_not_import_the_engine(tmp_path: Path) -> None:
    code = "import sys\nresult = sorted({'anew.engine', 'anew.values', 'asyncio', 'msgspec'} & set(sys.modules))"
    assert python(tmp_path, code).result == []


def test_calls_run_beside_each_other_up_to_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PYTHON_PROCESSES", "2")
    # Each of the first two waits for the other; the third gets one of their processes.
    meet = """
import os, pathlib, time
pathlib.Path(f"{n}.here").write_text("x")
while n < 2 and not pathlib.Path(f"{1 - n}.here").exists(): time.sleep(0.002)
result = os.getpid()
"""

    async def work(tool: PythonTool) -> list[Value]:
        calls = [call_of("python", tmp_path, code=meet, args={"n": n}) for n in range(3)]
        return [outcome.result for outcome in await asyncio.gather(*map(tool.call, calls))]

    one, two, three = with_python(work)
    assert one != two
    assert three in (one, two)


DEADLY = {
    "os._exit": ("import os\nprint('last words')\nos._exit(3)", "ended with exit status 3", 3),
    "segfault": (
        "import os\nprint('last words')\nos.kill(os.getpid(), 11)",
        "killed by SIGSEGV",
        "SIGSEGV",
    ),
    "killed": (
        "import os\nprint('last words')\nos.kill(os.getpid(), 9)",
        "memory may have run out",
        "SIGKILL",
    ),
    "closed files": (
        "import os\nprint('last words')\nos.closerange(0, 99)\nresult = 1",
        "closed the channel",
        "ProcessDied",
    ),
    "garbage": (
        "import os\nprint('last words')\nfor fd in range(3, 99):\n    try: os.write(fd, b'garbage!' * 9)\n    except OSError: pass\nresult = 1",
        "wrote to the channel",
        "ProcessDied",
    ),
}


@pytest.mark.parametrize("how", DEADLY)
def test_code_that_kills_its_process_costs_that_task_only(tmp_path: Path, how: str) -> None:
    code, words, name = DEADLY[how]
    dead, alive = pythons(tmp_path, code, "result = 1")
    error = error_of(dead)
    assert (error["kind"], error["code"], error["retryable"]) == ("python_error", name, None)
    assert words in error["message"]
    assert dead.helpers["py"] == {"exception": error["message"], "exception_type": "ProcessDied"}
    assert dead.logs["stdout"] == "last words\n"
    assert alive.result == 1


def test_log_records_before_a_crash_are_kept(tmp_path: Path) -> None:
    outcome = python(tmp_path, "import logging, os\nlogging.info('last words')\nos._exit(1)")
    assert outcome.logs["log"][0]["message"] == "last words"


def test_a_forged_answer_does_not_reach_the_next_call(tmp_path: Path) -> None:
    forge = """
import json, os, struct, sys
body = json.dumps({"result": "forged"}).encode()
for fd in range(3, 1024):
    try: os.write(fd, struct.pack("!IQ", len(body), 2) + body)
    except OSError: pass
result = "true"
"""
    first, second = pythons(tmp_path, forge, "result = 'true'")
    assert first.is_error
    assert second.result == "true"


def test_memory_has_a_limit_when_one_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PYTHON_MEMORY_BYTES_MAX", str(256 << 20))
    hog, after = pythons(tmp_path, "x = bytearray(1 << 30)", "result = len(bytearray(1 << 20))")
    assert error_of(hog)["code"] == "MemoryError"
    assert after.result == 1 << 20


def test_a_process_that_grew_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = "import sys, os\nsys.kept = b'x' * (600 << 20)\nresult = os.getpid()"
    first, second = pythons(tmp_path, keep, PID)
    assert first.result != second.result


def test_a_process_is_replaced_after_many_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_tool, "PROCESS_CALLS_MAX", 2)
    pids = [outcome.result for outcome in pythons(tmp_path, PID, PID, PID)]
    assert pids[0] == pids[1] != pids[2]


@pytest.mark.parametrize(
    "leaves",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()",
        "import subprocess\nsubprocess.Popen(['sleep', '99'])",
        "import os\nif os.fork() == 0: pass",
        "import sys\nsys.stdout = None",
        "import os\nos.close(1)",
    ],
)
def test_what_a_call_leaves_running_or_broken_ends_with_its_process(
    tmp_path: Path, leaves: str
) -> None:
    first, second = pythons(tmp_path, f"{leaves}\n{PID}", PID)
    assert first.error is None
    assert first.result != second.result
    assert has_ended(first.result)


def test_only_the_process_that_was_asked_answers(tmp_path: Path) -> None:
    code = "import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\nresult = 'asked' if child else 'forked'"
    assert python(tmp_path, code).result == "asked"


def test_what_a_call_made_is_let_go_when_it_ends(tmp_path: Path) -> None:
    code = """
class Kept:
    def __del__(self):
        open("gone", "w").close()
kept = Kept()
def main():
    return kept is not None
"""

    async def work(tool: PythonTool) -> bool:
        await tool.call(call_of("python", tmp_path, code=code))
        return (tmp_path / "gone").exists()

    assert with_python(work)


def test_code_that_breaks_its_interpreter_keeps_its_result(tmp_path: Path) -> None:
    first, second = pythons(tmp_path, "import sys\nsys.path = None\nresult = 1", "result = 2")
    assert (first.result, second.result) == (1, 2)


def test_what_went_to_another_stream_is_written_out(tmp_path: Path) -> None:
    python(tmp_path, "import sys\nsys.stdout = open('said', 'w')\nprint('words')")
    assert (tmp_path / "said").read_text() == "words\n"


def test_an_idle_process_that_died_is_not_asked(tmp_path: Path) -> None:
    async def work(tool: PythonTool) -> Value:
        first = (await tool.call(call_of("python", tmp_path, code=PID))).result
        os.kill(first, signal.SIGKILL)
        wait_until_ended(first)
        await asyncio.sleep(0)
        return (await tool.call(call_of("python", tmp_path, code="result = 'alive'"))).result

    assert with_python(work) == "alive"


@pytest.mark.parametrize(
    "forever",
    [
        "while True: pass",
        "import time\nwhile True:\n    try: time.sleep(99)\n    except BaseException: pass",
        "import re\nre.match('(a*)*b', 'a' * 99)",
        "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\ntime.sleep(99)",
        "while True: print('x' * 1000)",
        "import logging\nwhile True: logging.info('x' * 1000)",
    ],
)
def test_cancelling_kills_the_code_and_its_children(tmp_path: Path, forever: str) -> None:
    code = f"import os, subprocess\nchild = subprocess.Popen(['sleep', '99'])\nwith open('pids', 'w') as f: print(os.getpid(), child.pid, file=f)\n{forever}"

    async def work(tool: PythonTool) -> tuple[str, Value]:
        call = call_of("python", tmp_path, code=code)
        pids = await cancelled_once(tool, call, when=tmp_path / "pids")
        assert has_ended(int(pids.split()[0]))
        return pids, (await tool.call(call_of("python", tmp_path, code="result = 1"))).result

    pids, after = with_python(work)
    assert after == 1
    for pid in map(int, pids.split()):
        wait_until_ended(pid)


def test_a_call_that_waits_for_a_process_can_be_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PYTHON_PROCESSES", "1")
    busy = "open('busy', 'w').write('x\\n')\nimport os, time\nwhile not os.path.exists('go'): time.sleep(0.002)\nresult = 1"

    async def work(tool: PythonTool) -> Value:
        first = asyncio.ensure_future(tool.call(call_of("python", tmp_path, code=busy)))
        await written(tmp_path / "busy")
        second = asyncio.ensure_future(tool.call(call_of("python", tmp_path, code="result = 2")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait({second})
        (tmp_path / "go").touch()
        third = await tool.call(call_of("python", tmp_path, code="result = 3"))
        return [(await first).result, second.cancelled(), third.result]

    assert with_python(work) == [1, True, 3]


WORKER = """
import asyncio, sys
from pathlib import Path
from anew.tools.python.tool import PythonTool
from tests.tools.code_calls import call_of
call = call_of("python", Path(sys.argv[1]), code=sys.argv[2])
asyncio.run(PythonTool().call(call))
"""


@pytest.mark.parametrize(
    "forever", ["import time\ntime.sleep(99)", "import re\nre.match('(a*)*b', 'a' * 99)"]
)
def test_code_dies_with_its_worker(tmp_path: Path, forever: str) -> None:
    code = f"import os, subprocess\nchild = subprocess.Popen(['sleep', '99'])\nwith open('pids', 'w') as f: print(os.getpid(), child.pid, file=f)\n{forever}"
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), code])
    pids = asyncio.run(written(tmp_path / "pids"))
    worker.kill()
    worker.wait()
    for pid in map(int, pids.split()):
        wait_until_ended(pid)


def test_an_idle_process_dies_with_its_worker(tmp_path: Path) -> None:
    wait = WORKER.replace(
        "asyncio.run(PythonTool().call(call))",
        textwrap.dedent("""
        async def main():
            tool = PythonTool()
            await tool.call(call)
            Path(sys.argv[1], "idle").write_text("x\\n")
            await asyncio.sleep(99)
        asyncio.run(main())
    """),
    )
    code = "import os\nwith open('pid', 'w') as f: print(os.getpid(), file=f)"
    worker = subprocess.Popen([sys.executable, "-c", wait, str(tmp_path), code])
    asyncio.run(written(tmp_path / "idle"))
    worker.kill()
    worker.wait()
    wait_until_ended(int((tmp_path / "pid").read_text()))


def test_where_the_system_does_not_kill_it_the_process_watches_its_worker(tmp_path: Path) -> None:
    start = """
import os, socket, subprocess, sys, time
ours, theirs = socket.socketpair()
os.set_inheritable(ours.fileno(), True)
fd = theirs.fileno()
command = [sys.executable, "-m", "anew.tools.python.child", str(fd), "0", str(os.getpid())]
child = subprocess.Popen(command, pass_fds=[fd, ours.fileno()], start_new_session=True)
print(child.pid, flush=True)
time.sleep(99)
"""
    with subprocess.Popen(
        [sys.executable, "-c", start], stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        pid = int(worker.stdout.readline())
        worker.kill()
    wait_until_ended(pid)


def test_nothing_is_left_open_or_unreaped(tmp_path: Path) -> None:
    async def work(tool: PythonTool) -> tuple[int, int]:
        codes = ["result = 1", "import os\nos._exit(1)", "import sys\nsys.stdout = None"]
        await tool.call(call_of("python", tmp_path, code=codes[0]))
        before = open_files()
        for n in range(15):
            await tool.call(call_of("python", tmp_path, code=codes[n % 3]))
        await tool.call(call_of("python", tmp_path, code=codes[0]))
        return before, open_files()

    start, children = open_files(), own_children()
    before, after = with_python(work)
    assert after == before
    assert (open_files(), own_children()) == (start, children)


def test_large_arguments_and_results_pass(tmp_path: Path) -> None:
    outcome = python(tmp_path, "return text + 'é'", args={"text": "x" * 5_000_000})
    assert outcome.result == "x" * 5_000_000 + "é"


def test_a_result_that_is_too_large_is_refused(tmp_path: Path) -> None:
    too_much, much_too_much, after = pythons(
        tmp_path, "return 'x' * (49 << 20)", "return ['x' * (1 << 20)] * 130", "return 1"
    )
    assert error_of(too_much)["kind"] == "limit_exceeded"
    assert error_of(much_too_much)["kind"] == "limit_exceeded"
    assert "at most 134,217,728" in error_of(much_too_much)["message"]
    assert after.result == 1


def test_a_setting_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_PYTHON_PROCESSES", "many")
    with pytest.raises(ConfigError, match="ANEW_PYTHON_PROCESSES is 'many'"):
        PythonTool()


def test_modules_beside_the_document_are_new_to_each_call_whatever_code_took_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text("count = 0\n")
    code = """
import sys
import mine
mine.count += 1
sys.modules.pop(next(name for name in reversed(sys.modules) if name != "mine"), None)
return mine.count
"""
    assert [outcome.result for outcome in pythons(tmp_path, code, code, code)] == [1, 1, 1]
