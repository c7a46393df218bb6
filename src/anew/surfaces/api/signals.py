"""Signals from outside to a run: whoever has the token may send one, once for each id."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from anew.runtime.families import NoSuchRun
from anew.runtime.payloads import PayloadTooLarge, payload_bytes_max
from anew.runtime.signals import RunEnded, SignalsFull
from anew.runtime.webhooks import PREFIX, Webhooks
from anew.store import RunId
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.guards import held_back
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import (
    ApiRequest,
    check_media_type,
    decoded,
    is_json,
    run_id,
    text_of,
)
from anew.surfaces.api.runs import IDEMPOTENCY_KEY, one_key
from anew.surfaces.api.shapes import KeyText, RunText
from anew.values import Value

_KINDS = (
    (PayloadTooLarge, "too-large"),
    (NoSuchRun, "not-found"),
    (RunEnded, "conflict"),
    (SignalsFull, "conflict"),
)
# The headers in which senders name a delivery, so that the same one counts once.
_ID_HEADERS = (IDEMPOTENCY_KEY, "webhook-id", "x-request-id")
ENDPOINTS = Endpoints("signals", base="")


class SignalTaken(Struct):
    """`accepted` is false for a signal that had come before."""

    run: RunText
    signal: str
    accepted: bool


class SignalQuery(Struct, forbid_unknown_fields=True):
    id: KeyText | None = None


class SignalAddress(Struct):
    """`path` is to be put after the server's own address."""

    run: RunText
    signal: str
    path: str


@ENDPOINTS.post(
    "/api/v1/runs/{run}/signals/{name}",
    "Send a signal to a run",
    SignalTaken,
    status=202,
    body=Any,
    has_optional_body=True,
    query=SignalQuery,
    headers={IDEMPOTENCY_KEY: "the same as `id`: the signal counts once"},
    problems=("conflict",),
)
async def send(request: ApiRequest) -> JsonResponse:
    """Make a signal durable; the body is its payload, null where there is none."""
    id = one_key(request.query(SignalQuery).id, request.header(IDEMPOTENCY_KEY))
    payload = await payload_of(request)
    row = await request.run()
    name = request.path("name")
    return await deliver(request, row.run, name, payload=payload, id=id)


async def payload_of(request: ApiRequest) -> Value:
    data = await _payload_bytes(request)
    if not data:
        return None
    check_media_type(request.header("content-type"))
    return decoded(data, Any)


async def _payload_bytes(request: ApiRequest) -> bytes:
    """The body, which is all payload: what is too large for one is not even decoded."""
    return await request.data(payload_bytes_max(), "ANEW_PAYLOAD_BYTES_MAX")


async def deliver(
    request: ApiRequest, run: RunId, name: str, *, payload: Value, id: str | None
) -> JsonResponse:
    """Hand a signal to the engine; ApiError says why it is not taken."""
    try:
        is_accepted = await request.engine.signals.signal(run, name, payload, id=id)
    except tuple(error for error, _ in _KINDS) as error:
        kind = next(kind for cause, kind in _KINDS if isinstance(error, cause))
        raise ApiError(kind, str(error)) from error
    return JsonResponse({"run": str(run), "signal": name, "accepted": is_accepted}, 202)


@ENDPOINTS.get(
    "/api/v1/runs/{run}/signals/{name}/url",
    "The address at which others may send this signal",
    SignalAddress,
)
async def show_url(request: ApiRequest) -> JsonResponse:
    """The address at which others may send this one signal, without a token."""
    row = await request.run()
    return JsonResponse(
        {"run": str(row.run), "signal": request.path("name"), "path": _path(request, row.run)}
    )


def _path(request: ApiRequest, run: RunId) -> str:
    return Webhooks(request.service.need_key().secret).path_for(run, request.path("name"))


@ENDPOINTS.post(
    f"{PREFIX}/{{run}}/{{name}}/{{signature}}",
    "Send a signal to a run, by its address alone",
    SignalTaken,
    status=202,
    body=Any,
    has_optional_body=True,
    is_open=True,
    problems=("conflict", "too-many-failures"),
)
async def receive_webhook(request: ApiRequest) -> JsonResponse:
    """A signal from someone who has its address; who has a wrong one learns nothing."""
    run, name = run_id(request.path("run")), request.path("name")
    hooks = request.service.webhooks()
    if run is None or hooks is None or not hooks.check(run, name, request.path("signature")):
        error = ApiError("not-found", "there is nothing at this address")
        raise await held_back(error, request.http.scope, request.service.throttle)
    query = request.http.query_params.get("id")
    headers = (request.header(word) for word in _ID_HEADERS)
    id = query or next((said for said in headers if said), None)
    payload = await _any_payload(request)
    return await deliver(request, run, name, payload=payload, id=id)


async def _any_payload(request: ApiRequest) -> Value:
    """Strangers send what they send: JSON where they say so, else text."""
    data = await _payload_bytes(request)
    if not data:
        return None
    return decoded(data, Any) if is_json(request.header("content-type")) else text_of(data, "text")
