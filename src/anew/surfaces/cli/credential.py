"""`anew credential`: add, list and remove credentials. Never shows a value."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from anew.environment import CREDENTIAL_PREFIX, environment
from anew.errors import ConfigError
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.documents import read_document, shown_name
from anew.surfaces.cli.location import add_place_options
from anew.values import Object

if TYPE_CHECKING:
    from anew.credentials.key import SealingKey
    from anew.credentials.seen_versions import SeenVersions


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    match asked.action:
        case "add":
            return _add(asked.name, asked.file, asked.place)
        case "remove":
            return _remove(asked.name, asked.place)
        case _:
            return asyncio.run(_list(asked))


def _parser() -> ArgumentParser:
    parser = parser_for(
        "credential",
        purpose="Keep the passwords and tokens that playbooks name, sealed with your key\n"
        "($ANEW_KEY, else ~/.config/anew/key, which is made when it is first needed).",
        example="anew credential add pg_prod --file pg.json\nanew credential list",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="seal a credential, in place of one of the same name")
    add.add_argument("name", metavar="NAME", help="what `auth` and `keychain` call it")
    add.add_argument(
        "--file",
        metavar="FILE",
        required=True,
        help='JSON: {"type": "postgres", "data": {…}}; - is standard input',
    )
    listing = actions.add_parser("list", help="show names, types and where they are from")
    listing.add_argument("--json", action="store_true", help="print a JSON list")
    remove = actions.add_parser("remove", help="forget a credential")
    remove.add_argument("name", metavar="NAME", help="the credential to forget")
    for action in (add, listing, remove):
        add_place_options(action)
    return parser


def _add(name: str, file: str, place: str | None) -> int:
    from anew.credentials.credential import check_name, read_credential
    from anew.credentials.key import need_key
    from anew.credentials.redaction import short_fields
    from anew.credentials.sealing import seal_credential
    from anew.credentials.seen_versions import SeenVersions
    from anew.runtime.commands import SealCredential
    from anew.runtime.databases import identity_of, kind_of
    from anew.surfaces.cli.command_sending import send_command

    credential = read_credential(read_document(file), shown_name(file), ref=check_name(name))
    key = need_key(environment(), Path.home())
    seen = SeenVersions(Path.home(), identity_of(place))
    version = asyncio.run(_next_version(name, key, place, seen))
    send_command(place, SealCredential(sealed=seal_credential(name, credential, key, now=version)))
    seen.note(name, version)
    for ref in short_fields(credential):
        print(
            f"anew: {ref} has fewer than 6 characters: "
            "it is redacted only where it is the whole text",
            file=sys.stderr,
        )
    print(f"{name} ({credential.type}) is sealed with the key of {key.source}")
    if not kind_of(place).is_file:
        print("anew: every worker needs this key to open it: set $ANEW_KEY there", file=sys.stderr)
    return status.DONE


async def _next_version(name: str, key: SealingKey, place: str | None, seen: SeenVersions) -> int:
    from anew.credentials.sealing import next_version
    from anew.runtime.databases import database_file, kind_of, open_database

    now = time.time_ns()
    is_file = kind_of(place).is_file
    if is_file and not database_file(place).exists():
        return seen.next_version(name, now)
    # A file may have an owner. Elsewhere a credential may be the first thing there is.
    async with open_database(place, read_only=is_file) as database:
        return await next_version(database.vault, name, key, seen=seen, now=now)


def _remove(name: str, place: str | None) -> int:
    from anew.credentials.seen_versions import SeenVersions
    from anew.runtime.commands import ForgetCredential
    from anew.runtime.databases import identity_of
    from anew.surfaces.cli.command_sending import send_command

    answer = send_command(place, ForgetCredential(name=name))
    if not answer["changed"]:
        raise ConfigError(_unknown(name, answer["known"]))
    SeenVersions(Path.home(), identity_of(place)).note_removed(name, time.time_ns())
    print(f"{name} is removed")
    return status.DONE


def _unknown(name: str, known: list[str]) -> str:
    from anew.program.findings import did_you_mean

    remedy = did_you_mean(name, known) or "See `anew credential list`."
    return f"there is no credential {name!r} in the credential store. {remedy}"


async def _list(asked: Namespace) -> int:
    rows = [*await _from_store(asked.place), *_from_environment()]
    if asked.json:
        print(json.dumps(rows, ensure_ascii=False))
    else:
        _print(rows)
    return status.DONE


async def _from_store(place: str | None) -> list[Object]:
    from anew.runtime.databases import database_file, kind_of, open_database

    # A file is made by the first run or `credential add`.
    if kind_of(place).is_file and not database_file(place).exists():
        return []
    async with open_database(place, read_only=True) as database:
        stored = await database.vault.names()
    return [_row(row.name, row.kind, "store") for row in sorted(stored, key=lambda row: row.name)]


def _row(name: str, kind: str, source: str) -> Object:
    return {"name": name, "type": kind, "from": source}


def _from_environment() -> list[Object]:
    """What the environment offers. A variable's name is all that is known of the credential's."""
    from anew.credentials.credential import read_credential

    rows = []
    for variable in sorted(environment()):
        if not variable.startswith(CREDENTIAL_PREFIX):
            continue
        name = variable.removeprefix(CREDENTIAL_PREFIX).lower()
        try:
            kind = read_credential(environment()[variable], variable, ref=name).type
        except ConfigError as error:
            print(f"anew: {error}", file=sys.stderr)
            continue
        rows.append(_row(name, kind, f"${variable}"))
    return rows


def _print(rows: list[Object]) -> None:
    if not rows:
        print("no credentials. Add one with `anew credential add NAME --file FILE`")
        return
    names, kinds = (max(len(row[column]) for row in rows) for column in ("name", "type"))
    for row in rows:
        print(f"{row['name']:<{names}}  {row['type']:<{kinds}}  {row['from']}")
