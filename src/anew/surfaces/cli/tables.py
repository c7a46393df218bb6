"""Rows as columns: the first row is the head, and each column as wide as its widest cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anew.surfaces.cli.columns import fit, wide
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.paint import Paint

CELL_COLUMNS_MAX = 60


def table_lines(rows: Sequence[Sequence[str]], paint: Paint) -> Iterator[str]:
    """Texts of users are made visible, and cut where they are too wide."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [min(CELL_COLUMNS_MAX, max(map(wide, column))) for column in zip(*shown, strict=True)]
    for number, row in enumerate(shown):
        cells = (fit(cell, width) for cell, width in zip(row, widths, strict=True))
        line = "  ".join(cells).rstrip()
        yield paint("bold", line) if number == 0 else line
