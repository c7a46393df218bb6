"""What strangers say to the edge of a server: hosts, headers, framing, paths and pages of others."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.abuse.raw_http import exchanged, request
from tests.surfaces.api.processes import server
from tests.surfaces.api.served import NOOP, TOKEN

BEARER = f"Authorization: Bearer {TOKEN}"
JSON = "Content-Type: application/json"
STARTS = json.dumps({"document": NOOP}).encode()


@pytest.fixture(scope="module", name="site")
def a_server_with_a_token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server(tmp_path_factory.mktemp("edge"), "--slots", "1") as found:
        yield found.url
        assert found.stop() == (0, "anew: stopping\n")


@pytest.fixture(scope="module", name="open_site")
def a_server_without_a_token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("open")
    with server(folder, "--slots", "1", "--no-auth", HOME=str(folder)) as found:
        yield found.url
        assert found.stop()[0] == 0


# --- Host ----------------------------------------------------------------------------------------

NO_HOSTS = [
    "", " ", ":", ":80", "localhost:", "localhost:x", "localhost:-1", "localhost:+80",
    "localhost:65536", "localhost:999999", "localhost:80:80", "localhost: 80", "local host",
    "localhost,evil.example", "localhost evil.example", "evil.example@localhost",
    "user:secret@localhost", "localhost@", "@localhost", "localhost/", "localhost/evil.example",
    "localhost?x", "localhost#x", "localhost\\evil.example", "http://localhost", "//localhost",
    "[::1", "::1]", "::1", "[::1]]", "[[::1]]", "[::1]x", "[::1]:", "[::1]:x", "[]", "[localhost]",
    "[127.0.0.1]", "[::1%25lo]", "[::1%lo]", "[v1.x]", "[:::]", "[1::2::3]", "[fffff::1]",
    "localh\xf6st", "localhost\x00", "localhost\x7f", "localhost\t.evil.example", "%6cocalhost",
    "localhost%00", "localhost;x", "localhost=x", "localhost!", "localhost*", "(localhost)",
    "'localhost'", '"localhost"', "<localhost>", "localhost|x", "localhost^", "localhost`", "{x}",
    "$HOST", "-localhost", ".localhost", "a" * 254, "127.0.0.1\xa0", "127。0。0。1".encode().decode("latin-1"),
]  # fmt: skip


@pytest.mark.parametrize("host", NO_HOSTS)
def test_what_is_no_host_is_refused_without_a_token(open_site: str, host: str) -> None:
    assert exchanged(open_site, request("/healthz", host=host)).status == 400


@pytest.mark.parametrize("host", NO_HOSTS)
def test_what_is_no_host_is_refused_whatever_the_token(site: str, host: str) -> None:
    for target, header in (
        ("/api/v1/runs", BEARER),
        ("/healthz", "X: y"),
        ("/hooks/1/a/b", "X: y"),
    ):
        answer = exchanged(site, request(target, header, host=host))
        assert answer.status == 400


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost.",
        "127.0.0.2", "127.1", "2130706433", "0x7f000001", "0", "0.0.0.0", "[::2]", "[::]",
        "[::ffff:127.0.0.1]", "localhosts", "xn--lcalhost-n2a", "_localhost", "localhost_",
    ],
)  # fmt: skip
def test_without_a_token_another_name_is_refused(open_site: str, host: str) -> None:
    """A page that had its own name resolve to this machine (DNS rebinding) names itself."""
    for target in ("/healthz", "/api/v1/runs", "/"):
        assert exchanged(open_site, request(target, host=host)).status == 421


@pytest.mark.parametrize(
    "host", ["localhost", "LocalHost:1", "127.0.0.1:65535", "[::1]", "[0:0:0:0:0:0:0:1]:8700"]
)
def test_the_own_names_are_taken(open_site: str, host: str) -> None:
    assert exchanged(open_site, request(host=host)).status == 200


@pytest.mark.parametrize(
    "lines",
    [
        ["Host: 127.0.0.1", "Host: 127.0.0.1"], ["Host: 127.0.0.1", "host: evil.example"],
        ["HOST: evil.example", "Host: 127.0.0.1"], ["Host: 127.0.0.1", "Host:"], [],
        ["Host : 127.0.0.1"], [" Host: 127.0.0.1"], ["Host: 127.0.0.1", " evil.example"],
        ["X-Forwarded-Host: 127.0.0.1"], ["Host: evil.example@127.0.0.1", "X-Host: 127.0.0.1"],
    ],
    ids=repr,
)  # fmt: skip
def test_one_host_is_named_and_no_more(site: str, lines: list[str]) -> None:
    answer = exchanged(site, request("/api/v1/runs", BEARER, *lines, host=None))
    assert answer.status == 400


@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/healthz", "http://evil.example@127.0.0.1/healthz",
        "http://127.0.0.1@evil.example/healthz", "http://127.0.0.1:1/healthz", "//evil.example/api/v1/runs",
        "http:///healthz", "http://evil.example?127.0.0.1/", "evil.example:80",
        "http://127.0.0.1\\@evil.example/",
    ],
)  # fmt: skip
def test_a_target_that_names_another_host_is_not_answered(open_site: str, target: str) -> None:
    assert exchanged(open_site, request(target)).status in (400, 404, 421)


# --- what may be said once ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        [BEARER, BEARER], [BEARER, "Authorization: Bearer x"], ["Authorization: Bearer x", BEARER],
        ["authorization: Basic eDp5", BEARER], [BEARER, "Authorization:"],
        [BEARER, "Origin: http://a", "Origin: http://a"], [BEARER, "Origin: http://a", "origin: null"],
        [BEARER, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"],
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("target", ["/api/v1/runs", "/healthz", "/hooks/1/a/b", "/"])
def test_what_is_said_twice_is_refused(site: str, lines: list[str], target: str) -> None:
    answer = exchanged(site, request(target, *lines))
    assert (answer.status, answer.problem) == (400, "bad-request")


@pytest.mark.parametrize(
    "lines",
    [
        ["Origin: http://evil.example"], ["Origin: null"], ["Origin: "], ["Origin: http://127.0.0.1:1"],
        ["Origin: https://127.0.0.1"], ["Origin: http://127.0.0.1.evil.example"],
        ["Origin: http://127.0.0.1, http://evil.example"], ["Origin: http://127.0.0.1/"],
        ["Origin: http://user@127.0.0.1"], ["Origin: file://"], ["Origin: chrome-extension://x"],
        ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: "],
        ["Origin: http://127.0.0.1", "Sec-Fetch-Site: cross-site"],
        ["Origin: http://127.0.0.1", "Origin: http://evil.example"],
        ["Origin: http://evil.example", "Origin: http://127.0.0.1"],
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_page_of_another_site_changes_nothing(
    open_site: str, lines: list[str], method: str
) -> None:
    answer = exchanged(open_site, request("/api/v1/runs", JSON, *lines, method=method, body=STARTS))
    assert answer.status in (400, 403)
    assert answer.problem in ("foreign-origin", "bad-request")


@pytest.mark.parametrize("said", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])  # fmt: skip
def test_a_form_of_another_page_starts_nothing(open_site: str, said: str) -> None:
    """What a browser sends without asking first."""
    lines = [f"Content-Type: {said}"]
    answer = exchanged(open_site, request("/api/v1/runs", *lines, method="POST", body=STARTS))
    assert answer.status == 415


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
@pytest.mark.parametrize(
    "target", ["/api/v1/runs", "/healthz", "/hooks/1/a/b", "/", "/openapi.json"]
)
def test_no_page_of_another_site_may_read(site: str, method: str, target: str) -> None:
    lines = ["Origin: https://evil.example", "Access-Control-Request-Method: POST",
             "Access-Control-Request-Headers: authorization", "Access-Control-Request-Private-Network: true"]  # fmt: skip
    answer = exchanged(site, request(target, *lines, method=method))
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


# --- framing --------------------------------------------------------------------------------------

SMUGGLED = request("/api/v1/programs", BEARER)
CHUNKED = b"0\r\n\r\n" + SMUGGLED


def framed(*lines: str, body: bytes = CHUNKED) -> bytes:
    head = ["POST /api/v1/runs HTTP/1.1", "Host: x", BEARER, JSON, *lines, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


FRAMINGS = {
    "length and chunked": framed("Content-Length: 5", "Transfer-Encoding: chunked"),
    "chunked and length": framed("Transfer-Encoding: chunked", "Content-Length: 5"),
    "two lengths": framed("Content-Length: 5", f"Content-Length: {len(CHUNKED)}"),
    "two lengths alike": framed("Content-Length: 5", "Content-Length: 5"),
    "lengths in one": framed("Content-Length: 5, 5"),
    "negative length": framed("Content-Length: -1"),
    "length with a sign": framed("Content-Length: +5"),
    "length in hex": framed("Content-Length: 0x5"),
    "length with a space": framed("Content-Length: 5 5"),
    "length that is a word": framed("Content-Length: five"),
    "empty length": framed("Content-Length: "),
    "length beyond numbers": framed("Content-Length: 99999999999999999999999"),
    "chunked twice": framed("Transfer-Encoding: chunked, chunked"),
    "chunked, then not": framed("Transfer-Encoding: chunked, identity"),
    "two encodings": framed("Transfer-Encoding: identity", "Transfer-Encoding: chunked"),
    "an odd encoding": framed("Transfer-Encoding: xchunked"),
    "encoding with a tab": framed("Transfer-Encoding:\tchunked\x0b"),
    "encoding in quotes": framed('Transfer-Encoding: "chunked"'),
    "space before the colon": framed("Transfer-Encoding : chunked"),
    "folded": framed("Transfer-Encoding:", " chunked"),
    "name with a control character": framed("Transfer\x01-Encoding: chunked"),
    "value with a zero": framed("X: a\x00b", "Content-Length: 5"),
    "bare line feed": framed("X: a\nTransfer-Encoding: chunked", "Content-Length: 5"),
    "bare carriage return": framed("X: a\rTransfer-Encoding: chunked", "Content-Length: 5"),
    "chunk that is not a number": framed("Transfer-Encoding: chunked", body=b"zz\r\nabc\r\n" + CHUNKED),
    "negative chunk": framed("Transfer-Encoding: chunked", body=b"-1\r\nabc\r\n" + CHUNKED),
    "chunk with 0x": framed("Transfer-Encoding: chunked", body=b"0x3\r\nabc\r\n" + CHUNKED),
    "chunk beyond numbers": framed("Transfer-Encoding: chunked", body=b"f" * 17 + b"\r\nabc" + CHUNKED),
    "chunk without an end": framed("Transfer-Encoding: chunked", body=b"3\r\nabcd\r\n" + CHUNKED),
    "chunk with line feeds": framed("Transfer-Encoding: chunked", body=b"3\nabc\n0\n\n" + SMUGGLED),
}  # fmt: skip


@pytest.mark.parametrize("what", FRAMINGS)
def test_a_request_is_not_taken_for_two(site: str, what: str) -> None:
    """What one reader takes for a body, another might take for the next request."""
    answer = exchanged(site, FRAMINGS[what])
    assert answer.status in (0, 400, 413, 415, 422, 431, 501)
    assert b'"programs"' not in answer.body
    assert answer.count <= 1


@pytest.mark.parametrize(
    "bytes_sent",
    [
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1 x\r\nHost: x\r\n\r\n", b"GET /\r\n\r\n",
        b"GET / http/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00" * 100, b"G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-x\r\n", b"{}\n" * 50,
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"EHLO x\r\n", b"*1\r\n$4\r\nPING\r\n", b"get / HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_not_http_ends_the_connection(site: str, bytes_sent: bytes) -> None:
    answer = exchanged(site, bytes_sent)
    assert answer.status in (0, 400)
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 101 + b"\r\n"],
        [b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: x\r\n" + b"n" * 70_000 + b": a\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + b"a" * 70_000 + b"\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: " + b"a" * 70_000 + b"\r\n\r\n"],
    ],
    ids=["value", "number", "target", "name", "token", "host"],
)  # fmt: skip
def test_headers_that_are_too_large_are_refused(site: str, pieces: list[bytes]) -> None:
    assert exchanged(site, *pieces).status == 431


# --- methods and paths ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "PURGE", "PUT", "DELETE", "PATCH", "HEAD", "LINK"])  # fmt: skip
def test_a_method_that_is_not_there_does_nothing(site: str, method: str) -> None:
    target = "127.0.0.1:80" if method == "CONNECT" else "/api/v1/runs"
    answer = exchanged(site, request(target, BEARER, "X-Secret: echo", method=method))
    assert answer.status in (0, 400, 404, 405, 200 if method == "HEAD" else 405)
    assert b"echo" not in answer.body


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"])
def test_a_header_does_not_change_the_method(open_site: str, name: str) -> None:
    before = exchanged(open_site, request("/api/v1/runs")).body
    exchanged(open_site, request("/api/v1/runs", f"{name}: POST", JSON, body=STARTS))
    assert exchanged(open_site, request("/api/v1/runs")).body == before


PATHS = [
    "/../../../../etc/passwd", "/assets/../../../etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd", "/..%5c..%5cetc%5cpasswd", "/assets/%2e%2e%2f%2e%2e%2fsettings.py",
    "//etc/passwd", "/./etc/passwd", "/assets/....//....//etc/passwd", "/%252e%252e/etc/passwd",
    "/assets/%00", "/assets/index.html%00.js", "/%c0%ae%c0%ae/etc/passwd", "/%", "/%zz", "/%e0%80%af",
    "/%ff%fe", "/.git/config", "/.env", "/index.html/..", "/favicon.svg/", "/favicon.svg%2f",
    "/file:///etc/passwd", "/C:/Windows/win.ini", "/assets\\..\\..\\etc\\passwd", "/~root", "/proc/self/environ",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("accept", ["*/*", "text/html"])
def test_no_file_but_those_of_the_page_is_given(site: str, path: str, accept: str) -> None:
    answer = exchanged(site, request(path, f"Accept: {accept}"))
    assert answer.status in (400, 401, 404) or (accept == "text/html" and answer.status == 503)
    for found in (b"root:", b"[core]", b"import ", b"HOME="):
        assert found not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/runs/", "/api/v1//runs", "//api/v1/runs", "/api/v1/runs/../runs", "/API/v1/runs",
        "/healthz/../api/v1/runs", "/healthz/%2e%2e/api/v1/runs", "/healthz;/../api/v1/runs",
        "/healthz%2f..%2fapi%2fv1%2fruns", "/hooks/1/a/b/../../../../api/v1/runs", "/hooks/..%2f/x/y/z",
        "/api/v1/runs?x=/healthz", "/api/v1/runs#/healthz", "/api/v1/runs;/healthz", "/api/v1/runs%00",
        "/api/v1/runs%20", "/api/v1/runs/healthz", "/readyz/x", "/healthz/", "/openapi.json", "/metrics",
        "/api/v1/control/hello", "/internal/control/hello",
    ],
)  # fmt: skip
def test_no_path_leads_around_the_token(site: str, path: str) -> None:
    for method in ("GET", "POST"):
        answer = exchanged(site, request(path, "Accept: */*", method=method))
        assert answer.status in (400, 401), path


# --- answers tell nothing ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/runs",
        "/api/v1/runs/1",
        "/nowhere",
        "/api/v1/credentials",
        "/metrics",
        "/api/nothing",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_without_the_token_all_answers_are_alike(site: str, target: str, method: str) -> None:
    """What is there, and what is not, is told to nobody."""
    known = exchanged(site, request("/api/v1/runs"))
    answer = exchanged(site, request(target, method=method))
    assert (answer.status, answer.body) == (401, known.body)
    assert set(answer.headers) == set(known.headers)


WRONG_HOOKS = [
    "/hooks/1/paid/" + "A" * 43, "/hooks/1/paid/x", "/hooks/999999999999999999/paid/" + "A" * 43,
    "/hooks/0/paid/x", "/hooks/-1/paid/x", "/hooks/x/paid/x", "/hooks/1/%2e%2e/x",
    "/hooks/99999999999999999999999/paid/x", "/hooks/1/paid/%00", "/hooks/1/p%0aaid/x",
]  # fmt: skip


@pytest.mark.parametrize("target", WRONG_HOOKS)
def test_an_address_of_a_webhook_that_is_not_one_tells_nothing(site: str, target: str) -> None:
    # From another address each: many from one are slowed down.
    source = f"127.0.1.{WRONG_HOOKS.index(target) + 1}"
    known = exchanged(site, request("/hooks/1/a/b", method="POST"), source=source)
    answer = exchanged(site, request(target, method="POST"), source=source)
    assert (answer.status, answer.body) == (404, known.body)


def test_the_server_is_unharmed(site: str, open_site: str) -> None:
    """After everything above."""
    assert exchanged(site, request("/readyz")).status == 200
    assert exchanged(site, request("/api/v1/runs", BEARER)).body.startswith(b'{"runs":[]')
    assert exchanged(open_site, request("/api/v1/runs")).body.startswith(b'{"runs":[]')
