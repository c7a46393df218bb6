"""Credentials at rest: sealed with a key, opened with the same one, refused otherwise."""

import asyncio
import os
import stat
from base64 import b64encode
from pathlib import Path

import msgspec
import pytest

from anew.credentials import Keychain, MissingCredential
from anew.credentials.credential import Credential, check_name, read_credential
from anew.credentials.key import SealingKey, find_key, key_file, need_key
from anew.credentials.sealing import open_credential, seal_credential
from anew.errors import ConfigError
from anew.stores.memory_catalog import MemoryVault

KEY = SealingKey(b"k" * 32, "a test")
PASSWORD = "swordfish"
CREDENTIAL = Credential("pg", "postgres", {"host": "db", "password": PASSWORD})


def sealed(key=KEY):
    return seal_credential("pg", CREDENTIAL, key, now=7)


def test_what_was_sealed_is_opened():
    row = sealed()
    assert (row.name, row.kind, row.created_at) == ("pg", "postgres", 7)
    assert PASSWORD.encode() not in row.sealed
    assert open_credential(row, KEY, ref="pg") == CREDENTIAL


def test_the_same_credential_is_never_sealed_alike():
    assert sealed().sealed != sealed().sealed


def test_another_key_is_told_apart_from_a_changed_row():
    with pytest.raises(ConfigError, match="sealed with another key than that of elsewhere"):
        open_credential(sealed(), SealingKey(b"x" * 32, "elsewhere"), ref="pg")


@pytest.mark.parametrize("place", [5, 17, 40, -1])
def test_a_changed_row_is_refused(place):
    row = sealed()
    data = bytearray(row.sealed)
    data[place] ^= 1
    with pytest.raises(ConfigError, match="was changed in the store"):
        open_credential(msgspec.structs.replace(row, sealed=bytes(data)), KEY, ref="pg")


@pytest.mark.parametrize("changed", [{"name": "other"}, {"kind": "mysql"}])
def test_a_row_cannot_be_passed_off_as_another(changed):
    with pytest.raises(ConfigError, match="was changed in the store"):
        open_credential(msgspec.structs.replace(sealed(), **changed), KEY, ref="pg")


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x02" + bytes(60)])
def test_a_torn_row_is_refused(data):
    with pytest.raises(ConfigError, match="'pg'"):
        open_credential(msgspec.structs.replace(sealed(), sealed=data), KEY, ref="pg")


def test_without_a_key_nothing_is_opened():
    with pytest.raises(ConfigError, match=r"there is no key. Set \$ANEW_KEY"):
        open_credential(sealed(), None, ref="pg")


# --- the key -------------------------------------------------------------------------------------


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path):
    assert find_key({}, tmp_path) is None
    made = need_key({}, tmp_path)
    path = key_file(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert need_key({}, tmp_path) == made
    assert os.listdir(path.parent) == ["key"]


def test_the_environment_comes_before_the_file(tmp_path: Path):
    need_key({}, tmp_path)
    said = {"ANEW_KEY": b64encode(b"e" * 32).decode()}
    assert need_key(said, tmp_path).secret == b"e" * 32


def test_a_key_with_url_letters_is_read_as_well(tmp_path: Path):
    assert find_key({"ANEW_KEY": "-_" * 21 + "8"}, tmp_path) is not None


def test_a_process_that_comes_second_uses_the_first_ones_key(tmp_path: Path, monkeypatch):
    first = need_key({}, tmp_path)
    monkeypatch.setattr("anew.credentials.key.find_key", late_finder())
    assert need_key({}, tmp_path) == first


def late_finder():
    """Sees no key at first, as a process does that looks just before another one makes it."""
    answers = iter([None])
    return lambda environ, home: next(answers, find_key(environ, home))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_others_may_read_or_change_is_refused(tmp_path: Path, mode):
    need_key({}, tmp_path)
    key_file(tmp_path).chmod(mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        find_key({}, tmp_path)


@pytest.mark.parametrize("text", ["short", "x" * 44, "ä", b64encode(bytes(31)).decode()])
def test_what_is_no_key_is_refused_and_not_quoted(tmp_path: Path, text):
    with pytest.raises(ConfigError, match=r"\$ANEW_KEY is not a key") as caught:
        find_key({"ANEW_KEY": text}, tmp_path)
    assert text not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / ".config").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="cannot write the key"):
        need_key({}, tmp_path)


# --- a keychain over a vault ---------------------------------------------------------------------


def test_the_store_is_asked_before_the_environment(tmp_path: Path):
    vault = MemoryVault()
    key = need_key({}, tmp_path)
    variable = '{"type": "env", "data": "from the environment"}'
    keychain = Keychain(vault, environ={"ANEW_CREDENTIAL_PG": variable}, home=tmp_path)

    async def ask():
        before = await keychain.credential("pg", "env")
        await vault.seal(seal_credential("pg", CREDENTIAL, key, now=1))
        return before, await keychain.credential("pg"), await keychain.credential("pg", "store")

    before, found, stored = asyncio.run(ask())
    assert (before.type, found.type, stored.type) == ("env", "postgres", "postgres")
    assert (found.ref, stored.ref, before.ref) == ("pg", "store:pg", "env:pg")


def test_a_credential_that_is_nowhere_says_where_it_was_looked_for():
    keychain = Keychain(MemoryVault(), environ={})
    with pytest.raises(MissingCredential) as caught:
        asyncio.run(keychain.credential("my-pg"))
    assert str(caught.value) == (
        "there is no credential 'my-pg': it is not in the credential store, and "
        "$ANEW_CREDENTIAL_MY_PG is not set. Add it with `anew credential add my-pg --file FILE`."
    )


# --- the JSON people write -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"data": {"a": "swordfish"}}', "has no `type`"),
        ('{"type": "x"}', "has no `data`"),
        ('{"type": "x", "data": 7}', "has no `data`"),
        ('{"type": "x", "data": {"a": 1}, "swordfish": 1}', "has a key other than"),
        ('{"type": "x", "data": {"$secret": "y"}}', "marks secrets"),
        (b"\xff\xfe", "is not JSON"),
        (" " * 1_100_000, "is larger than 1,048,576 bytes"),
    ],
)
def test_what_is_no_credential_is_refused_and_not_quoted(text, why):
    with pytest.raises(ConfigError, match=why) as caught:
        read_credential(text, "a.json", ref="a")
    assert "swordfish" not in str(caught.value)


def test_a_file_written_for_noetl_is_read():
    text = '{"name": "pg", "type": "postgres", "description": "", "tags": [], "data": {"a": "b"}}'
    assert read_credential(text, "a.json", ref="pg").data == {"a": "b"}


@pytest.mark.parametrize("name", ["", "a b", "env:x", "ä", "-x", "x" * 129])
def test_odd_names_are_refused(name):
    with pytest.raises(ConfigError, match="cannot be the name"):
        check_name(name)


def test_nothing_prints_a_value():
    assert PASSWORD not in repr(CREDENTIAL)
    assert "kkkk" not in repr(KEY)
