"""A scenario's text reads as the same value again, and other readers of YAML agree."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anew.lab.recording.scenario_text import LINE_CHARS, scenario_text
from anew.languages.document import read_yaml
from anew.languages.nodes import plain

HOSTILE = (
    *(
        "NO",
        "no",
        "on",
        "Off",
        "y",
        "12:30",
        "007",
        "1_000",
        "0x1f",
        "1e3",
        "~",
        "null",
        "true",
        "",
    ),
    *("2000-01-01", "- a", "? a", "a: b", "#x", "a #b", "{", "}", "[", "|", ">", "*a", "&a", "!t"),
    *(
        "a\nb",
        "a\n",
        "\na",
        " a\nb",
        "a \nb",
        "a\n\n",
        "a\tb",
        "\x00",
        "\x1b[2J",
        "é漢字😀",
        "\ufeff",
    ),
    *(
        "\u2028",
        "\x85",
        "{{ x }}",
        "'",
        '"',
        "\\",
        "%a",
        "@a",
        "`a`",
        "=",
        "<<",
        "x" * 3_000,
        "\r\n",
    ),
)
texts = st.sampled_from(HOSTILE) | st.text(max_size=20)
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=25,
)
scenarios = st.dictionaries(
    st.sampled_from(("now", "workload", "outcomes", "lags", "signals", "expect", "random")), values
)


def read(text: str) -> Any:
    node, findings = read_yaml(text, "x.scenario.yaml")
    assert node is not None, findings
    assert not [found for found in findings if found.severity.value == "error"], findings
    return plain(node)


@settings(max_examples=120)
@given(scenario=scenarios.filter(bool), comment=texts)
def test_whatever_a_scenario_holds_its_text_reads_as_that(scenario: Any, comment: str) -> None:
    text = scenario_text(scenario, [comment])
    found = read(text)
    assert found == scenario
    assert repr(found) == repr(scenario)  # 1 is not 1.0, and keys keep their order


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_text_is_read_alike_by_others(word: str) -> None:
    scenario = {"outcomes": {word: [{"result": {word: word, "list": [word, 1]}}]}}
    text = scenario_text(scenario)
    assert read(text) == scenario
    if word not in ("=", "<<"):  # which mean something to that reader alone
        assert yaml.safe_load(text) == scenario


def test_small_entries_stand_in_braces_and_large_ones_in_blocks() -> None:
    small = {"error": {"kind": "timeout", "message": "slow"}, "takes": 0.5}
    large = {"result": {"rows": list(range(60)), "text": "one\ntwo"}, "takes": 1}
    text = scenario_text({"now": "2000-01-01T00:00:00Z", "outcomes": {"get": [small, large]}})
    assert text.splitlines()[:5] == [
        'now: "2000-01-01T00:00:00Z"',
        "",
        "outcomes:",
        "  get:",
        "    - {error: {kind: timeout, message: slow}, takes: 0.5}",
    ]
    assert "        text: |-\n          one\n          two\n" in text
    assert max(map(len, text.splitlines())) <= LINE_CHARS
