"""Coverage as a page: a table of documents, and the source of each with its points marked.

One text that needs nothing else: no request leaves it. Whatever a document says is shown as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from msgspec import Struct

from anew.lab.coverage import Coverage, Point, percent_of

# A sign as well as a colour: not everybody sees both.
_COVERED, _PARTLY, _UNCOVERED = ("yes", "✓"), ("part", "◐"), ("no", "✗")


class CoveredSource(Struct, frozen=True):
    """A document: its lines, as places count them, and what was covered of it."""

    file: str
    lines: Sequence[str]
    coverage: Coverage
    percent: float


def page_of(documents: Sequence[CoveredSource]) -> str:
    """A whole page of HTML."""
    covered = sum(one.coverage.covered for one in documents)
    points = sum(one.coverage.points for one in documents)
    rows = "\n".join(_row(number, one) for number, one in enumerate(documents))
    sources = "\n".join(_section(number, one) for number, one in enumerate(documents))
    total = f"{percent_of(covered, points):g} %"
    return _PAGE.format(
        style=_STYLE, total=total, covered=covered, points=points, rows=rows, sources=sources
    )


def _row(number: int, one: CoveredSource) -> str:
    cover, percent = one.coverage, f"{one.percent:g}"
    return (
        f'<tr><td><a href="#d{number}">{_safe(one.file)}</a></td><td>{cover.points}</td>'
        f"<td>{cover.covered}</td><td>{len(cover.uncovered)}</td>"
        f'<td><progress max="100" value="{percent}"></progress> {percent} %</td></tr>'
    )


def _section(number: int, one: CoveredSource) -> str:
    by_line: dict[int, list[tuple[Point, int]]] = {}
    for point, count in one.coverage.hits.items():
        by_line.setdefault(point.place.line, []).append((point, count))
    lines = "\n".join(_lines(one.lines, by_line))
    return (
        f'<section id="d{number}"><h2>{_safe(one.file)} <small>{one.percent:g} %</small>'
        f"</h2>\n<table class=source>\n{lines}\n</table></section>"
    )


def _lines(lines: Sequence[str], by_line: Mapping[int, list[tuple[Point, int]]]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        points = by_line.get(number, [])
        kind, sign = _mark(points)
        told = "".join(f"<div class={_kind(count)}>{_note(p, count)}</div>" for p, count in points)
        yield (
            f'<tr class="{kind}"><td class=n>{number}</td><td class=s>{sign}</td>'
            f"<td><pre>{_safe(line)}</pre>{told}</td></tr>"
        )


def _mark(points: Sequence[tuple[Point, int]]) -> tuple[str, str]:
    if not points:
        return "", ""
    counts = [count for _, count in points]
    if all(counts):
        return _COVERED
    return _PARTLY if any(counts) else _UNCOVERED


def _kind(count: int) -> str:
    return (_COVERED if count else _UNCOVERED)[0]


def _note(point: Point, count: int) -> str:
    sign = (_COVERED if count else _UNCOVERED)[1]
    if not count:
        return f"{sign} {_safe(point.what)} {_safe(point.lack)}"
    return f"{sign} {_safe(point.what)} · {count}×"


def _safe(text: str) -> str:
    """As text, whatever it says; what no page can hold is marked."""
    return escape("".join(c if c.isprintable() or c == "\t" else "�" for c in text))


_STYLE = """
:root { color-scheme: light dark; --line: #ccc; --dim: #666; --yes: #e3f6e5; --no: #fde4e1;
  --part: #fff3cd; --yes-ink: #14602a; --no-ink: #9c1c10; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --dim: #999; --yes: #12301a;
  --no: #42160f; --part: #3b3110; --yes-ink: #7ddb95; --no-ink: #ff9a8c; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
.summary td, .summary th { border-bottom: 1px solid var(--line); padding: .3rem .6rem;
  text-align: right; }
.summary td:first-child, .summary th:first-child { text-align: left; }
.source td { vertical-align: top; padding: 0 .5rem; }
.source pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
.source div { font-size: 12px; }
.n { color: var(--dim); text-align: right; width: 3rem; user-select: none; }
.s { width: 1rem; }
tr.yes { background: var(--yes); } tr.no { background: var(--no); }
tr.part { background: var(--part); }
div.yes { color: var(--yes-ink); } div.no { color: var(--no-ink); }
small { color: var(--dim); font-weight: normal; }
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Coverage: {total}</title>
<style>{style}</style>
</head>
<body>
<h1>Coverage: {total}</h1>
<p>{covered} of {points} rules, arcs, gates and ways out of failures were exercised by a scenario.
✓ exercised, ✗ not, ◐ some of those on the line.</p>
<table class="summary">
<thead><tr><th>document</th><th>points</th><th>exercised</th><th>not</th><th>share</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
{sources}
</body>
</html>
"""
