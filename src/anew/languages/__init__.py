"""The languages a workflow can be written in, and the one door to them."""

from __future__ import annotations

import os
import re

from anew.errors import ConfigError
from anew.languages.limits import document_bytes_max
from anew.languages.playbook import Loaded, load_playbook

__all__ = ["Loaded", "load", "load_text"]

_PLAYBOOK_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_DOT_SUFFIXES = frozenset({".dot", ".gv"})
_DOT_OPENING = re.compile(
    r"\s*(?:(?://|#)[^\n]*\n\s*|/\*.*?\*/\s*)*(?:strict\s+)?(?:di)?graph\b[^:]*?\{", re.S
)


def load(path: str | os.PathLike[str]) -> Loaded:
    """Compile the document in a file. Raises ConfigError when the file cannot be read."""
    try:
        with open(path, "rb") as stream:
            # One byte more than allowed shows that the limit is passed, however large the file is.
            data = stream.read(document_bytes_max() + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot read {path}: {reason}") from error
    return load_text(data, os.fspath(path))


def load_text(text: str | bytes, file: str) -> Loaded:
    """Compile a document; its language is told by the name's ending, else by how it begins."""
    if _is_dot(text, os.path.splitext(file)[1].lower()):
        raise ConfigError(f"{file}: DOT graphs are not supported yet; use a YAML playbook")
    return load_playbook(text, file)


def _is_dot(text: str | bytes, suffix: str) -> bool:
    if suffix in _DOT_SUFFIXES:
        return True
    if suffix in _PLAYBOOK_SUFFIXES:
        return False
    opening = text[:4096]
    decoded = opening.decode("utf-8", "replace") if isinstance(opening, bytes) else opening
    return _DOT_OPENING.match(decoded) is not None
