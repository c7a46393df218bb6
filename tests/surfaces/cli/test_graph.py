"""`anew graph`: a document or a run, in a language others draw."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, played
from tests.surfaces.cli.terminals import PATIENCE_SECONDS, ROOT


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flow.yaml").write_text(RETRIES)


@pytest.mark.parametrize(
    ("form", "start"), [("mermaid", "flowchart TD"), ("dot", "digraph"), ("svg", "<svg ")]
)
def test_a_document_is_drawn_without_any_database(anew, form: str, start: str) -> None:
    told = anew("graph", "flow.yaml", "--format", form)
    assert told.status == 0
    # What a graph cannot say of a playbook stands before it, in comments.
    drawn = [line for line in told.lines if not line.startswith("//")]
    assert drawn[0].startswith(start)


def test_a_run_is_drawn_with_its_statuses(shelf, anew) -> None:
    shelf.put(played(RETRIES, outcomes={"page": [DOWN]}))
    for said in ("last", str(RUN)):
        assert "  class n0 failed" in anew("graph", said).lines


def test_a_document_with_errors_is_refused_with_its_findings(anew) -> None:
    Path("flow.yaml").write_text(RETRIES.replace("do: retry", "do: rety"))
    told = anew("graph", "flow.yaml")
    assert told.status == 2
    assert told.out == ""
    assert told.err.startswith("flow.yaml:")


def test_a_file_that_is_not_there_is_said_to_be_missing(anew) -> None:
    told = anew("graph", "missing.yaml")
    assert told.status == 2
    assert "there is no such file" in told.err


HOSTILE = 'digraph g { s [shape=Mdiamond]; x [shape=Msquare]; a [prompt="\x1b[2J\x07\x9b31m\u202eevil"]; s->a->x }'


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_a_terminal_is_not_moved_by_what_a_graph_says(form: str) -> None:
    Path("flow.dot").write_text(HOSTILE, encoding="utf-8")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "anew", "graph", "flow.dot", "--format", form]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    done = subprocess.run(words, stdout=theirs, env=env, timeout=PATIENCE_SECONDS, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "digraph g {" in shown or "flowchart TD" in shown
    assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_a_pipe_gets_the_document_as_it_is(anew) -> None:
    Path("flow.dot").write_text(HOSTILE, encoding="utf-8")
    assert "\x1b[2J\x07\x9b31m\u202eevil" in anew("graph", "flow.dot", "--format", "dot").out
