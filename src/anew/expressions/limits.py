"""The bounds of one evaluation, by name. Knows nothing of expressions."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """How much one evaluation may do and make; passing one is an ExpressionError that names it."""

    # Text made by one rendering, or by one operation on text.
    text_chars_max: int = 1024 * 1024
    # Loop iterations and per-element work of filters. Work done in bulk costs less: see BULK.
    operations_max: int = 100_000
    # Elements of one list made by an operation, counted through everything it contains.
    items_max: int = 1_000_000
    # Nesting of one expression or of statements. Each level costs a few Python frames of the
    # thousand there are, and the caller needs some of them.
    depth_max: int = 100
    # What every store and every JSON reader we use can hold.
    int_min: int = -(2**63)
    int_max: int = 2**64 - 1


DEFAULT_LIMITS = Limits()

# Copying or scanning costs about a sixty-fourth of an interpreted step per item, so this many
# items or characters count as one operation.
BULK = 64
