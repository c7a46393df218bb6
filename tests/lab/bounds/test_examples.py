"""No scripted run of an example executes a task more often than the example's bounds allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from anew.lab.bounds import bounds_of
from anew.lab.script import read_script
from anew.lab.simulate import simulate
from anew.program.program import Program
from tests.lab.bounds.exploring import costs
from tests.lab.bounds.making import program_of

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def scripted() -> list[tuple[Path, Path]]:
    found = []
    for script in sorted(EXAMPLES.glob("*.script.yaml")):
        name = script.name.split(".")[0]
        documents = (EXAMPLES / f"{name}{ending}" for ending in (".yaml", ".dot"))
        found += [(document, script) for document in documents if document.exists()]
    return found


def read(document: Path) -> Program:
    return program_of(document.read_text(), str(document))


@pytest.mark.parametrize(("document", "script"), scripted(), ids=lambda path: path.name)
def test_a_scripted_run_stays_within_the_bounds(document: Path, script: Path) -> None:
    program, played = read(document), read_script(script.read_bytes(), script.name)
    bounds = bounds_of(program, workload=played.workload)
    counts, _ = costs(program, simulate(program, played).runs)
    most = {(task.step, task.task): task.in_run.at_most for task in bounds.tasks}
    assert counts
    assert all(count <= most[task] for task, count in counts.items())
    assert counts.total() <= bounds.executions.at_most
