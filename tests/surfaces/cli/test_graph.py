"""`anew graph`: a document or a run, in a language others draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, played


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
    assert told.out.startswith(start)


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
