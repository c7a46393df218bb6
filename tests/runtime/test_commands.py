"""Commands as they are sent: each is read as what it was, and nonsense is refused in words."""

import json

import msgspec
import pytest

from anew.errors import ConfigError
from anew.runtime.commands import COMMANDS, RunCommand, StartRun, is_repeatable, read_command
from anew.store import SealedCredential

NEEDED = {
    "run": "7",
    "name": "cancel",
    "action": "pause",
    "sealed": msgspec.to_builtins(SealedCredential("x", "basic", b"data", 1)),
}


def sent(do, **more):
    return json.dumps({"do": do, **NEEDED, **more}).encode()


@pytest.mark.parametrize("do", COMMANDS)
def test_every_command_is_read_as_what_was_sent(do):
    command = read_command(sent(do))
    assert type(command) is COMMANDS[do]
    assert read_command(msgspec.json.encode(command)) == command
    assert is_repeatable(command) in (True, False)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"do": "dance"}', "there is no command 'dance'. Are both sides of the same version"),
        (b'{"do": "cancel"}', "the command cannot be read: Object missing required field `run`"),
        (b'{"do": "bulk", "name": "dance"}', "the command cannot be read: Invalid enum value"),
        (b'{"do": "prune", "before": 9223372036854775808}', "the command cannot be read: "),
        (b"{}", "the command cannot be read: Object missing required field `do`"),
        (b"[[", "the command cannot be read: "),
    ],
)
def test_what_is_no_command_is_refused_in_words(data, why):
    with pytest.raises(ConfigError) as refused:
        read_command(data)
    assert str(refused.value).startswith(why)


def test_what_has_a_key_can_be_repeated():
    assert is_repeatable(StartRun(name="x", key="k"))
    assert not is_repeatable(StartRun(name="x"))


def test_a_command_for_a_run_names_it():
    for kind in COMMANDS.values():
        assert issubclass(kind, RunCommand) or "run" not in kind.__struct_fields__ or kind is FORK


FORK = COMMANDS["fork"]
