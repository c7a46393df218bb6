"""`anew programs`: what is registered."""

from __future__ import annotations

import json

from tests.surfaces.cli.recorded import RETRIES, hostile, played


def test_programs_are_listed_with_their_version(shelf, anew) -> None:
    shelf.put(played(RETRIES))
    told = anew("programs")
    assert told.lines[0].startswith("flaky  version 1 ")
    assert told.lines[0].endswith("flow.yaml")


def test_json_has_one_object_per_line(shelf, anew) -> None:
    shelf.put(played(RETRIES))
    shelf.put(hostile(), run=1, document="workflow: [{step: a}]")
    rows = [json.loads(line) for line in anew("programs", "--json").lines]
    assert sorted(row["name"] for row in rows) == sorted(["flaky", "a\x1b[2J\nb漢字"])
    assert set(rows[0]) == {"name", "version", "digest", "file", "registered_at"}


def test_a_hostile_name_is_harmless(shelf, anew) -> None:
    shelf.put(hostile(), document="workflow: [{step: a}]")
    told = anew("programs")
    assert len(told.lines) == 1
    assert "\x1b" not in told.out
