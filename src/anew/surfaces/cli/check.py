"""`anew check`: find every problem in documents, without running anything."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from msgspec import Struct

from anew.errors import ConfigError
from anew.languages import is_dot, load_text
from anew.languages.rules import finding
from anew.program.check import check_installed
from anew.program.findings import Finding, Severity, has_error
from anew.program.program import Program
from anew.program.span import Span
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, add_tools_option, parser_for
from anew.surfaces.cli.documents import read_document, shown_name
from anew.surfaces.cli.findings import counted, counts, finding_lines
from anew.surfaces.cli.folders import has_folder
from anew.surfaces.cli.paint import Paint, paint_for
from anew.surfaces.cli.script_files import missing_scripts
from anew.views.findings import finding_row, in_file_order


class Checked(Struct, frozen=True):
    """One document with what was found in it; `strict` is empty unless it was asked for.

    `problem` says why there is no document to look into.
    """

    name: str
    document: bytes
    program: Program | None
    findings: list[Finding]
    strict: list[Finding]
    problem: str = ""

    @property
    def all_findings(self) -> list[Finding]:
        return in_file_order([*self.findings, *self.strict])

    @property
    def is_refused(self) -> bool:
        return has_error(self.findings) or bool(self.strict)

    @property
    def has_warning(self) -> bool:
        return any(found.severity is Severity.WARNING for found in self.findings)


def run(words: list[str]) -> int:
    parser = parser_for(
        "check",
        purpose="Find every problem in documents, each with its line, its column and a remedy.\n"
        "The exit status is 2 when there is an error, or a finding of --strict. In a folder, all\n"
        "playbooks and graphs are checked: errors are printed, the rest is counted by rule. With\n"
        "--expand the program that a document compiles to is printed as a playbook with every\n"
        "default.",
        example="anew check flow.yaml\nanew check --strict --json examples/*.yaml\n"
        "anew check playbooks/\nanew check --expand flow.dot",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a document, or a folder of them; - is standard input",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the findings as a JSON list; of folders, one object with all that was counted",
    )
    parser.add_argument(
        "--expand",
        action="store_true",
        help="print what one document compiles to, every default written out; findings go to "
        "standard error, and --json prints one object",
    )
    parser.add_argument(
        "--strict", action="store_true", help="also refuse spellings that are not canonical"
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help="what makes the exit status 2 (default error)",
    )
    add_dialect_option(parser)
    add_tools_option(parser)
    asked = parser.parse_args(words)
    if has_folder(asked.files):
        if asked.expand:
            parser.error("--expand takes one FILE, not a folder")
        return _check_folders(asked)
    checked = [_check(path, asked.dialect, strict=asked.strict) for path in asked.files]
    if asked.expand and len(checked) != 1:
        parser.error("--expand takes one FILE")
    if asked.expand and not checked[0].problem:
        _expand(checked[0], asked.dialect, is_json=asked.json)
    elif asked.json and not asked.expand:
        _print_json(checked)
    else:
        for one in checked:
            if one.problem:
                print(f"anew: {one.problem}", file=sys.stderr)
        _print_text([one for one in checked if not one.problem], paint_for(sys.stdout))
    warns = asked.fail_on == "warning" and any(one.has_warning for one in checked)
    return status.BAD if warns or any(one.is_refused for one in checked) else status.DONE


def _check_folders(asked: Namespace) -> int:
    """Check all documents of some folders, one after the other, and count what was found."""
    # Only those who name a folder pay for it.
    from anew.surfaces.cli.check_folders import check_folders

    def check(path: str, document: bytes, problem: str) -> Checked:
        if problem:
            return _without_document(path, "file.unreadable", problem, "Check its permissions.")
        is_graph = is_dot(document, os.path.splitext(path)[1].lower())
        dialect = asked.dialect if is_graph else None
        return _check_text(path, document, dialect, strict=asked.strict)

    fails_on_warning = asked.fail_on == "warning"
    return check_folders(asked.files, check, fails_on_warning=fails_on_warning, is_json=asked.json)


def _check(path: str, dialect: str | None, *, strict: bool) -> Checked:
    """What was found in one document, be it only that it cannot be looked into."""
    name = shown_name(path)
    try:
        document = read_document(path)
    except ConfigError as error:
        return _without_document(name, "file.unreadable", str(error), "Check the path.")
    return _check_text(name, document, dialect, strict=strict)


def _check_text(name: str, document: bytes, dialect: str | None, *, strict: bool) -> Checked:
    try:
        loaded = load_text(document, name, dialect=dialect)
    except ConfigError as error:
        return _without_document(name, "language.unsupported", str(error), _OTHER_LANGUAGE)
    findings = list(loaded.findings)
    if loaded.program is not None:
        findings += check_installed(loaded.program)
    findings += missing_scripts(loaded, name)
    return Checked(name, document, loaded.program, findings, list(loaded.strict) if strict else [])


def _expand(checked: Checked, dialect: str | None, *, is_json: bool) -> None:
    # Only those who ask for it pay for the translations.
    from anew.surfaces.cli.expand import print_expansion

    found = checked.all_findings
    print_expansion(checked.document, checked.name, found, dialect=dialect, is_json=is_json)


def _without_document(name: str, rule: str, problem: str, remedy: str) -> Checked:
    found = finding(rule, Span(name, 1, 1), problem, remedy)
    return Checked(name, b"", None, [found], [], problem)


_OTHER_LANGUAGE = "Leave out `--dialect`, or name a DOT graph: `.dot` or `.gv`."


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
