"""How every command declares its arguments, so that they all explain themselves alike."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter

# As `languages.dot.graph` has them, which is too much to import for a list of two words.
DIALECTS = ("docs", "spec")


def count(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def add_dialect_option(parser: ArgumentParser) -> None:
    """`--dialect`, in the words every command that is given a document has for it."""
    parser.add_argument(
        "--dialect",
        choices=DIALECTS,
        help="read a DOT graph in this dialect (default: the one its words are of)",
    )


def parser_for(word: str, *, purpose: str, example: str) -> ArgumentParser:
    """A parser whose help ends with an example; options are never abbreviated."""
    indented = "\n".join(f"  {line}" for line in example.splitlines())
    return ArgumentParser(
        prog=f"anew {word}",
        description=purpose,
        epilog=f"example:\n{indented}",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
