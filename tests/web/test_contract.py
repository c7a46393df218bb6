"""The types of the page are those of the API: one name, one shape, on both sides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.openapi import description

pytestmark = pytest.mark.daily

TYPES = Path(__file__).resolve().parent.parent.parent / "web" / "src" / "api" / "types.ts"
INTERFACE = re.compile(r"export interface (\w+)(?: extends (\w+))? \{\n(.*?)\n\}", re.DOTALL)
FIELD = re.compile(r"^  (\w+)(\??): (.*?);$", re.MULTILINE | re.DOTALL)
# What the page calls a thing that JSON has one word for.
TEXTS = {"string", "Instant", "RunText"}
# What only a stream has, which the description does not look into.
NOT_DESCRIBED = {"RunChanges"}
# What the page sends: it leaves out what it does not mean, and never sends null.
REQUESTS = {"BulkRequest", "WhatifRequest"}


def page_types() -> dict[str, dict[str, tuple[str, bool]]]:
    """By interface and field: its type, and whether it may be missing."""
    text = re.sub(r"/\*\*.*?\*/|//[^\n]*", "", TYPES.read_text(encoding="utf-8"), flags=re.DOTALL)
    found: dict[str, dict[str, tuple[str, bool]]] = {}
    for name, parent, body in INTERFACE.findall(text):
        fields = {field: (kind, bool(mark)) for field, mark, kind in FIELD.findall(body)}
        found[name] = found.get(parent, {}) | fields
    return found


def described() -> dict[str, Any]:
    return dict(description(ENDPOINTS)["components"]["schemas"])


def is_null(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type")
    return kinds == "null" or any(map(is_null, schema.get("anyOf", ())))


def test_every_type_of_the_page_is_described_by_the_api() -> None:
    assert set(page_types()) - set(described()) == NOT_DESCRIBED


def test_a_type_of_the_page_has_the_fields_that_the_api_describes() -> None:
    api = described()
    for name, fields in page_types().items():
        if name in NOT_DESCRIBED:
            continue
        schema = api[name]
        properties, required = schema["properties"], set(schema.get("required", ()))
        assert (name, set(fields)) == (name, set(properties))
        missing = {field for field, (_, may_miss) in fields.items() if may_miss}
        # An answer is sent with what nobody set.
        sent = set() if name in REQUESTS else {f for f in properties if "default" in properties[f]}
        assert (name, missing) == (name, set(properties) - required - sent)


def test_a_field_of_the_page_may_be_null_exactly_when_that_of_the_api_may() -> None:
    api = described()
    for name, fields in page_types().items():
        for field, (kind, _) in fields.items():
            if name in NOT_DESCRIBED | REQUESTS or kind in ("Json", "JsonObject"):
                continue
            may_be = kind == "null" or " | null" in kind or "| null" in kind
            schema = api[name]["properties"][field]
            assert (name, field, may_be) == (name, field, is_null(schema))


def test_a_list_and_a_number_of_the_page_are_those_of_the_api() -> None:
    api = described()
    for name, fields in page_types().items():
        for field, (kind, _) in fields.items():
            if name in NOT_DESCRIBED:
                continue
            schema = api[name]["properties"][field]
            options = schema.get("anyOf", [schema])
            kinds = {option.get("type") for option in options} - {"null"}
            if kind.endswith("[]"):
                assert (name, field, kinds) == (name, field, {"array"})
            if kind in TEXTS:
                assert (name, field, "string" in kinds) == (name, field, True)
            if kind == "number":
                assert (name, field, bool(kinds & {"integer", "number"})) == (name, field, True)
            if kind == "boolean":
                assert (name, field, kinds) == (name, field, {"boolean"})
