"""How every command declares its arguments, so that they all explain themselves alike."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from math import isfinite

from anew.surfaces.cli.tokens import take_token
from anew.values import parse_seconds

# As `languages.dot.graph` has them, which is too much to import for a list of two words.
DIALECTS = ("docs", "spec")
# Of help that is not shown on a terminal.
HELP_COLUMNS_DEFAULT = 80


def count(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def seconds(text: str) -> float:
    """A duration, for argparse."""
    found = parse_seconds(text)
    if found is None or not isfinite(found):
        raise ArgumentTypeError(f"{text[:80]!r} is not a duration: write 30, 30s, 10m or 2h")
    return found


def add_dialect_option(parser: ArgumentParser) -> None:
    """`--dialect`, in the words every command that is given a document has for it."""
    parser.add_argument(
        "--dialect",
        choices=DIALECTS,
        help="read a DOT graph in this dialect (default: the one its words are of)",
    )


def add_tools_option(parser: ArgumentParser) -> None:
    """`--tools`: what it names is loaded while the words are read, before any document is."""
    parser.add_argument(
        "--tools",
        action="append",
        type=_loaded,
        default=[],
        metavar="MODULE[:NAME]",
        help="use the tools of this Python module, or one of them; may be repeated",
    )


def _loaded(named: str) -> str:
    # Only those who have tools of their own pay for it.
    from anew.tools.modules import load_tools

    return load_tools(named)


class _Help(RawDescriptionHelpFormatter):
    """Knows its width: argparse would import `shutil` for it, for every option of every command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"]) or HELP_COLUMNS_DEFAULT
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or HELP_COLUMNS_DEFAULT
    except (AttributeError, ValueError, OSError):  # it is no terminal
        return HELP_COLUMNS_DEFAULT


class _AnyOrder(ArgumentParser):
    """Words may stand before, between and behind options; a token is not left among them."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> Namespace:
        found = self._parsed(args, namespace)
        take_token(found)
        return found

    def _parsed(self, args: Sequence[str] | None, namespace: Namespace | None) -> Namespace:
        # The quick way first: it leaves over what follows an option where a list had begun.
        found, left = self.parse_known_args(args, namespace)
        if left and self._subparsers is None:
            return self.parse_intermixed_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found


def parser_for(word: str, *, purpose: str, example: str) -> ArgumentParser:
    """A parser whose help ends with an example; options are never abbreviated.

    Words and options may come in any order.
    """
    indented = "\n".join(f"  {line}" for line in example.splitlines())
    return _AnyOrder(
        prog=f"anew {word}",
        description=purpose,
        epilog=f"example:\n{indented}",
        formatter_class=_Help,
        allow_abbrev=False,
    )
