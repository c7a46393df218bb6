"""The table itself, apart from what fills it: `map` looks filters up by name."""

from __future__ import annotations

from anew.expressions.signature import Callee

FILTERS: dict[str, Callee] = {}
