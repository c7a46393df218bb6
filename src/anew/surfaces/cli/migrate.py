"""`anew migrate`: rewrite a document of any accepted dialect, or a graph, as a playbook."""

from __future__ import annotations

import os
import sys

from anew.languages import is_dot, load_text
from anew.languages.playbook.migrate import Migrated, migrate
from anew.program.findings import Severity
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, parser_for
from anew.surfaces.cli.documents import (
    STANDARD_INPUT,
    read_document,
    replace_document,
    shown_name,
    write_document,
)
from anew.surfaces.cli.findings import finding_lines
from anew.surfaces.cli.folders import is_folder
from anew.surfaces.cli.paint import paint_for
from anew.views.findings import in_file_order

LANGUAGES = ("playbook",)


def run(words: list[str]) -> int:
    parser = parser_for(
        "migrate",
        purpose="Rewrite a document in the canonical `policy` form; a graph becomes a playbook.\n"
        "The result goes to standard output; findings in the document, and what the result\n"
        "does differently, go to standard error. Of a folder, every playbook below it is looked\n"
        "at, and what would become of each is printed; --write rewrites them.",
        example="anew migrate old.yaml\nanew migrate --write old.yaml\nanew migrate playbooks/\n"
        "anew migrate graph.dot --to playbook -o flow.yaml",
    )
    parser.add_argument(
        "file", metavar="FILE", help="the document, or a folder of them; - is standard input"
    )
    parser.add_argument(
        "--to", choices=LANGUAGES, default=LANGUAGES[0], help="the language; default %(default)s"
    )
    add_dialect_option(parser)
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--write", action="store_true", help="replace FILE, or all files of a folder, by the result"
    )
    target.add_argument("-o", "--output", metavar="OUT", help="write the result to OUT")
    asked = parser.parse_args(words)
    if is_folder(asked.file):
        if asked.output:
            parser.error("-o takes the result of one FILE; a folder takes --write")
        # Only those who name a folder pay for it.
        from anew.surfaces.cli.migrate_folder import migrate_folder

        return migrate_folder(asked.file, writes=asked.write)
    if asked.write and asked.file == STANDARD_INPUT:
        parser.error("--write needs a file, not standard input")
    document = read_document(asked.file)
    is_graph = is_dot(document, os.path.splitext(asked.file)[1].lower())
    if asked.write and is_graph:
        parser.error("--write would replace a graph by a playbook; use -o FILE.yaml")

    text = _migrate(document, shown_name(asked.file), asked.dialect, is_graph=is_graph)
    if text is None:
        return status.BAD
    if asked.write:
        replace_document(asked.file, text)
    elif asked.output:
        write_document(asked.output, text)
    else:
        sys.stdout.write(text)
    return status.DONE


def _migrate(document: bytes, name: str, dialect: str | None, *, is_graph: bool) -> str | None:
    """The rewritten text, once what was found has been said on standard error."""
    migrated = _from_graph(document, name, dialect) if is_graph else migrate(document, name)
    # What check would warn of is about to be rewritten, and would be hard to find afterwards.
    checked = load_text(document, name, dialect=dialect).findings
    warnings = [found for found in checked if found.severity is Severity.WARNING]
    findings = in_file_order([*warnings, *migrated.findings])
    for line in finding_lines(findings, document, paint_for(sys.stderr)):
        print(line, file=sys.stderr)
    return migrated.text


def _from_graph(document: bytes, name: str, dialect: str | None) -> Migrated:
    # Only those who have a graph pay for its language.
    from anew.languages.translation.to_playbook import graph_to_playbook

    return graph_to_playbook(document, name, dialect=dialect)
