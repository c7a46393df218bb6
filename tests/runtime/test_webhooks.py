"""Addresses of signals: what signs them, and what does not get in."""

import base64
import os
from urllib.parse import unquote

import pytest

from anew.errors import ConfigError
from anew.runtime.webhooks import Webhooks, open_webhooks
from anew.store import RunId

SECRET = bytes(range(32))
RUN = RunId(12)


def parts(path):
    _, prefix, run, name, signature = path.split("/")
    assert prefix == "hooks"
    return RunId(int(run)), unquote(name), signature


def test_an_address_opens_its_own_signal_and_no_other():
    hooks = Webhooks(SECRET)
    run, name, signature = parts(hooks.path_for(RUN, "paid"))
    assert (run, name) == (RUN, "paid")
    assert hooks.check(run, name, signature)
    assert not hooks.check(RunId(13), name, signature)
    assert not hooks.check(run, "paid2", signature)
    assert not hooks.check(run, "", signature)


@pytest.mark.parametrize("signature", ["", "x", "é", "\ud800", "A" * 43, "A" * 10_000])
def test_a_signature_that_was_not_made_here_opens_nothing(signature):
    assert not Webhooks(SECRET).check(RUN, "paid", signature)


def test_another_key_makes_other_addresses():
    assert Webhooks(SECRET).path_for(RUN, "paid") != Webhooks(b"x" * 32).path_for(RUN, "paid")


def test_a_signature_tells_nothing_of_the_key():
    path = Webhooks(SECRET).path_for(RUN, "paid")
    assert base64.urlsafe_b64encode(SECRET).decode()[:8] not in path
    assert len(parts(path)[2]) == 43


def test_a_name_is_written_as_an_address_has_it():
    hooks = Webhooks(SECRET)
    path = hooks.path_for(RUN, "zürich:17@x")
    assert path.isascii()
    assert hooks.check(*parts(path))


def test_what_is_no_name_has_no_address():
    with pytest.raises(ConfigError, match="cannot be the name of a signal"):
        Webhooks(SECRET).path_for(RUN, "a/b")


def test_all_who_have_the_key_know_the_address(tmp_path):
    environ = {"ANEW_KEY": base64.b64encode(os.urandom(32)).decode()}
    path = open_webhooks(environ, tmp_path).path_for(RUN, "paid")
    assert open_webhooks(environ, tmp_path).check(*parts(path))
    made = open_webhooks({}, tmp_path).path_for(RUN, "paid")  # a key is made, once
    assert open_webhooks({}, tmp_path).check(*parts(made))
    assert not open_webhooks(environ, tmp_path).check(*parts(made))
