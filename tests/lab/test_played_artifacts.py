"""Values that tasks keep by name in a simulation, as a real run would keep them."""

from __future__ import annotations

from typing import Any

from anew.engine.state import RunStatus
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text

FLOW = """
workflow:
  - step: keep
    loop: {in: [a, b], iterator: word}
    tool: {kind: artifact, action: put, name: report, value: "{{ iter.word }}"}
    next: [{step: read}]
  - step: read
    tool:
      - first: {kind: artifact, action: get, name: report, version: 1}
      - newest: {kind: artifact, action: get, ref: "{{ keep.results[1] }}"}
      - others: {kind: artifact, action: get, name: report, scope: program}
      - told: {kind: noop, result: ["{{ first }}", "{{ newest }}", "{{ others }}"]}
    next: [{step: none}]
  - step: none
    tool: {kind: artifact, action: get, name: none}
"""


def played(**outcomes: Any) -> Any:
    program = load_text(FLOW, "flow.yaml").program
    assert program is not None
    return simulate(program, script_of({"outcomes": outcomes}))


def results(simulation: Any) -> Any:
    return {name: step.result for name, step in simulation.state.results.items()}


def test_what_is_put_can_be_read() -> None:
    simulation = played(told=[{"result": "told"}])
    labels = simulation.state.results["read"].labels
    assert (labels["first"], labels["newest"], labels["others"]) == ("a", "b", {})
    assert [one["version"] for one in results(simulation)["keep"]["results"]] == [1, 2]
    assert simulation.state.status is RunStatus.FAILED


def test_a_script_wins() -> None:
    simulation = played(first=[{"result": "scripted"}], none=[{"result": 1}])
    assert simulation.state.results["read"].labels["first"] == "scripted"
    assert simulation.state.last_result == 1
