"""Tasks that look for the secrets of the process that executes them."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from anew import environment as own
from anew.errors import ConfigError
from anew.stores.postgres.connection import connect, connection_info
from anew.surfaces.cli.command_table import COMMANDS
from anew.tools.task_process import command_environment, python_environment
from tests.abuse.unprivileged import folder_for_nobody, run_as_nobody
from tests.tools.code_calls import python, shell

SOURCES = Path(own.__file__).parent
SECRET = "a-secret-that-nobody-may-see"
# Of Anew itself; they are withdrawn once they are read.
OWN = {
    "ANEW_TOKEN": SECRET,
    "ANEW_KEY": SECRET,
    "ANEW_CREDENTIAL_SHOP": json.dumps({"type": "http", "data": {"token": SECRET}}),
    "ANEW_CREDENTIAL_": SECRET,
    "ANEW_DB": f"postgresql://anew:{SECRET}@127.0.0.1:1/anew",
    "PGPASSWORD": SECRET,
}
# What other programs keep in an environment, or are led by.
OTHERS = """
AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET
GOOGLE_APPLICATION_CREDENTIALS GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN NPM_TOKEN PYPI_TOKEN VAULT_TOKEN
OPENAI_API_KEY ANTHROPIC_API_KEY OPENAI_CUSTOM_HEADERS DATABASE_URL REDIS_URL MYSQL_PWD PGPASSFILE
PGSERVICEFILE PGSSLKEY DOCKER_AUTH_CONFIG DOCKER_HOST KUBECONFIG SSH_AUTH_SOCK GPG_AGENT_INFO
HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY SENTRY_DSN SLACK_TOKEN DJANGO_SECRET_KEY
LD_PRELOAD LD_AUDIT PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE
BASH_ENV ENV GIT_ASKPASS GIT_SSH_COMMAND EDITOR DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS
ANEW_SERVER ANEW_SCRATCH ANEW_AGENT_COMMAND ANEW_TASK_ENV Anew_Token anew_key
""".split()
KINDS = {
    "python": python_environment,
    "shell": lambda: command_environment({}, {}),
    "agent": lambda: command_environment({}, {}, allowed_by="ANEW_AGENT_ENV"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*OWN, *OTHERS])
def test_no_task_inherits(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, OWN.get(name, "x"))
    assert name not in KINDS[kind]()


@pytest.mark.parametrize("setting", ["ANEW_TASK_ENV", "ANEW_AGENT_ENV"])
@pytest.mark.parametrize("name", ["ANEW_TOKEN", "ANEW_KEY", "ANEW_DB", "ANEW_CREDENTIAL_SHOP"])
@pytest.mark.parametrize("written", ["{}", "LANG,{}", " {} ", "LANG\n{}\tTZ"])
def test_no_setting_hands_out_a_secret_of_anew(
    setting: str, name: str, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv(setting, written.format(name))
    with pytest.raises(ConfigError, match=f"{setting} names {name}") as refused:
        KINDS["agent"]()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_operator_names_passes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKET", "7")
    monkeypatch.setenv("ANEW_TASK_ENV", "ABSENT, TICKET")
    assert KINDS[kind]()["TICKET"] == "7"


def test_real_processes_have_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*OWN, *OTHERS]:
        if not name.startswith(("LD_", "ANEW_TASK")):
            monkeypatch.setenv(name, SECRET)
    look = "return [dict(__import__('os').environ), open('/proc/self/environ').read()]"
    if os.geteuid() != 0:  # a process that only root may read cannot read itself there either
        look = "return [dict(__import__('os').environ), '']"
    assert SECRET not in json.dumps(python(tmp_path, look).result)
    assert SECRET not in json.dumps(shell(tmp_path, "env; set; export -p").result)


# --- a process that has withdrawn its secrets -------------------------------------------------


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What is left to be seen of a process that holds every secret of Anew."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asker = threading.Thread(target=_ask_for_password, args=(listener, heard))
        asker.start()
        port = str(listener.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "tests.abuse.withdrawing", port],
            env={**os.environ, **OWN},
            capture_output=True,
            text=True,
            check=True,
        )
        asker.join()
    return {**json.loads(done.stdout), "sent": b"".join(heard)}


def _ask_for_password(listener: socket.socket, heard: list[bytes]) -> None:
    """As a server of PostgreSQL that wants it in clear."""
    connection, _ = listener.accept()
    with connection:
        heard.append(connection.recv(4096))
        connection.sendall(b"R" + struct.pack("!II", 8, 3))
        while data := connection.recv(4096):
            heard.append(data)


@pytest.mark.parametrize("where", ["os.environ", "proc", "program", "shell", "arguments"])
@pytest.mark.parametrize("name", OWN)
def test_a_withdrawn_secret_is_not_in(seen: dict[str, Any], name: str, where: str) -> None:
    text = json.dumps(seen[where])
    assert f"{name}={OWN[name]}" not in text
    assert SECRET not in text


@pytest.mark.parametrize("name", OWN)
def test_anew_itself_still_reads(seen: dict[str, Any], name: str) -> None:
    assert seen["readable"][name] == OWN[name]


def test_a_task_cannot_have_the_password_of_our_database_sent_elsewhere(
    seen: dict[str, Any],
) -> None:
    assert b"user" in seen["sent"]
    assert SECRET.encode() not in seen["sent"]
    assert "no password supplied" in seen["database"]


def test_the_process_cannot_be_read_by_its_user(seen: dict[str, Any]) -> None:
    assert seen["dumpable"] == 0


def test_a_debugger_may_be_let_in() -> None:
    code = "import ctypes; from anew.environment import protect_process; protect_process(); raise SystemExit(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    env = {**os.environ, "ANEW_DUMPABLE": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 1


@pytest.mark.parametrize("place", ["anew.db", "sqlite:///a@b.db", "postgresql://anew@db/anew"])
def test_a_database_without_a_password_is_no_secret(place: str) -> None:
    assert not own._is_secret("ANEW_DB", place)


@pytest.mark.parametrize(
    "place",
    [
        "postgresql://anew:pass@db/anew",
        "postgres://anew:p@ss@db/anew",
        "postgresql://:pass@db/anew",
        "postgresql://db/anew?user=anew&password=pass",
        "postgresql://db/anew?sslpassword=pass",
        "POSTGRESQL://anew:pass@db/anew",
    ],
)
def test_a_database_with_a_password_is_a_secret(place: str) -> None:
    assert own._is_secret("ANEW_DB", place)


@pytest.mark.parametrize(
    ("url", "password"),
    [
        ("postgresql://anew@db/anew", SECRET),
        ("postgresql://anew:other@db/anew", "other"),
        ("postgresql://anew@db/anew?password=other", "other"),
    ],
)
def test_our_own_connection_still_gets_its_password(
    url: str, password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    async def caught(**settings: Any) -> None:
        given.update(settings)
        raise psycopg.OperationalError("as asked")

    monkeypatch.setattr(own, "_withdrawn", {"PGPASSWORD": SECRET})
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setattr(psycopg.AsyncConnection, "connect", caught)
    with pytest.raises(psycopg.OperationalError, match="as asked"):
        asyncio.run(connect(connection_info(url, is_pooled=False)))
    assert given["password"] == password


# --- a whole run, by a user who is not root ---------------------------------------------------

LOOKS = """
metadata: {name: looks}
workflow:
- step: by_shell
  tool:
    kind: shell
    command: |
      for pid in $PPID $(ps -o ppid= -p $PPID 2>/dev/null); do
        for file in environ mem fd cwd exe auxv; do
          ls -l /proc/$pid/$file/ >> shell.txt 2>/dev/null
          tr '\\0' '\\n' < /proc/$pid/$file 2>/dev/null | head -c 100000 >> shell.txt
        done
      done
      cat /proc/[0-9]*/cmdline | tr '\\0' ' ' > arguments.txt 2>/dev/null; env >> shell.txt; echo looked >> shell.txt
  next: by_python
- step: by_python
  tool:
    kind: python
    code: |
      import os
      pid, found = os.getpid(), [dict(os.environ)]
      while pid > 1:
          for name in ("environ", "mem", "maps", "auxv"):
              try:
                  with open(f"/proc/{pid}/{name}", "rb") as file: found.append(file.read(100000))
              except OSError as problem: found.append(problem.strerror)
          pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
      open("python.txt", "w").write(repr(found))
"""


@pytest.fixture(scope="module")
def looked() -> dict[str, str]:
    secrets = {name: value for name, value in OWN.items() if name != "ANEW_DB"}
    others = {"AWS_SECRET_ACCESS_KEY": SECRET, "DATABASE_URL": f"x://u:{SECRET}@h"}
    words = ("run", "looks.yaml", "--db", "looks.db")
    with folder_for_nobody() as folder:
        (folder / "looks.yaml").write_text(LOOKS)
        run_as_nobody("anew", *words, folder=folder, **secrets, **others)
        names = ("shell.txt", "python.txt", "arguments.txt")
        return {name: (folder / name).read_text() for name in names}


@pytest.mark.parametrize("by", ["shell.txt", "python.txt", "arguments.txt"])
def test_a_task_of_a_real_run_finds_no_secret_above_it(looked: dict[str, str], by: str) -> None:
    assert looked[by]
    assert SECRET not in looked[by]


def test_a_task_sees_that_its_worker_is_closed_to_it(looked: dict[str, str]) -> None:
    assert "Permission denied" in looked["python.txt"]
    assert "looked" in looked["shell.txt"]


# --- names that are there twice ---------------------------------------------------------------


class Repeated(dict[str, str]):
    """An environment as only the system call takes it: each name several times."""

    def items(self) -> Any:
        others = [(name, "x") for _ in range(40) for name in ("FILLER", "OTHER")]
        return others + 3 * list(super().items())


def test_a_secret_that_is_there_twice_is_erased_twice() -> None:
    """`os.environ` has each name once, and so counts fewer than there are."""
    code = (
        "from anew.environment import withdraw_secrets; withdraw_secrets(); "
        "print(open('/proc/self/environ').read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=Repeated({"ANEW_TOKEN": SECRET, "ANEW_KEY": SECRET}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("FILLER=x") == 40
    assert done.stdout.count("ANEW_TOKEN=") == 3
    assert SECRET not in done.stdout


# --- every command that executes tasks protects itself ----------------------------------------


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module
    }


@pytest.mark.parametrize("word", [row.word for row in COMMANDS])
def test_a_command_that_may_execute_tasks_protects_itself(word: str) -> None:
    row = next(row for row in COMMANDS if row.word == word)
    path = SOURCES.parent / f"{row.module.replace('.', '/')}.py"
    opening = {
        "anew.runtime.bootstrap",
        "anew.surfaces.cli.run_execution",
        "anew.surfaces.cli.command_sending",
    }
    assert row.works == bool(_imported(path) & opening)
