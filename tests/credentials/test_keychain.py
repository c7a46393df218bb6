"""Keychains: which credential is meant, what its fields are called, how long an answer holds."""

import asyncio
import json
from pathlib import Path

import pytest

from anew.credentials import Keychain, MissingCredential
from anew.credentials.tool import SecretsTool
from anew.engine.secrets import MissingSecret, Unavailable
from anew.errors import ConfigError
from anew.tool import AttemptRef, Call, Timeout
from tests.credentials.rings import STEP, environ_of, keychain_of, program_of

TOKEN = "t0ken-of-github"


def read(document, credentials, folder=Path()):
    secrets = asyncio.run(keychain_of(credentials).secrets_for(program_of(document), folder=folder))
    return secrets.ring


def test_a_program_without_a_keychain_has_no_secrets():
    assert asyncio.run(keychain_of({}).secrets_for(program_of(STEP))) is None


@pytest.mark.parametrize("kind", ["secrets, name: x", "playbook, path: x"])
def test_a_program_that_can_come_across_secrets_has_some(kind):
    program = program_of(f"workflow: [{{step: start, tool: {{kind: {kind}}}}}]")
    assert asyncio.run(keychain_of({}).secrets_for(program)) is not None


def test_a_child_may_be_given_references():
    keychain, program = keychain_of({"gh": {"token": TOKEN}}), program_of(STEP)
    secrets = asyncio.run(keychain.secrets_for(program, is_child=True))
    with pytest.raises(MissingSecret) as missing:
        secrets.open({"$secret": "gh.token"})
    keychain.learn(program, missing.value)
    secrets = asyncio.run(keychain.secrets_for(program, is_child=True))
    assert secrets.open({"$secret": "gh.token"}) == TOKEN


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{name: gh}", {"token": TOKEN, "host": "h"}),
        ("{name: x, auth: gh}", {"token": TOKEN, "host": "h"}),
        ("{name: x, auth: {type: bearer, credential: gh}}", {"token": TOKEN, "host": "h"}),
        ("{name: x, auth: gh, provider: env}", {"token": TOKEN, "host": "h"}),
        ("{name: x, auth: gh, map: {bearer: token}}", {"bearer": TOKEN, "host": "h"}),
    ],
)
def test_an_entry_names_a_credential_and_its_fields(entry, expected):
    ring = read(f"keychain: [{entry}]\n{STEP}", {"gh": {"token": TOKEN, "host": "h"}})
    assert list(ring.values()) == [expected]


def test_a_file_is_found_beside_the_document(tmp_path: Path):
    (tmp_path / "gh.json").write_text(json.dumps({"type": "bearer", "data": {"token": TOKEN}}))
    document = f"keychain: [{{name: gh, provider: file, path: gh.json}}]\n{STEP}"
    assert read(document, {}, tmp_path).get("gh") == {"token": TOKEN}


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("{name: gh}", "anew credential add gh"),
        ("{name: gh, provider: gcp}", "known are store, env, file"),
        ("{name: gh, provider: file, path: no.json}", "there is no such file"),
        ("{name: gh, provider: file, path: .}", "cannot read the credential"),
        ("{name: gh, auth: '{{ workload.x }}'}", "has a template"),
        ("{name: gh, auth: other, map: {a: b}}", "has no field b"),
    ],
)
def test_an_entry_that_cannot_be_had_says_why_when_it_is_read(entry, why, tmp_path: Path):
    ring = read(f"keychain: [{entry}]\n{STEP}", {"other": {"x": "some text"}}, tmp_path)
    with pytest.raises(Unavailable, match=why):
        ring.get("gh")


def test_a_replaced_credential_is_used_soon_and_an_added_one_at_once():
    moments = [0.0]
    keychain = keychain_of({}, clock=lambda: moments[0])
    program = program_of(f"keychain: [{{name: gh}}]\n{STEP}")

    def value():
        try:
            return asyncio.run(keychain.secrets_for(program)).ring.get("gh")
        except Unavailable:
            return None

    seen = [value()]
    for data, moment in [("first value", 2), ("second value", 3), ("second value", 60)]:
        keychain._sources.environ.update(environ_of({"gh": data}))
        moments[0] = moment
        seen.append(value())
    assert seen == [None, "first value", "first value", "second value"]


def test_the_same_secrets_are_given_again_while_nothing_changes():
    keychain = keychain_of({"gh": {"token": TOKEN}})
    program = program_of(f"keychain: [{{name: gh}}]\n{STEP}")
    assert asyncio.run(keychain.secrets_for(program)) is asyncio.run(keychain.secrets_for(program))


# --- auth ----------------------------------------------------------------------------------------

PG = {"host": "db", "password": "swordfish"}


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        ("pg", {"type": "test", **PG}),
        ({"type": "postgres", "credential": "pg"}, {"type": "test", **PG}),
        ({"type": "postgres", "key": "pg"}, {"type": "test", **PG}),
        ({"source": "env", "key": "pg"}, {"type": "test", **PG}),
        ({"credential": "pg", "database": "other"}, {"type": "test", **PG, "database": "other"}),
        ({"db": {"credential": "pg"}}, {"db": {"type": "test", **PG}}),
        ({"type": "bearer", "token": "x"}, {"type": "bearer", "token": "x"}),
        ({"type": "api_key", "key": "abc"}, {"type": "api_key", "key": "abc"}),
        (
            {"type": "basic", "user": "a", "password": "b"},
            {"type": "basic", "user": "a", "password": "b"},
        ),
    ],
)
def test_auth_names_a_credential_or_is_one(auth, expected):
    assert asyncio.run(keychain_of({"pg": PG}).auth_data(auth)) == expected


def test_auth_may_name_an_entry_of_the_keychain():
    program = program_of(f"keychain: [{{name: db, auth: pg, map: {{pwd: password}}}}]\n{STEP}")
    data = asyncio.run(keychain_of({"pg": PG}).auth_data("db", program))
    assert data == {"type": "test", "host": "db", "pwd": "swordfish"}


def test_a_credential_that_is_one_text_has_a_value():
    assert asyncio.run(keychain_of({"t": TOKEN}).auth_data("t")) == {"type": "test", "value": TOKEN}


def test_auth_that_is_neither_is_refused():
    with pytest.raises(ConfigError, match="`auth` is the name"):
        asyncio.run(keychain_of({}).auth_data(7))
    with pytest.raises(MissingCredential):
        asyncio.run(keychain_of({}).auth_data("pg"))


AUTHS = """
keychain: [{name: db, auth: pg}]
workbook: [{name: spare, kind: http, url: http://x, auth: spare}]
workflow:
  - step: start
    tool:
      - a: {kind: http, url: "http://x", auth: api}
      - b: {kind: http, url: "http://x", auth: gone}
      - c: {kind: http, url: "http://x", auth: "{{ workload.which }}"}
      - d: {kind: postgres, command: SELECT 1, auth: db}
      - e: {kind: http, url: "http://x", auth: {one: {credential: first}, two: {source: "no such"}}}
      - f: {kind: http, url: "http://x", credential: {type: bearer, credential: other, over: "{{ x }}"}}
"""


def test_what_an_auth_names_is_redacted_before_it_is_used():
    names = ["api", "pg", "first", "spare"]
    keychain = keychain_of({name: {"token": f"the token of {name}"} for name in names})
    asyncio.run(keychain.secrets_for(program_of(AUTHS)))
    for name in names:
        assert keychain.redactor.redact_text(f"the token of {name}") == "[redacted]"


def test_a_program_without_a_keychain_makes_its_auths_known_too():
    keychain = keychain_of({"api": {"token": TOKEN}})
    program = program_of("workflow: [{step: s, tool: {kind: http, url: 'http://x', auth: api}}]")
    assert asyncio.run(keychain.secrets_for(program)) is None
    assert keychain.redactor.redact_text(TOKEN) == "[redacted]"


def test_what_an_auth_names_is_asked_for_again_only_after_a_while():
    moments, asked = [0.0], []

    class Environ(dict):
        def get(self, key, default=None):
            asked.append(key)
            return super().get(key, default)

    keychain = Keychain(None, environ=Environ(), clock=lambda: moments[0])
    asked.clear()
    program = program_of("workflow: [{step: s, tool: {kind: http, url: 'http://x', auth: api}}]")
    counts = []
    for moment in (0, 29, 31):
        moments[0] = moment
        asyncio.run(keychain.know(program))
        counts.append(len(asked))
    assert counts[0] > 0
    assert counts == [counts[0], counts[0], 2 * counts[0]]


# --- inputs and the secrets tool -----------------------------------------------------------------


def test_inputs_are_opened_with_whatever_they_refer_to():
    keychain = keychain_of({"a": {"x": "value of a"}, "b.c": {"x": "value of b"}})
    program = program_of("workflow: [{step: s, tool: {kind: playbook, path: x}}]")
    inputs = {"h": {"$secret": ["<", {"ref": "a.x"}, {"ref": r"env:b\.c.x"}]}}
    assert asyncio.run(keychain.open(inputs, program)) == {"h": "<value of avalue of b"}
    with pytest.raises(MissingCredential, match="anew credential add gone"):
        asyncio.run(keychain.open({"$secret": "gone"}, program))


def call_of(**inputs):
    place = AttemptRef("1", "s", 1, None, "t", 1)
    return Call("secrets", inputs, place, "k", 0, Timeout(), Path(), Path())


def test_the_secrets_tool_gives_a_reference_and_no_value():
    keychain = keychain_of({"gh": {"token": TOKEN}})
    tool = SecretsTool(keychain)
    outcome = asyncio.run(tool.call(call_of(name="gh", provider="env")))
    assert outcome.result == {"$secret": "env:gh"}
    assert keychain.redactor.redact_outcome(outcome) is outcome
    for inputs, kind in [
        ({"name": "no"}, "reference"),
        ({"name": "no", "provider": "x"}, "config"),
    ]:
        assert asyncio.run(tool.call(call_of(**inputs))).error["kind"] == kind


BY_VARIABLE = f"keychain: [{{name: api, provider: env, var: API_TOKEN}}]\n{STEP}"


def test_a_variable_is_a_secret_as_it_is():
    keychain = Keychain(None, environ={"API_TOKEN": TOKEN})
    program = program_of(BY_VARIABLE)
    secrets = asyncio.run(keychain.secrets_for(program))
    assert secrets.ring == {"api": TOKEN}
    data = asyncio.run(keychain.auth_data("api", program))
    assert data == {"type": "bearer", "value": TOKEN}
    assert TOKEN not in keychain.redactor.redact_text(f"sent {TOKEN}")


def test_the_type_of_a_variable_is_said_by_its_entry():
    program = program_of(BY_VARIABLE.replace("API_TOKEN", "API_TOKEN, type: api_key"))
    keychain = Keychain(None, environ={"API_TOKEN": TOKEN})
    assert asyncio.run(keychain.auth_data("api", program))["type"] == "api_key"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("var: UNSET", r"\$UNSET: the variable is not set"),
        ("var: ANEW_TOKEN", "is for Anew itself"),
        ("var: ANEW_CREDENTIAL_X", "is for Anew itself"),
        ("var: PGPASSWORD", "is for Anew itself"),
        ("provider: file, var: API_TOKEN", "leave one of them out"),
        ("var: 'API TOKEN'", "fixed name of an environment variable"),
        ("var: '{{ workload.x }}'", "fixed name of an environment variable"),
    ],
)
def test_a_variable_that_cannot_be_had_is_said(entry, told):
    environ = dict.fromkeys(("API_TOKEN", "ANEW_TOKEN", "PGPASSWORD"), TOKEN)
    program = program_of(f"keychain: [{{name: api, {entry}}}]\n{STEP}")
    with pytest.raises((MissingCredential, ConfigError), match=told):
        asyncio.run(Keychain(None, environ=environ).auth_data("api", program))
