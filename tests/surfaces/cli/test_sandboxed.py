"""A sandbox that cannot be had stops a command before it does anything; one that can be is told."""

from __future__ import annotations

import os

import pytest

from tests.surfaces.cli.terminals import HELLO, Desk, a_desk  # noqa: F401
from tests.tools.bubblewrap import missing

COMMANDS = {
    "run": ("run", "hello.yaml"),
    "serve": ("serve", "--port", "0"),
    "worker": ("worker", "--server", "http://127.0.0.1:9"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_sandbox_that_there_is_not_is_refused_in_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("ANEW_SANDBOX", "docker")
    monkeypatch.setenv("ANEW_TOKEN", "a-token-for-the-tests")
    desk.write("hello.yaml", HELLO)
    told = desk.call(*COMMANDS[command])
    assert told.status == 2
    assert told.is_one_clear_line()
    assert "ANEW_SANDBOX is 'docker'; it can be bubblewrap or user" in told.err
    assert not (desk.folder / ".anew").exists()


def test_the_doctor_tells_which_sandbox_is_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ok   sandbox      none: tasks can reach what you can" in desk.call("doctor").out
    monkeypatch.setenv("ANEW_SANDBOX", "docker")
    told = desk.call("doctor")
    assert told.status == 1
    assert "bad  sandbox      cannot be used" in told.out
    if (why := missing("bubblewrap")) is not None:
        pytest.skip(why)
    monkeypatch.setenv("ANEW_SANDBOX", "bubblewrap")
    if os.geteuid() == 0:
        monkeypatch.setenv("ANEW_SANDBOX_USER", "nobody")
    assert "ok   sandbox      bubblewrap" in desk.call("doctor").out
