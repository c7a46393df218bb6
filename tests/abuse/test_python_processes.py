"""Python code that wants to outlive its call, or to get at the calls of another run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anew.tools.descendants import children_of
from anew.tools.python.pool import PYTHON_IDLE_PROCESSES_MAX
from anew.values import Value
from tests.abuse.neighbours import SECRET
from tests.abuse.python_world import World, new_run, pids_in, world
from tests.abuse.unprivileged import folder_for_nobody, run_as_nobody
from tests.tools.code_calls import has_ended, wait_until_ended, written


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("python")) as made:
        yield made


# What the code below shares. `stay` is what a process does that wants to outlive its call; a thread
# must not look a name up once the call is over, because its namespace is empty then.
PRELUDE = """
import ctypes, os, platform, signal, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None)
CLONE = {"x86_64": 56}.get(platform.machine(), 220)
def here():
    with open(pids, "a") as file: file.write(f"{os.getpid()}\\n")
def stay(sleep=time.sleep):
    here()
    while True: sleep(60)
def forked(work):
    if (pid := os.fork()) == 0:
        try: work()
        finally: os._exit(0)
    return pid
def twice(work, between=lambda: None):
    def first():
        between()
        forked(work)
    os.waitpid(forked(first), 0)
def sh(text, **how):
    return subprocess.Popen(["/bin/sh", "-c", text.replace("PIDS", pids)], **how)
def to_all(data):
    for fd in range(3, 64):
        try: os.write(fd, data)
        except OSError: pass
def forging():
    here()
    frame = b'{"result":"forged"}'
    while True:
        to_all(struct.pack("!IQ", len(frame), 1) + frame)
        open(pids + ".forged", "w").close()
        time.sleep(0.001)
def reading():
    here()
    while True:
        for fd in range(3, 64):
            try:
                os.set_blocking(fd, False)
                os.read(fd, 65536)
            except OSError: pass
        time.sleep(0.001)
def relay(left):
    here()
    if left: forked(lambda: relay(left - 1))
    os._exit(0)
"""

# Ways to leave a process behind.
LEAVES = {
    "a fork": "forked(stay)",
    "a fork in a session of its own": "forked(lambda: (os.setsid(), stay()))",
    "a fork in a group of its own": "forked(lambda: (os.setpgid(0, 0), stay()))",
    "a double fork": "twice(stay)",
    "a daemon": "twice(stay, os.setsid)",
    "a triple fork": "twice(lambda: twice(stay, os.setsid), os.setsid)",
    "a daemon past the subreaper": "libc.prctl(36, 0, 0, 0, 0)\ntwice(stay, os.setsid)",
    "a sibling": "if libc.syscall(CLONE, 0x8000 | 17, 0, 0, 0, 0) == 0: stay()",
    "a daemon that ignores signals": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\ntwice(stay, os.setsid)",
    "a stopped process": "forked(lambda: (here(), os.kill(os.getpid(), signal.SIGSTOP)))",
    "a reaper with children": "forked(lambda: (libc.prctl(36, 1, 0, 0, 0), twice(stay), stay()))",
    "a program": "subprocess.Popen(['/bin/sleep', '99'])\nhere()",
    "a program in a session of its own": "sh('echo $$ >> PIDS; exec sleep 99', start_new_session=True)",
    "a job of a shell": "sh('sleep 99 & echo $! >> PIDS').wait()",
    "a job that ignores hangup": 'sh(\'trap "" HUP TERM; (setsid sh -c "echo \\\\$\\\\$ >> PIDS; sleep 99; true" &)\').wait()',
    "a process of multiprocessing": "import multiprocessing\nmultiprocessing.get_context('fork').Process(target=stay, daemon=True).start()",
    "a thread": "threading.Thread(target=stay).start()",
    "a daemon thread": "threading.Thread(target=stay, daemon=True).start()",
    "a bare thread": "import _thread\n_thread.start_new_thread(stay, ())",
    "a reader of every file": "twice(reading, os.setsid)",
    # The call goes no further before it has been written to.
    "a writer to every file": """twice(forging, os.setsid)
while not os.path.exists(pids + ".forged"): time.sleep(0.001)""",
    "a daemon without files": "twice(lambda: (here(), os.closerange(0, 64), time.sleep(99)), os.setsid)",
    "a relay": "twice(lambda: relay(100), os.setsid)",
    "a crowd": "for _ in range(30): twice(stay, os.setsid)",
}

# Ways for the call itself to end.
ENDS = {
    "returns": "result = 'done'",
    "raises": "raise ValueError('on purpose')",
    "exits": "sys.exit(3)",
    "dies": "os._exit(3)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "is cancelled": "time.sleep(99)",
}
UNTIL_HERE = "while not (os.path.exists(pids) and os.path.getsize(pids)): time.sleep(0.001)\n"
VICTIM = "return [secret, __import__('os').getpid()]"


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("leaves", LEAVES)
def test_nothing_outlives_its_call(python: World, tmp_path: Path, leaves: str, end: str) -> None:
    thief, pids = new_run("thief"), tmp_path / "pids"
    code = f"{PRELUDE}\n{LEAVES[leaves]}\n{UNTIL_HERE}{ENDS[end]}"
    if end == "is cancelled":
        python.cancelled(thief, code, when=pids, pids=str(pids))
    else:
        outcome = python.call(thief, code, pids=str(pids))
        # One that writes to the channel costs its own call.
        assert outcome.is_error == (end != "returns" or leaves == "a writer to every file")
    left = [pid for pid in pids_in(pids) if pid != os.getpid() and not has_ended(pid)]
    assert left == []
    assert python.strays() == set()
    outcome = python.call(new_run("victim"), VICTIM, secret="of the victim")
    assert outcome.result[0] == "of the victim"


def test_a_thief_learns_nothing_and_forges_nothing(python: World, tmp_path: Path) -> None:
    """A grandchild that kept the channel of its process, while other runs are called."""
    steal = tmp_path / "stolen"
    code = f"""{PRELUDE}
def thief():
    os.setsid()
    here()
    while True:
        for fd in range(3, 64):
            try:
                os.set_blocking(fd, False)
                data = os.read(fd, 65536)
                with open({str(steal)!r}, "ab") as file: file.write(data)
                frame = b'{{"result":"forged"}}'
                os.write(fd, struct.pack("!I", len(frame)) + data[4:12] + frame)
            except OSError: pass
twice(thief)
{UNTIL_HERE}"""
    python.call(new_run("thief"), code, pids=str(tmp_path / "pids"))
    for number in range(8):
        outcome = python.call(new_run("victim"), VICTIM, secret=f"secret {number}")
        assert outcome.result[0] == f"secret {number}"
    assert not steal.exists() or b"secret" not in steal.read_bytes()


# What code can do to the process it runs in, and what another run would notice.
POISONS = {
    "json": "import json\njson.dumps = lambda *a, **k: '{}'",
    "json.loads": "import json\njson.loads = lambda *a, **k: {}",
    "os.read": "import os\nreal = os.read\nos.read = lambda *a: (seen.append(1), real(*a))[1]\nseen = []",
    "os.write": "import os\nreal = os.write\nos.write = lambda fd, data: real(fd, data)",
    "builtins.open": "import builtins\nbuiltins.open = None",
    "builtins.print": "import builtins\nbuiltins.print = lambda *a, **k: None",
    "builtins.len": "import builtins\nbuiltins.len = lambda x: 7",
    "the child's own module": "import sys\nsys.modules['anew.tools.python.child']._answer = None",
    "the code that runs code": "import anew.tools.python.child as c\nc.run = lambda *a, **k: 'forged'",
    "the code that checks results": "import anew.tools.python.child as c\nc.plain = lambda x: 'forged'",
    "the code that cleans up": "import anew.tools.python.process_state as s\ns.Surroundings.put_back = lambda self: True",
    "settrace": "import sys\nsys.settrace(lambda *a: None)",
    "setprofile": "import sys\nsys.setprofile(lambda *a: None)",
    "an audit hook": "import sys\nsys.addaudithook(lambda *a: None)",
    "an import hook": "import sys\nsys.meta_path.insert(0, type('H', (), {'find_spec': lambda *a: None})())",
    "a path hook": "import sys\nsys.path.insert(0, '/tmp')",
    "a fake module": "import sys, types\nsys.modules['decimal'] = types.ModuleType('decimal')",
    "atexit": "import atexit, os\natexit.register(os.abort)",
    "a signal handler": "import signal\nsignal.signal(signal.SIGUSR1, lambda *a: None)",
    "blocked signals": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
    "a timer": "import signal\nsignal.setitimer(signal.ITIMER_VIRTUAL, 99)",
    "umask": "import os\nos.umask(0)",
    "the folder": "import os\nos.chdir('/')",
    "a limit of files": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))",
    "a limit of time": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (99, 99))",
    "priority": "import os\nos.nice(5)",
    "the environment": "import os\nos.environ['PATH'] = '/nowhere'",
    "C environment": "import ctypes\nctypes.CDLL(None).setenv(b'PATH', b'/nowhere', 1)",
    "the recursion limit": "import sys\nsys.setrecursionlimit(60)",
    "a log handler": "import logging\nlogging.getLogger('x').addHandler(logging.NullHandler())",
    "warnings": "import warnings\nwarnings.simplefilter('error')",
    "the garbage collector": "import gc\ngc.disable()",
    "random numbers": "import random\nrandom.seed(1)\nrandom.seed = lambda *a: None",
    "standard output": "import os\nos.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
    "standard input": "import os\nos.dup2(os.open('/etc/passwd', os.O_RDONLY), 0)",
    "memory": "import sys\nsys.kept = bytearray(1 << 24)",
    "a secret kept": "import builtins\nbuiltins.kept = 'secret of the thief'",
}
CLEAN = """
import builtins, gc, json, logging, os, resource, signal, sys, decimal, random
print('said')
mask = os.umask(0o22); os.umask(mask)
result = [
    json.loads(json.dumps({'a': len('four')})), callable(builtins.open), hasattr(builtins, 'kept'),
    sys.gettrace() is None, sys.getprofile() is None, len(sys.meta_path), '/tmp' in sys.path,
    hasattr(decimal, 'Decimal'), signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL,
    sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), signal.getitimer(signal.ITIMER_VIRTUAL),
    mask, os.getcwd(), resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0),
    resource.getrlimit(resource.RLIMIT_CPU), os.environ.get('PATH'), sys.getrecursionlimit(),
    logging.getLogger('x').handlers == [], gc.isenabled(), hasattr(sys, 'kept'),
    callable(random.seed), os.read(0, 10) == b'', os.read.__module__, os.write.__module__,
]
"""


@pytest.fixture(scope="module")
def clean(python: World) -> list[object]:
    outcome = python.call(new_run("first"), CLEAN)
    assert outcome.error is None, outcome
    return outcome.result


@pytest.mark.parametrize("poison", POISONS)
def test_no_run_finds_what_another_left_in_a_process(
    python: World, clean: list[object], poison: str
) -> None:
    thief = new_run("thief")
    python.call(thief, f"{POISONS[poison]}\nresult = 1")
    python.call(thief, "result = 2")
    outcome = python.call(new_run("victim"), CLEAN)
    assert (outcome.error, outcome.result) == (None, clean)
    assert outcome.logs["stdout"] == "said\n"


# What code writes to the channel of its own process.
FRAMES = {
    "an answer": """frame(b'{"result":"forged"}')""",
    "answers to many numbers": """for n in range(999): frame(b'{"result":"forged"}', n)""",
    "an answer to its own number": """frame(b'{"result":"forged"}', number())""",
    "two answers to its own number": """for _ in "12": frame(b'{"result":"forged"}', number())""",
    "a length without a message": "to_all(struct.pack('!IQ', 1 << 26, 1))",
    "a length past the limit": "to_all(struct.pack('!IQ', 0xFFFFFFFF, 1))",
    "its number and a length past the limit": "to_all(struct.pack('!IQ', 1 << 31, number()))",
    "half a header": "to_all(b'\\x00')",
    "an empty message": "frame(b'')",
    "its number and an empty message": "frame(b'', number())",
    "no JSON": "frame(b'{{{{', number())",
    "deep JSON": "frame(b'[' * 100000, number())",
    "a list": "frame(b'[1]', number())",
    "wrong types": """frame(b'{"result":1,"error":7}', number())""",
    "a log that is none": """frame(b'{"log":', number())""",
    "a log of the wrong type": """frame(b'{"log":7}', number())""",
    "a mebibyte of noise": "to_all(os.urandom(1 << 20))",
}
# Code can find the number of its own call; only that of its own.
NUMBER = """
def frame(body, number=1): to_all(struct.pack("!IQ", len(body), number) + body)
def number():
    import gc
    from anew.tools.python.child import Channel
    return next(o._number for o in gc.get_objects() if isinstance(o, Channel))
"""


@pytest.mark.parametrize("frame", FRAMES)
def test_what_code_writes_to_its_channel_reaches_no_other_call(python: World, frame: str) -> None:
    thief = new_run("thief")
    code = f"{PRELUDE}\n{NUMBER}\n{FRAMES[frame]}\nresult = 'true'"
    python.call(thief, code, pids="")
    # Its own run may pay for it once more; nobody else does.
    outcome = python.call(thief, VICTIM, secret="its own")
    assert outcome.is_error or outcome.result[0] == "its own"
    for run in (thief, new_run("victim"), new_run("victim")):
        assert python.call(run, VICTIM, secret=run).result[0] == run


def test_a_process_belongs_to_one_run(python: World) -> None:
    runs = [new_run("run") for _ in range(4)]
    pids = {run: python.call(run, VICTIM, secret="").result[1] for run in runs}
    assert len(set(pids.values())) == len(runs)
    for run in reversed(runs):
        assert python.call(run, VICTIM, secret="").result[1] == pids[run]


def test_a_process_has_no_file_of_the_worker_or_of_another_run(python: World) -> None:
    look = """
import os
found = {}
for name in os.listdir('/proc/self/fd'):
    try: found[int(name)] = os.readlink(f'/proc/self/fd/{name}').partition(':')[0]
    except OSError: pass
result = sorted(found.values())
"""
    for _ in range(3):
        python.call(new_run("other"), "result = 1")
    assert python.call(new_run("run"), look).result == ["/dev/null", "pipe", "pipe", "socket"]


def test_a_program_that_code_starts_does_not_get_the_channel(python: World) -> None:
    code = "import subprocess\nreturn subprocess.run('ls -l /proc/self/fd', shell=True, capture_output=True, text=True, close_fds=False).stdout"
    assert "socket" not in python.call(new_run("run"), code).result


def test_the_run_that_ended_leaves_no_process(python: World) -> None:
    run = new_run("run")
    pid = python.call(run, VICTIM, secret="").result[1]
    python.tool.run_ended(run)
    python.call(new_run("other"), "result = 1")
    python.run(_settled(python))
    assert has_ended(pid)


async def _settled(python: World) -> None:
    for task in list(python.tool._pool._stopping):
        await task


def test_code_that_kills_the_fork_server_costs_that_call_only(tmp_path: Path) -> None:
    with world(tmp_path) as python:
        neighbour = python.call("neighbour", VICTIM, secret="").result[1]
        outcome = python.call(
            "thief", "import os\nos.kill(os.getppid(), 9)\nimport time\ntime.sleep(99)"
        )
        assert outcome.is_error
        wait_until_ended(neighbour)
        assert python.call("victim", VICTIM, secret="mine").result[0] == "mine"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGHUP])
def test_other_signals_to_the_fork_server_cost_no_more(
    tmp_path: Path, number: signal.Signals
) -> None:
    with world(tmp_path) as python:
        python.call("thief", f"import os\nos.kill(os.getppid(), {int(number)})")
        assert python.call("victim", VICTIM, secret="mine").result[0] == "mine"


STOP = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\n"


def test_a_fork_server_that_was_stopped_goes_on(tmp_path: Path) -> None:
    with world(tmp_path) as python:
        python.call("thief", f"{STOP}return 1")
        stopped = python.server
        python.tool.run_ended("thief")
        assert python.call("victim", VICTIM, secret="mine").result[0] == "mine"
        assert python.server == stopped


def test_a_fork_server_that_stays_stopped_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was below it is gone: it cannot end that any more."""
    monkeypatch.setattr("anew.tools.python.forks.RESUMES_MAX", 0)
    pids = tmp_path / "pids"
    code = f"{PRELUDE}\ntwice(stay, os.setsid)\n{UNTIL_HERE}{STOP}stay()"
    with world(tmp_path) as python:

        async def victim() -> Value:
            thief = python.call_of("thief", code, pids=str(pids))
            stopped = asyncio.ensure_future(python.tool.call(thief))
            await _lines(pids, 2)
            server = python.server
            outcome = await python.tool.call(python.call_of("victim", VICTIM, secret="mine"))
            assert (await stopped).is_error
            assert python.server != server
            return outcome.result[0]

        assert python.run(victim()) == "mine"
        assert [pid for pid in pids_in(pids) if not has_ended(pid)] == []


async def _lines(path: Path, number: int) -> None:
    while len(pids_in(path)) < number:
        await asyncio.sleep(0.002)


def test_a_fork_server_that_was_stopped_ends_by_itself(tmp_path: Path) -> None:
    with world(tmp_path) as python:
        python.call("thief", f"{STOP}return 1")
        server = python.tool._hosts._server
        assert server is not None
    assert server._process.exited.result() == 0


def test_idle_processes_of_many_runs_are_bounded(tmp_path: Path) -> None:
    with world(tmp_path) as python:
        for number in range(PYTHON_IDLE_PROCESSES_MAX + 6):
            python.call(f"run {number}", "result = 1")
        python.run(_settled(python))
        # And the spare one, which is there or about to be.
        assert len(children_of(python.server)) <= PYTHON_IDLE_PROCESSES_MAX + 1


def test_a_spare_process_is_made_for_the_second_run_and_has_run_nothing(tmp_path: Path) -> None:
    with world(tmp_path) as python:
        first = python.call("first", VICTIM, secret="").result[1]
        assert python.tool._spare._timer is None
        assert children_of(python.server) == {first}
        second = python.call("second", VICTIM, secret="").result[1]
        spare = python.run(_spare(python))
        assert spare not in (first, second)
        assert python.call("second", VICTIM, secret="").result[1] == second
        assert python.call("third", VICTIM, secret="").result[1] == spare
        assert python.call("fourth", VICTIM, secret="").result[1] != spare


def test_a_spare_process_that_was_killed_costs_no_call(tmp_path: Path) -> None:
    with world(tmp_path) as python:
        for run in ("first", "second"):
            python.call(run, "result = 1")
        spare = python.run(_spare(python))
        os.kill(spare, signal.SIGKILL)
        wait_until_ended(spare)
        assert python.call("third", VICTIM, secret="mine").result[0] == "mine"


async def _spare(python: World) -> int:
    """The process that waits for a run, once it is there."""
    while (spare := python.tool._spare._process) is None:
        await asyncio.sleep(0.002)
    assert await spare._process.has_started()
    (pid,) = {fork.pid for fork in python.forks() if fork is spare._process}
    assert pid is not None
    return pid


def test_a_process_that_waits_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.tools.python.pool.PYTHON_IDLE_SECONDS_MAX", 0.01)
    with world(tmp_path) as python:
        pid = python.call("run", VICTIM, secret="").result[1]
        python.run(_gone(pid))


async def _gone(pid: int) -> None:
    while not has_ended(pid):
        await asyncio.sleep(0.002)


WORKER = """
import asyncio, sys
from pathlib import Path
from anew.tools.python.tool import PythonTool
from tests.tools.code_calls import call_of
call = call_of("python", Path(sys.argv[1]), code=sys.argv[2], args={"pids": sys.argv[3]})
asyncio.run(PythonTool().call(call))
"""


@pytest.mark.parametrize("leaves", ["a fork", "a daemon", "a triple fork", "a crowd", "a sibling"])
def test_nothing_outlives_a_worker_that_was_killed(tmp_path: Path, leaves: str) -> None:
    pids = tmp_path / "pids"
    code = f"{PRELUDE}\n{LEAVES[leaves]}\n{UNTIL_HERE}here()\nopen(pids + '.all', 'w').write('x\\n')\ntime.sleep(99)"
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), code, str(pids)])
    asyncio.run(written(Path(f"{pids}.all")))
    worker.kill()
    worker.wait()
    for pid in pids_in(pids):
        wait_until_ended(pid)


@pytest.mark.parametrize("leaves", ["a fork", "a daemon"])
def test_nothing_outlives_a_worker_whose_fork_server_was_stopped(
    tmp_path: Path, leaves: str
) -> None:
    pids = tmp_path / "pids"
    code = f"""{PRELUDE}
{LEAVES[leaves]}
{UNTIL_HERE}here()
server = os.getppid()
os.kill(server, signal.SIGSTOP)
open(pids + '.all', 'w').write(f'{{server}}\\n')
time.sleep(99)"""
    worker = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), code, str(pids)])
    server = int(asyncio.run(written(Path(f"{pids}.all"))))
    worker.kill()
    worker.wait()
    for pid in (*pids_in(pids), server):
        wait_until_ended(pid)


@pytest.fixture(scope="module")
def neighbours() -> dict[str, Any]:
    with folder_for_nobody() as folder:
        told = run_as_nobody("tests.abuse.neighbours", str(folder), folder=folder)
    found: dict[str, Any] = json.loads(told)
    return found


PROBES = (
    *("environment", "memory", "memory written", "files", "files opened", "auxv", "stack"),
    *("system call", "folder", "program", "attach", "seize", "file taken"),
    "memory through the kernel",
)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("target", ["the victim", "the fork server", "the worker"])
def test_code_cannot_read_another_process_of_its_user(
    neighbours: dict[str, Any], target: str, probe: str
) -> None:
    assert neighbours[target][probe] == "refused"


def test_arguments_which_everyone_can_read_hold_no_secret(neighbours: dict[str, Any]) -> None:
    assert neighbours["told"] == SECRET
    assert SECRET not in neighbours["arguments"]


def test_a_shell_command_cannot_read_its_worker(neighbours: dict[str, Any]) -> None:
    assert neighbours["shell"] == ""
