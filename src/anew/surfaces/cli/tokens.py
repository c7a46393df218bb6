"""Where the token of a server comes from: a file, the environment, the command line, or itself.

One place for the options of all commands. What is given is put where the connection looks for it,
$ANEW_TOKEN, and is in no arguments any more. Shows a token to nobody.
"""

from __future__ import annotations

import os
import stat
import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Protocol

from anew.environment import TOKEN_VARIABLE
from anew.errors import ConfigError
from anew.files import PRIVATE_FILE, PRIVATE_FOLDER, os_reason
from anew.posix import NO_LINK, NOT_INHERITED, lock, user_id

TOKEN_OPTION = "--token"
TOKEN_FILE_OPTION = "--token-file"
# Anything longer is some other file.
TOKEN_BYTES_MAX = 4_096
_TOKEN_BYTES = 32
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Of a file of root, which is how secrets are mounted into containers, a group may read; as for the
# private keys of libpq.
_OF_OTHERS_OF_ROOT = _OF_OTHERS & ~stat.S_IRGRP
_ROOT = 0


# The file this command took the token from, as it was typed; a pipe cannot be read again.
_taken_from: list[str] = []


class _Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, metavar: str, help: str) -> object: ...


def add_token_options(options: _Options, *, what: str = "the server's token") -> None:
    """`--token-file` and `--token`; put them into a group of which only one can be given."""
    options.add_argument(
        TOKEN_FILE_OPTION,
        metavar="F",
        help=f"read {what} from this file, which only you can read; without it, "
        f"${TOKEN_VARIABLE} is the token",
    )
    options.add_argument(
        TOKEN_OPTION,
        metavar="T",
        help=f"{what}. Other users of this machine can see it: prefer {TOKEN_FILE_OPTION}",
    )


def take_token(asked: Namespace) -> None:
    """Put the token that the arguments give where connections look for it.

    ConfigError when it is in a file that cannot be used.
    """
    typed: str | None = getattr(asked, "token", None)
    file: str | None = getattr(asked, "token_file", None)
    _taken_from.clear()
    if file is not None:
        os.environ[TOKEN_VARIABLE] = read_token(Path(file))
        _taken_from.extend([file] if Path(file).is_file() else [])
    elif typed is not None:
        print(
            f"anew: {TOKEN_OPTION} shows the token to every user of this machine (`ps`). "
            f"Use {TOKEN_FILE_OPTION} or ${TOKEN_VARIABLE}.",
            file=sys.stderr,
        )
        os.environ[TOKEN_VARIABLE] = typed
        asked.token = None


def token_option() -> list[str]:
    """The option that another command needs to have the same token, as it is typed, if it does."""
    return [f"{TOKEN_FILE_OPTION} {quote(file)}" for file in _taken_from]


def token_file(asked: Namespace) -> Path | None:
    """The file that the arguments name, if they do; wherever someone goes from here."""
    file: str | None = getattr(asked, "token_file", None)
    return None if file is None else Path(file).absolute()


def read_token(path: Path, *, follows_links: bool = True) -> str:
    """The one line of a file that nobody else can read; ConfigError says what is wrong with it."""
    try:
        text = _read(path, os.O_RDONLY | (0 if follows_links else NO_LINK))
        lines = text.decode("ascii").split("\n")
    except OSError as error:
        why = os_reason(error)
        raise ConfigError(f"the token file {path} cannot be read: {why}.") from error
    except UnicodeDecodeError:
        raise ConfigError(
            f"the token file {path} does not hold a token: it is not ASCII."
        ) from None
    token = lines[0].strip()
    if not token or any(line.strip() for line in lines[1:]):
        found = "several lines" if token else "no token in its first line"
        raise ConfigError(f"the token file {path} has {found}. It must hold one line, the token.")
    if not token.isprintable() or " " in token:
        raise ConfigError(f"the token in {path} has a space or a control character in it.")
    return token


def _read(path: Path, flags: int) -> bytes:
    """What the file holds, looked at and read through one descriptor: it cannot be exchanged."""
    descriptor = os.open(path, flags | NOT_INHERITED)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            raise ConfigError(f"the token file {path} is not a file.")
        if found.st_mode & (_OF_OTHERS_OF_ROOT if found.st_uid == _ROOT else _OF_OTHERS):
            raise ConfigError(
                f"other users may read the token file {path} "
                f"(mode {stat.S_IMODE(found.st_mode):04o}). Type `chmod 600 {path}`, and make "
                "another token if one of them might have read it."
            )
        if found.st_uid not in (user_id(), _ROOT):
            raise ConfigError(
                f"the token file {path} belongs to another user. Use one of your own."
            )
        data = file.read(TOKEN_BYTES_MAX + 1)
    if len(data) > TOKEN_BYTES_MAX:
        raise ConfigError(
            f"the token file {path} has more than {TOKEN_BYTES_MAX:,} bytes (TOKEN_BYTES_MAX). "
            "It must hold one line, the token."
        )
    return data


def own_token_file(db: str | None) -> Path:
    """Where a server on this database keeps its own token: beside a file, else beside the key."""
    from anew.credentials.key import key_file
    from anew.runtime.databases import TOKEN_FILE_END, database_file, kind_of

    if kind_of(db).is_file:
        return Path(f"{database_file(db)}{TOKEN_FILE_END}")
    return key_file(Path.home()).with_name(f"server{TOKEN_FILE_END}")


def own_token(path: Path) -> str:
    """The token a server made for itself, kept in this file; made now if there is none."""
    import secrets  # only servers need these

    from anew.surfaces.api.settings import check_token

    try:
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _keep(path, secrets.token_urlsafe(_TOKEN_BYTES))
    except OSError as error:
        why = os_reason(error)
        raise ConfigError(
            f"the server's token cannot be kept in {path}: {why}. "
            f"Give it one with {TOKEN_FILE_OPTION} or ${TOKEN_VARIABLE}."
        ) from error
    token = read_token(path, follows_links=False)
    check_token(token, file=path)
    return token


def _keep(path: Path, token: str) -> None:
    """A file that is whole as soon as it has its name; FileExistsError when the name is taken."""
    if path.is_symlink() or path.exists():
        raise FileExistsError
    unnamed = path.with_name(f"{path.name}.{os.getpid()}")
    unnamed.unlink(missing_ok=True)  # of a process that died here, and had our number
    descriptor = os.open(
        unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_INHERITED, PRIVATE_FILE
    )
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{token}\n")
        try:
            os.link(unnamed, path)
        except FileExistsError:
            raise
        except OSError:  # not every file system has hard links
            _rename_alone(unnamed, path)
    finally:
        unnamed.unlink(missing_ok=True)


def _rename_alone(unnamed: Path, path: Path) -> None:
    """Give a file its name unless the name is taken: renaming alone would replace what has it.

    Of servers that start at the same time, the second finds the token of the first.
    """
    folder = os.open(path.parent, os.O_RDONLY | NOT_INHERITED)
    try:
        with suppress(
            OSError
        ):  # where nothing can be locked, servers that start at once may differ
            lock(folder, waits=True)
        if path.is_symlink() or path.exists():
            raise FileExistsError
        os.rename(unnamed, path)
    finally:
        os.close(folder)
