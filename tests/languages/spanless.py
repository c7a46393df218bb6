"""Compare parts of the model by meaning, wherever they stand."""

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import fields, replace

from anew.program.span import NOWHERE

Part = TypeVar("Part")


def spanless(part: Part) -> Part:
    """The same part with every span in it forgotten."""
    if isinstance(part, tuple):
        return tuple(spanless(item) for item in part)  # type: ignore[return-value]
    if not isinstance(part, Struct):
        return part
    changes = {f.name: spanless(getattr(part, f.name)) for f in fields(part) if f.name != "span"}
    if any(f.name == "span" for f in fields(part)):
        changes["span"] = NOWHERE
    return replace(part, **changes)
