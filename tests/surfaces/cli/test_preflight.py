"""What is looked at before a run is started: inputs and credentials."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.terminals import HELLO, Desk, a_desk  # noqa: F401

NEEDS = """\
metadata: {name: needs}
keychain:
  - {name: api, provider: env, var: API_TOKEN}
workload: {careful: false}
workflow:
  - step: first
    tool: {kind: noop, result: 1}
    next: [{step: call}]
  - step: call
    tool: {kind: shell, command: "echo $T", env: {T: "{{ keychain.api }}"}}
"""
MAYBE = NEEDS.replace("{step: call}", "{step: call, when: '{{ workload.careful }}'}")


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_TOKEN", raising=False)


def test_a_credential_that_every_path_needs_is_missed_before_the_first_step(desk: Desk) -> None:
    told = desk.call("run", desk.write("needs.yaml", NEEDS))
    assert (told.status, told.is_one_clear_line()) == (2, True)
    assert "needs.yaml:10" in told.err
    assert "$API_TOKEN: the variable is not set" in told.err
    assert told.err.endswith("Nothing was started.\n")
    assert desk.runs() == []


def test_a_credential_that_some_path_needs_is_a_warning(desk: Desk) -> None:
    told = desk.call("run", desk.write("maybe.yaml", MAYBE), "--quiet")
    assert told.status == 0
    assert "warning: " in told.err
    assert "$API_TOKEN" in told.err


def test_a_run_that_has_all_it_needs_is_started(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "a-secret-of-the-test")
    told = desk.call("run", desk.write("needs.yaml", NEEDS), "--json")
    assert (told.status, told.err) == (0, "")
    assert "a-secret-of-the-test" not in told.out


def test_a_misspelt_input_is_refused_with_the_one_that_was_meant(desk: Desk) -> None:
    told = desk.call("run", desk.write("hello.yaml", HELLO), "--set", "wo=me")
    assert (told.status, told.is_one_clear_line()) == (2, True)
    assert "reads the input 'wo'. Did you mean 'who'?" in told.err
    assert desk.runs() == []


def test_an_input_that_nothing_reads_is_a_warning(desk: Desk) -> None:
    told = desk.call("run", desk.write("hello.yaml", HELLO), "--set", "region=eu", "--quiet")
    assert told.status == 0
    assert "nothing in hello reads the input 'region'; it declares who" in told.err


def test_an_input_that_a_template_reads_needs_no_declaration(desk: Desk) -> None:
    text = HELLO.replace("{{ workload.who }}", "{{ workload.who }} {{ workload.greeting }}")
    told = desk.call("run", desk.write("h.yaml", text), "--set", "greeting=hi", "--quiet")
    assert (told.status, told.err) == (0, "")
    whole = HELLO.replace("{{ workload.who }}", "{{ workload }}")
    told = desk.call("run", desk.write("w.yaml", whole), "--set", "wo=hi", "--quiet")
    assert (told.status, told.err) == (0, "")


def test_a_registered_document_is_looked_at_too(desk: Desk) -> None:
    assert desk.call("register", desk.write("needs.yaml", NEEDS)).status == 0
    told = desk.call("start", "needs")
    assert (told.status, told.is_one_clear_line()) == (2, True)
    assert "$API_TOKEN: the variable is not set" in told.err
    told = desk.call("start", "needs", "--set", "carefull=true")
    assert "Did you mean 'careful'?" in told.err
    assert desk.runs() == []
    assert desk.call("start", "needs", "--no-preflight", "--quiet").status == 1


def test_a_payload_may_have_more_than_is_read(desk: Desk) -> None:
    told = desk.call("run", desk.write("h.yaml", HELLO), "--payload", '{"wo": 1}', "--quiet")
    assert (told.status, told.err) == (0, "")
