"""What an operator may choose about the database, besides its URL."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from anew.errors import ConfigError
from anew.stores.postgres.ranges import HASH_PARTITIONS_MAX

POOLER = "ANEW_POSTGRES_POOLER"
CONNECTIONS = "ANEW_POSTGRES_CONNECTIONS"
HASH_PARTITIONS = "ANEW_POSTGRES_HASH_PARTITIONS"
SYNCHRONOUS = "ANEW_SYNCHRONOUS"

# For reading. Besides these there is one each that writes, leases, listens, and says that jobs are
# alive. All are made when they are first needed.
CONNECTIONS_DEFAULT = 3
CONNECTIONS_MAX = 100


class PostgresSettings(Struct, frozen=True):
    """`is_pooled`: a pooler gives each transaction any of its connections.

    `is_durable`: commits wait for the disk, whatever the server's own setting. Behind a pooler that
    is not ours to choose, and they always do.
    """

    is_pooled: bool = False
    is_durable: bool = True
    connections: int = CONNECTIONS_DEFAULT
    hash_partitions: int = 1


def settings_in(environment: Mapping[str, str] = os.environ) -> PostgresSettings:
    """ConfigError for what cannot be used."""
    pooler = environment.get(POOLER, "")
    if pooler not in ("", "session", "transaction"):
        raise ConfigError(
            f"{POOLER} is {pooler!r}; it must be 'transaction' behind a pooler that gives each "
            "transaction any connection, and 'session' or nothing otherwise."
        )
    synchronous = environment.get(SYNCHRONOUS, "").upper()
    if synchronous not in ("", "FULL", "NORMAL"):
        raise ConfigError(
            f"{SYNCHRONOUS} is {synchronous}; it can be FULL (the default: a commit that returned "
            "is on disk) or NORMAL (PostgreSQL's own synchronous_commit counts)."
        )
    return PostgresSettings(
        is_pooled=pooler == "transaction",
        is_durable=synchronous != "NORMAL",
        connections=_number(
            environment, CONNECTIONS, default=CONNECTIONS_DEFAULT, highest=CONNECTIONS_MAX
        ),
        hash_partitions=_number(
            environment, HASH_PARTITIONS, default=1, highest=HASH_PARTITIONS_MAX
        ),
    )


def _number(environment: Mapping[str, str], name: str, *, default: int, highest: int) -> int:
    said = environment.get(name, "") or str(default)
    if not (said.isascii() and said.isdigit() and 1 <= int(said) <= highest):
        raise ConfigError(f"{name} is {said!r}; it must be a number from 1 to {highest}.")
    return int(said)
