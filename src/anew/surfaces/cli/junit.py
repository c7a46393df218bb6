"""The results of scenarios in the XML of JUnit, which continuous integration reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from anew.surfaces.cli.paint import Paint
from anew.surfaces.cli.test_report import failure_lines
from anew.surfaces.cli.testing import ScenarioResult, ScenarioVerdict

# What XML 1.0 cannot hold, however it is written.
_REFUSED = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(results: Sequence[ScenarioResult], seconds: float) -> str:
    """One test case per scenario, in one suite."""
    failed = sum(result.verdict is ScenarioVerdict.FAILED for result in results)
    bad = sum(result.verdict is ScenarioVerdict.BAD for result in results)
    counts = {"tests": str(len(results)), "failures": str(failed), "errors": str(bad)}
    time = f"{seconds:.3f}"
    root = Element("testsuites", {"name": "anew test", **counts, "time": time})
    suite = SubElement(root, "testsuite", {"name": "anew", **counts, "skipped": "0", "time": time})
    for result in results:
        _add_case(suite, result)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_case(suite: Element, result: ScenarioResult) -> None:
    case = SubElement(
        suite,
        "testcase",
        {
            "classname": _clean(result.document or "scenario"),
            "name": _clean(result.file),
            "file": _clean(result.file),
            "time": f"{result.seconds:.3f}",
        },
    )
    if result.verdict is ScenarioVerdict.BAD:
        SubElement(case, "error", {"message": _clean(result.problem)})
    if result.verdict is ScenarioVerdict.FAILED:
        messages = "; ".join(failure.message for failure in result.failures)
        element = SubElement(case, "failure", {"message": _clean(messages)})
        element.text = _clean("\n".join(failure_lines(result, _plain, is_whole=True)))


def _clean(text: str) -> str:
    return _REFUSED.sub("", text)


_plain: Paint = lambda _, text: text  # noqa: E731 - a file has no colours
