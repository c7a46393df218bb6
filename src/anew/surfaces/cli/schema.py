"""`anew schema`: print the JSON Schema of playbooks or scenarios, for editors."""

from __future__ import annotations

from collections.abc import Iterator

from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.values import Object, Value, json_text

DOCUMENTS = ("playbook", "scenario")
# What fits into this stays on one line: most of a schema is small mappings.
_COLUMNS = 100


def run(words: list[str]) -> int:
    parser = parser_for(
        "schema",
        purpose="Print the JSON Schema (draft 7) of a kind of document. Editors use it to\n"
        "complete and check documents. It has the tools that are installed here.",
        example="anew schema playbook > playbook.schema.json\n"
        "anew schema scenario > scenario.schema.json",
    )
    parser.add_argument("document", choices=DOCUMENTS, help="which documents it describes")
    parser.add_argument("--json", action="store_true", help="print it on one line")
    asked = parser.parse_args(words)
    schema = _schema(asked.document)
    print(json_text(schema) if asked.json else "\n".join(_lines(schema)))
    return status.DONE


def _schema(document: str) -> Object:
    if document == "scenario":
        from anew.lab.schema import scenario_schema

        return scenario_schema()
    from anew.languages.schema import playbook_schema
    from anew.program.kinds import installed_kinds

    return playbook_schema(installed_kinds())


def _lines(value: Value, before: str = "", indent: str = "", after: str = "") -> Iterator[str]:
    """A value as JSON; `before` and `after` are what stands on its first and last line."""
    whole = f"{indent}{before}{json_text(value)}{after}"
    if len(whole) <= _COLUMNS or not isinstance(value, (dict, list)):
        yield whole
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    pairs = value.items() if isinstance(value, dict) else ((None, part) for part in value)
    named = [("" if key is None else f"{json_text(key)}: ", part) for key, part in pairs]
    yield f"{indent}{before}{opening}"
    if any(isinstance(part, (dict, list)) for _, part in named):
        for number, (key, part) in enumerate(named, 1):
            yield from _lines(part, key, f"{indent}  ", "," if number < len(named) else "")
    else:
        yield from _packed([f"{key}{json_text(part)}" for key, part in named], f"{indent}  ")
    yield f"{indent}{closing}{after}"


def _packed(words: list[str], indent: str) -> Iterator[str]:
    """Plain values, as many on a line as fit."""
    line = indent + words[0]
    for each in words[1:]:
        if len(line) + len(each) + 3 > _COLUMNS:
            yield f"{line},"
            line = indent + each
        else:
            line = f"{line}, {each}"
    yield line
