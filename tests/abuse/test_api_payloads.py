"""What a client can put into a request: it is used, or refused in our words, and the server lives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from msgspec import Struct

from anew.surfaces.api.app import ENDPOINTS
from anew.surfaces.api.openapi import description
from tests.abuse.raw import Answer, Site, site
from tests.surfaces.api.served import CHAIN

JSON = {"content_type": "application/json"}
PATHS = description(ENDPOINTS)["paths"]
# Every operation that reads a body, streams of webhooks apart (test_webhooks.py has them).
POSTED = [
    path
    for path, row in PATHS.items()
    if "requestBody" in row.get("post", {}) and not path.startswith("/hooks/")
]
READ = [path for path, row in PATHS.items() if "get" in row and path != "/api/v1/runs/changes"]
WITH_RUN = [path for path in READ if re.search(r"\{(run|id)\}", path)]


class Place(Struct, frozen=True):
    site: Site
    run: str

    def path(self, template: str, run: str | None = None) -> str:
        filled = re.sub(r"\{(run|id)\}", run or self.run, template)
        return re.sub(r"\{\w+\}", "one", filled)

    def tries(self, method: str, path: str, body: bytes | None = None, **more: str) -> Answer:
        """Any answer but a failure of ours."""
        answer = self.site.ask(method, path, body, **more)
        assert answer.status < 500, (method, path, answer.status, answer.body[:500])
        assert b"Traceback" not in answer.body
        return answer


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with site(tmp_path_factory.mktemp("payloads")) as found:
        run = found.started(CHAIN)
        found.ended(run)
        yield Place(found, run)


def _nested(opening: str, closing: str, depth: int) -> bytes:
    return (opening * depth + "1" + closing * depth).encode()


NOT_JSON = {
    "nothing": b"",
    "brackets that never close": b"[" * 100_000,
    "brackets beyond any stack": _nested("[", "]", 100_000),
    "objects beyond any stack": _nested('{"a":', "}", 100_000),
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "a number beyond numbers": b"1e99999",
    "digits beyond numbers": b"9" * 100_000,
    "half a surrogate pair": b'{"document": "\\ud800"}',
    "a key of half a pair": b'{"\\udfff": 1}',
    "not UTF-8": b'{"document": "\xff"}',
    "UTF-16": '{"document": "x"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"document": "x"}',
    "two values": b"{}{}",
    "a NUL after it": b"{}\0",
    "a NUL in a text": b'{"document": "a\0b"}',
    "a line end in a text": b'{"document": "a\nb"}',
    "a comment": b"{/* */}",
    "single quotes": b"{'document': 'x'}",
    "a comma too many": b'{"document": "x",}',
    "an escape that is none": b'{"document": "\\x41"}',
    "a leading zero": b"01",
    "hexadecimal": b"0x10",
    "YAML": b"document: x",
    "XML": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    "a form": b"document=x&a=b",
    "a pickle": b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x01x\x94.",
}
WRONG_SHAPES = {
    "null": None,
    "a list": [],
    "a text": "x",
    "a number": 1,
    "a truth": True,
    "every field a list": {"document": [], "name": [], "answer": [], "step": [], "runs": 1},
    "every field an object": {"document": {}, "workload": [], "key": {}, "labels": "x"},
    "every field a number": {"document": 1, "workload": 1, "by": 1, "reason": 1, "at": "x"},
    "numbers beyond 64 bits": {"at": 2**70, "visit": 2**70, "version": 2**70, "run": 2**70},
    "numbers below zero": {"at": -1, "visit": -1, "version": -1, "limit": -(2**63)},
    "parts of a whole": {"at": 0.5, "version": 1.5, "visit": 1e300},
    "names of Python's": {"__class__": "x", "__proto__": {"a": 1}, "constructor": {"x": 1}},
    "a thousand fields": {f"field{number}": number for number in range(1000)},
}


@pytest.mark.parametrize("attack", NOT_JSON)
def test_what_is_no_json_changes_nothing_anywhere(place: Place, attack: str) -> None:
    for path in POSTED:
        answer = place.tries("POST", place.path(path), NOT_JSON[attack], **JSON)
        assert answer.status != 201, path
    place.site.lives()


@pytest.mark.parametrize("attack", WRONG_SHAPES)
def test_json_of_a_wrong_shape_is_refused_everywhere(place: Place, attack: str) -> None:
    body = json.dumps(WRONG_SHAPES[attack]).encode()
    for path in POSTED:
        answer = place.tries("POST", place.path(path), body, **JSON)
        assert answer.status != 201, path
    place.site.lives()


def test_the_last_of_two_keys_does_not_pass_unseen(place: Place) -> None:
    """Whichever counts, it is one of the two, and it is checked like any other."""
    body = b'{"document": "no playbook", "document": ["x"]}'
    place.site.refuses(place.site.ask("POST", "/api/v1/runs", body, **JSON), 400, 422)


MEDIA = [
    "text/plain",
    "application/xml",
    "application/json; charset=utf-7",
    "multipart/form-data",
    "*/*",
]


@pytest.mark.parametrize("media", MEDIA)
def test_a_body_that_says_it_is_something_else(place: Place, media: str) -> None:
    body = json.dumps({"document": CHAIN}).encode()
    answer = place.tries("POST", "/api/v1/check", body, content_type=media)
    # Read as JSON in UTF-8 or refused; never in an encoding of the client's choice.
    assert answer.status in (200, 400, 415, 422)


NO_RUNS = {
    "zero": "0",
    "minus one": "-1",
    "beyond 63 bits": str(2**63),
    "beyond 64 bits": str(2**64 + 1),
    "digits without end": "9" * 5000,
    "hexadecimal": "0x1f",
    "a point": "1.0",
    "an exponent": "1e3",
    "an underscore": "1_0",
    "a plus": "%2B1",
    "spaces": "%20",
    "Arabic digits": quote("١٢٣"),
    "wide digits": quote("１２３"),
    "superscripts": quote("²³"),
    "a NUL": "1%00",
    "a line end": "1%0d%0aX-Header:%20x",
    "not UTF-8": "%ff%fe",
    "a way up": "..",
    "a hidden way up": "%2e%2e",
    "a way to files": "..%2f..%2f..%2fetc%2fpasswd",
    "backslashes": "..%5c..%5cwindows",
    "SQL": quote("1 OR 1=1--"),
    "SQL in quotes": quote("1'; DROP TABLE runs;--"),
    "a template": quote("{{7*7}}"),
    "a half escape": "%",
    "a wrong escape": "%zz",
    "null": "null",
    "a list": quote("[1]"),
}  # fmt: skip


@pytest.mark.parametrize("attack", NO_RUNS)
def test_a_run_that_is_none_is_found_nowhere(place: Place, attack: str) -> None:
    for path in WITH_RUN:
        answer = place.tries("GET", place.path(path, NO_RUNS[attack]))
        # A way up may lead to a page that lists; it never leads to a run or a file.
        assert answer.status in (400, 401, 404, 405, 422) or b'"runs"' in answer.body, path
        assert b"root:" not in answer.body


CURSORS = {
    "below zero": "-1",
    "beyond 64 bits": str(2**65),
    "no number": "x",
    "a list": "[]",
    "SQL": quote("1) OR (1=1"),
    "base64": "eyJhIjoxfQ==",
    "empty": "",
    "a NUL": "%00",
    "very long": "9" * 10_000,
    "Infinity": "Infinity",
    "a moment": "2020-01-01T00:00:00Z",
}  # fmt: skip
CURSED = {
    "/api/v1/runs": (
        "before",
        "limit",
        "since",
        "until",
        "attempt",
        "due_within",
        "version",
        "running_longer_than",
    ),
    "/api/v1/runs/{run}/events": ("after", "limit"),
    "/api/v1/runs/{run}/attempts": ("after", "limit"),
    "/api/v1/runs/{run}/picture": ("at",),
    "/api/v1/programs/{name}/versions": ("before", "limit"),
    "/api/v1/questions": ("limit",),
    "/api/executions": ("before", "limit"),
    "/runs": ("before", "limit"),
}


@pytest.mark.parametrize("attack", CURSORS)
def test_a_forged_cursor_is_no_way_in(place: Place, attack: str) -> None:
    for path, names in CURSED.items():
        for name in names:
            place.tries("GET", f"{place.path(path)}?{name}={CURSORS[attack]}")
    place.site.lives()


SEEN = ["-1", "x", str(2**70), "1.5", "", "1, 2", "9" * 5000, "null", "'", "1;2"]


@pytest.mark.parametrize("last", SEEN)
def test_a_stream_begins_where_it_can(place: Place, last: str) -> None:
    answer = place.tries("GET", f"/api/v1/runs/{place.run}/events/stream", last_event_id=last)
    if answer.status == 200:
        ids = [int(found) for found in re.findall(rb"^id: (\d+)", answer.body, re.MULTILINE)]
        assert ids == sorted(set(ids))
    else:
        place.site.refuses(answer, 400, 422)


KEYS = {
    "empty": "",
    "spaces": "   ",
    "very long": "k" * 20_000,
    "SQL": "' OR 1=1 --",
    "an escape sequence": "\x1b[2J",
    "Latin": "schl\xfcssel",
    "a tab": "a\tb",
    "a template": "{{ 7*7 }}",
    "a path": "../../x",
}


@pytest.mark.parametrize("attack", KEYS)
def test_a_key_of_a_start_is_a_text_and_no_more(place: Place, attack: str) -> None:
    body = json.dumps({"document": CHAIN}).encode()
    first, again = (
        place.tries("POST", "/api/v1/runs", body, idempotency_key=KEYS[attack], **JSON)
        for _ in range(2)
    )
    if first.status == 201 and KEYS[attack].strip():
        assert again.json["run"] == first.json["run"]
    assert first.status in (201, 400, 413, 422, 431)


QUERIES = {
    "unknown": "nonsense=1",
    "twice": "limit=1&limit=2",
    "no value": "limit",
    "a half escape": "text=%",
    "not UTF-8": "text=%ff",
    "a NUL": "text=%00",
    "an array of PHP": "limit[]=1",
    "nested": "label[a][b]=1",
    "very many": "&".join(f"a{number}=1" for number in range(2000)),
    "semicolons": "limit=1;before=2",
    "a status that is none": "status=%22%27",
    "a million": "limit=1000000",
    "a text of marks": f"text={quote(chr(0x301) * 2000)}",
    "a label without a name": "label==x",
    "a label without a value": "label=x",
}


@pytest.mark.parametrize("attack", QUERIES)
def test_a_question_with_junk_is_refused_or_ignored(place: Place, attack: str) -> None:
    for path in ("/api/v1/runs", "/api/v1/runs/facets", "/api/v1/failures", "/api/executions"):
        answer = place.tries("GET", f"{path}?{QUERIES[attack]}")
        assert answer.status in (200, 400, 422)
    place.site.lives()


NAMES = [
    "..",
    "%2e%2e%2f%2e%2e%2fetc",
    "a%00b",
    "%ff",
    quote("<script>"),
    "x" * 20_000,
    "%0d%0aSet-Cookie:x",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_a_path_is_a_name(place: Place, name: str) -> None:
    for path in ("programs/{}", "programs/{}/versions", "programs/{}/coverage"):
        answer = place.tries("GET", f"/api/v1/{path.format(name)}")
        assert answer.status in (200, 400, 401, 404, 405, 414, 422)
        assert not any(key.lower() == "set-cookie" for key in answer.headers)
    place.tries("DELETE", f"/api/v1/credentials/{name}")
