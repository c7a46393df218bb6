"""Which run a start means: its key, its labels, and whether it is the only one of its kind."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import NamedTuple

from anew.runtime.keys import check_key, made_key
from anew.runtime.singletons import check_singleton
from anew.surfaces.labels import labels_of


class RunIdentity(NamedTuple):
    """By these names, whoever starts runs takes them."""

    key: str
    labels: dict[str, str]
    singleton: str | None


def add_identity_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--key",
        metavar="K",
        help="the same key always means the same run: start it once, then resume it",
    )
    parser.add_argument(
        "--singleton",
        metavar="NAME",
        help="start nothing while a run of this name is not finished: follow that one",
    )
    parser.add_argument(
        "--label", action="append", default=[], metavar="K=V", help="a label to find the run by"
    )


def identity_of(asked: Namespace) -> RunIdentity:
    key = check_key(asked.key)
    singleton = check_singleton(asked.singleton, key)
    return RunIdentity(key or made_key(), labels_of(asked.label), singleton)
