"""What the tests of the http tool share: calls, and servers that say exactly what they are told."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from anew.engine.outcome import Outcome
from anew.lab.server import LabServer
from anew.tool import AttemptRef, Call, Timeout
from anew.tools.http import HttpTool

SECONDS = 30


def a_call(folder: Path = Path(), timeout: Timeout = Timeout(30.0), **inputs: Any) -> Call:  # noqa: B008
    place = AttemptRef(run="1", step="fetch", visit=1, iteration=None, task="page", attempt=1)
    return Call("http", inputs, place, "key-of-the-visit", 0, timeout, folder, folder)


def outcome_at(path: str, **inputs: Any) -> Outcome:
    """The outcome of one call of a fresh tool to a path of a fresh lab server."""
    return outcomes_at([{"path": path, **inputs}])[0]


def outcomes_at(calls: list[dict[str, Any]]) -> list[Outcome]:
    """The outcomes of calls made one after the other to one lab server."""

    async def play() -> list[Outcome]:
        async with LabServer() as server, a_tool() as tool:
            return [await tool.call(_at(server.url, dict(call))) for call in calls]

    return run(play())


def _at(url: str, inputs: dict[str, Any]) -> Call:
    return a_call(url=url + inputs.pop("path"), **inputs)


@asynccontextmanager
async def a_tool() -> AsyncIterator[HttpTool]:
    tool = HttpTool()
    try:
        yield tool
    finally:
        await tool.close()


T = TypeVar("T")


def run(playing: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(SECONDS):
            return await playing

    return asyncio.run(bounded())


Conversation = Callable[[bytes, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class Spoken:
    """What a server heard so far, and whether the last client has gone."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.heard: list[bytes] = []
        self.was_asked = asyncio.Event()
        self.was_left = asyncio.Event()


@asynccontextmanager
async def a_server(
    answer: bytes | Conversation, *, tls: ssl.SSLContext | None = None, keeps_open: bool = False
) -> AsyncIterator[Spoken]:
    """Answers one request per connection with these bytes, and waits for the client to go."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            spoken.heard.append(head)
            spoken.was_asked.set()
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(head, writer)
            if not keeps_open:
                writer.close()
            while await reader.read(1 << 16):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            spoken.was_left.set()
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    spoken = Spoken(f"{'https' if tls else 'http'}://127.0.0.1:{port}")
    try:
        yield spoken
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def answered(spoken: bytes | Conversation, **inputs: Any) -> Outcome:
    """The outcome of one call to a server that says exactly this."""

    async def play() -> Outcome:
        async with a_server(spoken) as server, a_tool() as tool:
            return await tool.call(a_call(url=server.url + "/x", **inputs))

    return run(play())


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A TLS server context for 127.0.0.1, and the file that makes a client trust it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lab")])
    now = datetime.now(UTC)
    import ipaddress

    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    ca = folder / "ca.pem"
    ca.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, folder / "key.pem")
    return context, ca
