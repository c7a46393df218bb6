"""What only POSIX has is behind one module, which does what it says."""

from __future__ import annotations

import ast
import asyncio
import os
import resource
import signal
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from anew import posix
from anew.surfaces.cli.main import main
from tests.wheels import ROOT

SRC = ROOT / "src" / "anew"
# Where these may be asked for: the two modules that hide them, and the processes of tasks.
ALLOWED = (
    "posix.py", "kernel.py", "tools/processes.py", "tools/descendants.py", "tools/orphans.py",
    "tools/streams.py", "tools/python/", "tools/sandbox/",
)  # fmt: skip
MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
# Attributes that are missing, or do something else, on Windows.
ATTRIBUTES = {
    "os": "O_CLOEXEC O_NOFOLLOW O_NONBLOCK WNOHANG chown fchmod fork geteuid getgid getppid getuid killpg "
    "memfd_create mkfifo pidfd_open set_blocking setsid umask waitpid waitstatus_to_exitcode",
    "signal": "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGSTOP pthread_sigmask setitimer",
    "socket": "AF_UNIX SOCK_SEQPACKET recv_fds send_fds socketpair",
    "asyncio": "open_unix_connection start_unix_server",
    "loop": "add_signal_handler",
}


def asked_for(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, one.name) for one in names if one.name in MODULES)
            case ast.ImportFrom(module=str(module)) if module in MODULES:
                yield node.lineno, module
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if (
                attr in ATTRIBUTES.get(name, "").split()
            ):
                yield node.lineno, f"{name}.{attr}"
            case ast.Attribute(attr="add_signal_handler"):
                yield node.lineno, "add_signal_handler"


def test_nobody_else_asks_for_what_only_posix_has() -> None:
    found = [
        f"{name}:{line} has {what}: ask anew.posix"
        for path in sorted(SRC.rglob("*.py"))
        if not (name := path.relative_to(SRC).as_posix()).startswith(ALLOWED)
        for line, what in asked_for(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_the_rule_sees_each_form() -> None:
    source = "import fcntl\nfrom pwd import getpwnam\nos.getuid()\nself.loop.add_signal_handler(1, f)\nos.getpid()\n"
    assert [line for line, _ in sorted(asked_for(ast.parse(source)))] == [1, 2, 3, 4]


def test_on_windows_it_says_where_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["check", "flow.yaml"]) == 2
    assert "Anew does not run on Windows" in (told := capsys.readouterr().err)
    assert "WSL" in told


def test_a_lock_is_held_until_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    posix.lock(first)
    for is_shared in (True, False):
        with pytest.raises(BlockingIOError):
            posix.lock(second, is_shared=is_shared)
    os.close(first)
    posix.lock(second, waits=True)
    os.close(second)


def test_readers_share_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    posix.lock(first, is_shared=True)
    posix.lock(second, is_shared=True)
    with pytest.raises(BlockingIOError):
        posix.lock(second)
    os.close(first)
    os.close(second)


def test_the_limit_of_open_files_is_that_of_the_process() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        assert posix.open_files_max() == soft - 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_socket_with_a_path_is_for_its_user_alone() -> None:
    async def exchange(path: Path) -> bytes:
        async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readline())
            writer.close()

        async with await posix.listen_at(path, attend, limit=100):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            reader, writer = await posix.connect_to(path, limit=100)
            writer.write(b"hello\n")
            answer = await reader.readline()
            writer.close()
            return answer

    with tempfile.TemporaryDirectory() as folder:  # short, as such a path must be
        assert asyncio.run(exchange(Path(folder) / "s")) == b"hello\n"


def test_what_starts_while_interrupts_are_held_back_is_deaf() -> None:
    with posix.deaf_to_interrupts():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_accounts_are_found_by_name() -> None:
    assert posix.account_ids("root") == (0, 0)
    with pytest.raises(KeyError):
        posix.account_ids("nobody-of-this-name")
