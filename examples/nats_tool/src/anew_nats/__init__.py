"""The `nats` tool: key-value buckets and streams of NATS, brought by a package of its own.

Every call has a connection of its own, which ends with it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from nats import errors
from nats.aio.client import Client
from nats.js import errors as js_errors
from nats.js.kv import KeyValue

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call

CONNECT_SECONDS = 5

# Narrower ones first. What is not here is `tool_error`.
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (js_errors.BucketNotFoundError, "reference"),
    (js_errors.NoStreamResponseError, "reference"),
    (js_errors.KeyNotFoundError, "not_found"),
    (js_errors.NotFoundError, "not_found"),
    (errors.AuthorizationError, "auth"),
    (errors.TimeoutError, "timeout"),
    (errors.NoServersError, "connection"),
    (errors.ConnectionClosedError, "connection"),
    (errors.NoRespondersError, "connection"),
    (OSError, "connection"),
)


class BadNatsInput(Exception):
    """An input cannot be used; the text is for the author."""


class NatsTool:
    """Inputs: `operation`, and what belongs to it; `auth` with `url`, and `user` and `password` or
    `token`. Result: see the README.
    """

    async def call(self, call: Call) -> Outcome:
        try:
            operate = _OPERATIONS.get(str(call.inputs.get("operation")))
            if operate is None:
                raise BadNatsInput(f"operation must be one of {', '.join(_OPERATIONS)}")
            async with _connected(call.inputs.get("auth")) as client:
                return outcome_of(await operate(client, call))
        except BadNatsInput as problem:
            return outcome_of(error={"kind": "config", "message": str(problem)})
        except (errors.Error, js_errors.Error, OSError) as error:
            return outcome_of(error=_error_of(error))

    async def close(self) -> None:
        """Nothing is kept open."""


@asynccontextmanager
async def _connected(auth: object) -> AsyncIterator[Client]:
    data = auth if isinstance(auth, Mapping) else {}
    url = data.get("url") or data.get("nats_url")
    if not isinstance(url, str):
        raise BadNatsInput("auth must be a credential with `url`, such as nats://host:4222")
    given = {
        "user": data.get("user") or data.get("username"),
        "password": data.get("password"),
        "token": data.get("token"),
    }
    refusals: list[Exception] = []

    async def keep(error: Exception) -> None:
        refusals.append(error)

    client = Client()
    try:
        await client.connect(
            url,
            connect_timeout=CONNECT_SECONDS,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            error_cb=keep,
            **{name: value for name, value in given.items() if value},
        )
        yield client
    except errors.NoServersError as nobody:
        # The library keeps the reason to itself: a refused credential is not a missing server.
        raise next((one for one in refusals if "uthorization" in str(one)), nobody) from None
    finally:
        await client.close()


async def _kv_put(client: Client, call: Call) -> dict[str, Any]:
    bucket, key = _text(call, "bucket"), _text(call, "key")
    revision = await (await _bucket(client, bucket)).put(key, _bytes(call.inputs.get("value")))
    return {"bucket": bucket, "key": key, "revision": revision}


async def _kv_get(client: Client, call: Call) -> dict[str, Any]:
    bucket, key = _text(call, "bucket"), _text(call, "key")
    entry = await (await _bucket(client, bucket)).get(key)
    value = _value(entry.value or b"")
    return {"bucket": bucket, "key": key, "value": value, "revision": entry.revision}


async def _kv_delete(client: Client, call: Call) -> dict[str, Any]:
    bucket, key = _text(call, "bucket"), _text(call, "key")
    await (await _bucket(client, bucket)).delete(key)
    return {"bucket": bucket, "key": key}


async def _kv_keys(client: Client, call: Call) -> dict[str, Any]:
    bucket = _text(call, "bucket")
    try:
        keys = await (await _bucket(client, bucket)).keys()
    except js_errors.NoKeysError:
        keys = []
    return {"bucket": bucket, "keys": sorted(keys)}


async def _js_publish(client: Client, call: Call) -> dict[str, Any]:
    headers = {"Nats-Msg-Id": call.idempotency_key}
    sent = _bytes(call.inputs.get("data"))
    ack = await client.jetstream().publish(_text(call, "subject"), sent, headers=headers)
    return {"stream": ack.stream, "seq": ack.seq, "duplicate": bool(ack.duplicate)}


_OPERATIONS: Mapping[str, Callable[[Client, Call], Awaitable[dict[str, Any]]]] = {
    "kv_put": _kv_put,
    "kv_get": _kv_get,
    "kv_delete": _kv_delete,
    "kv_keys": _kv_keys,
    "js_publish": _js_publish,
}


async def _bucket(client: Client, name: str) -> KeyValue:
    return await client.jetstream().key_value(name)


def _text(call: Call, name: str) -> str:
    value = call.inputs.get(name)
    if not isinstance(value, str) or not value:
        raise BadNatsInput(f"{name} must be a text")
    return value


def _bytes(value: object) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _value(data: bytes) -> Any:
    text = data.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _error_of(error: Exception) -> dict[str, Any]:
    """A failure of the world is an outcome. The message starts with the words that rules match."""
    if "uthorization" in str(error):
        return {"kind": "auth", "message": str(error)}
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), "tool_error")
    words = str(error) or type(error).__name__
    return {"kind": kind, "message": words if kind in words else f"{kind}: {words}"}
