"""The pages about faults say what the code has."""

import re
from pathlib import Path

from anew.lab.faults import FAULTS
from anew.lab.faults.audit import MEANINGS
from anew.lab.faults.campaign import NO_BUG
from anew.lab.faults.conditions import NAMES
from tests.lab.faults.documents import RETRIED, campaign, played
from tests.pages import section

DOCS = Path(__file__).resolve().parents[3] / "docs"
STORY = DOCS / "lab/faults.md"
REFERENCE = DOCS / "reference/simulate.md"


def words(text):
    return set(re.findall(r"`([^`]+)`", text))


def test_every_fault_is_told_with_its_rate():
    told = section(STORY, "The faults")
    for name, fault in FAULTS.items():
        assert f"| `{name}` | {fault.rate:g} {fault.of} |" in told


def test_every_invariant_is_told_with_its_meaning():
    rows = section(STORY, "What is checked").replace("`", "")
    for name, meaning in MEANINGS.items():
        assert f"| {name} | {meaning} |" in rows
    assert f"| {NO_BUG} |" in rows


def test_everything_a_condition_may_read_is_told():
    assert set(NAMES) <= words(section(STORY, "What is checked"))
    assert set(NAMES) <= words(section(REFERENCE, "Faults"))


def test_every_key_of_the_json_is_told():
    told = words(section(REFERENCE, "The JSON of many runs"))
    assert played(RETRIED, runs=1).report().keys() <= told
    run = campaign(RETRIED, faults={}).play(1)
    assert run.report().keys() - run.simulation.report().keys() <= told
