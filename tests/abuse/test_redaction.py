"""A task, a server or a library that shows a secret in another form: each is redacted everywhere.

The forms are made by the libraries that others use, not by the code that looks for them.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import shlex
from collections.abc import Callable
from functools import cache
from urllib.parse import quote, quote_plus

import pytest

from anew.credentials import Credential, Redactor
from anew.engine.outcome import outcome_of
from anew.engine.secret_texts import MASK
from anew.tools.captured import Captured
from tests.credentials.rings import redacted

SECRETS = {
    "token": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "password": 'p/a+s"s w%rd&<x>\\',
    "umlauts": "Pässwörter/für🔑alle",
    "address": "postgresql://me:sw0rdf1sh@db.example/x",
    "short": "s3cr3t",
}


def escaped(text: str, *, wants: Callable[[str], bool], upper: bool = False) -> str:
    digits = "{:04X}" if upper else "{:04x}"
    return "".join(
        "".join(
            "\\u" + digits.format(int.from_bytes(unit)) for unit in pairs(char.encode("utf-16-be"))
        )
        if wants(char)
        else char
        for char in text
    )


def pairs(data: bytes) -> list[bytes]:
    return [data[at : at + 2] for at in range(0, len(data), 2)]


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "hex": lambda text: text.encode().hex(),
    "hex_upper": lambda text: binascii.hexlify(text.encode()).decode().upper(),
    "reversed": lambda text: text[::-1],
    "json": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "json_ascii": lambda text: json.dumps(text)[1:-1],
    "json_ascii_upper": lambda text: escaped(
        json.dumps(text, ensure_ascii=False)[1:-1], wants=lambda c: ord(c) > 127, upper=True
    ),
    "json_slash": lambda text: json.dumps(text, ensure_ascii=False)[1:-1].replace("/", "\\/"),
    "json_php": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "json_go": lambda text: escaped(
        json.dumps(text, ensure_ascii=False)[1:-1], wants=lambda c: c in "<>&"
    ),
    "json_net": lambda text: escaped(
        json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', "\\u0022"),
        wants=lambda c: ord(c) > 127 or c in "<>&'+`",
        upper=True,
    ),
    "json_escapes": lambda text: escaped(text, wants=lambda _: True),
    "json_escapes_upper": lambda text: escaped(text, wants=lambda _: True, upper=True),
    "json_in_json": lambda text: json.dumps(json.dumps(text, ensure_ascii=False)[1:-1],
                                            ensure_ascii=False)[1:-1],
    "url": lambda text: quote(text, safe=""),
    "url_lower": lambda text: lower_escapes(quote(text, safe="")),
    "url_path": quote,
    "url_form": quote_plus,
    "base64": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "base64_url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "basic_1": lambda text: base64.b64encode(b"u" + text.encode()).decode().rstrip("="),
    "basic_2": lambda text: base64.b64encode(b"u:" + text.encode()).decode().rstrip("="),
    "html": html.escape,
    "html_decimal": lambda text: html.escape(text).replace("&quot;", "&#34;"),
    "shell": shlex.quote,
}  # fmt: skip


def lower_escapes(text: str) -> str:
    pieces = text.split("%")
    return pieces[0] + "".join(f"%{piece[:2].lower()}{piece[2:]}" for piece in pieces[1:])


def different_forms() -> list[tuple[str, str]]:
    """Each secret with the forms in which it looks different."""
    rows = []
    for name, secret in SECRETS.items():
        seen: set[str] = set()
        for form, encode in FORMS.items():
            if encode(secret) not in seen:
                seen.add(encode(secret))
                rows.append((name, form))
    return rows


@cache
def redactor_of(name: str) -> Redactor:
    redactor = Redactor()
    redactor.learn(Credential("c", "test", {"host": "db.example", "secret": SECRETS[name]}))
    return redactor


def in_text(redactor: Redactor, form: str) -> str:
    return redactor.redact_text(f"before {form} after")


def in_value(redactor: Redactor, form: str) -> str:
    found = redacted(redactor, {"a": [{"deep": f"<{form}>"}], f"key {form}": 1})
    return json.dumps(found, ensure_ascii=False).replace("\\\\", "\\").replace('\\"', '"')


def in_outcome(redactor: Redactor, form: str) -> str:
    outcome = outcome_of(
        {"echo": form},
        error={"kind": "server_error", "message": f"refused: {form}"},
        helpers={"http": {"status": 500, "headers": {"x-echo": form}}},
        logs={"stdout": f"{form}\n"},
    )
    found = redactor.redact_outcome(outcome)
    assert found.error is not None
    texts = [found.result["echo"], found.error["message"], found.logs["stdout"]]
    texts.append(found.helpers["http"]["headers"]["x-echo"])
    assert all(MASK in text for text in texts)
    return "\n".join(texts)


@pytest.mark.parametrize("place", [in_text, in_value, in_outcome], ids=lambda place: place.__name__)
@pytest.mark.parametrize(("secret", "form"), different_forms())
def test_no_form_is_seen_anywhere(
    secret: str, form: str, place: Callable[[Redactor, str], str]
) -> None:
    written = FORMS[form](SECRETS[secret])
    shown = place(redactor_of(secret), written)
    assert MASK in shown
    assert core_of(written) not in shown


def core_of(written: str) -> str:
    """What depends on the secret alone: a digit of base64 at either end is shared with others."""
    return written[4:-2] if len(written) > 12 else written


LONG = {"token": SECRETS["token"], "address": SECRETS["address"]}


@pytest.mark.parametrize("kept", [30, 40, 60])
@pytest.mark.parametrize("form", ["plain", "hex", "hex_upper", "reversed", "json_slash", "base64"])
@pytest.mark.parametrize("secret", LONG)
def test_a_cut_in_a_stream_leaves_no_long_part(secret: str, form: str, kept: int) -> None:
    """The output arrives in pieces and its middle is left out: the cut goes through the secret."""
    written = FORMS[form](LONG[secret])
    captured = Captured(kept)
    for at in range(0, len(written), 7):
        captured.add(written[at : at + 7].encode())
    captured.add(b"x" * 200)
    shown = redactor_of(secret).redact_text(captured.text())
    assert not any(written[at : at + 16] in shown for at in range(len(written) - 15))
