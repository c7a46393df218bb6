"""Where a command finds the runs it is about: a database file, PostgreSQL, or a server.

Decides which of the options and environment variables counts, and how a place is told to people.
Opens nothing. A token is never part of a place: it travels in $ANEW_TOKEN.
"""

from __future__ import annotations

import os
import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from shlex import quote

from anew.surfaces.cli.tokens import add_token_options

SERVER_VARIABLE = "ANEW_SERVER"
DB_OPTION = "--db"
SERVER_OPTION = "--server"

_SERVER = re.compile(r"https?://[^/\s@]+(/[^\s@]*)?")
# What an address of PostgreSQL may tell nobody: `user:secret@`, and `?password=secret`.
_SECRET_OF_USER = re.compile(r"(://[^:@/?]*):[^?]*@")
_SECRET_OF_QUERY = re.compile(r"([?&](?:ssl)?password=)[^&]*")


def add_place_options(parser: ArgumentParser) -> None:
    """`--db`, `--server` and the token, in the words every command has for them.

    The place is `place` of the arguments: None where $ANEW_DB or the default is meant.
    """
    places = parser.add_mutually_exclusive_group()
    places.add_argument(
        DB_OPTION,
        dest="place",
        metavar="URL",
        default=SUPPRESS,
        help="a path, sqlite:///path or postgresql://user@host/name "
        "(default $ANEW_DB, else .anew/anew.db)",
    )
    places.add_argument(
        SERVER_OPTION,
        dest="place",
        metavar="URL",
        type=server_url,
        default=os.environ.get(SERVER_VARIABLE) or None,
        help="an `anew serve`, as http://host:port (default $ANEW_SERVER, which beats $ANEW_DB)",
    )
    add_token_options(parser.add_mutually_exclusive_group())


def server_url(said: str) -> str:
    """The address of a server, for argparse."""
    if "@" in said:  # not shown again: it may hold a password
        raise ArgumentTypeError(
            "the address of a server has no user and password: write http://host:port, "
            "and give the token with --token-file or $ANEW_TOKEN"
        )
    if not _SERVER.fullmatch(said):
        raise ArgumentTypeError(
            f"{said[:80]!r} is not the address of a server: write http://host:port "
            "(--server or $ANEW_SERVER)"
        )
    return said.rstrip("/")


def place_said(words: Sequence[str]) -> str | None:
    """What the words of a command give for `--db` or `--server`."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name in (DB_OPTION, SERVER_OPTION):
            return (value if equals else following) or None
    return None


def shown_place(place: str | None) -> str:
    """A place as people may see it: without the password it may hold."""
    from anew.runtime.databases import place_of

    return _SECRET_OF_QUERY.sub(r"\1…", _SECRET_OF_USER.sub(r"\1:…@", place_of(place)))


def option_for(place: str) -> str:
    """The option that names this place, as it is typed."""
    option = SERVER_OPTION if is_address(place) else DB_OPTION
    return f"{option} {quote(shown_place(place))}"


def is_address(place: str) -> bool:
    """Whether it reads like the address of a server, right or wrong."""
    return place.startswith(("http://", "https://"))


def is_usual(place: str) -> bool:
    """Whether commands would find this place by themselves."""
    from anew.errors import ConfigError
    from anew.runtime.databases import database_file, kind_of, place_of

    usual = os.environ.get(SERVER_VARIABLE) or place_of()
    try:
        if kind_of(place).is_file and kind_of(usual).is_file:
            return database_file(place).absolute() == database_file(usual).absolute()
    except ConfigError:  # one of them is none; the other is then not the usual one
        return False
    return place.rstrip("/") == usual.rstrip("/")


def is_server(place: str | None) -> bool:
    """Whether others do what this command wants, at the other end of a connection."""
    from anew.runtime.databases import kind_of

    return kind_of(place).is_server
