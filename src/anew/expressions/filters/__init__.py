"""The table of filters. What is not in it does not exist for authors.

Left out on purpose: `attr` (reaches into Python), `random` (draws go through `rand()`, which is
recorded), `format` and regular expressions (their cost cannot be bounded before they run).
"""

from __future__ import annotations

from anew.expressions.filters import encoding, numbers, ordering, sequences, texts
from anew.expressions.filters.mapping import MAPPING_FILTERS
from anew.expressions.filters.table import FILTERS
from anew.expressions.signature import table_of

FILTERS.update(
    table_of(
        "filter",
        {
            **numbers.NUMBER_FILTERS,
            **texts.TEXT_FILTERS,
            **encoding.ENCODING_FILTERS,
            **sequences.SEQUENCE_FILTERS,
            **ordering.ORDERING_FILTERS,
            **MAPPING_FILTERS,
        },
        leading=2,
    )
)

__all__ = ["FILTERS"]
