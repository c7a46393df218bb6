"""Redaction by value: whatever the key, however encoded, in whatever leaves."""

import asyncio
import json
import re
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.credentials import Credential, Redactor
from anew.credentials import redaction as module
from anew.credentials.secret_forms import forms_of
from anew.engine.outcome import Advice, outcome_of
from anew.engine.secret_texts import MASK
from anew.errors import ConfigError
from tests.credentials.rings import STEP, keychain_of, program_of, redacted

SECRET = 'p ä/s+s"w%rd'


def redactor_of(*secrets):
    redactor = Redactor()
    for number, secret in enumerate(secrets):
        redactor.learn(
            Credential(f"c{number}", "test", {"host": "public.example", "password": secret})
        )
    return redactor


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:sw%40rdfish@db/x",
        "host=db user=me password='sw@rdfish' dbname=x",
        "Driver={x};UID=me;PWD=sw@rdfish;Server=db",
    ],
)
def test_the_password_inside_an_address_is_redacted_alone_too(address):
    found = redactor_of(address).redact_text(f"login with sw@rdfish failed ({address})")
    assert found == "login with [redacted] failed ([redacted])"


def test_a_redactor_that_knows_nothing_changes_nothing():
    value = {"a": ["b", 1, None]}
    assert redacted(Redactor(), value) is value
    assert Redactor().redact_text("text") == "text"


@pytest.mark.parametrize(
    "form",
    [
        str,
        quote,
        quote_plus,
        lambda t: quote(t, safe="").lower(),
        json.dumps,
        lambda t: b64encode(t.encode()).decode(),
        lambda t: b64encode(f"me:{t}".encode()).decode(),
        lambda t: b64encode(f"you:{t}".encode()).decode(),
    ],
)
def test_every_form_is_redacted(form):
    found = redactor_of(SECRET).redact_text(f"before {form(SECRET)} after")
    assert found.startswith("before ")
    assert found.endswith(" after")
    assert "[redacted]" in found


@given(st.lists(st.text("ab/ é", min_size=6, max_size=10), min_size=1, max_size=4), st.data())
def test_no_form_of_any_secret_gets_through(secrets, data):
    forms = [form for secret in secrets for _, form in forms_of(secret)]
    pieces = data.draw(st.lists(st.one_of(st.sampled_from(forms), st.text("ab/")), max_size=6))
    redacted = redactor_of(*secrets).redact_text("".join(pieces))
    assert not any(form in redacted for form in forms)


def test_the_longest_secret_is_redacted_whole():
    redactor = redactor_of("hunter2", "hunter2hunter3")
    assert redactor.redact_text("<hunter2hunter3>") == "<[redacted]>"


def test_keys_numbers_and_nested_texts_are_redacted():
    redactor = Redactor()
    redactor.learn(Credential("c", "test", {"pin": 12345678, "token": "abcdef"}))
    value = {"abcdef": [12345678, 1, {"x": "1abcdef2"}]}
    assert redacted(redactor, value) == {"[redacted]": ["[redacted]", 1, {"x": "1[redacted]2"}]}


def test_public_fields_are_not_redacted():
    assert redactor_of(SECRET).redact_text("public.example") == "public.example"


def test_short_values_are_redacted_alone_and_warned_of(caplog):
    redactor = redactor_of("abc")
    assert redacted(redactor, ["abc", "abcd"]) == ["[redacted]", "abcd"]
    assert "c0.password has fewer than 6 characters" in caplog.text
    assert "abc" not in caplog.text


def test_values_that_were_replaced_stay_hidden():
    redactor = redactor_of("the old one")
    redactor.learn(Credential("c0", "test", {"password": "the new one"}))
    assert redactor.redact_text("the old one, the new one") == "[redacted], [redacted]"


def test_references_pass_untouched():
    keyed = {"$secret": True, '$secret:[{"ref": "c0.password"}]': 1}
    reference = {"a": {"$secret": "c0.password"}, "b": keyed}
    assert redacted(redactor_of("password"), reference) == reference


def test_an_outcome_is_redacted_everywhere():
    outcome = outcome_of(
        {"echo": SECRET},
        error={"kind": "server_error", "message": f"bad token {SECRET}", "stack": [SECRET]},
        helpers={"http": {"status": 500, "headers": {"X-Token": quote(SECRET)}}},
        logs={"stdout": f"{SECRET}\n"},
    )
    found = redactor_of(SECRET).redact_outcome(outcome)
    assert found.error["message"] == "bad token [redacted]"
    assert found.result == {"echo": "[redacted]"}
    assert found.logs == {"stdout": "[redacted]\n"}
    assert found.helpers["http"]["headers"] == {"x-token": "[redacted]"}


def test_what_a_tool_advises_is_redacted_too():
    advice = Advice(
        word=f"needs {SECRET}",
        label=f"use {SECRET}",
        suggested=[SECRET],
        updates={"token": f"it is {SECRET}", "deep": [SECRET]},
    )
    found = redactor_of(SECRET).redact_outcome(outcome_of({}, advice=advice))
    assert SECRET not in repr(found)
    assert found.suggested == ("[redacted]",)
    assert found.updates is not None
    assert found.updates.keys() == {"token", "deep"}


def test_a_secret_of_the_run_stays_usable_in_a_result():
    keychain = keychain_of({"gh": {"token": SECRET}})
    program = program_of(f"keychain: [{{name: gh}}]\n{STEP}")
    secrets = asyncio.run(keychain.secrets_for(program))
    outcome = outcome_of({"header": f"Bearer {SECRET}"}, logs={"stdout": SECRET})
    found = keychain.redactor.redact_outcome(outcome, secrets)
    assert secrets.open(found.result) == outcome.result
    assert SECRET not in json.dumps(found.result, ensure_ascii=False)
    assert found.logs == {"stdout": "[redacted]"}


def test_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(module, "REDACTED_VALUES_MAX", 2)
    with pytest.raises(ConfigError, match="REDACTED_VALUES_MAX"):
        redactor_of("first value", "second value", "third value")


def test_the_mask_is_written_in_one_place():
    root = Path(__file__).parents[2]
    sources = [*(root / "src").rglob("*.py"), *(root / "web/src").rglob("*.ts*")]
    said = re.compile(r"""["']\[redacted|["']\*\*\*["']""")
    found = [path.name for path in sources if said.search(path.read_text(encoding="utf-8"))]
    # The page cannot import it.
    assert sorted(found) == ["like.ts", "secret_texts.py"]
    assert f'"{MASK}"' in (root / "web/src/pages/programs/start/like.ts").read_text(
        encoding="utf-8"
    )
