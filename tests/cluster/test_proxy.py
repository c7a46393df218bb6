"""The network of these tests does what it is told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.cluster.proxy import Proxy
from tests.crash.kit import soon

pytestmark = pytest.mark.daily

SILENCE_SECONDS = 0.2


class Echo(threading.Thread):
    """Answers every message with itself, and remembers them all."""

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(daemon=True)
        self.heard: list[bytes] = []
        self._listening = listening
        self.start()

    def run(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(
                    target=self._serve, args=self._listening.accept()[:1], daemon=True
                ).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            while said := client.recv(65536):
                self.heard.append(said)
                client.sendall(said)


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.fixture
def echo(listening: socket.socket) -> Echo:
    return Echo(listening)


@pytest.fixture
def proxy(listening: socket.socket, echo: Echo) -> Iterator[Proxy]:
    with closing(Proxy(listening.getsockname())) as made:
        yield made


def connected(proxy: Proxy) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", proxy.port), timeout=5)
    made.settimeout(5)
    return made


def said(client: socket.socket, text: bytes) -> bytes:
    client.sendall(text)
    if answer := client.recv(65536):
        return answer
    raise ConnectionError("it was closed")


def is_silent(client: socket.socket) -> bool:
    client.settimeout(SILENCE_SECONDS)
    try:
        return client.recv(1) is None
    except TimeoutError:
        return True
    finally:
        client.settimeout(5)


def test_it_carries_both_ways(proxy: Proxy) -> None:
    with connected(proxy) as one, connected(proxy) as other:
        assert (said(one, b"a"), said(other, b"b")) == (b"a", b"b")
        # Whoever has said all still hears the answer.
        one.sendall(b"last")
        one.shutdown(socket.SHUT_WR)
        assert (one.recv(9), one.recv(9)) == (b"last", b"")
    assert proxy.accepted == 2


def test_it_carries_to_a_socket_in_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        Echo(listening)
        with closing(Proxy(str(path))) as proxy, connected(proxy) as client:
            assert said(client, b"a") == b"a"


def test_a_cut_resets_what_there_is_and_what_comes_until_it_is_healed(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert said(client, b"a") == b"a"
        proxy.cut()
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    with pytest.raises(ConnectionError), connected(proxy) as client:
        said(client, b"a")
    proxy.heal()
    with connected(proxy) as client:
        assert said(client, b"a") == b"a"


def test_one_cut_leaves_new_connections_alone(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert said(client, b"a") == b"a"
        proxy.cut_once()
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    with connected(proxy) as client:
        assert said(client, b"a") == b"a"


def test_what_a_black_hole_held_comes_late(proxy: Proxy, echo: Echo) -> None:
    with connected(proxy) as client:
        assert said(client, b"a") == b"a"
        proxy.blackhole()
        client.sendall(b"b")
        assert is_silent(client)
        assert echo.heard == [b"a"]
        proxy.heal()
        assert client.recv(9) == b"b"


def test_a_black_hole_can_swallow_the_answers_only(proxy: Proxy, echo: Echo) -> None:
    with connected(proxy) as client:
        proxy.blackhole("down")
        client.sendall(b"a")
        soon(lambda: echo.heard == [b"a"], "what was said")
        assert is_silent(client)
        proxy.heal()
        assert client.recv(9) == b"a"


def test_an_answer_is_lost_after_the_server_gave_it(proxy: Proxy, echo: Echo) -> None:
    proxy.lose_answers(b"COMMIT", answered=b"MMIT", times=2)
    with connected(proxy) as client:
        assert said(client, b"BEGIN") == b"BEGIN"
        client.sendall(b"COM")
        assert client.recv(9) == b"COM"
        client.sendall(b"MIT;")  # in two pieces
        # The answer is the second piece alone here, so it is not known yet.
        client.sendall(b"COMMIT")
        with pytest.raises(ConnectionResetError):
            client.recv(9)
    with connected(proxy) as client, pytest.raises(ConnectionResetError):
        said(client, b"COMMIT")
    with connected(proxy) as client:
        assert said(client, b"COMMIT") == b"COMMIT"
    assert proxy.lost == 2
    assert b"".join(echo.heard).count(b"COMMIT") == 4


def test_of_several_answers_one_is_lost(proxy: Proxy) -> None:
    proxy.lose_answers(b"ask", answered=b"ask", times=1, every=3)
    with connected(proxy) as client:
        assert [said(client, b"ask") for _ in range(2)] == [b"ask"] * 2
        with pytest.raises(ConnectionResetError):
            said(client, b"ask")
    with connected(proxy) as client:
        assert [said(client, b"ask") for _ in range(4)] == [b"ask"] * 4


def test_a_silent_connection_stays_so_and_a_new_one_is_carried(proxy: Proxy, echo: Echo) -> None:
    with connected(proxy) as client:
        assert said(client, b"a") == b"a"
        proxy.silence()
        client.sendall(b"b")
        assert is_silent(client)
        with connected(proxy) as other:
            assert said(other, b"c") == b"c"
        assert echo.heard == [b"a", b"c"]


def test_a_slow_network_carries_later(proxy: Proxy) -> None:
    with connected(proxy) as client:
        proxy.slow(2 * SILENCE_SECONDS)
        client.sendall(b"a")
        assert is_silent(client)
        assert client.recv(9) == b"a"


def test_what_the_clients_say_can_be_listened_to(listening: socket.socket, echo: Echo) -> None:
    heard: list[tuple[int, bytes]] = []
    with (
        closing(Proxy(listening.getsockname(), heard=lambda *said: heard.append(said))) as proxy,
        connected(proxy) as one,
        connected(proxy) as other,
    ):
        said(one, b"a")
        said(other, b"b")
    assert sorted(said for _, said in heard) == [b"a", b"b"]
    assert len({number for number, _ in heard}) == 2


def test_an_upstream_that_is_not_there_resets_the_client() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        gone = listening.getsockname()
    with (
        closing(Proxy(gone)) as proxy,
        pytest.raises(ConnectionError),
        connected(proxy) as client,
    ):
        said(client, b"a")
