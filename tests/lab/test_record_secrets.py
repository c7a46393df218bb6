"""What looks like a secret is in no scenario, and what decides by it decides alike."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

import pytest

from anew.engine.secrets import reference_to
from anew.lab.recording import Recorded, record
from anew.lab.recording.redaction import Redaction, marks_in
from anew.lab.recording.scenario_text import scenario_text
from anew.lab.recording.secret_names import looks_secret
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text


@pytest.mark.parametrize(
    "name",
    [
        *("password", "Authorization", "set-cookie", "X-API-Key", "api_key", "apiKey", "APIKey"),
        *("access_token", "refreshToken", "client_secret", "db_password", "privateKey", "secret"),
        *("secrets", "tokens", "authtoken", "session_id", "sessionId", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_names_that_secrets_go_by(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name", ["key", "monkey", "author", "keyboard", "status", "passed", "session", "1", ""]
)
def test_names_that_are_none(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ({"token": "abcdefgh", "n": 1}, {"token": "[redacted]", "n": 1}),
        ({"token": None, "password": True, "secret": ""}, {"token": None, "password": True, "secret": ""}),
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
        # However short they are.
        ("postgres://postgres:admin@db/x", "postgres://postgres:[redacted]@db/x"),
        ("https://h/x?token=ab12", "https://h/x?token=[redacted]"),
        ("postgres://u:p@ssw0rd99@db/x", "postgres://u:[redacted]@db/x"),
        # Numbers, but not those that count.
        ({"password": 12345678, "said": "n is 12345678"},
         {"password": "[redacted]", "said": "n is [redacted]"}),
        ({"pin_secret": 1234, "n": 1234}, {"pin_secret": "[redacted]", "n": 1234}),
        ({"tokens": ["plural-1", 17], "total_tokens": 12, "token_count": 99},
         {"tokens": ["[redacted]", 17], "total_tokens": 12, "token_count": 99}),
        # What texts show.
        ('{"access_token":"jsontok-99","n":1}', '{"access_token":"[redacted]","n":1}'),
        ('{"tokens":["listed-77"]}', '{"tokens":["[redacted]"]}'),
        ('{"n": 1}\n{"a": {"secret": ["in a line"]}}', '{"n": 1}\n{"a": {"secret": ["[redacted]"]}}'),
        (r'{\"token\":\"inner-99\",\"n\":1}', r'{\"token\":\"[redacted]\",\"n\":1}'),
        ("{'password': 'a b', 'x': 1}", "{'password': '[redacted]', 'x': 1}"),
        ("host=db password=dsn1 user=me", "host=db password=[redacted] user=me"),
        ("export AWS_SECRET_ACCESS_KEY=wJal; ls", "export AWS_SECRET_ACCESS_KEY=[redacted]; ls"),
        ("curl -H 'X-Api-Key: hdr-4' x", "curl -H 'X-Api-Key: [redacted]' x"),
        ("login --password foo9 -v", "login --password [redacted] -v"),
        ("Cookie: a=b; c=d\nn: 3", "Cookie: [redacted]\nn: 3"),
        ("Authorization: token ghp_ABCDEFGH12345678", "Authorization: token [redacted]"),
        ("https://ghp_0123456789abcdef@github.com/a", "https://[redacted]@github.com/a"),
        ("is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln !", "is [redacted] !"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
         "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----"),
        # A word after a colon is taken out there only; it is in too many other texts.
        (["Unexpected token: comment", "comment"], ["Unexpected token: [redacted]", "comment"]),
        # Names stay, whatever someone's password is.
        ({"password": "result", "result": {"result": 1}},
         {"password": "[redacted]", "result": {"result": 1}}),
        ({"password": "hunter-22", "hunter-22": 1}, {"password": "[redacted]", "[redacted]": 1}),
    ],
)  # fmt: skip
def test_what_is_taken_out_and_what_stays(value: Any, clean: Any) -> None:
    redaction = Redaction([value])
    assert redaction.clean(value) == clean
    assert redaction.clean(clean) == clean


SECRET = "s3ntinel/with+odd=chars"


@pytest.mark.parametrize(
    "form",
    [
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"me:{SECRET}".encode()).decode(),
        quote(SECRET, safe=""),
    ],
)
def test_encoded_forms_of_a_secret_are_taken_out(form: str) -> None:
    redaction = Redaction([{"token": SECRET}])
    left = redaction.text(f"it is {form}.")
    assert "[redacted " in left
    assert not [n for n in range(len(form) - 6) if form[n : n + 6] in left]


def test_a_thousand_secrets_are_found_in_one_text() -> None:
    tokens = [f"{number:05}-token" for number in range(1_000)]
    redaction = Redaction([{"token": tokens}])
    assert redaction.text(f"a {tokens[3]} b {tokens[900]} c") == "a [redacted 4] b [redacted 901] c"


def test_only_what_was_taken_out_is_counted() -> None:
    redaction = Redaction([{"token": "never-seen-1", "password": "hunter-22"}])
    assert marks_in(redaction.clean(["hunter-22", "aHVudGVyLTIy", "x"])) == 1


COMPARED = """
workload: {db: {password: hunter2-default}}
workflow:
  - step: s
    tool:
      - one: {kind: noop, header: "X-Api-Key: literal-4711"}
      - two:
          kind: noop
          spec:
            policy:
              rules:
                - {when: "{{ outcome.result.token == one.token }}", then: {do: break, set_ctx: {same: "{{ one.token }}"}}}
                - {else: {then: {do: fail, message: "another token: {{ outcome.result.token }}"}}}
"""


def recorded_run(document: str, outcomes: Any, **more: Any) -> Recorded:
    program = load_text(document, "flow.yaml").program
    assert program is not None
    run = simulate(program, script_of({"outcomes": outcomes, **more}))
    return record(program, run.runs)


@pytest.mark.parametrize("second", ["open-sesame", "another-one"])
def test_equal_secrets_stay_equal(second: str) -> None:
    outcomes = {
        "one": {"result": {"token": "open-sesame"}},
        "two": {"result": {"token": second, "said": f"it is {second}!"}},
    }
    recorded = recorded_run(COMPARED, outcomes, workload={"api_key": "k-1234567"})
    assert recorded.is_true
    text = scenario_text(recorded.scenario, recorded.notes)
    assert not [word for word in ("open-sesame", "another-one", "k-1234567") if word in text]


def test_what_the_document_says_itself_is_taken_out_of_outcomes() -> None:
    said = {"one": {"result": "it was hunter2-default and literal-4711"}}
    recorded = recorded_run(COMPARED, said)
    assert recorded.scenario["outcomes"]["one"] == [
        {"result": "it was [redacted] and [redacted 2]"}
    ]


WORDS = """
workflow:
  - step: s
    tool:
      - one: {kind: noop}
      - two:
          kind: noop
          spec: {policy: {rules: [{when: "{{ outcome.error.kind == 'timeout' }}", then: {do: continue}}, {else: {then: {do: fail}}}]}}
"""


@pytest.mark.parametrize("word", ["timeout", "result", "password", "context"])
def test_a_secret_that_is_a_word_of_scripts_breaks_none(word: str) -> None:
    outcomes = {
        "one": {"result": {"password": word}},
        "two": {"error": {"kind": "timeout", "message": f"the {word}"}},
    }
    recorded = recorded_run(WORDS, outcomes, workload={"password": word})
    assert recorded.is_true
    assert recorded.scenario["workload"] == {"password": "[redacted]"}
    assert recorded.scenario["outcomes"] == {
        "one": [{"result": {"password": "[redacted]"}}],
        "two": [{"error": {"kind": "timeout", "message": "the [redacted]"}}],
    }


def test_a_number_that_is_a_secret_decides_alike_where_it_is_passed_on() -> None:
    document = """
workflow:
  - step: s
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: "{{ outcome.result.pin_secret }}"}}}}]}}}
"""
    recorded = recorded_run(document, {"s": {"result": {"pin_secret": 1234}}})
    assert recorded.is_true
    assert recorded.scenario["outcomes"]["s"] == [{"result": {"pin_secret": "[redacted]"}}]


def test_the_first_difference_is_told_without_secrets() -> None:
    document = """
workload: {db: {password: hunter2-default}}
workflow:
  - step: s
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {h: "{{ {'t': outcome.result.token, 'n': outcome.result.token | length, 'd': workload.db.password} }}"}}}}]}}}
"""
    recorded = recorded_run(document, {"s": {"result": {"token": "TopSecret-4711"}}})
    assert not recorded.is_true
    told = str(recorded.report())
    assert "patches" in told
    assert [word for word in ("TopSecret-4711", "hunter2-default") if word in told] == []


def test_the_id_of_a_signal_is_cleaned() -> None:
    document = "workflow: [{step: s, tool: {kind: noop}}]"
    sent = {"signal": "paid", "payload": {"token": "abc-123456"}, "id": "for abc-123456"}
    outcomes = {"s": {"result": 1, "takes": 5}}
    recorded = recorded_run(document, outcomes, signals=[sent])
    assert recorded.is_true
    assert recorded.scenario["signals"][0]["id"] == "for [redacted]"
