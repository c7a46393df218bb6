"""Limits an operator may set."""

import pytest

from anew.errors import ConfigError
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text

NESTED = "a: [[[[1]]]]\nworkflow: [{step: a}]\n"


def rules(text):
    return {found.rule for found in load_text(text, "d.yaml").findings}


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("DOCUMENT_BYTES_MAX", "10", "yaml.size"),
        ("YAML_DEPTH_MAX", "3", "yaml.depth"),
    ],
)
def test_a_document_meets_the_limit_that_was_set(monkeypatch, name, value, rule):
    assert rule not in rules(NESTED)
    monkeypatch.setenv(f"ANEW_{name}", value)
    assert rule in rules(NESTED)


def test_aliases_meet_the_limit_that_was_set(monkeypatch):
    text = "x-a: &a 1\nx-b: [*a, *a]\nworkflow: [{step: a}]\n"
    assert "yaml.aliases" not in rules(text)
    monkeypatch.setenv("ANEW_YAML_ALIASES_MAX", "1")
    assert "yaml.aliases" in rules(text)


def test_a_rendering_meets_the_limit_that_was_set(monkeypatch):
    text = "workflow: [{step: a, tool: {kind: noop, result: \"{{ 'x' * 100 }}\"}}]"
    monkeypatch.setenv("ANEW_TEXT_CHARS_MAX", "50")
    report = simulate(load_text(text, "d.yaml").program, script_of({})).report()
    assert report["error"]["kind"] == "expression"


@pytest.mark.parametrize("value", ["", "0", "-1", "many", "1e3", "9" * 40])
def test_a_setting_that_is_no_limit_is_refused(monkeypatch, value):
    monkeypatch.setenv("ANEW_DOCUMENT_BYTES_MAX", value)
    with pytest.raises(ConfigError, match="ANEW_DOCUMENT_BYTES_MAX"):
        load_text("workflow: [{step: a}]", "d.yaml")


def test_the_depth_stays_within_what_the_compiler_can_walk(monkeypatch):
    monkeypatch.setenv("ANEW_YAML_DEPTH_MAX", "201")
    with pytest.raises(ConfigError, match="at most 200"):
        load_text("workflow: [{step: a}]", "d.yaml")
    monkeypatch.setenv("ANEW_YAML_DEPTH_MAX", "200")
    deep = (
        "a: "
        + "[" * 198
        + "]" * 198
        + "\nworkflow: [{step: a, tool: {kind: noop, x: "
        + "[" * 190
        + "]" * 190
        + "}}]"
    )
    assert load_text(deep, "d.yaml").program is not None
