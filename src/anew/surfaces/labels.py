"""Labels of runs as people write them."""

from __future__ import annotations

from collections.abc import Iterable

from anew.errors import ConfigError


def labels_of(texts: Iterable[str], *, option: str = "--label ") -> dict[str, str]:
    """Labels of `name=value`; the last of a name wins."""
    labels = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"{option}{text[:80]!r} is not of the form name=value")
        labels[name] = value
    return labels
