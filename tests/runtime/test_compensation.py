"""Runs that were undone: where they can be retried from, and what else they leave alone."""

from __future__ import annotations

import pytest

from anew.surfaces.cli.main import main

DOCUMENT = """
metadata: {name: undone}
workflow:
- step: a
  tool: {kind: noop}
  compensate: [{undo: {kind: noop, result: "{{ a }}"}}]
  next: [b]
- step: b
  tool: {kind: shell, command: exit 1}
"""


@pytest.fixture(autouse=True)
def _undone_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "undone.yaml").write_text(DOCUMENT)
    assert main(["run", "undone.yaml"]) == 1
    capsys.readouterr()


def test_an_undone_run_is_not_retried_behind_what_was_undone(capsys):
    assert main(["retry", "last"]) != 0
    told = capsys.readouterr().err
    assert "has undone a" in told
    assert "Continue from step 'a'" in told


def test_an_undone_run_is_retried_from_the_first_step_that_was_undone(capsys):
    assert main(["retry", "last", "--from", "a"]) == 1  # b fails again
    assert main(["events", "last"]) == 0
    assert capsys.readouterr().out.count("run.compensating") == 1
