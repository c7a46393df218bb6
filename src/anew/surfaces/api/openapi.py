"""The description of the API, made of the rows that make its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from anew import __version__
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Endpoint
from anew.surfaces.api.problems import KINDS, MEDIA_TYPE
from anew.surfaces.api.request import JSON
from anew.surfaces.api.run_texts import YAML
from anew.surfaces.api.streams import STREAM
from anew.values import Object

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_NO_CONTENT = 204
_TEXT: Object = {"type": "string"}
# What any request can meet.
_ALWAYS = ("bad-request", "unavailable", "engine-bug")
# What any request that needs the token can meet.
_WITH_TOKEN = ("not-authenticated", "too-many-failures")
_PATH_SCHEMAS: dict[str, Object] = {
    "run": {"type": "string", "pattern": "^[0-9]{1,19}$"},
}


def description(endpoints: Iterable[Endpoint]) -> Object:
    """An OpenAPI 3.1 document of these endpoints."""
    rows = list(endpoints)
    kinds = list(_kinds(rows))
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    by_kind = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    paths: dict[str, Object] = {}
    for row in rows:
        path = _PARAMETER.sub(r"{\1}", row.path)
        paths.setdefault(path, {})[row.method.lower()] = _operation(
            row, path, schemas=by_kind, components=components
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Anew",
            "version": __version__,
            "description": "Runs workflows that survive failure.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _kinds(rows: Iterable[Endpoint]) -> Iterator[Any]:
    """Every type that occurs, each once."""
    yield shapes.Problem
    seen = {id(shapes.Problem)}
    for row in rows:
        for kind in (row.body, row.query, *row.answers.values()):
            if kind is not None and id(kind) not in seen:
                seen.add(id(kind))
                yield kind


def _operation(
    row: Endpoint, path: str, *, schemas: dict[int, Object], components: Object
) -> Object:
    operation: Object = {
        "summary": row.summary,
        "operationId": f"{row.method.lower()}:{path}",
        "tags": [row.tag],
        "parameters": [*_path_parameters(row), *_headers(row), *_query(row, schemas, components)],
        "responses": {**_answers(row, schemas), **_problems(row, schemas)},
    }
    if row.body is not None:
        content = {JSON: {"schema": schemas[id(row.body)]}}
        operation["requestBody"] = {"required": not row.has_optional_body, "content": content}
    if row.is_open:
        operation["security"] = []
    return operation


def _path_parameters(row: Endpoint) -> Iterator[Object]:
    for name in _PARAMETER.findall(row.path):
        schema = _PATH_SCHEMAS.get(name, {"type": "string", "minLength": 1})
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _headers(row: Endpoint) -> Iterator[Object]:
    for name, about in row.headers.items():
        yield {"name": name, "in": "header", "description": about, "schema": {"type": "string"}}


def _query(row: Endpoint, schemas: dict[int, Object], components: Object) -> Iterator[Object]:
    if row.query is None:
        return
    shape = components[schemas[id(row.query)]["$ref"].rpartition("/")[2]]
    for name, schema in shape["properties"].items():
        required = name in shape.get("required", ())
        yield {"name": name, "in": "query", "required": required, "schema": schema}


def _answers(row: Endpoint, schemas: dict[int, Object]) -> Object:
    answers: Object = {}
    for status, kind in row.answers.items():
        answer: Object = {"description": row.summary}
        if status != _NO_CONTENT:
            json = {} if kind is None else schemas[id(kind)]
            schema = {JSON: json, YAML: json, STREAM: {}}
            answer["content"] = {form: {"schema": schema.get(form, _TEXT)} for form in row.forms}
        answers[str(status)] = answer
    return answers


def _problems(row: Endpoint, schemas: dict[int, Object]) -> Object:
    damaged = ("damaged-run",) if "{run}" in row.path else ()
    kinds = (*_ALWAYS, *damaged, *row.problems, *(() if row.is_open else _WITH_TOKEN))
    content = {MEDIA_TYPE: {"schema": schemas[id(shapes.Problem)]}}
    return {
        str(KINDS[kind].status): {"description": KINDS[kind].title, "content": content}
        for kind in kinds
    }
