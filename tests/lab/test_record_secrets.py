"""What looks like a secret is in no scenario, and what decides by it decides alike."""

from __future__ import annotations

from typing import Any

import pytest

from anew.engine.secrets import reference_to
from anew.lab.recording import record
from anew.lab.recording.redacting import Redaction, looks_secret
from anew.lab.recording.scenario_text import scenario_text
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text


@pytest.mark.parametrize(
    "name",
    [
        *("password", "Authorization", "set-cookie", "X-API-Key", "api_key", "apiKey", "APIKey"),
        *("access_token", "refreshToken", "client_secret", "db_password", "privateKey", "secret"),
    ],
)
def test_names_that_secrets_go_by(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name", ["tokens", "total_tokens", "key", "monkey", "author", "keyboard", "status", "passed"]
)
def test_names_that_are_none(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ({"token": "abcdefgh", "n": 1}, {"token": "[redacted]", "n": 1}),
        ({"token": 12, "password": None, "secret": ""}, {"token": 12, "password": None, "secret": ""}),
        ({"auth": {"password": {"a": ["one", "two"]}}},
         {"auth": {"password": {"a": ["[redacted]", "[redacted 2]"]}}}),
        (["token abcdefgh", {"token": "abcdefgh"}], ["token [redacted]", {"token": "[redacted]"}]),
        ("GET http://me:hunter22@host/x?token=t0psecret&n=1",
         "GET http://me:[redacted]@host/x?token=[redacted 2]&n=1"),
        ({"h": "Bearer abc.def.ghi"}, {"h": "Bearer [redacted]"}),
        (reference_to("api.token"), "[secret api.token]"),
        ({"$secret": ["Bearer ", {"ref": "api.token", "form": "base64_0"}]},
         "Bearer [secret api.token]"),
        ({"$secret": True, '$secret:["k-",{"ref":"api"}]': 1}, {"k-[secret api]": 1}),
    ],
)  # fmt: skip
def test_what_is_taken_out_and_what_stays(value: Any, clean: Any) -> None:
    redaction = Redaction([value])
    assert redaction.clean(value) == clean
    assert redaction.clean(clean) == clean


COMPARED = """
workflow:
  - step: s
    tool:
      - one: {kind: noop}
      - two:
          kind: noop
          spec:
            policy:
              rules:
                - {when: "{{ outcome.result.token == one.token }}", then: {do: break, set_ctx: {same: "{{ one.token }}"}}}
                - {else: {then: {do: fail, message: "another token: {{ outcome.result.token }}"}}}
"""


@pytest.mark.parametrize("second", ["open-sesame", "another-one"])
def test_equal_secrets_stay_equal(second: str) -> None:
    program = load_text(COMPARED, "flow.yaml").program
    assert program is not None
    outcomes = {
        "one": {"result": {"token": "open-sesame"}},
        "two": {"result": {"token": second, "said": f"it is {second}!"}},
    }
    run = simulate(program, script_of({"outcomes": outcomes, "workload": {"api_key": "k-1234567"}}))
    recorded = record(program, run.runs)
    assert recorded.is_true
    text = scenario_text(recorded.scenario, recorded.notes)
    assert not [word for word in ("open-sesame", "another-one", "k-1234567") if word in text]
