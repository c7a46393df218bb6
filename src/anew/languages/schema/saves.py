"""The schema of the older `save` block of a step.

What the block passes on to its storage task is checked by the compiler only.
"""

from __future__ import annotations

from anew.languages.playbook.desugar import saves
from anew.languages.playbook.desugar.statements import Mode
from anew.languages.schema.forms import ANYTHING, Schema, has, nullable, said, word

_STORAGES = word([*saves.STORAGES, *sorted(saves._LOG_NAMES - set(saves.STORAGES))])
_WHERE = {"anyOf": [_STORAGES, {"type": "object"}]}
_SHAPES = {
    "storage": said("Where to store: a kind of tool.", _WHERE),
    "tool": said("Another name for `storage`.", _WHERE),
    "table": said("The table to write to.", ANYTHING),
    "data": said("The columns and their values; what the tool gave is `result`.", ANYTHING),
    "args": said("Another name for `data`.", ANYTHING),
    "mode": said("append (default), upsert or update.", word(Mode)),
    "key": said("The columns that identify a row.", ANYTHING),
    "statement": said("A statement of one's own, instead of a table.", ANYTHING),
}
assert _SHAPES.keys() == saves.SAVE_WORDS

SAVE: Schema = said(
    "An older form of a storage task at the end of the pipeline.",
    nullable(
        {
            "type": "object",
            "properties": {**_SHAPES, **dict.fromkeys(saves.REFUSED_WORDS, False)},
            "anyOf": [has("storage"), has("tool")],
        }
    ),
)
