"""`anew run`: execute a document, durably, and show it happen."""

from __future__ import annotations

import os
from argparse import ArgumentParser

from anew.runtime.command_executor import started_row
from anew.runtime.commands import StartRun, document_fields
from anew.runtime.engine import Engine
from anew.runtime.programs import Document
from anew.runtime.run_starts import StartRequest
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, parser_for
from anew.surfaces.cli.documents import shown_name
from anew.surfaces.cli.identity import RunIdentity, add_identity_options, identity_of
from anew.surfaces.cli.loading import compiled, program_in
from anew.surfaces.cli.location import is_server
from anew.surfaces.cli.overrides import (
    add_preflight_option,
    add_workload_options,
    set_names,
    workload_overrides,
)
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of
from anew.surfaces.cli.server_files import warn_of_files
from anew.values import Object
from anew.views.words import WORDS

# A document without these has no credentials to look for.
_SECRET_WORDS = ("auth", "credential", "keychain", "secrets")


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    document = compiled(asked.file, dialect=asked.dialect)
    workload = workload_overrides(asked.payload, asked.set)
    read = program_in(document, workload, runs_here=not is_server(asked.place))
    if read is None:
        return status.BAD
    source = read.source.decode()
    given = set_names(asked.set) - read.program.workload.keys()
    if given and not asked.no_preflight:
        from anew.surfaces.cli.preflight import check_inputs

        check_inputs(read.program, source, given)
    file = os.path.abspath(shown_name(asked.file))
    if not asked.quiet:
        warn_of_files(read.program, file, asked.place)
    intent = start_intent(
        Document(read.program, source, file, read.dialect, read.files),
        workload,
        identity_of(asked),
        has_preflight=not asked.no_preflight,
    )
    options = run_options_of(asked, words=asked.words)
    return carry_out(intent, options)


def start_intent(
    document: Document, workload: Object, identity: RunIdentity, *, has_preflight: bool
) -> Intent:
    """Start this document here, or have others do it: with one key, so that it is one run."""
    named = identity._asdict()

    async def here(engine: Engine) -> Object:
        if has_preflight and any(word in document.source for word in _SECRET_WORDS):
            from anew.surfaces.cli.preflight import check_credentials

            await check_credentials(engine.keychain, document.program, document.folder)
        return started_row(await engine.start(StartRequest(document, workload, **named)))

    there = StartRun(workload=workload, **named, **document_fields(document))
    return Intent(there, here)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "run",
        purpose="Run a document. Every attempt and decision is on disk before the next one, so a\n"
        "run that was stopped, or whose process died, continues with `anew resume`. With --server\n"
        "the server's workers run it, and this command follows it.",
        example="anew run flow.yaml\n"
        "anew run flow.yaml --set region=eu --key nightly-2030-01-31\n"
        "anew run flow.yaml --json | jq .result\n"
        "anew run flow.yaml --server http://10.0.0.5:8700",
    )
    parser.add_argument("file", metavar="FILE", help="the document; - is standard input")
    add_dialect_option(parser)
    add_workload_options(parser)
    add_identity_options(parser)
    add_preflight_option(parser)
    parser.add_argument("--words", choices=WORDS, help="print event rows in these words at the end")
    add_run_options(parser)
    return parser
