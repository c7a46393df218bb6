"""`anew check` of whole folders: refusals in full, everything else by rule.

What does not change the exit status is counted and not printed: a repository has hundreds of notes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Protocol

from anew.program.findings import Finding, Severity
from anew.surfaces.cli import status
from anew.surfaces.cli.check_report import FolderCounts, count_lines, counts_row
from anew.surfaces.cli.findings import finding_lines
from anew.surfaces.cli.folders import SkippedFiles, document_in, files_in
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.progress_line import ProgressLine
from anew.views.findings import finding_row


class CheckedDocument(Protocol):
    """What is known of one document."""

    @property
    def strict(self) -> list[Finding]: ...

    @property
    def all_findings(self) -> list[Finding]: ...

    @property
    def is_refused(self) -> bool: ...

    @property
    def has_warning(self) -> bool: ...


Check = Callable[[str, bytes, str], CheckedDocument]


def check_folders(paths: list[str], check: Check, *, fails_on_warning: bool, is_json: bool) -> int:
    """Check every document below `paths`, print what was found and give the exit status."""
    paint, counts, skipped = paint_for(sys.stdout), FolderCounts(), SkippedFiles()
    rows, files = [], files_in(paths)
    progress = ProgressLine("files checked")
    for number, file in enumerate(files):
        progress.report(number, len(files))
        document = document_in(file, skipped)
        if document is None:
            continue
        found = check(document.path, document.text, document.problem)
        fails = found.is_refused or (fails_on_warning and found.has_warning)
        counts.add(found.all_findings, is_accepted=not fails)
        if is_json:
            rows += [finding_row(one) for one in found.all_findings]
            continue
        graves = {Severity.ERROR, Severity.WARNING} if fails_on_warning else {Severity.ERROR}
        told = [f for f in found.all_findings if f.severity in graves or f in found.strict]
        progress.close()
        for line in finding_lines(told, document.text, paint):
            print(line)
    progress.close()
    counts.skipped = skipped.count
    if is_json:
        print(json.dumps({**counts_row(counts), "findings": rows}))
    else:
        for line in count_lines(counts, paint):
            print(line)
    return status.DONE if counts.accepted == counts.documents else status.BAD
