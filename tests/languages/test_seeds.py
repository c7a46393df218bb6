"""Every YAML example that the languages were first described with is a program."""

from __future__ import annotations

import pytest

from anew.languages.playbook import load_playbook
from tests.languages.documents import EVERYTHING, PIPELINE, SEEDS, in_workflow

# What they do themselves, or warn of: a template in SQL, words of messages, `{{ True }}`.
TOLD = {"sql.template", "outcome.message-text", "retry.always"}


@pytest.mark.parametrize("text", SEEDS)
def test_an_example_of_the_seeds_loads(text: str) -> None:
    loaded = load_playbook(text, "seed.yaml")
    assert loaded.program is not None, loaded.findings
    assert {found.rule for found in loaded.findings} <= TOLD


def test_the_canonical_pipeline_is_canonical() -> None:
    loaded = load_playbook(in_workflow(PIPELINE), "seed.yaml")
    assert (loaded.findings, loaded.strict) == ([], [])


def test_one_document_may_use_everything_in_every_dialect() -> None:
    loaded = load_playbook(EVERYTHING, "everything.yaml")
    assert loaded.program is not None, loaded.findings
    assert loaded.program.dialect == "mixed"
