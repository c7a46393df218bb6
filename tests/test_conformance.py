"""Every conformance scenario, through the real `anew simulate`."""

import json
from pathlib import Path

import pytest

from anew.surfaces.cli.main import main

FOLDER = Path(__file__).parent / "conformance"
# The given scenarios, and ours for what they leave out.
CASES = [
    case
    for name in ("playbook", "own", "dot", "own_dot")
    for case in json.loads((FOLDER / f"{name}.json").read_text())
]
TOLERANCE = 1e-6


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_conformance(case, tmp_path, capsys):
    document, script = tmp_path / f"doc{suffix(case)}", tmp_path / "script.json"
    document.write_text(source(case))
    script.write_text(json.dumps(case["script"]))
    exit_status = main(["simulate", str(document), "--script", str(script), "--json"])
    out = json.loads(capsys.readouterr().out)
    compare(out, exit_status, case)


def source(case):
    return case.get("dot") or case["yaml"]


def suffix(case):
    return ".dot" if "dot" in case else ".yaml"


def compare(out, exit_status, case):
    expect, parallel = case["expect"], case.get("parallel", False)
    assert out["status"] == expect["status"]
    assert exit_status == expect.get("exit_status", exit_status)
    assert subset(expect.get("error", {}), out["error"] or {})
    if "error_kind" in expect:
        assert out["error"]["kind"] == expect["error_kind"]
    if "visits" in expect:
        order = sorted if parallel else list
        assert order(out["visits"]) == order(expect["visits"])
    for branch in expect.get("branches", []):
        rest = iter(out["visits"])
        assert all(step in rest for step in branch)
    for label, count in expect.get("attempts", {}).items():
        assert out["attempts"].get(label, 0) == count
    if "delays" in expect:
        order = sorted if parallel else list
        seconds = order(delay["seconds"] for delay in out["delays"])
        assert seconds == pytest.approx(order(expect["delays"]), abs=TOLERANCE)
    for key, value in expect.get("ctx", {}).items():
        assert out["ctx"][key] == value
        assert type(out["ctx"][key]) is type(value)
    assert not set(expect.get("noctx", [])) & set(out["ctx"])
    if "unsatisfied" in expect:
        assert out["unsatisfied"] == expect["unsatisfied"]
    if "dot" in case:
        assert (out["language"], out["dialect"]) == ("dot", case["dialect"])
    if "handled" in expect:
        assert out["handled"] == expect["handled"]
    if "elapsed" in expect:
        assert out["elapsed"] == pytest.approx(expect["elapsed"], abs=TOLERANCE)


def subset(part, whole):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and subset(value, whole[key]) for key, value in part.items()
        )
    return part == whole
