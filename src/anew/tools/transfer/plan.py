"""The inputs of a transfer, read: two sides by their rows of the table, mode, size and mapping."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from anew.program.kind import SIDE_WORDS, Kind
from anew.program.transfer import (
    BATCH_ROWS,
    MODE_WORDS,
    SOURCES,
    TARGET_MODES,
    TARGETS,
    TRANSFER_BATCH_ROWS_MAX,
    TransferMode,
)
from anew.tool import Call
from anew.tools.inputs import BadInput
from anew.tools.transfer.sides import Batch, Row, field_at
from anew.values import Object, Value


class Side(Struct, frozen=True):
    """One side: its row of the table, and a call with its inputs alone, by canonical names."""

    kind: Kind
    call: Call

    @property
    def inputs(self) -> Mapping[str, Value]:
        return self.call.inputs

    def text(self, name: str) -> str | None:
        """An input that is a text; BadInput when it is something else."""
        said = self.inputs.get(name)
        if said is not None and (not isinstance(said, str) or not said.strip()):
            raise BadInput(f"`{name}` must be a text")
        return said

    def names(self, name: str) -> list[str]:
        """An input that is a name or a list of names; none when it is not given."""
        said = self.inputs.get(name)
        names = [said] if isinstance(said, str) else said or []
        if not isinstance(names, list) or not all(isinstance(one, str) and one for one in names):
            raise BadInput(f"`{name}` must be a name or a list of names")
        return names


class TransferPlan(Struct, frozen=True):
    """What is copied where. `key` names the transfer: the same for all its attempts."""

    source: Side
    target: Side
    mode: TransferMode
    size: int
    mapping: Mapping[str, str]
    key: str

    def mapped(self, batch: Batch, *, is_first: bool) -> list[Row]:
        """The rows with the columns of the target."""
        if not self.mapping:
            return batch.rows
        if is_first:
            self._check_mapping(batch.rows)
        return [
            {column: field_at(row, path) for column, path in self.mapping.items()}
            for row in batch.rows
        ]

    def _check_mapping(self, rows: list[Row]) -> None:
        for path in self.mapping.values():
            head = path.partition(".")[0]
            if rows and not any(path in row or head in row for row in rows):
                known = ", ".join(rows[0])
                raise BadInput(f"`mapping` reads {path!r}, which no row has; they have {known}")


def plan_of(call: Call) -> TransferPlan:
    """The inputs as a plan; BadInput says which of them cannot be used."""
    source = _side(call, "source", SOURCES)
    target = _side(call, "target", TARGETS)
    mode = _mode(call.inputs.get("mode"), target)
    own = call.inputs.get("idempotency_key")
    return TransferPlan(
        source=source,
        target=target,
        mode=mode,
        size=_size(call.inputs.get("batch_size")),
        mapping=_mapping(target.inputs.get("mapping") or call.inputs.get("mapping")),
        key=str(own)
        if isinstance(own, (str, int)) and own and own is not True
        else call.idempotency_key,
    )


def _side(call: Call, name: str, rows: Mapping[str, Kind]) -> Side:
    said = call.inputs.get(name)
    if not isinstance(said, Mapping):
        raise BadInput(f"`{name}` must be an object with `type` and what belongs to it")
    word = next((said[one] for one in SIDE_WORDS if said.get(one) is not None), None)
    kind = rows.get(str(word).strip().lower()) if word is not None else None
    if kind is None:
        found = "it has none" if word is None else f"it is {word!r}"
        raise BadInput(f"`{name}.type` must be one of {', '.join(rows)}; {found}")
    inputs: Object = {
        kind.canonical(key): value for key, value in said.items() if key not in SIDE_WORDS
    }
    for group in kind.required:
        if not any(inputs.get(one) for one in group):
            raise BadInput(f"`{name}` of type {kind.name} needs `{'` or `'.join(group)}`")
    return Side(kind, replace(call, kind=kind.name, inputs=inputs))


def _mode(said: Value, target: Side) -> TransferMode:
    mode = TransferMode.APPEND if said is None else MODE_WORDS.get(str(said).strip().lower())
    if mode is None:
        raise BadInput(f"`mode` must be {', '.join(TransferMode)}; it is {said!r}")
    possible = TARGET_MODES.get(target.kind.name, tuple(TransferMode))
    if mode not in possible:
        words = " or ".join(possible)
        raise BadInput(f"a target of type {target.kind.name} takes `mode: {words}`, not {mode}")
    if mode is TransferMode.UPSERT and not target.names("key"):
        raise BadInput("`mode: upsert` needs `target.key`: the columns that say which row is which")
    return mode


def _size(said: Value) -> int:
    if said is None:
        return BATCH_ROWS
    size = int(said) if isinstance(said, str) and said.isascii() and said.isdigit() else said
    if (
        not isinstance(size, int)
        or isinstance(size, bool)
        or not 1 <= size <= TRANSFER_BATCH_ROWS_MAX
    ):
        raise BadInput(
            f"`batch_size` must be a whole number from 1 to {TRANSFER_BATCH_ROWS_MAX:,}; "
            f"it is {said!r}"
        )
    return size


def _mapping(said: Value) -> Mapping[str, str]:
    if said is None:
        return {}
    if not isinstance(said, Mapping) or not all(isinstance(path, str) for path in said.values()):
        raise BadInput("`mapping` must be an object: the column, and the field it gets")
    return said
