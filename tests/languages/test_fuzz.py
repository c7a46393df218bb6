"""No document, however broken, raises: everything wrong is a finding inside the file."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anew.languages.playbook import load_playbook
from anew.languages.playbook.migrate import migrate
from anew.languages.rules import RULES
from anew.program.findings import Severity
from tests.languages.documents import EVERYTHING, SEEDS
from tests.suites import tried

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
BASES = [EVERYTHING, *SEEDS]
TREES = [yaml.safe_load(base) for base in BASES]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "{{", "{{ x }}", "{% if %}", "a", "retry", "{{ 1 + }}", "10**999", "-1s"]),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def check(text: str | bytes) -> None:
    loaded = load_playbook(text, "f.yaml")
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    lines = LINE_BREAK.split(decoded.removeprefix("\ufeff"))
    for found in [*loaded.findings, *loaded.strict]:
        assert found.rule in RULES
        assert found.severity is RULES[found.rule].severity
        assert 1 <= found.place.line <= len(lines)
        assert 1 <= found.place.column <= len(lines[found.place.line - 1]) + 1
    has_errors = any(found.severity is Severity.ERROR for found in loaded.findings)
    assert (loaded.program is None) is has_errors
    migrated = migrate(text, "f.yaml")
    assert all(found.rule in RULES for found in migrated.findings)
    assert (migrated.text is None) is has_errors
    assert has_errors or load_playbook(migrated.text, "f.yaml").program is not None


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    found: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        pairs = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in pairs:
            found.append((node, key))
            if isinstance(value, dict | list):
                todo.append(value)
    return found


def mutate(data: st.DataObject, tree: Any) -> None:
    container, key = data.draw(st.sampled_from(places(tree)))
    action = data.draw(st.sampled_from(["drop", "replace", "rename", "copy"]))
    if action == "drop":
        del container[key]
    elif action == "replace":
        container[key] = data.draw(VALUES)
    elif action == "rename" and isinstance(container, dict):
        container[data.draw(st.sampled_from(["do", "tool", "next", "spec", "x"]))] = container[key]
    elif isinstance(container, list):
        container.append(container[key])


@tried(st.data(), examples=30, long=(150,), derandomize=True)
def test_a_document_with_changed_values_never_raises(data: st.DataObject) -> None:
    tree = json.loads(json.dumps(data.draw(st.sampled_from(TREES))))
    for _ in range(data.draw(st.integers(1, 4))):
        if places(tree):
            mutate(data, tree)
    check(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False))
    check(json.dumps(tree))


@tried(st.data(), examples=50, long=(150,), derandomize=True)
def test_a_document_with_changed_text_never_raises(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(BASES))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 20))
        piece = data.draw(
            st.one_of(
                st.text(max_size=6),
                st.sampled_from(["\t", "\n", "- ", ": ", "{{", "}}", "&a ", "*a", "'", '"', "|\n"]),
                st.just(text[at : at + 60]),
            )
        )
        text = text[:at] + piece + text[at + length :]
    check(text)


@FUZZ
@given(VALUES)
def test_any_value_as_a_document_never_raises(value: Any) -> None:
    check(yaml.safe_dump(value, allow_unicode=True))
    check(yaml.safe_dump({"workflow": value}))
    check(yaml.safe_dump({"workflow": [{"step": "a", "tool": value, "next": value}]}))


@FUZZ
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_any_bytes_as_a_document_never_raise(text: str | bytes) -> None:
    check(text)
