"""Coverage as a page: a table of documents, and the source of each with its points marked.

One text that needs nothing else: no request leaves it. Whatever a document says is shown as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from msgspec import Struct

from anew.lab.coverage import Coverage, Point, percent_of


class _Mark(Struct, frozen=True):
    """A sign as well as a colour, and a word as well as a sign: not everybody sees all of them."""

    kind: str
    sign: str
    word: str


_COVERED = _Mark("yes", "✓", "exercised")
_PARTLY = _Mark("part", "◐", "partly exercised")
_UNCOVERED = _Mark("no", "✗", "not exercised")


class CoveredSource(Struct, frozen=True):
    """A document: its lines, as places count them, what was covered of it, and by how many."""

    file: str
    lines: Sequence[str]
    coverage: Coverage
    scenarios: int = 1

    @property
    def summary(self) -> str:
        """How much of it is covered, in words."""
        if not self.scenarios:
            return "no scenario plays it"
        return f"{self.coverage.percent:g} %" if self.coverage.points else "decides nothing"


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
    cover = one.coverage
    lines = sorted({point.place.line for point in cover.uncovered})
    links = " ".join(f'<a href="#{_line_id(number, line)}">{line}</a>' for line in lines)
    return (
        f'<tr><th scope="row"><a href="#d{number}">{_safe(one.file)}</a></th>'
        f"<td>{cover.points}</td><td>{cover.covered}</td><td>{len(cover.uncovered)}</td>"
        f"<td>{_bar(one)}{one.summary}</td><td>{links}</td></tr>"
    )


def _bar(one: CoveredSource) -> str:
    if not one.coverage.points:
        return ""
    percent = f"{one.coverage.percent if one.scenarios else 0:g}"
    name = f"covered of {_safe(one.file)}"
    return f'<progress max="100" value="{percent}" aria-label="{name}"></progress> '


def _line_id(number: int, line: int) -> str:
    return f"d{number}l{line}"


def _section(number: int, one: CoveredSource) -> str:
    by_line: dict[int, list[tuple[Point, int]]] = {}
    for point, count in one.coverage.hits.items():
        by_line.setdefault(point.place.line, []).append((point, count))
    lines = "\n".join(_line(number, *told, by_line) for told in enumerate(one.lines, 1))
    return (
        f'<section id="d{number}"><h2>{_safe(one.file)} <small>{one.summary}</small></h2>\n'
        f"<table class=source><caption>The source of {_safe(one.file)}</caption>\n{_HEAD}\n"
        f"<tbody>\n{lines}\n</tbody></table></section>"
    )


def _line(
    document: int, number: int, line: str, by_line: Mapping[int, list[tuple[Point, int]]]
) -> str:
    points = by_line.get(number, [])
    mark = _mark(points)
    notes = "".join(f"<div class={_of(n).kind}>{_note(point, n)}</div>" for point, n in points)
    kind, sign = ("", "") if mark is None else (mark.kind, _sign(mark))
    return (
        f'<tr id="{_line_id(document, number)}" class="{kind}"><td class=n>{number}</td>'
        f"<td class=s>{sign}</td><td><pre>{_safe(line)}</pre>{notes}</td></tr>"
    )


def _sign(mark: _Mark) -> str:
    """For those who hear the page, a word."""
    return f'<span role="img" aria-label="{mark.word}" title="{mark.word}">{mark.sign}</span>'


def _mark(points: Sequence[tuple[Point, int]]) -> _Mark | None:
    if not points:
        return None
    counts = [count for _, count in points]
    if all(counts):
        return _COVERED
    return _PARTLY if any(counts) else _UNCOVERED


def _of(count: int) -> _Mark:
    return _COVERED if count else _UNCOVERED


def _note(point: Point, count: int) -> str:
    sign = _of(count).sign
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
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.source thead { font-size: 12px; color: var(--dim); text-align: left; }
.summary tbody th { font-weight: normal; }
tr:target { outline: 2px solid var(--no-ink); }
"""
_HEAD = (
    '<thead><tr><th scope="col">line</th><th scope="col"><abbr title="exercised">✓</abbr></th>'
    '<th scope="col">source</th></tr></thead>'
)
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
<caption>What was exercised of each document</caption>
<thead><tr><th scope="col">document</th><th scope="col">points</th><th scope="col">exercised</th>
<th scope="col">not</th><th scope="col">share</th><th scope="col">lines not exercised</th>
</tr></thead>
<tbody>
{rows}
</tbody>
</table>
{sources}
</body>
</html>
"""
