"""What is written as YAML is read as the same values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.languages.document import read_yaml
from anew.languages.nodes import plain
from anew.languages.translation.to_playbook import WRITER
from anew.values import Object

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
LINES = st.lists(TEXTS, max_size=4).map("\n".join)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | LINES
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
STEPS = st.lists(st.fixed_dictionaries({"step": TEXTS, "tool": VALUES}), min_size=1, max_size=3)


@pytest.mark.parametrize("text", ["x\ny", "x\ny\n", "x\n\n", "\nx", " x\ny", "x: y\n# z"])
def test_a_text_of_several_lines_keeps_its_end(text: str) -> None:
    root, findings = read_yaml(WRITER.document({"text": text}), "f.yaml")
    assert findings == []
    assert root is not None
    assert plain(root) == {"text": text}


@pytest.mark.parametrize(
    "character", "\x00\x07\x1b\x7f\x80\x85\x9b\x9f\u2028\u2029\ufeff\ufffe\uffff"
)
def test_characters_that_are_no_text_to_yaml_are_escaped(character: str) -> None:
    told = {"a": f"x{character}y", f"k{character}": [f"{character}\nz"]}
    root, findings = read_yaml(WRITER.document(told).encode(), "f.yaml")
    assert findings == []
    assert root is not None
    assert plain(root) == told


def test_half_a_character_is_escaped_too() -> None:
    assert ascii(WRITER.document({"a": "x\ud800"})) == ascii('a: "x\\ud800"\n')


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4), STEPS)
def test_what_is_written_is_read_again(values: Object, steps: list[Object]) -> None:
    document: Object = {**values, "workflow": steps}
    root, findings = read_yaml(WRITER.document(document), "f.yaml")
    assert findings == []
    assert root is not None
    assert plain(root) == document
