"""Write the context of every checkpoint without writing a large one ten thousand times.

A small context is written whole while the small ones together stay below a limit. Any other is
written as what changed since the checkpoint before, which is named: the whole is that one's with
the removed paths taken out and the set ones put in. So an export grows with its log, whatever the
size of the context. The fold never changes a value in place, so what is the same object did not
change, and comparing costs what changed.
"""

from __future__ import annotations

import msgspec

from anew.values import Object, Value

# A context up to this size is written whole, and all of those together up to the second limit.
CONTEXT_BYTES_MAX = 64 * 1024
CONTEXTS_BYTES_MAX = 64 * 1024 * 1024

_ABSENT = object()
# A large context is measured again when what changed since amounts to this part of it.
_MEASURED_AGAIN_PART = 8

Path = tuple[str, ...]


class Contexts:
    """What the last checkpoint had, and how much was written whole so far."""

    def __init__(self) -> None:
        self._last: Object | None = None
        self._last_file = ""
        self._bytes = 0
        self._bytes_changed = 0
        self._bytes_whole = 0

    def entry(self, context: Object, file: str) -> Object:
        """The fields of a checkpoint that tell its context."""
        before, self._last = self._last, context
        before_file, self._last_file = self._last_file, file
        if before is None:
            self._measure(context)
            return self._whole(context)
        written, gone = changes(before, context)
        if self._may_be_whole(context, written):
            return self._whole(context)
        return {
            "context": None,
            "context_from": before_file,
            "context_set": [[list(path), value] for path, value in written],
            "context_removed": [list(path) for path in gone],
        }

    def _whole(self, context: Object) -> Object:
        self._bytes_whole += self._bytes
        return {"context": context}

    def _may_be_whole(self, context: Object, written: list[tuple[Path, Value]]) -> bool:
        if written:
            self._bytes_changed += len(msgspec.json.encode(written))
        is_stale = self._bytes_changed * _MEASURED_AGAIN_PART >= self._bytes
        if is_stale or self._bytes <= CONTEXT_BYTES_MAX:
            self._measure(context)
        is_small = self._bytes <= CONTEXT_BYTES_MAX
        return is_small and self._bytes_whole + self._bytes <= CONTEXTS_BYTES_MAX

    def _measure(self, context: Object) -> None:
        self._bytes, self._bytes_changed = len(msgspec.json.encode(context)), 0


def changes(before: Object, after: Object) -> tuple[list[tuple[Path, Value]], list[Path]]:
    """What to put where in `before`, and what to take out of it, so that it becomes `after`."""
    written: list[tuple[Path, Value]] = []
    gone: list[Path] = []
    todo: list[tuple[Path, Object, Object]] = [((), before, after)]
    while todo:
        path, old, new = todo.pop()
        if not old.keys() <= new.keys():
            gone.extend((*path, key) for key in old if key not in new)
        for key, value in new.items():
            known = old.get(key, _ABSENT)
            if known is value or _is_same(known, value):
                continue
            if isinstance(known, dict) and isinstance(value, dict):
                todo.append(((*path, key), known, value))
            else:
                written.append(((*path, key), value))
    return written, gone


def _is_same(known: Value, value: Value) -> bool:
    # 1, 1.0 and True are equal, and not the same JSON.
    return type(known) is type(value) and not isinstance(value, (dict, list)) and known == value
