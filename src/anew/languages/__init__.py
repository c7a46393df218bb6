"""The languages a workflow can be written in, and the one door to them."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anew.errors import ConfigError
from anew.languages.limits import document_bytes_max
from anew.languages.loaded import Loaded
from anew.languages.playbook import load_playbook
from anew.languages.playbook.playbook import digest_of_playbook, path_in_playbook

if TYPE_CHECKING:
    from anew.languages.dot.extensions import Extensions

__all__ = ["Loaded", "digest_of", "load", "load_text", "path_in", "read_file"]

_PLAYBOOK_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_DOT_SUFFIXES = frozenset({".dot", ".gv"})
_DOT_OPENING = re.compile(
    r"\s*(?:(?://|#)[^\n]*\n\s*|/\*.*?\*/\s*)*(?:strict\s+)?(?:di)?graph\b[^:]*?\{", re.S
)


def load(
    path: str | os.PathLike[str],
    *,
    dialect: str | None = None,
    extensions: Extensions | None = None,
) -> Loaded:
    """Compile the document in a file. Raises ConfigError when the file cannot be read.

    `dialect` is for DOT graphs: `docs` or `spec` instead of the one that is detected. `extensions`
    are what code adds to the languages.
    """
    return load_text(read_file(path), os.fspath(path), dialect=dialect, extensions=extensions)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """A document as it lies in a file. Raises ConfigError when the file cannot be read."""
    try:
        with open(path, "rb") as stream:
            # One byte more than allowed shows that the limit is passed, however large the file is.
            return stream.read(document_bytes_max() + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot read {path}: {reason}") from error


def load_text(
    text: str | bytes,
    file: str,
    *,
    dialect: str | None = None,
    files: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Loaded:
    """Compile a document; its language is told by the name's ending, else by how it begins.

    `files` are those it names, as `Loaded.files` has them: given, nothing is read from disk.
    ConfigError when a dialect is chosen that is none, or for a playbook.
    """
    with _no_collection():
        if not is_dot(text, os.path.splitext(file)[1].lower()):
            if dialect is not None:
                raise ConfigError(f"{file} is a playbook; --dialect is for DOT graphs")
            return load_playbook(text, file, kinds=extensions.kinds if extensions else ())
        # Only those who have a graph pay for its language.
        from anew.languages.dot.loading import load_dot  # noqa: PLC0415

        return load_dot(text, file, dialect=dialect, files=files, extensions=extensions)


def digest_of(
    text: str, file: str, *, dialect: str | None = None, files: Mapping[str, str] | None = None
) -> str:
    """The digest of the program that a document compiles to, where no code adds to its language."""
    if not is_dot(text, os.path.splitext(file)[1].lower()):
        return digest_of_playbook(text)
    from anew.languages.dot.loading import digest_of_graph  # noqa: PLC0415

    return digest_of_graph(text, dialect, files or {})


def path_in(text: str, file: str) -> str | None:
    """The path that a playbook names; None for a graph."""
    is_graph = is_dot(text, os.path.splitext(file)[1].lower())
    return None if is_graph else path_in_playbook(text, file)


@contextmanager
def _no_collection() -> Iterator[None]:
    """A document becomes many small objects and hardly any garbage.

    Looking for garbage among them takes half of the time of a large one, and more the larger it is.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def is_dot(text: str | bytes, suffix: str) -> bool:
    """Whether a document is a graph: by the ending of its name, else by how it begins."""
    if suffix in _DOT_SUFFIXES:
        return True
    if suffix in _PLAYBOOK_SUFFIXES:
        return False
    opening = text[:4096]
    decoded = opening.decode("utf-8", "replace") if isinstance(opening, bytes) else opening
    return _DOT_OPENING.match(decoded) is not None
