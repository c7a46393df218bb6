"""No fault breaks an invariant: on every conformance case and every example, in both languages."""

import json
from pathlib import Path

import pytest

from anew.lab.faults import FAULTS, simulate_faults
from anew.lab.script import read_script, script_of
from anew.languages import load_text
from tests.lab.faults.documents import broken
from tests.test_conformance import CASES, source, suffix
from tests.test_examples import ROOT, SCRIPTS, document_of

# A few seeds of each, at rates at which most runs meet several faults at once.
RUNS = 2
RATES = (0.2, 0.5)


def checked(program, script, *, seed):
    for rate in RATES:
        rates = dict.fromkeys(FAULTS, rate)
        report = simulate_faults(program, script, faults=rates, runs=RUNS, seed=seed)
        assert broken(report) == set(), (rate, seed, report.broken[0])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_no_fault_breaks_an_invariant_of_a_conformance_case(case):
    program = load_text(source(case), f"doc{suffix(case)}").program
    if program is not None:  # some cases are documents that are refused
        checked(program, script_of(json.loads(json.dumps(case["script"]))), seed=11)


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_no_fault_breaks_an_invariant_of_an_example(script: Path):
    document, path = document_of(script), ROOT / script
    program = load_text((ROOT / document).read_bytes(), str(document)).program
    assert program is not None
    checked(program, read_script(path.read_bytes(), str(script)), seed=12)
