"""The bounds of one evaluation, by name, and what its work costs. Knows nothing of expressions.

Costs are counted in operations. One is worth at most about 2.5 µs of a present core, so that the
longest evaluation takes a quarter of a second (`python -m bench evaluation` measures it).
"""

from __future__ import annotations

from msgspec import Struct


class TemplateLimits(Struct, frozen=True):
    """How much one evaluation may do and make; passing one is an ExpressionError that names it."""

    # Text made by one rendering, or by one operation on text.
    text_chars_max: int = 1024 * 1024
    # Loop iterations and per-element work of filters. Work done in bulk costs less: see BULK.
    operations_max: int = 100_000
    # What all evaluations of one decision may spend together, beside OPERATIONS_FREE of each.
    decision_operations_max: int = 1_000_000
    # Elements of one list made by an operation, counted through everything it contains.
    items_max: int = 1_000_000
    # Nesting of one expression or of statements. Each level costs a few Python frames of the
    # thousand there are, and the caller needs some of them.
    depth_max: int = 100
    # Names, literals and signs of one text. Compiling takes about 30 µs for each.
    tokens_max: int = 25_000
    # What every store and every JSON reader we use can hold.
    int_min: int = -(2**63)
    int_max: int = 2**64 - 1


DEFAULT_LIMITS = TemplateLimits()

# Copying or scanning costs up to 40 ns a character in the slowest of Python's own ways, so this
# many characters, or items of one list that are only copied, count as one operation.
BULK = 64
# Going through everything a value contains takes an interpreted step for each part.
PARTS_PER_OPERATION = 16
# Pairs that Python compares without interpreting anything: a set of characters with each
# character of a text, a part of a text with each place in it.
PAIRS_PER_OPERATION = 1_024
# What an evaluation spends before a decision is charged: most never spend more.
OPERATIONS_FREE = 16
