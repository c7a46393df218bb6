"""Which rules, arcs and gates no scenario has exercised: as lines, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from anew.lab.coverage import Coverage, Point, percent_of
from anew.surfaces.cli.excerpts import document_lines, excerpt, visible
from anew.surfaces.cli.paint import Paint
from anew.values import Object

# What is left to do is read in parts; `-v` lists all of it.
UNCOVERED_SHOWN_MAX = 40


class Covered(Struct, frozen=True):
    """A document with what was covered of it; nobody played one without `scenarios`."""

    file: str
    source: bytes
    coverage: Coverage
    scenarios: int

    @property
    def percent(self) -> float:
        """Of a document that nobody played, nothing is covered."""
        return self.coverage.percent if self.scenarios else 0.0


def total_percent(documents: Sequence[Covered]) -> float:
    """Of all points of all documents."""
    covered = sum(one.coverage.covered for one in documents)
    return percent_of(covered, sum(one.coverage.points for one in documents))


def coverage_lines(documents: Sequence[Covered], paint: Paint, *, is_whole: bool) -> Iterator[str]:
    """One line per document, with what is not covered below it; then all of them together."""
    width = max((len(visible(one.file)) for one in documents), default=0)
    yield paint("bold", "coverage")
    left = None if is_whole else UNCOVERED_SHOWN_MAX
    unshown = 0
    for one in documents:
        name, uncovered = visible(one.file), one.coverage.uncovered
        yield f"  {_row(name, [one.coverage], one.percent, width, paint)}"
        if not one.scenarios:
            yield "    no scenario plays it"
            continue
        shown = uncovered[:left]
        left = None if left is None else left - len(shown)
        unshown += len(uncovered) - len(shown)
        yield from _uncovered_lines(shown, one.source, paint)
    if unshown:
        yield f"    … {unshown} more; -v lists all of them"
    all_of_them = [one.coverage for one in documents]
    yield f"  {_row('total', all_of_them, total_percent(documents), width, paint)}"


def _row(name: str, coverages: Sequence[Coverage], percent: float, width: int, paint: Paint) -> str:
    covered = sum(one.covered for one in coverages)
    points = sum(one.points for one in coverages)
    told = f"{covered} of {points}"
    if not points:
        return f"{name:<{width}}  {told:>9}  decides nothing"
    shown = paint("green" if percent == 100 else "yellow", f"{percent:g} %")
    return f"{name:<{width}}  {told:>9}  {shown}"


def _uncovered_lines(points: Sequence[Point], source: bytes, paint: Paint) -> Iterator[str]:
    lines = document_lines(source)
    line = 0
    for point in points:
        place = point.place
        yield f"    {visible(str(place))}: {visible(point.what)} {point.lack}"
        if place.line != line:  # one line of the source may hold several of them
            first = excerpt(lines, place.line, place.column)[:1]
            yield from (f"     {paint('dim', shown)}" for shown in first)
        line = place.line


def coverage_object(documents: Sequence[Covered], broken: Sequence[str]) -> Object:
    """The `coverage` of `anew test --json`; `broken` are documents that have errors."""
    return {
        "percent": total_percent(documents),
        "covered": sum(one.coverage.covered for one in documents),
        "points": sum(one.coverage.points for one in documents),
        "files": [
            {
                "file": one.file,
                "scenarios": one.scenarios,
                **one.coverage.report(),
                "percent": one.percent,
            }
            for one in documents
        ],
        "broken": list(broken),
    }
