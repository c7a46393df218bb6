"""Every conformance scenario, through the real `anew simulate`."""

import json
from pathlib import Path

import pytest

from anew.lab.expectations import Observed, checked, unmet
from anew.surfaces.cli.main import main

FOLDER = Path(__file__).parent / "conformance"
# Given scenarios of what is still to be built. This list may only shrink.
NOT_YET = {
    "budget-empty",
    "budget-wait",
    "breaker-opens",
    "concurrency",
    "cooldown",
    "hierarchy",
    "rate-sliding",
}
# The given scenarios, and ours for what they leave out.
CASES = [
    case
    for name in ("playbook", "files", "guards", "own", "dot", "own_dot")
    for case in json.loads((FOLDER / f"{name}.json").read_text())
    if case["id"] not in NOT_YET
]


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
    """By the rules of `anew test`, which are those of the given scenarios."""
    beside = {key: case[key] for key in ("parallel", "loops", "branches") if key in case}
    spoken = {"language": "dot", "dialect": case["dialect"]} if "dot" in case else {}
    expect = checked({**case["expect"], **beside, **spoken}, case["id"])
    assert [failure.message for failure in unmet(expect, Observed(out, exit_status))] == []
