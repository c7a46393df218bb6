"""Scripts that are not where tasks would look for them."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.cli.terminals import Desk, a_desk  # noqa: F401

FLOW = "workflow:\n- step: a\n  tool: {kind: python, script: work.py}\n"


def test_a_missing_script_is_a_warning_with_the_paths_that_were_looked_at(desk: Desk) -> None:
    Path("flows").mkdir()
    file = desk.write("flows/flow.yaml", FLOW)
    answer = desk.call("check", file, "--json")
    (found,) = answer.json
    assert (answer.status, found["severity"], found["rule"]) == (0, "warning", "script.missing")
    assert (found["line"], found["column"]) == (3, 32)
    assert f"{Path.cwd()}/flows/work.py and {Path.cwd()}/work.py" in found["message"]
    ran = desk.call("run", file, "--json")
    assert ran.json["error"]["kind"] == "reference"
    assert "script.missing" in ran.err
    desk.write("work.py", "result = 1")
    assert desk.call("check", file, "--json").json == []
    assert desk.call("run", file, "--json").json["result"] == 1


def test_a_simulation_needs_no_script(desk: Desk) -> None:
    file, script = desk.write("flow.yaml", FLOW), desk.write("s.yaml", "outcomes: {}")
    assert desk.call("simulate", file, "--script", script, "--json").json["status"] == "done"
