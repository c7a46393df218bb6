"""Compile the document a user names, and say on standard error what was found in it."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from msgspec import Struct, field

from anew.languages import Loaded, load_text
from anew.program.check import check_installed
from anew.program.findings import Finding, Severity, has_error
from anew.program.program import Program
from anew.surfaces.cli.documents import read_document, shown_name
from anew.surfaces.cli.findings import finding_lines
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.script_files import missing_scripts
from anew.values import Object, Value
from anew.views.findings import in_file_order


class Read(Struct, frozen=True):
    """A program and what it was compiled from; see `Loaded`."""

    program: Program
    source: bytes
    dialect: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)


class Compiled(Struct, frozen=True):
    """A document and what became of it; nobody has been told of its findings yet."""

    source: bytes
    loaded: Loaded


def load_program(path: str, *, dialect: str | None = None) -> Read | None:
    """The program; None when the document has errors, which have then been printed."""
    return program_in(compiled(path, dialect=dialect), {})


def compiled(path: str, *, dialect: str | None = None) -> Compiled:
    source = read_document(path)
    return Compiled(source, load_text(source, shown_name(path), dialect=dialect))


def program_in(document: Compiled, workload: Object, *, runs_here: bool = False) -> Read | None:
    """Print the findings that matter to a run with this workload; None when there are errors.

    That a document gives a variable no value matters only where the workload does not either, and
    what is not installed here only where it `runs_here`.
    """
    source, loaded = document.source, document.loaded
    told = [found for found in loaded.findings if found.severity is not Severity.INFO]
    if runs_here and loaded.program is not None:
        told += check_installed(loaded.program, runs_here=True)
        told += missing_scripts(loaded, loaded.program.span.file)
    findings = in_file_order(found for found in told if not _is_given(found, workload))
    for line in finding_lines(findings, source, paint_for(sys.stderr)):
        print(line, file=sys.stderr)
    if has_error(findings) or loaded.program is None:
        return None
    return Read(loaded.program, source, loaded.dialect, loaded.files)


def _is_given(found: Finding, workload: Object) -> bool:
    """Whether a finding misses the value of a variable that the workload has."""
    if not workload or found.rule != "unused-variables":
        return False
    from anew.languages.dot.variables import variables_in

    missed, *_ = variables_in(found.message)
    return missed.key in workload or _has(workload, missed.key.split("."))


def _has(value: Value, path: list[str]) -> bool:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True
