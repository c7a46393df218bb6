"""Real tools that cut what they were told: nothing of a secret is left at the cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anew.credentials import Credential, Redactor
from anew.engine.outcome import Outcome
from tests.tools.code_calls import python, shell

LINES = [f"{number:02}{'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwgg' * 2}" for number in range(34)]
KEY = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n".format("\n".join(LINES))
LONG_LINE = "".join(f"{number:04}" for number in range(2000))


@pytest.fixture(autouse=True)
def _little_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANEW_OUTPUT_BYTES_MAX", "30000")


def left_of(secret: str, outcome: Outcome) -> set[str]:
    """The stretches of sixteen characters of the secret that still stand in the outcome."""
    redactor = Redactor()
    redactor.learn(Credential("c", "test", {"key": secret}))
    public = _stretches("-----BEGIN PRIVATE KEY-----") | _stretches("-----END PRIVATE KEY-----")
    searched = _stretches(secret) - public
    assert searched & _stretches(_said(outcome)), "there is nothing to redact"
    return searched & _stretches(_said(redactor.redact_outcome(outcome)))


def _said(outcome: Outcome) -> str:
    parts = [outcome.result, outcome.error, outcome.helpers, outcome.logs]
    return json.dumps(parts, ensure_ascii=False).replace("\\n", "\n")


def _stretches(text: str) -> set[str]:
    return {text[at : at + 16] for at in range(len(text) - 15)}


@pytest.mark.parametrize("secret", [KEY, LONG_LINE])
@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError('y' * 9000 + p)",
        "import logging\nlogging.info('y' * 19000 + p)",
        "print('y' * 25000 + p + 'y' * 20000)",
        "print('y' * 30000 + p + 'y' * 3000)",
        "import os, sys\nsys.stderr.write(p)\nsys.stderr.flush()\nos._exit(3)",
    ],
)
def test_what_python_says_too_much_of_holds_no_secret(
    tmp_path: Path, code: str, secret: str
) -> None:
    assert left_of(secret, python(tmp_path, code, args={"p": secret})) == set()


@pytest.mark.parametrize("secret", [KEY, LONG_LINE])
@pytest.mark.parametrize(
    "command",
    [
        'printf %s "$P" >&2; exit 1',
        'printf "%s\\nlast words" "$P" >&2; exit 1',
        'head -c 25000 /dev/zero | tr "\\0" y; printf %s "$P"; head -c 20000 /dev/zero',
        'head -c 30000 /dev/zero | tr "\\0" y; printf %s "$P"; head -c 3000 /dev/zero',
    ],
)
def test_what_a_command_says_too_much_of_holds_no_secret(
    tmp_path: Path, command: str, secret: str
) -> None:
    assert left_of(secret, shell(tmp_path, command, env={"P": secret})) == set()
