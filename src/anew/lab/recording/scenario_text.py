"""Write a scenario as YAML for people to read; which of its sections have lines of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anew.languages.yaml_writer import YamlWriter
from anew.values import Value

LINE_CHARS = 100
# Read line by line, however short they are.
_SECTIONS = frozenset({"outcomes", "signals", "lags", "expect"})


def scenario_text(scenario: Mapping[str, Value], comments: Sequence[str] = ()) -> str:
    """The document, below its comments."""
    return YamlWriter(LINE_CHARS, blocks=_SECTIONS, above={(): comments}).document(scenario)
