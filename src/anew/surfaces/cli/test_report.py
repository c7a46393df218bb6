"""The results of scenarios as people read them, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from anew.lab.expectations import UnmetExpectation, difference
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.paint import Paint
from anew.surfaces.cli.testing import ScenarioResult, ScenarioVerdict
from anew.values import Object

# A screenful of each difference; `-v` shows all of it.
DIFF_SHOWN_LINES_MAX = 40
TIMELINE_SHOWN_LINES_MAX = 25

_COLOURS = {"-": "red", "+": "green", "@": "blue"}
_WORDS = {
    ScenarioVerdict.PASSED: "passed",
    ScenarioVerdict.FAILED: "failed",
    ScenarioVerdict.BAD: "not playable",
}
_SUMMARY_COLOURS = {
    ScenarioVerdict.PASSED: "green",
    ScenarioVerdict.FAILED: "red",
    ScenarioVerdict.BAD: "red",
}


def result_lines(result: ScenarioResult, paint: Paint, *, is_whole: bool) -> Iterator[str]:
    """One line for a scenario that did not pass, then what was expected, and what happened."""
    name = paint("bold", visible(result.file))
    if result.verdict is ScenarioVerdict.BAD:
        # A problem that has a line begins with the name: `flow.scenario.yaml:2:1: …`
        problem = result.problem.removeprefix(result.file)
        gap = "" if problem != result.problem else ": "
        yield f"{paint('red', 'ERROR')} {name}{gap}{visible(problem)}"
        return
    yield f"{paint('red', 'FAILED')} {name}"
    yield from failure_lines(result, paint, is_whole=is_whole)


def failure_lines(result: ScenarioResult, paint: Paint, *, is_whole: bool) -> Iterator[str]:
    """Every expectation that was not met, with its difference; then the timeline."""
    for failure in result.failures:
        yield f"  {visible(failure.message)}"
        lines = [_diff_line(line, paint) for line in difference(failure)]
        yield from _bounded(lines, None if is_whole else DIFF_SHOWN_LINES_MAX)
    if any(failure.what == "timeline" for failure in result.failures):
        return
    yield "  what happened:"
    lines = [f"    {line}" for line in result.timeline.splitlines()]
    yield from _bounded(lines, None if is_whole else TIMELINE_SHOWN_LINES_MAX)


def _diff_line(line: str, paint: Paint) -> str:
    colour = _COLOURS.get(line[:1])
    shown = f"    {visible(line)}".rstrip()
    return paint(colour, shown) if colour else shown


def _bounded(lines: Sequence[str], most: int | None) -> Iterator[str]:
    yield from lines if most is None else lines[:most]
    if most is not None and len(lines) > most:
        yield f"    … {len(lines) - most} more lines; -v shows all of them"


def verbose_line(result: ScenarioResult, paint: Paint) -> str:
    """A scenario that passed."""
    said = "" if result.expects else " (no expectation)"
    written = " (timeline written)" if result.is_written else ""
    return f"{paint('green', 'PASSED')} {visible(result.file)}{said}{written}"


def summary_line(results: Sequence[ScenarioResult], seconds: float, paint: Paint) -> str:
    """`3 passed, 1 failed in 0.02 s`."""
    counts = Counter(result.verdict for result in results)
    parts = [
        paint(_SUMMARY_COLOURS[verdict], f"{counts[verdict]} {_WORDS[verdict]}")
        for verdict in ScenarioVerdict
        if counts[verdict]
    ]
    written = sum(result.is_written for result in results)
    if written:
        parts.append(f"{written} timeline{'s' if written > 1 else ''} written")
    return f"{', '.join(parts)} in {seconds:.2f} s"


def json_rows(results: Iterable[ScenarioResult]) -> list[Object]:
    """One object per scenario."""
    return [
        {
            "file": result.file,
            "document": result.document,
            "verdict": result.verdict.value,
            "seconds": round(result.seconds, 6),
            "problem": result.problem or None,
            "failures": [_json_failure(failure) for failure in result.failures],
            "doubts": result.doubts,
        }
        for result in results
    ]


def _json_failure(failure: UnmetExpectation) -> Object:
    return {
        "what": failure.what,
        "message": failure.message,
        "expected": failure.expected,
        "found": failure.found,
    }
