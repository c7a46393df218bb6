"""The values a workflow computes with: JSON, and nothing else.

Everything that reaches a log, a template or a tool is one of these. They are shared freely and
therefore never changed in place: a new value is built instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

# msgspec and the log check what enters; inside, `Any` keeps the closures readable.
Value: TypeAlias = Any
Object: TypeAlias = dict[str, Any]

_PATH_PART = re.compile(r"(?:[^.\\]|\\.)+", re.DOTALL)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_SECONDS_PER = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def json_text(value: Value) -> str:
    """The JSON form used inside text: `, ` and `: ` as separators, non-ASCII as it is."""
    return json.dumps(value, ensure_ascii=False)


def as_text(value: Value) -> str:
    """A text as it is, anything else as its JSON."""
    return value if isinstance(value, str) else json_text(value)


def is_whole(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def merge_deep(base: Mapping[str, Value], over: Mapping[str, Value]) -> Object:
    """`over` laid on `base`; mappings merge, anything else replaces."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        both_objects = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge_deep(old, value) if both_objects else value  # type: ignore[arg-type]
    return merged


def put_in(root: Value, path: Sequence[str | int], value: Value) -> Value:
    """A copy of `root` in which `path` holds `value`.

    A number in the path is a place in a list that has it; objects are made where missing.
    """
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(head, int):
        return [put_in(item, rest, value) if n == head else item for n, item in enumerate(root)]
    known = root if isinstance(root, Mapping) else {}
    return {**known, head: put_in(known.get(head), rest, value)}


def path_text(path: Sequence[str]) -> str:
    """A path as one text: `a.b`; a dot that belongs to a key is written `\\.`."""
    return ".".join(part.replace("\\", "\\\\").replace(".", "\\.") for part in path)


def patched(base: Mapping[str, Value], writes: Mapping[str, Value]) -> Object:
    """A copy of `base` with each of `writes`, keyed by `path_text`, put in, in order."""
    result = dict(base)
    for text, value in writes.items():
        if "." in text or "\\" in text:
            result = put_in(result, _path_of(text), value)
        else:
            result[text] = value
    return result


def _path_of(text: str) -> list[str]:
    parts = _PATH_PART.findall(text)
    return [re.sub(r"\\(.)", r"\1", part) for part in parts]


def parse_seconds(text: str) -> float | None:
    """Seconds in `2`, `0.5`, `500ms`, `2s`, `1m30s`; None when the text is not a duration."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    total, end = 0.0, 0
    for part in _DURATION.finditer(text):
        if part.start() != end:
            return None
        total += float(part.group(1)) * _SECONDS_PER[part.group(2)]
        end = part.end()
    return total if end == len(text) and end > 0 else None
