"""Look into a document without running it: findings, graph, what a start asks for, the worst case.

A document with errors is an answer like any other. Nothing is read from the server's disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from anew.errors import AnewError
from anew.lab.bounds import Bounds, Child, bounds_of
from anew.lab.bounds.lines import bounds_lines
from anew.lab.cancellation import CancelCheck
from anew.languages import load_text
from anew.languages.dot.variables import variables_in
from anew.program.findings import Finding, has_error
from anew.program.program import Program
from anew.runtime.program_names import find_program
from anew.runtime.programs import Document
from anew.store import Catalog, StoredProgram
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import DocumentSource
from anew.surfaces.api.endpoint import Endpoints, JsonResponse, log_failure
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.values import Object, Value
from anew.views.findings import finding_row, in_file_order
from anew.views.graph_rows import GraphShown, graph_shown

ITEMS_MAX = 1_000_000
WORKLOAD_FIELDS_MAX = 500
# Nobody looks at an editor for longer; the rest of the answer is there by then.
BOUNDS_SECONDS_MAX = 4.0
CHILD_SECONDS_MAX = 2.0
_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "number"),
    (float, "number"),
    (str, "string"),
    (dict, "object"),
    (list, "array"),
)


_NOTHING: Object = {
    "name": None,
    "language": None,
    "graph": None,
    "workload": [],
    "bounds": None,
    "bounds_lines": [],
}
ENDPOINTS = Endpoints("programs")


class InspectRequest(DocumentSource, forbid_unknown_fields=True):
    """A document as for a check; `items` is how many an unknown list is assumed to have."""

    items: Annotated[int, Meta(ge=0, le=ITEMS_MAX)] | None = None


class WorkloadField(Struct):
    """What a form to start the program asks for."""

    name: str
    type: Literal["string", "number", "boolean", "object", "array", "null"]
    default: Any


class Inspected(Struct):
    """`bounds` is the JSON of `anew bounds --json`, and `bounds_lines` what it prints.

    Where the document has errors only the findings are told.
    """

    name: str | None
    language: str | None
    findings: list[shapes.DocumentFinding]
    graph: GraphShown | None
    workload: list[WorkloadField]
    bounds: shapes.Json | None
    bounds_lines: list[str]


@ENDPOINTS.post(
    "/inspect",
    "Inspect a document: findings, graph, input, worst case",
    Inspected,
    body=InspectRequest,
)
async def inspect(request: ApiRequest) -> JsonResponse:
    """Everything the page shows beside a document that is being written."""
    sent = await request.json(InspectRequest)
    compiled = await request.service.compiler.inspect(sent)
    rows = [finding_row(found) for found in in_file_order(compiled.findings)]
    answer: Object = {**_NOTHING, "findings": rows}
    if compiled.document is None:
        return JsonResponse(answer)
    program = compiled.document.program
    answer |= {"name": program.name, "language": program.language, "graph": graph_shown(program)}
    answer["workload"] = list(islice(fields_of(program, compiled.findings), WORKLOAD_FIELDS_MAX))
    worst = await _worst(request, compiled.document, sent)
    if isinstance(worst, Bounds):
        answer["bounds"] = {"file": sent.name, **worst.report()}
        answer["bounds_lines"] = list(_lines(worst, sent.name))
    else:
        rows.append(_note(worst, sent.name))
    return JsonResponse(answer)


async def _worst(request: ApiRequest, document: Document, sent: InspectRequest) -> Bounds | str:
    """The worst case, or why it cannot be told."""
    catalog, loop = request.engine.database.catalog, asyncio.get_running_loop()
    child = partial(_child, {**document.files, **sent.files}, catalog, loop)

    def study(cancel_check: CancelCheck) -> Bounds:
        return bounds_of(document.program, items=sent.items, child=child, cancel_check=cancel_check)

    try:
        return await request.service.analyses.run(study, seconds=BOUNDS_SECONDS_MAX)
    except ApiError as refused:  # the findings are worth an answer all the same
        return f"the worst case was not computed: {refused.detail}"
    except TimeoutError:
        limit = f"{BOUNDS_SECONDS_MAX:g} s"
        return f"the worst case was not found within {limit}; `anew bounds` has no time limit"
    except AnewError as error:
        return f"the worst case cannot be computed: {error}"
    except Exception as error:  # a mistake of ours must not hide the findings
        log_failure(error, "POST /api/v1/inspect", request.service)
        return "the worst case cannot be computed. The log of the server says why."


def _child(
    files: Mapping[str, str],
    catalog: Catalog,
    loop: asyncio.AbstractEventLoop,
    program: Program,
    inputs: Object,
) -> Child:
    """The program that a task calls: a file that was sent along, or a registered one.

    Called in a thread; the catalog is asked in its own loop.
    """
    del program
    file, path = inputs.get("file"), inputs.get("path")
    if isinstance(file, str):
        text = files.get(file)
        return Child(None, "its file was not sent along") if text is None else _read(text, file)
    if not isinstance(path, str):
        return Child(None, "its name is an expression whose value is known only at run time")
    found = _found(catalog, loop, path)
    if found is None:
        return Child(None, "no program of this name is registered")
    return _read(found.source, found.file, dialect=found.dialect)


def _found(catalog: Catalog, loop: asyncio.AbstractEventLoop, name: str) -> StoredProgram | None:
    finding = asyncio.run_coroutine_threadsafe(find_program(catalog, name), loop)
    return finding.result(CHILD_SECONDS_MAX)


def _read(text: str, file: str, *, dialect: str | None = None) -> Child:
    loaded = load_text(text, file, dialect=dialect, files={})
    if loaded.program is None or has_error(loaded.findings):
        return Child(None, f"{file} has errors")
    return Child(loaded.program)


def fields_of(program: Program, findings: Iterable[Finding]) -> Iterator[Object]:
    """The values a run begins with, then the variables of a graph that nothing gives a value."""
    given = program.workload
    missing = {name: None for name in _missing(findings) if name not in given}
    for name, value in {**given, **missing}.items():
        yield {"name": name, "type": _type(value), "default": value}


def _missing(findings: Iterable[Finding]) -> Iterator[str]:
    for found in findings:
        if found.rule == "unused-variables":
            yield from (variable.key for variable in variables_in(found.message)[:1])


def _type(value: Value) -> str:
    return next((word for kind, word in _TYPES if isinstance(value, kind)), "null")


def _lines(bounds: Bounds, name: str) -> Iterator[str]:
    yield from bounds_lines(bounds, name)
    for found in bounds.warnings:
        yield f"{found.place}: {found.severity.value} {found.rule}: {found.message}"


def _note(message: str, file: str) -> Object:
    place = {"file": file, "line": 1, "column": 1, "suggestion": None}
    return {"severity": "info", "rule": "bounds", "message": message, **place}
