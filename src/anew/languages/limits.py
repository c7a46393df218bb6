"""Limits an operator may set: how large a document may be, and how much its templates may do.

Each is read from the environment under `ANEW_` and its name, when a document is read.
"""

from __future__ import annotations

import os

from anew.errors import ConfigError
from anew.expressions import DEFAULT_LIMITS, TemplateLimits

DOCUMENT_BYTES_MAX = 1 << 20
YAML_DEPTH_MAX = 100
YAML_ALIASES_MAX = 1_000

# Compilers walk a document by recursion; this much fits on Python's stack with room to spare.
_DEPTH_BOUND = 200
_ANY_BOUND = 1 << 40


def document_bytes_max() -> int:
    return _setting("DOCUMENT_BYTES_MAX", DOCUMENT_BYTES_MAX)


def yaml_depth_max() -> int:
    return _setting("YAML_DEPTH_MAX", YAML_DEPTH_MAX, bound=_DEPTH_BOUND)


def yaml_aliases_max() -> int:
    return _setting("YAML_ALIASES_MAX", YAML_ALIASES_MAX)


# A decision may do as much as so many of the longest renderings.
_RENDERINGS = 10


def rendering_limits() -> TemplateLimits:
    """What one rendering of a template may make and do."""
    chars = _setting("TEXT_CHARS_MAX", DEFAULT_LIMITS.text_chars_max)
    operations = _setting("OPERATIONS_MAX", DEFAULT_LIMITS.operations_max)
    if (chars, operations) == (DEFAULT_LIMITS.text_chars_max, DEFAULT_LIMITS.operations_max):
        return DEFAULT_LIMITS
    decision = max(DEFAULT_LIMITS.decision_operations_max, _RENDERINGS * operations)
    return TemplateLimits(
        text_chars_max=chars, operations_max=operations, decision_operations_max=decision
    )


def _setting(name: str, default: int, *, bound: int = _ANY_BOUND) -> int:
    said = os.environ.get(f"ANEW_{name}")
    if said is None:
        return default
    if said.isascii() and said.isdigit() and len(said) < len(str(_ANY_BOUND)):
        number = int(said)
        if 1 <= number <= bound:
            return number
    most = f" and at most {bound:,}" if bound < _ANY_BOUND else ""
    raise ConfigError(f"ANEW_{name} is {said!r}; it must be a whole number of at least 1{most}")
