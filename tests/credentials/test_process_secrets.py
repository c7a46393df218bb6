"""The secrets of the process itself: none of them gets into a log, and no honest text is lost."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from anew.credentials import Keychain
from anew.runtime.bootstrap import open_server_engine
from anew.surfaces.api.app import create_app
from anew.surfaces.api.settings import ApiSettings
from tests.example_world import bytes_holding
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

TOKEN = "t0ken+of/the=server"
KEY = base64.b64encode(bytes(range(100, 132))).decode()
PASSWORD = "pass/of the@base"
ADDRESS = f"postgresql://anew:{quote(PASSWORD, safe='')}@127.0.0.1/anew"
PRYING = """\
workflow:
  - step: pry
    tool:
      kind: shell
      command: tr '\\0' '\\n' < /proc/$PPID/environ | grep -E '^(ANEW|PGPASSWORD)'; cat notes
    next: [{step: last}]
  - step: last
    tool: {kind: shell, command: "cat; exit 3", stdin: "{{ pry.stdout }}"}
"""


def forms(secret: str) -> list[str]:
    return [secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode()]


def redacted(text: str, **environ: str) -> str:
    return Keychain(None, environ=environ).redactor.redact_text(text)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_command_that_prints_the_surroundings_of_its_worker_puts_no_secret_into_the_log(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = {
        "ANEW_TOKEN": TOKEN,
        "ANEW_KEY": KEY,
        "ANEW_DB": ADDRESS,
        "PGPASSWORD": "the same one",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    desk.write("pry.yaml", PRYING)
    desk.write("notes", f"in a file: {TOKEN} {ADDRESS}\n")
    ran = desk.open("run", "pry.yaml", "--db", "runs.db", "--json").wait()
    assert ran.status == 1, ran.err
    log = desk.call("events", "last", "--db", "runs.db", "--json").out
    # Nothing is left there; what a command comes across in another way is redacted.
    assert "ANEW_TOKEN=\\n" in log
    assert "in a file: [redacted] postgresql://anew:[redacted]@127.0.0.1/anew" in log
    seen = [
        form
        for secret in (TOKEN, KEY, PASSWORD, "the same one")
        for form in forms(secret)
        if form in log + ran.out + ran.err or set(bytes_holding(desk.folder, form)) - {"notes"}
    ]
    assert seen == []


@pytest.mark.parametrize("name", ["ANEW_TOKEN", "ANEW_KEY", "PGPASSWORD"])
@pytest.mark.parametrize("form", range(3))
def test_each_form_of_an_own_secret_is_taken_out(name: str, form: int) -> None:
    assert redacted(f"it is {forms(TOKEN)[form]}", **{name: TOKEN}).startswith("it is [redacted]")


@pytest.mark.parametrize(
    "address",
    [
        ADDRESS,
        f"postgres://:{quote(PASSWORD, safe='')}@one:5432,two:5433/anew?sslmode=require",
        f"postgresql://db.example/anew?user=anew&password={quote(PASSWORD)}&sslmode=require",
        f"postgresql:///anew?sslpassword={quote(PASSWORD, safe='')}#x",
    ],
)
def test_the_password_of_an_address_is_taken_out_however_it_is_written(address: str) -> None:
    assert redacted(f"<{PASSWORD}>", ANEW_DB=address) == "<[redacted]>"
    shown = redacted(address, ANEW_DB=address)
    assert [form for form in forms(PASSWORD) if form in shown] == []
    assert shown.startswith(address.partition("anew")[0][:12])  # the address itself is no secret


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_the_password_of_the_option_db_is_not_in_the_log(desk: Desk, database: Database) -> None:
    parts = database.auth
    if not database.server.is_ours:
        pytest.skip("needs our own server, which asks for no password")
    user = f"{parts['user']}:{quote(PASSWORD, safe='')}"
    address = f"postgresql://{user}@/{parts['dbname']}?host={parts['host']}"
    desk.write("pry.yaml", PRYING.replace("environ | grep -E '^(ANEW|PGPASSWORD)'", "cmdline"))
    ran = desk.open("run", "pry.yaml", "--db", address, "--json").wait()
    assert ran.status == 1, ran.err
    log = desk.call("events", "last", "--db", address, "--json").out
    assert f"postgresql://{parts['user']}:[redacted]@" in log
    assert [form for form in forms(PASSWORD) if form in log + ran.out + ran.err] == []


def test_the_token_a_server_asks_for_is_taken_out_wherever_it_came_from(tmp_path: Path) -> None:
    async def work() -> str:
        async with open_server_engine(str(tmp_path / "served.db")) as engine:
            app = create_app(engine, ApiSettings(token=TOKEN))
            try:
                return engine.keychain.redactor.redact_text(f"it is {TOKEN}")
            finally:
                await app.state.service.close()

    assert asyncio.run(work()) == "it is [redacted]"


def test_what_is_told_in_another_way_is_taken_out_too() -> None:
    keychain = Keychain(None, environ={})
    keychain.hide(token=TOKEN, address=ADDRESS)
    assert keychain.redactor.redact_text(f"{TOKEN} {PASSWORD}") == "[redacted] [redacted]"


@pytest.mark.parametrize(
    "environ",
    [
        {"ANEW_TOKEN": "short"},
        {"ANEW_TOKEN": ""},
        {"ANEW_DB": "postgresql://postgres:postgres@localhost/postgres"},
        {"ANEW_DB": "postgresql://short-reports:short-reports@localhost/postgres"},
        {"ANEW_DB": "postgresql://anew:@/short?host=/postgres"},
        {"ANEW_DB": "runs/short-reports.db"},
        {"PGPASSWORD": "postgres"},
    ],
)
def test_what_is_no_secret_stays_in_results(environ: dict[str, str]) -> None:
    text = "a short text of short-reports on postgres"
    assert redacted(text, **environ) == text


def test_the_environment_of_this_process_is_the_one_that_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    assert Keychain(None).redactor.redact_text(os.environ["ANEW_TOKEN"]) == "[redacted]"
