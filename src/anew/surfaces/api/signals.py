"""Signals from outside to a run: whoever has the token may send one, once for each id."""

from __future__ import annotations

from typing import Any

from anew.runtime.engine import payload_bytes_max
from anew.runtime.signals import NoSuchRun, PayloadTooLarge, RunEnded, SignalsFull
from anew.runtime.webhooks import PREFIX, Webhooks
from anew.store import RunId
from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import (
    JSON,
    Asked,
    Endpoint,
    Reply,
    check_media_type,
    decoded,
    run_id,
)
from anew.surfaces.api.guards import held_back
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.runs import IDEMPOTENCY_KEY, one_key
from anew.values import Value

_KINDS = (
    (PayloadTooLarge, "too-large"),
    (NoSuchRun, "not-found"),
    (RunEnded, "conflict"),
    (SignalsFull, "conflict"),
)


async def send(asked: Asked) -> Reply:
    """Make a signal durable; the body is its payload, null where there is none."""
    id = one_key(asked.query(shapes.SignalAsked).id, asked.header(IDEMPOTENCY_KEY))
    payload = await payload_of(asked)
    row = await asked.row()
    name = asked.path("name")
    return await deliver(asked, row.run, name, payload=payload, id=id)


async def payload_of(asked: Asked) -> Value:
    data = await _payload_bytes(asked)
    if not data:
        return None
    check_media_type(asked.header("content-type"))
    return decoded(data, Any)


async def _payload_bytes(asked: Asked) -> bytes:
    """The body, which is all payload: what is too large for one is not even decoded."""
    return await asked.data(payload_bytes_max(), "ANEW_PAYLOAD_BYTES_MAX")


async def deliver(asked: Asked, run: RunId, name: str, *, payload: Value, id: str | None) -> Reply:
    """Hand a signal to the engine; Refusal says why it is not taken."""
    try:
        is_accepted = await asked.engine.signals.signal(run, name, payload, id=id)
    except tuple(error for error, _ in _KINDS) as error:
        kind = next(kind for cause, kind in _KINDS if isinstance(error, cause))
        raise Refusal(kind, str(error)) from error
    return Reply({"run": str(run), "signal": name, "accepted": is_accepted}, 202)


async def show_url(asked: Asked) -> Reply:
    """The address at which others may send this one signal, without a token."""
    row = await asked.row()
    return Reply({"run": str(row.run), "signal": asked.path("name"), "path": _path(asked, row.run)})


def _path(asked: Asked, run: RunId) -> str:
    return Webhooks(asked.service.need_key().secret).path_for(run, asked.path("name"))


async def hear(asked: Asked) -> Reply:
    """A signal from someone who has its address; who has a wrong one learns nothing."""
    run, name = run_id(asked.path("run")), asked.path("name")
    hooks = asked.service.webhooks()
    if run is None or hooks is None or not hooks.check(run, name, asked.path("signature")):
        refusal = Refusal("not-found", "there is nothing at this address")
        raise await held_back(refusal, asked.request.scope, asked.service.slowdown)
    query = asked.request.query_params.get("id")
    headers = (asked.header(word) for word in _ID_HEADERS)
    id = query or next((said for said in headers if said), None)
    payload = await _any_payload(asked)
    return await deliver(asked, run, name, payload=payload, id=id)


async def _any_payload(asked: Asked) -> Value:
    """Strangers send what they send: JSON where they say so, else text."""
    data = await _payload_bytes(asked)
    said = (asked.header("content-type") or JSON).partition(";")[0].strip().lower()
    if not data:
        return None
    if said == JSON or said.endswith("+json"):
        return decoded(data, Any)
    try:
        return data.decode()
    except UnicodeError:
        raise Refusal("not-json", "the body is neither JSON nor text in UTF-8") from None


# The headers in which senders name a delivery, so that the same one counts once.
_ID_HEADERS = (IDEMPOTENCY_KEY, "webhook-id", "x-request-id")
ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/v1/runs/{run}/signals/{name}",
        send,
        "Send a signal to a run",
        "signals",
        {202: shapes.SignalTaken},
        body=Any,
        has_optional_body=True,
        query=shapes.SignalAsked,
        headers={IDEMPOTENCY_KEY: "the same as `id`: the signal counts once"},
        refusals=("not-found", "conflict", "too-large", "not-json"),
    ),
    Endpoint(
        "GET",
        "/api/v1/runs/{run}/signals/{name}/url",
        show_url,
        "The address at which others may send this signal",
        "signals",
        {200: shapes.SignalAddress},
        refusals=("not-found",),
    ),
    Endpoint(
        "POST",
        f"{PREFIX}/{{run}}/{{name}}/{{signature}}",
        hear,
        "Send a signal to a run, by its address alone",
        "signals",
        {202: shapes.SignalTaken},
        body=Any,
        has_optional_body=True,
        refusals=("not-found", "conflict", "too-large", "not-json", "too-many-failures"),
        is_open=True,
    ),
)
