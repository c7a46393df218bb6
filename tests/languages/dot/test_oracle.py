"""The engine and an interpreter written from the text alone agree on random graphs."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.languages.dot.graph import DotDialect
from tests.languages.dot.generated_graphs import Case, case_of, fork_case_of
from tests.languages.dot.oracle import Report, Unclear, foretell
from tests.languages.dot.oracle_forks import foretell_forks

EXAMPLES = 150
FORK_EXAMPLES = 40
# How many of a fixed set of cases must be valid and clear for the tests to be worth something.
SAMPLE, WORTH_MIN = 100, 70

CHANCE = st.randoms(use_true_random=False)
PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def played(case: Case) -> dict[str, Any]:
    loaded = load_text(case.text, "g.dot")
    assume(loaded.program is not None)
    assert loaded.program is not None
    return simulate(loaded.program, script_of(case.script)).report()


def foretold(case: Case) -> Report:
    foretell_case = foretell_forks if "invhouse" in case.text else foretell
    try:
        return foretell_case(case.text, case.script)
    except Unclear:
        assume(False)
        raise


def compare(case: Case, *, in_order: bool) -> None:
    expected, got = foretold(case), played(case)
    note(f"{case.text}\n{case.script}\nexpected {expected}\ngot {got['visits']} {got['error']}")
    order = list if in_order else sorted
    assert order(got["visits"]) == order(expected.visits)
    seconds = [delay["seconds"] for delay in got["delays"]]
    assert order(seconds) == pytest.approx(order(expected.delays))
    assert got["status"] == expected.status
    if expected.status != "waiting":
        assert got["unsatisfied"] == expected.unsatisfied
    assert {key: got["ctx"].get(key) for key in expected.ctx} == expected.ctx


@pytest.mark.parametrize("dialect", list(DotDialect))
@given(chance=CHANCE)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=PATIENT)
def test_a_run_goes_the_way_the_text_foretells(dialect: DotDialect, chance: Random) -> None:
    compare(case_of(chance, dialect), in_order=True)


@given(chance=CHANCE)
@settings(max_examples=FORK_EXAMPLES, deadline=None, suppress_health_check=PATIENT)
def test_branches_come_together_the_way_the_text_foretells(chance: Random) -> None:
    compare(fork_case_of(chance), in_order=False)


@pytest.mark.parametrize("dialect", list(DotDialect))
def test_most_graphs_are_valid_and_clear(dialect: DotDialect) -> None:
    worth = 0
    for seed in range(SAMPLE):
        case = case_of(Random(seed), dialect)
        if load_text(case.text, "g.dot").program is None:
            continue
        try:
            foretell(case.text, case.script)
        except Unclear:
            continue
        worth += 1
    assert worth >= WORTH_MIN
