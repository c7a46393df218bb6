"""A writer of the database who has no key: old values, swapped rows and torn ones are noticed."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from anew.credentials import Credential, Keychain
from anew.credentials.key import SealingKey, key_file, need_key
from anew.credentials.providers import MissingCredential
from anew.credentials.sealing import open_credential, seal_credential, version_of
from anew.credentials.seen_versions import SeenVersions, seen_file
from anew.errors import ConfigError
from anew.store import SealedCredential
from anew.stores.memory_catalog import MemoryVault
from anew.surfaces.cli import status
from anew.surfaces.cli.main import main

KEY = SealingKey(b"k" * 32, "a test")
NOW = 1_780_000_000_000_000_000
OLD, NEW = "the old password", "the new password"


def sealed(value: str, now: int, *, name: str = "pg", key: SealingKey = KEY) -> SealedCredential:
    credential = Credential(name, "postgres", {"host": "db", "password": value})
    return seal_credential(name, credential, key, now=now)


class World:
    """A vault that its writer may change at will, and processes of one user that read it."""

    def __init__(self, home: Path) -> None:
        self.home, self.vault = home, MemoryVault()
        self.key = need_key({}, home)

    def put(self, row: SealedCredential) -> None:
        asyncio.run(self.vault.seal(row))

    def keychain(self, place: str = "/data/anew.db") -> Keychain:
        keychain = Keychain(self.vault, environ={}, home=self.home)
        keychain.remember(place)
        return keychain

    def password(self, keychain: Keychain, name: str = "pg") -> str:
        keychain._kept.clear()  # as after half a minute
        return str(asyncio.run(keychain.credential(name)).data["password"])


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# --- rolled back ---------------------------------------------------------------------------------


@pytest.mark.parametrize("is_same_process", [True, False])
@pytest.mark.parametrize("is_home_writable", [True, False])
def test_an_old_value_is_not_taken_back(
    world: World, is_same_process: bool, is_home_writable: bool
) -> None:
    if not is_home_writable:
        seen_file(world.home).with_suffix(".lock").mkdir()  # so that nothing can be kept there
    old, new = (
        sealed(OLD, NOW, key=world.key),
        sealed(NEW, NOW + 1, key=world.key),
    )
    world.put(new)
    keychain = world.keychain()
    assert world.password(keychain) == NEW
    world.put(old)
    reader = keychain if is_same_process else world.keychain()
    if is_same_process or is_home_writable:
        with pytest.raises(ConfigError, match=r"older .* `anew credential add pg --file FILE`"):
            world.password(reader)
    else:
        # A new process without anything to remember by cannot know: the threat model says so.
        assert world.password(reader) == OLD


def test_a_value_of_the_format_without_versions_does_not_come_back(world: World) -> None:
    before = unversioned(OLD, world.key)
    world.put(before)
    assert world.password(world.keychain()) == OLD
    world.put(sealed(NEW, NOW, key=world.key))
    assert world.password(world.keychain()) == NEW
    world.put(before)
    with pytest.raises(ConfigError, match="sealed by an earlier version of Anew"):
        world.password(world.keychain())


def unversioned(value: str, key: SealingKey) -> SealedCredential:
    """As version 0.1 sealed it."""
    import hashlib

    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(12)
    plain = json.dumps({"type": "postgres", "data": {"password": value}}).encode()
    encrypted = AESGCM(key.secret).encrypt(nonce, plain, b'["pg","postgres"]')
    mark = hashlib.sha256(b"anew key mark" + key.secret).digest()[:4]
    return SealedCredential("pg", "postgres", b"\x01" + mark + nonce + encrypted, 1)


def test_the_moment_beside_it_does_not_make_an_old_value_new(world: World) -> None:
    old = sealed(OLD, NOW, key=world.key)
    world.put(sealed(NEW, NOW + 1, key=world.key))
    world.password(world.keychain())
    world.put(msgspec.structs.replace(old, created_at=NOW + 2))
    with pytest.raises(ConfigError, match="older"):
        world.password(world.keychain())


def test_the_version_itself_cannot_be_raised(world: World) -> None:
    old = sealed(OLD, NOW, key=world.key)
    forged = old.sealed[:5] + (NOW + 2).to_bytes(8) + old.sealed[13:]
    world.put(msgspec.structs.replace(old, sealed=forged))
    with pytest.raises(ConfigError, match="was changed in the store"):
        world.password(world.keychain())


def test_a_removed_credential_does_not_come_back(world: World) -> None:
    row = sealed(OLD, NOW, key=world.key)
    world.put(row)
    assert world.password(world.keychain()) == OLD
    world.keychain().seen.note_removed("pg", NOW + 5)
    with pytest.raises(ConfigError, match="was removed"):
        world.password(world.keychain())


class Overtaken(MemoryVault):
    """What was read last is replaced or removed by another process before it is looked at."""

    def __init__(
        self, seen: SeenVersions, newer: SealedCredential | None, *, is_in_time: bool
    ) -> None:
        super().__init__()
        self._seen, self._newer, self._is_in_time = seen, newer, is_in_time

    async def sealed(self, name: str) -> SealedCredential | None:
        row = await super().sealed(name)
        if self._is_in_time:
            await (self.forget(name) if self._newer is None else self.seal(self._newer))
        self._seen.note(name, NOW + 1)
        return row


@pytest.mark.parametrize("is_in_time", [True, False])
@pytest.mark.parametrize("is_removed", [True, False])
def test_a_credential_that_is_replaced_while_it_is_read_is_no_old_one(
    world: World, is_removed: bool, is_in_time: bool
) -> None:
    newer = None if is_removed else sealed(NEW, NOW + 1, key=world.key)
    world.vault = Overtaken(world.keychain().seen, newer, is_in_time=is_in_time)
    world.put(sealed(OLD, NOW, key=world.key))
    if not is_in_time:
        with pytest.raises(ConfigError, match="older"):
            world.password(world.keychain())
    elif is_removed:
        with pytest.raises(MissingCredential, match="no credential 'pg'"):
            world.password(world.keychain())
    else:
        assert world.password(world.keychain()) == NEW


def test_databases_do_not_disturb_each_other(world: World) -> None:
    world.put(sealed(NEW, NOW + 1, key=world.key))
    world.password(world.keychain("/data/one.db"))
    world.put(sealed(OLD, NOW, key=world.key))
    assert world.password(world.keychain("/data/two.db")) == OLD


@pytest.mark.parametrize(
    "again",
    ["postgresql://me:other@db.example/anew", "postgresql://you@db.example/anew?sslmode=require"],
)
def test_a_database_is_known_whoever_asks(world: World, again: str) -> None:
    world.put(sealed(NEW, NOW + 1, key=world.key))
    world.password(world.keychain("postgresql://me:secret@db.example/anew"))
    world.put(sealed(OLD, NOW, key=world.key))
    with pytest.raises(ConfigError, match="older"):
        world.password(world.keychain(again))
    assert b"secret" not in seen_file(world.home).read_bytes()


def test_what_is_remembered_is_for_its_owner_alone(world: World) -> None:
    world.put(sealed(NEW, NOW, key=world.key))
    world.password(world.keychain())
    assert stat.S_IMODE(seen_file(world.home).stat().st_mode) == 0o600
    assert NEW.encode() not in seen_file(world.home).read_bytes()


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"a": 1}', b'{"a": {"b": "c"}}', b"\xff"])
def test_a_damaged_memory_is_told_and_not_passed_over(world: World, data: bytes) -> None:
    world.put(sealed(OLD, NOW, key=world.key))
    seen_file(world.home).write_bytes(data)
    with pytest.raises(ConfigError, match=r"seen\.json.* is damaged"):
        world.password(world.keychain())


def test_many_processes_forget_nothing(tmp_path: Path) -> None:
    need_key({}, tmp_path)
    seens = [SeenVersions(tmp_path, "/data/anew.db") for _ in range(4)]
    for number in range(40):
        seens[number % 4].note(f"c{number}", number + 1)
    assert all(seen.newest(f"c{n}") == n + 1 for seen in seens for n in range(40))


def remembered(home: Path) -> list[str]:
    return list(json.loads(seen_file(home).read_bytes()))


def test_a_full_memory_forgets_files_that_are_gone_and_then_the_oldest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    need_key({}, tmp_path)
    files = [tmp_path / f"{n}.db" for n in range(3)]
    shared = [f"postgresql://db.example/{n}" for n in range(3)]
    gone = [str(tmp_path / f"gone-{n}.db") for n in range(5)]
    for file in files:
        file.touch()
    for place in [str(files[0]), *shared, *gone, *map(str, files[1:])]:
        SeenVersions(tmp_path, place).note("pg", NOW)
    SeenVersions(tmp_path, str(files[0])).note("other", NOW)  # which makes it the newest
    kept = [*shared, *map(str, files[1:]), str(files[0])]
    monkeypatch.setattr(
        "anew.credentials.seen_versions.SEEN_BYTES_MAX", seen_file(tmp_path).stat().st_size
    )
    SeenVersions(tmp_path, str(files[0])).note("third", NOW)
    assert remembered(tmp_path) == kept
    assert "databases forgotten: 5" in caplog.text
    monkeypatch.setattr(
        "anew.credentials.seen_versions.SEEN_BYTES_MAX", seen_file(tmp_path).stat().st_size
    )
    SeenVersions(tmp_path, str(files[0])).note("fourth", NOW)
    assert remembered(tmp_path) == kept[1:]


def test_a_full_memory_stops_no_run(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("anew.credentials.seen_versions.SEEN_BYTES_MAX", 10)
    world.put(sealed(NEW, NOW + 1, key=world.key))
    keychain = world.keychain()
    assert world.password(keychain) == NEW
    assert "databases forgotten: 1" in caplog.text
    world.put(sealed(OLD, NOW, key=world.key))
    with pytest.raises(ConfigError, match="older"):
        world.password(keychain)  # the process has its own memory


def test_a_clock_that_goes_back_does_not_lock_the_owner_out(tmp_path: Path) -> None:
    seen = SeenVersions(tmp_path, "/data/anew.db")
    seen.note("pg", NOW)
    assert seen.next_version("pg", NOW - 10**15) == NOW + 1


# --- swapped, torn, forged -----------------------------------------------------------------------

ROW = sealed(OLD, NOW)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "other"}, {"name": "PG"}, {"name": "pg "}, {"name": ""}, {"kind": "bearer"},
        {"kind": "POSTGRES"}, {"kind": ""}, {"name": "pg", "kind": "postgres\0"},
    ],
    ids=str,
)  # fmt: skip
def test_a_row_is_not_passed_off_as_another(changed: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="was changed in the store"):
        open_credential(msgspec.structs.replace(ROW, **changed), KEY, ref="pg")


def test_two_rows_cannot_be_exchanged() -> None:
    one, two = sealed(OLD, NOW, name="one"), sealed(NEW, NOW, name="two")
    for name, other in (("one", two), ("two", one)):
        with pytest.raises(ConfigError, match="was changed in the store"):
            open_credential(msgspec.structs.replace(other, name=name), KEY, ref=name)


@pytest.mark.parametrize("at", range(len(ROW.sealed)))
def test_no_flipped_bit_is_overlooked(at: int) -> None:
    data = bytearray(ROW.sealed)
    data[at] ^= 1 << (at % 8)
    with pytest.raises(ConfigError, match="'pg'"):
        open_credential(msgspec.structs.replace(ROW, sealed=bytes(data)), KEY, ref="pg")


@pytest.mark.parametrize("length", [*range(30), 40, len(ROW.sealed) - 1])
def test_no_torn_row_is_opened(length: int) -> None:
    with pytest.raises(ConfigError, match="'pg'"):
        open_credential(msgspec.structs.replace(ROW, sealed=ROW.sealed[:length]), KEY, ref="pg")


@pytest.mark.parametrize("more", [b"\0", b"x" * 16, ROW.sealed])
def test_nothing_can_be_added_to_a_row(more: bytes) -> None:
    with pytest.raises(ConfigError, match="was changed in the store"):
        open_credential(msgspec.structs.replace(ROW, sealed=ROW.sealed + more), KEY, ref="pg")


@pytest.mark.parametrize("format_byte", [0, 1, 3, 0x7B, 0xFF])
def test_a_row_is_not_read_in_another_format(format_byte: int) -> None:
    data = bytes([format_byte]) + ROW.sealed[1:]
    with pytest.raises(ConfigError, match="'pg'"):
        open_credential(msgspec.structs.replace(ROW, sealed=data), KEY, ref="pg")


@pytest.mark.parametrize("secret", [b"x" * 32, b"k" * 31 + b"l", bytes(32)])
def test_another_key_opens_nothing(secret: bytes) -> None:
    with pytest.raises(ConfigError, match="sealed with another key"):
        open_credential(ROW, SealingKey(secret, "elsewhere"), ref="pg")


def test_the_version_is_that_of_the_sealing() -> None:
    assert version_of(ROW) == NOW


# --- with the real command and a real file -------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANEW_KEY", "ANEW_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add(home: Path, value: str) -> None:
    said = {"type": "bearer", "data": {"token": value}}
    (home / "c.json").write_text(json.dumps(said))
    assert main(["credential", "add", "gh", "--file", "c.json"]) == status.DONE


def database(home: Path) -> sqlite3.Connection:
    return sqlite3.connect(home / ".anew" / "anew.db", isolation_level=None)


DOCUMENT = """
keychain: [{name: gh}]
workflow:
- step: use
  tool: {kind: shell, command: 'test "$T" = wanted', env: {T: "{{ keychain.gh.token }}"}}
"""


def test_a_run_does_not_use_a_value_that_was_put_back(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "use.yaml").write_text(DOCUMENT)
    add(home, "unwanted-old-token")
    with closing(database(home)) as db:
        [(old,)] = db.execute("SELECT sealed FROM credentials")
    add(home, "wanted")
    assert main(["run", "use.yaml", "--quiet"]) == status.DONE
    with closing(database(home)) as db:
        db.execute("UPDATE credentials SET sealed = ?", (old,))
    assert main(["run", "use.yaml", "--quiet"]) == status.BAD
    assert main(["run", "use.yaml", "--no-preflight", "--quiet"]) == status.FAILED
    capsys.readouterr()
    main(["show", "last"])
    shown = capsys.readouterr().out
    assert "somebody has put an old value back" in shown
    assert "anew credential add gh --file FILE" in shown
    add(home, "wanted")
    assert main(["run", "use.yaml", "--quiet"]) == status.DONE


def test_a_row_brought_back_after_removal_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "use.yaml").write_text(DOCUMENT)
    add(home, "wanted")
    with closing(database(home)) as db:
        [row] = db.execute("SELECT * FROM credentials")
    assert main(["credential", "remove", "gh"]) == status.DONE
    with closing(database(home)) as db:
        db.execute(f"INSERT INTO credentials VALUES ({', '.join('?' * len(row))})", row)
    assert main(["run", "use.yaml", "--no-preflight", "--quiet"]) == status.FAILED
    assert key_file(home).exists()
