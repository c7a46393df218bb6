"""`anew test`: play every scenario, say which expectations were not met and what none covers."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from time import perf_counter

from anew.errors import ConfigError
from anew.lab.coverage import Coverage, coverage_of
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_tools_option, count, parser_for
from anew.surfaces.cli.coverage_report import (
    Covered,
    coverage_lines,
    coverage_object,
    total_percent,
)
from anew.surfaces.cli.discovery import documents_among, files_below, scenarios_among
from anew.surfaces.cli.documents import read_document, write_document
from anew.surfaces.cli.excerpts import document_lines, visible
from anew.surfaces.cli.name_expression import choice_of
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.test_report import json_rows, result_lines, summary_line, verbose_line
from anew.surfaces.cli.testing import (
    Documents,
    ScenarioResult,
    ScenarioVerdict,
    TestOptions,
    batches,
)

_PAGE_NAME = "index.html"


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    paths = asked.paths or ["."]
    if not asked.watch:
        return Session(asked, files_below(paths)).run()
    from anew.surfaces.cli.test_watch import watch

    return watch(paths, lambda files: Session(asked, files))


def _parser() -> ArgumentParser:
    parser = parser_for(
        "test",
        purpose="Play scenarios (*.scenario.yaml) with the real engine in virtual time, and\n"
        "compare what happens with what they expect. With --coverage, also report which\n"
        "rules, arcs, gates and failure routes no scenario has exercised.",
        example="anew test\nanew test flows -k 'down and not slow' --coverage\n"
        "anew test --junit results.xml --fail-under 90",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="scenarios, documents or folders (default: this folder)",
    )
    parser.add_argument(
        "-k", type=choice_of, metavar="EXPR", help="only matching names: 'down and not slow'"
    )
    parser.add_argument("-x", action="store_true", help="stop at the first that does not pass")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", action="store_true", help="one line per failed scenario")
    loudness.add_argument("-v", action="store_true", help="name every scenario, cut nothing short")
    parser.add_argument(
        "-j", type=count, default=os.cpu_count() or 1, metavar="N", help="at most N processes"
    )
    add_tools_option(parser)
    parser.add_argument("--update", action="store_true", help="write golden timelines again")
    parser.add_argument("--watch", action="store_true", help="play again whenever a file changes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--junit", metavar="FILE", help="also write the results as JUnit XML")
    parser.add_argument("--coverage", action="store_true", help="say what no scenario exercises")
    parser.add_argument(
        "--coverage-html", metavar="FILE", help="write coverage as a page, or into a folder"
    )
    parser.add_argument(
        "--fail-under",
        type=_percent,
        metavar="PERCENT",
        help="exit with 1 when less than this is covered",
    )
    return parser


def _percent(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 100")
    return percent


class Session:
    """One time through all scenarios among `files`. `used` has what their documents consist of."""

    def __init__(self, asked: Namespace, files: list[str]) -> None:
        self._asked = asked
        self._files = files
        self._scenarios = scenarios_among(files)
        self._paint = paint_for(sys.stdout)
        self._results: list[ScenarioResult] = []
        self._coverage: dict[str, Coverage] = {}
        self._broken: list[str] = []
        self.used: set[str] = set()
        self._wants_coverage = (
            asked.coverage or asked.coverage_html is not None or asked.fail_under is not None
        )

    def run(self) -> int:
        chosen = [file for file in self._scenarios if self._is_chosen(file)]
        if not chosen:
            raise ConfigError(self._nothing())
        began = perf_counter()
        intent = TestOptions(self._wants_coverage, self._asked.update, self._asked.x)
        for batch in batches(chosen, intent, processes=self._asked.j):
            self._results += batch.results
            self.used |= batch.used
            for document, coverage in batch.coverage.items():
                self._coverage[document] = self._coverage.get(document, Coverage()).plus(coverage)
            self._print_batch(batch.results)
        return self._end(perf_counter() - began)

    def _is_chosen(self, file: str) -> bool:
        return self._asked.k is None or self._asked.k(file)

    def _nothing(self) -> str:
        where = " ".join(self._asked.paths) or "this folder"
        if self._scenarios:
            return f"none of the {len(self._scenarios)} scenarios has a name that fits -k"
        return (
            f"there is no scenario in {where}; one is a file NAME.scenario.yaml next to NAME.yaml"
        )

    def _end(self, seconds: float) -> int:
        documents = self._documents() if self._wants_coverage else []
        if self._asked.junit is not None:
            from anew.surfaces.cli.junit import junit_text

            write_document(self._asked.junit, junit_text(self._results, seconds))
        if self._asked.coverage_html is not None:
            self._write_page(documents)
        if self._asked.json:
            self._print_json(documents, seconds)
        else:
            self._print_end(documents, seconds)
        return self._status(documents)

    def _status(self, documents: list[Covered]) -> int:
        verdicts = {result.verdict for result in self._results}
        least = self._asked.fail_under
        # Nobody knows how much of a document is covered that cannot be read.
        if ScenarioVerdict.BAD in verdicts or (least is not None and self._broken):
            return status.BAD
        is_short = least is not None and total_percent(documents) < least
        return status.FAILED if is_short or ScenarioVerdict.FAILED in verdicts else status.DONE

    # --- coverage ---

    def _documents(self) -> list[Covered]:
        """Every document below the paths, and whatever else was played."""
        played = Counter(result.document for result in self._results if result.document)
        programs = Documents()
        found: list[Covered] = []
        for file in sorted({*documents_among(self._files), *self._coverage}):
            coverage = self._coverage.get(file)
            try:
                if coverage is None:
                    coverage = coverage_of(programs.program(file))
                found.append(Covered(file, read_document(file), coverage, played[file]))
            except ConfigError:
                self._broken.append(file)
                told = "it has errors, see `anew check`"
                print(f"{visible(file)}: warning: not counted: {told}", file=sys.stderr)
        return found

    def _write_page(self, documents: list[Covered]) -> None:
        from anew.lab.coverage_page import CoveredSource, page_of

        path: str = self._asked.coverage_html
        if path.endswith("/") or os.path.isdir(path):
            os.makedirs(path, exist_ok=True)
            path = os.path.join(path, _PAGE_NAME)
        sources = [
            CoveredSource(one.file, document_lines(one.source), one.coverage, one.scenarios)
            for one in documents
        ]
        write_document(path, page_of(sources))

    # --- words ---

    def _print_batch(self, results: list[ScenarioResult]) -> None:
        asked = self._asked
        for result in results:
            if not asked.q:
                for doubt in result.doubts:
                    told = f"{visible(result.file)}: warning: {visible(doubt)}"
                    print(told, file=sys.stderr)
            if asked.json:
                continue
            if result.verdict is not ScenarioVerdict.PASSED:
                lines = result_lines(result, self._paint, is_whole=asked.v)
                print(next(lines) if asked.q else "\n".join(lines))
            elif asked.v:
                print(verbose_line(result, self._paint))

    def _print_end(self, documents: list[Covered], seconds: float) -> None:
        if self._wants_coverage and not self._asked.q:
            for line in coverage_lines(documents, self._paint, is_whole=self._asked.v):
                print(line)
        print(summary_line(self._results, seconds, self._paint))
        least = self._asked.fail_under
        if least is not None and self._broken:
            told = f"documents that have errors: {len(self._broken)}; coverage cannot be computed"
            print(self._paint("red", told))
        elif least is not None and total_percent(documents) < least:
            told = f"coverage is {total_percent(documents):g} %, less than {least:g} %"
            print(self._paint("red", told))

    def _print_json(self, documents: list[Covered], seconds: float) -> None:
        counts = Counter(result.verdict for result in self._results)
        covered = coverage_object(documents, self._broken) if self._wants_coverage else None
        told = {
            **{verdict.value: counts[verdict] for verdict in ScenarioVerdict},
            "seconds": round(seconds, 6),
            "scenarios": json_rows(self._results),
            "coverage": covered,
        }
        print(json.dumps(told))
