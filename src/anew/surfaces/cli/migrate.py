"""`anew migrate`: rewrite a document of any accepted dialect in the canonical form."""

from __future__ import annotations

import sys

from anew.languages import load_text
from anew.languages.playbook.migrate import migrate
from anew.program.findings import Severity
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.documents import (
    STANDARD_INPUT,
    read_document,
    replace_document,
    shown_name,
    write_document,
)
from anew.surfaces.cli.findings import finding_lines, in_file_order
from anew.surfaces.cli.paint import paint_for


def run(words: list[str]) -> int:
    parser = parser_for(
        "migrate",
        purpose="Rewrite a document in the canonical `policy` form. The result goes to standard\n"
        "output, what was found in the document to standard error.",
        example="anew migrate old.yaml\nanew migrate --write old.yaml",
    )
    parser.add_argument("file", metavar="FILE", help="the document; - is standard input")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--write", action="store_true", help="replace FILE by the result")
    target.add_argument("-o", "--output", metavar="OUT", help="write the result to OUT")
    asked = parser.parse_args(words)
    if asked.write and asked.file == STANDARD_INPUT:
        parser.error("--write needs a file, not standard input")

    text = _migrate(asked.file)
    if text is None:
        return status.BAD
    if asked.write:
        replace_document(asked.file, text)
    elif asked.output:
        write_document(asked.output, text)
    else:
        sys.stdout.write(text)
    return status.DONE


def _migrate(path: str) -> str | None:
    """The rewritten text, once what was found has been said on standard error."""
    document = read_document(path)
    migrated = migrate(document, shown_name(path))
    # What check would warn of is about to be rewritten, and would be hard to find afterwards.
    checked = load_text(document, shown_name(path)).findings
    warnings = [found for found in checked if found.severity is Severity.WARNING]
    findings = in_file_order([*warnings, *migrated.findings])
    for line in finding_lines(findings, document, paint_for(sys.stderr)):
        print(line, file=sys.stderr)
    return migrated.text
