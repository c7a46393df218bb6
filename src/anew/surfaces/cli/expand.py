"""`anew check --expand`: print the canonical program that a document compiles to."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from anew.languages.expanding.expanded import Expanded, expand
from anew.languages.yaml_writer import Path
from anew.program.findings import Finding, has_error
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.findings import finding_lines
from anew.surfaces.cli.paint import paint_for
from anew.values import Object
from anew.views.findings import finding_row, in_file_order


def print_expansion(
    document: bytes,
    name: str,
    found: Sequence[Finding],
    *,
    dialect: str | None,
    is_json: bool,
) -> None:
    """The expansion on standard output, what was `found` and what it could not say beside it.

    Of a document with errors there is only what was found.
    """
    expanded = None if has_error(found) else expand(document, name, dialect=dialect)
    notes = expanded.notes if expanded is not None else []
    for line in finding_lines(in_file_order([*found, *notes]), document, paint_for(sys.stderr)):
        print(line, file=sys.stderr)
    if expanded is None:
        return
    if is_json:
        print(json.dumps(expansion_object(expanded)))
    elif sys.stdout.isatty():
        print("\n".join(map(visible, expanded.text.splitlines())))
    else:
        # A pipe or a file gets the document as it is, to be loaded again.
        sys.stdout.write(expanded.text)


def expansion_object(expanded: Expanded) -> Object:
    """The JSON of `anew check --expand --json`."""
    places = [
        {"path": _pointer(path), "file": span.file, "line": span.line, "column": span.column}
        for path, span in expanded.places.items()
    ]
    remarks = [{"path": _pointer(path), "remarks": told} for path, told in expanded.remarks.items()]
    return {
        "name": expanded.program.name,
        "language": expanded.program.language,
        "dialect": expanded.program.dialect,
        "document": expanded.document,
        "places": places,
        "remarks": remarks,
        "notes": [finding_row(found) for found in in_file_order(expanded.notes)],
    }


def _pointer(path: Path) -> str:
    """A JSON pointer (RFC 6901) into the document."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
