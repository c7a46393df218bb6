"""Compile the document a user names, and say on standard error what was found in it."""

from __future__ import annotations

import sys

from msgspec import Struct

from anew.languages import load_text
from anew.program.findings import Severity
from anew.program.program import Program
from anew.surfaces.cli.documents import read_document, shown_name
from anew.surfaces.cli.findings import finding_lines, has_error, in_file_order
from anew.surfaces.cli.paint import paint_for


class Read(Struct, frozen=True):
    """A program and the text it was compiled from."""

    program: Program
    source: bytes


def load_program(path: str) -> Read | None:
    """The program; None when the document has errors, which have then been printed."""
    source = read_document(path)
    loaded = load_text(source, shown_name(path))
    told = [found for found in loaded.findings if found.severity is not Severity.INFO]
    findings = in_file_order(told)
    for line in finding_lines(findings, source, paint_for(sys.stderr)):
        print(line, file=sys.stderr)
    if has_error(findings) or loaded.program is None:
        return None
    return Read(loaded.program, source)
