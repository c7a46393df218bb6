"""`--dialect`: whose words a graph is read in, wherever a document is given."""

from __future__ import annotations

import json

import pytest

from anew.languages.dot.graph import DotDialect
from anew.surfaces.cli.arguments import DIALECTS
from tests.surfaces.cli.terminals import HELLO, Desk, Held, a_desk, a_held_run  # noqa: F401

# In the spec dialect a house stands for something else.
ASK = """digraph ask {
  model_stylesheet="styles.css"
  start [shape=ellipse]
  ask   [shape=house label="Go on?"]
  work  [prompt="@work.md"]
  done  [shape=ellipse]
  start -> ask
  ask -> work [label="Yes"]
  work -> done
}"""
# Either dialect has a meaning for it.
BOTH = 'digraph both { start -> a; a [prompt="do it"]; a -> exit }'


def written(desk: Desk) -> str:
    desk.write("styles.css", "* { llm_model: kept }")
    desk.write("work.md", "Do it.")
    return desk.write("ask.dot", ASK)


@pytest.mark.parametrize(
    "words",
    [("check",), ("simulate",), ("run",), ("register",), ("graph",), ("migrate",)],
    ids=lambda words: words[0],
)
def test_a_playbook_has_no_dialect_to_choose(desk: Desk, words: tuple[str, ...]) -> None:
    answer = desk.call(*words, desk.write("hello.yaml", HELLO), "--dialect", "docs")
    assert answer.status == 2
    assert answer.is_one_clear_line(), answer.err
    assert "is a playbook; --dialect is for DOT graphs" in answer.err


def test_a_dialect_that_is_none_is_refused(desk: Desk) -> None:
    assert tuple(DotDialect) == DIALECTS
    answer = desk.call("check", desk.write("both.dot", BOTH), "--dialect", "doc")
    assert answer.status == 2
    assert "invalid choice: 'doc'" in answer.err


@pytest.mark.parametrize("dialect", ["docs", "spec"])
def test_a_graph_is_read_in_the_dialect_that_is_asked_for(desk: Desk, dialect: str) -> None:
    file = desk.write("both.dot", BOTH)
    assert f"dialect {dialect}" in desk.call("check", file, "--dialect", dialect).out
    assert desk.call("simulate", file, "--dialect", dialect, "--json").json["status"] == "done"
    assert desk.call("graph", file, "--dialect", dialect, "--format", "dot").status == 0
    assert desk.call("migrate", file, "--dialect", dialect).out.startswith("metadata:")
    assert desk.call("run", file, "--dialect", dialect, "--quiet").status == 0
    (first, *_) = desk.call("events", "last", "--json").out.splitlines()
    assert json.loads(first)["data"]["dialect"] == dialect
    assert desk.call("register", file, "--dialect", dialect).out == "both version 1\n"


def test_a_run_has_the_dialect_it_began_with(desk: Desk) -> None:
    answer = desk.call("graph", "last", "--dialect", "docs")
    assert answer.status == 2
    assert "--dialect is for a document; a run has the one it started with" in answer.err


def test_a_run_goes_on_and_is_told_when_its_files_are_gone(desk: Desk) -> None:
    file = written(desk)
    assert desk.call("run", file, "--dialect", "docs", "--quiet").status == 3
    for name in ("ask.dot", "styles.css", "work.md"):
        (desk.folder / name).unlink()
    assert desk.call("answer", "last", "yes", "--quiet").status == 0
    assert "work" in desk.call("graph", "last").out
    assert desk.call("retry", "last", "--from", "work", "--quiet").status == 0
    assert desk.call("export", "last", "out").status == 0


def test_a_guest_hands_over_the_dialect_and_the_files(desk: Desk, held: Held) -> None:
    assert desk.call("run", written(desk), "--dialect", "docs", "--quiet").status == 3
    held.gate.write("go")
    assert held.terminal.wait().status == 0
    for name in ("ask.dot", "styles.css", "work.md"):
        (desk.folder / name).unlink()
    assert desk.call("answer", "last", "yes", "--quiet").status == 0
