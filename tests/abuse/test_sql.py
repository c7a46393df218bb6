"""Texts that look like SQL, wherever a list of runs is searched: they find what is called so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from msgspec import Struct

from tests.abuse.raw import Site, site
from tests.surfaces.api.served import CHAIN

INJECTIONS = {
    "always true": "x' OR '1'='1",
    "always true in double quotes": 'x" OR "1"="1',
    "always true in brackets": "x') OR ('1'='1",
    "a second statement": "x'; DROP TABLE runs; --",
    "a comment": "x' --",
    "a block comment": "x'/*",
    "a union": "x' UNION SELECT sql FROM sqlite_master --",
    "another file": "x'; ATTACH DATABASE '/tmp/abuse.db' AS a; --",
    "a library": "x' || load_extension('/tmp/x.so') || '",
    "a program of PostgreSQL": "x'; COPY (SELECT 1) TO PROGRAM 'id'; --",
    "a long wait": "x' || randomblob(1000000000) || '",
    "a wait of PostgreSQL": "x' || pg_sleep(60) || '",
    "a marker": "?",
    "a numbered marker": "?1 :name @name $1 %s %(x)s",
    "all by like": "%",
    "one by like": "_",
    "an escaped like": "\\%",
    "all by glob": "*",
    "a set by glob": "[a-z]*",
    "a search of words": '" OR "',
    "a search near": "NEAR(a b)",
    "a column of a search": "text: *",
    "a path of JSON": "$.a",
    "a wild path of JSON": "$[*]",
    "a quote in a path of JSON": '$."a"."b',
    "two quotes": "''",
    "a backslash": "\\",
    "a backslash and a quote": "\\'",
    "a wide quote": "x＇ OR ＇1＇=＇1",
    "a quote by a letter": "xʼ OR ʼ1ʼ=ʼ1",
    "a line end": "x\n' OR 1=1",
    "text that runs backwards": "\u202e' OR 1=1",
    "very long": "'" * 3000,
}  # fmt: skip
FIELDS = ("program", "digest", "error_kind", "fingerprint", "text")


class Place(Struct, frozen=True):
    site: Site
    runs: int

    def found(self, **query: str) -> list[str]:
        answer = self.site.ask("GET", f"/api/v1/runs?{urlencode(query)}")
        if answer.status != 200:
            self.site.refuses(answer, 400, 422)
            return []
        return [row["run"] for row in answer.json["runs"]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Three runs that nothing here is the name of."""
    with site(tmp_path_factory.mktemp("sql")) as found:
        for run in [found.started(CHAIN) for _ in range(3)]:
            found.ended(run)
        yield Place(found, 3)


@pytest.mark.parametrize("attack", INJECTIONS)
def test_a_filter_finds_what_is_called_so_and_nothing_else(place: Place, attack: str) -> None:
    text = INJECTIONS[attack]
    before = place.found()
    for field in FIELDS:
        assert place.found(**{field: text}) == [], field
    for label in (f"{text}=x", f"name={text}"):
        assert place.found(label=label) == [], label
    for path in ("/api/v1/runs/facets", "/api/v1/runs/points", "/api/v1/failures"):
        answer = place.site.ask("GET", f"{path}?{urlencode({'program': text})}")
        assert answer.status in (200, 400, 422)
    assert place.found() == before


# What may be the name or the value of a label is narrow; what is taken is found again.
@pytest.mark.parametrize("attack", INJECTIONS)
def test_a_label_is_found_by_its_own_text_alone(place: Place, attack: str) -> None:
    text = INJECTIONS[attack]
    body = json.dumps({"document": CHAIN, "labels": {"name": text}})
    started = place.site.ask("POST", "/api/v1/runs", body, content_type="application/json")
    if started.status != 201:
        return place.site.refuses(started, 400, 422)
    assert place.found(label=f"name={text}") == [started.json["run"]]
    assert place.found(label="name=") == []
    return None
