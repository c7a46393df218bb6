"""Credentials as a user meets them: added once, used by runs, and seen nowhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.example_world import LabThread, bytes_holding
from tests.postgres_server import (  # noqa: F401
    LOCKED_PASSWORD,
    LOCKED_ROLE,
    Database,
    a_database,
)
from tests.surfaces.cli.terminals import Desk, Told, a_desk  # noqa: F401

# What the lab server's /private asks for.
TOKEN = "open-sesame"
USES_TOKEN = """\
metadata: {name: uses_token}
keychain:
  - {name: api}
workflow:
  - step: enter
    tool:
      - private:
          kind: http
          url: "{{ workload.base_url }}/private"
          headers: {Authorization: "Bearer {{ keychain.api.token }}"}
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: fail}}]}}
      - echo:
          kind: http
          url: "{{ workload.base_url }}/echo"
          headers: {X-Token: "{{ keychain.api.token }}"}
          params: {t: "{{ keychain.api.token }}"}
    next: [{step: leak}]
  - step: leak
    tool:
      - shout:
          kind: shell
          command: echo "$T" >&2; exit 3
          env: {T: "{{ keychain.api.token }}"}
          spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: continue, set_ctx: {said: "{{ outcome.error.message }}", same: "{{ keychain.api.token }}"}}}]}}
"""
USES_DATABASE = """\
metadata: {name: uses_database}
workflow:
  - step: who
    tool: {kind: postgres, auth: warehouse, command: "SELECT current_user AS who"}
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[LabThread]:
    with LabThread() as running:
        yield running


def add(desk: Desk, name: str, kind: str, data: object) -> Told:
    file = desk.write("credential.json", json.dumps({"type": kind, "data": data}))
    told = desk.call("credential", "add", name, "--file", file)
    Path(file).unlink()
    return told


def forms(secret: str) -> list[str]:
    return [secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode()]


def test_a_credential_is_added_listed_and_removed_and_never_shown(desk: Desk) -> None:
    added = add(desk, "api", "bearer", {"token": TOKEN})
    assert (added.status, added.err) == (0, "")
    listed = desk.call("credential", "list")
    assert listed.out.split() == ["api", "bearer", "store"]
    assert desk.call("credential", "remove", "api").out == "api is removed\n"
    assert "no credentials" in desk.call("credential", "list").out
    assert TOKEN not in added.out + listed.out
    assert bytes_holding(desk.folder, TOKEN) == []


def test_the_value_reaches_the_server_and_nothing_else(desk: Desk, lab: LabThread) -> None:
    add(desk, "api", "bearer", {"token": TOKEN})
    file = desk.write("uses_token.yaml", USES_TOKEN)
    ran = desk.call("run", file, "--json", "--set", f"base_url={lab.url}")
    assert ran.status == 0, ran.out + ran.err
    said = [desk.call(*words).out for words in _ways_to_look(ran.json["run"])]
    # /private let it in, so it had the value; the echo of it went through the log.
    assert any("X-Token".lower() in text.lower() for text in said)
    assert [form for form in forms(TOKEN) for text in [ran.out, *said] if form in text] == []
    assert [form for form in forms(TOKEN) if bytes_holding(desk.folder, form)] == []


def _ways_to_look(run: str) -> list[tuple[str, ...]]:
    words = [("events", run, "--json"), ("events", run), ("show", run), ("show", run, "--json")]
    return [*words, ("timeline", run, "--lines"), ("timeline", run, "--lanes"), ("runs", "--json")]


def test_a_password_opens_the_database_and_is_in_no_file(desk: Desk, database: Database) -> None:
    if not database.server.is_ours:
        pytest.skip("needs the role of our own server that has a password")
    data = {**database.auth, "user": LOCKED_ROLE, "password": LOCKED_PASSWORD}
    add(desk, "warehouse", "postgres", data)
    ran = desk.call("run", desk.write("who.yaml", USES_DATABASE), "--json")
    assert ran.json["result"]["rows"] == [{"who": LOCKED_ROLE}]
    assert bytes_holding(desk.folder, LOCKED_PASSWORD) == []

    add(desk, "warehouse", "postgres", {**data, "password": "wrong-password"})
    refused = desk.call("run", "who.yaml", "--json")
    assert (refused.status, refused.json["error"]["kind"]) == (1, "auth")
    assert bytes_holding(desk.folder, "wrong-password") == []


def test_a_missing_credential_fails_the_task_with_the_command_that_adds_it(desk: Desk) -> None:
    file = desk.write("who.yaml", USES_DATABASE)
    ran = desk.call("run", file, "--no-preflight", "--json")
    assert ran.status == 1
    assert ran.json["error"]["kind"] == "reference"
    assert "`anew credential add warehouse --file FILE`" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", "x", "--file", "none.json"], "cannot read none.json"),
        (["add", "x", "--file", "bad.json"], "A credential looks like"),
        (["add", "no name", "--file", "good.json"], "cannot be the name of a credential"),
        (["remove", "apj"], "there is no credential 'apj'"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(desk: Desk, words: list[str], told: str) -> None:
    add(desk, "api", "bearer", {"token": TOKEN})
    desk.write("bad.json", f'{{"token": "{TOKEN}"}}')
    desk.write("good.json", f'{{"type": "bearer", "data": {{"token": "{TOKEN}"}}}}')
    answer = desk.call("credential", *words)
    assert answer.status == 2
    assert answer.is_one_clear_line(), answer.err
    assert told in answer.err
    assert TOKEN not in answer.err


def test_a_credential_added_with_another_key_is_refused_in_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_KEY", base64.b64encode(b"a" * 32).decode())
    add(desk, "warehouse", "postgres", {"host": "nowhere", "password": "long-enough"})
    monkeypatch.setenv("ANEW_KEY", base64.b64encode(b"b" * 32).decode())
    file = desk.write("who.yaml", USES_DATABASE)
    assert "Set $ANEW_KEY to the key" in desk.call("run", file).err
    ran = desk.call("run", file, "--no-preflight", "--json")
    assert ran.status == 1
    assert "key" in ran.json["error"]["message"]
    assert "Traceback" not in ran.out + ran.err
