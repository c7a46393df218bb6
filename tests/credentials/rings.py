"""Keychains for tests: credentials in an environment made up for the test."""

import asyncio
import json

from anew.credentials import Keychain, Redactor
from anew.credentials.providers import variable_of
from anew.engine.outcome import Outcome, OutcomeStatus
from anew.languages import load_text
from anew.values import Value

STEP = "workflow: [{step: start, tool: {kind: noop}}]\n"


def environ_of(credentials):
    return {
        variable_of(name): json.dumps({"type": "test", "data": data})
        for name, data in credentials.items()
    }


def keychain_of(credentials, **options):
    return Keychain(None, environ=environ_of(credentials), **options)


def program_of(document):
    loaded = load_text(document, "test.yaml")
    assert loaded.program is not None, [f"{f.place} {f.message}" for f in loaded.findings]
    return loaded.program


def redacted(redactor: Redactor, value: Value) -> Value:
    """A value as an outcome of the redactor shows it outside of its data."""
    outcome = Outcome(OutcomeStatus.OK, helpers={"value": value})
    return redactor.redact_outcome(outcome).helpers["value"]


def secrets_of(credentials):
    """The secrets of a program whose keychain has all of these."""
    document = json.dumps({"keychain": [{"name": name} for name in credentials]})[1:-1]
    program = program_of(
        "{" + document + ", " + '"workflow": [{"step": "s", "tool": {"kind": "noop"}}]}'
    )
    return asyncio.run(keychain_of(credentials).secrets_for(program))
