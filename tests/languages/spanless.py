"""Compare parts of the model by meaning, wherever they stand."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import fields, replace

Part = TypeVar("Part")


def spanless(part: Part) -> Part:
    """The same part with every span in it forgotten."""
    if isinstance(part, tuple):
        return tuple(spanless(item) for item in part)  # type: ignore[return-value]
    if not isinstance(part, Struct):
        return part
    changes = {
        f.name: f.default if f.name.endswith("span") else spanless(getattr(part, f.name))
        for f in fields(part)
    }
    return replace(part, **changes)
