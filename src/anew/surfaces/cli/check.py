"""`anew check`: find every problem in documents, without running anything."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from anew.errors import ConfigError
from anew.languages import load_text
from anew.program.findings import Finding
from anew.program.program import Program
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.documents import read_document, shown_name
from anew.surfaces.cli.findings import (
    counted,
    counts,
    finding_lines,
    finding_row,
    has_error,
    in_file_order,
)
from anew.surfaces.cli.paint import Paint, paint_for


@dataclass(frozen=True, slots=True)
class Checked:
    """One document with what was found in it; `strict` is empty unless it was asked for."""

    name: str
    document: bytes
    program: Program | None
    findings: list[Finding]
    strict: list[Finding]

    @property
    def all_findings(self) -> list[Finding]:
        return in_file_order([*self.findings, *self.strict])

    @property
    def is_refused(self) -> bool:
        return has_error(self.findings) or bool(self.strict)


def run(words: list[str]) -> int:
    parser = parser_for(
        "check",
        purpose="Find every problem in documents, each with its line, its column and a remedy.\n"
        "The exit status is 2 when there is an error, or a finding of --strict.",
        example="anew check flow.yaml\nanew check --strict --json examples/*.yaml",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a document; - is standard input")
    parser.add_argument("--json", action="store_true", help="print the findings as a JSON list")
    parser.add_argument(
        "--strict", action="store_true", help="also refuse spellings that are not canonical"
    )
    asked = parser.parse_args(words)
    answers = [_check(path, strict=asked.strict) for path in asked.files]
    checked = [one for one in answers if one is not None]
    if asked.json:
        _print_json(checked)
    else:
        _print_text(checked, paint_for(sys.stdout))
    is_good = all(one is not None and not one.is_refused for one in answers)
    return status.DONE if is_good else status.BAD


def _check(path: str, *, strict: bool) -> Checked | None:
    """What was found in one document; None, said on standard error, when that is not possible."""
    name = shown_name(path)
    try:
        document = read_document(path)
        loaded = load_text(document, name)
    except ConfigError as error:
        print(f"anew: {error}", file=sys.stderr)
        return None
    return Checked(
        name, document, loaded.program, list(loaded.findings), list(loaded.strict) if strict else []
    )


def _print_json(checked: list[Checked]) -> None:
    import json

    print(json.dumps([finding_row(found) for one in checked for found in one.all_findings]))


def _print_text(checked: list[Checked], paint: Paint) -> None:
    for one in checked:
        for line in finding_lines(one.all_findings, one.document, paint):
            print(line)
    for one in checked:
        if not one.is_refused:
            print(f"{paint('green', 'ok')}: {one.name}{_size(one.program)}")
    findings = [finding for one in checked for finding in one.all_findings]
    if findings:
        files = sum(bool(one.all_findings) for one in checked)
        print(f"{counts(findings)} in {counted(files, 'file')}")


def _size(program: Program | None) -> str:
    if program is None:
        return ""
    tasks = sum(len(step.tasks) for step in program.steps.values())
    steps = counted(len(program.steps), "step")
    return f" ({steps}, {counted(tasks, 'task')}, dialect {program.dialect})"
