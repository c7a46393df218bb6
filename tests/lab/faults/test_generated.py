"""No fault breaks an invariant, whatever the program: generated playbooks and graphs."""

from random import Random

from hypothesis import HealthCheck, assume
from hypothesis import strategies as st

from anew.errors import ConfigError
from anew.lab.faults import FAULTS, simulate_faults
from anew.lab.script import script_of
from anew.languages import load_text
from tests.engine.generated_dots import Sketch
from tests.generated import playbooks, scripts
from tests.lab.faults.documents import broken
from tests.suites import tried

RATES = dict.fromkeys(FAULTS, 0.3)
RUNS = 4
EVENTS_MAX = 1_000
SKETCHES_MAX = 20

patience = (HealthCheck.too_slow, HealthCheck.filter_too_much)
seeds = st.integers(0, 10**6)


def checked(program, script, seed):
    try:
        report = simulate_faults(
            program, script, faults=RATES, runs=RUNS, seed=seed, events_max=EVENTS_MAX
        )
    except ConfigError:
        assume(False)  # goes in circles for ever, as the generator may ask
    # One that only failures drive in circles is the author's, not the engine's.
    assert broken(report) <= {"comes-to-an-end"}, report.broken[0]
    stuck = [one.why for record in report.broken for one in record.broken if "nothing" in one.why]
    assert stuck == []


@tried(
    document=playbooks(), script=scripts(), seed=seeds, examples=10, long=(30,), suppress=patience
)
def test_no_fault_breaks_an_invariant_of_a_playbook(document, script, seed):
    program = load_text(document, "generated.yaml").program
    assert program is not None
    checked(program, script_of(script), seed)


@tried(chance=seeds, seed=seeds, examples=20, long=(20,), suppress=patience)
def test_no_fault_breaks_an_invariant_of_a_graph(chance, seed):
    random = Random(chance)
    texts = (Sketch(random).text() for _ in range(SKETCHES_MAX))
    programs = (load_text(text, "generated.dot").program for text in texts)
    program = next((one for one in programs if one is not None), None)
    assume(program is not None)
    checked(program, script_of({}), seed)
