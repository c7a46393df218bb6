"""Someone guesses a token, finds one lying about, or is given one that anybody could guess."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import subprocess
from argparse import Namespace
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from anew.errors import ConfigError
from anew.surfaces.api.failure_throttle import (
    ADDRESSES_MAX,
    FAILURE_PAUSE_SECONDS_MAX,
    FORGOTTEN_SECONDS,
    FREE_FAILURES,
    HELD_MAX,
    HELD_PER_ADDRESS_MAX,
    FailureThrottle,
    site_of,
)
from anew.surfaces.api.settings import TOKEN_CHARS_MIN, ApiSettings
from anew.surfaces.cli.main import main
from anew.surfaces.cli.tokens import (
    TOKEN_BYTES_MAX,
    _rename_alone,
    own_token,
    own_token_file,
    read_token,
    take_token,
)
from tests.abuse.raw_http import Raw, exchanged, request
from tests.surfaces.api.processes import PATIENCE_SECONDS, command, environment, server
from tests.surfaces.api.served import TOKEN

GOOD = "0123456789abcdefghij"


@pytest.fixture(scope="module", name="site")
def a_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server(tmp_path_factory.mktemp("tokens"), "--slots", "1") as found:
        yield found.url
        assert found.stop() == (0, "anew: stopping\n")


# --- what is shown for a token --------------------------------------------------------------------

SHOWN = [
    "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer x{TOKEN}", f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN[1:]}", f"Bearer {TOKEN.upper()}", f"Bearer {TOKEN} {TOKEN}", f"Bearer {TOKEN},",
    f"Bearer {TOKEN}\x00", f"Bearer\x00{TOKEN}", f"Bearer\t{TOKEN}", f"Bearer{TOKEN}", TOKEN,
    f"Basic {TOKEN}", f"Basic {TOKEN}:", f"Digest {TOKEN}", f"Token {TOKEN}", f"Bearer: {TOKEN}",
    f"Bearer \"{TOKEN}\"", f"Bearer '{TOKEN}'", f"Bearer token={TOKEN}", f"Bearer %61{TOKEN[1:]}",
    f"Bearer {TOKEN}\xfc", "Bearer \xfc", "Bearer null", "Bearer undefined", "Bearer None", "Bearer *",
    f"Bearer {TOKEN}; x", f"Bearer {'a' * 10_000}", f"bearer x, Bearer {TOKEN}", "Negotiate x",
]  # fmt: skip


@pytest.mark.parametrize("said", SHOWN)
def test_what_is_not_the_token_lets_nobody_in(site: str, said: str) -> None:
    # From another address each: many from one are slowed down.
    source = f"127.0.2.{SHOWN.index(said) + 1}"
    answer = exchanged(site, request("/api/v1/runs", f"Authorization: {said}"), source=source)
    assert answer.status in (400, 401)
    assert TOKEN.encode() not in answer.body


@pytest.mark.parametrize(
    "target",
    [
        f"/api/v1/runs?token={TOKEN}", f"/api/v1/runs?access_token={TOKEN}", f"/api/v1/runs?key={TOKEN}",
        f"/api/v1/runs?authorization=Bearer%20{TOKEN}", f"/{TOKEN}/api/v1/runs",
    ],
)  # fmt: skip
def test_a_token_in_the_address_lets_nobody_in(site: str, target: str) -> None:
    """Addresses are kept in histories and logs."""
    assert exchanged(site, request(target)).status == 401


@pytest.mark.parametrize(
    "line",
    [
        f"Cookie: token={TOKEN}", f"Cookie: anew.token={TOKEN}", f"X-Token: {TOKEN}", f"X-Api-Key: {TOKEN}",
        f"Proxy-Authorization: Bearer {TOKEN}", f"X-Forwarded-Authorization: Bearer {TOKEN}",
        f"X-Original-Authorization: Bearer {TOKEN}",
    ],
)  # fmt: skip
def test_a_token_elsewhere_lets_nobody_in(site: str, line: str) -> None:
    """A browser sends cookies for whichever page asks it to."""
    assert exchanged(site, request("/api/v1/runs", line)).status == 401


PRETENDING = ["X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Client-IP"]


@pytest.mark.parametrize("name", PRETENDING)
def test_a_guess_is_counted_where_it_comes_from(site: str, name: str) -> None:
    """A header that says so does not make it another address."""
    source = f"127.0.3.{PRETENDING.index(name) + 1}"

    def guess(number: int) -> Raw:
        lines = [f"Authorization: Bearer guess-{number}", f"{name}: 192.0.2.{number}"]
        return exchanged(site, request("/api/v1/runs", *lines), source=source)

    assert guessed_at_once(guess) == {401, 429}


def guessed_at_once(guess: Callable[[int], Raw]) -> set[int]:
    """The statuses of many more guesses than are answered or held back, made side by side."""
    count = FREE_FAILURES + HELD_PER_ADDRESS_MAX + 20
    with ThreadPoolExecutor(count) as pool:
        return {answer.status for answer in pool.map(guess, range(count))}


def test_who_guesses_does_not_keep_out_who_knows(site: str) -> None:
    """Behind a proxy all come from one address."""
    source = "127.0.4.1"

    def guess(number: int) -> Raw:
        said = f"Authorization: Bearer guess-{number}"
        return exchanged(site, request("/api/v1/runs", said), source=source)

    assert 429 in guessed_at_once(guess)
    answer = exchanged(
        site, request("/api/v1/runs", f"Authorization: Bearer {TOKEN}"), source=source
    )
    assert answer.status == 200


def test_the_signatures_of_webhooks_are_not_guessed_faster(site: str) -> None:
    def guess(number: int) -> Raw:
        return exchanged(site, request(f"/hooks/1/a/{number}", method="POST"), source="127.0.5.1")

    assert guessed_at_once(guess) == {404, 429}


def test_who_is_told_to_wait_is_told_how_long(site: str) -> None:
    held: list[Raw] = []

    def guess(number: int) -> Raw:
        said = f"Authorization: Bearer guess-{number}"
        held.append(exchanged(site, request("/api/v1/runs", said), source="127.0.6.1"))
        return held[-1]

    guessed_at_once(guess)
    [answer, *_] = [one for one in held if one.status == 429]
    assert answer.headers["retry-after"] == "1"
    assert answer.problem == "too-many-failures"


# --- how guesses are slowed down ------------------------------------------------------------------


class Clock:
    """Time that goes on when someone sleeps, or when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_the_first_mistakes_cost_nothing_and_later_ones_more_and_more() -> None:
    clock = Clock()
    slowdown = FailureThrottle(clock=clock, sleep=clock.sleep)

    async def fail() -> None:
        for _ in range(FREE_FAILURES + 8):
            assert await slowdown.hold("192.0.2.1")

    run(fail())
    assert clock.slept == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0]
    assert max(clock.slept) == FAILURE_PAUSE_SECONDS_MAX


def test_ten_thousand_mistakes_overflow_nothing() -> None:
    clock = Clock()
    slowdown = FailureThrottle(clock=clock, sleep=clock.sleep)

    async def fail() -> None:
        for _ in range(10_000):
            await slowdown.hold("192.0.2.1")

    run(fail())
    assert max(clock.slept) == FAILURE_PAUSE_SECONDS_MAX


@pytest.mark.parametrize("other", ["192.0.2.2", "2001:db8::1", "", "not an address"])
def test_the_mistakes_of_one_are_not_those_of_another(other: str) -> None:
    clock = Clock()
    slowdown = FailureThrottle(clock=clock, sleep=clock.sleep)

    async def fail() -> None:
        for _ in range(FREE_FAILURES + 3):
            await slowdown.hold("192.0.2.1")
        clock.slept.clear()
        await slowdown.hold(other)

    run(fail())
    assert clock.slept == []


def test_who_makes_no_mistake_for_a_while_has_made_none() -> None:
    clock = Clock()
    slowdown = FailureThrottle(clock=clock, sleep=clock.sleep)

    async def fail() -> None:
        for _ in range(FREE_FAILURES + 3):
            await slowdown.hold("192.0.2.1")
        clock.slept.clear()
        clock.now += FORGOTTEN_SECONDS + 1
        await slowdown.hold("192.0.2.1")

    run(fail())
    assert clock.slept == []


def test_a_million_addresses_do_not_fill_the_memory() -> None:
    clock = Clock()
    slowdown = FailureThrottle(clock=clock, sleep=clock.sleep)

    async def fail() -> None:
        for number in range(5 * ADDRESSES_MAX):
            await slowdown.hold(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")

    run(fail())
    assert len(slowdown._failures) == ADDRESSES_MAX
    assert not slowdown._held


@pytest.mark.parametrize(("addresses", "most"), [(1, HELD_PER_ADDRESS_MAX), (100, HELD_MAX)])
def test_answers_that_are_held_back_are_few(addresses: int, most: int) -> None:
    """Each holds a connection."""
    clock, release = Clock(), asyncio.Event()

    async def sleep(_: float) -> None:
        await release.wait()

    slowdown = FailureThrottle(clock=clock, sleep=sleep)

    async def fail() -> list[bool]:
        names = [f"192.0.2.{number}" for number in range(addresses)]
        for name in names:
            for _ in range(FREE_FAILURES):
                assert await slowdown.hold(name)
        tasks = [asyncio.create_task(slowdown.hold(name)) for name in names * 8]
        while sum(task.done() for task in tasks) < len(tasks) - most:
            await asyncio.sleep(0)
        release.set()
        return list(await asyncio.gather(*tasks))

    answered = run(fail())
    assert sum(answered) == most
    assert not slowdown._held


def test_who_hangs_up_holds_no_place() -> None:
    clock, forever = Clock(), asyncio.Event()

    async def sleep(_: float) -> None:
        await forever.wait()

    slowdown = FailureThrottle(clock=clock, sleep=sleep)

    async def leave() -> None:
        for _ in range(FREE_FAILURES):
            await slowdown.hold("192.0.2.1")
        tasks = [asyncio.create_task(slowdown.hold("192.0.2.1")) for _ in range(4)]
        await asyncio.sleep(0)
        assert slowdown._held
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(leave())
    assert not slowdown._held


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2001:db8::1", "2001:db8::ffff:1"), ("2001:db8:0:1::", "2001:db8:0:1:ffff:ffff:ffff:ffff"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("fe80::1%eth0", "fe80::2%eth1"),
    ],
)  # fmt: skip
def test_another_address_of_the_same_site_is_no_other_guesser(one: str, other: str) -> None:
    assert site_of(one) == site_of(other)


# --- tokens that can be guessed -------------------------------------------------------------------

WEAK = [
    "", " ", "Z", "hunter2", "fifteen-letters", " " * 20, "with a space inside", "tab\tinside-of-it-all",
    "line\ninside-of-it-all", "return\rinside-of-it-all", "umlaut-\xfc-inside-it", "zero\x00inside-of-it-all",
    "emoji-😀-inside-of-it", "right-to-left-\u202e-x", "trailing-space-here ", " leading-space-here",
]  # fmt: skip


@pytest.mark.parametrize("token", WEAK)
def test_a_server_takes_no_token_that_can_be_guessed(token: str) -> None:
    with pytest.raises(ConfigError, match="at least 16 characters") as caught:
        ApiSettings(token=token)
    assert "token_urlsafe" in str(caught.value)
    assert not token.strip() or token not in str(caught.value)


def test_sixteen_characters_are_enough() -> None:
    assert ApiSettings(token="x" * TOKEN_CHARS_MIN).token


# --- token files ----------------------------------------------------------------------------------


def a_file(folder: Path, data: bytes | str = GOOD, *, mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)
    return path


@pytest.mark.parametrize("data", [GOOD, f"{GOOD}\n", f"  {GOOD} \r\n", f"{GOOD}\n\n"])
def test_a_file_of_ones_own_is_read(tmp_path: Path, data: str) -> None:
    assert read_token(a_file(tmp_path, data)) == GOOD


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o666, 0o601, 0o610, 0o777, 0o620])
def test_a_file_that_others_may_touch_is_refused(tmp_path: Path, mode: int) -> None:
    path = a_file(tmp_path, mode=mode)
    if os.getuid() == 0:  # a file of root's own may be read by a group
        os.chown(path, 12345, 12345)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_token(path)


def owned_by_root(patch: pytest.MonkeyPatch) -> None:
    """As a secret that is mounted into a container."""
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        found = list(real(descriptor))
        found[stat.ST_UID] = 0
        return os.stat_result(found)

    patch.setattr(os, "fstat", fstat)


@pytest.mark.parametrize("mode", [0o400, 0o440, 0o600, 0o640])
def test_a_file_of_root_that_a_group_may_read_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    path = a_file(tmp_path, mode=mode)
    owned_by_root(monkeypatch)
    assert read_token(path) == GOOD


@pytest.mark.parametrize("mode", [0o444, 0o644, 0o660, 0o620, 0o650, 0o610, 0o604, 0o601, 0o642])
def test_a_file_of_root_that_others_may_touch_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    path = a_file(tmp_path, mode=mode)
    owned_by_root(monkeypatch)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_token(path)


@pytest.mark.parametrize(
    "data",
    [
        "", "\n", "   \n", f"\n{GOOD}", f"{GOOD}\n{GOOD}", f"TOKEN={GOOD}\nKEY=x", f"{GOOD} {GOOD}",
        f"{GOOD}\r{GOOD}", f"{GOOD}\r\nX-Evil: 1", f"{GOOD}\x00", f"{GOOD}\x1b[0m", f"ü{GOOD}".encode(),
        b"\xff\xfe" + GOOD.encode(), b"a" * (TOKEN_BYTES_MAX + 1), b"\n" * (TOKEN_BYTES_MAX + 1),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, data: bytes | str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_token(a_file(tmp_path, data))
    assert GOOD not in str(caught.value)


@pytest.mark.parametrize("place", ["", "missing", "missing/token", "/dev/null", "/dev/zero"])
def test_what_is_no_file_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigError, match="token file"):
        read_token(tmp_path / place)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = a_file(tmp_path)
    os.chown(path, 12345, 12345)
    with pytest.raises(ConfigError, match="belongs to another user"):
        read_token(path)


def test_a_typed_token_is_not_left_in_the_arguments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_TOKEN", "")
    asked = Namespace(token=GOOD, token_file=None)
    take_token(asked)
    assert GOOD not in repr(asked)
    assert os.environ["ANEW_TOKEN"] == GOOD
    told = capsys.readouterr().err
    assert "`ps`" in told
    assert "--token-file" in told
    assert GOOD not in told


COMMANDS = [
    ["runs"], ["show", "last"], ["start", "x"], ["signal", "last", "x"], ["cancel", "last"], ["worker"],
    ["credential", "list"], ["run", "x.yaml"], ["doctor"], ["serve"], ["prune", "--older-than", "1d"],
    ["export", "last", "out"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_refuses_a_file_that_others_may_read(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = a_file(tmp_path, mode=0o644)
    assert main([*words, "--token-file", str(path)]) == 2
    told = capsys.readouterr().err
    assert "chmod 600" in told
    assert GOOD not in told


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_takes_a_token_twice(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--token", GOOD, "--token-file", str(a_file(tmp_path))]) == 2
    assert "not allowed with argument" in capsys.readouterr().err


# --- the token a server makes ---------------------------------------------------------------------


def test_a_token_of_its_own_is_long_random_and_for_its_owner(tmp_path: Path) -> None:
    first, second = own_token(tmp_path / "a"), own_token(tmp_path / "b")
    assert first != second
    assert min(len(first), len(second)) >= 40
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert own_token(tmp_path / "a") == first


def test_the_mask_of_the_user_does_not_open_the_file(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        own_token(tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "what", ["a link", "a link to nothing", "a folder", "open to all", "short"]
)
def test_a_file_that_someone_put_there_is_not_believed(tmp_path: Path, what: str) -> None:
    path, other = tmp_path / "own", tmp_path / "other"
    match what:
        case "a link":
            other.write_text(GOOD)
            other.chmod(0o600)
            path.symlink_to(other)
        case "a link to nothing":
            path.symlink_to(other)
        case "a folder":
            path.mkdir(mode=0o700)
        case "open to all":
            path.write_text(GOOD)
            path.chmod(0o644)
        case "short":
            path.write_text("x")
            path.chmod(0o600)
    with pytest.raises(ConfigError, match=str(path)):
        own_token(path)
    assert what == "a link" or not other.exists()


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="--token-file"):
        own_token(tmp_path / "file" / "token")


def no_links(patch: pytest.MonkeyPatch) -> None:
    """As on file systems that have none."""

    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    patch.setattr(os, "link", link)


def test_a_token_is_kept_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_links(monkeypatch)
    token = own_token(tmp_path / "a")
    assert own_token(tmp_path / "a") == token
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("what", ["a file", "a link"])
def test_without_hard_links_nothing_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Someone takes the name after it was looked for."""
    new, path, other = tmp_path / "new", tmp_path / "own", tmp_path / "other"
    new.write_text(GOOD)
    if what == "a file":
        path.write_text("of another server")
    else:
        path.symlink_to(other)
    with pytest.raises(FileExistsError):
        _rename_alone(new, path)
    assert path.is_symlink() or path.read_text() == "of another server"
    assert not other.exists()


@pytest.mark.parametrize("is_own", [False, True])
def test_a_token_that_is_too_short_is_refused_with_the_name_of_its_file(
    tmp_path: Path, is_own: bool
) -> None:
    """What a command line made of an empty variable, say; the token itself is not shown."""
    path = tmp_path / ("x.db.token" if is_own else "given")
    path.write_text("hunter2")
    path.chmod(0o600)
    words = [] if is_own else ["--token-file", str(path)]
    done = subprocess.run(
        command("--port", "0", "--db", str(tmp_path / "x.db"), *words),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 2
    assert f"the one in {path} has 7" in done.stderr
    assert "hunter2" not in done.stderr


def test_beside_the_key_is_no_place_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a server on PostgreSQL keeps its token: not in the folder for temporary files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = own_token_file("postgresql://127.0.0.1/anew")
    assert path == tmp_path / ".config" / "anew" / "server.token"
    own_token(path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
